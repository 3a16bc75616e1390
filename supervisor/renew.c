/*
 * renew.c - all leases in one statement, every lease/3.
 *
 * Renewed are the tasks whose workers have beaten since the last round, and
 * those that wait here without one.  What does not come back is lost.
 */
#include <stdlib.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/supervisor.h"

struct renewal {
	size_t		 count;
	struct mono	 sent;
	struct held {
		int64_t	 id;
		int64_t	 token;
		bool	 is_back;
	} *held;		/* ascending by id */
};

static void
renewal_free(struct renewal *r)
{
	if (r != NULL)
		mem_free(r->held);
	mem_free(r);
}

static bool
is_renewable(const struct task *t)
{
	switch (t->state) {
	case TS_EXPIRING:
	case TS_LOST:
	case TS_EVIDENCE:
	case TS_CLOSED:
		return false;
	default:
		return t->child == NULL || t->child->has_beaten;
	}
}

static void
renew_cancel_task(struct super *super, struct task *t)
{
	if (t->is_canceled)
		return;		/* its worker was told */
	t->is_canceled = true;
	if (task_permits(t, TE_CANCEL) == CELL_DO)
		task_event(&super->env, t, TE_CANCEL);
}

void
renew_cancel(struct super *super, int64_t id)
{
	struct task *t = task_find(&super->tasks, id);

	if (t != NULL)
		renew_cancel_task(super, t);
}

static int
compare_held(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void
renewed(struct super *super, struct renewal *r, int64_t id, bool is_canceled)
{
	struct held key = { .id = id };
	struct held *h = NULL;
	struct task *t = task_find(&super->tasks, id);

	h = bsearch(&key, r->held, r->count, sizeof(key), compare_held);
	if (h == NULL)
		return;
	h->is_back = true;
	if (t == NULL || t->token != h->token)
		return;
	t->deadline = mono_add_ms(r->sent, (int64_t)super->conf->lease_s *
	    1000);
	if (t->child != NULL && t->child->pool->role == ROLE_SUBMIT)
		child_send_renewed(t->child, t);
	if (is_canceled)
		renew_cancel_task(super, t);
}

static void
on_renewed(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	struct renewal *r = arg;
	struct task *t = NULL;
	int64_t id = 0;
	size_t k = 0;
	int i = 0;

	super->is_renewing = false;
	db_queues(super->db)->q[OP_EXPIRE].is_blocked = false;
	if (outcome != DB_OK) {
		/* Soon again: leases are short, and it is safe to repeat. */
		super->next_renew = mono_add_ms(mono_now(), SUPER_TICK_MS);
		renewal_free(r);
		return;
	}
	for (i = 0; i < PQntuples(res); i++) {
		if (num_parse_i64(PQgetvalue(res, i, 0), 1, INT64_MAX,
		    &id) == 0)
			renewed(super, r, id,
			    PQgetvalue(res, i, 1)[0] == 't');
	}
	for (k = 0; k < r->count; k++) {
		if (r->held[k].is_back)
			continue;
		t = task_find(&super->tasks, r->held[k].id);
		/* A write that is under way answers for itself. */
		if (t == NULL || t->token != r->held[k].token ||
		    task_permits(t, TE_LEASE_LOST) != CELL_DO)
			continue;
		log_warnx("task=%lld.%d lost its lease in state %s",
		    (long long)t->id, t->attempt, task_state_name(t->state));
		task_event(&super->env, t, TE_LEASE_LOST);
		/* Its row is in flight still: it goes before fresh ones. */
		claim_want(super, NULL, true);
	}
	renewal_free(r);
}

static int
renew_build(struct super *super, struct db_call *c, struct renewal *r)
{
	struct task *t = NULL;
	struct buf ids, tokens;
	char *id_text = NULL, *token_text = NULL;
	size_t len = 0;
	int err = 0;

	buf_init(&ids, (size_t)64 << 20);
	buf_init(&tokens, (size_t)64 << 20);
	err = array_open(&ids);
	if (err == 0)
		err = array_open(&tokens);
	RB_FOREACH(t, task_tree, &super->tasks) {
		if (err != 0 || !is_renewable(t))
			continue;
		r->held[r->count].id = t->id;
		r->held[r->count++].token = t->token;
		err = array_put_i64(&ids, t->id);
		if (err == 0)
			err = array_put_i64(&tokens, t->token);
	}
	if (err == 0 && array_close(&ids) == 0 && array_close(&tokens) == 0) {
		id_text = buf_steal(&ids, &len);
		token_text = buf_steal(&tokens, &len);
	}
	buf_done(&ids);
	buf_done(&tokens);
	if (id_text == NULL || token_text == NULL ||
	    db_call_add_text(c, super->owner) != 0) {
		mem_free(id_text);
		mem_free(token_text);
		return PO_ENOMEM;
	}
	db_call_add(c, id_text);
	db_call_add(c, token_text);
	return db_call_add_i64(c, super->conf->lease_s);
}

static size_t
count_tasks(struct super *super)
{
	size_t n = 0;
	unsigned int i = 0;

	for (i = 0; i < TS_CLOSED; i++)
		n += super->env.count[i];
	return n;
}

void
renew_run(struct super *super)
{
	struct db_call *c = NULL;
	struct renewal *r = NULL;
	struct child *w = NULL;
	struct mono now = mono_now();
	size_t n = count_tasks(super);

	if (super->is_renewing || mono_is_before(now, super->next_renew) ||
	    !db_is_up(super->db))
		return;
	super->next_renew = mono_add_ms(now,
	    (int64_t)super->conf->lease_s * 1000 / 3);
	if (n == 0)
		return;
	r = mem_alloc(sizeof(*r));
	c = db_call_new("renew",
	    "select * from payonce.renew($1, $2, $3, $4)");
	if (r != NULL)
		r->held = mem_array(n, sizeof(*r->held));
	if (r == NULL || c == NULL || r->held == NULL ||
	    renew_build(super, c, r) != 0) {
		log_warnx("no memory to renew leases, tries again");
		super->next_renew = mono_add_ms(now, SUPER_TICK_MS);
		renewal_free(r);
		db_call_free(&c);
		return;
	}
	TAILQ_FOREACH(w, &super->children, all_link)
		w->has_beaten = false;
	if (r->count == 0) {
		renewal_free(r);
		db_call_free(&c);
		return;
	}
	super->is_renewing = true;
	/*
	 * A renewal that overtakes an expiry on the other connection would
	 * lengthen the lease of a row that nobody works on any more.
	 */
	db_queues(super->db)->q[OP_EXPIRE].is_blocked = true;
	/* Law 9: our clock starts before the renewal is sent. */
	r->sent = now;
	db_call_send(super->db, &c, on_renewed, r);
}
