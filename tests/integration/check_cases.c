/*
 * check_cases.c - reports of people who paid twice, lost a result or watched
 * a zombie, each as a test.  A rig checks after every test that nothing was
 * charged twice and that every charge is on a row or in a receipt.
 *
 * row	where it is tested
 * B01	check_hostile: reset_after_reading, closed_after_reading
 * B02	here
 * B04	check_hostile: test_statuses; check_submit: test_unanswered
 * B06	check_paid: test_poll_deadline; check_hostile_poll: *_for_ever
 * B07	here
 * B08	here
 * B10	check_crash: poll.done and poll.fetched, killed one by one
 * B13	check_crash: stop at submit.*; check_worker_submit: test_dead_man
 * B14	check_database: test_away_for_three_leases
 * B15	check_submit: test_answer_after_many_leases
 * B18	rig_laws.c, after every test: one last event per task
 * B19	check_database: test_two_starts_at_once, test_two_supervisors
 * B22	tests/bench measures claims; an old snapshot has its later issue
 * B23	check_database: test_listener_terminated, test_pgbouncer
 * B26	check_exec: a job that kills its worker ends by max_requeues
 * B27	here
 * B29	check_signals: test_term_*; the second SIGTERM here
 * B31	the failover of a whole server has its later issue
 * B32	here; check_paid: test_artifact_gone
 * B33	check_hostile_poll: moderated, code_400, done_with_*, unlisted*
 * B34	check_hostile_poll; check_hostile_hold: test_key_refused_at_the_poll
 * B35	here
 * B37	check_cancel; the provider's own cancel has its later issue
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/suite.h"

static pid_t	cases_proxy(int cut_ms, int *ret_port);
static void	cases_relay(int client, int cut_ms);
static int	cases_connect(int port);
static char	*cases_cli(const char *a, const char *b);
static void	cases_kill_group(void);

/* A proxy cuts what lasts; the client must not ask again. */
START_TEST(test_B02_proxy_cuts_slow_answers)
{
	struct rig_bill *bills;
	int port = 0, i;
	size_t n;
	pid_t pid;

	rig->lenient_log = true;
	pid = cases_proxy(500, &port);
	rig->fal_base = rig_printf("http://127.0.0.1:%d/fal", port);
	rig->kinds = "kind image { provider = fal model = \"fal-ai/flux/dev\""
	    " concurrency = 2 breaker = 3 }\n";
	for (i = 0; i < 20; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": "
		    "1000}}");
	rig_start(rig);
	rig_wait_sql(rig, 15000, "SELECT EXISTS (SELECT FROM "
	    "payonce.kind_hold WHERE kind = 'image' AND reason = "
	    "'breaker')");
	rig_wait_sql(rig, 5000, "SELECT count(*) = 0 FROM "
	    "payonce.generation_task WHERE status = 'RUNNING'");
	n = rig_ledger(rig, &bills);
	ck_assert_uint_ge(n, 3);
	ck_assert_uint_le(n, 5);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'OUTCOME_UNKNOWN'"),
	    (int64_t)n);
	/* the provider's list has the ids: every result is brought */
	while (n-- > 0)
		(void)rig_sql(rig, "SELECT payonce.resolve(%lld, 'adopt', "
		    "'ann', 'from the list', request_id => '%s')",
		    (long long)bills[n].task, bills[n].request_id);
	free(bills);
	rig_wait_sql(rig, 15000, "SELECT count(*) FILTER (WHERE status = "
	    "'SUCCEEDED') >= 3 AND count(*) FILTER (WHERE status NOT IN "
	    "('SUCCEEDED', 'PENDING')) = 0 FROM payonce.generation_task");
	rig_stop(rig);
	(void)kill(pid, SIGKILL);
	rig_wait_gone(rig, pid, 5000);
}
END_TEST

/* Not only "pay again": the id, its URL and how to go on stand there. */
START_TEST(test_B07_what_a_parked_task_shows)
{
	int64_t task;
	char *out, *id;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 4, "poll_deadline = 1");
	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"never\": true}}");
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	id = rig_sql(rig, "SELECT remote_request_id FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task);
	out = cases_cli("show", rig_printf("%lld", (long long)task));
	ck_assert_msg(*id != '\0' && strstr(out, id) != NULL &&
	    strstr(out, "adopt") != NULL && strstr(out, "/status") != NULL,
	    "payonce show: %s", out);
	/* nothing pays again by itself */
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	(void)rig_sql(rig, "SELECT payonce.resolve(%lld, 'requeue', 'ann', "
	    "'their support says it is dead')", (long long)task);
	rig_wait_posts(rig, task, 2, 10000);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT attempt FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task), 2);
}
END_TEST

/* Everything killed at once: what runs there is polled, nothing is bought. */
START_TEST(test_B08_all_killed_at_once)
{
	int64_t sent[3];
	int i;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 12, "");
	rig_start(rig);
	for (i = 0; i < 9; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": "
		    "3000}}");
	rig_wait_sql(rig, 15000, "SELECT count(*) = 9 FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'");
	for (i = 0; i < 3; i++)
		sent[i] = rig_enqueue(rig, "image", "{\"mock\": "
		    "{\"delay_ms\": 5000}}");
	rig_wait_posts(rig, 0, 12, 10000);
	cases_kill_group();
	rig_start(rig);
	rig_wait_sql(rig, 20000, "SELECT count(*) = 9 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	for (i = 0; i < 3; i++)
		rig_wait_status(rig, sent[i], "OUTCOME_UNKNOWN", 10000);
	ck_assert_int_eq(rig_count_posts(rig, 0), 12);
}
END_TEST

/* A slot comes back when its worker dies, once, and not before. */
START_TEST(test_B27_slots_of_dead_workers)
{
	pid_t pids[16];
	int64_t flight;
	size_t n;
	int i;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 3, "");
	for (i = 0; i < 60; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": "
		    "150}}");
	rig_start(rig);
	for (i = 0; i < 25; i++) {
		n = rig_list_workers(rig, "", pids, 16);
		if (n > 0)
			(void)kill(pids[(size_t)i % n], SIGKILL);
		flight = rig_sql_int(rig, "SELECT count(*) FROM "
		    "payonce.generation_task WHERE status IN ('RUNNING', "
		    "'SUBMITTED')");
		ck_assert_int_le(flight, 3);
		rig_pause_ms(20);	/* between two shots */
	}
	rig_wait_sql(rig, 30000, "SELECT count(*) FILTER (WHERE status IN "
	    "('RUNNING', 'SUBMITTED')) = 3 OR count(*) FILTER (WHERE status "
	    "= 'PENDING') = 0 FROM payonce.generation_task");
	rig_wait_sql(rig, 40000, "SELECT count(*) = 0 FROM "
	    "payonce.generation_task WHERE status NOT IN ('SUCCEEDED', "
	    "'OUTCOME_UNKNOWN')");
}
END_TEST

/* A second SIGTERM of an impatient operator loses no answer. */
START_TEST(test_B29_second_term)
{
	int i;

	rig->lenient_log = true;
	rig_start(rig);
	for (i = 0; i < 4; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": "
		    "1500}}");
	rig_wait_posts(rig, 0, 4, 10000);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGTERM), 0);
	rig_wait_log(rig, 5000, "stop");
	(void)kill(rig->hosts[0].pid, SIGTERM);
	(void)rig_wait_exit(rig, 0, 20000);
	rig_start(rig);
	rig_wait_sql(rig, 20000, "SELECT count(*) = 4 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_posts(rig, 0), 4);
}
END_TEST

/* The URL died before the download: a fresh one is asked for. */
START_TEST(test_B32_expired_download)
{
	int64_t task;

	rig->lenient_log = true;
	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"artifact\": "
	    "\"gone_once\"}}");
	rig_wait_status(rig, task, "SUCCEEDED", 20000);
	ck_assert_str_eq(rig_sql(rig, "SELECT (a->>'lost' IS NULL AND "
	    "length(a->>'sha256') = 64)::text FROM (SELECT "
	    "result->'artifacts'->0 AS a FROM payonce.generation_task WHERE "
	    "id = %lld) t", (long long)task), "true");
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
}
END_TEST

/* Another provider for the kind: what may be paid stays with the first. */
START_TEST(test_B35_no_fallback)
{
	int64_t parked, next;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 2, "");
	rig_start(rig);
	parked = rig_enqueue(rig, "image", "{\"mock\": {\"submit\": "
	    "\"drop_after_read\"}}");
	rig_wait_status(rig, parked, "OUTCOME_UNKNOWN", 10000);
	rig->kinds = "kind image { provider = replicate model = \"acme/flux\""
	    " concurrency = 2 }\n";
	rig_write_conf(rig, 0);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGHUP), 0);
	rig_wait_log(rig, 5000, "reload");
	next = rig_enqueue(rig, "image", NULL);
	rig_wait_status(rig, next, "SUCCEEDED", 10000);
	ck_assert_str_eq(rig_sql(rig, "SELECT provider FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)next),
	    "replicate");
	ck_assert_str_eq(rig_sql(rig, "SELECT provider || status::text FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)parked),
	    "falOUTCOME_UNKNOWN");
	ck_assert_int_eq(rig_count_posts(rig, parked), 1);
}
END_TEST

/* cases_proxy() passes bytes on to the mock, for cut_ms per connection. */
static pid_t
cases_proxy(int cut_ms, int *ret_port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd, client;
	pid_t pid;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*ret_port = ntohs(sin.sin_port);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid != 0) {
		(void)close(fd);
		return pid;
	}
	(void)signal(SIGCHLD, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	for (;;) {
		client = accept(fd, NULL, NULL);
		if (client != -1 && fork() == 0) {
			cases_relay(client, cut_ms);
			_exit(0);
		}
		if (client != -1)
			(void)close(client);
	}
}

static void
cases_relay(int client, int cut_ms)
{
	struct pollfd p[2] = {
		{ .fd = client, .events = POLLIN },
		{ .fd = cases_connect(rig->mock_port), .events = POLLIN },
	};
	int64_t end = rig_now_ms() + cut_ms, left;
	char data[8192];
	ssize_t n;
	int i;

	while ((left = end - rig_now_ms()) > 0) {
		if (poll(p, 2, (int)left) <= 0)
			continue;
		for (i = 0; i < 2; i++) {
			if (p[i].revents == 0)
				continue;
			n = read(p[i].fd, data, sizeof(data));
			if (n <= 0 || write(p[1 - i].fd, data, (size_t)n) != n)
				return;
		}
	}
}

static int
cases_connect(int port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd;

	sin.sin_port = htons((uint16_t)port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sin,
	    sizeof(sin)) == -1)
		_exit(1);
	return fd;
}

static char *
cases_cli(const char *a, const char *b)
{
	const char *argv[] = { rig_printf("%s/payonce", rig_builddir()),
	    "-d", rig->conninfo, a, b, NULL };
	char *out = NULL, *kept;

	ck_assert_int_eq(rig_run(rig, argv, &out), 0);
	kept = rig_printf("%s", out != NULL ? out : "");
	free(out);
	return kept;
}

/* The supervisor first: nothing is left that could see a worker die. */
static void
cases_kill_group(void)
{
	pid_t pids[32];
	size_t i, n;

	n = rig_list_workers(rig, "", pids, 32);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGKILL), 0);
	for (i = 0; i < n; i++)
		(void)kill(pids[i], SIGKILL);
	(void)rig_wait_exit(rig, 0, 5000);
	for (i = 0; i < n; i++)
		rig_wait_gone(rig, pids[i], 5000);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_B02_proxy_cuts_slow_answers,
		test_B07_what_a_parked_task_shows,
		test_B08_all_killed_at_once, test_B27_slots_of_dead_workers,
		test_B29_second_term, test_B32_expired_download,
		test_B35_no_fallback,
	};

	return suite_run(argc, argv, "cases", tests, SUITE_COUNT(tests), 60);
}
