/*
 * db_ops.c - the transitions of a task as statements: one row per op, its
 * function in sql/ and the columns of its arrays, in their order.
 *
 * Parameters only.  The first is always our owner name, then the task ids.
 */
#include "supervisor/db.h"

#include "common/err.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

#define ARRAY_MAX	((size_t)512 << 20)

enum column_type { COL_TEXT, COL_I64, COL_BOOL };

/* A value of a task; is_null has the last word. */
struct value {
	const char	*text;		/* NULL: NULL */
	int64_t		 i64;
	bool		 is_null;
	bool		 is_true;
};

struct column {
	enum column_type	 type;
	void			(*get)(const struct super *,
				    const struct task *, struct value *);
};

struct op_row {
	const char		*name;
	const char		*sql;
	const struct column	*columns[DB_PARAMS_MAX];
};

#define COLUMN(name, kind, expr)					\
static void								\
get_##name(const struct super *s, const struct task *t,			\
    struct value *v)							\
{									\
	(void)s;	/* few columns need the configuration */	\
	expr;								\
}									\
static const struct column col_##name = { kind, get_##name };

static const struct provider *
provider_of(const struct super *s, const struct task *t)
{
	const struct conf_provider *p = NULL;

	if (t->provider != NULL)
		p = conf_find_provider(s->conf, t->provider);
	return p != NULL ? p->provider : NULL;
}

/* A right that the provider does not grant is NULL, not 0 seconds. */
static void
seconds(struct value *v, int s)
{
	v->i64 = s;
	v->is_null = s <= 0;
}

static const struct conf_kind *
conf_of(const struct task *t)
{
	return t->kind->conf;
}

static const char *
class_text(const struct task *t)
{
	return receipt_class_name(t->report.class);
}

COLUMN(token, COL_I64, v->i64 = t->token)
COLUMN(attempt, COL_I64, v->i64 = t->attempt)
COLUMN(class, COL_TEXT, v->text = class_text(t))
COLUMN(request_id, COL_TEXT, v->text = t->report.request_id)
COLUMN(poll_url, COL_TEXT, v->text = t->report.poll_url)
COLUMN(result_url, COL_TEXT, v->text = t->report.result_url)
COLUMN(cancel_url, COL_TEXT, v->text = t->report.cancel_url)
COLUMN(result, COL_TEXT, v->text = t->report.result)
COLUMN(cost, COL_TEXT, v->text = t->report.cost)
COLUMN(currency, COL_TEXT, v->text = t->report.currency)
COLUMN(reason, COL_TEXT, v->text = t->report.reason != NULL ?
    t->report.reason : "unstorable")
COLUMN(detail, COL_TEXT, v->text = t->report.detail)
COLUMN(delay, COL_I64, v->i64 = t->report.delay_ms)
COLUMN(unmark, COL_BOOL, v->is_true = t->report.is_unmark)
COLUMN(counted, COL_BOOL, v->is_true = t->report.is_counted)
COLUMN(max_requeues, COL_I64, v->i64 = conf_of(t) != NULL ?
    conf_of(t)->max_requeues : 3)
COLUMN(poll_deadline, COL_I64, v->i64 = conf_of(t) != NULL ?
    conf_of(t)->poll_deadline_s : 3600)
COLUMN(estimate, COL_TEXT, v->text = conf_of(t) != NULL ?
    conf_of(t)->estimate : NULL)
COLUMN(estimate_currency, COL_TEXT, v->text = conf_of(t) != NULL &&
    conf_of(t)->estimate != NULL ? conf_of(t)->currency : NULL)
COLUMN(fetch_ms, COL_I64, v->i64 = t->report.fetch_ms;
    v->is_null = t->report.fetch_ms < 0)
COLUMN(idem_ttl, COL_I64, seconds(v, provider_of(s, t) != NULL ?
    provider_idempotency_ttl_s(provider_of(s, t)) : 0))
COLUMN(lookup, COL_I64, seconds(v, provider_of(s, t) != NULL ?
    provider_lookup_window_s(provider_of(s, t)) : 0))

static const struct op_row rows[OP_MAX] = {
	[OP_NONE] = { "nothing", NULL, { NULL } },
	[OP_MARK] = { "mark",
	    "select * from payonce.mark_submit_started($1, $2, $3, $4, $5, "
	    "$6, $7)",
	    { &col_token, &col_idem_ttl, &col_lookup, &col_estimate,
	      &col_estimate_currency } },
	[OP_RECORD] = { "record",
	    "select * from payonce.record_submitted($1, $2, $3, $4, $5, $6, "
	    "$7, $8, $9, $10)",
	    { &col_token, &col_request_id, &col_poll_url, &col_result_url,
	      &col_cancel_url, &col_poll_deadline, &col_cost,
	      &col_currency } },
	[OP_RESULT] = { "save the result",
	    "select * from payonce.record_result($1, $2, $3, $4, $5, $6, $7)",
	    { &col_token, &col_result, &col_cost, &col_currency,
	      &col_fetch_ms } },
	[OP_COMPLETE] = { "complete",
	    "select * from payonce.complete($1, $2, $3, $4, $5, $6)",
	    { &col_token, &col_result, &col_cost, &col_currency } },
	[OP_RELEASE] = { "release",
	    "select * from payonce.release($1, $2, $3, $4, $5, $6, $7, $8, "
	    "$9)",
	    { &col_token, &col_reason, &col_detail, &col_delay, &col_unmark,
	      &col_counted, &col_max_requeues } },
	[OP_REJECT] = { "reject",
	    "select * from payonce.reject($1, $2, $3, $4, $5)",
	    { &col_token, &col_reason, &col_detail } },
	[OP_FAIL] = { "fail",
	    "select * from payonce.fail($1, $2, $3, $4, $5, $6, $7)",
	    { &col_token, &col_reason, &col_detail, &col_cost,
	      &col_currency } },
	[OP_PARK] = { "park",
	    "select * from payonce.park($1, $2, $3, $4, $5)",
	    { &col_token, &col_reason, &col_detail } },
	[OP_EVIDENCE] = { "apply a receipt",
	    "select * from payonce.apply_receipts($1, $2, $3, $4, $5, $6, $7, "
	    "$8, $9, $10, $11, $12, $13, $14)",
	    { &col_attempt, &col_class, &col_request_id, &col_poll_url,
	      &col_result_url, &col_cancel_url, &col_result, &col_cost,
	      &col_currency, &col_reason, &col_detail, &col_poll_deadline } },
	[OP_EXPIRE] = { "expire",
	    "select * from payonce.expire($1, $2, $3)",
	    { &col_token } },
};

const char *
db_op_name(enum db_op op)
{
	return (unsigned int)op < OP_MAX ? rows[op].name : "?";
}

static int
put_value(struct buf *b, const struct column *col, const struct super *s,
    const struct task *t)
{
	struct value v = { .text = NULL };

	col->get(s, t, &v);
	if (v.is_null)
		return array_put_null(b);
	switch (col->type) {
	case COL_TEXT:
		return array_put_text(b, v.text);
	case COL_I64:
		return array_put_i64(b, v.i64);
	case COL_BOOL:
	default:
		return array_put_bool(b, v.is_true);
	}
}

static void
get_id(const struct super *s, const struct task *t, struct value *v)
{
	(void)s;	/* the row's own number */
	v->i64 = t->id;
}

static const struct column col_id = { COL_I64, get_id };

static int
add_array(struct db_call *c, const struct super *s,
    const struct db_batch *batch, const struct column *col)
{
	struct buf b;
	const struct task *t = NULL;
	int err = 0;

	buf_init(&b, ARRAY_MAX);
	err = array_open(&b);
	TAILQ_FOREACH(t, &batch->tasks, op_link) {
		if (err == 0)
			err = put_value(&b, col, s, t);
	}
	if (err == 0)
		err = db_call_add_array(c, &b);
	buf_done(&b);
	return err;
}

int
db_op_build(struct super *super, const struct db_batch *batch,
    struct db_call *ret)
{
	const struct op_row *row = &rows[batch->op];
	int i = 0, err = 0;

	ret->name = row->name;
	ret->sql = row->sql;
	err = db_call_add_text(ret, super->owner);
	if (err == 0)
		err = add_array(ret, super, batch, &col_id);
	for (i = 0; err == 0 && row->columns[i] != NULL; i++)
		err = add_array(ret, super, batch, row->columns[i]);
	return err;
}
