/*
 * check_cancel.c - cancel in each state, and tasks that wait for others.
 */
#include <stdio.h>
#include <string.h>

#include "tests/integration/suite.h"

static const char	*cancel(int64_t task);
static int64_t		 enqueue_after(const char *kind, const char *parents);

START_TEST(test_pending)
{
	int64_t task;

	task = rig_enqueue(rig, "image", NULL);
	ck_assert_str_eq(cancel(task), "canceled");
	ck_assert_str_eq(rig_status(rig, task), "CANCELED");
	ck_assert_str_eq(cancel(task), "ended");
	rig_start(rig);
	rig_wait_status(rig, rig_enqueue(rig, "image", NULL), "SUCCEEDED",
	    10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 0);
}
END_TEST

/* Claimed, connected, but the mark is not committed: nothing is bought. */
START_TEST(test_before_mark)
{
	int64_t task;

	if (!rig_has_inject())
		return;
	rig_start(rig);
	rig_inject(rig, "submit.before_mark", "delay 700");
	task = rig_enqueue(rig, "image", NULL);
	(void)rig_wait_taken(rig, "submit.before_mark", 10000);
	ck_assert_str_eq(cancel(task), "requested");
	rig_wait_status(rig, task, "CANCELED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, task), 0);
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS NULL)"
	    "::text FROM payonce.generation_task WHERE id = %lld",
	    (long long)task), "true");
}
END_TEST

/* Sent: the money is gone, so the work is kept. */
START_TEST(test_after_mark)
{
	int64_t task;

	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"delay_ms\": 600}}");
	rig_wait_sql(rig, 10000, "SELECT submit_started_at IS NOT NULL FROM "
	    "payonce.generation_task WHERE id = %lld", (long long)task);
	ck_assert_str_eq(cancel(task), "too_late");
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

START_TEST(test_submitted)
{
	int64_t task;

	rig_start(rig);
	task = rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": 600}}");
	rig_wait_status(rig, task, "SUBMITTED", 10000);
	ck_assert_str_eq(cancel(task), "too_late");
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_charges(rig, task), 1);
}
END_TEST

START_TEST(test_waiting)
{
	int64_t parent, child;

	parent = rig_enqueue(rig, "image", NULL);
	child = enqueue_after("image", rig_printf("%lld", (long long)parent));
	ck_assert_str_eq(rig_status(rig, child), "WAITING");
	ck_assert_str_eq(cancel(child), "canceled");
	rig_start(rig);
	rig_wait_status(rig, parent, "SUCCEEDED", 10000);
	ck_assert_str_eq(rig_status(rig, child), "CANCELED");
	ck_assert_int_eq(rig_count_posts(rig, child), 0);
}
END_TEST

/* A chain over three kinds: each starts when its parents are done. */
START_TEST(test_dependencies)
{
	int64_t image, sound, film;

	rig_start(rig);
	image = rig_enqueue(rig, "image", "{\"mock\": {\"latency_ms\": 80}}");
	sound = rig_enqueue(rig, "pred", "{\"mock\": {\"latency_ms\": 160}}");
	film = rig_sql_int(rig, "SELECT payonce.enqueue('render', "
	    "'{\"do\": \"ok\"}', after => ARRAY[%lld, %lld]::bigint[])",
	    (long long)image, (long long)sound);
	rig_wait_status(rig, film, "SUCCEEDED", 15000);
	ck_assert_str_eq(rig_sql(rig, "SELECT (min(e.at) >= (SELECT "
	    "max(finished_at) FROM payonce.generation_task WHERE id IN (%lld, "
	    "%lld)))::text FROM payonce.task_event e WHERE task_id = %lld AND "
	    "to_status = 'RUNNING'", (long long)image, (long long)sound,
	    (long long)film), "true");
}
END_TEST

START_TEST(test_parent_failed)
{
	int64_t parent, child, grandchild;

	parent = rig_enqueue(rig, "image", "{\"mock\": {\"submit\": "
	    "\"status:422\"}}");
	child = enqueue_after("image", rig_printf("%lld", (long long)parent));
	grandchild = enqueue_after("render", rig_printf("%lld",
	    (long long)child));
	rig_start(rig);
	rig_wait_status(rig, parent, "FAILED", 10000);
	rig_wait_status(rig, child, "CANCELED", 5000);
	rig_wait_status(rig, grandchild, "CANCELED", 5000);
	ck_assert_int_eq(rig_count_posts(rig, child), 0);
}
END_TEST

/* A parked parent is not a failed one: its children wait for the person. */
START_TEST(test_parent_parked)
{
	int64_t parent, child;

	rig->lenient_log = true;
	parent = rig_enqueue(rig, "image", "{\"mock\": {\"submit\": "
	    "\"drop_after_read\", \"once\": true}}");
	child = enqueue_after("image", rig_printf("%lld", (long long)parent));
	rig_start(rig);
	rig_wait_status(rig, parent, "OUTCOME_UNKNOWN", 10000);
	ck_assert_str_eq(rig_status(rig, child), "WAITING");
	(void)rig_sql(rig, "SELECT payonce.resolve(%lld, 'succeeded', 'ann', "
	    "'found it in the dashboard', result => '{\"url\": \"x\"}')",
	    (long long)parent);
	rig_wait_status(rig, child, "SUCCEEDED", 10000);
	ck_assert_int_eq(rig_count_posts(rig, parent), 1);
}
END_TEST

/* run_at and priority are kept. */
START_TEST(test_order)
{
	int64_t late, low, high;

	rig->kinds = KIND_FAL("image", 1, "");
	late = rig_sql_int(rig, "SELECT payonce.enqueue('image', '{}', "
	    "priority => 1::smallint, run_at => now() + interval '1500 ms')");
	low = rig_sql_int(rig, "SELECT payonce.enqueue('image', '{}', "
	    "priority => 50::smallint)");
	high = rig_sql_int(rig, "SELECT payonce.enqueue('image', '{}', "
	    "priority => 5::smallint)");
	rig_start(rig);
	rig_wait_status(rig, late, "SUCCEEDED", 15000);
	ck_assert_str_eq(rig_sql(rig, "SELECT (h.submitted_at < "
	    "w.submitted_at AND w.submitted_at < l.submitted_at AND "
	    "l.submitted_at >= l.run_at)::text FROM payonce.generation_task "
	    "h, payonce.generation_task w, payonce.generation_task l WHERE "
	    "h.id = %lld AND w.id = %lld AND l.id = %lld", (long long)high,
	    (long long)low, (long long)late), "true");
}
END_TEST

static const char *
cancel(int64_t task)
{
	return rig_sql(rig, "SELECT payonce.cancel(%lld)", (long long)task);
}

static int64_t
enqueue_after(const char *kind, const char *parents)
{
	return rig_sql_int(rig, "SELECT payonce.enqueue('%s', '{\"do\": "
	    "\"ok\"}', after => ARRAY[%s]::bigint[])", kind, parents);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_pending, test_before_mark, test_after_mark,
		test_submitted, test_waiting, test_dependencies,
		test_parent_failed, test_parent_parked, test_order,
	};

	return suite_run(argc, argv, "cancel", tests, SUITE_COUNT(tests), 40);
}
