/*
 * child_reap.c - accounting for dead processes.
 *
 * Every death, of whatever cause, takes this path: last messages, one DEAD
 * for each task it held, the throttle of its pool, the slot.
 */
#include "supervisor/child.h"

#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/exitcodes.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

static const char *
exit_words(int code)
{
	switch (code) {
	case EXIT_CODE_OK:
		return "done";
	case EXIT_CODE_FATAL:
		return "its environment is wrong, see its own lines";
	case EXIT_CODE_PROTO:
		return "it did not understand us";
	case EXIT_CODE_ORPHAN:
		return "it lost its supervisor";
	case EXIT_CODE_CONFIG:
		return "its configuration is refused, or worker_path cannot "
		    "be run";
	case EXIT_CODE_SECRET:
		return "it has no usable key of its provider";
	default:
		return "unknown code";
	}
}

const char *
child_status_text(int status, char *buf, size_t cap)
{
	if (WIFEXITED(status))
		(void)snprintf(buf, cap, "exit %d: %s", WEXITSTATUS(status),
		    exit_words(WEXITSTATUS(status)));	/* for people */
	else if (WIFSIGNALED(status))
		(void)snprintf(buf, cap, "signal %d: %s%s", WTERMSIG(status),
		    strsignal(WTERMSIG(status)),
		    WCOREDUMP(status) ? ", core dumped" : "");
	else
		(void)snprintf(buf, cap, "status %#x", (unsigned int)status);
	return buf;
}

static enum death
death_of(const struct child *c, enum cstate was, int status)
{
	if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_CODE_CONFIG ||
	    WEXITSTATUS(status) == EXIT_CODE_SECRET))
		return DEATH_CONFIG;
	if (c->is_asked)
		return DEATH_ASKED;
	if (c->talk == C_STARTING || was == CS_STARTING)
		return DEATH_EARLY;
	return c->ndone > 0 ? DEATH_USEFUL : DEATH_USELESS;
}

/* Without a key nothing of the kind can be sent: an operator must see that. */
static void
hold_without_key(struct child *c)
{
	struct pool *p = c->pool;
	char *path = conf_secret_path(c->super->conf, p->provider);
	char *text = mem_printf("no usable key of provider %s: put it into %s, "
	    "readable by its owner only, then reload", p->provider,
	    path != NULL ? path : "secrets_dir");

	hold_kind_set(c->super, p->kind, "account", text);
	mem_free(text);
	mem_free(path);
}

static void
child_reaped(struct child *c, int status)
{
	struct super *super = c->super;
	struct task *t = NULL;
	enum cstate was = c->state;
	char text[128];
	int64_t delay_ms = 0;
	unsigned int ntasks = 0;

	child_drain_last(c);
	ntasks = c->ntasks;
	child_event(c, CE_REAPED);
	c->pool->nchildren--;
	while ((t = TAILQ_FIRST(&c->tasks)) != NULL) {
		child_drop_task(c, t);
		task_event(&super->env, t, TE_DEAD);
	}
	super->stats.died++;
	/* A receipt may say what no message could. */
	if (ntasks > 0 && c->pool->role == ROLE_SUBMIT)
		super->want_receipts = true;
	delay_ms = restart_note_death(&c->pool->restart,
	    death_of(c, was, status), mono_now());
	if (c->is_asked && ntasks == 0)
		log_debug("worker=%s ended, %s", c->name,
		    child_status_text(status, text, sizeof(text)));
	else
		log_warnx("worker=%s pid=%ld died with %u tasks, %s%s",
		    c->name, (long)c->pid, ntasks,
		    child_status_text(status, text, sizeof(text)),
		    delay_ms > 0 ? "; the next one is delayed" : "");
	if (c->pool->provider != NULL && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EXIT_CODE_SECRET)
		hold_without_key(c);
	child_close(c);
}

void
child_reap_all(struct super *super)
{
	struct child *c = NULL;
	int status = 0;
	pid_t pid = 0;

	super->got_child = false;
	for (;;) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid == -1 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		c = child_by_pid(super, pid);
		if (c == NULL) {
			/* a grandchild: we are its subreaper */
			log_debug("pid=%ld of a dead worker ended", (long)pid);
			continue;
		}
		child_reaped(c, status);
	}
}
