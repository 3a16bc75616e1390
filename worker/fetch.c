/*
 * fetch.c - the artifacts of one saved result, one after another, to disk.
 *
 * Owns the list.  Never says that a task failed: what cannot be had is listed
 * as lost, because the result itself is paid for and saved.
 */
#include "worker/fetch_parts.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/result.h"

#define FETCH_DELAY_MS	1000	/* doubled each time */
#define FETCH_DELAY_MAX	60000
#define FETCH_LIST_MAX	(900u << 10)

static enum fetch_event fetch_inline(struct fetch *, enum artifact_code,
		    const char *text, const char *type);
static enum fetch_event fetch_data_url(struct fetch *, const char *url);
static void	fetch_free_list(struct fetch *);

int
fetch_new(struct worker *w, struct http *http, const struct job *job,
    struct poll_verdict *v, void (*on_step)(void *, enum fetch_event),
    void *arg, struct fetch **ret)
{
	struct fetch *f = NULL;

	if (w->flush == NULL && flush_new(w->base, &w->flush) < 0)
		return PO_ENOMEM;
	if ((f = mem_alloc(sizeof(*f))) == NULL)
		return PO_ENOMEM;
	f->w = w;
	f->http = http;
	f->job = job;
	f->on_step = on_step;
	f->arg = arg;
	f->file.fd = -1;
	buf_init(&f->entries, FETCH_LIST_MAX);
	if (buf_putc(&f->entries, '[') < 0) {
		fetch_free(&f);
		return PO_ENOMEM;
	}
	f->list = v->artifacts;
	f->count = v->nartifacts;
	v->artifacts = NULL;
	v->nartifacts = 0;
	*ret = f;
	return 0;
}

void
fetch_free(struct fetch **fp)
{
	struct fetch *f = *fp;

	if (f == NULL)
		return;
	http_cancel(&f->call);
	flush_forget(&f->flush);
	artifact_abort(&f->file);
	artifact_facts_done(&f->facts);
	fetch_free_list(f);
	buf_done(&f->entries);
	mem_free(f->url);
	mem_free(f->text);
	mem_free(f);
	*fp = NULL;
}

void
fetch_remint(struct fetch *f, struct poll_verdict *v)
{
	f->is_reminted = true;
	if (v == NULL || v->nartifacts <= f->at)
		return;
	fetch_free_list(f);
	f->list = v->artifacts;
	f->count = v->nartifacts;
	v->artifacts = NULL;
	v->nartifacts = 0;
}

int64_t
fetch_delay_ms(const struct fetch *f)
{
	int64_t ms = FETCH_DELAY_MS;
	unsigned int i = 0;

	for (i = 1; i < f->tries && ms < FETCH_DELAY_MAX; i++)
		ms *= 2;
	return ms < FETCH_DELAY_MAX ? ms : FETCH_DELAY_MAX;
}

const char *
fetch_entries(const struct fetch *f)
{
	return f->text != NULL ? f->text : "[]";
}

enum fetch_event
fetch_step(struct fetch *f)
{
	const struct artifact *a = NULL;
	struct artifact_facts facts;

	if (f->at >= f->count) {
		mem_free(f->text);
		f->text = mem_printf("%s]", buf_text(&f->entries));
		return f->text != NULL ? FETCH_DONE : FETCH_LATER;
	}
	a = &f->list[f->at];
	if (strncmp(a->value, ARTIFACT_MARK, strlen(ARTIFACT_MARK)) == 0 &&
	    artifact_is_ours(f->w->state_dir, f->job->task, f->job->attempt,
	    a->value + strlen(ARTIFACT_MARK))) {
		if (artifact_measure(a->value + strlen(ARTIFACT_MARK),
		    &facts) < 0)
			return fetch_lost(f, NULL, "its file is gone");
		return fetch_keep(f, &facts, NULL, NULL);
	}
	if (strcmp(a->encoding, "base64") == 0)
		return fetch_inline(f, ARTIFACT_BASE64, a->value, NULL);
	if (strcmp(a->encoding, "hex") == 0)
		return fetch_inline(f, ARTIFACT_HEX, a->value, NULL);
	if (strncmp(a->value, "data:", 5) == 0)
		return fetch_data_url(f, a->value);
	if (strcmp(a->encoding, "url") == 0 || strcmp(a->encoding, "get") == 0)
		return fetch_url(f, a->value);
	f->at++;	/* text: the result holds it */
	return FETCH_MORE;
}

static enum fetch_event
fetch_inline(struct fetch *f, enum artifact_code code, const char *text,
    const char *type)
{
	struct artifact_facts facts;
	int rc = 0;

	rc = artifact_open(&f->file, f->w->state_dir, f->job->task,
	    f->job->attempt, f->at, f->w->max_artifact);
	if (rc < 0)
		return fetch_later(f, po_strerror(rc));
	rc = artifact_decode(&f->file, code, text, strlen(text));
	if (rc < 0)
		artifact_abort(&f->file);
	else
		rc = artifact_commit(&f->file, type, &facts);
	if (rc == PO_EINVAL || rc == PO_ERANGE)
		return fetch_lost(f, NULL, rc == PO_EINVAL ?
		    "not decodable" : "too big");
	if (rc < 0)
		return fetch_later(f, po_strerror(rc));
	return fetch_keep(f, &facts, NULL, NULL);
}

/* data:image/png;base64,.... */
static enum fetch_event
fetch_data_url(struct fetch *f, const char *url)
{
	const char *comma = strchr(url, ',');
	char type[LIM_WORD];

	if (comma == NULL || comma - url < 12 ||
	    strncmp(comma - 7, ";base64", 7) != 0)
		return fetch_lost(f, NULL, "data URL without base64");
	(void)snprintf(type, sizeof(type), "%.*s",
	    (int)strcspn(url + 5, ";,"), url + 5);
	return fetch_inline(f, ARTIFACT_BASE64, comma + 1, type);
}

enum fetch_event
fetch_keep(struct fetch *f, const struct artifact_facts *facts,
    const char *url, const char *lost)
{
	struct artifact_facts copy;
	int rc = 0;

	rc = result_put_entry(&f->entries, facts, url, lost);
	if (facts != NULL) {
		copy = *facts;
		artifact_facts_done(&copy);
	}
	if (rc < 0)
		log_warnx("task=%llu artifact %zu is not listed: %s",
		    (unsigned long long)f->job->task, f->at, po_strerror(rc));
	f->at++;
	f->tries = 0;
	f->redirects = 0;
	return FETCH_MORE;
}

enum fetch_event
fetch_lost(struct fetch *f, const char *url, const char *why)
{
	log_warnx("task=%llu artifact %zu is lost: %s; its URL stays in the "
	    "result", (unsigned long long)f->job->task, f->at, why);
	return fetch_keep(f, NULL, url, why);
}

/* What is wrong here may pass: a full disk, a lost connection. */
enum fetch_event
fetch_later(struct fetch *f, const char *why)
{
	f->tries++;
	f->redirects = 0;
	if (f->tries == 1 || f->tries == FETCH_TRIES)
		log_info("task=%llu artifact %zu: %s, trying again",
		    (unsigned long long)f->job->task, f->at, why);
	return FETCH_LATER;
}

static void
fetch_free_list(struct fetch *f)
{
	size_t i = 0;

	for (i = 0; i < f->count; i++) {
		mem_free(f->list[i].encoding);
		mem_free(f->list[i].value);
	}
	mem_free(f->list);
	f->list = NULL;
	f->count = 0;
}
