/*
 * poll_queue.c - when a waiting task may ask: timers with jitter and backoff,
 * and one bounded pool of requests for all of them.
 *
 * Owns the two queues.  A result that will vanish is served first.
 */
#include "worker/poll.h"

#include <stdlib.h>

#include "common/exitcodes.h"
#include "common/log.h"

#define POLL_DELAY_MAX	300000	/* a Retry-After beyond it is not believed */
#define POLL_TITLE_MS	1000

static struct poll_queue *poll_queue_of(struct poll_task *);
static bool	poll_is_more_urgent(const struct poll_task *,
		    const struct poll_task *);
static bool	poll_pump_one(struct poll *);

/* poll_set_state() is the only writer: it keeps queues and counts true. */
void
poll_set_state(struct poll_task *t, enum poll_state to)
{
	if (t->state == POLL_STATE_QUEUED)
		TAILQ_REMOVE(poll_queue_of(t), t, queued);
	if (t->state == POLL_STATE_FETCHING)
		t->p->fetching--;
	if (t->state == POLL_STATE_WAITING)
		(void)event_del(&t->timer);
	t->state = to;
	if (to == POLL_STATE_FETCHING)
		t->p->fetching++;
}

void
poll_wait(struct poll_task *t, int64_t delay_ms)
{
	struct timeval tv;
	int64_t spread = delay_ms / 5, left = 0;

	/* +-20 %: thousands of tasks of one burst must drift apart */
	if (spread > 0)
		delay_ms += (int64_t)arc4random_uniform(
		    (uint32_t)(2 * spread + 1)) - spread;
	if (t->answer == NULL && mono_is_set(t->deadline)) {
		left = mono_left_ms(t->deadline);
		if (left < delay_ms)
			delay_ms = left;
	}
	poll_set_state(t, POLL_STATE_WAITING);
	tv = ms_to_timeval(delay_ms);
	if (event_add(&t->timer, &tv) == -1) {
		log_warnx("task=%llu has no timer: out of memory, leaving",
		    (unsigned long long)t->job.task);
		loop_leave(t->p->w, EXIT_CODE_FATAL);
	}
}

void
poll_wait_longer(struct poll_task *t, int64_t at_least_ms)
{
	const int max = provider_poll_interval_max_ms(t->p->w->provider);
	int64_t delay = t->delay_ms;

	if (at_least_ms > POLL_DELAY_MAX)
		at_least_ms = POLL_DELAY_MAX;
	if (delay < at_least_ms)
		delay = at_least_ms;
	poll_wait(t, delay);
	t->delay_ms += t->delay_ms / 2 + 1;
	if (t->delay_ms > max)
		t->delay_ms = max;
}

void
poll_on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct poll_task *t = arg;

	(void)fd;
	(void)what;
	if (t->answer == NULL && mono_is_set(t->deadline) &&
	    !mono_is_before(mono_now(), t->deadline)) {
		/* one last look: what is finished by now is kept */
		if (t->is_last_ask) {
			poll_give_up(t);
			poll_pump(t->p);
			return;
		}
		t->is_last_ask = true;
	}
	poll_enqueue(t, t->want);
	poll_pump(t->p);
}

void
poll_enqueue(struct poll_task *t, enum poll_want want)
{
	struct poll_queue *q = NULL;
	struct poll_task *at = NULL;

	poll_set_state(t, POLL_STATE_SAVING);	/* off the queue, if on one */
	t->want = want;
	q = poll_queue_of(t);
	if (mono_is_set(t->urgent_at)) {
		TAILQ_FOREACH(at, q, queued) {
			if (poll_is_more_urgent(t, at))
				break;
		}
	}
	if (at != NULL)
		TAILQ_INSERT_BEFORE(at, t, queued);
	else
		TAILQ_INSERT_TAIL(q, t, queued);
	t->state = POLL_STATE_QUEUED;
}

void
poll_pump(struct poll *p)
{
	if (p->w->is_leaving)
		return;
	while (poll_pump_one(p))
		continue;
	if (mono_is_set(p->title_at) &&
	    mono_is_before(mono_now(), p->title_at))
		return;
	p->title_at = mono_add_ms(mono_now(), POLL_TITLE_MS);
	loop_set_title(p->w, "%u tasks", p->count);
}

/* Downloads may last: they never get the last quarter of the pool. */
static bool
poll_pump_one(struct poll *p)
{
	const unsigned int max = p->w->max_requests;
	struct poll_task *t = NULL;

	if (http_running(p->http) >= max)
		return false;
	if ((t = TAILQ_FIRST(&p->asks)) != NULL) {
		poll_ask(t);
		return true;
	}
	if (p->fetching > 0 && p->fetching >= max - max / 4)
		return false;
	if ((t = TAILQ_FIRST(&p->fetches)) != NULL) {
		poll_fetch(t);
		return true;
	}
	return false;
}

static struct poll_queue *
poll_queue_of(struct poll_task *t)
{
	return t->want == POLL_WANT_ARTIFACT ? &t->p->fetches : &t->p->asks;
}

static bool
poll_is_more_urgent(const struct poll_task *a, const struct poll_task *b)
{
	return !mono_is_set(b->urgent_at) ||
	    mono_is_before(a->urgent_at, b->urgent_at);
}
