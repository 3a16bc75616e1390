/*
 * poll.c - a poll worker: all generations of a kind that are under way.
 *
 * Owns the table of tasks.  What the supervisor says arrives here; nothing in
 * this process waits for one task, and its death costs nothing: every row is
 * polled again.
 */
#include "worker/poll.h"

#include <string.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/result.h"

static int	poll_start(struct worker *);
static void	poll_assign(struct worker *, const struct msg_assign *);
static void	poll_renewed(struct worker *, const struct msg_renewed *);
static void	poll_stored(struct worker *, const struct msg_stored *);
static void	poll_cancel(struct worker *, const struct msg_cancel *);
static void	poll_drain(struct worker *, int64_t);
static void	poll_orphan(struct worker *);
static uint64_t	poll_count(const struct worker *);
static void	poll_stop(struct worker *);
static void	poll_on_stop(evutil_socket_t, short, void *);
static int	poll_take_saved(struct poll_task *, const struct msg_assign *);
static struct poll_task	*poll_find(struct poll *, uint64_t task);
static struct poll_task	*poll_find_exact(struct worker *, uint64_t task,
		    uint64_t attempt);

const struct role_ops poll_ops = {
	.start = poll_start,
	.assign = poll_assign,
	.renewed = poll_renewed,
	.stored = poll_stored,
	.cancel = poll_cancel,
	.drain = poll_drain,
	.orphan = poll_orphan,
	.count = poll_count,
	.stop = poll_stop,
};

static int
poll_start(struct worker *w)
{
	struct poll *p = mem_alloc(sizeof(*p));

	if (p == NULL)
		return PO_ENOMEM;
	p->w = w;
	TAILQ_INIT(&p->asks);
	TAILQ_INIT(&p->fetches);
	LIST_INIT(&p->all);
	p->ev_stop = event_new(w->base, -1, 0, poll_on_stop, p);
	if (p->ev_stop == NULL || http_new(w->base, &p->http) < 0) {
		if (p->ev_stop != NULL)
			event_free(p->ev_stop);
		mem_free(p);
		return PO_ENOMEM;
	}
	w->state = p;
	return 0;
}

static void
poll_stop(struct worker *w)
{
	struct poll *p = w->state;

	while (!LIST_EMPTY(&p->all))
		poll_drop(LIST_FIRST(&p->all));
	http_free(&p->http);
	event_free(p->ev_stop);
	mem_free(p);
	w->state = NULL;
}

static void
poll_assign(struct worker *w, const struct msg_assign *m)
{
	struct poll *p = w->state;
	struct poll_task *t = NULL;
	int rc = PO_ENOMEM;

	if (m->mode != ASSIGN_POLL && m->mode != ASSIGN_FETCH) {
		log_warnx("task=%llu assigned to the wrong role, leaving",
		    (unsigned long long)m->task);
		loop_leave(w, EXIT_CODE_PROTO);
		return;
	}
	if (w->is_draining)
		return;		/* its lease runs out, another one takes it */
	if ((t = poll_find(p, m->task)) != NULL)
		poll_drop(t);	/* claimed anew: the new lease counts */
	if ((t = mem_alloc(sizeof(*t))) == NULL ||
	    (rc = job_init(&t->job, m)) < 0) {
		log_warnx("task=%llu cannot be taken: %s, leaving",
		    (unsigned long long)m->task, po_strerror(rc));
		mem_free(t);
		loop_leave(w, EXIT_CODE_FATAL);
		return;
	}
	t->p = p;
	t->permille = -1;
	t->delay_ms = provider_poll_interval_ms(w->provider);
	if (m->poll_left_ms >= 0)
		t->deadline = mono_add_ms(mono_now(), m->poll_left_ms);
	if (m->fetch_left_ms >= 0)
		t->urgent_at = mono_add_ms(mono_now(), m->fetch_left_ms);
	(void)event_assign(&t->timer, w->base, -1, 0, poll_on_timer, t);
	LIST_INSERT_HEAD(&p->buckets[t->job.task % POLL_BUCKETS], t, hashed);
	LIST_INSERT_HEAD(&p->all, t, all);
	p->count++;
	INJECT("poll.assigned");
	if (m->mode == ASSIGN_FETCH && poll_take_saved(t, m) < 0)
		return;
	if (m->mode == ASSIGN_POLL)
		poll_wait(t, t->urgent_at.ns != 0 ? 0 : t->delay_ms / 4);
	else
		poll_saved(t);
}

/* The result is on the row already: only its artifacts are missing. */
static int
poll_take_saved(struct poll_task *t, const struct msg_assign *m)
{
	struct worker *w = t->p->w;
	int rc = PO_ENOMEM;

	if ((t->answer = mem_alloc(sizeof(*t->answer))) != NULL)
		rc = result_read_saved(w, &t->job, m->result.p, m->result.len,
		    t->answer);
	if (rc == 0) {
		mem_free(t->answer->result);
		t->answer->result = mem_strndup(m->result.p, m->result.len);
		if (t->answer->result != NULL)
			return 0;
		rc = PO_ENOMEM;
	}
	if (rc == PO_EINVAL) {
		/* a person's result, say: there is nothing to fetch */
		log_info("task=%llu its saved result names no artifacts",
		    (unsigned long long)t->job.task);
		poll_set_state(t, POLL_STATE_REPORTED);
		report_done(w, &t->job, NULL, 0, NULL, NULL);
		return rc;
	}
	log_warnx("task=%llu saved result: %s, leaving",
	    (unsigned long long)t->job.task, po_strerror(rc));
	loop_leave(w, EXIT_CODE_FATAL);
	return rc;
}

void
poll_drop(struct poll_task *t)
{
	struct poll *p = t->p;

	poll_set_state(t, POLL_STATE_REPORTED);	/* off every queue */
	(void)event_del(&t->timer);
	if (t->call != NULL) {
		http_cancel(t->call);
		mem_free(t->call);
	}
	fetch_free(&t->fetch);
	if (t->answer != NULL) {
		poll_verdict_done(t->answer);
		mem_free(t->answer);
	}
	LIST_REMOVE(t, hashed);
	LIST_REMOVE(t, all);
	job_done(&t->job);
	mem_free(t->cost);
	mem_free(t->currency);
	mem_free(t);
	p->count--;
	if (p->w->is_draining && p->count == 0)
		loop_leave(p->w, EXIT_CODE_OK);
}

/* A poll worker's lease is beaten for; nothing here ends by it. */
static void
poll_renewed(struct worker *w, const struct msg_renewed *m)
{
	struct poll_task *t = poll_find_exact(w, m->task, m->attempt);

	if (t != NULL && m->deadline_ns <= INT64_MAX)
		t->job.lease_end.ns = (int64_t)m->deadline_ns;
}

static void
poll_stored(struct worker *w, const struct msg_stored *m)
{
	struct poll_task *t = poll_find_exact(w, m->task, m->attempt);

	if (t == NULL)
		return;
	if (t->state == POLL_STATE_SAVING && m->what == MSG_RESULT &&
	    !m->is_final) {
		INJECT("poll.saved");
		poll_saved(t);
	} else if (m->is_final)
		poll_drop(t);
	poll_pump(w->state);
}

static void
poll_cancel(struct worker *w, const struct msg_cancel *m)
{
	struct poll_task *t = poll_find_exact(w, m->task, m->attempt);

	if (t != NULL)
		poll_drop(t);
	poll_pump(w->state);
}

/*
 * Waiting tasks are forgotten: the supervisor hands their rows back.  What
 * holds a finished result goes on until stop_ms.
 */
static void
poll_drain(struct worker *w, int64_t stop_ms)
{
	struct poll *p = w->state;
	struct poll_task *t = NULL, *next = NULL;
	const struct timeval tv = ms_to_timeval(stop_ms);

	for (t = LIST_FIRST(&p->all); t != NULL; t = next) {
		next = LIST_NEXT(t, all);
		if (t->answer == NULL && t->state != POLL_STATE_REPORTED)
			poll_drop(t);
	}
	if (p->count == 0 || event_add(p->ev_stop, &tv) == -1)
		loop_leave(w, EXIT_CODE_OK);
}

static void
poll_on_stop(evutil_socket_t fd, short what, void *arg)
{
	struct poll *p = arg;

	(void)fd;
	(void)what;
	loop_leave(p->w, EXIT_CODE_OK);
}

static void
poll_orphan(struct worker *w)
{
	loop_leave(w, w->is_draining ? EXIT_CODE_OK : EXIT_CODE_ORPHAN);
}

static uint64_t
poll_count(const struct worker *w)
{
	const struct poll *p = w->state;

	return p->count;
}

static struct poll_task *
poll_find(struct poll *p, uint64_t task)
{
	struct poll_task *t = NULL;

	LIST_FOREACH(t, &p->buckets[task % POLL_BUCKETS], hashed) {
		if (t->job.task == task)
			return t;
	}
	return NULL;
}

static struct poll_task *
poll_find_exact(struct worker *w, uint64_t task, uint64_t attempt)
{
	struct poll_task *t = poll_find(w->state, task);

	return t != NULL && t->job.attempt == attempt ? t : NULL;
}
