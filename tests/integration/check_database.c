/*
 * check_database.c - the database goes away, comes back, sits behind a
 * pooler, is shared by two supervisors: nothing is paid twice, and nothing
 * stays behind.
 */
#include <sys/wait.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/pooler.h"
#include "tests/integration/suite.h"

#define TASK	"{\"mock\": {\"latency_ms\": 40, \"delay_ms\": 5}}"
#define OTHERS	"datname = current_database() AND pid <> pg_backend_pid() " \
	"AND application_name LIKE 'payonced%%'"

static void	database_enqueue(const char *kind, int count);
static void	database_wait_all(int64_t count, int timeout_ms);

/* Every connection is cut again and again while the queue is full. */
START_TEST(test_terminated_in_a_loop)
{
	int64_t end;

	rig->lenient_log = true;
	rig_start(rig);
	database_enqueue("image", 60);
	database_enqueue("pred", 30);
	end = rig_now_ms() + 4000;
	while (rig_now_ms() < end) {
		(void)rig_sql(rig, "SELECT count(pg_terminate_backend(pid)) "
		    "FROM pg_stat_activity WHERE " OTHERS);
		rig_pause_ms(60);
	}
	database_wait_all(90, 40000);
	ck_assert_int_eq(rig_count_charges(rig, 0), 90);
}
END_TEST

/* A restart of the server in the middle of it. */
START_TEST(test_restart)
{
	rig->lenient_log = true;
	rig_start(rig);
	database_enqueue("image", 40);
	rig_wait_posts(rig, 0, 8, 10000);
	rig_pg_ctl(rig, "restart");
	PQreset(rig->db);
	database_wait_all(40, 40000);
	ck_assert_int_eq(rig_count_charges(rig, 0), 40);
}
END_TEST

/*
 * The database is away for three leases.  A submitter that has not sent must
 * not send; one that has sent keeps its answer.
 */
START_TEST(test_away_for_three_leases)
{
	int64_t sent, unsent;

	rig->lenient_log = true;
	rig_start(rig);
	sent = rig_enqueue(rig, "pred", "{\"mock\": {\"delay_ms\": 1000}}");
	rig_wait_posts(rig, sent, 1, 10000);
	if (rig_has_inject())
		rig_inject(rig, "submit.before_mark", "delay 500");
	unsent = rig_enqueue(rig, "image", NULL);
	if (rig_has_inject())
		(void)rig_wait_taken(rig, "submit.before_mark", 10000);
	rig_pg_ctl(rig, "crash");
	rig_pause_ms(3 * rig->lease_s * 1000);	/* the outage itself */
	if (rig_has_inject())
		ck_assert_int_eq(rig_count_posts(rig, unsent), 0);
	rig_pg_ctl(rig, "start");
	PQreset(rig->db);
	rig_wait_status(rig, sent, "SUCCEEDED", 30000);
	rig_wait_status(rig, unsent, "SUCCEEDED", 30000);
	ck_assert_int_eq(rig_count_posts(rig, sent), 1);
	ck_assert_int_eq(rig_count_posts(rig, unsent), 1);
}
END_TEST

/* Only the listening connection dies: work is found all the same. */
START_TEST(test_listener_terminated)
{
	int64_t task;

	rig->lenient_log = true;
	rig_start(rig);
	task = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	(void)rig_sql(rig, "SELECT count(pg_terminate_backend(pid)) FROM "
	    "pg_stat_activity WHERE " OTHERS " AND query ILIKE 'LISTEN%%'");
	task = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
}
END_TEST

/* Two hosts on one database share the work, and no task is done twice. */
START_TEST(test_two_supervisors)
{
	rig_spawn_host(rig, 0);
	rig_spawn_host(rig, 1);
	rig_wait_ready(rig, 0, 20000);
	rig_wait_ready(rig, 1, 20000);
	database_enqueue("image", 80);
	database_enqueue("clip", 20);
	database_wait_all(100, 40000);
	ck_assert_int_eq(rig_count_posts(rig, 0), 100);
	ck_assert_int_eq(rig_count_charges(rig, 0), 100);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(DISTINCT host) FROM "
	    "payonce.task_event WHERE to_status = 'SUBMITTED'"), 2);
}
END_TEST

/* One of two hosts dies with its whole tree: the other takes over. */
START_TEST(test_host_lost)
{
	pid_t pids[64];
	size_t i, n;

	rig->lenient_log = true;
	rig_start_host(rig, 0);
	for (i = 0; i < 8; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": "
		    "1500}}");
	rig_wait_sql(rig, 10000, "SELECT count(*) >= 4 FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'");
	n = rig_list_workers(rig, "", pids, 64);
	rig_kill(rig);
	for (i = 0; i < n; i++)
		(void)kill(pids[i], SIGKILL);	/* it may have left by now */
	rig_start_host(rig, 1);
	rig_wait_sql(rig, 30000, "SELECT count(*) = 0 FROM "
	    "payonce.generation_task WHERE status IN ('PENDING', 'RUNNING', "
	    "'SUBMITTED')");
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'"), 8);
	ck_assert_int_eq(rig_count_charges(rig, 0), 8);
}
END_TEST

/* A start of both at the same moment, on a full queue, again and again. */
START_TEST(test_two_starts_at_once)
{
	int i, round;

	rig->lenient_log = true;
	for (round = 0; round < 4; round++) {
		database_enqueue("image", 12);
		rig_spawn_host(rig, 0);
		rig_spawn_host(rig, 1);
		rig_wait_posts(rig, 0, round * 12 + 4, 15000);
		for (i = 0; i < 2; i++) {
			(void)kill(rig->hosts[i].pid, SIGKILL);
			(void)rig_wait_exit(rig, i, 5000);
		}
	}
	rig_start_host(rig, 0);
	rig_start_host(rig, 1);
	rig_wait_sql(rig, 40000, "SELECT count(*) = 48 FROM "
	    "payonce.generation_task WHERE status IN ('SUCCEEDED', "
	    "'OUTCOME_UNKNOWN')");
}
END_TEST

/* Through a pooler in transaction mode: LISTEN is lost, polling is not. */
START_TEST(test_pgbouncer)
{
	struct pooler pooler;

	if (pooler_start(rig, &pooler) != 0) {
		puts("pgbouncer is not installed");
		return;
	}
	rig->lenient_log = true;
	rig->database = pooler.conninfo;
	rig_start(rig);
	database_enqueue("image", 20);
	database_wait_all(20, 40000);
	ck_assert_int_eq(rig_count_charges(rig, 0), 20);
	rig_stop(rig);
	pooler_stop(&pooler);
}
END_TEST

static void
database_enqueue(const char *kind, int count)
{
	(void)rig_sql(rig, "SELECT count(payonce.enqueue('%s', '%s')) FROM "
	    "generate_series(1, %d)", kind, TASK, count);
}

static void
database_wait_all(int64_t count, int timeout_ms)
{
	rig_wait_sql(rig, timeout_ms, "SELECT count(*) = %lld FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'",
	    (long long)count);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_terminated_in_a_loop, test_restart,
		test_away_for_three_leases,
		test_listener_terminated, test_two_supervisors,
		test_host_lost, test_two_starts_at_once, test_pgbouncer,
	};

	return suite_run(argc, argv, "database", tests, SUITE_COUNT(tests),
	    90);
}
