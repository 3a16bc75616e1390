/*
 * wait.c - sleep until a task ended, or a second has passed.
 *
 * LISTEN is an aid: through a transaction-mode pooler it does nothing, and
 * the tick alone keeps things moving.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "cli/cli.h"
#include "common/exitcodes.h"

static volatile sig_atomic_t	 is_interrupted;

static void
on_signal(int sig)
{
	(void)sig;
	is_interrupted = 1;
}

void
wait_catch_signals(void)
{
	struct sigaction	 sa;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = on_signal;	/* no SA_RESTART: poll(2) returns */
	(void)sigemptyset(&sa.sa_mask);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
}

bool
wait_is_interrupted(void)
{
	return is_interrupted != 0;
}

void
wait_start(struct cli *cli)
{
	/* a refusal is no error: the tick is there */
	PQclear(PQexec(cli->db, "LISTEN payonce_done"));
}

static bool
take_notifications(struct cli *cli)
{
	PGnotify	*n;
	bool		 is_any = false;

	while ((n = PQnotifies(cli->db)) != NULL) {
		PQfreemem(n);
		is_any = true;
	}
	return is_any;
}

int
wait_next(struct cli *cli, int timeout_ms)
{
	struct pollfd	 pfd = { .fd = PQsocket(cli->db), .events = POLLIN };

	if (take_notifications(cli))
		return 0;
	if (poll(&pfd, 1, timeout_ms) == -1 && errno != EINTR) {
		cli_fail(cli, NULL, "poll: %s", strerror(errno));
		return EXIT_CODE_FAILED;
	}
	if ((pfd.revents & (POLLIN | POLLERR | POLLHUP)) != 0 &&
	    PQconsumeInput(cli->db) == 0) {
		db_explain(cli, NULL);
		return EXIT_CODE_FAILED;
	}
	(void)take_notifications(cli);
	return 0;
}
