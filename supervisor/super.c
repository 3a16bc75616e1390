/*
 * super.c - the life of struct super.
 */
#include <string.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

int
super_init(struct super *super, struct conf *conf, const char *conf_path)
{
	memset(super, 0, sizeof(*super));
	super->conf = conf;
	super->conf_path = conf_path;
	super->lock_fd = -1;
	super->env.ports = &super_ports;
	super->env.arg = super;
	super->want_expire = true;
	super->expired_cap = CLAIM_EXPIRED_MIN;
	RB_INIT(&super->tasks);
	TAILQ_INIT(&super->closed);
	TAILQ_INIT(&super->orphans);
	TAILQ_INIT(&super->progress);
	TAILQ_INIT(&super->kinds);
	TAILQ_INIT(&super->pools);
	TAILQ_INIT(&super->children);
	TAILQ_INIT(&super->flush);
	super->base = event_base_new();
	if (super->base == NULL)
		return PO_ENOMEM;
	return kind_update(super);
}

/*
 * Only after the loop has ended: what a living worker still has to do, it
 * does alone from here on (end-of-file on its channel).
 */
void
super_done(struct super *super)
{
	struct child *c = NULL;
	struct task *t = NULL;

	while ((c = TAILQ_FIRST(&super->children)) != NULL) {
		while ((t = TAILQ_FIRST(&c->tasks)) != NULL) {
			TAILQ_REMOVE(&c->tasks, t, child_link);
			t->child = NULL;
		}
		child_free(&c);
	}
	sched_close_tasks(super);
	while ((t = RB_MIN(task_tree, &super->tasks)) != NULL) {
		task_remove(&super->tasks, t);
		pool_remove(t);
		t->op = OP_NONE;	/* the queues go with db_free() */
		task_free(&t);
	}
	db_free(&super->db);
	kind_done(super);
	signals_done(super);
	if (super->ev_tick != NULL)
		event_free(super->ev_tick);
	if (super->ev_due != NULL)
		event_free(super->ev_due);
	if (super->ev_wake != NULL)
		event_free(super->ev_wake);
	event_base_free(super->base);
	conf_free(&super->conf);
	mem_free(super->owner);
	mem_free(super->hostname);
	mem_free(super->system_id);
	fd_close(&super->lock_fd);
}
