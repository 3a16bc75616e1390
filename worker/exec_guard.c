/*
 * exec_guard.c - the small process between the worker and its program.
 *
 * Owns the program's session.  It lives to make sure that nothing survives:
 * the program's end, a closed life pipe (the worker wants it, or is dead) or
 * its own end all lead to the death of everything below it.
 */
#include "worker/exec.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"

#define GUARD_LIFE	4	/* descriptors, after guard_place() */
#define GUARD_STATUS	5
#define GUARD_KILL_MS	5000
#define GUARD_EXIT_FAILED 126

static void	guard_place(const struct exec_launch *);
static pid_t	guard_start(const struct exec_launch *);
static void	guard_program(const struct exec_launch *, pid_t guard)
		    __attribute__((noreturn));
static void	guard_wait(pid_t, int *status, bool *has_status);
static void	guard_on_child(int);
static void	guard_fail(const char *what) __attribute__((noreturn));

void
exec_guard(const struct exec_launch *l)
{
	struct exec_report report;
	struct sigaction sa;
	sigset_t child;
	bool has_status = false;
	int status = 0;
	pid_t pid = -1;

	guard_place(l);
	if (setsid() == -1)
		guard_fail("setsid");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
		guard_fail("child subreaper");
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = guard_on_child;
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) == -1 ||
	    sigaction(SIGCHLD, &sa, NULL) == -1)
		guard_fail("signals");
	setproctitle("guard");
	if ((pid = guard_start(l)) == -1)
		guard_fail("fork");
	guard_wait(pid, &status, &has_status);
	(void)exec_tree_kill(GUARD_KILL_MS, pid, &status, &has_status);
	memset(&report, 0, sizeof(report));
	report.status = status;
	report.has_status = has_status;
	/* a dead worker reads nothing: then nobody needs it */
	(void)!write(GUARD_STATUS, &report, sizeof(report));
	_exit(0);
}

/*
 * The program's four descriptors at 0 to 3, ours behind them, all others
 * closed: the worker's channel and its own pipe ends above all, whose
 * closing must be seen.
 */
static void
guard_place(const struct exec_launch *l)
{
	const int from[] = { l->in, l->out, l->err, l->progress, l->life,
	    l->status };
	const int count = (int)(sizeof(from) / sizeof(from[0]));
	int high[sizeof(from) / sizeof(from[0])];
	int i = 0;

	for (i = 0; i < count; i++) {
		if ((high[i] = fcntl(from[i], F_DUPFD, 64)) == -1)
			guard_fail("descriptors");
	}
	for (i = 0; i < count; i++) {
		if (dup2(high[i], i) == -1)
			guard_fail("descriptors");
	}
	closefrom(count);
}

static pid_t
guard_start(const struct exec_launch *l)
{
	const pid_t guard = getpid();
	const pid_t pid = fork();

	if (pid == 0)
		guard_program(l, guard);
	return pid;
}

static void
guard_program(const struct exec_launch *l, pid_t guard)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2,
		SIGCHLD
	};
	struct sigaction sa;
	sigset_t none;
	size_t i = 0;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1)
		guard_fail("parent death signal");
	if (getppid() != guard)
		_exit(GUARD_EXIT_FAILED);	/* it died before the prctl */
	if (setpgid(0, 0) == -1)
		guard_fail("process group");
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &sa, NULL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	closefrom(GUARD_LIFE);
	if (chdir(l->dir) == -1)
		guard_fail(l->dir);
	(void)execvpe(l->argv[0], l->argv, l->envp);
	guard_fail(l->argv[0]);
}

/* Until the program has ended or the life pipe is closed. */
static void
guard_wait(pid_t program, int *ret_status, bool *ret_has_status)
{
	struct pollfd p = { .fd = GUARD_LIFE, .events = POLLIN };
	sigset_t none;
	pid_t pid = 0;
	int status = 0, n = 0;

	(void)sigemptyset(&none);
	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != program)
				continue;
			*ret_status = status;
			*ret_has_status = true;
			return;
		}
		n = ppoll(&p, 1, NULL, &none);
		if (n > 0 || (n == -1 && errno != EINTR))
			return;
	}
}

static void
guard_on_child(int sig)
{
	(void)sig;	/* only interrupts ppoll(2) */
}

static void
guard_fail(const char *what)
{
	(void)dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(errno == ENOENT ? 127 : GUARD_EXIT_FAILED);
}
