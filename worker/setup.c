/*
 * setup.c - SETUP, the first message, becomes the worker's settings.
 *
 * Owns the strings and the compiled provider that it puts into the worker.
 */
#include "worker/worker.h"

#include <limits.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"

#define SETUP_REQUESTS		64u
#define SETUP_REQUESTS_MAX	1024u

static int	setup_take_command(struct worker *, struct mp_bytes);
static int	setup_take_provider(struct worker *, struct mp_bytes);

int
setup_take(struct worker *w, const struct msg_setup *m)
{
	if (m->version != PROTO_VERSION)
		return PO_EVERSION;
	if (m->role != (uint64_t)w->role ||
	    m->kind.len != strlen(w->kind) ||
	    memcmp(m->kind.p, w->kind, m->kind.len) != 0 ||
	    m->lease_ms == 0 || m->lease_ms > INT_MAX ||
	    m->timeout_ms > INT64_MAX || m->max_artifact > INT64_MAX ||
	    m->timeline > INT64_MAX || m->state_dir.len == 0)
		return PO_EINVAL;
	w->lease_ms = (int64_t)m->lease_ms;
	w->timeout_ms = (int64_t)m->timeout_ms;
	w->max_artifact = (int64_t)m->max_artifact;
	w->timeline = (int64_t)m->timeline;
	w->max_requests = SETUP_REQUESTS;
	if (m->max_requests > 0 && m->max_requests <= SETUP_REQUESTS_MAX)
		w->max_requests = (unsigned int)m->max_requests;
	if ((w->state_dir = mp_dup(m->state_dir)) == NULL ||
	    (w->host = mp_dup(m->host)) == NULL ||
	    (w->system_id = mp_dup(m->system_id)) == NULL ||
	    (w->provider_name = mp_dup(m->provider)) == NULL)
		return PO_ENOMEM;
	if (w->role == ROLE_EXEC)
		return setup_take_command(w, m->command);
	return setup_take_provider(w, m->desc);
}

void
setup_done(struct worker *w)
{
	size_t i = 0;

	provider_free(&w->provider);
	for (i = 0; w->command != NULL && w->command[i] != NULL; i++)
		mem_free(w->command[i]);
	mem_free(w->command);
	mem_free(w->state_dir);
	mem_free(w->host);
	mem_free(w->system_id);
	mem_free(w->provider_name);
}

static int
setup_take_provider(struct worker *w, struct mp_bytes bytes)
{
	struct desc *desc = NULL;
	char *error = NULL;
	int rc = 0;

	if ((rc = desc_deserialize(bytes.p, bytes.len, &desc)) < 0)
		return rc;
	if ((rc = provider_compile(desc, &w->provider, &error)) < 0)
		log_warnx("provider=%s cannot be compiled: %s",
		    w->provider_name,
		    error != NULL ? error : po_strerror(rc));
	mem_free(error);
	desc_free(&desc);
	return rc;
}

/* NUL-terminated words, one after another; the last byte must be a NUL. */
static int
setup_take_command(struct worker *w, struct mp_bytes bytes)
{
	size_t i = 0, at = 0, count = 0;

	if (bytes.len == 0 || bytes.p[bytes.len - 1] != '\0')
		return PO_EINVAL;
	for (i = 0; i < bytes.len; i++)
		count += bytes.p[i] == '\0';
	if ((w->command = mem_array(count + 1, sizeof(char *))) == NULL)
		return PO_ENOMEM;
	for (i = 0; i < count; i++) {
		if ((w->command[i] = mem_strdup(bytes.p + at)) == NULL)
			return PO_ENOMEM;
		at += strlen(bytes.p + at) + 1;
	}
	return 0;
}
