/*
 * loop.c - the event loop: events, then the phases of a turn in fixed order.
 *
 * Events only collect (messages, answers, flags); what follows from them is
 * done once per turn.  So all that came in one turn goes out in one batch.
 */
#include <errno.h>

#include "common/err.h"
#include "common/log.h"
#include "supervisor/supervisor.h"

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct super *super = arg;

	(void)fd;	/* a timer has none */
	(void)what;
	/*
	 * A late tick means that we slept, not the workers: their heartbeats
	 * are waiting in the channels.
	 */
	if (mono_diff_ms(mono_now(), super->last_tick) > 2 * SUPER_TICK_MS) {
		log_info("was away for %lld ms, hears its workers first",
		    (long long)mono_diff_ms(mono_now(), super->last_tick));
		child_forgive_all(super);
	}
	super->last_tick = mono_now();
	db_check(super->db);
	child_check_all(super);
	claim_want(super, NULL, mono_is_before(super->next_expired,
	    mono_now()));
	if (super->want_expired)
		super->next_expired = mono_add_ms(mono_now(),
		    (int64_t)super->conf->lease_s * 1000 / 3);
	status_title(super);
}

static int
set_tick(struct super *super)
{
	struct timeval tv = ms_to_timeval(SUPER_TICK_MS);

	super->ev_tick = event_new(super->base, -1, EV_PERSIST, on_tick,
	    super);
	if (super->ev_tick == NULL || event_add(super->ev_tick, &tv) != 0)
		return PO_ENOMEM;
	super->last_tick = mono_now();	/* a stop may come before the first */
	return 0;
}

/* An event that is due at once keeps the loop from waiting. */
void
loop_soon(struct super *super)
{
	super->is_soon = true;
}

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct super *super = arg;

	(void)fd;	/* waking the loop is all: a turn follows */
	(void)what;
	super->wake_at = (struct mono){ .ns = 0 };
}

/* The earliest of all who ask is kept; without memory the tick comes. */
void
loop_wake(struct super *super, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms + 1);
	struct mono at = mono_add_ms(mono_now(), ms + 1);

	if (ms >= SUPER_TICK_MS || (mono_is_set(super->wake_at) &&
	    mono_is_before(super->wake_at, at)))
		return;
	if (super->ev_wake == NULL)
		super->ev_wake = evtimer_new(super->base, on_wake, super);
	if (super->ev_wake != NULL && event_add(super->ev_wake, &tv) == 0)
		super->wake_at = at;
}

static void
turn(struct super *super)
{
	if (super->got_child)
		child_reap_all(super);
	if (super->got_reload)
		reload_run(super);
	if (super->got_state)
		status_log(super);
	start_run(super);
	recover_watch(super);
	stop_run(super);
	sched_run(super);
	sched_close_tasks(super);
	claim_run(super);
	renew_run(super);
	progress_run(super);
	db_send_all(super->db);
	child_flush_all(super);
	child_free_gone(super);
}

int
loop_run(struct super *super)
{
	int rc = 0;

	if (set_tick(super) != 0)
		return PO_ENOMEM;
	db_start(super->db);
	while (super->state != SUPER_DONE) {
		rc = event_base_loop(super->base, EVLOOP_ONCE |
		    (super->is_soon ? EVLOOP_NONBLOCK : 0));
		if (rc < 0) {
			log_warn("the event loop failed");
			return PO_EIO;
		}
		super->is_soon = false;
		turn(super);
	}
	return 0;
}
