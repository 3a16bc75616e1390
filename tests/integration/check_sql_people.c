/*
 * check_sql_people.c - what a person may decide: cancel, resolve, and what
 * the views tell.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void
assert_row(PGconn *db, long task, const char *columns, const char *want)
{
	char	*list = pgtest_list(db, "SELECT %s FROM"
	    " payonce.generation_task WHERE id = %ld", columns, task);

	ck_assert_msg(strcmp(list, want) == 0, "%s: %s, not %s", columns, list,
	    want);
	free(list);
}

static const char *const	cancel_says[SQLTASK_NSHAPES] = {
	"canceled", "canceled", "canceled", "requested", "requested",
	"too_late", "too_late", "too_late", "too_late",
	"ended", "ended", "ended", "ended", "too_late", "too_late"
};

START_TEST(cancel_of_every_state)
{
	PGconn	*db = sqltask_new_db();
	char	*before, *after, *says;
	long	 task;
	int	 shape;

	for (shape = 0; shape < SQLTASK_NSHAPES; shape++) {
		task = sqltask_make(db, sqltask_shapes[shape]);
		before = sqltask_print(db, task);
		says = pgtest_value(db, "SELECT payonce.cancel(%ld)", task);
		after = sqltask_print(db, task);
		ck_assert_msg(strcmp(says, cancel_says[shape]) == 0,
		    "%s: %s", sqltask_shapes[shape], says);
		if (strcmp(says, "canceled") == 0)
			assert_row(db, task, "status, reason", "CANCELED,"
			    "canceled");
		else if (strcmp(says, "requested") == 0)
			assert_row(db, task, "status, cancel_requested_at"
			    " IS NOT NULL", "RUNNING,t");
		else
			ck_assert_str_eq(before, after);
		mem_free(before);
		mem_free(after);
		mem_free(says);
	}
	ck_assert_str_eq(pgtest_error(db, "SELECT payonce.cancel(4711)"),
	    "P0002");
	PQfinish(db);
}
END_TEST

START_TEST(requested_cancel_ends_at_release)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "running_local");
	long	 token = sqltask_token(db, task);

	pgtest_exec(db, "SELECT payonce.cancel(%ld)", task);
	pgtest_exec(db, "SELECT payonce.cancel(%ld)", task);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.task_event WHERE task_id = %ld AND reason ="
	    " 'cancel_requested'", task), 1);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM payonce.renew("
	    "'h1', ARRAY[%ld::bigint], ARRAY[%ld::bigint], 60) WHERE"
	    " cancel_requested", task, token), 1);
	ck_assert_int_eq(sqltask_call(db, "release", task, token), 1);
	assert_row(db, task, "status, finished_at IS NOT NULL", "CANCELED,t");
	/* or it was faster */
	task = sqltask_make(db, "running_local");
	pgtest_exec(db, "SELECT payonce.cancel(%ld)", task);
	ck_assert_int_eq(sqltask_call(db, "complete", task,
	    sqltask_token(db, task)), 1);
	assert_row(db, task, "status", "SUCCEEDED");
	PQfinish(db);
}
END_TEST

static const struct {
	const char	*args;
	const char	*state;
} refused[] = {
	{ "'adopt', 'bob', 'x'", "22023" },		/* no id */
	{ "'adopt', 'bob', 'x', request_id => ''", "22023" },
	{ "'succeeded', 'bob', 'x'", "22023" },		/* no result */
	{ "'requeue', '', 'x'", "22023" },
	{ "'requeue', NULL, 'x'", "22023" },
	{ "'requeue', 'bob', '  '", "22023" },
	{ "'requeue', 'bob', NULL", "22023" },
	{ "'forget', 'bob', 'x'", "22023" },
	{ "NULL, 'bob', 'x'", "22023" },
};

START_TEST(resolve_refuses)
{
	PGconn		*db = sqltask_new_db();
	const char	*state;
	char		*before, *after;
	long		 task;
	size_t		 i;

	task = sqltask_make(db, "parked");
	before = sqltask_print(db, task);
	for (i = 0; i < COUNT(refused); i++) {
		state = pgtest_error(db, "SELECT payonce.resolve(%ld, %s)",
		    task, refused[i].args);
		ck_assert_msg(strcmp(state, refused[i].state) == 0,
		    "%s: %s", refused[i].args, state);
	}
	after = sqltask_print(db, task);
	ck_assert_str_eq(before, after);
	mem_free(before);
	mem_free(after);
	/* anything that is not parked */
	for (i = 0; i < SQLTASK_NSHAPES; i++) {
		if (strncmp(sqltask_shapes[i], "parked", 6) == 0)
			continue;
		task = sqltask_make(db, sqltask_shapes[i]);
		ck_assert_str_eq(pgtest_error(db, "SELECT payonce.resolve("
		    "%ld, 'requeue', 'bob', 'x')", task), "55000");
	}
	ck_assert_str_eq(pgtest_error(db, "SELECT payonce.resolve(4711,"
	    " 'requeue', 'bob', 'x')"), "P0002");
	PQfinish(db);
}
END_TEST

START_TEST(resolve_adopts)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "parked");
	long	 token = sqltask_token(db, task);
	char	*claimed;

	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'adopt', 'bob', 'seen',"
	    " request_id => 'r9', cost => 0.05)", task);
	assert_row(db, task, "status, remote_request_id, attempt, cost_actual,"
	    " lease_owner, decided_by, poll_deadline_at BETWEEN now() +"
	    " interval '59 min' AND now() + interval '61 min'",
	    "SUBMITTED,r9,1,0.05,,bob,t");
	/* whoever parked it is late */
	ck_assert_int_eq(sqltask_call(db, "park", task, token), 0);
	ck_assert_int_eq(sqltask_call(db, "fail", task, token), 0);
	claimed = pgtest_list(db, "SELECT status, remote_request_id FROM"
	    " payonce.claim('h2', (SELECT array_agg(kind) FROM"
	    " payonce.generation_task), '{m}', '{m}', '{1}', 60, true)");
	ck_assert_str_eq(claimed, "SUBMITTED,r9");
	free(claimed);

	/* more patience for an id that is there already */
	task = sqltask_make(db, "parked_id");
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'adopt', 'bob', 'runs')",
	    task);
	assert_row(db, task, "status, remote_request_id, poll_url,"
	    " poll_deadline_at BETWEEN now() + interval '595 s' AND now() +"
	    " interval '605 s'", "SUBMITTED,r1,pu,t");
	PQfinish(db);
}
END_TEST

START_TEST(resolve_requeues)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "parked_id");
	long	 token = sqltask_token(db, task);
	char	*own_id, *list;

	own_id = pgtest_value(db, "SELECT own_id FROM payonce.generation_task"
	    " WHERE id = %ld", task);
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'requeue', 'bob',"
	    " 'not there', cost => 0)", task);
	assert_row(db, task, "status, attempt, remote_request_id, own_id,"
	    " submit_started_at, poll_url, cost_estimated, requeues, due,"
	    " parked_at, decided_by", "PENDING,2,,,,,,0,t,,");
	list = pgtest_list(db, "SELECT attempt, status, reason, own_id = '%s',"
	    " remote_request_id, submit_started_at IS NOT NULL,"
	    " cost_estimated, cost_actual, action, superseded_by, note FROM"
	    " payonce.past_attempt WHERE task_id = %ld", own_id, task);
	ck_assert_str_eq(list, "1,OUTCOME_UNKNOWN,died_in_send_window,t,r1,t,"
	    "0.03,0,requeue,bob,not there");
	free(list);
	mem_free(own_id);
	list = pgtest_list(db, "SELECT from_status, to_status, reason, detail,"
	    " actor, attempt FROM payonce.task_event WHERE task_id = %ld"
	    " ORDER BY id DESC LIMIT 1", task);
	ck_assert_str_eq(list, "OUTCOME_UNKNOWN,PENDING,resolved_requeue,"
	    "not there,bob,1");
	free(list);
	ck_assert_int_eq(sqltask_call(db, "park", task, token), 0);
	ck_assert_int_eq(sqltask_call(db, "release", task, token), 0);
	PQfinish(db);
}
END_TEST

START_TEST(resolve_ends)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "parked");

	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'failed', 'bob', 'gone',"
	    " cost => 0)", task);
	assert_row(db, task, "status, cost_actual, decided_by, reason",
	    "FAILED,0,bob,resolved");
	task = sqltask_make(db, "parked");
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'succeeded', 'bob',"
	    " 'got it', result => '{\"u\":1}', currency => 'EUR')", task);
	assert_row(db, task, "status, result, currency",
	    "SUCCEEDED,{\"u\": 1},EUR");
	/* neither is open any more */
	ck_assert_str_eq(pgtest_error(db, "SELECT payonce.resolve(%ld,"
	    " 'requeue', 'bob', 'x')", task), "55000");
	PQfinish(db);
}
END_TEST

/* The right to leave OUTCOME_UNKNOWN ends with the function. */
START_TEST(evidence_does_not_linger)
{
	PGconn	*db = sqltask_new_db();
	long	 one = sqltask_make(db, "parked"), two;

	two = sqltask_make(db, "parked");
	pgtest_exec(db, "BEGIN; SELECT payonce.resolve(%ld, 'failed', 'bob',"
	    " 'x')", one);
	ck_assert_str_eq(pgtest_error(db, "UPDATE payonce.generation_task SET"
	    " status = 'FAILED', parked_at = NULL, finished_at = now() WHERE"
	    " id = %ld", two), "23514");
	pgtest_exec(db, "ROLLBACK");
	PQfinish(db);
}
END_TEST

START_TEST(money)
{
	PGconn	*db = sqltask_new_db();
	char	*list;
	long	 task;

	/* estimated 0.03 each; result says 0.04 */
	sqltask_make(db, "submitted_result");		/* 0.04 */
	sqltask_make(db, "submitted");			/* 0.03 */
	sqltask_make(db, "rejected");			/* 0 */
	sqltask_make(db, "parked");			/* risk 0.03 */
	sqltask_make(db, "released");			/* nothing */
	sqltask_make(db, "running_local");		/* nothing */
	task = sqltask_make(db, "parked");		/* risk 0.03 ... */
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'requeue', 'bob', 'x')",
	    task);
	task = sqltask_make(db, "marked");		/* proven free */
	sqltask_call(db, "release_unmark", task, sqltask_token(db, task));
	pgtest_exec(db, "ALTER TABLE payonce.generation_task DISABLE TRIGGER"
	    " USER; UPDATE payonce.generation_task SET kind = 'image', job_id"
	    " = 5; ALTER TABLE payonce.generation_task ENABLE TRIGGER USER");
	list = pgtest_list(db, "SELECT kind, provider, currency, attempts,"
	    " spent, at_risk, day = (now() AT TIME ZONE 'UTC')::date FROM"
	    " payonce.spend");
	ck_assert_str_eq(list, "image,mock,USD,5,0.07,0.06,t");
	free(list);
	list = pgtest_list(db, "SELECT job_id, tasks, succeeded, failed,"
	    " canceled, parked, open, spent, at_risk FROM payonce.job_cost");
	ck_assert_str_eq(list, "5,8,0,1,0,1,6,0.07,0.06");
	free(list);
	PQfinish(db);
}
END_TEST

START_TEST(views_for_people)
{
	PGconn	*db = sqltask_new_db();
	char	*list;
	long	 task = sqltask_make(db, "parked_id");

	sqltask_make(db, "parked");
	list = pgtest_list(db, "SELECT id, advice LIKE '%%request r1%%resolve "
	    "%ld adopt%%', advice LIKE '%%may pay twice%%', attempt, marked_at"
	    " IS NOT NULL FROM payonce.parked ORDER BY id", task);
	ck_assert_str_eq(list, "1,t,f,1,t;2,f,t,1,t");
	free(list);
	pgtest_exec(db, "SELECT payonce.hold('speech', 'bob', 'quiet');"
	    " SELECT payonce.host_seen('h1', 'box', 7, '0.1', '{}')");
	list = pgtest_list(db, "SELECT kind, parked, held_reason, held_detail"
	    " FROM payonce.kind_status ORDER BY kind");
	ck_assert_str_eq(list, "k1,1,,;k2,1,,;speech,0,operator,bob: quiet");
	free(list);
	sqltask_make(db, "submitted");
	list = pgtest_list(db, "SELECT owner, pid, in_flight, lease_lost,"
	    " silent_s < 5 FROM payonce.host_status");
	ck_assert_str_eq(list, "h1,7,1,0,t");
	free(list);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_people");
	TCase	*tc = tcase_create("people");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, cancel_of_every_state);
	tcase_add_test(tc, requested_cancel_ends_at_release);
	tcase_add_test(tc, resolve_refuses);
	tcase_add_test(tc, resolve_adopts);
	tcase_add_test(tc, resolve_requeues);
	tcase_add_test(tc, resolve_ends);
	tcase_add_test(tc, evidence_does_not_linger);
	tcase_add_test(tc, money);
	tcase_add_test(tc, views_for_people);
	return suite_run(suite);
}
