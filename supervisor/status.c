/*
 * status.c - the state in words: SIGUSR1 to the log, and the process title.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "supervisor/supervisor.h"

static const char *
state_word(enum super_state state)
{
	switch (state) {
	case SUPER_STARTING:
		return "starting";
	case SUPER_READY:
		return "ready";
	case SUPER_STOPPING:
		return "stopping";
	default:
		return "leaving";
	}
}

static void
log_pools(struct super *super)
{
	const struct pool *p = NULL;
	const struct child *c = NULL;
	unsigned int n[CS_MAX];

	TAILQ_FOREACH(p, &super->pools, link) {
		memset(n, 0, sizeof(n));
		TAILQ_FOREACH(c, &p->children, pool_link)
			n[c->state]++;
		log_info("state: pool=%s/%s/%s waiting=%u starting=%u idle=%u "
		    "busy=%u draining=%u dying=%u failures=%u",
		    p->kind->name, p->provider != NULL ? p->provider : "-",
		    role_name(p->role), p->nwaiting, n[CS_STARTING],
		    n[CS_IDLE], n[CS_BUSY], n[CS_DRAINING], n[CS_DYING],
		    p->restart.failures);
	}
}

void
status_log(struct super *super)
{
	const struct kind *k = NULL;
	const struct super_stats *s = &super->stats;
	char text[160];
	unsigned int i = 0;

	super->got_state = false;
	/* cut is fine */
	(void)db_describe(super->db, text, sizeof(text));
	log_info("state: %s, owner %s, database %s", state_word(super->state),
	    super->owner, text);
	TAILQ_FOREACH(k, &super->kinds, link)
		log_info("state: kind=%s limit=%u inflight=%u ambiguous=%u "
		    "backoff_ms=%lld", k->name, kind_limit(k), k->inflight,
		    k->hold.ambiguous, (long long)k->hold.backoff_ms);
	log_pools(super);
	for (i = 0; i < TS_MAX; i++)
		if (super->env.count[i] > 0)
			log_info("state: tasks %s=%lu",
			    task_state_name((enum tstate)i),
			    super->env.count[i]);
	for (i = 0; i < OP_MAX; i++)
		if (s->batches[i] > 0)
			log_info("state: %s batches=%lu items=%lu queued=%zu",
			    db_op_name((enum db_op)i), s->batches[i],
			    s->items[i], db_queues(super->db)->q[i].count);
	log_info("state: round_trips=%lu claims=%lu claimed=%lu spawned=%lu "
	    "died=%lu reconnects=%lu", s->round_trips, s->claims, s->claimed,
	    s->spawned, s->died, s->reconnects);
}

/* Only when a number changed: each call writes the memory that ps reads. */
void
status_title(struct super *super)
{
	static char last[80];
	const struct kind *k = NULL;
	char text[80];
	unsigned int inflight = 0;

	TAILQ_FOREACH(k, &super->kinds, link)
		inflight += k->inflight;
	(void)snprintf(text, sizeof(text), "%s, %u in flight",
	    state_word(super->state), inflight);	/* cut is fine */
	if (strcmp(text, last) == 0)
		return;
	(void)strlcpy(last, text, sizeof(last));	/* same size */
	setproctitle("%s", text);
}
