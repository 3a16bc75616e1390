/*
 * on_worker.c - what a worker's message means for its task.
 *
 * The frame has passed its row's permission; here the task and its state are
 * checked.  Handlers see structs, never bytes, and copy what they keep.
 * Returns 0, or the reason why the sender must go.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/on_worker.h"
#include "supervisor/supervisor.h"

/*
 * Finds the task of a report.  0 with *ret NULL: it is over or no longer this
 * worker's (the report crossed our CANCEL); PO_EPERM: not allowed now.
 */
int
on_find_task(struct child *c, uint64_t id, uint64_t attempt, enum tevent ev,
    struct task **ret)
{
	struct task *t = NULL;

	*ret = NULL;
	if (id == 0 || id > INT64_MAX)
		return PO_ERANGE;
	t = task_find(&c->super->tasks, (int64_t)id);
	if (t == NULL || t->child != c || (uint64_t)t->attempt != attempt) {
		log_debug("worker=%s %s for task=%llu.%llu, not its own now",
		    c->name, task_event_name(ev), (unsigned long long)id,
		    (unsigned long long)attempt);
		return 0;
	}
	switch (task_permits(t, ev)) {
	case CELL_DO:
		*ret = t;
		return 0;
	case CELL_IGNORE:
		return 0;
	case CELL_VIOLATION:
	case CELL_BUG:
	default:
		log_warnx("worker=%s may not say %s: task=%lld is %s",
		    c->name, task_event_name(ev), (long long)t->id,
		    task_state_name(t->state));
		return PO_EPERM;
	}
}

/* Words for people and machines: whatever came, the database can hold it. */
int
on_take_words(char **to, struct mp_bytes from)
{
	*to = from.len > 0 ? array_clean(from.p, from.len) : NULL;
	return from.len > 0 && *to == NULL ? PO_ENOMEM : 0;
}

int
on_take_reason(struct task *t, struct mp_bytes reason, struct mp_bytes detail,
    const char *other)
{
	int err = on_take_words(&t->report.reason, reason);

	if (err == 0 && t->report.reason == NULL) {
		t->report.reason = mem_strdup(other);
		err = t->report.reason == NULL ? PO_ENOMEM : 0;
	}
	if (err == 0)
		err = on_take_words(&t->report.detail, detail);
	return err;
}

int
on_take_cost(struct task *t, struct mp_bytes cost, struct mp_bytes currency)
{
	int err = mp_dup_opt(cost, &t->report.cost);

	return err != 0 ? err : mp_dup_opt(currency, &t->report.currency);
}

void
on_begin(struct task *t, unsigned int what)
{
	report_done(&t->report);
	t->report.what = what;
	t->report.class = RECEIPT_INTENT;
}

void
on_note(struct task *t, enum hold_note what, int64_t asked_ms,
    int64_t *ret_delay_ms, const char *detail)
{
	int64_t unused = 0;

	if (t->child->pool->role == ROLE_SUBMIT)
		hold_kind_note(t->child->super, t->kind, what, asked_ms,
		    ret_delay_ms != NULL ? ret_delay_ms : &unused, detail);
}

static int
on_hello(struct child *c, const struct frame *f)
{
	struct msg_hello m;
	int err = msg_unpack_hello(f->body, f->len, &m);

	if (err != 0)
		return err;
	if (m.version != PROTO_VERSION)
		return PO_EVERSION;
	if (m.role != c->pool->role || m.slot != c->slot ||
	    m.generation != c->generation || m.pid != (uint64_t)c->pid)
		return PO_EINVAL;
	child_event(c, CE_HELLO);
	restart_note_success(&c->pool->restart, false);
	return 0;
}

static int
on_beat(struct child *c, const struct frame *f)
{
	struct msg_beat m;
	int err = msg_unpack_beat(f->body, f->len, &m);

	(void)c;	/* every message is a sign of life */
	return err;
}

static int
on_mark(struct child *c, const struct frame *f)
{
	struct msg_mark m;
	struct task *t = NULL;
	int err = msg_unpack_mark(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_MARK, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_MARK);
	task_event(&c->super->env, t, TE_W_MARK);
	return 0;
}

static int
on_submitted(struct child *c, const struct frame *f)
{
	struct msg_submitted m;
	struct task *t = NULL;
	struct report *r = NULL;
	int err = msg_unpack_submitted(f->body, f->len, &m);

	if (err == 0 && m.request_id.len == 0)
		err = PO_EINVAL;
	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_SUBMITTED, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_SUBMITTED);
	r = &t->report;
	r->class = RECEIPT_SUBMITTED;
	err = mp_dup_opt(m.request_id, &r->request_id);
	if (err == 0)
		err = mp_dup_opt(m.poll_url, &r->poll_url);
	if (err == 0)
		err = mp_dup_opt(m.result_url, &r->result_url);
	if (err == 0)
		err = mp_dup_opt(m.cancel_url, &r->cancel_url);
	if (err == 0)
		err = on_take_cost(t, m.cost, m.currency);
	if (err != 0)
		return err;	/* its receipt has the id */
	on_note(t, HOLD_ANSWERED, -1, NULL, NULL);
	task_event(&c->super->env, t, TE_W_SUBMITTED);
	return 0;
}

static int
on_progress(struct child *c, const struct frame *f)
{
	struct msg_progress m;
	struct task *t = NULL;
	char *text = NULL;
	int err = msg_unpack_progress(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_PROGRESS, &t);
	if (err != 0 || t == NULL)
		return err;
	err = on_take_words(&text, m.note);
	if (err != 0)
		return err;
	/* one bad key must not buy what nobody can fetch */
	if (m.is_account && c->pool->role == ROLE_POLL)
		hold_kind_set(c->super, t->kind, "account", text);
	if (m.permille >= 0)
		t->permille = m.permille > 1000 ? 1000 : (int)m.permille;
	else
		t->permille = -1;
	if (text != NULL) {
		mem_free(t->note);
		t->note = text;
	}
	task_event(&c->super->env, t, TE_W_PROGRESS);
	return 0;
}

static int
on_result(struct child *c, const struct frame *f)
{
	struct msg_result m;
	struct task *t = NULL;
	int err = msg_unpack_result(f->body, f->len, &m);

	if (err == 0 && m.result.len == 0)
		err = PO_EINVAL;
	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_RESULT, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_RESULT);
	if (c->pool->role == ROLE_SUBMIT)
		t->report.class = RECEIPT_RESULT;
	t->report.fetch_ms = m.fetch_within_ms;
	err = mp_dup_opt(m.result, &t->report.result);
	if (err == 0)
		err = on_take_cost(t, m.cost, m.currency);
	if (err != 0)
		return err;
	on_note(t, HOLD_ANSWERED, -1, NULL, NULL);
	task_event(&c->super->env, t, TE_W_RESULT);
	return 0;
}

static int
on_done(struct child *c, const struct frame *f)
{
	struct msg_done m;
	struct task *t = NULL;
	int err = msg_unpack_done(f->body, f->len, &m);

	if (err == 0)
		err = on_find_task(c, m.task, m.attempt, TE_W_DONE, &t);
	if (err != 0 || t == NULL)
		return err;
	on_begin(t, MSG_DONE);
	err = mp_dup_opt(m.result, &t->report.result);
	if (err == 0)
		err = on_take_cost(t, m.cost, m.currency);
	if (err != 0)
		return err;
	if (c->pool->role == ROLE_SUBMIT && t->report.result != NULL)
		t->report.class = RECEIPT_RESULT;
	on_note(t, HOLD_ANSWERED, -1, NULL, NULL);
	task_event(&c->super->env, t, TE_W_DONE);
	return 0;
}

int
on_worker(struct child *c, const struct frame *f)
{
	c->beat = mono_now();
	c->has_beaten = true;
	switch (f->type) {
	case MSG_HELLO:
		return on_hello(c, f);
	case MSG_BEAT:
		return on_beat(c, f);
	case MSG_MARK:
		return on_mark(c, f);
	case MSG_SUBMITTED:
		return on_submitted(c, f);
	case MSG_PROGRESS:
		return on_progress(c, f);
	case MSG_RESULT:
		return on_result(c, f);
	case MSG_DONE:
		return on_done(c, f);
	case MSG_REJECTED:
		return on_rejected(c, f);
	case MSG_FAILED:
		return on_failed(c, f);
	case MSG_UNKNOWN:
		return on_unknown(c, f);
	case MSG_UNSENT:
		return on_unsent(c, f);
	default:
		return PO_EINVAL;
	}
}
