/*
 * check_confine.c - what a worker may do and knows, as the kernel shows it,
 * and that the provider's key is nowhere but in its own memory.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/suite.h"

#define SECRET	"mock-key"

static char	*confine_status(pid_t, const char *key);
static bool	 confine_file_holds(const char *path, const char *text);
static void	 confine_check(pid_t);
static void	 confine_check_files(pid_t);
static int	 confine_check_one(const char *path, const struct stat *,
		    int type, struct FTW *);

/* One worker of each role, while each has something to do. */
START_TEST(test_roles)
{
	static const char *const roles[] = { "image submit", "image poll",
	    "render exec" };
	size_t i;

	rig_start(rig);
	(void)rig_enqueue(rig, "render", "{\"do\": \"hang\"}");
	(void)rig_enqueue(rig, "image", "{\"mock\": {\"never\": true}}");
	(void)rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": 3000}}");
	rig_wait_posts(rig, 0, 2, 10000);
	rig_wait_sql(rig, 10000, "SELECT count(*) = 1 FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'");
	for (i = 0; i < 3; i++)
		confine_check(rig_wait_worker(rig, roles[i], 5000));
	(void)rig_sql(rig, "SELECT payonce.cancel(id) FROM "
	    "payonce.generation_task WHERE kind = 'render'");
}
END_TEST

/* Refusals and parks log and keep a lot; the key is never in it. */
START_TEST(test_key_is_nowhere)
{
	static const char *const behaviours[] = { "ok", "status:500",
	    "status:422", "garbage", "redirect:302", "drop_after_read" };
	size_t i;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 4, "");
	rig_start(rig);
	for (i = 0; i < SUITE_COUNT(behaviours); i++)
		(void)rig_enqueue(rig, "image", rig_printf("{\"mock\": "
		    "{\"submit\": \"%s\"}}", behaviours[i]));
	rig_wait_sql(rig, 20000, "SELECT count(*) = %zu FROM "
	    "payonce.generation_task WHERE status IN ('SUCCEEDED', 'FAILED', "
	    "'OUTCOME_UNKNOWN')", SUITE_COUNT(behaviours));
	rig_stop(rig);
	ck_assert(!confine_file_holds(rig->hosts[0].log, SECRET));
	ck_assert_int_eq(nftw(rig->hosts[0].state_dir, confine_check_one, 8,
	    FTW_PHYS), 0);
	ck_assert_str_eq(rig_sql(rig, "SELECT count(*) FROM "
	    "payonce.generation_task t, payonce.task_event e WHERE "
	    "to_jsonb(t)::text LIKE '%%" SECRET "%%' OR to_jsonb(e)::text "
	    "LIKE '%%" SECRET "%%'"), "0");
}
END_TEST

static void
confine_check(pid_t pid)
{
	char *proc = rig_printf("/proc/%d", (int)pid);
	struct stat st;

	ck_assert_str_eq(confine_status(pid, "NoNewPrivs"), "1");
	ck_assert_str_eq(confine_status(pid, "CapEff"), "0000000000000000");
	if (geteuid() == 0) {
		ck_assert_int_ne(confine_status(pid, "Uid")[0], '0');
		/* not dumpable: its files in /proc belong to root */
		ck_assert_int_eq(stat(rig_printf("%s/environ", proc), &st),
		    0);
		ck_assert_uint_eq(st.st_uid, 0);
	}
	ck_assert(!confine_file_holds(rig_printf("%s/environ", proc),
	    SECRET));
	ck_assert(!confine_file_holds(rig_printf("%s/environ", proc),
	    "dbname"));
	ck_assert(!confine_file_holds(rig_printf("%s/cmdline", proc),
	    SECRET));
	ck_assert(!confine_file_holds(rig_printf("%s/maps", proc),
	    "libpq"));
	confine_check_files(pid);
}

/* No file of the supervisor's but the log and the socket on descriptor 3. */
static void
confine_check_files(pid_t pid)
{
	char *path = rig_printf("/proc/%d/fd", (int)pid), target[256];
	struct dirent *de;
	ssize_t len;
	DIR *dir;

	dir = opendir(path);
	if (geteuid() != 0) {
		/* not dumpable: not even its own user may look */
		ck_assert_ptr_null(dir);
		ck_assert_int_eq(errno, EACCES);
		return;
	}
	ck_assert_ptr_nonnull(dir);
	while ((de = readdir(dir)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		len = readlink(rig_printf("%s/%s", path, de->d_name), target,
		    sizeof(target) - 1);
		if (len <= 0)
			continue;	/* closed meanwhile */
		target[len] = '\0';
		ck_assert_msg(strstr(target, "/secrets/") == NULL &&
		    strstr(target, rig->hosts[0].conf) == NULL &&
		    strstr(target, rig->hosts[0].run_dir) == NULL,
		    "worker %d has %s open", (int)pid, target);
	}
	(void)closedir(dir);
}

static int
confine_check_one(const char *path, const struct stat *st, int type,
    struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F)
		ck_assert_msg(!confine_file_holds(path, SECRET),
		    "%s holds the key", path);
	return 0;
}

static char *
confine_status(pid_t pid, const char *key)
{
	char line[256], *value = NULL;
	size_t len = strlen(key);
	FILE *f;

	f = fopen(rig_printf("/proc/%d/status", (int)pid), "re");
	ck_assert_ptr_nonnull(f);
	while (value == NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			value = rig_printf("%s", line + len + 1 +
			    strspn(line + len + 1, " \t"));
	(void)fclose(f);
	ck_assert_ptr_nonnull(value);
	value[strcspn(value, "\n")] = '\0';
	return value;
}

static bool
confine_file_holds(const char *path, const char *text)
{
	char *data = NULL;
	size_t cap = 0, len = 0, got;
	bool found = false;
	FILE *f;

	f = fopen(path, "re");
	if (f == NULL)
		return false;
	do {
		cap += 65536;
		data = realloc(data, cap);
		ck_assert_ptr_nonnull(data);
		got = fread(data + len, 1, cap - len, f);
		len += got;
	} while (got > 0);
	found = memmem(data, len, text, strlen(text)) != NULL;
	free(data);
	(void)fclose(f);
	return found;
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = { test_roles, test_key_is_nowhere };

	return suite_run(argc, argv, "confine", tests, SUITE_COUNT(tests),
	    40);
}
