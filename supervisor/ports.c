/*
 * ports.c - struct task_ports of the real world.
 *
 * The database side queues under an op; the lists are super's.
 */
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/child_send.h"
#include "supervisor/supervisor.h"

#define PORT(name, op, point)						\
static void								\
port_##name(void *arg, struct task *t)					\
{									\
	struct super *super = arg;					\
									\
	point;								\
	db_push(db_queues(super->db), op, t);				\
}

PORT(mark, OP_MARK, (void)0)
PORT(record, OP_RECORD, INJECT("super.recording"))
PORT(save_result, OP_RESULT, (void)0)
PORT(complete, OP_COMPLETE, INJECT("super.completing"))
PORT(release, OP_RELEASE, (void)0)
PORT(reject, OP_REJECT, (void)0)
PORT(fail, OP_FAIL, (void)0)
PORT(park, OP_PARK, (void)0)
PORT(evidence, OP_EVIDENCE, (void)0)
PORT(expire, OP_EXPIRE, (void)0)

static void
port_progress(void *arg, struct task *t)
{
	progress_note(arg, t);
}

static void
port_queue(void *arg, struct task *t, enum worker_role role)
{
	struct super *super = arg;
	struct pool *p = pool_get(super, t->kind, t->provider, role);

	if (p == NULL)
		fatalx("no memory for a pool of workers");
	pool_push(p, t);
}

static void
port_unqueue(void *arg, struct task *t)
{
	(void)arg;	/* the task knows its pool */
	pool_remove(t);
}

static void
port_watch(void *arg, struct task *t)
{
	struct super *super = arg;

	t->retry_at = t->warned_at = mono_now();
	if (t->is_watched)
		return;
	t->is_watched = true;
	TAILQ_INSERT_TAIL(&super->orphans, t, list_link);
}

/* Others may still hold it in this turn; sched_close_tasks() frees. */
static void
port_closed(void *arg, struct task *t)
{
	struct super *super = arg;

	pool_remove(t);
	if (t->child != NULL)
		child_drop_task(t->child, t);
	if (t->is_watched)
		TAILQ_REMOVE(&super->orphans, t, list_link);
	t->is_watched = false;
	if (t->is_progress)
		TAILQ_REMOVE(&super->progress, t, progress_link);
	t->is_progress = false;
	task_remove(&super->tasks, t);
	TAILQ_INSERT_TAIL(&super->closed, t, list_link);
}

const struct task_ports super_ports = {
	.mark = port_mark,
	.record = port_record,
	.save_result = port_save_result,
	.progress = port_progress,
	.complete = port_complete,
	.release = port_release,
	.reject = port_reject,
	.fail = port_fail,
	.park = port_park,
	.evidence = port_evidence,
	.expire = port_expire,
	.queue = port_queue,
	.unqueue = port_unqueue,
	.submit = child_send_submit,
	.poll = child_send_poll,
	.exec = child_send_exec,
	.tell_marked = child_send_marked,
	.tell_refused = child_send_refused,
	.tell_stored = child_send_stored,
	.cancel = child_send_cancel,
	.kill = child_send_kill,
	.watch = port_watch,
	.closed = port_closed,
};
