/*
 * poll_result.c - a finished generation: save the result on the row, bring its
 * artifacts to the disk, report it done; in this order.
 *
 * From poll_save() on the task can no longer fail or park.
 */
#include "worker/poll.h"

#include <string.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/result.h"

static void	poll_on_fetch(void *, enum fetch_event);
static void	poll_fetch_act(struct poll_task *, enum fetch_event);
static void	poll_done(struct poll_task *);

void
poll_save(struct poll_task *t, struct poll_verdict *v)
{
	struct worker *w = t->p->w;
	int rc = PO_ENOMEM;

	if ((t->answer = mem_alloc(sizeof(*t->answer))) != NULL)
		rc = result_prepare(w, &t->job, v);
	if (rc < 0) {
		mem_free(t->answer);
		t->answer = NULL;
		poll_missed(t, "the result cannot be kept on this disk", -1);
		return;
	}
	*t->answer = *v;
	memset(v, 0, sizeof(*v));
	INJECT("poll.done");
	poll_set_state(t, POLL_STATE_SAVING);
	report_result(w, &t->job, t->answer->result,
	    strlen(t->answer->result), t->cost, t->currency,
	    provider_fetch_within_ms(w->provider));
}

void
poll_saved(struct poll_task *t)
{
	if (fetch_new(t->p->w, t->p->http, &t->job, t->answer, poll_on_fetch,
	    t, &t->fetch) < 0) {
		log_warnx("task=%llu artifacts: out of memory, leaving",
		    (unsigned long long)t->job.task);
		loop_leave(t->p->w, EXIT_CODE_FATAL);
		return;
	}
	poll_enqueue(t, POLL_WANT_ARTIFACT);
	poll_pump(t->p);
}

void
poll_fetch(struct poll_task *t)
{
	poll_set_state(t, POLL_STATE_FETCHING);
	poll_fetch_act(t, fetch_step(t->fetch));
}

/* poll_reminted() goes on with new URLs, or without when v is NULL. */
void
poll_reminted(struct poll_task *t, struct poll_verdict *v)
{
	fetch_remint(t->fetch, v);
	poll_enqueue(t, POLL_WANT_ARTIFACT);
}

static void
poll_on_fetch(void *arg, enum fetch_event event)
{
	struct poll_task *t = arg;
	struct poll *p = t->p;

	poll_fetch_act(t, event);
	poll_pump(p);
}

static void
poll_fetch_act(struct poll_task *t, enum fetch_event event)
{
	switch (event) {
	case FETCH_BUSY:
		break;
	case FETCH_MORE:
		poll_enqueue(t, POLL_WANT_ARTIFACT);
		break;
	case FETCH_LATER:
		poll_wait(t, fetch_delay_ms(t->fetch));
		break;
	case FETCH_REMINT:
		t->missed = 0;
		poll_enqueue(t, provider_has_result_fetch(t->p->w->provider) ?
		    POLL_WANT_RESULT : POLL_WANT_STATUS);
		break;
	case FETCH_DONE:
		poll_done(t);
		break;
	}
}

static void
poll_done(struct poll_task *t)
{
	const char *saved = t->answer->result;
	char *text = NULL;
	size_t len = 0;

	if (result_finish(saved, strlen(saved), fetch_entries(t->fetch),
	    &text, &len) < 0)
		log_warnx("task=%llu its list of artifacts is too long for "
		    "the row; the files are on the disk",
		    (unsigned long long)t->job.task);
	INJECT("poll.fetched");
	poll_set_state(t, POLL_STATE_REPORTED);
	report_done(t->p->w, &t->job, text, len, NULL, NULL);
	mem_free(text);
}
