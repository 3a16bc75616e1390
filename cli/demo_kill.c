/*
 * demo_kill.c - the demonstration's killer.
 *
 * It kills the sandbox's own supervisor and that supervisor's own workers,
 * found by their parent; never a process by its name alone.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"

enum { VICTIMS_MAX = 64, STAT_MAX = 4096, SUPERVISOR_IN = 4 };

/* The parent and the program's name of a process; 0 or PO_ENOENT. */
static int
look_at(const char *pid, pid_t *ret_parent, char *name, size_t cap)
{
	char	*path = mem_printf("/proc/%s/stat", pid), *text = NULL;
	char	*open_at, *close_at, *state, *parent;
	int64_t	 n = 0;
	size_t	 len;
	int	 rc = PO_ENOENT;

	/* "12 (name) S 1 ...": the name may hold anything, also ')' */
	if (path != NULL && fd_read_file(path, STAT_MAX, &text, &len) == 0 &&
	    (open_at = strchr(text, '(')) != NULL &&
	    (close_at = strrchr(text, ')')) != NULL &&
	    strlen(close_at) > 4) {
		*close_at = '\0';
		(void)strlcpy(name, open_at + 1, cap);
		state = close_at + 2;
		parent = state + 2;
		parent[strcspn(parent, " ")] = '\0';
		/* a zombie is dead already */
		if (*state != 'Z' &&
		    num_parse_i64(parent, 0, INT32_MAX, &n) == 0) {
			*ret_parent = (pid_t)n;
			rc = 0;
		}
	}
	mem_free(text);
	mem_free(path);
	return rc;
}

/* Our children of that parent and name; returns their number. */
static size_t
find_children(pid_t parent, const char *name, pid_t *ret, size_t cap)
{
	struct dirent	*e;
	DIR		*dir = opendir("/proc");
	char		 found[64];
	pid_t		 its_parent;
	int64_t		 pid;
	size_t		 n = 0;

	if (dir == NULL)
		return 0;
	while (n < cap && (e = readdir(dir)) != NULL) {
		if (num_parse_i64(e->d_name, 1, INT32_MAX, &pid) != 0 ||
		    look_at(e->d_name, &its_parent, found,
		    sizeof(found)) != 0 || its_parent != parent ||
		    strcmp(found, name) != 0)
			continue;
		ret[n++] = (pid_t)pid;
	}
	(void)closedir(dir);
	return n;
}

/* A worker's title says what it does. */
static void
worker_title(pid_t pid, char *ret, size_t cap)
{
	char	*path = mem_printf("/proc/%d/cmdline", (int)pid), *text = NULL;
	char	*what;
	size_t	 len, i;

	(void)strlcpy(ret, "a worker", cap);
	if (path != NULL && fd_read_file(path, STAT_MAX, &text, &len) == 0) {
		while (len > 0 && text[len - 1] == '\0')
			len--;
		for (i = 0; i < len; i++)
			if (text[i] == '\0')
				text[i] = ' ';
		/* "payonce-worker: image submit task 12" */
		what = strstr(text, ": ");
		if (what != NULL)
			(void)strlcpy(ret, what + 2, cap);
	}
	mem_free(text);
	mem_free(path);
}

/* Those at work come first: killing an idle worker proves little. */
static size_t
keep_busy(pid_t *workers, size_t n)
{
	char	 title[64];
	pid_t	 busy[VICTIMS_MAX];
	size_t	 nbusy = 0, i;

	for (i = 0; i < n; i++) {
		worker_title(workers[i], title, sizeof(title));
		if (strstr(title, " idle") == NULL &&
		    strstr(title, " 0 tasks") == NULL)
			busy[nbusy++] = workers[i];
	}
	if (nbusy == 0)
		return n;
	memcpy(workers, busy, nbusy * sizeof(busy[0]));
	return nbusy;
}

int
demo_kill(struct demo *d, char *ret_name, size_t cap, bool *ret_is_supervisor)
{
	pid_t	 supervisor, workers[VICTIMS_MAX], victim;
	size_t	 n;

	if (find_children(d->sandbox_pid, "payonced", &supervisor, 1) == 0)
		return PO_ENOENT;	/* it is being started again */
	n = find_children(supervisor, "payonce-worker", workers, VICTIMS_MAX);
	n = keep_busy(workers, n);
	*ret_is_supervisor = n == 0 || arc4random_uniform(SUPERVISOR_IN) == 0;
	if (*ret_is_supervisor) {
		victim = supervisor;
		(void)strlcpy(ret_name, "the supervisor", cap);
	} else {
		victim = workers[arc4random_uniform((uint32_t)n)];
		worker_title(victim, ret_name, cap);
	}
	if (kill(victim, SIGKILL) == -1)
		return PO_ENOENT;
	d->kills++;
	if (*ret_is_supervisor)
		d->supervisor_kills++;
	return 0;
}
