/*
 * stop.c - leaving on SIGTERM: nothing new, what is not sent goes back, what
 * is sent is waited for, polls are handed back, workers drain, exit 0.
 *
 * A second signal leaves at once: the workers finish what they sent, write
 * their receipts, and the next supervisor applies them.
 */
#include "common/log.h"
#include "supervisor/supervisor.h"

#define LEAVE_MS	5000	/* for idle workers to exit, answers to come */

static void
stop_tasks(struct super *super)
{
	struct task *t = NULL, *next = NULL;

	for (t = RB_MIN(task_tree, &super->tasks); t != NULL; t = next) {
		next = RB_NEXT(task_tree, &super->tasks, t);
		if (t->is_stopped && t->child != NULL)
			continue;	/* its worker was told */
		if (task_permits(t, TE_STOP) == CELL_DO) {
			t->is_stopped = true;
			task_event(&super->env, t, TE_STOP);
		}
	}
}

static void
stop_children(struct super *super)
{
	struct child *c = NULL;

	TAILQ_FOREACH(c, &super->children, all_link) {
		if (c->state == CS_STARTING || c->state == CS_IDLE)
			child_drain(c);
	}
}

static bool
has_children(struct super *super)
{
	struct child *c = NULL;

	TAILQ_FOREACH(c, &super->children, all_link) {
		if (c->state != CS_GONE)
			return true;
	}
	return false;
}

static void
stop_begin(struct super *super)
{
	log_info("stops: waits at most %d s for what is sent",
	    super->conf->stop_timeout_s);
	super->state = SUPER_STOPPING;
	super->stop_deadline = mono_add_ms(mono_now(),
	    (int64_t)super->conf->stop_timeout_s * 1000);
}

static void
stop_leave(struct super *super, const char *why)
{
	log_info("leaves: %s", why);
	super->state = SUPER_LEAVING;
	super->stop_deadline = mono_add_ms(mono_now(), LEAVE_MS);
}

void
stop_run(struct super *super)
{
	struct mono now = mono_now();

	if (super->got_stop == 0)
		return;
	if (super->got_stop > 1 && super->state < SUPER_DONE) {
		log_info("leaves at once: the workers finish what they sent");
		super->state = SUPER_DONE;
		return;
	}
	if (super->state < SUPER_STOPPING)
		stop_begin(super);
	if (super->state == SUPER_STOPPING) {
		stop_tasks(super);
		stop_children(super);
		/* Without a database nothing more can be handed back. */
		if (RB_EMPTY(&super->tasks) && (db_is_quiet(super->db) ||
		    !db_is_up(super->db)))
			stop_leave(super, "everything is handed back");
		else if (mono_is_before(super->stop_deadline, now))
			stop_leave(super, "stop_timeout is over");
	}
	if (super->state == SUPER_LEAVING) {
		stop_children(super);
		if (!has_children(super))
			super->state = SUPER_DONE;
		else if (mono_is_before(super->stop_deadline, now))
			super->state = SUPER_DONE;
	}
}
