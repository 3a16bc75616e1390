/*
 * fetch.c - the artifacts of one saved result, one after another, to disk.
 *
 * Owns the list, the file that is being written and its one request.  Never
 * says that a task failed: what cannot be had is listed as lost, because the
 * result itself is paid for and saved.  Follows only URLs that the provider's
 * file allows, each redirect checked anew.
 */
#include "worker/fetch.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/artifact.h"
#include "worker/result.h"

#define FETCH_REDIRECTS	5u
#define FETCH_TRIES	8u
#define FETCH_DELAY_MS	1000	/* doubled each time */
#define FETCH_DELAY_MAX	60000
#define FETCH_LIST_MAX	(900u << 10)

struct fetch {
	struct worker		*w;
	struct http		*http;
	const struct job	*job;
	void			(*on_step)(void *, enum fetch_event);
	void			*arg;
	struct artifact		*list;
	size_t			 count;
	size_t			 at;		/* the one in work */
	unsigned int		 tries;
	unsigned int		 redirects;
	bool			 is_reminted;
	char			*url;		/* of the request that runs */
	int			 write_error;	/* PO_E* of the file */
	struct artifact_file	 file;
	struct http_call	 call;
	struct buf		 entries;	/* "[...", without the end */
	char			*text;		/* the list with its end */
};

static enum fetch_event fetch_inline(struct fetch *, enum artifact_code,
		    const char *text, const char *type);
static enum fetch_event fetch_data_url(struct fetch *, const char *url);
static enum fetch_event fetch_url(struct fetch *, const char *url);
static enum fetch_event fetch_keep(struct fetch *,
		    const struct artifact_facts *, const char *url,
		    const char *lost);
static enum fetch_event fetch_lost(struct fetch *, const char *url,
		    const char *why);
static enum fetch_event fetch_later(struct fetch *, const char *why);
static int	fetch_on_data(void *, const void *, size_t);
static void	fetch_on_done(struct http_call *, void *);
static enum fetch_event fetch_judge(struct fetch *);
static enum fetch_event fetch_redirect(struct fetch *);
static enum fetch_event fetch_commit(struct fetch *);
static void	fetch_free_list(struct fetch *);

int
fetch_new(struct worker *w, struct http *http, const struct job *job,
    struct poll_verdict *v, void (*on_step)(void *, enum fetch_event),
    void *arg, struct fetch **ret)
{
	struct fetch *f = mem_alloc(sizeof(*f));

	if (f == NULL)
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
	artifact_abort(&f->file);
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

static enum fetch_event
fetch_url(struct fetch *f, const char *url)
{
	struct task_context ctx;
	struct request request;
	char *error = NULL, *copy = mem_strdup(url);
	bool with_key = false;
	int rc = 0;

	memset(&request, 0, sizeof(request));
	mem_free(f->url);
	f->url = copy;
	if (copy == NULL)
		return fetch_later(f, "out of memory");
	if (provider_check_url(f->w->provider, copy, &with_key) < 0)
		return fetch_lost(f, copy, "host not allowed");
	job_context(f->job, f->w, &ctx);
	rc = provider_build_download(f->w->provider, &ctx, copy, &request,
	    &error);
	if (rc == PO_EINVAL) {
		mem_free(error);
		return fetch_lost(f, copy, "not a usable URL");
	}
	mem_free(error);
	if (rc == 0)
		rc = artifact_open(&f->file, f->w->state_dir, f->job->task,
		    f->job->attempt, f->at, f->w->max_artifact);
	f->write_error = 0;
	f->call.on_data = fetch_on_data;
	f->call.on_done = fetch_on_done;
	f->call.arg = f;
	if (rc == 0)
		rc = http_start(f->http, HTTP_DOWNLOAD, &request, &f->call);
	request_done(&request);
	if (rc < 0) {
		artifact_abort(&f->file);
		return fetch_later(f, po_strerror(rc));
	}
	return FETCH_BUSY;
}

/* fetch_keep() takes the facts over and goes on to the next artifact. */
static enum fetch_event
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

static enum fetch_event
fetch_lost(struct fetch *f, const char *url, const char *why)
{
	log_warnx("task=%llu artifact %zu is lost: %s; its URL stays in the "
	    "result", (unsigned long long)f->job->task, f->at, why);
	return fetch_keep(f, NULL, url, why);
}

/* What is wrong here may pass: a full disk, a lost connection. */
static enum fetch_event
fetch_later(struct fetch *f, const char *why)
{
	f->tries++;
	f->redirects = 0;
	if (f->tries == 1 || f->tries == FETCH_TRIES)
		log_info("task=%llu artifact %zu: %s, trying again",
		    (unsigned long long)f->job->task, f->at, why);
	return FETCH_LATER;
}

static int
fetch_on_data(void *arg, const void *data, size_t len)
{
	struct fetch *f = arg;

	f->write_error = artifact_write(&f->file, data, len);
	return f->write_error;
}

static void
fetch_on_done(struct http_call *c, void *arg)
{
	struct fetch *f = arg;
	enum fetch_event event = fetch_judge(f);

	(void)c;
	if (event != FETCH_BUSY)
		f->on_step(f->arg, event);	/* may free f */
}

static enum fetch_event
fetch_judge(struct fetch *f)
{
	const int status = f->call.status;
	const CURLcode code = f->call.code;
	char why[LIM_WORD];

	if (code == CURLE_OK && status >= 200 && status <= 299 &&
	    f->file.bytes > 0)
		return fetch_commit(f);
	artifact_abort(&f->file);
	if (code == CURLE_OK && (status == 301 || status == 302 ||
	    status == 303 || status == 307 || status == 308))
		return fetch_redirect(f);
	http_call_done(&f->call);
	if (f->write_error == PO_ERANGE)
		return fetch_lost(f, f->url, "too big");
	if (f->write_error < 0)
		return fetch_later(f, po_strerror(f->write_error));
	if (code != CURLE_OK)
		(void)snprintf(why, sizeof(why), "%s",
		    curl_easy_strerror(code));
	else
		(void)snprintf(why, sizeof(why), "http %d%s", status,
		    status >= 200 && status <= 299 ? " and no bytes" : "");
	if (code == CURLE_OK && (status == 403 || status == 404 ||
	    status == 410)) {
		if (!f->is_reminted)
			return FETCH_REMINT;
		return fetch_lost(f, f->url, why);
	}
	if (f->tries + 1 >= FETCH_TRIES)
		return fetch_lost(f, f->url, why);
	return fetch_later(f, why);
}

static enum fetch_event
fetch_redirect(struct fetch *f)
{
	const char *where = http_header(&f->call, "Location");
	enum fetch_event event = FETCH_MORE;
	char *url = NULL;

	if (where == NULL || ++f->redirects > FETCH_REDIRECTS ||
	    url_resolve(f->url, where, &url) < 0) {
		http_call_done(&f->call);
		return fetch_lost(f, f->url, where == NULL ?
		    "redirect to nowhere" : "too many redirects");
	}
	http_call_done(&f->call);
	event = fetch_url(f, url);
	mem_free(url);
	return event;
}

static enum fetch_event
fetch_commit(struct fetch *f)
{
	struct artifact_facts facts;
	int rc = 0;

	rc = artifact_commit(&f->file, http_header(&f->call, "Content-Type"),
	    &facts);
	http_call_done(&f->call);
	if (rc < 0)
		return fetch_later(f, po_strerror(rc));
	return fetch_keep(f, &facts, f->list[f->at].value, NULL);
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
