/*
 * db_batch.c - natural batching: the queues of transitions and the batches
 * cut from them.  Pure: no connection, no clock of its own.
 *
 * Order is kept within an op: what was sent and not answered goes back to
 * the front.  A task is in at most one queue or batch (task->op).
 */
#include "supervisor/db.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"

#define RETRY_MIN_MS	200
#define RETRY_MAX_MS	5000

/*
 * The head start of an op over what waits as long: a worker stands with an
 * open connection behind a mark, and money hangs on a record.
 */
static const int64_t head_start_ms[OP_MAX] = {
	[OP_NONE] = 0,
	[OP_MARK] = 8,
	[OP_RECORD] = 6,
	[OP_RESULT] = 2,
	[OP_COMPLETE] = 1,
	[OP_RELEASE] = 1,
	[OP_REJECT] = 0,
	[OP_FAIL] = 0,
	[OP_PARK] = 0,
	[OP_EVIDENCE] = 4,
	[OP_EXPIRE] = 4,
};

void
db_queues_init(struct db_queues *qs)
{
	size_t i = 0;

	memset(qs, 0, sizeof(*qs));
	for (i = 0; i < OP_MAX; i++)
		TAILQ_INIT(&qs->q[i].tasks);
}

void
db_push(struct db_queues *qs, enum db_op op, struct task *t)
{
	struct db_queue *q = &qs->q[op];

	if (t->op != OP_NONE)
		panic("task=%lld: a second write while one is under way",
		    (long long)t->id);
	t->op = op;
	if (q->count == 0)
		q->since = mono_now();
	TAILQ_INSERT_TAIL(&q->tasks, t, op_link);
	q->count++;
}

enum db_op
db_pick(const struct db_queues *qs, struct mono now)
{
	enum db_op best = OP_NONE;
	int64_t age = 0, oldest = -1;
	unsigned int i = 0;

	for (i = OP_NONE + 1; i < OP_MAX; i++) {
		const struct db_queue *q = &qs->q[i];

		if (q->count == 0 || q->is_in_flight || q->is_blocked)
			continue;
		if (mono_is_set(q->not_before) &&
		    mono_is_before(now, q->not_before))
			continue;
		age = mono_diff_ms(now, q->since);
		age = (age > 0 ? age : 0) + head_start_ms[i];
		if (age > oldest) {
			oldest = age;
			best = (enum db_op)i;
		}
	}
	return best;
}

bool
db_is_ripe(const struct db_queues *qs, enum db_op op, struct mono now)
{
	const struct db_queue *q = &qs->q[op];

	return q->count >= DB_GATHER_MAX || q->singly > 0 ||
	    mono_diff_ms(now, q->since) >= DB_GATHER_MS;
}

static size_t
task_bytes(const struct task *t)
{
	return t->report.result != NULL ? strlen(t->report.result) : 0;
}

void
db_take(struct db_queues *qs, enum db_op op, struct db_batch *b)
{
	struct db_queue *q = &qs->q[op];
	size_t max = q->singly > 0 ? 1 : DB_BATCH_MAX;
	size_t bytes = 0;
	struct task *t = NULL;

	b->op = op;
	b->count = 0;
	TAILQ_INIT(&b->tasks);
	while (b->count < max && (t = TAILQ_FIRST(&q->tasks)) != NULL) {
		size_t more = task_bytes(t);

		/* one task alone may be over the limit */
		if (b->count > 0 && more > DB_BATCH_BYTES - bytes)
			break;
		bytes += more < DB_BATCH_BYTES - bytes ?
		    more : DB_BATCH_BYTES - bytes;
		TAILQ_REMOVE(&q->tasks, t, op_link);
		q->count--;
		TAILQ_INSERT_TAIL(&b->tasks, t, op_link);
		b->count++;
	}
	b->is_single = q->singly > 0;
	if (b->is_single)
		q->singly--;
	q->is_in_flight = true;
	q->since = mono_now();
}

void
db_give_back(struct db_queues *qs, struct db_batch *b)
{
	struct db_queue *q = &qs->q[b->op];
	struct task *t = NULL;

	if (b->is_single)
		q->singly++;	/* it still goes alone */
	while ((t = TAILQ_LAST(&b->tasks, task_list)) != NULL) {
		TAILQ_REMOVE(&b->tasks, t, op_link);
		TAILQ_INSERT_HEAD(&q->tasks, t, op_link);
		q->count++;
	}
	q->is_in_flight = false;
	b->op = OP_NONE;
	b->count = 0;
}

void
db_split(struct db_queues *qs, struct db_batch *b)
{
	enum db_op op = b->op;
	size_t n = b->count;

	db_give_back(qs, b);
	qs->q[op].singly = n;
}

void
db_later(struct db_queues *qs, struct db_batch *b, struct mono now)
{
	struct db_queue *q = &qs->q[b->op];

	db_give_back(qs, b);
	q->retry_ms = q->retry_ms == 0 ? RETRY_MIN_MS : q->retry_ms * 2;
	if (q->retry_ms > RETRY_MAX_MS)
		q->retry_ms = RETRY_MAX_MS;
	q->not_before = mono_add_ms(now, q->retry_ms);
}

static int
compare_ids(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

void
db_answer(struct db_queues *qs, struct db_batch *b, int64_t *ids, size_t n,
    void (*fn)(struct task *, enum tevent, void *), void *arg)
{
	struct task *t = NULL;
	bool is_won = false;

	if (n > 0)
		qsort(ids, n, sizeof(*ids), compare_ids);
	qs->q[b->op].is_in_flight = false;
	qs->q[b->op].retry_ms = 0;
	while ((t = TAILQ_FIRST(&b->tasks)) != NULL) {
		TAILQ_REMOVE(&b->tasks, t, op_link);
		t->op = OP_NONE;
		is_won = n > 0 && bsearch(&t->id, ids, n, sizeof(*ids),
		    compare_ids) != NULL;
		fn(t, is_won ? TE_D_WON : TE_D_LOST, arg);
	}
	b->op = OP_NONE;
	b->count = 0;
}

void
db_refuse(struct db_queues *qs, struct db_batch *b,
    void (*fn)(struct task *, enum tevent, void *), void *arg)
{
	struct task *t = NULL;

	qs->q[b->op].is_in_flight = false;
	while ((t = TAILQ_FIRST(&b->tasks)) != NULL) {
		TAILQ_REMOVE(&b->tasks, t, op_link);
		t->op = OP_NONE;
		fn(t, TE_D_ERROR, arg);
	}
	b->op = OP_NONE;
	b->count = 0;
}
