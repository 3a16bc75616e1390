/*
 * child.c - slots, generations and tasks of the worker processes.
 *
 * Owns struct child and is the only writer of its state.  Decides nothing
 * about tasks: who dies is reaped
 * (child_reap.c), and the table in task_fsm.c says what its tasks do.
 */
#include "supervisor/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

#define HELLO_MS	30000	/* at most; two short leases are less */

/* The lowest slot that no living process of the pool has. */
static unsigned int
free_slot(const struct pool *p)
{
	const struct child *c = NULL;
	unsigned int slot = 0;
	bool is_taken = true;

	while (is_taken) {
		is_taken = false;
		TAILQ_FOREACH(c, &p->children, pool_link) {
			if (c->slot == slot && c->state != CS_GONE)
				is_taken = true;
		}
		if (is_taken)
			slot++;
	}
	return slot;
}

int
child_new(struct pool *p, struct child **ret)
{
	struct child *c = mem_alloc(sizeof(*c));

	if (c == NULL)
		return PO_ENOMEM;
	c->super = p->super;
	c->pool = p;
	c->slot = free_slot(p);
	c->generation = ++p->super->next_generation;
	c->pid = -1;
	c->state = CS_STARTING;
	c->talk = C_STARTING;
	c->since = c->beat = mono_now();
	c->stamp = p->stamp;
	TAILQ_INIT(&c->tasks);
	(void)snprintf(c->name, sizeof(c->name), "%.60s/%s/%u#%llu",
	    p->kind->name, role_name(p->role), c->slot,
	    (unsigned long long)c->generation);	/* only for people */
	TAILQ_INSERT_TAIL(&p->children, c, pool_link);
	TAILQ_INSERT_TAIL(&p->super->children, c, all_link);
	p->nchildren++;
	*ret = c;
	return 0;
}

void
child_free(struct child **cp)
{
	struct child *c = *cp;

	if (c == NULL)
		return;
	child_close(c);
	if (c->is_dirty)
		TAILQ_REMOVE(&c->super->flush, c, flush_link);
	TAILQ_REMOVE(&c->pool->children, c, pool_link);
	TAILQ_REMOVE(&c->super->children, c, all_link);
	mem_free(c);
	*cp = NULL;
}

void
child_free_gone(struct super *super)
{
	struct child *c = NULL, *next = NULL;

	TAILQ_FOREACH_SAFE(c, &super->children, all_link, next) {
		if (c->state == CS_GONE && c->ntasks == 0)
			child_free(&c);
	}
}

void
child_take_task(struct child *c, struct task *t)
{
	t->child = c;
	TAILQ_INSERT_TAIL(&c->tasks, t, child_link);
	c->ntasks++;
	child_event(c, CE_ASSIGNED);
}

void
child_drop_task(struct child *c, struct task *t)
{
	TAILQ_REMOVE(&c->tasks, t, child_link);
	t->child = NULL;
	c->ntasks--;
	/* room for one more, though the task may stay in flight for hours */
	if (c->pool->role == ROLE_SUBMIT && c->pool->kind->has_more)
		c->super->want_claim = true;
	if (c->ntasks == 0)
		child_event(c, CE_EMPTIED);
}

static void
child_act(struct child *c, enum cstate from)
{
	struct msg_drain m = { .stop_ms = 0 };

	switch (c->state) {
	case CS_DRAINING:
		if (from == CS_DRAINING)
			return;
		m.stop_ms = (uint64_t)c->super->conf->stop_timeout_s * 1000;
		if (msg_pack_drain(chan_out(c->chan), &m) == 0)
			child_dirty(c);
		else
			child_kill(c, "no memory to drain it");
		return;
	case CS_DYING:
		/* Repeated kills do no harm, and pid is ours until reaped. */
		if (kill(c->pid, SIGKILL) != 0)
			log_warn("worker=%s kill", c->name);
		return;
	default:
		return;
	}
}

void
child_event(struct child *c, enum cevent ev)
{
	enum cstate from = c->state;
	enum cstate next = child_next(from, ev);

	if (next == CS_MAX)
		panic("worker=%s state %s: event %d cannot happen", c->name,
		    child_state_name(from), (int)ev);
	if (next != from) {
		c->state = next;
		c->since = mono_now();
		if (child_state_bit(next) != 0)
			c->talk = child_state_bit(next);
		log_debug("worker=%s state %s -> %s", c->name,
		    child_state_name(from), child_state_name(next));
	}
	if (next != from || ev == CE_KILL)
		child_act(c, from);
}

struct child *
child_by_pid(struct super *super, pid_t pid)
{
	struct child *c = NULL;

	TAILQ_FOREACH(c, &super->children, all_link) {
		if (c->pid == pid && c->state != CS_GONE)
			return c;
	}
	return NULL;
}

void
child_drain(struct child *c)
{
	c->is_asked = true;
	child_event(c, CE_DRAIN);
}

void
child_kill(struct child *c, const char *why)
{
	log_warnx("worker=%s killed: %s", c->name, why);
	child_event(c, CE_KILL);
}

void
child_forgive_all(struct super *super)
{
	struct child *c = NULL;
	struct mono now = mono_now();

	TAILQ_FOREACH(c, &super->children, all_link) {
		c->beat = now;
		if (c->state == CS_STARTING)
			c->since = now;
	}
}

/*
 * The tick: silence longer than a lease is death (a stopped process answers
 * no signal but this one), and what nobody needs any more retires.
 */
void
child_check_all(struct super *super)
{
	struct child *c = NULL;
	struct mono now = mono_now();
	int64_t lease_ms = (int64_t)super->conf->lease_s * 1000;
	int64_t idle_ms = (int64_t)super->conf->idle_s * 1000;
	int64_t hello_ms = 2 * lease_ms < HELLO_MS ? 2 * lease_ms : HELLO_MS;
	int64_t quiet_ms = 0;

	TAILQ_FOREACH(c, &super->children, all_link) {
		quiet_ms = mono_diff_ms(now, c->beat);
		switch (c->state) {
		case CS_STARTING:
			if (mono_diff_ms(now, c->since) > hello_ms)
				child_kill(c, "it did not get ready");
			break;
		case CS_IDLE:
			if (quiet_ms > lease_ms)
				child_kill(c, "no heartbeat for a lease");
			else if (mono_diff_ms(now, c->since) > idle_ms)
				child_drain(c);
			break;
		case CS_BUSY:
		case CS_DRAINING:
			if (quiet_ms > lease_ms)
				child_kill(c, "no heartbeat for a lease");
			break;
		case CS_DYING:
		case CS_GONE:
		default:
			break;
		}
	}
}
