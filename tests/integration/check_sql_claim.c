/*
 * check_sql_claim.c - what a claim takes, in which order, and what it waits
 * for (nothing).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define CLAIM(limit, expired)						\
	"SELECT id FROM payonce.claim('h2', '{image}', '{mock}',"	\
	" '{m}', '{" #limit "}', 60, " expired ")"

static void
enqueue(PGconn *db, int count)
{
	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}')"
	    " FROM generate_series(1, %d)", count);
}

static void
assert_list(PGconn *db, const char *sql, const char *want)
{
	char	*list = pgtest_list(db, "%s", sql);

	ck_assert_msg(strcmp(list, want) == 0, "%s: %s, not %s", sql, list,
	    want);
	free(list);
}

START_TEST(locked_rows_are_skipped_at_once)
{
	PGconn	*db = sqltask_new_db(), *other = pgtest_connect(db);

	enqueue(db, 3);
	pgtest_exec(other, "BEGIN; SELECT 1 FROM payonce.generation_task"
	    " WHERE id = 2 FOR UPDATE");
	/* Waiting for the lock would fail, not hang. */
	pgtest_exec(db, "SET lock_timeout = '1ms'");
	assert_list(db, CLAIM(3, "true"), "1;3");
	pgtest_exec(other, "ROLLBACK");
	assert_list(db, CLAIM(3, "true"), "2");
	PQfinish(other);
	PQfinish(db);
}
END_TEST

/* An expired row in somebody's hands this moment is still in flight. */
START_TEST(locked_expired_row_keeps_its_place)
{
	PGconn	*db = sqltask_new_db(), *other = pgtest_connect(db);

	enqueue(db, 4);
	assert_list(db, CLAIM(1, "true"), "1");
	pgtest_exec(db, "SELECT payonce.expire_owner('h2', NULL)");
	pgtest_exec(other, "BEGIN; SELECT 1 FROM payonce.generation_task"
	    " WHERE id = 1 FOR UPDATE");
	assert_list(db, CLAIM(2, "true"), "2");
	pgtest_exec(other, "ROLLBACK");
	assert_list(db, CLAIM(2, "true"), "1;3");
	PQfinish(other);
	PQfinish(db);
}
END_TEST

/* Two claims at the same time never share a row. */
START_TEST(open_claim_is_skipped)
{
	PGconn	*db = sqltask_new_db(), *other = pgtest_connect(db);

	enqueue(db, 4);
	pgtest_exec(other, "BEGIN");
	assert_list(other, CLAIM(2, "true"), "1;2");
	assert_list(db, CLAIM(4, "true"), "3;4");
	pgtest_exec(other, "COMMIT");
	assert_list(db, CLAIM(4, "true"), "");
	PQfinish(other);
	PQfinish(db);
}
END_TEST

/*
 * The functions force a nested loop themselves; here every other plan is
 * forbidden to the session too, with statistics that make the trap likely.
 */
START_TEST(never_more_than_the_limit)
{
	PGconn	*db = sqltask_new_db();
	int	 n;

	enqueue(db, 200);
	pgtest_exec(db, "ANALYZE payonce.generation_task");
	pgtest_exec(db, "SET enable_hashjoin = off; SET enable_mergejoin ="
	    " off; SET enable_material = off; SET enable_memoize = off;"
	    " SET enable_seqscan = off; SET plan_cache_mode ="
	    " force_custom_plan");
	for (n = 1; n <= 5; n++)
		ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
		    " payonce.claim('h2', '{image}', '{mock}', '{m}',"
		    " ARRAY[%d], 60, true)", n), n);
	/* the 15 of them that have expired count too */
	pgtest_exec(db, "SELECT * FROM payonce.expire_owner('h2', '{}')");
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.claim('h2', '{image}', '{mock}', '{m}', '{12}', 60,"
	    " true)"), 12);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE status = 'RUNNING'"), 15);
	/* a kind that is named twice is still one kind */
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM payonce.claim("
	    "'h2', '{image,image}', '{mock,mock}', '{m,m}', '{3,3}', 60,"
	    " true)"), 3);
	PQfinish(db);
}
END_TEST

START_TEST(order)
{
	PGconn	*db = sqltask_new_db();

	enqueue(db, 3);					/* 1 2 3 */
	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}', priority => 5),"
	    " payonce.enqueue('image', '{}', priority => 5),"	/* 4 5 */
	    " payonce.enqueue('speech', '{}', priority => 0),"	/* 6 */
	    " payonce.enqueue('image', '{}', priority => 32767)"); /* 7 */
	assert_list(db, CLAIM(4, "true"), "4;5;1;2");
	pgtest_exec(db, "SELECT payonce.expire('h2', ARRAY[id],"
	    " ARRAY[lease_token]) FROM payonce.generation_task"
	    " WHERE id IN (1, 2)");
	/* expired first, though 3 waits as long and 4 is more urgent */
	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}',"
	    " priority => 0)");				/* 8 */
	assert_list(db, CLAIM(2, "true"), "1;2");
	assert_list(db, CLAIM(2, "false"), "8;3");
	assert_list(db, CLAIM(9, "true"), "7");
	PQfinish(db);
}
END_TEST

/* Law 6, and law 3: the id is still there. */
START_TEST(expired_keeps_its_status)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "submitted");
	long	 token = sqltask_token(db, task);
	char	*row;

	sqltask_call(db, "expire", task, token);
	row = pgtest_list(db, "SELECT id, status, was_expired, is_marked,"
	    " remote_request_id, poll_url, result_url, cancel_url, attempt,"
	    " requeues, lease_token > %ld FROM payonce.claim('h2', (SELECT"
	    " array_agg(kind) FROM payonce.generation_task WHERE id = %ld),"
	    " '{mock}', '{m}', '{1}', 60, true)", token, task);
	ck_assert_str_eq(row + strcspn(row, ","),
	    ",SUBMITTED,t,t,r1,pu,ru,cu,1,0,t");
	free(row);
	row = pgtest_list(db, "SELECT status, remote_request_id, lease_owner"
	    " FROM payonce.generation_task WHERE id = %ld", task);
	ck_assert_str_eq(row, "SUBMITTED,r1,h2");
	free(row);
	/* the old token is worth nothing now */
	ck_assert_int_eq(sqltask_call(db, "complete", task, token), 0);
	PQfinish(db);
}
END_TEST

START_TEST(a_live_lease_is_left_alone)
{
	PGconn	*db = sqltask_new_db();

	enqueue(db, 1);
	assert_list(db, CLAIM(1, "true"), "1");
	assert_list(db, CLAIM(1, "true"), "");
	pgtest_exec(db, "SELECT * FROM payonce.expire_owner('other', '{}')");
	assert_list(db, CLAIM(1, "true"), "");
	pgtest_exec(db, "SELECT * FROM payonce.expire_owner('h2', '{1}')");
	assert_list(db, CLAIM(1, "true"), "");
	assert_list(db, "SELECT * FROM payonce.expire_owner('h2', '{}')", "1");
	assert_list(db, "SELECT * FROM payonce.expire_owner('h2', '{}')", "");
	assert_list(db, CLAIM(1, "false"), "");
	assert_list(db, CLAIM(1, "true"), "1");
	PQfinish(db);
}
END_TEST

START_TEST(windows_and_own_id)
{
	PGconn	*db = sqltask_new_db();
	char	*row;

	pgtest_exec(db, "SELECT payonce.enqueue('image', '{\"a\":1}',"
	    " model => 'mine'), payonce.enqueue('render', '{}')");
	pgtest_exec(db, "SELECT id, lease_token FROM payonce.claim('h1',"
	    " '{image,render}', '{mock,NULL}', '{m,NULL}', '{1,1}', 60,"
	    " false)");
	row = pgtest_list(db, "SELECT id, provider, model, own_id ~"
	    " '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]' FROM"
	    " payonce.generation_task ORDER BY id");
	ck_assert_str_eq(row, "1,mock,mine,t;2,,,");
	free(row);
	pgtest_exec(db, "SELECT payonce.mark_submit_started('h1', '{1}',"
	    " ARRAY[t.token(1)], '{100}', '{0}', '{NULL}', '{NULL}');"
	    " SELECT payonce.expire('h1', '{1}', ARRAY[t.token(1)])");
	row = pgtest_list(db, "SELECT idempotency_key = own_id, idem_window,"
	    " lookup_window, poll_left_ms, fetch_left_ms, input FROM"
	    " payonce.claim('h1', '{image}', '{mock}', '{m}', '{1}', 60,"
	    " true)");
	ck_assert_str_eq(row, "t,1,0,,,{\"a\": 1}");
	free(row);
	pgtest_exec(db, "UPDATE payonce.generation_task SET"
	    " idempotency_expires_at = now(), lookup_until = now(),"
	    " lease_expires_at = now() WHERE id = 1");
	row = pgtest_list(db, "SELECT idem_window, lookup_window FROM"
	    " payonce.claim('h1', '{image}', '{mock}', '{m}', '{1}', 60,"
	    " true)");
	ck_assert_str_eq(row, "2,2");
	free(row);
	PQfinish(db);
}
END_TEST

START_TEST(scheduled_and_held)
{
	PGconn	*db = sqltask_new_db();
	long	 ms;

	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}', run_at =>"
	    " now() + interval '1 hour'), payonce.enqueue('image', '{}')");
	assert_list(db, CLAIM(9, "true"), "2");
	ms = pgtest_int(db, "SELECT payonce.next_due('{speech,image}')");
	ck_assert_int_gt(ms, 3500000);
	ck_assert_int_le(ms, 3600000);
	assert_list(db, "SELECT payonce.next_due('{speech}') IS NULL", "t");
	pgtest_exec(db, "UPDATE payonce.generation_task SET run_at = now()"
	    " WHERE id = 1");
	assert_list(db, "SELECT payonce.next_due('{image}')", "0");

	/* a hold stops new work only */
	pgtest_exec(db, "SELECT payonce.hold_kind('h1', 'image', 'account',"
	    " 'no money'), payonce.hold_kind('h1', 'image', 'breaker', NULL)");
	assert_list(db, "SELECT reason FROM payonce.kind_hold", "account");
	pgtest_exec(db, "SELECT payonce.expire_owner('h2', '{}')");
	assert_list(db, CLAIM(9, "true"), "2");
	assert_list(db, "SELECT payonce.release_kind('image', 'bob')", "t");
	assert_list(db, "SELECT payonce.release_kind('image', 'bob')", "f");
	assert_list(db, CLAIM(9, "true"), "1");
	assert_list(db, "SELECT kind, action, reason, actor FROM"
	    " payonce.kind_event ORDER BY id",
	    "image,held,account,h1;image,released,account,bob");
	PQfinish(db);
}
END_TEST

START_TEST(release_delays_and_counts)
{
	PGconn	*db = sqltask_new_db();

	enqueue(db, 1);
	assert_list(db, CLAIM(1, "true"), "1");
	assert_list(db, "SELECT * FROM payonce.release('h2', '{1}',"
	    " ARRAY[t.token(1)], '{lost}', '{NULL}', '{60000}', '{f}', '{t}',"
	    " '{1}')", "1,PENDING");
	assert_list(db, CLAIM(1, "true"), "");
	assert_list(db, "SELECT requeues, attempt, due, payonce.next_due("
	    "'{image}') BETWEEN 50000 AND 60000 FROM payonce.generation_task",
	    "1,1,f,t");
	pgtest_exec(db, "UPDATE payonce.generation_task SET run_at = now()");
	assert_list(db, CLAIM(1, "true"), "1");
	assert_list(db, "SELECT * FROM payonce.release('h2', '{1}',"
	    " ARRAY[t.token(1)], '{lost}', '{NULL}', '{0}', '{f}', '{t}',"
	    " '{1}')", "1,FAILED");
	assert_list(db, "SELECT status, reason, requeues, cost_actual IS NULL"
	    " FROM payonce.generation_task", "FAILED,max_requeues,2,t");
	PQfinish(db);
}
END_TEST

/* A marked attempt that is proven free: its facts stay, the next is new. */
START_TEST(release_takes_the_attempt_back)
{
	PGconn	*db = sqltask_new_db();
	char	*own_id;

	enqueue(db, 1);
	assert_list(db, CLAIM(1, "true"), "1");
	own_id = pgtest_value(db, "SELECT own_id FROM"
	    " payonce.generation_task");
	/* not marked: the same attempt, the same id */
	ck_assert_int_eq(sqltask_call(db, "release_unmark", 1,
	    sqltask_token(db, 1)), 1);
	assert_list(db, CLAIM(1, "true"), "1");
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE own_id = '%s' AND attempt = 1",
	    own_id), 1);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.mark_submit_started('h2', '{1}', ARRAY[t.token(1)],"
	    " '{60}', '{60}', '{0.03}', '{USD}')"), 1);
	ck_assert_int_eq(sqltask_call(db, "release_unmark", 1,
	    sqltask_token(db, 1)), 1);
	assert_list(db, "SELECT status, attempt, own_id, idempotency_key,"
	    " idempotency_expires_at, lookup_until, submit_started_at,"
	    " requeues, reason FROM payonce.generation_task",
	    "PENDING,2,,,,,,0,throttled");
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.past_attempt WHERE task_id = 1 AND attempt = 1 AND"
	    " own_id = '%s' AND idempotency_key = own_id AND lookup_until IS"
	    " NOT NULL AND submit_started_at IS NOT NULL AND cost_actual = 0"
	    " AND cost_estimated = 0.03 AND action = 'released' AND"
	    " superseded_by = 'h1' AND reason = 'throttled'", own_id), 1);
	assert_list(db, CLAIM(1, "true"), "1");
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE own_id <> '%s' AND attempt = 2",
	    own_id), 1);
	mem_free(own_id);
	PQfinish(db);
}
END_TEST

/* An id that is no id is not recorded. */
START_TEST(record_needs_an_id)
{
	static const char *const	ids[] = { "NULL", "\"\"" };
	PGconn				*db = sqltask_new_db();
	long				 task = sqltask_make(db, "marked");
	size_t				 i;

	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
		    " payonce.record_submitted('h1', '{%ld}', ARRAY[t.token("
		    "%ld)], '{%s}', '{u}', '{u}', '{u}', '{9}', '{NULL}',"
		    " '{NULL}')", task, task, ids[i]), 0);
	assert_list(db, "SELECT status, remote_request_id FROM"
	    " payonce.generation_task", "RUNNING,");
	PQfinish(db);
}
END_TEST

/*
 * The statistics view has the last word about HOT.  A few of the 1000 find no
 * room in their page: the versions before are not dead for everybody yet.
 */
START_TEST(renewals_are_hot)
{
	PGconn	*db = sqltask_new_db();
	char	*stats;
	int	 i;

	enqueue(db, 50);
	pgtest_exec(db, CLAIM(50, "true"));
	pgtest_exec(db, "SELECT pg_stat_force_next_flush()");
	pgtest_exec(db, "SELECT pg_stat_reset()");
	for (i = 0; i < 20; i++)
		ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
		    " payonce.renew('h2', (SELECT array_agg(id ORDER BY id)"
		    " FROM payonce.generation_task), (SELECT"
		    " array_agg(lease_token ORDER BY id) FROM"
		    " payonce.generation_task), 60)"), 50);
	pgtest_exec(db, "SELECT pg_stat_force_next_flush()");
	stats = pgtest_list(db, "SELECT n_tup_upd, n_tup_hot_upd >= 900 FROM"
	    " pg_stat_user_tables WHERE relname = 'generation_task'");
	ck_assert_str_eq(stats, "1000,t");
	free(stats);
	/* nothing indexed may change in a renewal, or a mark */
	assert_list(db, "SELECT count(*) FROM pg_indexes WHERE schemaname ="
	    " 'payonce' AND indexdef ~ 'lease_|submit_started_at|progress'",
	    "0");
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_claim");
	TCase	*tc = tcase_create("claim");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, locked_rows_are_skipped_at_once);
	tcase_add_test(tc, locked_expired_row_keeps_its_place);
	tcase_add_test(tc, open_claim_is_skipped);
	tcase_add_test(tc, never_more_than_the_limit);
	tcase_add_test(tc, order);
	tcase_add_test(tc, expired_keeps_its_status);
	tcase_add_test(tc, a_live_lease_is_left_alone);
	tcase_add_test(tc, windows_and_own_id);
	tcase_add_test(tc, scheduled_and_held);
	tcase_add_test(tc, release_delays_and_counts);
	tcase_add_test(tc, release_takes_the_attempt_back);
	tcase_add_test(tc, record_needs_an_id);
	tcase_add_test(tc, renewals_are_hot);
	return suite_run(suite);
}
