/*
 * check_sql_receipts.c - what a receipt may do to a row, as a full table.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define NCLASSES	7

static const struct {
	const char	*class;
	const char	*request_id;
} classes[NCLASSES] = {
	{ "submitted", "r1" }, { "submitted", "r2" }, { "result", "NULL" },
	{ "rejected", "NULL" }, { "unsent", "NULL" }, { "throttled", "NULL" },
	{ "account", "NULL" }
};

/*
 * k known, s superseded (an event, nothing else); applied: P PENDING,
 * R RUNNING, S SUBMITTED, D SUCCEEDED, F FAILED
 */
static const struct {
	const char	*shape;
	const char	*want;
} table[] = {
	{ "waiting",		"ssss" "kkk" },
	{ "pending",		"SSRF" "kkk" },
	{ "released",		"SSRF" "kkk" },
	{ "running_paid",	"SSRF" "kkk" },
	{ "marked",		"SSRF" "PPP" },
	{ "marked_result",	"SSks" "sss" },
	{ "submitted",		"ksSs" "sss" },
	{ "submitted_result",	"ksks" "sss" },
	{ "succeeded",		"ksks" "sss" },
	{ "failed",		"ksss" "sss" },
	{ "rejected",		"sssk" "kkk" },
	{ "canceled",		"ssss" "kkk" },
	{ "parked",		"SSDF" "PPP" },
	{ "parked_id",		"ksSs" "sss" },
};

#define NROWS	(sizeof(table) / sizeof(table[0]))

/* apply() gives one receipt and returns the verdict; the caller frees. */
static char *
apply(PGconn *db, long task, int attempt, int class)
{
	return pgtest_list(db, "SELECT verdict FROM payonce.apply_receipts("
	    "'h9', '{%ld}', '{%d}', '{%s}', '{%s}', '{NULL}', '{NULL}',"
	    " '{NULL}', ARRAY[%s], '{NULL}', '{NULL}', '{why}', '{text}',"
	    " '{600}')", task, attempt, classes[class].class,
	    classes[class].request_id, class == 2 ? "'{\"saved\":2}'" :
	    "NULL");
}

static const char *
status_word(char letter)
{
	switch (letter) {
	case 'P': return "PENDING";
	case 'R': return "RUNNING";
	case 'S': return "SUBMITTED";
	case 'D': return "SUCCEEDED";
	case 'F': return "FAILED";
	default: return NULL;
	}
}

static void
check_cell(PGconn *db, size_t row, int class)
{
	const char	*status;
	char		*before, *after, *verdict, *is;
	char		 want = table[row].want[class];
	long		 task, events;

	task = sqltask_make(db, table[row].shape);
	before = pgtest_value(db, "SELECT g FROM payonce.generation_task g"
	    " WHERE id = %ld", task);
	pgtest_exec(db, "DELETE FROM payonce.task_event");
	verdict = apply(db, task, 1, class);
	after = pgtest_value(db, "SELECT g FROM payonce.generation_task g"
	    " WHERE id = %ld", task);
	events = pgtest_int(db, "SELECT count(*) FROM payonce.task_event");
	is = sqltask_status(db, task);
	status = status_word(want);
	ck_assert_msg(strcmp(verdict, want == 'k' ? "known" : want == 's' ?
	    "superseded" : "applied") == 0, "%s(%s) on a %s task: %s",
	    classes[class].class, classes[class].request_id, table[row].shape,
	    verdict);
	if (status != NULL)
		ck_assert_msg(strcmp(is, status) == 0, "%s on a %s task: now "
		    "%s", classes[class].class, table[row].shape, is);
	else
		ck_assert_str_eq(before, after);
	ck_assert_int_eq(events, want == 'k' ? 0 : 1);
	free(verdict);
	mem_free(before);
	mem_free(after);
	mem_free(is);
}

START_TEST(every_pair)
{
	PGconn	*db = sqltask_new_db();
	int	 class;

	for (class = 0; class < NCLASSES; class++)
		check_cell(db, (size_t)_i, class);
	PQfinish(db);
}
END_TEST

/* Applied once, the same receipt is known from then on. */
START_TEST(repeat_is_known)
{
	PGconn	*db = sqltask_new_db();
	char	*verdict;
	long	 task;
	size_t	 row;
	int	 class;

	for (row = 0; row < NROWS; row++)
		for (class = 0; class < NCLASSES; class++) {
			if (status_word(table[row].want[class]) == NULL)
				continue;
			task = sqltask_make(db, table[row].shape);
			free(apply(db, task, 1, class));
			verdict = apply(db, task, 1, class);
			ck_assert_msg(strcmp(verdict, "known") == 0,
			    "second %s on a %s task: %s", classes[class].class,
			    table[row].shape, verdict);
			free(verdict);
		}
	PQfinish(db);
}
END_TEST

START_TEST(columns_after)
{
	PGconn	*db = sqltask_new_db();
	char	*list;
	long	 task = sqltask_make(db, "parked"), token;

	token = sqltask_token(db, task);
	free(apply(db, task, 1, 0));
	list = pgtest_list(db, "SELECT remote_request_id, lease_owner,"
	    " parked_at, attempt, poll_deadline_at > now() + interval '590 s'"
	    " FROM payonce.generation_task WHERE id = %ld", task);
	ck_assert_str_eq(list, "r1,,,1,t");
	free(list);
	/* the token of the life that parked it is dead */
	ck_assert_int_eq(sqltask_call(db, "park", task, token), 0);
	ck_assert_int_eq(sqltask_call(db, "complete", task, token), 0);

	task = sqltask_make(db, "marked");
	free(apply(db, task, 1, 4));
	list = pgtest_list(db, "SELECT attempt, submit_started_at, own_id,"
	    " reason, due FROM payonce.generation_task WHERE id = %ld", task);
	ck_assert_str_eq(list, "2,,,why,t");
	free(list);
	list = pgtest_list(db, "SELECT attempt, action, cost_actual,"
	    " submit_started_at IS NOT NULL, own_id IS NOT NULL FROM"
	    " payonce.past_attempt WHERE task_id = %ld", task);
	ck_assert_str_eq(list, "1,receipt,0,t,t");
	free(list);

	task = sqltask_make(db, "marked");
	free(apply(db, task, 1, 3));
	list = pgtest_list(db, "SELECT submit_started_at, cost_actual, reason"
	    " FROM payonce.generation_task WHERE id = %ld", task);
	ck_assert_str_eq(list, ",0,why");
	free(list);
	PQfinish(db);
}
END_TEST

START_TEST(a_person_has_the_last_word)
{
	PGconn	*db = sqltask_new_db();
	char	*verdict, *list;
	long	 task;
	int	 class;

	for (class = 0; class < NCLASSES; class++) {
		task = sqltask_make(db, "parked");
		pgtest_exec(db, "SELECT payonce.resolve(%ld, 'failed', 'bob',"
		    " 'gone')", task);
		verdict = apply(db, task, 1, class);
		ck_assert_str_eq(verdict, "superseded");
		free(verdict);
		task = sqltask_make(db, "parked");
		pgtest_exec(db, "SELECT payonce.resolve(%ld, 'requeue', 'bob',"
		    " 'gone')", task);
		verdict = apply(db, task, 1, class);
		ck_assert_str_eq(verdict, "superseded");
		free(verdict);
		/* but the money is known now */
		list = pgtest_list(db, "SELECT remote_request_id FROM"
		    " payonce.past_attempt WHERE task_id = %ld", task);
		ck_assert_str_eq(list, class < 2 ?
		    classes[class].request_id : "");
		free(list);
	}
	task = sqltask_make(db, "parked");
	pgtest_exec(db, "SELECT payonce.resolve(%ld, 'adopt', 'bob', 'seen',"
	    " request_id => 'r1')", task);
	verdict = apply(db, task, 1, 0);
	ck_assert_str_eq(verdict, "known");
	free(verdict);
	for (class = 1; class < NCLASSES; class++) {
		verdict = apply(db, task, 1, class);
		ck_assert_str_eq(verdict, "superseded");
		free(verdict);
	}
	list = pgtest_list(db, "SELECT status, remote_request_id, result FROM"
	    " payonce.generation_task WHERE id = %ld", task);
	ck_assert_str_eq(list, "SUBMITTED,r1,");
	free(list);
	PQfinish(db);
}
END_TEST

START_TEST(many_at_once)
{
	PGconn	*db = sqltask_new_db();
	char	*list;

	sqltask_make(db, "parked");			/* 1 */
	sqltask_make(db, "marked");			/* 2 */
	sqltask_make(db, "submitted");			/* 3 */
	list = pgtest_list(db, "SELECT * FROM payonce.apply_receipts('h9',"
	    " '{3,77,2,1,2}', '{1,1,1,1,2}', '{submitted,unsent,rejected,"
	    "submitted,unsent}', '{r1,NULL,NULL,r7,NULL}', '{NULL,NULL,NULL,"
	    "NULL,NULL}', '{NULL,NULL,NULL,NULL,NULL}', '{NULL,NULL,NULL,"
	    "NULL,NULL}', '{NULL,NULL,NULL,NULL,NULL}', '{NULL,NULL,NULL,0.5,"
	    "NULL}', '{NULL,NULL,NULL,EUR,NULL}', '{NULL,NULL,a,NULL,NULL}',"
	    " '{NULL,NULL,b,NULL,NULL}', '{9,9,9,9,9}') ORDER BY id, attempt");
	ck_assert_str_eq(list, "1,1,applied;2,1,applied;2,2,superseded;"
	    "3,1,known;77,1,unknown");
	free(list);
	list = pgtest_list(db, "SELECT id, status, remote_request_id,"
	    " cost_actual, currency FROM payonce.generation_task ORDER BY id");
	ck_assert_str_eq(list, "1,SUBMITTED,r7,0.5,EUR;2,FAILED,,0,USD;"
	    "3,SUBMITTED,r1,,USD");
	free(list);
	/* receipts open the door for their own statement only */
	ck_assert_str_eq(pgtest_error(db, "BEGIN; SELECT payonce."
	    "apply_receipts('h9', '{}', '{}', '{}', '{}', '{}', '{}', '{}',"
	    " '{}', '{}', '{}', '{}', '{}', '{}'); UPDATE"
	    " payonce.generation_task SET status = 'FAILED', parked_at = NULL,"
	    " finished_at = now() WHERE id = %ld",
	    sqltask_make(db, "parked")), "23514");
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_receipts");
	TCase	*tc = tcase_create("receipts");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, every_pair, 0, (int)NROWS);
	tcase_add_test(tc, repeat_is_known);
	tcase_add_test(tc, columns_after);
	tcase_add_test(tc, a_person_has_the_last_word);
	tcase_add_test(tc, many_at_once);
	return suite_run(suite);
}
