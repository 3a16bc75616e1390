/*
 * sched.c - which waiting task goes to which worker, and when to fork one.
 *
 * Each pool has its own queue and its own processes, so one kind cannot
 * starve another.
 */
#include <limits.h>

#include "common/log.h"
#include "supervisor/supervisor.h"

#define POLL_OUT_MAX	((size_t)4 << 20)	/* bytes on the way to it */

static void
give(struct super *super, struct child *c, struct task *t)
{
	pool_remove(t);
	child_take_task(c, t);
	task_event(&super->env, t, TE_WORKER);
}

/* A paid kind that is told to wait sends nothing; a look-up waits as well. */
static bool
is_paused(const struct pool *p)
{
	return p->role == ROLE_SUBMIT &&
	    hold_is_paused(&p->kind->hold, mono_now());
}

/*
 * While the provider has just left submissions without a usable answer, no
 * more are under way than the breaker still lets pass: an outage must not
 * park as many tasks as there are workers.
 */
static unsigned int
submit_allowance(const struct pool *p)
{
	const struct kind *k = p->kind;
	const struct child *c = NULL;
	unsigned int allowed = 0, used = 0;

	if (p->role != ROLE_SUBMIT || k->hold.ambiguous == 0 ||
	    k->conf == NULL || k->conf->breaker <= 0)
		return UINT_MAX;
	allowed = (unsigned int)k->conf->breaker > k->hold.ambiguous ?
	    (unsigned int)k->conf->breaker - k->hold.ambiguous : 1;
	TAILQ_FOREACH(c, &p->children, pool_link)
		used += c->ntasks;
	return allowed > used ? allowed - used : 0;
}

static void
assign_one_each(struct super *super, struct pool *p)
{
	struct child *c = NULL, *next = NULL;
	struct task *t = NULL;
	unsigned int left = submit_allowance(p);

	TAILQ_FOREACH_SAFE(c, &p->children, pool_link, next) {
		if (left == 0)
			return;
		if (c->state != CS_IDLE)
			continue;
		t = TAILQ_FIRST(&p->waiting);
		if (t == NULL)
			return;
		give(super, c, t);
		left--;
	}
}

static void
assign_many(struct super *super, struct pool *p)
{
	struct child *c = NULL;
	struct task *t = NULL;

	TAILQ_FOREACH(c, &p->children, pool_link) {
		if (c->state == CS_IDLE || c->state == CS_BUSY)
			break;
	}
	if (c == NULL)
		return;
	while ((t = TAILQ_FIRST(&p->waiting)) != NULL &&
	    chan_pending(c->chan) < POLL_OUT_MAX && c->state != CS_DYING)
		give(super, c, t);
}

static unsigned int
count_state(const struct pool *p, enum cstate state)
{
	const struct child *c = NULL;
	unsigned int n = 0;

	TAILQ_FOREACH(c, &p->children, pool_link) {
		if (c->state == state)
			n++;
	}
	return n;
}

static void
spawn_wanted(struct pool *p)
{
	unsigned int limit = pool_limit(p), starting = 0, leaving = 0;
	unsigned int want = 0, alive = 0;
	int64_t wait_ms = 0;

	if (limit == 0) {
		if (!p->is_warned)
			log_warnx("kind=%s: %u tasks wait for %s%s, which is "
			    "not defined; define it and reload",
			    p->kind->name, p->nwaiting,
			    p->provider != NULL ? "provider " : "a command",
			    p->provider != NULL ? p->provider : "");
		p->is_warned = true;
		return;
	}
	starting = count_state(p, CS_STARTING);
	/* A poll worker that leaves makes room at once: it sends nothing. */
	leaving = p->role == ROLE_POLL ? count_state(p, CS_DRAINING) +
	    count_state(p, CS_DYING) : 0;
	alive = p->nchildren - leaving;
	want = p->role == ROLE_POLL ? 1 : p->nwaiting;
	wait_ms = restart_wait_ms(&p->restart, mono_now());
	if (wait_ms > 0) {
		loop_wake(p->super, wait_ms);
		return;
	}
	while (starting < want && alive < limit) {
		if (child_spawn(p) != 0) {
			(void)restart_note_death(&p->restart, DEATH_EARLY,
			    mono_now());
			return;
		}
		starting++;
		alive++;
	}
}

static void
sched_pool(struct super *super, struct pool *p)
{
	if (p->nwaiting == 0 || is_paused(p))
		return;
	if (p->role == ROLE_POLL)
		assign_many(super, p);
	else
		assign_one_each(super, p);
	/* a poll worker that is only full for now needs no second one */
	if (p->nwaiting > 0 && (p->role != ROLE_POLL ||
	    count_state(p, CS_IDLE) + count_state(p, CS_BUSY) == 0))
		spawn_wanted(p);
}

void
sched_run(struct super *super)
{
	struct pool *p = NULL;

	if (super->state != SUPER_READY)
		return;
	TAILQ_FOREACH(p, &super->pools, link)
		sched_pool(super, p);
}

/* A place in flight is free again: who has more waiting may claim. */
void
sched_close_tasks(struct super *super)
{
	struct task *t = NULL;

	while ((t = TAILQ_FIRST(&super->closed)) != NULL) {
		TAILQ_REMOVE(&super->closed, t, list_link);
		t->kind->inflight--;
		if (t->kind->has_more)
			super->want_claim = true;
		super->env.count[TS_CLOSED]--;
		task_free(&t);
	}
}
