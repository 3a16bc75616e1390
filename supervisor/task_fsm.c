/*
 * task_fsm.c - the states of a task under our lease: the full table, and the
 * one function that changes a state.
 *
 * Every (state, event) pair is spelled: BUG (our code cannot do this),
 * BAD (the worker may not say this now: it is ended), SKIP (allowed, and
 * means nothing any more) or GO(next state, action).  doc/STATES.md shows the
 * GO cells; a test compares the two.
 */
#include "supervisor/task.h"

#include <stddef.h>

#include "common/log.h"

struct cell {
	enum task_cell	  what;
	enum tstate	  next;
	void		(*act)(struct task_env *, struct task *, enum tevent);
	const char	 *name;
};

#define BUG		{ CELL_BUG, TS_MAX, NULL, "BUG" }
#define BAD		{ CELL_VIOLATION, TS_MAX, NULL, "BAD" }
#define SKIP		{ CELL_IGNORE, TS_MAX, NULL, "SKIP" }
#define GO(state, act)	{ CELL_DO, TS_##state, task_act_##act, #act }

/* groups of pairs that are alike in many states */
#define NO_ROW								\
	[TE_ROW_SUBMIT] = BUG, [TE_ROW_RESEND] = BUG,			\
	[TE_ROW_POLL] = BUG, [TE_ROW_EXEC] = BUG,			\
	[TE_ROW_REQUEUE] = BUG, [TE_ROW_PARK] = BUG,			\
	[TE_ROW_ORPHAN] = BUG, [TE_ROW_EVIDENCE] = BUG
/* no worker is attached: on_worker.c has dropped the message */
#define NO_TALK								\
	[TE_W_MARK] = BUG, [TE_W_SUBMITTED] = BUG,			\
	[TE_W_PROGRESS] = BUG, [TE_W_RESULT] = BUG, [TE_W_DONE] = BUG,	\
	[TE_W_REJECTED] = BUG, [TE_W_FAILED] = BUG,			\
	[TE_W_UNKNOWN] = BUG, [TE_W_UNSENT] = BUG
/* a worker is attached and waits for our answer */
#define MUST_WAIT							\
	[TE_W_MARK] = BAD, [TE_W_SUBMITTED] = BAD,			\
	[TE_W_PROGRESS] = SKIP, [TE_W_RESULT] = BAD, [TE_W_DONE] = BAD,	\
	[TE_W_REJECTED] = BAD, [TE_W_FAILED] = BAD,			\
	[TE_W_UNKNOWN] = BAD, [TE_W_UNSENT] = BAD
#define NO_WRITE							\
	[TE_D_WON] = BUG, [TE_D_LOST] = BUG, [TE_D_ERROR] = BUG
#define NO_CARE								\
	[TE_LEASE_LOST] = SKIP, [TE_CANCEL] = SKIP, [TE_STOP] = SKIP

static const struct cell cells[TS_MAX][TE_MAX] = {
	[TS_NEW] = {
		[TE_ROW_SUBMIT] = GO(SUBMIT_WAIT, queue_submit),
		[TE_ROW_RESEND] = GO(RESEND_WAIT, queue_submit),
		[TE_ROW_POLL] = GO(POLL_WAIT, queue_poll),
		[TE_ROW_EXEC] = GO(EXEC_WAIT, queue_exec),
		[TE_ROW_REQUEUE] = GO(ENDING, release),
		[TE_ROW_PARK] = GO(ENDING, park),
		[TE_ROW_ORPHAN] = GO(ORPHAN, watch),
		[TE_ROW_EVIDENCE] = GO(APPLYING, evidence),
		[TE_WORKER] = BUG, [TE_DEAD] = BUG,
		NO_TALK, NO_WRITE,
		[TE_LEASE_LOST] = GO(CLOSED, close),
		[TE_CANCEL] = SKIP, [TE_STOP] = GO(EXPIRING, expire),
	},
	[TS_SUBMIT_WAIT] = {
		NO_ROW, NO_TALK, NO_WRITE,
		[TE_WORKER] = GO(SUBMIT, send_submit),
		[TE_DEAD] = BUG,
		[TE_LEASE_LOST] = GO(CLOSED, dequeue_close),
		[TE_CANCEL] = GO(ENDING, dequeue_release),
		[TE_STOP] = GO(ENDING, dequeue_release),
	},
	[TS_RESEND_WAIT] = {
		NO_ROW, NO_TALK, NO_WRITE,
		[TE_WORKER] = GO(RESENT, send_submit),
		[TE_DEAD] = BUG,
		[TE_LEASE_LOST] = GO(CLOSED, dequeue_close),
		[TE_CANCEL] = SKIP,
		[TE_STOP] = GO(EXPIRING, dequeue_expire),
	},
	[TS_SUBMIT] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = GO(MARKING, mark),
		[TE_W_SUBMITTED] = BAD, [TE_W_PROGRESS] = SKIP,
		[TE_W_RESULT] = BAD, [TE_W_DONE] = BAD,
		[TE_W_REJECTED] = GO(ENDING, rejected),
		[TE_W_FAILED] = GO(ENDING, reject),
		[TE_W_UNKNOWN] = GO(ENDING, forgotten),
		[TE_W_UNSENT] = GO(ENDING, unsent),
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(LOST, kill),
		[TE_CANCEL] = GO(SUBMIT, cancel),
		[TE_STOP] = GO(SUBMIT, cancel),
	},
	[TS_MARKING] = {
		NO_ROW, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD, [TE_W_SUBMITTED] = BAD,
		[TE_W_PROGRESS] = SKIP, [TE_W_RESULT] = BAD,
		[TE_W_DONE] = BAD, [TE_W_REJECTED] = BAD,
		[TE_W_FAILED] = BAD, [TE_W_UNKNOWN] = BAD,
		[TE_W_UNSENT] = GO(UNMARKING, none),
		[TE_D_WON] = GO(SENT, permit),
		[TE_D_LOST] = GO(SUBMIT, refuse),
		[TE_D_ERROR] = GO(SUBMIT, refuse),
		[TE_DEAD] = GO(UNMARKING, none),
	},
	[TS_UNMARKING] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_D_WON] = GO(ENDING, dead_unmark),
		[TE_D_LOST] = GO(ENDING, dead_unmark),
		[TE_D_ERROR] = GO(ENDING, dead_unmark),
		[TE_DEAD] = SKIP,
	},
	[TS_SENT] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD,
		[TE_W_SUBMITTED] = GO(RECORDING, record),
		[TE_W_PROGRESS] = SKIP,
		[TE_W_RESULT] = GO(SAVING_SYNC, save),
		[TE_W_DONE] = GO(ENDING, complete),
		[TE_W_REJECTED] = GO(ENDING, rejected),
		[TE_W_FAILED] = GO(ENDING, fail),
		[TE_W_UNKNOWN] = GO(ENDING, park),
		[TE_W_UNSENT] = GO(ENDING, unsent),
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(LOST, cancel),
		[TE_CANCEL] = SKIP, [TE_STOP] = SKIP,
	},
	/* Its refusals prove nothing about the request before it. */
	[TS_RESENT] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD,
		[TE_W_SUBMITTED] = GO(RECORDING, record),
		[TE_W_PROGRESS] = SKIP,
		[TE_W_RESULT] = GO(SAVING_SYNC, save),
		[TE_W_DONE] = GO(ENDING, complete),
		[TE_W_REJECTED] = GO(ENDING, resent_rejected),
		[TE_W_FAILED] = GO(ENDING, fail),
		[TE_W_UNKNOWN] = GO(ENDING, park),
		[TE_W_UNSENT] = GO(EXPIRING, try_later),
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(LOST, cancel),
		[TE_CANCEL] = SKIP, [TE_STOP] = GO(RESENT, cancel),
	},
	[TS_RECORDING] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_D_WON] = GO(POLL_WAIT, handover),
		[TE_D_LOST] = GO(EVIDENCE, evidence),
		[TE_D_ERROR] = GO(ENDING, bad_write),
		[TE_DEAD] = SKIP,
	},
	[TS_SAVING_SYNC] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_D_WON] = GO(FETCH_SYNC, stored),
		[TE_D_LOST] = GO(EVIDENCE, evidence),
		[TE_D_ERROR] = GO(ENDING, bad_write),
		[TE_DEAD] = GO(DROPPING, none),
	},
	[TS_FETCH_SYNC] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD, [TE_W_SUBMITTED] = BAD,
		[TE_W_PROGRESS] = SKIP,
		[TE_W_RESULT] = GO(SAVING_SYNC, save),
		[TE_W_DONE] = GO(ENDING, complete),
		[TE_W_REJECTED] = BAD,
		[TE_W_FAILED] = GO(ENDING, fail),
		[TE_W_UNKNOWN] = GO(ENDING, park),
		[TE_W_UNSENT] = BAD,
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(LOST, cancel),
		[TE_CANCEL] = SKIP, [TE_STOP] = SKIP,
	},
	[TS_POLL_WAIT] = {
		NO_ROW, NO_TALK, NO_WRITE,
		[TE_WORKER] = GO(POLL, send_poll),
		[TE_DEAD] = BUG,
		[TE_LEASE_LOST] = GO(CLOSED, dequeue_close),
		[TE_CANCEL] = SKIP,
		[TE_STOP] = GO(EXPIRING, dequeue_expire),
	},
	[TS_POLL] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD, [TE_W_SUBMITTED] = BAD,
		[TE_W_PROGRESS] = GO(POLL, progress),
		[TE_W_RESULT] = GO(SAVING, save),
		[TE_W_DONE] = GO(ENDING, complete),
		[TE_W_REJECTED] = BAD,
		[TE_W_FAILED] = GO(ENDING, fail),
		[TE_W_UNKNOWN] = GO(ENDING, park),
		[TE_W_UNSENT] = BAD,
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(CLOSED, cancel_close),
		[TE_CANCEL] = SKIP,
		[TE_STOP] = GO(EXPIRING, cancel_expire),
	},
	[TS_SAVING] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_D_WON] = GO(POLL, stored),
		[TE_D_LOST] = GO(CLOSED, cancel_close),
		[TE_D_ERROR] = GO(ENDING, bad_write),
		[TE_DEAD] = GO(DROPPING, none),
	},
	[TS_EXEC_WAIT] = {
		NO_ROW, NO_TALK, NO_WRITE,
		[TE_WORKER] = GO(EXEC, send_exec),
		[TE_DEAD] = BUG,
		[TE_LEASE_LOST] = GO(CLOSED, dequeue_close),
		[TE_CANCEL] = GO(ENDING, dequeue_release),
		[TE_STOP] = GO(ENDING, dequeue_release),
	},
	[TS_EXEC] = {
		NO_ROW, NO_WRITE,
		[TE_WORKER] = BUG,
		[TE_W_MARK] = BAD, [TE_W_SUBMITTED] = BAD,
		[TE_W_PROGRESS] = GO(EXEC, progress),
		[TE_W_RESULT] = BAD,
		[TE_W_DONE] = GO(ENDING, complete),
		[TE_W_REJECTED] = BAD,
		[TE_W_FAILED] = GO(ENDING, fail),
		[TE_W_UNKNOWN] = BAD,
		[TE_W_UNSENT] = GO(ENDING, unsent),
		[TE_DEAD] = GO(EXPIRING, expire),
		[TE_LEASE_LOST] = GO(LOST, cancel),
		[TE_CANCEL] = GO(EXEC, cancel),
		[TE_STOP] = GO(EXEC, cancel),
	},
	[TS_ENDING] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG,
		[TE_D_WON] = GO(CLOSED, finish),
		[TE_D_LOST] = GO(ENDING, lost_end),
		[TE_D_ERROR] = GO(ENDING, bad_end),
		[TE_DEAD] = SKIP,
	},
	[TS_ORPHAN] = {
		[TE_ROW_SUBMIT] = BUG,
		[TE_ROW_RESEND] = GO(RESEND_WAIT, queue_submit),
		[TE_ROW_POLL] = BUG, [TE_ROW_EXEC] = BUG,
		[TE_ROW_REQUEUE] = GO(ENDING, release),
		[TE_ROW_PARK] = GO(ENDING, park),
		[TE_ROW_ORPHAN] = SKIP,
		[TE_ROW_EVIDENCE] = GO(APPLYING, evidence),
		[TE_WORKER] = BUG, [TE_DEAD] = BUG,
		NO_TALK, NO_WRITE,
		[TE_LEASE_LOST] = GO(CLOSED, close),
		[TE_CANCEL] = SKIP, [TE_STOP] = GO(CLOSED, close),
	},
	[TS_APPLYING] = {
		NO_ROW, NO_TALK, NO_CARE,
		[TE_WORKER] = BUG, [TE_DEAD] = BUG,
		[TE_D_WON] = GO(EXPIRING, expire),
		[TE_D_LOST] = GO(EXPIRING, expire),
		[TE_D_ERROR] = GO(ENDING, bad_write),
	},
	[TS_EVIDENCE] = {
		NO_ROW, MUST_WAIT, NO_CARE,
		[TE_WORKER] = BUG, [TE_DEAD] = SKIP,
		[TE_D_WON] = GO(CLOSED, finish),
		[TE_D_LOST] = GO(CLOSED, finish),
		[TE_D_ERROR] = GO(CLOSED, finish),
	},
	[TS_DROPPING] = {
		NO_ROW, NO_TALK, NO_CARE,
		[TE_WORKER] = BUG, [TE_DEAD] = BUG,
		[TE_D_WON] = GO(EXPIRING, expire),
		[TE_D_LOST] = GO(EXPIRING, expire),
		[TE_D_ERROR] = GO(EXPIRING, expire),
	},
	[TS_EXPIRING] = {
		NO_ROW, NO_TALK, NO_CARE,
		[TE_WORKER] = BUG, [TE_DEAD] = BUG,
		[TE_D_WON] = GO(CLOSED, close),
		[TE_D_LOST] = GO(CLOSED, close),
		[TE_D_ERROR] = GO(CLOSED, close),
	},
	[TS_LOST] = {
		NO_ROW, NO_WRITE, NO_CARE,
		[TE_WORKER] = BUG,
		/* a MARK that crossed the loss; its answer is the kill */
		[TE_W_MARK] = SKIP,
		[TE_W_SUBMITTED] = GO(EVIDENCE, evidence),
		[TE_W_PROGRESS] = SKIP,
		[TE_W_RESULT] = GO(EVIDENCE, evidence),
		[TE_W_DONE] = GO(EVIDENCE, lost_evidence),
		[TE_W_REJECTED] = GO(EVIDENCE, lost_evidence),
		[TE_W_FAILED] = GO(CLOSED, finish),
		[TE_W_UNKNOWN] = GO(CLOSED, finish),
		[TE_W_UNSENT] = GO(EVIDENCE, lost_evidence),
		[TE_DEAD] = GO(CLOSED, close),
	},
	[TS_CLOSED] = {
		NO_ROW, NO_TALK, NO_WRITE, NO_CARE,
		[TE_WORKER] = BUG, [TE_DEAD] = SKIP,
	},
};

static const char *const state_names[TS_MAX] = {
#define TS(name) [TS_##name] = #name,
	TASK_STATES(TS)
#undef TS
};

static const char *const event_names[TE_MAX] = {
#define TE(name) [TE_##name] = #name,
	TASK_EVENTS(TE)
#undef TE
};

void
task_born(struct task_env *env, struct task *t)
{
	env->count[t->state]++;
}

void
task_event(struct task_env *env, struct task *t, enum tevent ev)
{
	const struct cell *c = &cells[t->state][ev];

	switch (c->what) {
	case CELL_DO:
		task_set_state(env, t, c->next, ev);
		c->act(env, t, ev);
		return;
	case CELL_IGNORE:
		return;
	case CELL_VIOLATION:
	case CELL_BUG:
		panic("task=%lld state %s: event %s cannot happen",
		    (long long)t->id, task_state_name(t->state),
		    task_event_name(ev));
	}
}

enum task_cell
task_permits(const struct task *t, enum tevent ev)
{
	return cells[t->state][ev].what;
}

void
task_set_state(struct task_env *env, struct task *t, enum tstate next,
    enum tevent why)
{
	if (t->state == next)
		return;
	env->count[t->state]--;
	env->count[next]++;
	log_debug("task=%lld.%d state %s -> %s, %s", (long long)t->id,
	    t->attempt, task_state_name(t->state), task_state_name(next),
	    task_event_name(why));
	t->state = next;
}

const char *
task_state_name(enum tstate state)
{
	return (unsigned int)state < TS_MAX ? state_names[state] : "?";
}

const char *
task_event_name(enum tevent ev)
{
	return (unsigned int)ev < TE_MAX ? event_names[ev] : "?";
}

enum task_cell
task_cell_look(enum tstate state, enum tevent ev, enum tstate *ret_next,
    const char **ret_act)
{
	const struct cell *c = &cells[state][ev];

	*ret_next = c->next;
	*ret_act = c->name;
	return c->what;
}
