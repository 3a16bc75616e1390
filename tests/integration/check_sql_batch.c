/*
 * check_sql_batch.c - many sessions at once: no deadlock, no double claim.
 */
#include <sys/wait.h>

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define NTASKS	100
#define NROUNDS	25

/* Runs fn in a process with a connection of its own. */
static pid_t
start(PGconn *db, void (*fn)(PGconn *, int), int arg)
{
	PGconn	*own;
	pid_t	 pid;

	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid != 0)
		return pid;
	own = pgtest_connect(db);
	fn(own, arg);
	PQfinish(own);
	_exit(0);
}

static void
join(pid_t pid)
{
	int	status = 0;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static const char *const	orders[] = {
	"id", "-id", "hashint8(id)", "random()"
};

/*
 * The same rows in the given order, through every function that takes a lock;
 * pgtest_exec() ends the process on a deadlock (40P01).
 */
static void
hammer(PGconn *db, int which)
{
	int	round;

	pgtest_exec(db, "SET deadlock_timeout = '20ms'");
	for (round = 0; round < NROUNDS; round++) {
		pgtest_exec(db, "CREATE TEMP TABLE IF NOT EXISTS a (i bigint[],"
		    " k bigint[], n text[], z int[]); TRUNCATE a; INSERT INTO a"
		    " SELECT array_agg(id ORDER BY o), array_agg(lease_token"
		    " ORDER BY o), array_agg(NULL::text), array_agg(NULL::int)"
		    " FROM (SELECT id, lease_token, %s AS o FROM"
		    " payonce.generation_task) s", orders[which]);
		pgtest_exec(db, "SELECT count(r) FROM a, payonce.renew('h',"
		    " i, k, 600) r");
		pgtest_exec(db, "SELECT count(r) FROM a,"
		    " payonce.record_result('h', i, k, array_fill('{\"r\":%d}'"
		    "::text, ARRAY[cardinality(i)]), n, n, '{}') r",
		    which * 1000 + round);
		pgtest_exec(db, "SELECT count(r) FROM a,"
		    " payonce.record_progress('h', i, k, z, n) r");
	}
}

START_TEST(opposite_orders_never_deadlock)
{
	PGconn	*db = sqltask_new_db();
	pid_t	 pids[4];
	int	 i;

	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}') FROM"
	    " generate_series(1, %d)", NTASKS);
	pgtest_exec(db, "SELECT count(t.call('mark', id, lease_token)) FROM"
	    " payonce.claim('h', '{image}', '{m}', '{m}', '{%d}', 600, false)",
	    NTASKS);
	for (i = 0; i < 4; i++)
		pids[i] = start(db, hammer, i);
	for (i = 0; i < 4; i++)
		join(pids[i]);
	/* everything really took part */
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE result IS NOT NULL AND status ="
	    " 'RUNNING'"), NTASKS);
	PQfinish(db);
}
END_TEST

static void
claim_until_empty(PGconn *db, int batch)
{
	while (pgtest_int(db, "SELECT count(*) FROM payonce.claim('h%d',"
	    " '{image,clip}', '{m,m}', '{m,m}', '{%d,%d}', 600, true)", batch,
	    batch, batch) > 0)
		;
}

START_TEST(no_row_is_claimed_twice)
{
	PGconn	*db = sqltask_new_db();
	pid_t	 pids[4];
	int	 i;

	pgtest_exec(db, "SELECT payonce.enqueue((ARRAY['image', 'clip'])[1 + i"
	    " %% 2], '{}') FROM generate_series(1, 2000) AS i");
	for (i = 0; i < 4; i++)
		pids[i] = start(db, claim_until_empty, i * 3 + 1);
	for (i = 0; i < 4; i++)
		join(pids[i]);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE status = 'RUNNING'"), 2000);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.task_event WHERE reason = 'claimed'"), 2000);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(DISTINCT lease_token)"
	    " FROM payonce.generation_task"), 2000);
	PQfinish(db);
}
END_TEST

/* Parents end and children are canceled from both sides of a dense graph. */
static void
end_parents(PGconn *db, int which)
{
	pgtest_exec(db, "SET deadlock_timeout = '20ms'");
	while (pgtest_int(db, "SELECT count(*) FROM payonce.generation_task"
	    " WHERE status = 'RUNNING'") > 0) {
		pgtest_exec(db, "WITH a AS MATERIALIZED (SELECT array_agg(id)"
		    " AS i, array_agg(lease_token) AS k, array_agg('{}'::text)"
		    " AS r, array_agg(NULL::text) AS n FROM (SELECT id,"
		    " lease_token FROM payonce.generation_task WHERE status ="
		    " 'RUNNING' AND id %% 4 > 0 ORDER BY %s LIMIT 5) s)"
		    " SELECT count(c) FROM a, payonce.complete('h', i, k, r, n,"
		    " n) c", orders[which]);
		pgtest_exec(db, "WITH a AS MATERIALIZED (SELECT array_agg(id)"
		    " AS i, array_agg(lease_token) AS k, array_agg(NULL::text)"
		    " AS n FROM (SELECT id, lease_token FROM"
		    " payonce.generation_task WHERE status = 'RUNNING' AND id"
		    " %% 4 = 0 ORDER BY %s LIMIT 2) s) SELECT count(c) FROM a,"
		    " payonce.fail('h', i, k, n, n, n, n) c", orders[which]);
	}
}

START_TEST(a_dense_graph_settles)
{
	PGconn	*db = sqltask_new_db();
	pid_t	 pids[4];
	int	 i;

	pgtest_exec(db, "SELECT payonce.enqueue('root', '{}') FROM"
	    " generate_series(1, 80)");
	pgtest_exec(db, "SELECT count(*) FROM payonce.claim('h', '{root}',"
	    " '{NULL}', '{NULL}', '{80}', 600, false)");
	/* each child waits for three tasks before it, roots or children */
	pgtest_exec(db, "SELECT payonce.enqueue('leaf', '{}', after => ARRAY["
	    "1 + (i * 7) %% (79 + i), 1 + (i * 13) %% (79 + i), 1 + (i * 29)"
	    " %% 80]::bigint[]) FROM generate_series(1, 300) AS i");
	for (i = 0; i < 4; i++)
		pids[i] = start(db, end_parents, i);
	for (i = 0; i < 4; i++)
		join(pids[i]);
	/* no task waits for parents that have all ended */
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task c WHERE c.status = 'WAITING' AND ("
	    "EXISTS (SELECT 1 FROM payonce.task_dep JOIN"
	    " payonce.generation_task p ON p.id = parent WHERE child = c.id"
	    " AND p.status IN ('FAILED', 'CANCELED')) OR NOT EXISTS (SELECT 1"
	    " FROM payonce.task_dep JOIN payonce.generation_task p ON p.id ="
	    " parent WHERE child = c.id AND p.status <> 'SUCCEEDED'))"), 0);
	/* and none was let go too early, or canceled without a reason */
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task c WHERE c.status = 'PENDING' AND EXISTS"
	    " (SELECT 1 FROM payonce.task_dep JOIN payonce.generation_task p"
	    " ON p.id = parent WHERE child = c.id AND p.status <>"
	    " 'SUCCEEDED')"), 0);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task c WHERE c.status = 'CANCELED' AND NOT"
	    " EXISTS (SELECT 1 FROM payonce.task_dep JOIN"
	    " payonce.generation_task p ON p.id = parent WHERE child = c.id"
	    " AND p.status IN ('FAILED', 'CANCELED'))"), 0);
	ck_assert_int_gt(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE kind = 'leaf' AND status ="
	    " 'PENDING'"), 0);
	PQfinish(db);
}
END_TEST

/* One text that is no JSON must not cost the batch, nor the paid result. */
START_TEST(unreadable_result_is_kept)
{
	PGconn	*db = sqltask_new_db();
	char	*list;
	long	 one = sqltask_make(db, "submitted"), two;

	two = sqltask_make(db, "submitted");
	list = pgtest_list(db, "SELECT * FROM payonce.record_result('h1',"
	    " '{%ld,%ld}', ARRAY[t.token(%ld), t.token(%ld)],"
	    " ARRAY['{\"x\":\"\\u0000\"}', '{\"y\":2}'], '{NULL,NULL}',"
	    " '{NULL,NULL}', '{NULL,NULL}')", one, two, one, two);
	ck_assert_str_eq(list, "1;2");
	free(list);
	list = pgtest_list(db, "SELECT result->>'unreadable_json',"
	    " result->>'y' FROM payonce.generation_task ORDER BY id");
	ck_assert_str_eq(list, "{\"x\":\"\\u0000\"},;,2");
	free(list);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_batch");
	TCase	*tc = tcase_create("batch");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, opposite_orders_never_deadlock);
	tcase_add_test(tc, no_row_is_claimed_twice);
	tcase_add_test(tc, a_dense_graph_settles);
	tcase_add_test(tc, unreadable_result_is_kept);
	return suite_run(suite);
}
