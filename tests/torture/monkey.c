/*
 * monkey.c - kills and stops workers and supervisor at random.
 *
 * Owns the list of whom it stopped.  It touches nothing outside of the tree
 * of its own process.
 */
#include <sys/wait.h>

#include <signal.h>
#include <string.h>

#include "tests/torture/torture.h"

#define WORKERS_MAX	256

static void	monkey_hit_worker(struct monkey *, struct rig *, int sig);
static void	monkey_hit_super(struct monkey *, struct rig *, int sig);
static void	monkey_remember(struct monkey *, pid_t, int64_t cont_at_ms);

void
dice_init(struct dice *d, uint64_t seed)
{
	d->state = seed * 0x9e3779b97f4a7c15u + 0x1234567u;
}

int
dice_roll(struct dice *d, int sides)
{
	d->state ^= d->state << 13;
	d->state ^= d->state >> 7;
	d->state ^= d->state << 17;
	return (int)((d->state >> 16) % (uint64_t)sides);
}

void
monkey_strike(struct monkey *m, struct rig *r)
{
	int roll = dice_roll(&m->dice, 100);

	if (roll < 60) {
		monkey_hit_worker(m, r, SIGKILL);
	} else if (roll < 74) {
		monkey_hit_worker(m, r, SIGSTOP);
	} else if (roll < 88) {
		monkey_hit_super(m, r, SIGKILL);
	} else if (roll < 92) {
		monkey_hit_super(m, r, SIGSTOP);
	} else if (roll < 95) {
		monkey_hit_super(m, r, SIGTERM);
	} else {
		m->backends_ended++;
		(void)rig_sql(r, "SELECT count(pg_terminate_backend(pid)) "
		    "FROM pg_stat_activity WHERE datname = "
		    "current_database() AND pid <> pg_backend_pid() AND "
		    "application_name LIKE 'payonced%%'");
	}
}

void
monkey_tend(struct monkey *m, struct rig *r)
{
	struct rig_host *h = &r->hosts[0];
	int64_t now = rig_now_ms();
	int i, status;

	for (i = 0; i < STOPPED_MAX; i++) {
		if (m->stopped[i] == 0 || m->cont_at_ms[i] > now)
			continue;
		/* it may be dead and reaped by its parent; the id is not
		 * ours any more then, so look before the signal */
		struct rig_proc procs[WORKERS_MAX];
		size_t j, n = rig_list_tree(getpid(), procs, WORKERS_MAX);

		for (j = 0; j < n; j++)
			if (procs[j].pid == m->stopped[i])
				(void)kill(m->stopped[i], SIGCONT);
		m->stopped[i] = 0;
	}
	if (m->super_cont_at_ms != 0 && m->super_cont_at_ms <= now) {
		m->super_cont_at_ms = 0;
		if (h->pid > 0)
			(void)kill(h->pid, SIGCONT);
	}
	if (h->pid > 0 && rig_has_exited(r, 0, &status)) {
		m->super_cont_at_ms = 0;
		m->is_ending = false;
		if (m->super_start_at_ms == 0)
			m->super_start_at_ms = now +
			    dice_roll(&m->dice, 300);
		/* only what the monkey did may end a supervisor */
		if (!(WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
		    WTERMSIG(status) == SIGTERM)) &&
		    !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
			RIG_FAIL(r, "payonced ended by itself, wait status "
			    "0x%x", (unsigned int)status);
	}
	if (h->pid == 0 && m->super_start_at_ms != 0 &&
	    m->super_start_at_ms <= now) {
		m->super_start_at_ms = 0;
		rig_spawn_host(r, 0);
	}
	rig_reap(r);
}

void
monkey_rest(struct monkey *m, struct rig *r)
{
	int i;

	for (i = 0; i < STOPPED_MAX; i++)
		m->cont_at_ms[i] = 0;
	if (m->super_cont_at_ms != 0)
		m->super_cont_at_ms = 1;
	if (m->super_start_at_ms != 0)
		m->super_start_at_ms = 1;
	monkey_tend(m, r);
}

static void
monkey_hit_worker(struct monkey *m, struct rig *r, int sig)
{
	pid_t pids[WORKERS_MAX], submit[WORKERS_MAX], pid;
	size_t i, n, nsubmit;

	n = rig_list_workers(r, "", pids, WORKERS_MAX);
	if (n == 0)
		return;
	nsubmit = rig_list_workers(r, "submit", submit, WORKERS_MAX);
	pid = pids[dice_roll(&m->dice, (int)n)];
	if (kill(pid, sig) == -1)
		return;		/* it was quicker */
	for (i = 0; i < nsubmit; i++)
		if (submit[i] == pid)
			m->submit_hits++;
	if (sig == SIGKILL) {
		m->workers_killed++;
		return;
	}
	m->workers_stopped++;
	monkey_remember(m, pid, rig_now_ms() + 100 +
	    dice_roll(&m->dice, 2 * r->lease_s * 1000));
}

static void
monkey_hit_super(struct monkey *m, struct rig *r, int sig)
{
	pid_t submit[WORKERS_MAX];
	pid_t pid = r->hosts[0].pid;

	if (pid == 0 || m->super_cont_at_ms != 0)
		return;
	/* whoever waits for its mark may be cut off in the send window */
	m->submit_hits += (int)rig_list_workers(r, "submit", submit,
	    WORKERS_MAX);
	(void)kill(pid, sig);
	if (sig == SIGKILL) {
		m->supers_killed++;
	} else if (sig == SIGTERM) {
		m->supers_ended++;
		m->is_ending = true;
	} else {
		m->supers_stopped++;
		m->super_cont_at_ms = rig_now_ms() + 100 +
		    dice_roll(&m->dice, 2 * r->lease_s * 1000);
	}
}

static void
monkey_remember(struct monkey *m, pid_t pid, int64_t cont_at_ms)
{
	int i;

	for (i = 0; i < STOPPED_MAX; i++) {
		if (m->stopped[i] != 0)
			continue;
		m->stopped[i] = pid;
		m->cont_at_ms[i] = cont_at_ms;
		return;
	}
	(void)kill(pid, SIGCONT);	/* no room to remember it */
}
