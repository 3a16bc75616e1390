/*
 * on_ending.c - the messages that end an attempt without a result.
 *
 * What they mean for the whole kind (breaker, backoff, hold) is noted here
 * too; what they mean for the task is in the table of task_fsm.c.
 */
#include <string.h>

#include "common/err.h"
#include "supervisor/on_worker.h"
#include "supervisor/supervisor.h"

int
on_rejected(struct child *c, const struct frame *f)
{
	static const enum receipt_class classes[REJECT_CLASS_MAX] = {
		[REJECT_TASK] = RECEIPT_REJECTED,
		[REJECT_THROTTLED] = RECEIPT_THROTTLED,
		[REJECT_ACCOUNT] = RECEIPT_ACCOUNT,
	};
	static const char *const words[REJECT_CLASS_MAX] = {
		[REJECT_TASK] = "rejected",
		[REJECT_THROTTLED] = "throttled",
		[REJECT_ACCOUNT] = "account",
	};
	struct msg_rejected m;
	struct task *t = NULL;
	int err = msg_unpack_rejected(f->body, f->len, &m);

	if (err == 0 && m.class >= REJECT_CLASS_MAX)
		err = PO_EINVAL;
	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_REJECTED, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_REJECTED);
	t->report.reject = (enum reject_class)m.class;
	if (t->mode == ASSIGN_SUBMIT)
		t->report.class = classes[m.class];
	err = on_take_reason(t, m.reason, m.detail, words[m.class]);
	if (err != 0)
		return err;
	if (m.class == REJECT_THROTTLED) {
		on_note(t, HOLD_THROTTLED, m.retry_after_ms,
		    &t->report.delay_ms, t->report.detail);
	} else {
		on_note(t, HOLD_ANSWERED, -1, NULL, NULL);
		if (m.class == REJECT_ACCOUNT)
			hold_kind_set(c->super, t->kind, "account",
			    t->report.detail);
	}
	task_event(&c->super->env, t, TE_W_REJECTED);
	return 0;
}

int
on_failed(struct child *c, const struct frame *f)
{
	struct msg_failed m;
	struct task *t = NULL;
	int err = msg_unpack_failed(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_FAILED, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_FAILED);
	err = on_take_reason(t, m.reason, m.detail, "failed");
	if (err == 0)
		err = on_take_cost(t, m.cost, m.currency);
	if (err != 0)
		return err;
	on_note(t, HOLD_ANSWERED, -1, NULL, NULL);
	task_event(&c->super->env, t, TE_W_FAILED);
	return 0;
}

int
on_unknown(struct child *c, const struct frame *f)
{
	struct msg_unknown m;
	struct task *t = NULL;
	int err = msg_unpack_unknown(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_UNKNOWN, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_UNKNOWN);
	t->report.class = RECEIPT_UNKNOWN;
	err = on_take_reason(t, m.reason, m.detail, "unknown");
	if (err != 0)
		return err;
	on_note(t, m.is_provider ? HOLD_AMBIGUOUS : HOLD_OUR_FAULT, -1, NULL,
	    t->report.detail);
	task_event(&c->super->env, t, TE_W_UNKNOWN);
	return 0;
}

/*
 * Our own wishes (cancel, drain, a lost lease or mark) cost no patience; a
 * local program that asks for another run is counted; whatever else kept the
 * request from leaving slows the kind down.
 */
static void
unsent_delay(struct child *c, struct task *t)
{
	static const char *const ours[] = { "canceled", "drain", "lease_lost",
	    "mark_lost", "mark_refused", "mark_timeout" };
	size_t i = 0;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(t->report.reason, ours[i]) == 0)
			return;
	if (c->pool->role == ROLE_EXEC) {
		t->report.is_counted = true;
		t->report.delay_ms = 1000;
		return;
	}
	on_note(t, HOLD_UNREACHED, -1, &t->report.delay_ms, t->report.detail);
}

int
on_unsent(struct child *c, const struct frame *f)
{
	struct msg_unsent m;
	struct task *t = NULL;
	int err = msg_unpack_unsent(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_UNSENT, &t);
	if (err != 0 || t == NULL)
		return err;
	if (t->state != TS_MARKING)
		on_begin(t, MSG_UNSENT);
	t->report.what = MSG_UNSENT;
	if (t->mode == ASSIGN_SUBMIT)
		t->report.class = RECEIPT_UNSENT;
	err = on_take_reason(t, m.reason, m.detail, "unsent");
	if (err != 0)
		return err;
	unsent_delay(c, t);
	task_event(&c->super->env, t, TE_W_UNSENT);
	return 0;
}
