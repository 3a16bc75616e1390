/*
 * sandbox_child.c - the sandbox's programs: start, death, stop in order.
 *
 * Each runs in its own process group, so that Ctrl-C at the terminal reaches
 * the sandbox alone and it can stop them in order; and each gets its stop
 * signal from the kernel should the sandbox itself be killed.
 */
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sandbox.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"

enum {
	BACKOFF_FIRST_MS = 100,
	BACKOFF_MAX_MS = 5000,
	HEALTHY_MS = 10000,	/* ran that long: the backoff starts anew */
	STOP_MS = 20000,	/* then SIGKILL */
	TAIL_BYTES = 1 << 20,
	TAIL_LINES = 8
};

int
child_signals(struct sandbox *sb)
{
	sigset_t	 set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1 ||
	    (sb->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) ==
	    -1) {
		cli_fail(sb->cli, NULL, "signalfd: %s", strerror(errno));
		return EXIT_CODE_FAILED;
	}
	return 0;
}

/* In the child: never returns. */
static void
become(const struct sandbox *sb, const char *log_name, int death_signal,
    pid_t parent, char **argv)
{
	sigset_t	 none;
	char		*name = mem_printf("log/%s.log", log_name);
	char		*path = name == NULL ? NULL : files_path(sb, name);
	int		 in, out;

	if (path == NULL)
		_exit(EXIT_CODE_FATAL);
	in = open("/dev/null", O_RDONLY);
	out = open(path, O_WRONLY | O_CREAT | O_APPEND, 0640);
	if (in == -1 || out == -1 || dup2(in, STDIN_FILENO) == -1 ||
	    dup2(out, STDOUT_FILENO) == -1 || dup2(out, STDERR_FILENO) == -1)
		_exit(EXIT_CODE_FATAL);
	(void)setpgid(0, 0);
	/* cleared by a change of user ids: that has happened before */
	(void)prctl(PR_SET_PDEATHSIG, death_signal);
	if (getppid() != parent)
		_exit(EXIT_CODE_ORPHAN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	closefrom(STDERR_FILENO + 1);
	(void)execv(argv[0], argv);
	(void)dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(EXIT_CODE_FATAL);
}

static pid_t
spawn(const struct sandbox *sb, const char *log_name, int death_signal,
    char **argv)
{
	pid_t	 parent = getpid(), pid;

	(void)fflush(stdout);
	if ((pid = fork()) == 0)
		become(sb, log_name, death_signal, parent, argv);
	if (pid == -1)
		cli_fail(sb->cli, NULL, "fork: %s", strerror(errno));
	return pid;
}

int
child_start(struct sandbox *sb, enum child_index i, char **argv)
{
	struct child	*c = &sb->children[i];
	pid_t		 pid;

	c->argv = argv;
	c->start_at = (struct mono){ 0 };
	if ((pid = spawn(sb, c->name, c->stop_signal, argv)) == -1)
		return EXIT_CODE_FAILED;
	c->pid = pid;
	c->started_at = mono_now();
	return 0;
}

void
child_done(struct child *c)
{
	size_t	 i;

	for (i = 0; c->argv != NULL && c->argv[i] != NULL; i++)
		mem_free(c->argv[i]);
	mem_free(c->argv);
	c->argv = NULL;
}

int
child_run(const struct sandbox *sb, const char *log_name, char **argv)
{
	pid_t	 pid = spawn(sb, log_name, SIGKILL, argv);
	int	 status;

	if (pid == -1)
		return -1;
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return status;
}

static void
say_end(const struct sandbox *sb, const struct child *c, int status)
{
	if (sb->is_quiet)
		return;
	if (WIFSIGNALED(status))
		(void)printf("%s was killed by signal %d (%s); it starts "
		    "again\n", c->name, WTERMSIG(status),
		    strsignal(WTERMSIG(status)));
	else
		(void)printf("%s ended with status %d; it starts again "
		    "(log: %s/log/%s.log)\n", c->name, WEXITSTATUS(status),
		    sb->dir, c->name);
	(void)fflush(stdout);
}

/* One that keeps dying must not fill the disk with logs. */
static void
note_end(struct sandbox *sb, struct child *c, int status)
{
	c->pid = 0;
	if (mono_diff_ms(mono_now(), c->started_at) > HEALTHY_MS ||
	    c->backoff_ms == 0)
		c->backoff_ms = BACKOFF_FIRST_MS;
	else if (c->backoff_ms < BACKOFF_MAX_MS)
		c->backoff_ms *= 2;
	c->start_at = mono_add_ms(mono_now(), c->backoff_ms);
	c->restarts++;
	say_end(sb, c, status);
}

static void
reap(struct sandbox *sb, bool is_stopping, struct child_end *other)
{
	pid_t	 pid;
	int	 status;
	size_t	 i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < CHILD_MAX; i++)
			if (sb->children[i].pid == pid)
				break;
		if (i == CHILD_MAX) {
			if (other != NULL) {
				other->pid = pid;
				other->status = status;
			}
		} else if (is_stopping) {
			sb->children[i].pid = 0;
		} else {
			note_end(sb, &sb->children[i], status);
		}
	}
}

/* Waits for a signal; true when it was one to stop. */
static bool
wait_signal(struct sandbox *sb, int timeout_ms)
{
	struct signalfd_siginfo	 info;
	struct pollfd		 pfd = { .fd = sb->signal_fd,
	    .events = POLLIN };
	bool			 is_stop = false;

	(void)poll(&pfd, 1, timeout_ms);	/* EINTR: we read anyway */
	while (read(sb->signal_fd, &info, sizeof(info)) ==
	    (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			is_stop = true;
	return is_stop;
}

bool
child_wait(struct sandbox *sb, int timeout_ms, struct child_end *other)
{
	struct child	*c;
	int64_t		 left;
	bool		 is_stop;
	int		 i;

	for (i = 0; i < CHILD_MAX; i++) {
		c = &sb->children[i];
		if (c->pid == 0 && mono_is_set(c->start_at)) {
			left = mono_left_ms(c->start_at);
			if (timeout_ms < 0 || left < timeout_ms)
				timeout_ms = (int)left;
		}
	}
	is_stop = wait_signal(sb, timeout_ms);
	reap(sb, false, other);
	for (i = 0; i < CHILD_MAX && !is_stop; i++) {
		c = &sb->children[i];
		if (c->pid == 0 && mono_is_set(c->start_at) &&
		    mono_left_ms(c->start_at) == 0)
			(void)child_start(sb, i, c->argv);
	}
	return !is_stop;
}

/* Supervisor first, then what it needs: its last words must be heard. */
void
child_stop_all(struct sandbox *sb)
{
	struct child	*c;
	struct mono	 deadline;
	int		 i;

	for (i = CHILD_MAX - 1; i >= 0; i--) {
		c = &sb->children[i];
		c->start_at = (struct mono){ 0 };
		if (c->pid == 0)
			continue;
		if (!sb->is_quiet) {
			(void)printf("stopping %s\n", c->name);
			(void)fflush(stdout);
		}
		(void)kill(c->pid, c->stop_signal);
		deadline = mono_add_ms(mono_now(), STOP_MS);
		while (c->pid != 0 && mono_left_ms(deadline) > 0) {
			(void)wait_signal(sb, (int)mono_left_ms(deadline));
			reap(sb, true, NULL);
		}
		if (c->pid != 0) {
			cli_fail(sb->cli, NULL, "%s did not stop in %d s; "
			    "it is killed", c->name, STOP_MS / 1000);
			(void)kill(c->pid, SIGKILL);
			(void)waitpid(c->pid, NULL, 0);
			c->pid = 0;
		}
	}
}

void
child_log_tail(const struct sandbox *sb, const char *log_name)
{
	char	*name = mem_printf("log/%s.log", log_name);
	char	*path = name == NULL ? NULL : files_path(sb, name);
	char	*text = NULL, *p;
	size_t	 len, lines = 0;

	if (path != NULL && fd_read_file(path, TAIL_BYTES, &text, &len) == 0) {
		for (p = text + len; p > text && lines <= TAIL_LINES; p--)
			lines += p[-1] == '\n';
		(void)fprintf(stderr, "  the end of %s:\n%s", path,
		    p > text ? p + 1 : text);
	}
	mem_free(text);
	mem_free(path);
	mem_free(name);
}
