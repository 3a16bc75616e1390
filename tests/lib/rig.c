/*
 * rig.c - the life of a rig: opened, checked, taken away.
 *
 * Owns the temporary folder and the test's text.  An exit on the way (a
 * failed check) still ends every process of the rig and says what payonced
 * logged last; PAYONCE_KEEP=1 keeps the folder.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/lib/pgtest.h"
#include "tests/lib/rig.h"

#define LEFT_MS		4000	/* for workers to end after payonced */
#define LOG_TAIL	60

/* Text of the test, reachable until the process ends. */
struct kept {
	struct kept	*next;
	char		 text[];
};

static struct rig	*rig_live;	/* for the exit handler */
static struct kept	*rig_texts;

static void	rig_at_exit(void);
static void	rig_make_dirs(struct rig *);
static void	rig_check_left(struct rig *);
static void	rig_check_sanitizer(struct rig *);
static void	rig_remove(struct rig *);
static int	rig_remove_one(const char *, const struct stat *, int,
		    struct FTW *);
static void	rig_mkdir(struct rig *, const char *path, mode_t mode);

struct rig *
rig_open(void)
{
	struct rig *r;
	char *text;
	int i;

	r = calloc(1, sizeof(*r));
	if (r == NULL)
		exit(1);
	r->lease_s = 2;
	r->stop_timeout_s = 20;
	rig_live = r;
	(void)atexit(rig_at_exit);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		RIG_FAIL(r, "prctl: %s", strerror(errno));
	rig_make_dirs(r);
	for (i = 0; i < RIG_HOSTS_MAX; i++) {
		r->hosts[i].conf = rig_printf("%s/payonce%d.conf", r->dir, i);
		r->hosts[i].log = rig_printf("%s/payonced%d.log", r->dir, i);
		r->hosts[i].state_dir = rig_printf("%s/state%d", r->dir, i);
		r->hosts[i].run_dir = rig_printf("%s/run%d", r->dir, i);
	}
	r->db = pgtest_new_db();
	text = pgtest_conninfo(r->db);
	r->conninfo = rig_printf("%s", text);
	mem_free(text);
	rig_mock_start(r);
	return r;
}

void
rig_close(struct rig **rp)
{
	struct rig *r = *rp;
	int i;

	if (r == NULL)
		return;
	for (i = 0; i < RIG_HOSTS_MAX; i++)
		if (r->hosts[i].pid > 0)
			rig_stop_host(r, i, (r->stop_timeout_s + 10) * 1000);
	rig_check_left(r);
	rig_check_sanitizer(r);
	rig_check_log(r);
	rig_check_laws(r);
	rig_mock_stop(r);
	rig_live = NULL;
	PQfinish(r->db);
	rig_remove(r);
	free(r);
	*rp = NULL;
}

void
rig_fail(struct rig *r, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	(void)r;
	exit(1);
}

char *
rig_printf(const char *fmt, ...)
{
	struct kept *kept;
	char *text = NULL;
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		text = NULL;
	va_end(ap);
	len = text == NULL ? 0 : strlen(text);
	kept = text == NULL ? NULL : malloc(sizeof(*kept) + len + 1);
	if (kept == NULL) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	memcpy(kept->text, text, len + 1);
	free(text);
	kept->next = rig_texts;
	rig_texts = kept;
	return kept->text;
}

const char *
rig_srcdir(void)
{
	const char *dir = getenv("PAYONCE_SRCDIR");

	return dir != NULL ? dir : TEST_SRCDIR;
}

const char *
rig_builddir(void)
{
	const char *dir = getenv("PAYONCE_BUILDDIR");

	return dir != NULL ? dir : TEST_BUILDDIR;
}

/* Runs at every exit of the test process; a closed rig has nothing left. */
static void
rig_at_exit(void)
{
	struct rig *r = rig_live;
	int i;

	if (r == NULL)
		return;
	rig_live = NULL;
	for (i = 0; i < RIG_HOSTS_MAX; i++)
		if (r->hosts[i].log != NULL)
			rig_print_log(r, i, LOG_TAIL);
	rig_kill_all();
	if (r->db != NULL)
		PQfinish(r->db);
	if (getenv("PAYONCE_KEEP") != NULL)
		fprintf(stderr, "---- kept: %s\n", r->dir);
	else if (r->dir != NULL)
		rig_remove(r);
}

/*
 * Workers run as another user when the tests run as root: they take fault
 * points away and write reports of a sanitizer, so those folders are open.
 */
static void
rig_make_dirs(struct rig *r)
{
	const char *tmp = getenv("TMPDIR");
	char *asan, *ubsan;

	r->dir = rig_printf("%s/payonce-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(r->dir) == NULL || chmod(r->dir, 0755) == -1)
		RIG_FAIL(r, "%s: %s", r->dir, strerror(errno));
	r->inject_dir = rig_printf("%s/inject", r->dir);
	r->work_dir = rig_printf("%s/work", r->dir);
	r->ledger = rig_printf("%s/ledger", r->dir);
	rig_mkdir(r, r->inject_dir, 0777);
	rig_mkdir(r, r->work_dir, 0777);
	rig_mkdir(r, rig_printf("%s/asan", r->dir), 0777);
	rig_mkdir(r, rig_printf("%s/secrets", r->dir), 0700);
	rig_write_file(r, rig_printf("%s/secrets/fal", r->dir), "mock-key\n",
	    0600);
	rig_write_file(r, rig_printf("%s/secrets/replicate", r->dir),
	    "mock-key\n", 0600);
	asan = rig_printf("log_path=%s/asan/a:%s", r->dir,
	    getenv("ASAN_OPTIONS") != NULL ? getenv("ASAN_OPTIONS") : "");
	ubsan = rig_printf("log_path=%s/asan/u:print_stacktrace=1", r->dir);
	if (setenv("ASAN_OPTIONS", asan, 1) == -1 ||
	    setenv("UBSAN_OPTIONS", ubsan, 1) == -1)
		RIG_FAIL(r, "setenv: %s", strerror(errno));
}

static void
rig_mkdir(struct rig *r, const char *path, mode_t mode)
{
	if (mkdir(path, 0700) == -1 || chmod(path, mode) == -1)
		RIG_FAIL(r, "%s: %s", path, strerror(errno));
}

/* Nothing but the mock may be alive below us once payonced has ended. */
static void
rig_check_left(struct rig *r)
{
	struct rig_proc procs[64];
	int64_t end = rig_now_ms() + LEFT_MS;
	size_t i, n, left;

	for (;;) {
		rig_reap(r);
		n = rig_list_tree(getpid(), procs, 64);
		left = n;
		for (i = 0; i < n; i++)
			if (procs[i].pid == r->mock_pid)
				left--;
		if (left == 0)
			return;
		if (rig_now_ms() >= end)
			break;
		rig_pause_ms(10);
	}
	for (i = 0; i < n; i++)
		if (procs[i].pid != r->mock_pid)
			fprintf(stderr, "left behind: %d %c %s\n",
			    (int)procs[i].pid, procs[i].state,
			    procs[i].title);
	RIG_FAIL(r, "%zu processes are left behind", left);
}

static void
rig_check_sanitizer(struct rig *r)
{
	char line[4096], *path;
	struct dirent *de;
	DIR *dir;
	FILE *f;
	int count = 0;

	dir = opendir(rig_printf("%s/asan", r->dir));
	while (dir != NULL && (de = readdir(dir)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		count++;
		path = rig_printf("%s/asan/%s", r->dir, de->d_name);
		f = fopen(path, "re");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL)
			fputs(line, stderr);
		if (f != NULL)
			(void)fclose(f);
	}
	if (dir != NULL)
		(void)closedir(dir);
	if (count > 0)
		RIG_FAIL(r, "a sanitizer reported %d times", count);
}

static void
rig_remove(struct rig *r)
{
	(void)nftw(r->dir, rig_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int
rig_remove_one(const char *path, const struct stat *st, int type,
    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);	/* what stays lies in the temporary folder */
	return 0;
}
