/*
 * task_act.c - what a cell of the table in task_fsm.c does: calls of ports.
 *
 * No action may wait, and none knows libpq, sockets or processes.  An action
 * that must choose between two states calls task_set_state() itself.
 */
#include <string.h>

#include "common/log.h"
#include "supervisor/task.h"

#define FORGOTTEN_MS	60000

/* A report without memory for its words is still a report. */
static void
say(struct task *t, const char *reason, const char *detail)
{
	if (task_report(t, reason, detail) != 0)
		report_done(&t->report);
}

static const char *
cancel_word(enum tevent ev)
{
	switch (ev) {
	case TE_CANCEL:
		return "canceled";
	case TE_STOP:
		return "drain";
	default:
		return "lease_lost";
	}
}

#define ACT(name)							\
void									\
task_act_##name(struct task_env *env, struct task *t, enum tevent ev)

/* one port, no choice */
#define ACT_CALL(name, call)						\
ACT(name)								\
{									\
	(void)ev;	/* the same for every event */			\
	env->ports->call;						\
}

ACT(none)
{
	(void)env;	/* the state alone says it */
	(void)t;
	(void)ev;
}

ACT_CALL(queue_submit, queue(env->arg, t, ROLE_SUBMIT))
ACT_CALL(queue_poll, queue(env->arg, t, ROLE_POLL))
ACT_CALL(queue_exec, queue(env->arg, t, ROLE_EXEC))
ACT_CALL(send_submit, submit(env->arg, t))
ACT_CALL(send_poll, poll(env->arg, t))
ACT_CALL(send_exec, exec(env->arg, t))
ACT_CALL(mark, mark(env->arg, t))
ACT_CALL(permit, tell_marked(env->arg, t))
ACT_CALL(refuse, tell_refused(env->arg, t))
ACT_CALL(record, record(env->arg, t))
ACT_CALL(save, save_result(env->arg, t))
ACT_CALL(progress, progress(env->arg, t))
ACT_CALL(complete, complete(env->arg, t))
ACT_CALL(reject, reject(env->arg, t))
ACT_CALL(fail, fail(env->arg, t))
ACT_CALL(park, park(env->arg, t))
ACT_CALL(release, release(env->arg, t))
ACT_CALL(evidence, evidence(env->arg, t))
ACT_CALL(expire, expire(env->arg, t))
ACT_CALL(stored, tell_stored(env->arg, t, false))
ACT_CALL(close, closed(env->arg, t))
ACT_CALL(cancel, cancel(env->arg, t, cancel_word(ev)))
ACT_CALL(kill, kill(env->arg, t))
ACT_CALL(watch, watch(env->arg, t))

/* The id is on the row: its submit worker is free, the poll worker goes on. */
ACT(handover)
{
	(void)ev;	/* always the record */
	env->ports->tell_stored(env->arg, t, true);
	env->ports->queue(env->arg, t, ROLE_POLL);
}

ACT(finish)
{
	(void)ev;	/* won or lost: nothing more comes */
	env->ports->tell_stored(env->arg, t, true);
	env->ports->closed(env->arg, t);
}

ACT(cancel_close)
{
	env->ports->cancel(env->arg, t, cancel_word(ev));
	env->ports->closed(env->arg, t);
}

ACT(cancel_expire)
{
	env->ports->cancel(env->arg, t, cancel_word(ev));
	env->ports->expire(env->arg, t);
}

/* The provider answered with a refusal: nothing is billed. */
ACT(rejected)
{
	(void)ev;	/* its class decides, not the event */
	if (t->report.reject == REJECT_TASK) {
		env->ports->reject(env->arg, t);
		return;
	}
	t->report.is_unmark = true;
	env->ports->release(env->arg, t);
}

/* The worker proves that no byte left, whatever the mark says. */
ACT(unsent)
{
	(void)ev;	/* only W_UNSENT */
	t->report.is_unmark = true;
	env->ports->release(env->arg, t);
}

/*
 * A receipt of this attempt says that a request left, and the row knows
 * nothing of it: the database has forgotten.  Nothing is sent, nothing is
 * called failed; the task waits and says why, and the receipts that hold an
 * id come to the row when the supervisor starts.
 */
ACT(forgotten)
{
	(void)ev;	/* only W_UNKNOWN */
	t->report.delay_ms = FORGOTTEN_MS;
	env->ports->release(env->arg, t);
}

ACT(dequeue_release)
{
	(void)ev;	/* canceled, held or stopped: it was not begun */
	env->ports->unqueue(env->arg, t);
	say(t, "not_started", NULL);
	env->ports->release(env->arg, t);
}

ACT(dequeue_expire)
{
	(void)ev;	/* only STOP */
	env->ports->unqueue(env->arg, t);
	env->ports->expire(env->arg, t);
}

ACT(dequeue_close)
{
	(void)ev;	/* only LEASE_LOST */
	env->ports->unqueue(env->arg, t);
	env->ports->closed(env->arg, t);
}

/*
 * The last write found another token.  What the provider said about a
 * marked attempt is evidence all the same; the rest is another host's now.
 */
ACT(lost_end)
{
	if (t->row.is_marked && t->report.class != RECEIPT_INTENT &&
	    t->report.class != RECEIPT_UNKNOWN) {
		task_set_state(env, t, TS_EVIDENCE, ev);
		env->ports->evidence(env->arg, t);
		return;
	}
	task_set_state(env, t, TS_CLOSED, ev);
	env->ports->tell_stored(env->arg, t, true);
	env->ports->closed(env->arg, t);
}

/*
 * The mark's answer is in, and MARKED was never told: nothing left, whether
 * the mark is on the row or not.  A death counts, so that a task which kills
 * its worker each time comes to an end.
 */
ACT(dead_unmark)
{
	(void)ev;	/* won, lost or error: the same */
	if (t->child == NULL) {
		say(t, "worker_died", "the worker died before it was told "
		    "that it may send");
		t->report.is_counted = true;
	}
	t->report.is_unmark = true;
	t->report.class = RECEIPT_UNSENT;
	env->ports->release(env->arg, t);
}

/*
 * A worker whose lease is lost reports: evidence by attempt needs no lease.
 * But only if this attempt's mark was ours: "unsent" from one that never won
 * the mark would undo the mark of the host that did.
 */
ACT(lost_evidence)
{
	if (!t->row.is_marked || t->report.class == RECEIPT_INTENT ||
	    t->report.class == RECEIPT_UNKNOWN) {
		task_set_state(env, t, TS_CLOSED, ev);
		env->ports->tell_stored(env->arg, t, true);
		env->ports->closed(env->arg, t);
		return;
	}
	env->ports->evidence(env->arg, t);
}

/*
 * The database refuses the very words (not the lease): a request id or a
 * result that it cannot hold.  It was paid, so a person looks at it; the
 * receipt has the words.
 */
ACT(bad_write)
{
	unsigned int what = t->report.what;

	(void)ev;	/* only D_ERROR */
	say(t, "unstorable", "the database cannot store what the provider "
	    "answered; see the receipt");
	t->report.what = what;
	env->ports->park(env->arg, t);
}

/* The same at the end: once more in our own words, then let go. */
ACT(bad_end)
{
	unsigned int what = t->report.what;

	if (t->report.reason != NULL &&
	    strcmp(t->report.reason, "unstorable") == 0) {
		log_warnx("task=%lld could not be ended, its lease runs out",
		    (long long)t->id);
		task_set_state(env, t, TS_CLOSED, ev);
		env->ports->tell_stored(env->arg, t, true);
		env->ports->closed(env->arg, t);
		return;
	}
	say(t, "unstorable", "the database cannot store what was reported");
	t->report.what = what;
	if (t->row.is_local)
		env->ports->fail(env->arg, t);
	else if (t->row.is_marked)
		env->ports->park(env->arg, t);
	else
		env->ports->reject(env->arg, t);
}

/* The lease goes, the row stays as it is, and the next claim tries again. */
ACT(try_later)
{
	(void)ev;	/* nothing left, or nothing was proven */
	env->ports->tell_stored(env->arg, t, true);
	env->ports->expire(env->arg, t);
}

/*
 * A refusal of the repetition: "later" and "your account" say nothing about
 * the first request, and neither does "your request is wrong", which may
 * mean the repetition itself.
 */
ACT(resent_rejected)
{
	if (t->report.reject == REJECT_TASK) {
		env->ports->park(env->arg, t);
		return;
	}
	task_set_state(env, t, TS_EXPIRING, ev);
	task_act_try_later(env, t, ev);
}
