/*
 * main.c - payonce-worker: one role for one kind, started by payonced.
 *
 * The order of main() is the confinement: secret, rights, then the channel.
 */
#include "worker/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/log.h"
#include "common/mem.h"

static const struct role_ops *const main_ops[ROLE_MAX] = {
	[ROLE_SUBMIT] = &submit_ops,
	[ROLE_POLL] = &poll_ops,
	[ROLE_EXEC] = &exec_ops,
};

static void	main_usage(void) __attribute__((noreturn));
static void	main_ignore_signals(void);
static void	main_set_role(struct worker *, const char *);

int
main(int argc, char *argv[], char *envp[])
{
	struct worker w;
	const char *secret = NULL, *user = NULL;
	bool to_stderr = false, debug = false;
	int opt = 0, code = 0;

	memset(&w, 0, sizeof(w));
	w.role = ROLE_MAX;
	setproctitle_init(argc, argv, envp);
	while ((opt = getopt(argc, argv, "r:k:s:u:ed")) != -1) {
		switch (opt) {
		case 'r':
			main_set_role(&w, optarg);
			break;
		case 'k':
			mem_free(w.kind);
			w.kind = mem_strdup(optarg);
			break;
		case 's':
			secret = optarg;
			break;
		case 'u':
			user = optarg;
			break;
		case 'e':
			to_stderr = true;
			break;
		case 'd':
			debug = true;
			break;
		default:
			main_usage();
		}
	}
	if (optind != argc || w.role == ROLE_MAX || w.kind == NULL ||
	    *w.kind == '\0' || strlen(w.kind) > LIM_WORD)
		main_usage();
	log_init("payonce-worker", true, debug);
	if (secret != NULL &&
	    confine_read_secret(secret, &w.secret, &w.secret_len) < 0) {
		mem_free(w.kind);
		return EXIT_CODE_SECRET;	/* it said why */
	}
	confine_process(user);
	/* syslog's descriptor would not outlive confine_process() */
	log_init("payonce-worker", to_stderr, debug);
	main_ignore_signals();
	code = loop_run(&w);
	setup_done(&w);
	mem_free_secret(w.secret, w.secret_len);
	mem_free(w.kind);
	return code;
}

static void
main_usage(void)
{
	(void)fprintf(stderr, "usage: payonce-worker -r submit|poll|exec "
	    "-k KIND [-s SECRETFILE] [-u USER] [-ed]\n"
	    "payonced starts this program; it is no use alone.\n");
	exit(EXIT_CODE_USAGE);
}

static void
main_set_role(struct worker *w, const char *name)
{
	int i = 0;

	for (i = 0; i < ROLE_MAX; i++) {
		if (strcmp(name, role_name((enum worker_role)i)) == 0) {
			w->role = (enum worker_role)i;
			w->ops = main_ops[i];
			return;
		}
	}
	main_usage();
}

/*
 * A terminal's ^C goes to the whole process group; a worker that has sent
 * must live on.  Its supervisor ends it: DRAIN, end of file, SIGKILL.
 */
static void
main_ignore_signals(void)
{
	static const int ignored[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2
	};
	struct sigaction sa;
	size_t i = 0;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_IGN;
	for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		if (sigaction(ignored[i], &sa, NULL) == -1)
			fatal("cannot ignore signal %d", ignored[i]);
	}
}
