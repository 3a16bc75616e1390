/*
 * recover.c - what a claimed row means: the row decides (DESIGN, law 3).
 *
 * Only one thing is looked at beside the row: our own receipt of a marked
 * attempt without an id.  Locked: its worker lives, wait for it.  With an
 * outcome: that is written to the row first, and the row decides when it is
 * claimed again.  Otherwise recovery_for() alone.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

#define ORPHAN_MS	200

static void
say(struct task *t, const char *reason, const char *detail)
{
	if (task_report(t, reason, detail) != 0)
		log_warnx("task=%lld: no memory for a reason",
		    (long long)t->id);
}

static void
decide_by_row(struct super *super, struct task *t)
{
	enum recovery what = recovery_for(&t->row);
	enum tevent ev = TE_ROW_REQUEUE;

	log_info("task=%lld.%d recovered: %s", (long long)t->id, t->attempt,
	    recovery_name(what));
	switch (what) {
	case RECOVERY_POLL:
		ev = TE_ROW_POLL;
		break;
	case RECOVERY_REQUEUE:
		say(t, "worker_died", "nothing was sent");
		t->report.is_counted = true;
		break;
	case RECOVERY_RESEND:
		t->mode = ASSIGN_RESEND;
		ev = TE_ROW_RESEND;
		break;
	case RECOVERY_LOOKUP:
		t->mode = ASSIGN_LOOKUP;
		ev = TE_ROW_RESEND;
		break;
	case RECOVERY_PARK:
		if (t->report.reason == NULL)
			say(t, "died_in_send_window", "the worker died after "
			    "it was allowed to send and before the answer "
			    "was saved");
		ev = TE_ROW_PARK;
		break;
	case RECOVERY_NONE:
	case RECOVERY_MAX:
	default:
		log_warnx("task=%lld claimed as %s, its lease runs out",
		    (long long)t->id, task_status_name(t->row.status));
		ev = TE_LEASE_LOST;
		break;
	}
	task_event(&super->env, t, ev);
}

/* The receipt's words become the report that is written to the row. */
void
recover_take_receipt(struct task *t, struct receipt_facts *f)
{
	struct report *r = &t->report;

	report_done(r);
	r->class = f->class;
	r->request_id = f->request_id;
	r->poll_url = f->poll_url;
	r->result_url = f->result_url;
	r->cancel_url = f->cancel_url;
	r->result = f->result;
	r->cost = f->cost;
	r->currency = f->currency;
	r->reason = f->reason;
	r->detail = f->detail;
	f->request_id = f->poll_url = f->result_url = f->cancel_url = NULL;
	f->result = f->cost = f->currency = f->reason = f->detail = NULL;
}

/*
 * An id or a result is proof whatever else happened.  A refusal is, when the
 * attempt can only have been sent once.  "Unsent" in the file is not: it may
 * come from an earlier try of the same attempt that never won the mark.
 */
static bool
is_proof(const struct task *t, enum receipt_class class)
{
	switch (class) {
	case RECEIPT_SUBMITTED:
	case RECEIPT_RESULT:
		return true;
	case RECEIPT_REJECTED:
	case RECEIPT_THROTTLED:
	case RECEIPT_ACCOUNT:
		return t->row.idempotency == WINDOW_NONE &&
		    t->row.lookup == WINDOW_NONE;
	default:
		return false;
	}
}

/* A marked attempt without an id: what does our own disk know? */
static void
decide_by_receipt(struct super *super, struct task *t)
{
	struct receipt_facts f = { .task = 0 };
	int err = receipt_read(super->conf->state_dir, t->id, t->attempt, &f);

	switch (err) {
	case PO_EBUSY:
		if (t->state != TS_ORPHAN)
			log_info("task=%lld.%d: its worker still lives, waits "
			    "for it", (long long)t->id, t->attempt);
		task_event(&super->env, t, TE_ROW_ORPHAN);
		break;
	case 0:
		if (is_proof(t, f.class)) {
			recover_take_receipt(t, &f);
			log_info("task=%lld.%d: its receipt says %s",
			    (long long)t->id, t->attempt,
			    receipt_class_name(t->report.class));
			task_event(&super->env, t, TE_ROW_EVIDENCE);
			break;
		}
		if (f.class == RECEIPT_UNKNOWN)
			recover_take_receipt(t, &f);
		decide_by_row(super, t);
		break;
	default:
		if (err != PO_ENOENT)
			log_warnx("task=%lld.%d: its receipt cannot be read: "
			    "%s", (long long)t->id, t->attempt,
			    po_strerror(err));
		decide_by_row(super, t);
		break;
	}
	receipt_facts_done(&f);
}

void
recover_decide(struct super *super, struct task *t, bool was_expired)
{
	if (was_expired && !t->row.is_local && t->row.is_marked &&
	    !t->row.has_request_id && !t->row.has_result) {
		decide_by_receipt(super, t);
		return;
	}
	if (was_expired) {
		decide_by_row(super, t);
		return;
	}
	t->mode = t->row.is_local ? ASSIGN_EXEC : ASSIGN_SUBMIT;
	task_event(&super->env, t,
	    t->row.is_local ? TE_ROW_EXEC : TE_ROW_SUBMIT);
}

/* A stopped or hung worker may keep its lock for ever: say so, each minute. */
static void
complain(struct task *t, struct mono now)
{
	if (mono_diff_ms(now, t->warned_at) < 60000)
		return;
	log_warnx("task=%lld.%d waits for its worker of a former supervisor, "
	    "which still holds its receipt; end that process and the task "
	    "goes on", (long long)t->id, t->attempt);
	t->warned_at = now;
}

void
recover_watch(struct super *super)
{
	struct task *t = NULL, *next = NULL;
	struct mono now = mono_now();

	if (!TAILQ_EMPTY(&super->orphans))
		loop_wake(super, ORPHAN_MS);

	TAILQ_FOREACH_SAFE(t, &super->orphans, list_link, next) {
		if (mono_diff_ms(now, t->retry_at) < ORPHAN_MS)
			continue;
		t->retry_at = now;
		decide_by_receipt(super, t);
		if (t->state == TS_ORPHAN)
			complain(t, now);
		if (t->state == TS_ORPHAN || t->state == TS_CLOSED)
			continue;
		t->is_watched = false;
		TAILQ_REMOVE(&super->orphans, t, list_link);
	}
}

/* Nobody else will move the receipt of a dead worker out of the way. */
void
recover_acknowledge(struct super *super, const struct task *t)
{
	int err = receipt_acknowledge(super->conf->state_dir, t->id,
	    t->attempt);

	if (err != 0 && err != PO_ENOENT)
		log_warnx("task=%lld.%d: its receipt cannot be filed: %s",
		    (long long)t->id, t->attempt, po_strerror(err));
}

/* The record is committed: what it wrote is what the row says now. */
void
recover_keep_report(struct task *t)
{
	struct report *r = &t->report;

	mem_free(t->request_id);
	mem_free(t->poll_url);
	mem_free(t->result_url);
	mem_free(t->cancel_url);
	t->request_id = r->request_id;
	t->poll_url = r->poll_url;
	t->result_url = r->result_url;
	t->cancel_url = r->cancel_url;
	r->request_id = r->poll_url = r->result_url = r->cancel_url = NULL;
	t->row.status = TASK_SUBMITTED;
	t->row.has_request_id = true;
	t->read_at = mono_now();
	t->poll_left_ms = t->kind->conf != NULL ?
	    (int64_t)t->kind->conf->poll_deadline_s * 1000 : -1;
}
