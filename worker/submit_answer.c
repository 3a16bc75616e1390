/*
 * submit_answer.c - the answer of a paid request: judge it, keep it on the
 * disk, report it; in this order.
 *
 * Owns nothing beyond struct submit.  Decides nothing: outcome.c does.
 */
#include "worker/submit.h"

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/text.h"

#define SUBMIT_EXCERPT		2000u	/* bytes of an unclear answer kept */
#define SUBMIT_RETRY_MS		1000

static void	submit_judge(struct submit *, struct outcome_facts *);
static void	submit_check_verdict(struct submit *);
static void	submit_apply(struct submit *, const struct outcome *);
static void	submit_keep_excerpt(struct submit *);
static bool	submit_is_settled(const struct submit *);

void
submit_on_answer(struct http_call *c, void *arg)
{
	struct submit *s = arg;
	struct outcome_facts f;
	struct outcome o;

	if (c->is_passed)
		INJECT("submit.answered");
	if (deadman_disarm() < 0)
		log_warn("cannot disarm the dead-man timer");
	memset(&f, 0, sizeof(f));
	f.code = (int)c->code;
	f.gate_count = c->gate_count;
	f.is_passed = c->is_passed;
	f.is_too_big = c->is_too_big;
	f.status = c->status;
	if (c->code == CURLE_OK && c->status != 0)
		submit_judge(s, &f);
	else if (!c->is_passed)
		f.why = s->why[0] != '\0' ? s->why : NULL;
	outcome_decide(&f, &o);
	log_debug("task=%llu attempt=%llu answer: %s %s, curl %d, gate %u, "
	    "http %d", (unsigned long long)s->job.task,
	    (unsigned long long)s->job.attempt, outcome_name(o.class),
	    o.reason, f.code, f.gate_count, f.status);
	submit_apply(s, &o);
}

static void
submit_judge(struct submit *s, struct outcome_facts *f)
{
	struct task_context ctx;
	struct answer a;

	memset(&a, 0, sizeof(a));
	job_context(&s->job, s->w, &ctx);
	if (http_answer(&s->call, &a) == 0 &&
	    provider_read_submit(s->w->provider, &ctx, &a, &s->verdict) == 0) {
		submit_check_verdict(s);
		f->has_verdict = true;
		f->verdict = s->verdict.class;
		f->has_id = s->verdict.request_id != NULL &&
		    *s->verdict.request_id != '\0';
		f->why = s->verdict.reason;
	}
	mem_free(a.headers);
	if (f->has_verdict && f->verdict == SUBMIT_RESULT &&
	    submit_need_result(s) < 0)
		f->has_verdict = false;
}

/*
 * What identifies or costs is kept whole or not at all: a field over the
 * limit of the row's message would take the id down with it.
 */
static void
submit_check_verdict(struct submit *s)
{
	struct submit_verdict *v = &s->verdict;
	char **const urls[] = { &v->poll_url, &v->result_url, &v->cancel_url };
	size_t i = 0;

	for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		if (*urls[i] == NULL || strlen(*urls[i]) <= LIM_URL)
			continue;
		log_warnx("task=%llu a URL of %zu bytes is dropped",
		    (unsigned long long)s->job.task, strlen(*urls[i]));
		mem_free(*urls[i]);
		*urls[i] = NULL;
	}
	if (v->cost != NULL && num_decimal_check(v->cost) < 0) {
		mem_free(v->cost);
		v->cost = NULL;
	}
	if (v->currency != NULL && strlen(v->currency) > LIM_WORD) {
		mem_free(v->currency);
		v->currency = NULL;
	}
	/* an id that no row can hold: the answer is kept, a person adopts it */
	if (v->request_id != NULL && strlen(v->request_id) > LIM_ID) {
		mem_free(v->request_id);
		v->request_id = NULL;
	}
}

static void
submit_apply(struct submit *s, const struct outcome *o)
{
	static const struct {
		enum receipt_class	receipt;
		enum reject_class	reject;
	} rows[OUTCOME_MAX] = {
		[OUTCOME_REJECTED] = { RECEIPT_REJECTED, REJECT_TASK },
		[OUTCOME_THROTTLED] = { RECEIPT_THROTTLED, REJECT_THROTTLED },
		[OUTCOME_ACCOUNT] = { RECEIPT_ACCOUNT, REJECT_ACCOUNT },
	};
	const char *detail = s->verdict.error;

	switch (o->class) {
	case OUTCOME_UNSENT:
		submit_unsent(s, o->reason, s->call.code != CURLE_OK ?
		    http_error(&s->call) : NULL);
		return;
	case OUTCOME_ACCEPTED:
		submit_fill_facts(s, RECEIPT_SUBMITTED, NULL, NULL);
		submit_write_outcome(s);
		report_submitted(s->w, &s->job, &s->verdict);
		break;
	case OUTCOME_RESULT:
		submit_fill_facts(s, RECEIPT_RESULT, NULL, NULL);
		submit_write_outcome(s);
		submit_result_report(s);
		break;
	case OUTCOME_REJECTED:
	case OUTCOME_THROTTLED:
	case OUTCOME_ACCOUNT:
		submit_fill_facts(s, rows[o->class].receipt, o->reason, detail);
		submit_write_outcome(s);
		report_rejected(s->w, &s->job, rows[o->class].reject,
		    o->reason, detail, s->verdict.retry_after_ms);
		break;
	case OUTCOME_DUPLICATE:
	case OUTCOME_UNKNOWN:
	case OUTCOME_MAX:
		submit_keep_excerpt(s);
		submit_fill_facts(s, RECEIPT_UNKNOWN, o->reason, s->excerpt);
		submit_write_outcome(s);
		if (o->class == OUTCOME_DUPLICATE &&
		    provider_has_find(s->w->provider)) {
			http_call_done(&s->call);
			submit_find(s);
			return;
		}
		report_unknown(s->w, &s->job, o->reason, s->excerpt,
		    o->is_provider);
		break;
	}
	INJECT("submit.reported");
	submit_reported(s);
}

/* submit_keep_excerpt() makes a sentence with the start of the body. */
static void
submit_keep_excerpt(struct submit *s)
{
	const struct http_call *c = &s->call;
	size_t len = buf_left(&c->body);
	char *body = NULL;

	if (len > SUBMIT_EXCERPT)
		len = SUBMIT_EXCERPT;
	if (len > 0)
		body = mem_strndup((const char *)buf_head(&c->body), len);
	if (body != NULL)
		text_clean(body, strlen(body));
	s->excerpt = mem_printf("http %d, %s%s%s", c->status,
	    c->code == CURLE_OK ? "whole answer" :
	    http_error(c), body != NULL ? ": " : "",
	    body != NULL ? body : "");
	mem_free(body);
}

void
submit_fill_facts(struct submit *s, enum receipt_class class,
    const char *reason, const char *detail)
{
	struct receipt_facts *f = &s->facts;
	struct submit_verdict *v = &s->verdict;

	memset(f, 0, sizeof(*f));
	f->task = (int64_t)s->job.task;
	f->attempt = (int)s->job.attempt;
	f->token = (int64_t)s->job.token;
	f->own_id = s->job.own_id;
	f->kind = s->w->kind;
	f->provider = s->w->provider_name;
	f->system_id = s->w->system_id;
	f->timeline = s->w->timeline;
	f->host = s->w->host;
	f->class = class;
	/* ours: the outcome may have to be written again later */
	mem_free(s->detail);
	s->detail = detail != NULL ? mem_strdup(detail) : NULL;
	f->detail = s->detail;
	(void)snprintf(s->reason, sizeof(s->reason), "%s",
	    reason != NULL ? reason : "");
	f->reason = s->reason[0] != '\0' ? s->reason : NULL;
	f->http_status = s->call.status;
	if (class != RECEIPT_SUBMITTED && class != RECEIPT_RESULT)
		return;
	f->request_id = v->request_id;
	f->poll_url = v->poll_url;
	f->result_url = v->result_url;
	f->cancel_url = v->cancel_url;
	f->cost = v->cost;
	f->currency = v->currency;
	if (class == RECEIPT_RESULT) {
		f->result = s->answer.result;
		f->cost = s->answer.cost != NULL ? s->answer.cost : v->cost;
		f->currency = s->answer.currency != NULL ?
		    s->answer.currency : v->currency;
	}
}

/*
 * A resend that did not leave, or that was refused, says nothing about the
 * request before it: in the receipt, which speaks of the whole attempt, only
 * an id, a result or another silence may stand.
 */
static bool
submit_is_settled(const struct submit *s)
{
	return s->job.mode != ASSIGN_RESEND ||
	    s->facts.class == RECEIPT_SUBMITTED ||
	    s->facts.class == RECEIPT_RESULT ||
	    s->facts.class == RECEIPT_UNKNOWN;
}

/*
 * A disk that refuses does not stop the report: the row is the stronger
 * memory.  The outcome stays here and is tried again until it is stored.
 */
void
submit_write_outcome(struct submit *s)
{
	const struct timeval tv = ms_to_timeval(SUBMIT_RETRY_MS);
	bool is_first = !s->is_unwritten;

	if (s->receipt == NULL || !submit_is_settled(s))
		return;
	s->is_unwritten = receipt_write_outcome(s->receipt, &s->facts) < 0;
	if (!s->is_unwritten) {
		INJECT("submit.receipt");
		return;
	}
	if (is_first)
		log_warn("task=%llu attempt=%llu its outcome is not on the "
		    "disk (request id %s): make room in %s",
		    (unsigned long long)s->job.task,
		    (unsigned long long)s->job.attempt,
		    s->verdict.request_id != NULL ? s->verdict.request_id :
		    "none", s->w->state_dir);
	if (event_add(s->ev_retry, &tv) == -1)
		log_warnx("cannot try the receipt again: out of memory");
}
