/*
 * rig_proc.c - the processes of a rig, as /proc shows them.
 *
 * Owns nothing.  A rig's process is a child subreaper, so the tree below it
 * is everything that the test ever started; nothing outside of that tree is
 * ever signalled.
 */
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/num.h"
#include "tests/lib/rig.h"

#define PROC_MAX	4096

static int	 proc_read(pid_t, struct rig_proc *);
static size_t	 proc_read_file(pid_t, const char *name, char *, size_t cap);

int64_t
rig_now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_BOOTTIME, &ts);	/* cannot fail here */
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
rig_pause_ms(int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&ts, NULL);	/* a shorter pause only looks sooner */
}

size_t
rig_list_tree(pid_t root, struct rig_proc *ret, size_t max)
{
	struct rig_proc *all;
	struct dirent *de;
	DIR *dir;
	bool *is_in;
	size_t i, j, n = 0, found = 0;
	int64_t pid;
	bool again;

	all = calloc(PROC_MAX, sizeof(*all));
	is_in = calloc(PROC_MAX, sizeof(*is_in));
	dir = opendir("/proc");
	if (all == NULL || is_in == NULL || dir == NULL)
		goto out;
	while (n < PROC_MAX && (de = readdir(dir)) != NULL) {
		if (num_parse_i64(de->d_name, 1, INT32_MAX, &pid) != 0)
			continue;
		if (proc_read((pid_t)pid, &all[n]) == 0)
			n++;
	}
	do {
		again = false;
		for (i = 0; i < n; i++) {
			if (is_in[i])
				continue;
			for (j = 0; j < n; j++)
				if (all[i].ppid == root ||
				    (is_in[j] && all[j].pid == all[i].ppid))
					break;
			if (j < n) {
				is_in[i] = true;
				again = true;
			}
		}
	} while (again);
	for (i = 0; i < n && found < max; i++)
		if (is_in[i])
			ret[found++] = all[i];
out:
	if (dir != NULL)
		(void)closedir(dir);	/* read only */
	free(all);
	free(is_in);
	return found;
}

size_t
rig_list_workers(struct rig *r, const char *word, pid_t *ret, size_t max)
{
	struct rig_proc *procs;
	size_t i, n, found = 0;

	procs = calloc(PROC_MAX, sizeof(*procs));
	if (procs == NULL)
		RIG_FAIL(r, "out of memory");
	n = rig_list_tree(getpid(), procs, PROC_MAX);
	for (i = 0; i < n && found < max; i++) {
		if (procs[i].state == 'Z' ||
		    strstr(procs[i].title, "payonce-worker") == NULL ||
		    strstr(procs[i].title, word) == NULL)
			continue;
		ret[found++] = procs[i].pid;
	}
	free(procs);
	return found;
}

pid_t
rig_wait_worker(struct rig *r, const char *word, int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	pid_t pid;

	for (;;) {
		if (rig_list_workers(r, word, &pid, 1) == 1)
			return pid;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "no worker \"%s\" within %d ms", word,
			    timeout_ms);
		rig_pause_ms(5);
	}
}

void
rig_wait_gone(struct rig *r, pid_t pid, int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	struct rig_proc proc;

	for (;;) {
		rig_reap(r);
		if (proc_read(pid, &proc) != 0 || proc.state == 'Z')
			return;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "process %d (%s, state %c) is still there "
			    "after %d ms", (int)pid, proc.title, proc.state,
			    timeout_ms);
		rig_pause_ms(5);
	}
}

void
rig_kill_all(void)
{
	struct rig_proc *procs;
	size_t i, n, round;

	procs = calloc(PROC_MAX, sizeof(*procs));
	if (procs == NULL)
		return;
	/* a dying process may leave new orphans to us: look again */
	for (round = 0; round < 100; round++) {
		n = rig_list_tree(getpid(), procs, PROC_MAX);
		for (i = 0; i < n; i++)
			if (procs[i].state != 'Z')
				(void)kill(procs[i].pid, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (n == 0)
			break;
		rig_pause_ms(10);
	}
	free(procs);
}

/*
 * Orphans become our children; the supervisors and the mock are reaped where
 * their exit status is wanted, so only strangers are taken here.
 */
void
rig_reap(struct rig *r)
{
	struct rig_proc *procs;
	size_t h, i, n;
	bool is_ours;

	procs = calloc(PROC_MAX, sizeof(*procs));
	if (procs == NULL)
		return;
	n = rig_list_tree(getpid(), procs, PROC_MAX);
	for (i = 0; i < n; i++) {
		if (procs[i].state != 'Z' || procs[i].ppid != getpid())
			continue;
		is_ours = procs[i].pid == r->mock_pid;
		for (h = 0; h < RIG_HOSTS_MAX; h++)
			if (procs[i].pid == r->hosts[h].pid)
				is_ours = true;
		if (!is_ours)
			(void)waitpid(procs[i].pid, NULL, WNOHANG);
	}
	free(procs);
}

int
rig_run(struct rig *r, const char *const *argv, char **ret_out)
{
	char *out = NULL;
	size_t cap = 0, len = 0;
	ssize_t got;
	int fds[2], status;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) == -1)
		RIG_FAIL(r, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == -1)
		RIG_FAIL(r, "fork: %s", strerror(errno));
	if (pid == 0) {
		if (dup2(fds[1], STDOUT_FILENO) == -1)
			_exit(127);
		/* exec changes none of them */
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	(void)close(fds[1]);
	for (;;) {
		if (cap - len < 4096) {
			cap = cap == 0 ? 16384 : cap * 2;
			out = realloc(out, cap);
			if (out == NULL)
				RIG_FAIL(r, "out of memory");
		}
		got = read(fds[0], out + len, cap - len - 1);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	out[len] = '\0';
	(void)close(fds[0]);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			RIG_FAIL(r, "waitpid: %s", strerror(errno));
	if (ret_out != NULL)
		*ret_out = out;
	else
		free(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/*
 * A server that is started here must not become ours: it belongs to the
 * wrapper of the tests, so we are no subreaper meanwhile.
 */
void
rig_pg_ctl(struct rig *r, const char *verb)
{
	const char *argv[] = { rig_printf("%s/tests/lib/pg-ctl",
	    rig_srcdir()), verb, NULL };
	int rc;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
	rc = rig_run(r, argv, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (rc != 0)
		RIG_FAIL(r, "pg-ctl %s: exit %d", verb, rc);
}

long
rig_pss_kb(pid_t pid)
{
	char text[4096], *p, *end;
	int64_t kb;

	if (proc_read_file(pid, "smaps_rollup", text, sizeof(text)) == 0)
		return -1;
	p = strstr(text, "\nPss:");
	if (p == NULL)
		return -1;
	p += strlen("\nPss:");
	p += strspn(p, " ");
	end = p + strspn(p, "0123456789");
	*end = '\0';
	return num_parse_i64(p, 0, INT64_MAX, &kb) == 0 ? (long)kb : -1;
}

static size_t
proc_read_file(pid_t pid, const char *name, char *ret, size_t cap)
{
	char path[64];
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	got = read(fd, ret, cap - 1);
	(void)close(fd);
	if (got <= 0)
		return 0;
	ret[got] = '\0';
	return (size_t)got;
}

static int
proc_read(pid_t pid, struct rig_proc *ret)
{
	char text[1024], *p;
	size_t i, len;
	int ppid;
	char state;

	if (proc_read_file(pid, "stat", text, sizeof(text)) == 0)
		return -1;
	p = strrchr(text, ')');		/* the name may hold anything */
	if (p == NULL || sscanf(p + 1, " %c %d", &state, &ppid) != 2)
		return -1;
	ret->pid = pid;
	ret->ppid = ppid;
	ret->state = state;
	len = proc_read_file(pid, "cmdline", ret->title, sizeof(ret->title));
	if (len == 0)
		ret->title[0] = '\0';
	for (i = 0; i + 1 < len; i++)
		if (ret->title[i] == '\0')
			ret->title[i] = ' ';
	return 0;
}
