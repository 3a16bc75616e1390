/*
 * task.c - the objects of the tasks that this supervisor holds.
 *
 * Owns struct task and its texts.  Must not change a state (task_fsm.c).
 */
#include "supervisor/task.h"

#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"

RB_GENERATE(task_tree, task, by_id, task_compare)

int
task_compare(const struct task *a, const struct task *b)
{
	return a->id < b->id ? -1 : a->id > b->id;
}

int
task_new(int64_t id, struct task **ret)
{
	struct task *t = mem_alloc(sizeof(*t));

	if (t == NULL)
		return PO_ENOMEM;
	t->id = id;
	t->state = TS_NEW;
	t->poll_left_ms = -1;
	t->fetch_left_ms = -1;
	t->report.fetch_ms = -1;
	*ret = t;
	return 0;
}

void
task_free(struct task **tp)
{
	struct task *t = *tp;

	if (t == NULL)
		return;
	if (t->op != OP_NONE || t->child != NULL || t->pool != NULL)
		panic("task=%lld freed while in use: op %d",
		    (long long)t->id, (int)t->op);
	report_done(&t->report);
	mem_free(t->provider);
	mem_free(t->model);
	mem_free(t->own_id);
	mem_free(t->idem_key);
	mem_free(t->request_id);
	mem_free(t->poll_url);
	mem_free(t->result_url);
	mem_free(t->cancel_url);
	mem_free(t->input);
	mem_free(t->result);
	mem_free(t->parents);
	mem_free(t->note);
	mem_free(t);
	*tp = NULL;
}

struct task *
task_find(struct task_tree *tree, int64_t id)
{
	struct task key;

	key.id = id;
	return RB_FIND(task_tree, tree, &key);
}

int
task_insert(struct task_tree *tree, struct task *t)
{
	return RB_INSERT(task_tree, tree, t) == NULL ? 0 : PO_EEXIST;
}

void
task_remove(struct task_tree *tree, struct task *t)
{
	(void)RB_REMOVE(task_tree, tree, t);	/* returns t */
}

void
report_done(struct report *r)
{
	mem_free(r->request_id);
	mem_free(r->poll_url);
	mem_free(r->result_url);
	mem_free(r->cancel_url);
	mem_free(r->result);
	mem_free(r->cost);
	mem_free(r->currency);
	mem_free(r->reason);
	mem_free(r->detail);
	memset(r, 0, sizeof(*r));
	r->fetch_ms = -1;
}

int
task_report(struct task *t, const char *reason, const char *detail)
{
	char *r = mem_strdup(reason);
	char *d = detail != NULL ? mem_strdup(detail) : NULL;

	if (r == NULL || (detail != NULL && d == NULL)) {
		mem_free(r);
		mem_free(d);
		return PO_ENOMEM;
	}
	report_done(&t->report);
	t->report.reason = r;
	t->report.detail = d;
	return 0;
}

/* Nothing of it can have left: no permission was ever given. */
bool
task_is_unsent(const struct task *t)
{
	switch (t->state) {
	case TS_NEW:
	case TS_SUBMIT_WAIT:
	case TS_SUBMIT:
	case TS_EXEC_WAIT:
	case TS_EXEC:
		return !t->row.is_marked;
	default:
		return false;
	}
}
