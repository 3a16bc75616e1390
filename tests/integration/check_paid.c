/*
 * check_paid.c - a paid task's whole life, seen from outside: the row, the
 * provider's ledger, the artifacts on the disk.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/suite.h"

static void	paid_run(const char *kind, const char *mock, int64_t *ret_task);
static void	paid_check_artifacts(int64_t task, int64_t at_least);

START_TEST(test_fal)
{
	int64_t task;

	paid_run("image", "\"latency_ms\": 60, \"price\": \"0.025\"", &task);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at <= "
	    "submitted_at AND submitted_at <= finished_at AND attempt = 1 AND "
	    "lease_owner IS NULL AND requeues = 0)::text FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task),
	    "true");
	paid_check_artifacts(task, 1);
}
END_TEST

START_TEST(test_replicate)
{
	int64_t task;

	paid_run("pred", "\"latency_ms\": 60", &task);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	paid_check_artifacts(task, 1);
}
END_TEST

START_TEST(test_many_kinds_at_once)
{
	int i;

	rig_start(rig);
	for (i = 0; i < 8; i++) {
		(void)rig_enqueue(rig, "image", "{\"prompt\": \"a\"}");
		(void)rig_enqueue(rig, "clip", "{\"prompt\": \"b\"}");
		(void)rig_enqueue(rig, "pred", "{\"prompt\": \"c\"}");
	}
	rig_wait_sql(rig, 20000, "SELECT count(*) = 24 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_charges(rig, 0), 24);
}
END_TEST

START_TEST(test_words_in_any_case)
{
	int64_t a, b, c;

	paid_run("image", "\"case\": \"lower\", \"latency_ms\": 50", &a);
	b = rig_enqueue(rig, "image", "{\"mock\": {\"case\": \"mixed\", "
	    "\"latency_ms\": 50}}");
	c = rig_enqueue(rig, "pred", "{\"mock\": {\"case\": \"mixed\", "
	    "\"latency_ms\": 50}}");
	rig_wait_status(rig, a, "SUCCEEDED", 10000);
	rig_wait_status(rig, b, "SUCCEEDED", 10000);
	rig_wait_status(rig, c, "SUCCEEDED", 10000);
}
END_TEST

/* An unlisted word means "still going", and is reported once per task. */
START_TEST(test_unlisted_word)
{
	int64_t task;

	rig_allow(rig, "DREAMING");
	paid_run("image", "\"poll\": [\"word:DREAMING\", \"word:DREAMING\", "
	    "\"word:DREAMING\"]", &task);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.task_event e WHERE task_id = %lld AND "
	    "to_jsonb(e)::text LIKE '%%DREAMING%%'", (long long)task), 1);
}
END_TEST

/* A failed GET is a missed poll, never an outcome. */
START_TEST(test_missed_polls)
{
	int64_t task;

	rig->lenient_log = true;
	paid_run("image", "\"poll\": [\"status:500\", \"garbage\", "
	    "\"empty\", \"drop\", \"status:404\", \"status:503\"]", &task);
	rig_wait_status(rig, task, "SUCCEEDED", 20000);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
	paid_check_artifacts(task, 1);
}
END_TEST

START_TEST(test_provider_says_failed)
{
	int64_t task;

	paid_run("pred", "\"end\": \"failed\", \"latency_ms\": 30", &task);
	rig_wait_status(rig, task, "FAILED", 10000);
	ck_assert_str_ne(rig_reason(rig, task), "");
	ck_assert_str_ne(rig_sql(rig, "SELECT remote_request_id FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task), "");
}
END_TEST

START_TEST(test_done_with_error)
{
	int64_t task;

	paid_run("image", "\"end\": \"done_error\", \"latency_ms\": 30",
	    &task);
	rig_wait_status(rig, task, "FAILED", 10000);
}
END_TEST

/* The result's own 422 is the provider's word, too. */
START_TEST(test_result_422)
{
	int64_t task;

	paid_run("image", "\"end\": \"done_422\", \"latency_ms\": 30", &task);
	rig_wait_status(rig, task, "FAILED", 10000);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

START_TEST(test_provider_canceled)
{
	int64_t task;

	paid_run("pred", "\"end\": \"canceled\", \"latency_ms\": 30", &task);
	rig_wait_sql(rig, 10000, "SELECT status IN ('FAILED', 'CANCELED') "
	    "FROM payonce.generation_task WHERE id = %lld", (long long)task);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

/* "Ended with nothing" was paid: a person looks at it. */
START_TEST(test_done_with_nothing)
{
	int64_t task;

	rig->lenient_log = true;
	paid_run("image", "\"end\": \"done_nothing\", \"latency_ms\": 30",
	    &task);
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	ck_assert_str_ne(rig_reason(rig, task), "");
	ck_assert_str_ne(rig_reason(rig, task), "poll_deadline");
}
END_TEST

/* Patience that ran out parks; the id stays, adopting it finds the result. */
START_TEST(test_poll_deadline)
{
	int64_t task;

	rig->lenient_log = true;
	rig->kinds = KIND_FAL("image", 4, "poll_deadline = 1");
	paid_run("image", "\"latency_ms\": 2200", &task);
	rig_wait_status(rig, task, "OUTCOME_UNKNOWN", 10000);
	ck_assert_str_eq(rig_reason(rig, task), "poll_deadline");
	rig_pause_ms(1400);	/* the provider needs this long, not we */
	(void)rig_sql(rig, "SELECT payonce.resolve(%lld, 'adopt', 'ann', "
	    "'the provider finished it', request_id => (SELECT "
	    "remote_request_id FROM payonce.generation_task WHERE id = %lld))",
	    (long long)task, (long long)task);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 1);
	paid_check_artifacts(task, 1);
}
END_TEST

/* The provider deleted the picture: the result stays, nobody says unpaid. */
START_TEST(test_artifact_gone)
{
	int64_t task;

	rig->lenient_log = true;
	paid_run("image", "\"artifact\": \"gone\", \"latency_ms\": 20",
	    &task);
	rig_wait_sql(rig, 20000, "SELECT status IN ('SUCCEEDED', "
	    "'OUTCOME_UNKNOWN') FROM payonce.generation_task WHERE id = %lld",
	    (long long)task);
	ck_assert_str_eq(rig_sql(rig, "SELECT result->'artifacts'->0->>"
	    "'lost' FROM payonce.generation_task WHERE id = %lld",
	    (long long)task), "http 404");
	/* a fresh URL was asked for before it was called lost */
	ck_assert_str_eq(rig_sql(rig, "SELECT (result->'artifacts'->0->>"
	    "'url' <> result->'output'->'images'->0->>'url')::text FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task),
	    "true");
}
END_TEST

/* A host that the provider's file does not name is never asked. */
START_TEST(test_foreign_artifact)
{
	int64_t task;

	rig->lenient_log = true;
	paid_run("image", "\"artifact\": \"redirect_foreign\"", &task);
	rig_wait_sql(rig, 20000, "SELECT status IN ('SUCCEEDED', "
	    "'OUTCOME_UNKNOWN') AND result IS NOT NULL FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task);
}
END_TEST

static void
paid_run(const char *kind, const char *mock, int64_t *ret_task)
{
	rig_start(rig);
	*ret_task = rig_enqueue(rig, kind, rig_printf("{\"prompt\": \"a "
	    "heron\", \"mock\": {%s}}", mock));
}

/* Each artifact that the row names lies on the disk with its SHA-256. */
static void
paid_check_artifacts(int64_t task, int64_t at_least)
{
	const char *argv[] = { "sha256sum", NULL, NULL };
	char *path, *sum, *out;
	int64_t i, n;

	n = rig_sql_int(rig, "SELECT jsonb_array_length(result->'artifacts') "
	    "FROM payonce.generation_task WHERE id = %lld", (long long)task);
	ck_assert_int_ge(n, at_least);
	for (i = 0; i < n; i++) {
		path = rig_sql(rig, "SELECT result->'artifacts'->%lld->>'path'"
		    " FROM payonce.generation_task WHERE id = %lld",
		    (long long)i, (long long)task);
		sum = rig_sql(rig, "SELECT result->'artifacts'->%lld->>"
		    "'sha256' FROM payonce.generation_task WHERE id = %lld",
		    (long long)i, (long long)task);
		ck_assert_int_eq((int)strlen(sum), 64);
		argv[1] = path[0] == '/' ? path : rig_printf("%s/%s",
		    rig->hosts[0].state_dir, path);
		ck_assert_int_eq(rig_run(rig, argv, &out), 0);
		ck_assert_msg(strncmp(out, sum, 64) == 0, "%s: %s, not %s",
		    argv[1], out, sum);
		free(out);
	}
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_fal, test_replicate, test_many_kinds_at_once,
		test_words_in_any_case, test_unlisted_word, test_missed_polls,
		test_provider_says_failed, test_done_with_error,
		test_result_422, test_provider_canceled,
		test_done_with_nothing, test_poll_deadline,
		test_artifact_gone, test_foreign_artifact,
	};

	return suite_run(argc, argv, "paid", tests, SUITE_COUNT(tests), 40);
}
