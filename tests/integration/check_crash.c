/*
 * check_crash.c - death in every gap between two durable steps.
 *
 * doc/FAULTPOINTS.md is the table: for each row one task runs, a process
 * dies (or stops) at that point, and the row, the ledger and the receipts
 * must say exactly what the page says.  The points in the sources and on the
 * page are the same set.
 */
#include <sys/wait.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/integration/fault_table.h"
#include "tests/lib/pgtest.h"
#include "tests/lib/rig.h"

#define END_MS	25000

static struct fault	 faults[FAULT_MAX];
static size_t		 nfaults;
static struct rig	*rig;
static const char	*wanted;	/* NULL: everything */

/* A stop or a sleep beyond the lease is a death that comes later. */
static const struct {
	const char	*point;
	const char	*action;
} slow[] = {
	{ "submit.before_mark", "stop" },
	{ "submit.marked", "stop" },
	{ "submit.sent", "stop" },
	{ "submit.receipt", "delay 5000" },
	{ "poll.polling", "stop" },
	{ "exec.started", "stop" },
	{ "super.claimed", "delay 5000" },
	{ "super.marking", "delay 5000" },
	{ "super.marked", "delay 5000" },
	{ "super.recording", "delay 5000" },
	{ "super.completing", "delay 5000" },
};
#define NSLOW	((int)(sizeof(slow) / sizeof(slow[0])))

static bool		 crash_is_wanted(const char *action, const char *point);
static void		 crash_run(const struct fault *, const char *action);
static void		 crash_check(const struct fault *, int64_t task);
static void		 crash_wait_filed(int64_t task);
static bool		 crash_names(const char *folder, const char *point);
static bool		 crash_file_names(const char *path, const char *point);
static void		 crash_check_folder(const char *folder);
static const struct fault *crash_find(const char *action, const char *point);

static void
setup(void)
{
	rig = rig_open();
	rig->lenient_log = true;	/* deaths are what is tested */
}

static void
teardown(void)
{
	rig_close(&rig);
}

START_TEST(test_row)
{
	if (crash_is_wanted(faults[_i].action, faults[_i].point))
		crash_run(&faults[_i], faults[_i].action);
}
END_TEST

START_TEST(test_slow)
{
	const struct fault *f = crash_find("kill", slow[_i].point);

	ck_assert_ptr_nonnull(f);
	if (crash_is_wanted(slow[_i].action, slow[_i].point))
		crash_run(f, slow[_i].action);
}
END_TEST

/* Each point on the page is in the sources, and the other way round. */
START_TEST(test_page_is_complete)
{
	const char *folder;
	size_t i;

	for (i = 0; i < nfaults; i++) {
		folder = strncmp(faults[i].point, "super.", 6) == 0 ?
		    "supervisor" : "worker";
		ck_assert_msg(crash_names(folder, faults[i].point),
		    "%s is not in %s/", faults[i].point, folder);
	}
	crash_check_folder("supervisor");
	crash_check_folder("worker");
}
END_TEST

/* By hand, an argument "kill submit.sent" chooses. */
static bool
crash_is_wanted(const char *action, const char *point)
{
	return wanted == NULL || strstr(rig_printf("%s %s", action, point),
	    wanted) != NULL;
}

/* One task, one death at the point, then the verdict. */
static void
crash_run(const struct fault *f, const char *action)
{
	bool is_exec = strncmp(f->point, "exec.", 5) == 0;
	bool is_super = strncmp(f->point, "super.", 6) == 0;
	bool is_orphan = strcmp(action, "orphan") == 0;
	int64_t task;
	pid_t pid;

	rig_start(rig);
	rig_inject(rig, f->point, is_orphan ? "delay 400" : action);
	task = rig_enqueue(rig, is_exec ? "render" : "image", is_exec ?
	    "{\"do\": \"ok\", \"s\": \"0.06\"}" : "{\"mock\": "
	    "{\"latency_ms\": 60}}");
	pid = rig_wait_taken(rig, f->point, 10000);
	if (is_orphan) {
		/* the next one starts while the orphan is still at work */
		rig_kill(rig);
		rig_start(rig);
	} else if (is_super && strcmp(action, "kill") == 0) {
		(void)rig_wait_exit(rig, 0, 5000);
		rig_start(rig);
	} else if (!is_super) {
		rig_wait_gone(rig, pid, 15000);
	}
	rig_wait_sql(rig, END_MS, "SELECT status IN ('SUCCEEDED', 'FAILED', "
	    "'CANCELED', 'OUTCOME_UNKNOWN') FROM payonce.generation_task "
	    "WHERE id = %lld", (long long)task);
	crash_check(f, task);
}

static void
crash_check(const struct fault *f, int64_t task)
{
	const char *status = rig_status(rig, task);
	struct rig_bill *bills;
	size_t i, n;
	int charges = rig_count_charges(rig, task);
	bool is_parked = strcmp(status, "OUTCOME_UNKNOWN") == 0;
	bool is_done = strcmp(status, "SUCCEEDED") == 0;
	bool may_end_well = f->may_requeue || f->may_poll || f->may_be_done;

	if (!(is_parked && f->may_park) && !(is_done && may_end_well)) {
		rig_print_task(rig, task);
		RIG_FAIL(rig, "%s: the task is %s", f->point, status);
	}
	if (f->charges_min == -1)
		RIG_CHECK(rig, charges == 0);
	else
		RIG_CHECK(rig, charges >= f->charges_min &&
		    charges <= f->charges_max);
	/* a paid result was charged; polling never submits again */
	if (is_done && f->charges_min != -1)
		RIG_CHECK(rig, charges == 1);
	n = rig_ledger(rig, &bills);
	if (f->charges_min != -1)
		RIG_CHECK(rig, n <= 1);
	for (i = 0; i < n; i++) {
		RIG_CHECK(rig, bills[i].mark == 1);
		if (is_done)
			ck_assert_str_eq(bills[i].request_id, rig_sql(rig,
			    "SELECT remote_request_id FROM "
			    "payonce.generation_task WHERE id = %lld",
			    (long long)task));
	}
	free(bills);
	if (is_parked)
		ck_assert_str_ne(rig_reason(rig, task), "");
	/* an orphan may begin its receipt when the row has moved on already */
	if (strcmp(f->action, "orphan") != 0)
		crash_wait_filed(task);
}

/*
 * However it ended, its receipts leave the open folder, once nobody writes to
 * them any more: else that folder grows for ever.  A receipt that the row
 * knows already has time until the next round, which a start brings nearer.
 */
static void
crash_wait_filed(int64_t task)
{
	char *path = rig_printf("%s/receipts/open", rig->hosts[0].state_dir);
	char *name = rig_printf("%lld.", (long long)task);
	int64_t start = rig_now_ms();
	struct dirent *de;
	bool is_open = true, is_restarted = false;
	DIR *dir;

	while (is_open) {
		if (!is_restarted && rig_now_ms() - start > 500) {
			is_restarted = true;
			rig_stop(rig);
			rig_start(rig);
		}
		if (rig_now_ms() - start > END_MS)
			RIG_FAIL(rig, "a receipt of task %lld is still in %s",
			    (long long)task, path);
		rig_pause_ms(20);
		is_open = false;
		dir = opendir(path);
		ck_assert_ptr_nonnull(dir);
		while ((de = readdir(dir)) != NULL)
			is_open |= strncmp(de->d_name, name, strlen(name)) == 0;
		(void)closedir(dir);
	}
}

static const struct fault *
crash_find(const char *action, const char *point)
{
	size_t i;

	for (i = 0; i < nfaults; i++)
		if (strcmp(faults[i].action, action) == 0 &&
		    strcmp(faults[i].point, point) == 0)
			return &faults[i];
	return NULL;
}

static bool
crash_names(const char *folder, const char *point)
{
	char *path = rig_printf("%s/%s", rig_srcdir(), folder);
	struct dirent *de;
	bool found = false;
	DIR *dir;

	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while (!found && (de = readdir(dir)) != NULL)
		if (strstr(de->d_name, ".c") != NULL)
			found = crash_file_names(rig_printf("%s/%s", path,
			    de->d_name), point);
	(void)closedir(dir);
	return found;
}

static bool
crash_file_names(const char *path, const char *point)
{
	char line[1024], *quoted = rig_printf("\"%s\"", point);
	bool found = false;
	FILE *f;

	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, quoted) != NULL;
	(void)fclose(f);
	return found;
}

/* Every INJECT("...") of a folder must be a row of the page. */
static void
crash_check_folder(const char *folder)
{
	char *path = rig_printf("%s/%s", rig_srcdir(), folder);
	char line[1024], point[40], *p;
	struct dirent *de;
	DIR *dir;
	FILE *f;

	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((de = readdir(dir)) != NULL) {
		if (strstr(de->d_name, ".c") == NULL)
			continue;
		f = fopen(rig_printf("%s/%s", path, de->d_name), "re");
		ck_assert_ptr_nonnull(f);
		while (fgets(line, sizeof(line), f) != NULL) {
			p = strstr(line, "INJECT");
			if (p == NULL || sscanf(p + strcspn(p, "("),
			    "(\"%39[a-z._]\"", point) != 1)
				continue;
			ck_assert_msg(crash_find("kill", point) != NULL,
			    "%s of %s/%s is not in doc/FAULTPOINTS.md",
			    point, folder, de->d_name);
		}
		(void)fclose(f);
	}
	(void)closedir(dir);
}

int
main(int argc, char **argv)
{
	Suite *s = suite_create("crash");
	TCase *tc;
	SRunner *sr;
	int failed;

	if (!rig_has_inject()) {
		puts("fault points are not compiled in (--enable-inject)");
		return 77;
	}
	pgtest_start(argc, argv);
	wanted = argc > 1 ? argv[1] : NULL;
	nfaults = fault_table_read(rig_printf("%s/doc/FAULTPOINTS.md",
	    rig_srcdir()), faults, FAULT_MAX);
	tc = tcase_create("page");
	tcase_add_test(tc, test_page_is_complete);
	suite_add_tcase(s, tc);
	tc = tcase_create("death");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_row, 0, (int)nfaults);
	suite_add_tcase(s, tc);
	tc = tcase_create("slow");
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_slow, 0, NSLOW);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? 0 : 1;
}
