/*
 * claim_read.c - a claimed row becomes a task.
 *
 * The database is outside too: what does not parse is logged and left alone.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/supervisor.h"

struct reader {
	PGresult	*res;
	int		 row;
	int		 err;		/* the first failure stays */
	const char	*column;	/* where it was */
};

/* NULL for an SQL NULL. */
static const char *
text_of(struct reader *r, const char *name)
{
	int col = PQfnumber(r->res, name);

	if (col == -1) {
		if (r->err == 0) {
			r->err = PO_EVERSION;
			r->column = name;
		}
		return NULL;
	}
	if (PQgetisnull(r->res, r->row, col))
		return NULL;
	return PQgetvalue(r->res, r->row, col);
}

static int64_t
number(struct reader *r, const char *name, int64_t none)
{
	const char *s = text_of(r, name);
	int64_t v = none;

	if (s != NULL && num_parse_i64(s, INT64_MIN, INT64_MAX, &v) != 0 &&
	    r->err == 0) {
		r->err = PO_EINVAL;
		r->column = name;
	}
	return v;
}

static char *
words(struct reader *r, const char *name)
{
	const char *s = text_of(r, name);
	char *copy = NULL;

	if (s == NULL)
		return NULL;
	copy = mem_strdup(s);
	if (copy == NULL && r->err == 0) {
		r->err = PO_ENOMEM;
		r->column = name;
	}
	return copy;
}

static bool
truth(struct reader *r, const char *name)
{
	const char *s = text_of(r, name);

	return s != NULL && s[0] == 't';
}

static enum task_window
window(struct reader *r, const char *name)
{
	switch (number(r, name, WINDOW_NONE)) {
	case WINDOW_OPEN:
		return WINDOW_OPEN;
	case WINDOW_CLOSED:
		return WINDOW_CLOSED;
	default:
		return WINDOW_NONE;
	}
}

static void
read_evidence(struct reader *r, struct task *t)
{
	const char *status = text_of(r, "status");

	if ((status == NULL ||
	    task_status_parse(status, &t->row.status) != 0) && r->err == 0) {
		r->err = PO_EINVAL;
		r->column = "status";
	}
	t->row.is_local = t->provider == NULL;
	t->row.is_marked = truth(r, "is_marked");
	t->row.has_request_id = t->request_id != NULL;
	t->row.has_result = truth(r, "has_result");
	t->row.has_own_id = t->own_id != NULL;
	t->row.idempotency = window(r, "idem_window");
	t->row.lookup = window(r, "lookup_window");
}

/*
 * The mark will make the own id the provider's idempotency key; the request
 * is built before, so it must know.
 */
static int
foresee_key(struct super *super, struct task *t)
{
	const struct conf_provider *p = NULL;

	if (t->idem_key != NULL || t->own_id == NULL || t->provider == NULL ||
	    t->row.is_marked)
		return 0;
	p = conf_find_provider(super->conf, t->provider);
	if (p == NULL || provider_idempotency_ttl_s(p->provider) <= 0)
		return 0;
	t->idem_key = mem_strdup(t->own_id);
	return t->idem_key == NULL ? PO_ENOMEM : 0;
}

static void
read_all(struct reader *r, struct super *super, struct task *t)
{
	t->token = number(r, "lease_token", 0);
	t->attempt = (int)number(r, "attempt", 0);
	t->provider = words(r, "provider");
	t->model = words(r, "model");
	t->own_id = words(r, "own_id");
	t->idem_key = words(r, "idempotency_key");
	t->request_id = words(r, "remote_request_id");
	t->poll_url = words(r, "poll_url");
	t->result_url = words(r, "result_url");
	t->cancel_url = words(r, "cancel_url");
	t->input = words(r, "input");
	t->result = words(r, "result");
	t->parents = words(r, "parents");
	t->poll_left_ms = number(r, "poll_left_ms", -1);
	t->fetch_left_ms = number(r, "fetch_left_ms", -1);
	read_evidence(r, t);
	t->is_canceled = truth(r, "cancel_requested");
	t->read_at = super->claim_sent;
	t->deadline = mono_add_ms(super->claim_sent,
	    (int64_t)super->conf->lease_s * 1000);
}

/*
 * A row that we hold already: we slept longer than the lease, and claimed it
 * again ourselves.  The old life is over; where it still has a worker with an
 * unanswered request, that comes first and the new lease runs out.
 */
static int
insert(struct super *super, struct task *t)
{
	struct task *old = task_find(&super->tasks, t->id);

	if (old != NULL && task_permits(old, TE_LEASE_LOST) == CELL_DO)
		task_event(&super->env, old, TE_LEASE_LOST);
	return task_insert(&super->tasks, t);
}

int
claim_read_row(struct super *super, PGresult *res, int row, struct task **ret)
{
	struct reader r = { .res = res, .row = row };
	const char *kind = text_of(&r, "kind");
	int64_t id = number(&r, "id", 0);
	struct task *t = NULL;
	int err = r.err != 0 ? r.err : task_new(id, &t);

	if (err == 0) {
		read_all(&r, super, t);
		err = r.err;
	}
	if (err == 0) {
		t->kind = kind != NULL ? kind_find(super, kind) : NULL;
		if (t->kind == NULL) {
			err = PO_ENOENT;
			r.column = "kind";
		}
	}
	if (err == 0)
		err = foresee_key(super, t);
	if (err == 0)
		err = insert(super, t);
	if (err == 0) {
		*ret = t;
		return 0;
	}
	log_warnx("task=%lld claimed but not taken, its lease runs out: %s%s%s",
	    (long long)id, po_strerror(err), r.column != NULL ? " in " : "",
	    r.column != NULL ? r.column : "");
	task_free(&t);
	return err;
}
