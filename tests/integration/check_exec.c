/*
 * check_exec.c - local programs: their ends, their leases, and that nothing
 * of them outlives its worker, its supervisor or its cancel.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/num.h"
#include "tests/integration/suite.h"

#define TREE_PIDS	5	/* the program, three children, a grandchild */

static char	*job_log(void);
static int64_t	 job_run(const char *words);
static size_t	 job_pids(const char *log, pid_t *, size_t max);
static int	 job_starts(const char *log);
static int64_t	 job_run_tree(pid_t pids[TREE_PIDS], pid_t *ret_worker);
static void	 job_expect_dead(const pid_t *, size_t);

START_TEST(test_ok)
{
	int64_t task = job_run("\"do\": \"ok\"");

	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_str_ne(rig_sql(rig, "SELECT result FROM "
	    "payonce.generation_task WHERE id = %lld AND result::text LIKE "
	    "'%%\"ok\": true%%'", (long long)task), "");
	ck_assert_int_eq(rig_count_posts(rig, 0), 0);
}
END_TEST

/* The program reads the task as JSON; a child task sees its parents. */
START_TEST(test_stdin_and_parents)
{
	int64_t parent = job_run("\"do\": \"ok\""), child;

	child = rig_sql_int(rig, "SELECT payonce.enqueue('render', "
	    "'{\"do\": \"echo\"}', after => ARRAY[%lld]::bigint[])",
	    (long long)parent);
	rig_wait_status(rig, child, "SUCCEEDED", 10000);
	ck_assert_str_ne(rig_sql(rig, "SELECT result FROM "
	    "payonce.generation_task WHERE id = %lld AND result::text LIKE "
	    "'%%\"do\": \"echo\"%%' AND result::text LIKE '%%parents%%' AND "
	    "result::text LIKE '%%\"ok\": true%%'", (long long)child), "");
}
END_TEST

START_TEST(test_failure)
{
	int64_t task = job_run("\"do\": \"fail\"");

	rig_wait_status(rig, task, "FAILED", 10000);
	ck_assert_str_ne(rig_reason(rig, task), "");
	ck_assert_str_ne(rig_sql(rig, "SELECT detail FROM "
	    "payonce.generation_task WHERE id = %lld AND detail LIKE "
	    "'%%torn%%'", (long long)task), "");
}
END_TEST

START_TEST(test_tempfail)
{
	char *log = job_log();
	int64_t task = job_run(rig_printf("\"do\": \"tempfail\", \"log\": "
	    "\"%s\"", log));

	rig->lenient_log = true;
	rig_wait_status(rig, task, "SUCCEEDED", 20000);
	ck_assert_int_eq(job_starts(log), 2);
}
END_TEST

START_TEST(test_timeout)
{
	pid_t pid;
	int64_t task;
	char *log = job_log();

	rig->lenient_log = true;
	rig->kinds = rig_printf("kind render { command = {\"%s/tests/"
	    "integration/job\"} concurrency = 1 timeout = 1 }\n",
	    rig_srcdir());
	task = job_run(rig_printf("\"do\": \"hang\", \"log\": \"%s\"", log));
	rig_wait_status(rig, task, "FAILED", 10000);
	ck_assert_str_eq(rig_reason(rig, task), "timeout");
	ck_assert_uint_eq(job_pids(log, &pid, 1), 1);
	job_expect_dead(&pid, 1);
}
END_TEST

/* Many leases long: renewed all the time, started once. */
START_TEST(test_long_run_keeps_its_lease)
{
	char *log = job_log();
	int64_t task = job_run(rig_printf("\"do\": \"ok\", \"s\": \"7\", "
	    "\"log\": \"%s\"", log));

	rig_wait_sql(rig, 5000, "SELECT progress > 0 FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task);
	rig_wait_status(rig, task, "SUCCEEDED", 20000);
	ck_assert_int_eq(job_starts(log), 1);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT requeues FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task), 0);
}
END_TEST

START_TEST(test_cancel_kills_the_tree)
{
	pid_t pids[TREE_PIDS], worker;
	int64_t task = job_run_tree(pids, &worker);

	ck_assert_str_eq(rig_sql(rig, "SELECT payonce.cancel(%lld)",
	    (long long)task), "requested");
	rig_wait_status(rig, task, "CANCELED", 10000);
	job_expect_dead(pids, TREE_PIDS);
}
END_TEST

START_TEST(test_worker_death_kills_the_tree)
{
	pid_t pids[TREE_PIDS], worker;
	int64_t task;

	rig->lenient_log = true;
	task = job_run_tree(pids, &worker);
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	job_expect_dead(pids, TREE_PIDS);
	/* it runs again: a crash is not its fault */
	rig_wait_sql(rig, 10000, "SELECT status = 'RUNNING' AND requeues = 1 "
	    "FROM payonce.generation_task WHERE id = %lld", (long long)task);
	(void)rig_sql(rig, "SELECT payonce.cancel(%lld)", (long long)task);
	rig_wait_status(rig, task, "CANCELED", 10000);
}
END_TEST

START_TEST(test_supervisor_death_kills_the_tree)
{
	pid_t pids[TREE_PIDS], worker;
	int64_t task;

	rig->lenient_log = true;
	task = job_run_tree(pids, &worker);
	rig_kill(rig);
	job_expect_dead(pids, TREE_PIDS);
	rig_wait_gone(rig, worker, 10000);
	rig_start(rig);
	rig_wait_status(rig, task, "RUNNING", 10000);
	(void)rig_sql(rig, "SELECT payonce.cancel(%lld)", (long long)task);
	rig_wait_status(rig, task, "CANCELED", 10000);
}
END_TEST

/* A program that kills its worker each time must not loop for ever. */
START_TEST(test_max_requeues)
{
	char *log = job_log();
	int64_t task;

	rig->lenient_log = true;
	task = job_run(rig_printf("\"do\": \"killparent\", \"log\": \"%s\"",
	    log));
	rig_wait_status(rig, task, "FAILED", 40000);
	ck_assert_str_eq(rig_reason(rig, task), "max_requeues");
	ck_assert_int_eq(job_starts(log), 4);
}
END_TEST

static char *
job_log(void)
{
	static int n;

	return rig_printf("%s/job%d.log", rig->work_dir, n++);
}

static int64_t
job_run(const char *words)
{
	if (rig->hosts[0].pid == 0)
		rig_start(rig);
	return rig_enqueue(rig, "render", rig_printf("{%s}", words));
}

/* Every process of the tree has written its number before this returns. */
static int64_t
job_run_tree(pid_t pids[TREE_PIDS], pid_t *ret_worker)
{
	char *log = job_log();
	int64_t end = rig_now_ms() + 10000;
	int64_t task;

	task = job_run(rig_printf("\"do\": \"tree\", \"log\": \"%s\"", log));
	while (job_pids(log, pids, TREE_PIDS) < TREE_PIDS) {
		if (rig_now_ms() >= end)
			RIG_FAIL(rig, "the tree did not grow: %s", log);
		rig_pause_ms(5);
	}
	*ret_worker = rig_wait_worker(rig, "exec", 1000);
	return task;
}

static size_t
job_pids(const char *log, pid_t *ret, size_t max)
{
	char line[128], *p;
	int64_t pid;
	size_t n = 0;
	FILE *f;

	f = fopen(log, "re");
	if (f == NULL)
		return 0;
	while (n < max && fgets(line, sizeof(line), f) != NULL) {
		if (strchr(line, '\n') == NULL)
			break;
		line[strcspn(line, "\n")] = '\0';
		p = strchr(line, ' ');
		if (p != NULL && num_parse_i64(p + 1, 2, INT32_MAX,
		    &pid) == 0)
			ret[n++] = (pid_t)pid;
	}
	(void)fclose(f);
	return n;
}

static int
job_starts(const char *log)
{
	char line[128];
	int n = 0;
	FILE *f;

	f = fopen(log, "re");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, "start ", 6) == 0)
			n++;
	(void)fclose(f);
	return n;
}

static void
job_expect_dead(const pid_t *pids, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		rig_wait_gone(rig, pids[i], 8000);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_ok, test_stdin_and_parents, test_failure, test_tempfail,
		test_timeout, test_long_run_keeps_its_lease,
		test_cancel_kills_the_tree, test_worker_death_kills_the_tree,
		test_supervisor_death_kills_the_tree, test_max_requeues,
	};

	return suite_run(argc, argv, "exec", tests, SUITE_COUNT(tests), 60);
}
