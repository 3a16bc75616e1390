/*
 * check_sql_guard.c - what the database refuses, whoever asks.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define UPDATE		"UPDATE payonce.generation_task SET "

/* columns that a status needs or forbids: each change alone is refused */
static const struct {
	const char	*shape;
	const char	*set;
} misfits[] = {
	{ "waiting", "submit_started_at = now()" },
	{ "pending", "submit_started_at = now()" },
	{ "pending", "remote_request_id = 'r'" },
	{ "pending", "submitted_at = now()" },
	{ "pending", "lease_owner = 'h', lease_expires_at = now()" },
	{ "pending", "lease_owner = 'h'" },
	{ "pending", "result = '{}'" },
	{ "pending", "finished_at = now()" },
	{ "pending", "parked_at = now()" },
	{ "pending", "cancel_requested_at = now()" },
	{ "running_paid", "lease_owner = NULL" },
	{ "running_paid", "lease_token = NULL" },
	{ "running_paid", "lease_expires_at = NULL" },
	{ "running_paid", "remote_request_id = 'r'" },
	{ "running_paid", "finished_at = now()" },
	{ "marked", "parked_at = now()" },
	{ "submitted", "remote_request_id = NULL" },
	{ "submitted", "submit_started_at = NULL" },
	{ "submitted", "submitted_at = NULL" },
	{ "submitted", "lease_owner = NULL" },
	{ "submitted", "lease_expires_at = NULL" },
	{ "submitted", "finished_at = now()" },
	{ "succeeded", "result = NULL" },
	{ "succeeded", "finished_at = NULL" },
	{ "succeeded", "lease_owner = 'h', lease_expires_at = now()" },
	{ "failed", "finished_at = NULL" },
	{ "failed", "lease_owner = 'h', lease_expires_at = now()" },
	{ "failed", "submit_started_at = NULL" },
	{ "canceled", "finished_at = NULL" },
	{ "canceled", "submit_started_at = now()" },
	{ "parked", "submit_started_at = NULL" },
	{ "parked", "reason = NULL" },
	{ "parked", "parked_at = NULL" },
	{ "parked", "lease_owner = 'h', lease_expires_at = now()" },
	{ "parked", "finished_at = now()" },
	{ "marked", "id = DEFAULT" },
	{ "marked", "kind = 'other'" },
	{ "marked", "input = '{\"b\":1}'" },
	{ "marked", "created_at = now() - interval '1 day'" },
};

START_TEST(column_misfits)
{
	PGconn		*db = sqltask_new_db();
	const char	*state;
	long		 task;
	size_t		 i;

	for (i = 0; i < COUNT(misfits); i++) {
		task = sqltask_make(db, misfits[i].shape);
		state = pgtest_error(db, UPDATE "%s WHERE id = %ld",
		    misfits[i].set, task);
		ck_assert_msg(strcmp(state, "23514") == 0, "%s, %s: %s",
		    misfits[i].shape, misfits[i].set, state);
	}
	/* the same values are no change */
	pgtest_exec(db, UPDATE "input = input, kind = kind, status = status");
	PQfinish(db);
}
END_TEST

static const char *const	bad_inserts[] = {
	"'k', '{}', 'RUNNING'", "'k', '{}', 'SUBMITTED'",
	"'k', '{}', 'SUCCEEDED'", "'k', '{}', 'FAILED'",
	"'k', '{}', 'CANCELED'", "'k', '{}', 'OUTCOME_UNKNOWN'",
	"'K', '{}', 'PENDING'", "'9', '{}', 'PENDING'",
	"'', '{}', 'PENDING'", "'k', '[]', 'PENDING'", "'k', '1', 'PENDING'"
};

START_TEST(bad_insert)
{
	PGconn	*db = sqltask_new_db();
	size_t	 i;

	for (i = 0; i < COUNT(bad_inserts); i++)
		ck_assert_str_eq(pgtest_error(db, "INSERT INTO"
		    " payonce.generation_task (kind, input, status)"
		    " VALUES (%s)", bad_inserts[i]), "23514");
	pgtest_exec(db, "INSERT INTO payonce.generation_task (kind, input,"
	    " status) VALUES ('k', '{}', 'PENDING')");
	PQfinish(db);
}
END_TEST

static const struct {
	const char	*args;
	const char	*state;
} bad_enqueues[] = {
	{ "'Image', '{}'", "22023" },
	{ "'a b', '{}'", "22023" },
	{ "'', '{}'", "22023" },
	{ "NULL, '{}'", "22023" },
	{ "'k' || repeat('x', 64), '{}'", "22023" },
	{ "'k', NULL", "22023" },
	{ "'k', '[1]'", "22023" },
	{ "'k', '\"x\"'", "22023" },
	{ "'k', '{}', priority => -1", "22023" },
	{ "'k', '{}', priority => 32768", "22023" },
	{ "'k', '{}', priority => NULL", "22023" },
	{ "'k', '{}', after => '{4711}'", "23503" },
	{ "'k', '{}', after => ARRAY[NULL]::bigint[]", "23503" },
	{ "'k', jsonb_build_object('x', repeat('y', 4194304))", "54000" },
};

START_TEST(enqueue_refuses)
{
	PGconn		*db = sqltask_new_db();
	const char	*state;
	size_t		 i;

	for (i = 0; i < COUNT(bad_enqueues); i++) {
		state = pgtest_error(db, "SELECT payonce.enqueue(%s)",
		    bad_enqueues[i].args);
		ck_assert_msg(strcmp(state, bad_enqueues[i].state) == 0,
		    "%s: %s", bad_enqueues[i].args, state);
	}
	ck_assert_int_eq(pgtest_int(db,
	    "SELECT count(*) FROM payonce.generation_task"), 0);
	pgtest_exec(db, "SELECT payonce.enqueue('k' || repeat('x', 63),"
	    " jsonb_build_object('x', repeat('y', 4194200)))");
	PQfinish(db);
}
END_TEST

START_TEST(enqueue_dedupes)
{
	PGconn	*db = sqltask_new_db(), *other = pgtest_connect(db);
	char	*list;

	ck_assert_int_eq(pgtest_int(db, "SELECT payonce.enqueue('k', '{}',"
	    " dedupe_key => 'a')"), 1);
	ck_assert_int_eq(pgtest_int(db, "SELECT payonce.enqueue('k', '{\"x\":"
	    "1}', dedupe_key => 'a', after => '{1}')"), 1);
	/* another transaction's key that never came to be */
	pgtest_exec(other, "BEGIN; SELECT payonce.enqueue('k', '{}',"
	    " dedupe_key => 'b'); ROLLBACK");
	pgtest_exec(db, "SELECT payonce.enqueue('k', '{}', dedupe_key => 'b',"
	    " job_id => 7, model => 'm', priority => 3)");
	list = pgtest_list(db, "SELECT dedupe_key, job_id, model, priority,"
	    " status, attempt FROM payonce.generation_task ORDER BY id");
	ck_assert_str_eq(list, "a,,,100,PENDING,1;b,7,m,3,PENDING,1");
	free(list);
	list = pgtest_list(db, "SELECT from_status IS NULL, to_status, reason,"
	    " actor FROM payonce.task_event ORDER BY id");
	ck_assert_str_eq(list, "t,PENDING,enqueued,postgres;"
	    "t,PENDING,enqueued,postgres");
	free(list);
	PQfinish(other);
	PQfinish(db);
}
END_TEST

/* what each role may call: a letter for app, supervisor, operator */
static const struct {
	const char	*sql;
	const char	*roles;
} rights[] = {
	{ "SELECT payonce.enqueue('k', '{}')", "ao" },
	{ "SELECT payonce.cancel(1)", "ao" },
	{ "SELECT count(*) FROM payonce.generation_task", "aso" },
	{ "SELECT count(*) FROM payonce.parked", "aso" },
	{ "SELECT count(*) FROM payonce.spend", "aso" },
	{ "SELECT payonce.hold('k', 'bob', 'x')", "o" },
	{ "SELECT payonce.release_kind('k', 'bob')", "so" },
	{ "SELECT * FROM payonce.claim('h', '{k}', '{m}', '{m}', '{1}', 60,"
	    " true)", "s" },
	{ "SELECT t.id FROM payonce.renew('h', '{1}', '{1}', 6) t", "s" },
	{ "SELECT payonce.expire('h', '{1}', '{1}')", "s" },
	{ "SELECT payonce.park('h', '{1}', '{1}', '{a}', '{b}')", "s" },
	{ "SELECT payonce.next_due('{k}')", "s" },
	{ "SELECT payonce.host_seen('h', 'x', 1, '0', '{}')", "s" },
	{ "SELECT count(*) FROM payonce.settings()", "so" },
	{ "SELECT payonce.settle('h', '{1}', NULL, true)", "" },
	{ "SELECT payonce.settle_sweep('h')", "" },
	{ UPDATE "status = 'PENDING'", "" },
	{ UPDATE "priority = 1", "" },
	{ "INSERT INTO payonce.generation_task (kind, input)"
	    " VALUES ('k', '{}')", "" },
	{ "DELETE FROM payonce.generation_task", "" },
	{ "TRUNCATE payonce.task_event", "" },
	{ "INSERT INTO payonce.task_event (task_id, attempt, to_status)"
	    " VALUES (1, 1, 'PENDING')", "" },
	{ "SELECT nextval('payonce.lease_token_seq')", "" },
	{ "CREATE TABLE payonce.x ()", "" },
};

START_TEST(roles)
{
	static const char *const	 names[] = { "payonce_app",
	    "payonce_supervisor", "payonce_operator" };
	static const char		 letters[] = "aso";
	PGconn				*db = sqltask_new_db();
	const char			*state;
	size_t				 i, role;

	sqltask_make(db, "pending");
	for (role = 0; role < COUNT(names); role++)
		for (i = 0; i < COUNT(rights); i++) {
			/* As in an application: a session of that role. */
			pgtest_exec(db, "SET SESSION AUTHORIZATION %s",
			    names[role]);
			if (strchr(rights[i].roles, letters[role]) != NULL) {
				pgtest_exec(db, "%s", rights[i].sql);
			} else {
				state = pgtest_error(db, "%s", rights[i].sql);
				ck_assert_msg(strcmp(state, "42501") == 0,
				    "%s as %s: %s", rights[i].sql,
				    names[role], state);
			}
			pgtest_exec(db, "RESET SESSION AUTHORIZATION");
		}
	PQfinish(db);
}
END_TEST

/* Objects of the caller's own schema never get into our functions. */
START_TEST(search_path_is_pinned)
{
	PGconn	*db = sqltask_new_db();
	long	 unpinned;

	unpinned = pgtest_int(db, "SELECT count(*) FROM pg_proc WHERE"
	    " pronamespace = 'payonce'::regnamespace AND prosecdef AND NOT"
	    " coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig),"
	    " false)");
	ck_assert_int_eq(unpinned, 0);
	/* everything but the triggers and the JSON cast is SECURITY DEFINER */
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM pg_proc WHERE"
	    " pronamespace = 'payonce'::regnamespace AND NOT prosecdef AND"
	    " prorettype <> 'trigger'::regtype AND proname <> 'safe_jsonb'"),
	    0);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM pg_proc p WHERE"
	    " pronamespace = 'payonce'::regnamespace AND proacl IS NULL"), 0);
	PQfinish(db);
}
END_TEST

START_TEST(settings_tell_what_is_unsafe)
{
	PGconn	*db = sqltask_new_db();
	char	*list;

	list = pgtest_list(db, "SELECT system_id = (SELECT"
	    " system_identifier::text FROM pg_control_system()), timeline,"
	    " schema_version, problem FROM payonce.settings()");
	ck_assert_str_eq(list, "t,1,4,");
	free(list);
	pgtest_exec(db, "SET synchronous_commit = off");
	list = pgtest_value(db, "SELECT problem FROM payonce.settings()");
	ck_assert_ptr_nonnull(strstr(list, "synchronous_commit is off"));
	ck_assert_ptr_nonnull(strstr(list, "ALTER ROLE postgres SET"));
	ck_assert_ptr_null(strstr(list, "fsync"));
	mem_free(list);
	pgtest_exec(db, "RESET synchronous_commit");
	pgtest_exec(db, "ALTER SYSTEM SET fsync = off");
	pgtest_exec(db, "ALTER SYSTEM SET full_page_writes = off");
	pgtest_exec(db, "SELECT pg_reload_conf()");
	/* the reload is a signal: the session sees it between statements */
	do {
		list = pgtest_value(db, "SELECT coalesce(problem, '') FROM"
		    " payonce.settings()");
		if (strstr(list, "fsync = on") != NULL)
			break;
		mem_free(list);
	} while (1);
	ck_assert_ptr_nonnull(strstr(list, "set full_page_writes = on"));
	mem_free(list);
	pgtest_exec(db, "ALTER SYSTEM RESET ALL");
	pgtest_exec(db, "SELECT pg_reload_conf()");
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_guard");
	TCase	*tc = tcase_create("guard");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, column_misfits);
	tcase_add_test(tc, bad_insert);
	tcase_add_test(tc, enqueue_refuses);
	tcase_add_test(tc, enqueue_dedupes);
	tcase_add_test(tc, roles);
	tcase_add_test(tc, search_path_is_pinned);
	tcase_add_test(tc, settings_tell_what_is_unsafe);
	return suite_run(suite);
}
