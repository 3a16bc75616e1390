/*
 * inject.c - fault points of --enable-inject builds; see inject.h.
 *
 * Owns nothing: the folder is the state, and a rename decides who acts.
 */
#include "common/inject.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"

#define INJECT_FILE_MAX		4096
#define INJECT_EXIT		99
#define INJECT_EXIT_BROKEN	98	/* the test's own file is nonsense */

static int	inject_act(const char *point, char *text);
static void	inject_delay(uint64_t ms);

int
inject_point(const char *point)
{
	const char *dir = getenv("PAYONCE_INJECT_DIR");
	char armed[PATH_MAX], taken[PATH_MAX];
	char *text = NULL;
	int saved = errno, rc = 0;

	if (dir == NULL || *dir == '\0')
		return 0;
	if ((size_t)snprintf(armed, sizeof(armed), "%s/%s", dir, point) >=
	    sizeof(armed) ||
	    (size_t)snprintf(taken, sizeof(taken), "%s/%s.taken.%ld", dir,
	    point, (long)getpid()) >= sizeof(taken))
		return 0;
	if (rename(armed, taken) == -1) {
		errno = saved;
		return 0;
	}
	if (fd_read_file(taken, INJECT_FILE_MAX, &text, NULL) < 0) {
		(void)dprintf(STDERR_FILENO, "inject: %s: cannot read\n",
		    taken);
		_exit(INJECT_EXIT_BROKEN);
	}
	rc = inject_act(point, text);
	mem_free(text);
	errno = saved;
	return rc;
}

static int
inject_act(const char *point, char *text)
{
	size_t len = strcspn(text, " \t\n");
	const char *arg = text + len;
	uint64_t ms = 0;

	if (*arg != '\0') {
		text[len] = '\0';
		arg++;
		text[len + 1 + strcspn(arg, " \t\n")] = '\0';
	}
	if (strcmp(text, "kill") == 0)
		(void)raise(SIGKILL);
	else if (strcmp(text, "stop") == 0)
		(void)raise(SIGSTOP);
	else if (strcmp(text, "exit") == 0)
		_exit(INJECT_EXIT);
	else if (strcmp(text, "killparent") == 0)
		(void)kill(getppid(), SIGKILL);
	else if (strcmp(text, "fail") == 0)
		return 1;
	else if (strcmp(text, "delay") == 0 &&
	    num_parse_u64(arg, 3600000, &ms) == 0)
		inject_delay(ms);
	else {
		(void)dprintf(STDERR_FILENO, "inject: %s: \"%s\" unknown\n",
		    point, text);
		_exit(INJECT_EXIT_BROKEN);
	}
	return 0;
}

static void
inject_delay(uint64_t ms)
{
	struct timespec left = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000 * 1000000),
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		continue;
}
