/*
 * check_sql_migrate.c - migrations: once, twice, at the same time, refused.
 */
#include <sys/wait.h>

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "sql/migrate.h"
#include "sql/migrations.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

/* an empty database of its own: what pgtest_new_db() gives, without us */
static PGconn *
empty_db(void)
{
	PGconn	*db = pgtest_new_db();

	pgtest_exec(db, "DROP SCHEMA payonce CASCADE");
	return db;
}

static void
assert_whole(PGconn *db)
{
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.migration"), (long)nmigrations);
	ck_assert_int_eq(pgtest_int(db, "SELECT schema_version FROM"
	    " payonce.settings()"), (long)nmigrations);
	ck_assert_int_eq(pgtest_int(db, "SELECT payonce.enqueue('k', '{}')"),
	    1);
}

START_TEST(numbers_have_no_gap)
{
	size_t	i;

	ck_assert_uint_eq(nmigrations, 4);
	for (i = 0; i < nmigrations; i++) {
		ck_assert_int_eq(migrations[i].version, (int)i + 1);
		ck_assert_ptr_nonnull(migrations[i].name);
		ck_assert_uint_gt(strlen(migrations[i].text), 1000);
	}
	ck_assert_str_eq(migrations[0].name, "001-schema");
	/* quotes, tabs and backslashes survive the way into C */
	ck_assert_ptr_nonnull(strstr(migrations[0].text,
	    "\tversion\t\tint PRIMARY KEY,\n"));
	ck_assert_ptr_nonnull(strstr(migrations[1].text, "(a \\u0000 in it"));
}
END_TEST

START_TEST(twice)
{
	PGconn	*db = empty_db();
	char	*error = NULL;
	int	 applied = -1;

	ck_assert_int_eq(migrate_run(db, &applied, &error), 0);
	ck_assert_int_eq(applied, (int)nmigrations);
	ck_assert_int_eq(migrate_run(db, &applied, &error), 0);
	ck_assert_int_eq(applied, 0);
	ck_assert_ptr_null(error);
	assert_whole(db);
	PQfinish(db);
}
END_TEST

START_TEST(at_the_same_time)
{
	PGconn	*db = empty_db(), *own;
	pid_t	 pids[4];
	char	*error = NULL;
	int	 i, applied = 0, status, sum = 0;

	for (i = 0; i < 4; i++) {
		pids[i] = fork();
		ck_assert_int_ne(pids[i], -1);
		if (pids[i] == 0) {
			own = pgtest_connect(db);
			if (migrate_run(own, &applied, &error) != 0)
				_exit(99);
			_exit(applied);
		}
	}
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFEXITED(status));
		sum += WEXITSTATUS(status);
	}
	ck_assert_int_eq(sum, (int)nmigrations);
	assert_whole(db);
	PQfinish(db);
}
END_TEST

/* What one version applied, the next one goes on from. */
START_TEST(goes_on_from_the_middle)
{
	PGconn	*db = empty_db();
	char	*error = NULL;
	int	 applied = 0;

	pgtest_exec(db, "%s", migrations[0].text);
	pgtest_exec(db, "INSERT INTO payonce.migration VALUES (1,"
	    " '001-schema')");
	ck_assert_int_eq(migrate_run(db, &applied, &error), 0);
	ck_assert_int_eq(applied, (int)nmigrations - 1);
	assert_whole(db);
	PQfinish(db);
}
END_TEST

START_TEST(a_newer_database_is_refused)
{
	PGconn	*db = pgtest_new_db();
	char	*error = NULL;
	int	 applied = -1;

	pgtest_exec(db, "INSERT INTO payonce.migration VALUES (5, '005-new')");
	ck_assert_int_eq(migrate_run(db, &applied, &error), PO_EVERSION);
	ck_assert_int_eq(applied, 0);
	ck_assert_ptr_nonnull(strstr(error, "migration 5 (005-new), this "
	    "program knows only 4"));
	mem_free(error);
	ck_assert_int_eq(PQtransactionStatus(db), PQTRANS_IDLE);
	pgtest_exec(db, "DELETE FROM payonce.migration WHERE version = 5;"
	    " UPDATE payonce.migration SET name = '002-other' WHERE version ="
	    " 2");
	ck_assert_int_eq(migrate_run(db, &applied, &error), PO_EVERSION);
	ck_assert_ptr_nonnull(strstr(error, "002-other"));
	mem_free(error);
	PQfinish(db);
}
END_TEST

/* A failing one leaves nothing of itself and says where. */
START_TEST(failure_is_whole)
{
	PGconn	*db = empty_db();
	char	*error = NULL;
	int	 applied = -1;

	pgtest_exec(db, "CREATE SCHEMA payonce; CREATE FUNCTION"
	    " payonce.complete(text, bigint[], bigint[], text[], text[],"
	    " text[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1::bigint'");
	ck_assert_int_eq(migrate_run(db, &applied, &error), PO_EIO);
	ck_assert_int_eq(applied, 1);
	ck_assert_ptr_nonnull(strstr(error, "002-transitions: "));
	ck_assert_ptr_nonnull(strstr(error, "already exists"));
	ck_assert_int_ne(error[strlen(error) - 1], '\n');
	mem_free(error);
	error = NULL;
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM pg_proc WHERE"
	    " proname = 'claim'"), 0);
	pgtest_exec(db, "DROP FUNCTION payonce.complete");
	ck_assert_int_eq(migrate_run(db, &applied, &error), 0);
	ck_assert_int_eq(applied, (int)nmigrations - 1);
	assert_whole(db);
	PQfinish(db);
}
END_TEST

START_TEST(a_lost_connection_is_told)
{
	PGconn	*db = empty_db(), *other = pgtest_connect(db);
	char	*error = NULL;
	int	 applied = -1;

	pgtest_exec(other, "SELECT pg_terminate_backend(%d, 5000)",
	    PQbackendPID(db));
	ck_assert_int_eq(migrate_run(db, &applied, &error), PO_EIO);
	ck_assert_int_eq(applied, 0);
	ck_assert_ptr_nonnull(error);
	mem_free(error);
	PQfinish(db);
	PQfinish(other);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_migrate");
	TCase	*tc = tcase_create("migrate");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, numbers_have_no_gap);
	tcase_add_test(tc, twice);
	tcase_add_test(tc, at_the_same_time);
	tcase_add_test(tc, goes_on_from_the_middle);
	tcase_add_test(tc, a_newer_database_is_refused);
	tcase_add_test(tc, failure_is_whole);
	tcase_add_test(tc, a_lost_connection_is_told);
	return suite_run(suite);
}
