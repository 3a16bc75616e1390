/*
 * submit.c - a submit worker: one task, one request at a time.
 *
 * Owns the task and its state.  What the supervisor says arrives here; the
 * send is submit_send.c, the answer submit_answer.c.
 */
#include "worker/submit.h"

#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/fetch.h"

static int	submit_start(struct worker *);
static void	submit_assign(struct worker *, const struct msg_assign *);
static void	submit_marked(struct worker *, const struct msg_marked *);
static void	submit_mark_refused(struct worker *,
		    const struct msg_mark_refused *);
static void	submit_renewed(struct worker *, const struct msg_renewed *);
static void	submit_stored(struct worker *, const struct msg_stored *);
static void	submit_cancel(struct worker *, const struct msg_cancel *);
static void	submit_drain(struct worker *, int64_t);
static void	submit_orphan(struct worker *);
static uint64_t	submit_count(const struct worker *);
static void	submit_stop(struct worker *);
static void	submit_on_retry(evutil_socket_t, short, void *);

const struct role_ops submit_ops = {
	.start = submit_start,
	.assign = submit_assign,
	.marked = submit_marked,
	.refused = submit_mark_refused,
	.renewed = submit_renewed,
	.stored = submit_stored,
	.cancel = submit_cancel,
	.drain = submit_drain,
	.orphan = submit_orphan,
	.count = submit_count,
	.stop = submit_stop,
};

static int
submit_start(struct worker *w)
{
	struct submit *s = mem_alloc(sizeof(*s));

	if (s == NULL)
		return PO_ENOMEM;
	s->w = w;
	s->ev_retry = event_new(w->base, -1, 0, submit_on_retry, s);
	if (s->ev_retry == NULL) {
		mem_free(s);
		return PO_ENOMEM;
	}
	w->state = s;
	return 0;
}

static void
submit_stop(struct worker *w)
{
	struct submit *s = w->state;

	http_cancel(&s->call);
	submit_end(s, false);
	http_free(&s->http);
	event_free(s->ev_retry);
	mem_free(s);
	w->state = NULL;
}

int
submit_need_http(struct submit *s)
{
	return s->http != NULL ? 0 : http_new(s->w->base, &s->http);
}

void
submit_set_state(struct submit *s, enum submit_state to)
{
	static const char *const names[] = {
		[SUBMIT_STATE_IDLE] = "idle",
		[SUBMIT_STATE_UNSENT] = "connecting",
		[SUBMIT_STATE_SENT] = "sent",
		[SUBMIT_STATE_LOOKING] = "looking up",
		[SUBMIT_STATE_FETCHING] = "fetching",
		[SUBMIT_STATE_REPORTED] = "reported",
	};

	if (s->state == to)
		return;
	log_debug("task=%llu attempt=%llu submit %s -> %s",
	    (unsigned long long)s->job.task,
	    (unsigned long long)s->job.attempt, names[s->state], names[to]);
	s->state = to;
	if (to == SUBMIT_STATE_IDLE)
		loop_set_title(s->w, "idle");
	else
		loop_set_title(s->w, "task %llu %s",
		    (unsigned long long)s->job.task, names[to]);
}

void
submit_end(struct submit *s, bool is_stored)
{
	(void)event_del(s->ev_retry);
	fetch_free(&s->fetch);
	if (s->receipt != NULL)
		receipt_close(&s->receipt, is_stored);
	submit_verdict_done(&s->verdict);
	memset(&s->verdict, 0, sizeof(s->verdict));
	poll_verdict_done(&s->answer);
	memset(&s->answer, 0, sizeof(s->answer));
	mem_free(s->excerpt);
	s->excerpt = NULL;
	mem_free(s->detail);
	s->detail = NULL;
	http_call_done(&s->call);
	memset(&s->facts, 0, sizeof(s->facts));
	s->is_unwritten = false;
	s->gate = SUBMIT_GATE_CLOSED;
	s->tries = 0;
	submit_set_state(s, SUBMIT_STATE_IDLE);
	job_done(&s->job);
	if (s->w->is_orphan)
		loop_leave(s->w, EXIT_CODE_ORPHAN);
	else if (s->w->is_draining)
		loop_leave(s->w, EXIT_CODE_OK);
}

void
submit_reported(struct submit *s)
{
	submit_set_state(s, SUBMIT_STATE_REPORTED);
	/* an orphan stays until its outcome is on the disk */
	if (s->w->is_orphan && !s->is_unwritten)
		submit_end(s, false);
}

static void
submit_assign(struct worker *w, const struct msg_assign *m)
{
	struct submit *s = w->state;

	if (s->state == SUBMIT_STATE_REPORTED)
		submit_end(s, false);	/* its STORED will not come */
	if (w->is_leaving)
		return;
	if (s->state != SUBMIT_STATE_IDLE || (m->mode != ASSIGN_SUBMIT &&
	    m->mode != ASSIGN_RESEND && m->mode != ASSIGN_LOOKUP)) {
		log_warnx("task=%llu assigned out of turn, leaving",
		    (unsigned long long)m->task);
		loop_leave(w, EXIT_CODE_PROTO);
		return;
	}
	if (job_init(&s->job, m) < 0) {
		log_warnx("task=%llu cannot be taken, leaving",
		    (unsigned long long)m->task);
		loop_leave(w, EXIT_CODE_FATAL);
		return;
	}
	INJECT("submit.assigned");
	if (s->job.mode == ASSIGN_LOOKUP)
		submit_find(s);
	else
		submit_send(s);
}

static void
submit_marked(struct worker *w, const struct msg_marked *m)
{
	struct submit *s = w->state;

	if (job_is(&s->job, m->task, m->attempt) &&
	    s->gate == SUBMIT_GATE_ASKING)
		s->gate = SUBMIT_GATE_MARKED;
}

static void
submit_mark_refused(struct worker *w, const struct msg_mark_refused *m)
{
	struct submit *s = w->state;

	if (!job_is(&s->job, m->task, m->attempt) ||
	    s->gate != SUBMIT_GATE_ASKING)
		return;
	s->gate = SUBMIT_GATE_REFUSED;
	(void)snprintf(s->why, sizeof(s->why), "%.*s", (int)m->reason.len,
	    m->reason.p);
	if (s->why[0] == '\0')
		(void)snprintf(s->why, sizeof(s->why), "mark_refused");
}

static void
submit_renewed(struct worker *w, const struct msg_renewed *m)
{
	struct submit *s = w->state;

	if (!job_is(&s->job, m->task, m->attempt) ||
	    m->deadline_ns > INT64_MAX)
		return;
	s->job.lease_end.ns = (int64_t)m->deadline_ns;
	/* armed for as long as a request may still leave */
	if ((s->state == SUBMIT_STATE_UNSENT ||
	    (s->state == SUBMIT_STATE_SENT && !s->call.is_out)) &&
	    deadman_arm(s->job.lease_end) < 0)
		log_warn("task=%llu cannot re-arm the dead-man timer; it "
		    "stays at the old lease", (unsigned long long)m->task);
}

static void
submit_stored(struct worker *w, const struct msg_stored *m)
{
	struct submit *s = w->state;

	if (!job_is(&s->job, m->task, m->attempt) ||
	    s->state != SUBMIT_STATE_REPORTED)
		return;
	INJECT("submit.stored");
	if (m->what == MSG_RESULT && !m->is_final)
		submit_result_stored(s);
	else
		submit_end(s, true);
}

static void
submit_cancel(struct worker *w, const struct msg_cancel *m)
{
	struct submit *s = w->state;
	char why[LIM_WORD + 1];

	if (!job_is(&s->job, m->task, m->attempt))
		return;
	(void)snprintf(why, sizeof(why), "%.*s", (int)m->reason.len,
	    m->reason.p);
	if (s->state == SUBMIT_STATE_UNSENT ||
	    (s->state == SUBMIT_STATE_LOOKING &&
	    s->job.mode == ASSIGN_LOOKUP))
		submit_refuse(s, why[0] != '\0' ? why : "canceled");
	/* a request that left is money: it goes on */
}

static void
submit_drain(struct worker *w, int64_t stop_ms)
{
	struct submit *s = w->state;

	(void)stop_ms;	/* the request's own timeout bounds it */
	if (s->state == SUBMIT_STATE_IDLE)
		loop_leave(w, EXIT_CODE_OK);
	else if (s->state == SUBMIT_STATE_UNSENT ||
	    (s->state == SUBMIT_STATE_LOOKING &&
	    s->job.mode == ASSIGN_LOOKUP))
		submit_refuse(s, "drain");
}

/*
 * Nobody will answer any more.  Not sent: the receipt says so, then leave.
 * Sent: the answer is awaited, submit_reported() leaves behind it.
 */
static void
submit_orphan(struct worker *w)
{
	struct submit *s = w->state;

	switch (s->state) {
	case SUBMIT_STATE_UNSENT:
		submit_refuse(s, "orphaned");
		break;
	case SUBMIT_STATE_SENT:
		log_info("task=%llu attempt=%llu sent, but the supervisor is "
		    "gone: waiting for the answer to keep its receipt",
		    (unsigned long long)s->job.task,
		    (unsigned long long)s->job.attempt);
		break;
	case SUBMIT_STATE_REPORTED:
		submit_reported(s);
		break;
	case SUBMIT_STATE_IDLE:
	case SUBMIT_STATE_LOOKING:
	case SUBMIT_STATE_FETCHING:
		loop_leave(w, w->is_draining ? EXIT_CODE_OK :
		    EXIT_CODE_ORPHAN);
		break;
	}
}

static uint64_t
submit_count(const struct worker *w)
{
	const struct submit *s = w->state;

	return s->state != SUBMIT_STATE_IDLE;
}

/* One timer: each state has at most one thing to try again. */
static void
submit_on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct submit *s = arg;

	(void)fd;
	(void)what;
	if (s->is_unwritten) {
		submit_write_outcome(s);
		if (!s->is_unwritten && s->state == SUBMIT_STATE_REPORTED)
			submit_reported(s);
	}
	if (s->call.easy != NULL)
		return;
	if (s->state == SUBMIT_STATE_LOOKING)
		submit_find(s);
	else if (s->state == SUBMIT_STATE_FETCHING)
		submit_result_stored(s);
}
