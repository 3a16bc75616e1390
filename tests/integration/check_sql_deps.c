/*
 * check_sql_deps.c - tasks that wait for others, also when the ends race.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define SWEEP								\
	"SELECT payonce.claim('h1', '{none}', '{m}', '{m}', '{1}', 9, true)"

static long
child_of(PGconn *db, const char *parents)
{
	return pgtest_int(db, "SELECT payonce.enqueue('child', '{}', after =>"
	    " ARRAY[%s]::bigint[])", parents);
}

static long
child_of_one(PGconn *db, long parent)
{
	return pgtest_int(db, "SELECT payonce.enqueue('child', '{}', after =>"
	    " ARRAY[%ld])", parent);
}

static void
assert_status(PGconn *db, long task, const char *want)
{
	char	*is = sqltask_status(db, task);

	ck_assert_msg(strcmp(is, want) == 0, "task %ld is %s, not %s", task,
	    is, want);
	mem_free(is);
}

static void
end(PGconn *db, const char *fn, long task)
{
	ck_assert_int_eq(sqltask_call(db, fn, task, sqltask_token(db, task)),
	    1);
}

START_TEST(all_parents_must_succeed)
{
	PGconn	*db = sqltask_new_db();
	char	*list;
	long	 child;

	sqltask_make(db, "submitted");			/* 1 */
	sqltask_make(db, "running_local");		/* 2 */
	child = child_of(db, "2, 1, 2");
	assert_status(db, child, "WAITING");
	end(db, "complete", 1);
	assert_status(db, child, "WAITING");
	end(db, "complete", 2);
	assert_status(db, child, "PENDING");
	/* its parents come with the claim, in the order of the call */
	list = pgtest_list(db, "SELECT x->>'id', x->>'status', x->'result'"
	    " FROM payonce.claim('h1', '{child}', '{NULL}', '{NULL}', '{1}',"
	    " 60, false), json_array_elements(parents::json) AS x");
	ck_assert_str_eq(list, "2,SUCCEEDED,{\"done\": 1};"
	    "1,SUCCEEDED,{\"done\": 1}");
	free(list);
	/* done before the child was made */
	assert_status(db, child_of(db, "1, 2"), "PENDING");
	PQfinish(db);
}
END_TEST

START_TEST(failure_runs_down_the_graph)
{
	static const char *const	ends[] = { "fail", "reject" };
	PGconn				*db = sqltask_new_db();
	char				*detail;
	long				 root, other, a, b, c, late;

	root = sqltask_make(db, _i == 0 ? "submitted" : "marked");
	other = sqltask_make(db, "submitted");
	a = child_of_one(db, root);
	b = child_of_one(db, a);
	c = pgtest_int(db, "SELECT payonce.enqueue('child', '{}', after =>"
	    " ARRAY[%ld, %ld])", b, other);
	end(db, ends[_i], root);
	assert_status(db, a, "CANCELED");
	assert_status(db, b, "CANCELED");
	assert_status(db, c, "CANCELED");
	detail = pgtest_list(db, "SELECT task_id, reason, detail FROM"
	    " payonce.task_event WHERE to_status = 'CANCELED'"
	    " ORDER BY task_id LIMIT 1");
	ck_assert_ptr_nonnull(strstr(detail, "parent_failed,task 1, "));
	ck_assert_ptr_nonnull(strstr(detail, "FAILED"));
	free(detail);
	/* a child of what has failed already */
	late = child_of_one(db, root);
	assert_status(db, late, "CANCELED");
	assert_status(db, child_of_one(db, late), "CANCELED");
	assert_status(db, other, "SUBMITTED");
	PQfinish(db);
}
END_TEST

START_TEST(cancel_runs_down_the_graph)
{
	PGconn	*db = sqltask_new_db();
	long	 root = sqltask_make(db, "pending"), a, b;

	a = child_of_one(db, root);
	b = child_of_one(db, a);
	pgtest_exec(db, "SELECT payonce.cancel(%ld)", a);
	assert_status(db, root, "PENDING");
	assert_status(db, b, "CANCELED");
	a = child_of_one(db, root);
	pgtest_exec(db, "SELECT payonce.cancel(%ld)", root);
	assert_status(db, a, "CANCELED");
	PQfinish(db);
}
END_TEST

START_TEST(parked_parent_holds_its_children)
{
	PGconn	*db = sqltask_new_db();
	long	 one = sqltask_make(db, "submitted"), two, a, b;

	two = sqltask_make(db, "marked");
	a = child_of_one(db, one);
	b = child_of_one(db, two);
	end(db, "park", one);
	end(db, "park", two);
	pgtest_exec(db, SWEEP);
	assert_status(db, a, "WAITING");
	assert_status(db, b, "WAITING");
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'failed', 'bob', 'x')",
	    one);
	assert_status(db, a, "CANCELED");
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'succeeded', 'bob', 'x',"
	    " result => '{}')", two);
	assert_status(db, b, "PENDING");
	PQfinish(db);
}
END_TEST

/* Two parents end in two open transactions: the later one must see both. */
START_TEST(parents_end_at_the_same_time)
{
	PGconn		*db = sqltask_new_db(), *other = pgtest_connect(db);
	PGresult	*res;
	long		 one, two, child;
	char		*sql;

	one = sqltask_make(db, "submitted");
	two = sqltask_make(db, "submitted");
	child = pgtest_int(db, "SELECT payonce.enqueue('child', '{}', after =>"
	    " ARRAY[%ld, %ld])", one, two);
	pgtest_exec(db, "BEGIN");
	end(db, "complete", one);
	sql = mem_printf("SELECT t.call('complete', %ld, t.token(%ld))", two,
	    two);
	ck_assert_int_eq(PQsendQuery(other, sql), 1);
	mem_free(sql);
	/* it waits for the child's lock */
	while (pgtest_int(db, "SELECT count(*) FROM pg_stat_activity WHERE"
	    " wait_event_type = 'Lock' AND pid = %d",
	    PQbackendPID(other)) == 0)
		pgtest_exec(db, "SELECT pg_stat_clear_snapshot()");
	pgtest_exec(db, "COMMIT");
	while ((res = PQgetResult(other)) != NULL) {
		ck_assert_int_eq(PQresultStatus(res), PGRES_TUPLES_OK);
		PQclear(res);
	}
	assert_status(db, child, "PENDING");
	PQfinish(other);
	PQfinish(db);
}
END_TEST

/* The child was not committed yet when its parent ended. */
START_TEST(sweep_finds_the_unseen_child)
{
	PGconn	*db = sqltask_new_db(), *app = pgtest_connect(db);
	long	 parent = sqltask_make(db, "submitted"), child;

	pgtest_exec(app, "BEGIN");
	child = child_of_one(app, parent);
	pgtest_exec(db, "SET lock_timeout = '1ms'");
	end(db, _i == 0 ? "complete" : "fail", parent);
	pgtest_exec(app, "COMMIT");
	assert_status(db, child, "WAITING");
	pgtest_exec(db, SWEEP);
	assert_status(db, child, _i == 0 ? "PENDING" : "CANCELED");
	PQfinish(app);
	PQfinish(db);
}
END_TEST

/*
 * The parent's end looked for children, then the child was committed, then a
 * sweep found the parent still open, then the parent's end was committed: the
 * sweep must come back.
 */
START_TEST(sweep_comes_back)
{
	PGconn	*db = sqltask_new_db(), *super = pgtest_connect(db);
	long	 parent = sqltask_make(db, "submitted"), child, i;

	pgtest_exec(super, "BEGIN");
	end(super, "complete", parent);
	child = child_of_one(db, parent);
	for (i = 0; i < 3; i++)
		pgtest_exec(db, SWEEP);
	assert_status(db, child, "WAITING");
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE recheck_xid IS NOT NULL"), 1);
	pgtest_exec(super, "COMMIT");
	pgtest_exec(db, SWEEP);
	assert_status(db, child, "PENDING");

	/* nothing to find: after two looks it is left alone */
	parent = sqltask_make(db, "submitted");
	child = child_of_one(db, parent);
	pgtest_exec(db, SWEEP);
	pgtest_exec(db, SWEEP);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE recheck_xid IS NOT NULL"), 0);
	assert_status(db, child, "WAITING");
	end(db, "complete", parent);
	assert_status(db, child, "PENDING");
	PQfinish(super);
	PQfinish(db);
}
END_TEST

/* A sweep waits for nobody. */
START_TEST(sweep_skips_locked)
{
	PGconn	*db = sqltask_new_db(), *app = pgtest_connect(db);
	long	 parent = sqltask_make(db, "submitted"), child;

	pgtest_exec(app, "BEGIN");
	child = child_of_one(app, parent);
	end(db, "complete", parent);
	pgtest_exec(app, "COMMIT; BEGIN; SELECT 1 FROM payonce.generation_task"
	    " WHERE id = %ld FOR UPDATE", child);
	pgtest_exec(db, "SET lock_timeout = '1ms'");
	pgtest_exec(db, SWEEP);
	assert_status(db, child, "WAITING");
	pgtest_exec(app, "ROLLBACK");
	pgtest_exec(db, SWEEP);
	assert_status(db, child, "PENDING");
	PQfinish(app);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_deps");
	TCase	*tc = tcase_create("deps");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, all_parents_must_succeed);
	tcase_add_loop_test(tc, failure_runs_down_the_graph, 0, 2);
	tcase_add_test(tc, cancel_runs_down_the_graph);
	tcase_add_test(tc, parked_parent_holds_its_children);
	tcase_add_test(tc, parents_end_at_the_same_time);
	tcase_add_loop_test(tc, sweep_finds_the_unseen_child, 0, 2);
	tcase_add_test(tc, sweep_comes_back);
	tcase_add_test(tc, sweep_skips_locked);
	return suite_run(suite);
}
