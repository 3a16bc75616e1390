/*
 * exec_tree.c - ending every process below this one.
 *
 * The caller is a child subreaper, so an orphan at any depth becomes its
 * child; killing goes on until there is none.  Parents are read from /proc
 * (the kernel's "children" files are not everywhere).
 */
#include "worker/exec.h"

#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"

#define TREE_MAX	65536u
#define TREE_STAT_MAX	512
#define TREE_PAUSE_NS	20000000L	/* or the next SIGCHLD */

struct tree_row {
	pid_t	pid;
	pid_t	parent;
	bool	is_below;
};

static int	tree_read(struct tree_row **, size_t *);
static int	tree_parent(const char *name, pid_t *);
static size_t	tree_mark(struct tree_row *, size_t count, pid_t root);

int
exec_tree_kill(int timeout_ms, pid_t watch, int *ret_status,
    bool *ret_has_status)
{
	const struct mono until = mono_add_ms(mono_now(), timeout_ms);
	const struct timespec pause = { .tv_nsec = TREE_PAUSE_NS };
	struct tree_row *rows = NULL;
	sigset_t child;
	size_t count = 0, i = 0;
	pid_t pid = 0;
	int status = 0;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid == watch && ret_status != NULL) {
				*ret_status = status;
				*ret_has_status = true;
			}
		}
		if (pid == -1 && errno == ECHILD)
			return 0;
		if (mono_left_ms(until) == 0)
			return PO_EAGAIN;
		if (tree_read(&rows, &count) == 0 &&
		    tree_mark(rows, count, getpid()) > 0) {
			for (i = 0; i < count; i++) {
				if (rows[i].is_below)
					(void)kill(rows[i].pid, SIGKILL);
			}
		}
		mem_free(rows);
		rows = NULL;
		/* SIGCHLD is blocked by the callers: its arrival ends this */
		(void)sigtimedwait(&child, NULL, &pause);
	}
}

static int
tree_read(struct tree_row **ret, size_t *ret_count)
{
	struct tree_row *rows = NULL, *grown = NULL;
	struct dirent *e = NULL;
	size_t count = 0, cap = 0;
	int64_t pid = 0;
	DIR *dir = opendir("/proc");

	if (dir == NULL)
		return PO_EIO;
	while ((e = readdir(dir)) != NULL && count < TREE_MAX) {
		if (num_parse_i64(e->d_name, 1, INT32_MAX, &pid) < 0)
			continue;
		if (count == cap) {
			cap = cap == 0 ? 256 : cap * 2;
			grown = mem_grow(rows, cap, sizeof(*rows));
			if (grown == NULL)
				break;	/* a part is better than none */
			rows = grown;
		}
		rows[count].pid = (pid_t)pid;
		rows[count].is_below = false;
		if (tree_parent(e->d_name, &rows[count].parent) == 0)
			count++;
	}
	(void)closedir(dir);
	*ret = rows;
	*ret_count = count;
	return 0;
}

/* "4711 (name, any bytes) S 1 ...": the parent is behind the last ')' */
static int
tree_parent(const char *name, pid_t *ret)
{
	char path[64], text[TREE_STAT_MAX + 1];	/* name: at most 10 digits */
	char *at = NULL, *end = NULL;
	int64_t parent = 0;
	ssize_t n = 0;
	int fd = -1;

	if ((size_t)snprintf(path, sizeof(path), "/proc/%.16s/stat", name) >=
	    sizeof(path))
		return PO_ERANGE;
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return PO_ENOENT;
	n = read(fd, text, TREE_STAT_MAX);
	fd_close(&fd);
	if (n <= 0)
		return PO_ENOENT;
	text[n] = '\0';
	if ((at = strrchr(text, ')')) == NULL || strlen(at) < 5)
		return PO_EINVAL;
	at += 4;
	if ((end = strchr(at, ' ')) != NULL)
		*end = '\0';
	if (num_parse_i64(at, 0, INT32_MAX, &parent) < 0)
		return PO_EINVAL;
	*ret = (pid_t)parent;
	return 0;
}

/* Passes until nothing new: a child may stand before its parent. */
static size_t
tree_mark(struct tree_row *rows, size_t count, pid_t root)
{
	size_t i = 0, k = 0, total = 0, found = 0;

	do {
		found = 0;
		for (i = 0; i < count; i++) {
			if (rows[i].is_below)
				continue;
			rows[i].is_below = rows[i].parent == root;
			for (k = 0; k < count && !rows[i].is_below; k++)
				rows[i].is_below = rows[k].is_below &&
				    rows[k].pid == rows[i].parent;
			found += rows[i].is_below;
		}
		total += found;
	} while (found > 0);
	return total;
}
