/*
 * child_spawn.c - fork and exec of a worker.
 *
 * The child gets descriptor 3 and nothing else that is open, an environment
 * of PATH alone, default signals, and everything it must know over the
 * channel.  Between fork and exec only async-signal-safe calls happen.
 */
#include "supervisor/child.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

struct spawn_words {
	const char	*argv[16];
	char		*env[3];
	char		*secret;
};

static void
words_done(struct spawn_words *w)
{
	size_t i = 0;

	for (i = 0; w->env[i] != NULL; i++)
		mem_free(w->env[i]);
	mem_free(w->secret);
}

static int
words_init(struct spawn_words *w, const struct pool *p)
{
	const struct super *super = p->super;
	size_t n = 0;

	memset(w, 0, sizeof(*w));
	w->argv[n++] = super->conf->worker_path;
	w->argv[n++] = "-r";
	w->argv[n++] = role_name(p->role);
	w->argv[n++] = "-k";
	w->argv[n++] = p->kind->name;
	if (p->provider != NULL) {
		w->secret = conf_secret_path(super->conf, p->provider);
		if (w->secret == NULL)
			return PO_ENOMEM;
		w->argv[n++] = "-s";
		w->argv[n++] = w->secret;
	}
	if (super->conf->user != NULL && geteuid() == 0) {
		w->argv[n++] = "-u";
		w->argv[n++] = super->conf->user;
	}
	if (super->is_foreground)
		w->argv[n++] = "-e";
	if (super->is_debug)
		w->argv[n++] = "-d";
	w->argv[n] = NULL;
	w->env[0] = mem_strdup("PATH=/usr/local/bin:/usr/bin:/bin");
	if (w->env[0] == NULL)
		return PO_ENOMEM;
#ifdef PAYONCE_INJECT
	if (getenv("PAYONCE_INJECT_DIR") != NULL) {
		w->env[1] = mem_printf("PAYONCE_INJECT_DIR=%s",
		    getenv("PAYONCE_INJECT_DIR"));
		if (w->env[1] == NULL)
			return PO_ENOMEM;
	}
#endif
	return 0;
}

/* Runs in the child: no malloc, no stdio, no return. */
static void	become_worker(const struct spawn_words *, int)
		    __attribute__((noreturn));

static void
become_worker(const struct spawn_words *w, int fd)
{
	struct sigaction sa;
	sigset_t none;
	int sig = 0, null = -1;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	for (sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &sa, NULL);	/* KILL, STOP refuse */
	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		_exit(EXIT_CODE_FATAL);
	/*
	 * dup2() of a descriptor to itself keeps close-on-exec, so 3 must be
	 * opened by hand when it is the one already.
	 */
	if (fd == PROTO_FD) {
		if (fcntl(fd, F_SETFD, 0) != 0)
			_exit(EXIT_CODE_FATAL);
	} else if (dup2(fd, PROTO_FD) != PROTO_FD)
		_exit(EXIT_CODE_FATAL);
	null = open("/dev/null", O_RDWR);
	if (null == -1 || dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1)
		_exit(EXIT_CODE_FATAL);
	closefrom(PROTO_FD + 1);
	(void)execve(w->argv[0], (char *const *)(uintptr_t)w->argv,
	    w->env);
	_exit(EXIT_CODE_CONFIG);	/* worker_path is not runnable */
}

int
child_spawn(struct pool *p)
{
	struct spawn_words w;
	struct child *c = NULL;
	int fds[2] = { -1, -1 };
	pid_t pid = -1;
	int err = words_init(&w, p);

	if (err != 0)
		goto out;
	if (fd_pair(fds) != 0) {
		err = PO_EIO;
		log_warn("cannot make a socket pair for a worker");
		goto out;
	}
	err = child_new(p, &c);
	if (err != 0)
		goto out;
	pid = fork();
	if (pid == 0)
		become_worker(&w, fds[1]);
	if (pid == -1) {
		log_warn("worker=%s cannot fork", c->name);
		err = PO_EIO;
		goto out;
	}
	c->pid = pid;
	p->super->stats.spawned++;
	err = child_open(c, fds[0]);
	fds[0] = -1;
	if (err != 0) {
		child_kill(c, "no memory for its channel");
		c = NULL;
		goto out;
	}
	log_debug("worker=%s pid=%ld started", c->name, (long)pid);
	child_send_setup(c);
	c = NULL;
 out:
	if (c != NULL) {
		p->nchildren--;
		child_free(&c);
	}
	fd_close(&fds[0]);
	fd_close(&fds[1]);
	words_done(&w);
	return err;
}
