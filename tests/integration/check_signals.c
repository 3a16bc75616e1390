/*
 * check_signals.c - what an operator does to a running payonced: reload,
 * stop, ask for its state, start it twice; and what a stopped worker does.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/suite.h"

#define SLOW	"{\"mock\": {\"latency_ms\": 60000}}"

static void	signals_hup(const char *kinds);
static void	signals_wait_in_flight(int64_t count, int timeout_ms);
static int	signals_run_payonced(const char *a, const char *b,
		    const char *path, char **ret_out);

/* SIGHUP: a higher limit claims more at once, a lower one kills nothing. */
START_TEST(test_reload_limits)
{
	int i;

	rig->kinds = KIND_FAL("image", 1, "");
	for (i = 0; i < 5; i++)
		(void)rig_enqueue(rig, "image", SLOW);
	rig_start(rig);
	signals_wait_in_flight(1, 10000);
	signals_hup(KIND_FAL("image", 3, ""));
	signals_wait_in_flight(3, 10000);
	signals_hup(KIND_FAL("image", 2, ""));
	rig_wait_sql(rig, 10000, "SELECT kinds::text LIKE '%%2%%' FROM "
	    "payonce.host");
	signals_wait_in_flight(3, 1000);
	ck_assert_int_eq(rig_count_posts(rig, 0), 3);
	signals_hup(KIND_FAL("image", 5, ""));
	signals_wait_in_flight(5, 10000);
}
END_TEST

/* A broken file is refused with its line and changes nothing. */
START_TEST(test_reload_broken)
{
	int64_t task;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 1, "");
	rig_start(rig);
	signals_hup("kind image { provider = nobody concurrency = 1 }\n");
	rig_wait_log(rig, 5000, "payonce0\\.conf:[0-9]+");
	task = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
}
END_TEST

/* SIGTERM lets what is sent finish; polls go on after the next start. */
START_TEST(test_term_with_requests_in_flight)
{
	int i;

	rig_start(rig);
	for (i = 0; i < 4; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": "
		    "1500, \"latency_ms\": 3000}}");
	rig_wait_sql(rig, 10000, "SELECT count(submit_started_at) = 4 FROM "
	    "payonce.generation_task");
	rig_stop(rig);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'"), 4);
	ck_assert_int_eq(rig_count_posts(rig, 0), 4);
	rig_start(rig);
	rig_wait_sql(rig, 15000, "SELECT count(*) = 4 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_posts(rig, 0), 4);
}
END_TEST

/* stop_timeout is shorter than the answer: its receipt is applied later. */
START_TEST(test_term_in_a_hurry)
{
	int i;

	rig->lenient_log = true;
	rig->stop_timeout_s = 1;
	rig_start(rig);
	for (i = 0; i < 3; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": "
		    "4000}}");
	rig_wait_sql(rig, 10000, "SELECT count(submit_started_at) = 3 FROM "
	    "payonce.generation_task");
	rig_stop(rig);
	rig_start(rig);
	rig_wait_sql(rig, 25000, "SELECT count(*) = 3 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_posts(rig, 0), 3);
}
END_TEST

START_TEST(test_second_supervisor_is_refused)
{
	char *out;
	int rc;

	rig_start(rig);
	rc = signals_run_payonced("-f", "-c", rig->hosts[0].conf, &out);
	ck_assert_int_ne(rc, 0);
	ck_assert_int_lt(rc, 128);
	ck_assert_msg(strstr(out, "state0") != NULL || strstr(out, "run0") !=
	    NULL, "it does not say what is taken: %s", out);
	rig_wait_status(rig, rig_enqueue(rig, "image", NULL), "SUCCEEDED",
	    10000);
	free(out);
}
END_TEST

START_TEST(test_check_configuration)
{
	char *bad = rig_printf("%s/bad.conf", rig->dir), *out;

	rig_write_conf(rig, 0);
	ck_assert_int_eq(signals_run_payonced("-t", "-c", rig->hosts[0].conf,
	    &out), 0);
	free(out);
	rig_write_file(rig, bad, "lease = soon\n", 0644);
	ck_assert_int_ne(signals_run_payonced("-t", "-c", bad, &out), 0);
	ck_assert_msg(strstr(out, "bad.conf:1") != NULL, "no line: %s", out);
	free(out);
}
END_TEST

START_TEST(test_usr1_logs_the_state)
{
	rig_start(rig);
	(void)rig_enqueue(rig, "image", SLOW);
	rig_wait_sql(rig, 10000, "SELECT status = 'SUBMITTED' FROM "
	    "payonce.generation_task");
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGUSR1), 0);
	rig_wait_log(rig, 5000, "image.*(1|in flight)");
}
END_TEST

/* A stopped worker is found out, killed, and its tasks go on. */
START_TEST(test_stopped_poll_worker)
{
	int64_t task;
	pid_t pid;

	rig->lenient_log = true;
	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": "
	    "400}}");
	rig_wait_status(rig, task, "SUBMITTED", 10000);
	/* its title: it has said HELLO, so its silence is measured */
	pid = rig_wait_worker(rig, "image poll", 5000);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	rig_wait_gone(rig, pid, 10000);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
}
END_TEST

/* Stopped with its request out: killed, and parked, for nobody knows. */
START_TEST(test_stopped_submit_worker)
{
	int64_t task;
	pid_t pid;

	rig->lenient_log = true;
	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": 500}}");
	rig_wait_posts(rig, task, 1, 10000);
	pid = rig_wait_worker(rig, "image submit", 5000);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	rig_wait_gone(rig, pid, 10000);
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
}
END_TEST

/*
 * A supervisor that was stopped has not listened: its workers' beats and
 * answers lie in their sockets.  They are heard, not killed.
 */
START_TEST(test_stopped_supervisor)
{
	int64_t sent, polled;

	rig->lenient_log = true;
	rig_start(rig);
	polled = rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": "
	    "1000}}");
	rig_wait_status(rig, polled, "SUBMITTED", 10000);
	sent = rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": "
	    "800}}");
	rig_wait_posts(rig, sent, 1, 10000);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGSTOP), 0);
	rig_pause_ms(5 * rig->lease_s * 1000 / 2);	/* the stop itself */
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGCONT), 0);
	rig_wait_log(rig, 5000, "was away");
	rig_wait_status(rig, sent, "SUCCEEDED", 15000);
	rig_wait_status(rig, polled, "SUCCEEDED", 15000);
	ck_assert_int_eq(rig_count_posts(rig, 0), 2);
	ck_assert_int_eq(rig_count_log(rig, "no heartbeat"), 0);
}
END_TEST

/* Every worker of an idle system dies: none of it matters. */
START_TEST(test_dead_idle_workers)
{
	pid_t pids[16];
	int64_t first, second;
	size_t i, n;

	rig->lenient_log = true;
	rig_start(rig);
	first = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, first, "SUCCEEDED", 10000);
	n = rig_list_workers(rig, "", pids, 16);
	ck_assert_uint_ge(n, 2);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
	second = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, second, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_charges(rig, second), 1);
}
END_TEST

/* A receipt that makes no sense is kept, told of once, and stops nothing. */
START_TEST(test_damaged_receipt)
{
	char *dir;
	int64_t task;

	rig_allow(rig, "1 damaged receipts were set aside, the first is "
	    ".*/receipts/damaged/7000\\.1");
	rig_start(rig);
	ck_assert_int_eq(rig_count_log(rig, "damaged"), 0);
	rig_stop(rig);
	dir = rig_printf("%s/receipts", rig->hosts[0].state_dir);
	rig_write_file(rig, rig_printf("%s/open/7000.1", dir),
	    "{\"v\":1,\"event\":\"intent\"}\n", 0640);
	rig_start(rig);
	task = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_log(rig, "damaged receipts were set"), 1);
	ck_assert_int_eq(access(rig_printf("%s/damaged/7000.1", dir), R_OK),
	    0);
}
END_TEST

static void
signals_hup(const char *kinds)
{
	rig->kinds = kinds;
	rig_write_conf(rig, 0);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGHUP), 0);
}

static void
signals_wait_in_flight(int64_t count, int timeout_ms)
{
	rig_wait_sql(rig, timeout_ms, "SELECT count(*) = %lld FROM "
	    "payonce.generation_task WHERE status IN ('RUNNING', "
	    "'SUBMITTED')", (long long)count);
	rig_wait_posts(rig, 0, (int)count, timeout_ms);
}

static int
signals_run_payonced(const char *a, const char *b, const char *path,
    char **ret_out)
{
	const char *argv[] = { "/bin/sh", "-c", "exec \"$0\" \"$@\" 2>&1",
	    rig_printf("%s/payonced", rig_builddir()), a, b, path,
	    NULL };

	return rig_run(rig, argv, ret_out);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_reload_limits, test_reload_broken,
		test_term_with_requests_in_flight, test_term_in_a_hurry,
		test_second_supervisor_is_refused, test_check_configuration,
		test_usr1_logs_the_state, test_stopped_poll_worker,
		test_stopped_submit_worker, test_stopped_supervisor,
		test_dead_idle_workers, test_damaged_receipt,
	};

	return suite_run(argc, argv, "signals", tests, SUITE_COUNT(tests), 60);
}
