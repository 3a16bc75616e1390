/*
 * check_sql_edges.c - every (state, transition) pair, by function and by hand.
 *
 * The table below is the whole truth: what is not written there must change
 * nothing, not even an event.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define NFNS	13

static const char *const	fns[NFNS] = {
	"mark", "record", "result", "progress", "complete", "complete_saved",
	"release", "release_unmark", "reject", "fail", "park", "expire",
	"renew"
};

/*
 * What each function does to each shape with the right token:
 * . refused   = counted as won, nothing changes (a repeat)
 * * changes columns, keeps the status; a letter: the new status
 * (P PENDING, S SUBMITTED, D SUCCEEDED, F FAILED, U OUTCOME_UNKNOWN)
 */
static const char *const	table[SQLTASK_NSHAPES] = {
	[0] = /* waiting */		"............." ,
	[1] = /* pending */		"............." ,
	[2] = /* released */		"......==....." ,
	[3] = /* running_local */	"..**D.PPFF.**" ,
	[4] = /* running_paid */	"*..*..PPFF.**" ,
	[5] = /* marked */		".S**D..PFFU**" ,
	[6] = /* marked_result */	".S=*DD...FU**" ,
	[7] = /* submitted */		".=**D....FU**" ,
	[8] = /* submitted_result */	".==*DD...FU**" ,
	[9] = /* succeeded */		"....==......." ,
	[10] = /* failed */		".........=..." ,
	[11] = /* rejected */		"........==..." ,
	[12] = /* canceled */		"......==....." ,
	[13] = /* parked */		"..........=.." ,
	[14] = /* parked_id */		"..........=.."
};

static const char *
status_word(char letter)
{
	switch (letter) {
	case 'P': return "PENDING";
	case 'S': return "SUBMITTED";
	case 'D': return "SUCCEEDED";
	case 'F': return "FAILED";
	case 'U': return "OUTCOME_UNKNOWN";
	default: return NULL;
	}
}

static void
check_cell(PGconn *db, int shape, int fn)
{
	char	 want = table[shape][fn], *before, *after, *was, *is;
	long	 task = sqltask_make(db, sqltask_shapes[shape]), won;

	before = sqltask_print(db, task);
	was = sqltask_status(db, task);
	won = sqltask_call(db, fns[fn], task, sqltask_token(db, task));
	after = sqltask_print(db, task);
	is = sqltask_status(db, task);
	ck_assert_msg(won == (want != '.'), "%s of a %s task: won %ld",
	    fns[fn], sqltask_shapes[shape], won);
	if (want == '.' || want == '=')
		ck_assert_msg(strcmp(before, after) == 0,
		    "%s of a %s task changed it:\n%s\n%s", fns[fn],
		    sqltask_shapes[shape], before, after);
	else
		ck_assert_msg(strcmp(before, after) != 0,
		    "%s of a %s task changed nothing", fns[fn],
		    sqltask_shapes[shape]);
	ck_assert_msg(strcmp(is, status_word(want) != NULL ?
	    status_word(want) : was) == 0, "%s of a %s task: now %s",
	    fns[fn], sqltask_shapes[shape], is);
	mem_free(before);
	mem_free(after);
	mem_free(was);
	mem_free(is);
}

START_TEST(every_pair)
{
	PGconn	*db = sqltask_new_db();
	int	 fn;

	ck_assert_uint_eq(strlen(table[_i]), NFNS);
	for (fn = 0; fn < NFNS; fn++)
		check_cell(db, _i, fn);
	PQfinish(db);
}
END_TEST

/* Each winning change of a status leaves exactly one event that says so. */
START_TEST(every_change_has_one_event)
{
	PGconn	*db = sqltask_new_db();
	char	*was, *is, *events;
	long	 task;
	int	 shape, fn;

	for (shape = 0; shape < SQLTASK_NSHAPES; shape++)
		for (fn = 0; fn < NFNS; fn++) {
			if (status_word(table[shape][fn]) == NULL)
				continue;
			task = sqltask_make(db, sqltask_shapes[shape]);
			was = sqltask_status(db, task);
			pgtest_exec(db, "DELETE FROM payonce.task_event");
			sqltask_call(db, fns[fn], task,
			    sqltask_token(db, task));
			is = mem_printf("%ld,%s,%s,h1,postgres", task, was,
			    status_word(table[shape][fn]));
			events = pgtest_list(db, "SELECT task_id, from_status,"
			    " to_status, host, actor FROM payonce.task_event");
			ck_assert_str_eq(events, is);
			mem_free(was);
			mem_free(is);
			free(events);
		}
	PQfinish(db);
}
END_TEST

/* A token of another life, an older one, a future one: nothing moves. */
START_TEST(stale_token)
{
	PGconn	*db = sqltask_new_db();
	char	*before, *after;
	long	 task, token;
	int	 fn, off;

	task = sqltask_make(db, sqltask_shapes[_i]);
	token = sqltask_token(db, task);
	before = sqltask_print(db, task);
	for (fn = 0; fn < NFNS; fn++)
		for (off = -1; off <= 1; off += 2)
			ck_assert_msg(sqltask_call(db, fns[fn], task,
			    token + off) == 0, "%s of a %s task took a stale "
			    "token", fns[fn], sqltask_shapes[_i]);
	after = sqltask_print(db, task);
	ck_assert_str_eq(before, after);
	mem_free(before);
	mem_free(after);
	PQfinish(db);
}
END_TEST

/* The batch is sent twice after a lost connection: same answer, one effect. */
START_TEST(repeat_is_won_once)
{
	PGconn	*db = sqltask_new_db();
	char	*first, *second;
	long	 task, token, won;
	int	 shape, fn;

	for (shape = 0; shape < SQLTASK_NSHAPES; shape++)
		for (fn = 0; fn < NFNS; fn++) {
			if (table[shape][fn] == '.' ||
			    strcmp(fns[fn], "renew") == 0)
				continue;
			task = sqltask_make(db, sqltask_shapes[shape]);
			token = sqltask_token(db, task);
			sqltask_call(db, fns[fn], task, token);
			first = sqltask_print(db, task);
			won = sqltask_call(db, fns[fn], task, token);
			second = sqltask_print(db, task);
			/* law 2: the mark is the exception */
			ck_assert_msg(won == (fn != 0), "second %s of a %s "
			    "task: won %ld", fns[fn], sqltask_shapes[shape],
			    won);
			ck_assert_str_eq(first, second);
			mem_free(first);
			mem_free(second);
		}
	PQfinish(db);
}
END_TEST

static const char *const	words[] = {
	"WAITING", "PENDING", "RUNNING", "SUBMITTED", "SUCCEEDED", "FAILED",
	"CANCELED", "OUTCOME_UNKNOWN"
};

/* rows: from, columns: to, in the order of words */
static const char *const	edges[] = {
	".1....1.", "..1...1.", ".1.11111", "....11.1",
	"........", "........", "........", ".1.111.."
};

/* The trigger alone: the columns' CHECK is taken away. */
START_TEST(every_edge_by_hand)
{
	PGconn		*db = sqltask_new_db();
	const char	*state;
	long		 task;
	size_t		 from, to;

	pgtest_exec(db, "ALTER TABLE payonce.generation_task DROP CONSTRAINT"
	    " task_columns_fit_status");
	for (from = 0; from < 8; from++)
		for (to = 0; to < 8; to++) {
			if (from == to)
				continue;
			task = sqltask_make(db, "pending");
			pgtest_exec(db, "ALTER TABLE payonce.generation_task"
			    " DISABLE TRIGGER USER; UPDATE"
			    " payonce.generation_task SET status = '%s' WHERE"
			    " id = %ld; ALTER TABLE payonce.generation_task"
			    " ENABLE TRIGGER USER", words[from], task);
			pgtest_exec(db, "SELECT set_config('payonce.evidence',"
			    " '%s', false)", _i == 1 ? "resolve" : "");
			/* parked rows: only with evidence */
			if (edges[from][to] == '1' && (from != 7 || _i == 1)) {
				pgtest_exec(db, "UPDATE"
				    " payonce.generation_task SET status ="
				    " '%s' WHERE id = %ld", words[to], task);
				continue;
			}
			state = pgtest_error(db, "UPDATE"
			    " payonce.generation_task SET status = '%s' WHERE"
			    " id = %ld", words[to], task);
			ck_assert_msg(strcmp(state, "23514") == 0,
			    "%s -> %s: %s", words[from], words[to], state);
		}
	PQfinish(db);
}
END_TEST

START_TEST(mark_needs_a_live_lease)
{
	PGconn	*db = sqltask_new_db();
	long	 task = sqltask_make(db, "running_paid");
	long	 token = sqltask_token(db, task);

	ck_assert_int_eq(sqltask_call(db, "expire", task, token), 1);
	ck_assert_int_eq(sqltask_call(db, "mark", task, token), 0);
	/* an expired lease is not revived by its old owner */
	ck_assert_int_eq(sqltask_call(db, "renew", task, token), 0);
	ck_assert_int_eq(sqltask_call(db, "mark", task, token), 0);
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE submit_started_at IS NOT NULL"), 0);

	task = sqltask_make(db, "running_paid");
	pgtest_exec(db, "SELECT payonce.cancel(%ld)", task);
	ck_assert_int_eq(sqltask_call(db, "mark", task,
	    sqltask_token(db, task)), 0);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_edges");
	TCase	*tc = tcase_create("edges");

	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_pair, 0, SQLTASK_NSHAPES);
	tcase_add_test(tc, every_change_has_one_event);
	tcase_add_loop_test(tc, stale_token, 0, SQLTASK_NSHAPES);
	tcase_add_test(tc, repeat_is_won_once);
	tcase_add_loop_test(tc, every_edge_by_hand, 0, 2);
	tcase_add_test(tc, mark_needs_a_live_lease);
	return suite_run(suite);
}
