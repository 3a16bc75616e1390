/*
 * submit_find.c - asking the provider for a request by our own id.
 *
 * A read: no mark, no receipt, it may be repeated.  A hit is evidence, a miss
 * proves nothing.
 */
#include "worker/submit.h"

#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"

#define FIND_TRIES	3u
#define FIND_RETRY_MS	1000	/* doubled each time */

static void	submit_on_found(struct http_call *, void *);
static void	submit_find_failed(struct submit *, const char *detail);
static void	submit_find_unanswered(struct submit *,
		    const char *detail);
static void	submit_find_over(struct submit *, const char *reason,
		    const char *detail);

void
submit_find(struct submit *s)
{
	struct task_context ctx;
	struct request request;
	char *error = NULL;
	int rc = 0;

	memset(&request, 0, sizeof(request));
	submit_set_state(s, SUBMIT_STATE_LOOKING);
	s->tries++;
	job_context(&s->job, s->w, &ctx);
	rc = provider_build_find(s->w->provider, &ctx, &request, &error);
	if (rc == PO_EINVAL) {
		submit_find_over(s, "lookup_failed", error);
		goto out;
	}
	s->call.on_done = submit_on_found;
	s->call.arg = s;
	if (rc < 0 || submit_need_http(s) < 0 ||
	    http_start(s->http, HTTP_READ, &request, &s->call) < 0)
		submit_find_failed(s, "out of memory");
out:
	mem_free(error);
	request_done(&request);
}

static void
submit_on_found(struct http_call *c, void *arg)
{
	struct submit *s = arg;
	struct task_context ctx;
	struct answer a;
	int rc = PO_EIO;

	memset(&a, 0, sizeof(a));
	submit_verdict_done(&s->verdict);
	memset(&s->verdict, 0, sizeof(s->verdict));
	job_context(&s->job, s->w, &ctx);
	if (c->code == CURLE_OK && http_answer(c, &a) == 0)
		rc = provider_read_find(s->w->provider, &ctx, &a, &s->verdict);
	mem_free(a.headers);
	if (rc == 0 && s->verdict.class == SUBMIT_ACCEPTED &&
	    s->verdict.request_id != NULL) {
		submit_fill_facts(s, RECEIPT_SUBMITTED, NULL, NULL);
		submit_write_outcome(s);
		http_call_done(c);
		report_submitted(s->w, &s->job, &s->verdict);
		submit_reported(s);
		return;
	}
	/* 404 and a whole 2xx without us are answers; the rest is none */
	if (rc == 0 && (c->status == 404 ||
	    (c->status >= 200 && c->status <= 299))) {
		http_call_done(c);
		submit_find_over(s, "lookup_missed", NULL);
		return;
	}
	http_call_done(c);
	submit_find_failed(s, c->code != CURLE_OK ?
	    curl_easy_strerror(c->code) : "no usable answer");
}

static void
submit_find_failed(struct submit *s, const char *detail)
{
	const struct timeval tv =
	    ms_to_timeval((int64_t)FIND_RETRY_MS << (s->tries - 1));

	if (s->tries < FIND_TRIES && event_add(s->ev_retry, &tv) == 0)
		return;
	submit_find_unanswered(s, detail);
}

/*
 * Nothing was learned.  A look-up of its own is done again later, for as long
 * as the row says that it may hit; one that follows a "duplicate" ends here.
 */
static void
submit_find_unanswered(struct submit *s, const char *detail)
{
	if (s->job.mode == ASSIGN_LOOKUP) {
		report_unsent(s->w, &s->job, "lookup_failed", detail);
		submit_reported(s);
	} else
		submit_find_over(s, "lookup_failed", detail);
}

static void
submit_find_over(struct submit *s, const char *reason, const char *detail)
{
	report_unknown(s->w, &s->job, reason, detail, false);
	submit_reported(s);
}
