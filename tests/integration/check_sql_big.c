/*
 * check_sql_big.c - the claim among a million finished tasks.
 *
 * Reads the plans that the functions really used (auto_explain) and the
 * number of rows that were touched, not only the planner's intention.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define PLANS_CAP	(1u << 20)

static char	plans[PLANS_CAP];

static void
take_notice(void *arg, const PGresult *res)
{
	const char	*text = PQresultErrorField(res,
			    PG_DIAG_MESSAGE_PRIMARY);
	size_t		 len = strlen(plans);

	(void)arg;
	if (text != NULL)
		snprintf(plans + len, sizeof(plans) - len, "%s\n", text);
}

static void
fill(PGconn *db)
{
	pgtest_exec(db, "SET synchronous_commit = off");
	pgtest_exec(db, "ALTER TABLE payonce.generation_task DISABLE TRIGGER"
	    " USER");
	pgtest_exec(db, "INSERT INTO payonce.generation_task (kind, status,"
	    " input, result, provider, finished_at) SELECT 'image',"
	    " 'SUCCEEDED', '{}', '{}', 'mock', now()"
	    " FROM generate_series(1, 1000000)");
	pgtest_exec(db, "INSERT INTO payonce.generation_task (kind, input,"
	    " priority, run_at, due) SELECT CASE WHEN i %% 5 = 0 THEN 'clip'"
	    " ELSE 'image' END, '{}', i %% 7, CASE WHEN i %% 2 = 0 THEN now()"
	    " ELSE now() + interval '1 day' END, i %% 2 = 0"
	    " FROM generate_series(1, 100000) AS i");
	pgtest_exec(db, "ALTER TABLE payonce.generation_task ENABLE TRIGGER"
	    " USER");
}

static void
watch_plans(PGconn *db)
{
	plans[0] = '\0';
	PQsetNoticeReceiver(db, take_notice, NULL);
	pgtest_exec(db, "LOAD 'auto_explain'");
	pgtest_exec(db, "SET auto_explain.log_min_duration = 0;"
	    " SET auto_explain.log_nested_statements = on;"
	    " SET client_min_messages = log");
}

#define CLAIM								\
	"SELECT count(*) FROM payonce.claim('h', '{image,clip}',"	\
	" '{mock,mock}', '{m,m}', '{10,10}', 60, true)"

static void
check_claim(PGconn *db)
{
	plans[0] = '\0';
	ck_assert_int_eq(pgtest_int(db, CLAIM), 20);
	ck_assert_ptr_nonnull(strstr(plans, "using task_due on"));
	ck_assert_ptr_nonnull(strstr(plans, "using task_in_flight on"));
	ck_assert_ptr_nonnull(strstr(plans, "using task_scheduled on"));
	ck_assert_msg(strstr(plans, "Seq Scan on generation_task") == NULL,
	    "%s", plans);
}

/* the numbers of rows read by index and by scan, of the whole database */
static long
tuples_read(PGconn *db)
{
	pgtest_exec(db, "SELECT pg_stat_force_next_flush()");
	pgtest_exec(db, "SELECT pg_stat_clear_snapshot()");
	return pgtest_int(db, "SELECT seq_tup_read + idx_tup_fetch FROM"
	    " pg_stat_user_tables WHERE relname = 'generation_task'");
}

START_TEST(claim_uses_its_index)
{
	PGconn	*db = pgtest_new_db(), *fresh;
	long	 before, after;

	/* A plan that was made while the table was empty has to do, too. */
	ck_assert_int_eq(pgtest_int(db, CLAIM), 0);
	fill(db);
	watch_plans(db);
	check_claim(db);

	before = tuples_read(db);
	pgtest_exec(db, "SET client_min_messages = warning");
	ck_assert_int_eq(pgtest_int(db, CLAIM), 20);
	after = tuples_read(db);
	ck_assert_msg(after - before < 500, "a claim of 20 read %ld rows",
	    after - before);

	/* and one with good statistics */
	pgtest_exec(db, "ANALYZE payonce.generation_task");
	fresh = pgtest_connect(db);
	watch_plans(fresh);
	check_claim(fresh);
	ck_assert_int_eq(pgtest_int(fresh, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE status = 'RUNNING' AND priority"
	    " > 0"), 0);

	/* the others find their rows by the primary key */
	plans[0] = '\0';
	ck_assert_int_eq(pgtest_int(fresh, "SELECT count(*) FROM"
	    " payonce.mark_submit_started('h', (SELECT array_agg(id ORDER BY"
	    " id) FROM payonce.generation_task WHERE status = 'RUNNING'),"
	    " (SELECT array_agg(lease_token ORDER BY id) FROM"
	    " payonce.generation_task WHERE status = 'RUNNING'), '{}', '{}',"
	    " '{}', '{}')"), 60);
	ck_assert_ptr_nonnull(strstr(plans,
	    "using generation_task_pkey on generation_task t"));
	PQfinish(fresh);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_big");
	TCase	*tc = tcase_create("big");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 180);
	tcase_add_test(tc, claim_uses_its_index);
	return suite_run(suite);
}
