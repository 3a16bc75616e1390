/*
 * poll_ask.c - one GET about one task, and what its answer means.
 *
 * Decides nothing about money: a failed GET is a missed poll, a word that the
 * provider's file does not list means "still going".
 */
#include "worker/poll.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"

#define POLL_TIMEOUT_MS	30000
#define POLL_GRACE_MS	60000

static void	poll_on_answer(struct http_call *, void *);
static void	poll_act(struct poll_task *, struct poll_verdict *);
static void	poll_act_pending(struct poll_task *,
		    const struct poll_verdict *);
static void	poll_act_done(struct poll_task *, struct poll_verdict *);
static void	poll_end(struct poll_task *, const struct poll_verdict *);
static void	poll_keep_cost(struct poll_task *, struct poll_verdict *);
static void	poll_check_verdict(struct poll_verdict *);

void
poll_ask(struct poll_task *t)
{
	struct worker *w = t->p->w;
	struct task_context ctx;
	struct request request;
	char *error = NULL;
	int rc = PO_ENOMEM;

	memset(&request, 0, sizeof(request));
	poll_set_state(t, POLL_STATE_ASKING);
	if ((t->call = mem_alloc(sizeof(*t->call))) == NULL)
		goto out;
	job_context(&t->job, w, &ctx);
	rc = t->want == POLL_WANT_RESULT ?
	    provider_build_result(w->provider, &ctx, &request, &error) :
	    provider_build_poll(w->provider, &ctx, &request, &error);
	if (rc < 0)
		goto out;
	if (request.timeout_ms <= 0 || request.timeout_ms > POLL_TIMEOUT_MS)
		request.timeout_ms = POLL_TIMEOUT_MS;
	t->call->on_done = poll_on_answer;
	t->call->arg = t;
	rc = http_start(t->p->http, HTTP_READ, &request, t->call);
out:
	request_done(&request);
	if (rc == 0) {
		INJECT("poll.polling");
	} else {
		mem_free(t->call);
		t->call = NULL;
		poll_missed(t, error != NULL ? error : po_strerror(rc), -1);
	}
	mem_free(error);
}

static void
poll_on_answer(struct http_call *c, void *arg)
{
	struct poll_task *t = arg;
	struct poll *p = t->p;
	struct task_context ctx;
	struct poll_verdict v;
	struct answer a;
	int rc = PO_EIO;

	memset(&v, 0, sizeof(v));
	memset(&a, 0, sizeof(a));
	v.retry_after_ms = -1;
	job_context(&t->job, p->w, &ctx);
	if (c->code == CURLE_OK && (rc = http_answer(c, &a)) == 0)
		rc = t->want == POLL_WANT_RESULT ?
		    provider_read_result(p->w->provider, &ctx, &a, &v) :
		    provider_read_poll(p->w->provider, &ctx, &a, &v);
	mem_free(a.headers);
	t->call = NULL;
	if (rc == 0) {
		poll_check_verdict(&v);
		poll_act(t, &v);
	} else
		poll_missed(t, c->code != CURLE_OK ?
		    http_error(c) : po_strerror(rc), -1);
	poll_verdict_done(&v);
	http_call_done(c);
	mem_free(c);
	poll_pump(p);
}

/* Fields that no message can hold are dropped, never cut. */
static void
poll_check_verdict(struct poll_verdict *v)
{
	if (v->cost != NULL && num_decimal_check(v->cost) < 0) {
		mem_free(v->cost);
		v->cost = NULL;
	}
	if (v->currency != NULL && strlen(v->currency) > LIM_WORD) {
		mem_free(v->currency);
		v->currency = NULL;
	}
}

static void
poll_act(struct poll_task *t, struct poll_verdict *v)
{
	char note[LIM_TEXT];

	if (v->class != POLL_MISSED && v->class != POLL_ACCOUNT)
		t->missed = 0;
	if (v->unlisted != NULL && !t->told_word) {
		t->told_word = true;
		(void)snprintf(note, sizeof(note), "unlisted status word "
		    "\"%.200s\", taken as still going", v->unlisted);
		log_info("task=%llu %s", (unsigned long long)t->job.task, note);
		report_progress(t->p->w, &t->job, -1, note);
	}
	switch (v->class) {
	case POLL_PENDING:
		poll_act_pending(t, v);
		break;
	case POLL_DONE:
		poll_act_done(t, v);
		break;
	case POLL_ACCOUNT:
		if (!t->told_account) {
			t->told_account = true;
			(void)snprintf(note, sizeof(note), "the provider "
			    "refuses our key: %.500s", v->error != NULL ?
			    v->error : "no reason given");
			report_account(t->p->w, &t->job, note);
		}
		poll_missed(t, "the key is refused", v->retry_after_ms);
		break;
	case POLL_MISSED:
		poll_missed(t, v->reason != NULL ? v->reason :
		    "not an answer", v->retry_after_ms);
		break;
	case POLL_FAILED:
	case POLL_CANCELED:
	case POLL_GONE:
	case POLL_PARK:
	case POLL_CLASS_MAX:
		poll_end(t, v);
		break;
	}
}

static void
poll_act_pending(struct poll_task *t, const struct poll_verdict *v)
{
	if (v->progress >= 0 && v->progress <= 1000 &&
	    v->progress != t->permille) {
		t->permille = (int16_t)v->progress;
		report_progress(t->p->w, &t->job, v->progress, NULL);
	}
	if (t->is_last_ask && t->answer == NULL)
		poll_give_up(t);
	else
		poll_wait_longer(t, v->retry_after_ms);
}

static void
poll_act_done(struct poll_task *t, struct poll_verdict *v)
{
	const int64_t within = provider_fetch_within_ms(t->p->w->provider);

	poll_keep_cost(t, v);
	if (t->want == POLL_WANT_STATUS &&
	    provider_has_result_fetch(t->p->w->provider)) {
		if (within >= 0 && !mono_is_set(t->urgent_at))
			t->urgent_at = mono_add_ms(mono_now(), within);
		t->delay_ms = provider_poll_interval_ms(t->p->w->provider);
		/* finished is not late: its result gets time of its own */
		if (t->is_last_ask)
			t->deadline = mono_add_ms(mono_now(), POLL_GRACE_MS);
		t->is_last_ask = false;
		poll_enqueue(t, POLL_WANT_RESULT);
	} else if (v->result == NULL)
		poll_missed(t, "done without a result", v->retry_after_ms);
	else if (t->answer != NULL)
		poll_reminted(t, v);
	else
		poll_save(t, v);
}

/* The bill may stand in either answer; the later one counts. */
static void
poll_keep_cost(struct poll_task *t, struct poll_verdict *v)
{
	if (v->cost == NULL)
		return;
	mem_free(t->cost);
	mem_free(t->currency);
	t->cost = v->cost;
	t->currency = v->currency;
	v->cost = NULL;
	v->currency = NULL;
}

/* The provider has spoken its last word, and it is no result. */
static void
poll_end(struct poll_task *t, const struct poll_verdict *v)
{
	struct worker *w = t->p->w;

	if (t->answer != NULL) {
		/* asked only for a new URL: the result is saved already */
		poll_reminted(t, NULL);
		return;
	}
	poll_set_state(t, POLL_STATE_REPORTED);
	if (v->class == POLL_FAILED || v->class == POLL_CANCELED)
		report_failed(w, &t->job, v->class == POLL_FAILED ?
		    "failed_by_provider" : "canceled_by_provider", v->error,
		    v->cost != NULL ? v->cost : t->cost,
		    v->cost != NULL ? v->currency : t->currency);
	else if (v->class == POLL_GONE)
		report_unknown(w, &t->job, "gone", v->error, false);
	else
		report_unknown(w, &t->job, v->reason != NULL ? v->reason :
		    "ended_with_nothing", v->error, false);
}

void
poll_missed(struct poll_task *t, const char *why, int64_t retry_ms)
{
	t->missed++;
	/* the 4th, the 8th, the 16th ... in a row */
	if (t->missed >= 4 && (t->missed & (t->missed - 1)) == 0)
		log_warnx("task=%llu %u polls in a row missed, the last: %s",
		    (unsigned long long)t->job.task, t->missed, why);
	else
		log_debug("task=%llu poll missed: %s",
		    (unsigned long long)t->job.task, why);
	if (t->answer != NULL && t->missed >= 4)
		poll_reminted(t, NULL);
	else if (t->is_last_ask && t->answer == NULL)
		poll_give_up(t);
	else
		poll_wait_longer(t, retry_ms);
}

void
poll_give_up(struct poll_task *t)
{
	char detail[128];

	(void)snprintf(detail, sizeof(detail), "not finished at its poll "
	    "deadline; %u polls in a row missed", t->missed);
	poll_set_state(t, POLL_STATE_REPORTED);
	report_unknown(t->p->w, &t->job, "poll_deadline", detail, false);
}
