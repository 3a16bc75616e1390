/*
 * submit_result.c - a sync provider: the answer of the paid request is the
 * result.  Saved on the row first (RESULT), its artifacts next, then DONE.
 */
#include "worker/submit.h"

#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/fetch.h"
#include "worker/result.h"

static void	submit_fetch_on_step(void *, enum fetch_event);
static void	submit_fetch_act(struct submit *, enum fetch_event);

int
submit_need_result(struct submit *s)
{
	struct task_context ctx;
	struct answer a;
	int rc = 0;

	memset(&a, 0, sizeof(a));
	job_context(&s->job, s->w, &ctx);
	if ((rc = http_answer(&s->call, &a)) == 0)
		rc = provider_read_result(s->w->provider, &ctx, &a,
		    &s->answer);
	mem_free(a.headers);
	if (rc == 0 && (s->answer.class != POLL_DONE ||
	    s->answer.result == NULL))
		rc = PO_EINVAL;
	if (rc == 0)
		rc = result_prepare(s->w, &s->job, &s->answer);
	return rc;
}

void
submit_result_report(struct submit *s)
{
	const struct receipt_facts *f = &s->facts;

	report_result(s->w, &s->job, s->answer.result,
	    strlen(s->answer.result), f->cost, f->currency,
	    provider_fetch_within_ms(s->w->provider));
}

/* The row has the result: now its artifacts, one after another. */
void
submit_result_stored(struct submit *s)
{
	if (s->fetch == NULL) {
		if (s->receipt != NULL)
			receipt_close(&s->receipt, true);
		s->is_unwritten = false;
		submit_set_state(s, SUBMIT_STATE_FETCHING);
		if (fetch_new(s->w, s->http, &s->job, &s->answer,
		    submit_fetch_on_step, s, &s->fetch) < 0) {
			submit_fetch_act(s, FETCH_LATER);
			return;
		}
	}
	submit_fetch_act(s, fetch_step(s->fetch));
}

static void
submit_fetch_on_step(void *arg, enum fetch_event event)
{
	struct submit *s = arg;

	if (event == FETCH_MORE)
		event = fetch_step(s->fetch);
	submit_fetch_act(s, event);
}

static void
submit_fetch_act(struct submit *s, enum fetch_event event)
{
	struct timeval tv;
	char *text = NULL;
	size_t len = 0;

	while (event == FETCH_REMINT || event == FETCH_MORE) {
		/* a sync answer cannot be asked for again */
		if (event == FETCH_REMINT)
			fetch_remint(s->fetch, NULL);
		event = fetch_step(s->fetch);
	}
	if (event == FETCH_BUSY)
		return;
	if (event == FETCH_DONE &&
	    result_finish(s->answer.result, strlen(s->answer.result),
	    fetch_entries(s->fetch), &text, &len) == 0) {
		report_done(s->w, &s->job, text, len, NULL, NULL);
		mem_free(text);
		submit_reported(s);
		return;
	}
	tv = ms_to_timeval(s->fetch != NULL ? fetch_delay_ms(s->fetch) : 1000);
	if (event_add(s->ev_retry, &tv) == -1)
		log_warnx("task=%llu cannot go on fetching: out of memory",
		    (unsigned long long)s->job.task);
}
