/*
 * check_submit.c - every way in which a submit may go wrong: what is proof
 * of a refusal moves the task, everything else parks it, and no answer ever
 * makes a second POST.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/suite.h"

#define NO_BREAKER	KIND_FAL("image", 4, "")

static int64_t	submit_run(const char *mock);
static void	submit_expect_parked(const char *mock, const char *reason,
		    int charges);

/* No answer, or one that says nothing: one POST each, all parked. */
START_TEST(test_unanswered)
{
	static const char *const behaviours[] = {
		"drop_after_read", "drop_mid_answer", "garbage", "empty",
		"html_200", "status:408", "status:409", "status:425",
		"status:500", "status:502", "status:503", "status:504",
		"status:520", "status:524", "redirect:302", "redirect:307",
		"redirect:308",
	};
	int64_t tasks[SUITE_COUNT(behaviours)];
	size_t i;

	rig->lenient_log = true;
	rig->kinds = NO_BREAKER;
	rig_start(rig);
	for (i = 0; i < SUITE_COUNT(behaviours); i++)
		tasks[i] = rig_enqueue(rig, "image", rig_printf("{\"mock\": "
		    "{\"submit\": \"%s\"}}", behaviours[i]));
	for (i = 0; i < SUITE_COUNT(behaviours); i++) {
		rig_wait_status(rig, tasks[i], "OUTCOME_UNKNOWN", 15000);
		ck_assert_msg(rig_count_posts(rig, tasks[i]) == 1,
		    "%s: %d posts", behaviours[i],
		    rig_count_posts(rig, tasks[i]));
		ck_assert_str_ne(rig_reason(rig, tasks[i]), "");
	}
}
END_TEST

/* The connection was cut before a byte was read: sent all the same. */
START_TEST(test_drop_before_read)
{
	int64_t task;

	rig->lenient_log = true;
	rig->kinds = NO_BREAKER;
	task = submit_run("\"submit\": \"drop_before_read\"");
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	ck_assert_int_le(rig_count_posts(rig, task), 1);
}
END_TEST

START_TEST(test_no_id)
{
	submit_expect_parked("\"submit\": \"no_id\"", "accepted_without_id",
	    1);
}
END_TEST

/* The provider never answers: the request's own timeout parks the task. */
START_TEST(test_hang)
{
	rig->fal_more = "submit { timeout = 1 }";
	submit_expect_parked("\"submit\": \"hang\"", NULL, 1);
}
END_TEST

/* An answer far later than the lease: one POST, one claim, a renewed lease */
START_TEST(test_answer_after_many_leases)
{
	int64_t task;

	task = submit_run("\"delay_ms\": 7000");
	rig_wait_status(rig, task, "SUCCEEDED", 20000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT requeues FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task), 0);
}
END_TEST

START_TEST(test_rejected)
{
	int64_t task;

	task = submit_run("\"submit\": \"status:422\"");
	rig_wait_status(rig, task, "FAILED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	ck_assert_int_eq(rig_count_charges(rig, task), 0);
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS NULL AND "
	    "coalesce(cost_actual, 0) = 0)::text FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task),
	    "true");
}
END_TEST

/* Replicate lists 429 plainly: later again, nothing charged meanwhile. */
START_TEST(test_throttled)
{
	int64_t task;

	rig->lenient_log = true;
	rig_start(rig);
	task = rig_enqueue(rig, "pred", "{\"mock\": {\"submit\": "
	    "\"status:429\", \"retry_after\": 1, \"once\": true}}");
	rig_wait_posts(rig, task, 1, 10000);
	rig_wait_status(rig, task, "PENDING", 5000);
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS NULL AND "
	    "run_at > now())::text FROM payonce.generation_task WHERE id = "
	    "%lld", (long long)task), "true");
	rig_wait_status(rig, task, "SUCCEEDED", 15000);
	ck_assert_int_eq(rig_count_posts(rig, task), 2);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

/* A bad key holds the kind: the other tasks are not burnt. */
START_TEST(test_account)
{
	int64_t first, task;
	int i;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 1, "");
	first = submit_run("\"submit\": \"status:403\", \"once\": true");
	for (i = 0; i < 5; i++)
		task = rig_enqueue(rig, "image", NULL);
	rig_wait_sql(rig, 10000, "SELECT EXISTS (SELECT FROM "
	    "payonce.kind_hold WHERE kind = 'image')");
	rig_wait_status(rig, first, "PENDING", 5000);
	ck_assert_int_eq(rig_count_posts(rig, 0), 1);
	ck_assert_str_eq(rig_status(rig, task), "PENDING");
	(void)rig_sql(rig, "SELECT payonce.release_kind('image', 'ann')");
	rig_wait_sql(rig, 15000, "SELECT count(*) = 6 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_charges(rig, 0), 6);
}
END_TEST

/* Three in a row without an answer: an outage must not park the queue. */
START_TEST(test_breaker)
{
	int i;

	rig->lenient_log = true;
	rig->kinds = "kind image { provider = fal model = "
	    "\"fal-ai/flux/dev\" concurrency = 1 breaker = 3 }\n";
	for (i = 0; i < 10; i++)
		(void)rig_enqueue(rig, "image", "{\"mock\": {\"submit\": "
		    "\"drop_after_read\"}}");
	rig_start(rig);
	rig_wait_sql(rig, 10000, "SELECT EXISTS (SELECT FROM "
	    "payonce.kind_hold WHERE kind = 'image')");
	rig_wait_sql(rig, 5000, "SELECT count(*) = 0 FROM "
	    "payonce.generation_task WHERE status = 'RUNNING'");
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'OUTCOME_UNKNOWN'"), 3);
	ck_assert_int_eq(rig_count_posts(rig, 0), 3);
}
END_TEST

/* Nobody listens: never marked, never parked, done once somebody does. */
/*
 * A generation may take hours; its submit worker takes the next task at once,
 * not at the next tick of a second (that would take 25 of them here).
 */
START_TEST(test_many_in_flight)
{
	rig->kinds = "kind image { provider = fal model = "
	    "\"fal-ai/flux/dev\" concurrency = 500 submit_workers = 4 }\n";
	(void)rig_sql(rig, "SELECT count(payonce.enqueue('image', "
	    "'{\"mock\": {\"never\": true}}')) FROM generate_series(1, 200)");
	rig_start(rig);
	rig_wait_sql(rig, 10000, "SELECT count(*) = 200 FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'");
	ck_assert_int_eq(rig_count_posts(rig, 0), 200);
}
END_TEST

START_TEST(test_refused_connection)
{
	int64_t task;

	rig->lenient_log = true;
	rig_start(rig);
	rig_mock_stop(rig);
	task = rig_enqueue(rig, "image", NULL);
	rig_wait_sql(rig, 10000, "SELECT count(*) > 0 FROM "
	    "payonce.task_event WHERE task_id = %lld AND to_status = "
	    "'PENDING' AND from_status = 'RUNNING'", (long long)task);
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS NULL AND "
	    "status <> 'OUTCOME_UNKNOWN')::text FROM payonce.generation_task "
	    "WHERE id = %lld", (long long)task), "true");
	rig_mock_start(rig);
	rig_wait_status(rig, task, "SUCCEEDED", 30000);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

/* A person may pay again; the old attempt's facts stay. */
START_TEST(test_resolve_requeue)
{
	int64_t task;

	rig->lenient_log = true;
	rig->kinds = NO_BREAKER;
	task = submit_run("\"submit\": \"drop_after_read\", \"once\": true");
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	(void)rig_sql(rig, "SELECT payonce.resolve(%lld, 'requeue', 'ann', "
	    "'the provider lists nothing')", (long long)task);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 2);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT attempt FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task), 2);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.past_attempt WHERE task_id = %lld", (long long)task), 1);
}
END_TEST

static int64_t
submit_run(const char *mock)
{
	rig_start(rig);
	return rig_enqueue(rig, "image", rig_printf("{\"mock\": {%s}}",
	    mock));
}

static void
submit_expect_parked(const char *mock, const char *reason, int charges)
{
	int64_t task;

	rig->lenient_log = true;
	rig->kinds = NO_BREAKER;
	task = submit_run(mock);
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 15000);
	if (reason != NULL)
		ck_assert_str_eq(rig_reason(rig, task), reason);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	ck_assert_int_eq(rig_count_charges(rig, task), charges);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_unanswered, test_drop_before_read, test_no_id, test_hang,
		test_answer_after_many_leases, test_rejected, test_throttled,
		test_account, test_breaker, test_refused_connection,
		test_resolve_requeue, test_many_in_flight,
	};

	return suite_run(argc, argv, "submit", tests, SUITE_COUNT(tests), 60);
}
