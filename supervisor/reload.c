/*
 * reload.c - SIGHUP: parse, check all, swap, then adapt.
 *
 * A broken file changes nothing.  Limits act at the next claim; what a
 * worker was told at its start is compared by its stamp, and who knows the
 * old words leaves after its task.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

/* What a running process cannot change keeps its value, and says so. */
static void
keep(char **now, char **next, const char *name)
{
	char *swap = *now;

	if (*now != NULL && *next != NULL && strcmp(*now, *next) == 0)
		return;
	if (*now == NULL && *next == NULL)
		return;
	log_warnx("reload: %s takes effect at the next start", name);
	*now = *next;
	*next = swap;
}

static void
log_errors(const char *errors)
{
	size_t n = 0;

	while (*errors != '\0') {
		n = strcspn(errors, "\n");
		log_warnx("reload: %.*s", (int)n, errors);
		errors += n;
		errors += *errors == '\n';
	}
}

/* A poll worker with the old words hands its tasks back: a poll is free. */
static void
give_back_polls(struct child *c)
{
	struct task *t = NULL, *next = NULL;

	TAILQ_FOREACH_SAFE(t, &c->tasks, child_link, next) {
		if (task_permits(t, TE_STOP) == CELL_DO)
			task_event(&c->super->env, t, TE_STOP);
	}
}

static void
replace_children(struct super *super)
{
	struct child *c = NULL, *next = NULL;

	TAILQ_FOREACH_SAFE(c, &super->children, all_link, next) {
		if (c->stamp == c->pool->stamp || c->state == CS_DYING ||
		    c->state == CS_GONE || c->state == CS_DRAINING)
			continue;
		log_info("worker=%s leaves, its configuration has changed",
		    c->name);
		if (c->pool->role == ROLE_POLL)
			give_back_polls(c);
		child_drain(c);
	}
}

void
reload_run(struct super *super)
{
	struct conf *next = NULL, *old = super->conf;
	struct pool *p = NULL;
	char *errors = NULL;
	int err = 0;

	super->got_reload = false;
	if (super->state >= SUPER_STOPPING)
		return;
	err = conf_load(super->conf_path, &next, &errors);
	if (err != 0) {
		log_errors(errors != NULL ? errors : po_strerror(err));
		log_warnx("reload: refused, nothing has changed");
		mem_free(errors);
		return;
	}
	mem_free(errors);
	keep(&next->state_dir, &old->state_dir, "state_dir");
	keep(&next->run_dir, &old->run_dir, "run_dir");
	super->conf = next;
	err = kind_update(super);
	if (err != 0) {
		super->conf = old;
		(void)kind_update(super);	/* all kinds are there */
		conf_free(&next);
		log_warnx("reload: %s, nothing has changed",
		    po_strerror(err));
		return;
	}
	conf_free(&old);
	TAILQ_FOREACH(p, &super->pools, link)
		p->restart = (struct restart){ .failures = 0 };
	replace_children(super);
	hold_kind_release_account(super);
	super->next_seen = mono_now();
	claim_want(super, NULL, false);
	log_info("reloaded %s", super->conf_path);
}
