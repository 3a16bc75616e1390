/*
 * fetch_url.c - one artifact behind a URL: ask, write, make it durable.
 *
 * Owns the file that is being written and its one request.  Follows only URLs
 * that the provider's file allows, each redirect checked anew.
 */
#include "worker/fetch_parts.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"

#define FETCH_REDIRECTS	5u

static int	fetch_on_data(void *, const void *, size_t);
static void	fetch_on_done(struct http_call *, void *);
static enum fetch_event fetch_judge(struct fetch *);
static enum fetch_event fetch_redirect(struct fetch *);
static enum fetch_event fetch_commit(struct fetch *);
static enum fetch_event fetch_flush(struct fetch *, int rc);
static void	fetch_on_flush(void *, int err);

enum fetch_event
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
	int rc = artifact_seal(&f->file, http_header(&f->call,
	    "Content-Type"), &f->facts);

	http_call_done(&f->call);
	return fetch_flush(f, rc < 0 ? rc : 1);
}

/* Goes on with the syncs, rc as artifact_synced() returned it. */
static enum fetch_event
fetch_flush(struct fetch *f, int rc)
{
	struct artifact_facts facts;

	while (rc > 0) {
		rc = flush_start(f->w->flush, artifact_sync_fd(&f->file),
		    fetch_on_flush, f, &f->flush);
		if (f->flush != NULL)
			return FETCH_BUSY;
		if (rc == 0)
			rc = artifact_synced(&f->file, &f->facts);
	}
	if (rc < 0) {
		artifact_facts_done(&f->facts);
		artifact_abort(&f->file);
		return fetch_later(f, po_strerror(rc));
	}
	facts = f->facts;
	memset(&f->facts, 0, sizeof(f->facts));
	return fetch_keep(f, &facts, f->list[f->at].value, NULL);
}

static void
fetch_on_flush(void *arg, int err)
{
	struct fetch *f = arg;
	enum fetch_event event = FETCH_BUSY;

	f->flush = NULL;
	event = fetch_flush(f, err < 0 ? err :
	    artifact_synced(&f->file, &f->facts));
	if (event != FETCH_BUSY)
		f->on_step(f->arg, event);	/* may free f */
}
