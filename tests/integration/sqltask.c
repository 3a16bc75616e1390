/*
 * sqltask.c - tasks in any state, and transitions by name, for the SQL tests.
 *
 * Owns the schema "t" in the test's database.  Must reach its states through
 * payonce's own functions only.
 */
#include <string.h>

#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"

const char *const	sqltask_shapes[SQLTASK_NSHAPES] = {
	"waiting", "pending", "released", "running_local", "running_paid",
	"marked", "marked_result", "submitted", "submitted_result",
	"succeeded", "failed", "rejected", "canceled", "parked", "parked_id"
};

static const char	tools_call[] =
"CREATE SCHEMA t; CREATE SEQUENCE t.n;"
"CREATE FUNCTION t.call(fn text, i bigint, k bigint) RETURNS bigint"
" LANGUAGE plpgsql AS $$ DECLARE n bigint; BEGIN"
" CASE fn"
" WHEN 'mark' THEN SELECT count(*) INTO n FROM"
"  payonce.mark_submit_started('h1', ARRAY[i], ARRAY[k], '{NULL}', '{NULL}',"
"  '{0.03}', '{USD}');"
" WHEN 'record' THEN SELECT count(*) INTO n FROM"
"  payonce.record_submitted('h1', ARRAY[i], ARRAY[k], '{r1}', '{pu}', '{ru}',"
"  '{cu}', '{600}', '{NULL}', '{NULL}');"
" WHEN 'result' THEN SELECT count(*) INTO n FROM"
"  payonce.record_result('h1', ARRAY[i], ARRAY[k], ARRAY['{\"saved\":1}'],"
"  '{0.04}', '{USD}', '{60000}');"
" WHEN 'progress' THEN SELECT count(*) INTO n FROM"
"  payonce.record_progress('h1', ARRAY[i], ARRAY[k], '{500}', '{half}');"
" WHEN 'complete' THEN SELECT count(*) INTO n FROM"
"  payonce.complete('h1', ARRAY[i], ARRAY[k], ARRAY['{\"done\":1}'], '{NULL}',"
"  '{NULL}');"
" WHEN 'complete_saved' THEN SELECT count(*) INTO n FROM"
"  payonce.complete('h1', ARRAY[i], ARRAY[k], '{NULL}', '{NULL}', '{NULL}');"
" WHEN 'release' THEN SELECT count(*) INTO n FROM"
"  payonce.release('h1', ARRAY[i], ARRAY[k], '{unsent}', '{NULL}', '{0}',"
"  '{f}', '{f}', '{NULL}');"
" WHEN 'release_unmark' THEN SELECT count(*) INTO n FROM"
"  payonce.release('h1', ARRAY[i], ARRAY[k], '{throttled}', '{NULL}', '{0}',"
"  '{t}', '{f}', '{NULL}');"
" WHEN 'reject' THEN SELECT count(*) INTO n FROM"
"  payonce.reject('h1', ARRAY[i], ARRAY[k], '{bad}', '{no}');"
" WHEN 'fail' THEN SELECT count(*) INTO n FROM"
"  payonce.fail('h1', ARRAY[i], ARRAY[k], '{bad}', '{no}', '{NULL}',"
"  '{NULL}');"
" WHEN 'park' THEN SELECT count(*) INTO n FROM"
"  payonce.park('h1', ARRAY[i], ARRAY[k], '{died_in_send_window}', '{NULL}');"
" WHEN 'expire' THEN SELECT count(*) INTO n FROM"
"  payonce.expire('h1', ARRAY[i], ARRAY[k]);"
" WHEN 'renew' THEN SELECT count(*) INTO n FROM"
"  payonce.renew('h1', ARRAY[i], ARRAY[k], 120);"
" END CASE; RETURN n; END $$;";

static const char	tools_make[] =
"CREATE FUNCTION t.token(i bigint) RETURNS bigint LANGUAGE sql AS"
" $$ SELECT coalesce(lease_token, 0) FROM payonce.generation_task"
" WHERE id = i $$;"
/* the calls that lead from a fresh claim to a shape */
"CREATE FUNCTION t.path(shape text) RETURNS text[] LANGUAGE sql AS $$"
" SELECT CASE shape"
" WHEN 'released' THEN '{release}' WHEN 'marked' THEN '{mark}'"
" WHEN 'marked_result' THEN '{mark,result}'"
" WHEN 'submitted' THEN '{mark,record}'"
" WHEN 'submitted_result' THEN '{mark,record,result}'"
" WHEN 'succeeded' THEN '{mark,record,complete}'"
" WHEN 'failed' THEN '{mark,record,fail}'"
" WHEN 'rejected' THEN '{mark,reject}'"
" WHEN 'canceled' THEN '{cancel,release}'"
" WHEN 'parked' THEN '{mark,park}'"
" WHEN 'parked_id' THEN '{mark,record,park}' ELSE '{}' END::text[] $$;"
"CREATE FUNCTION t.make(shape text) RETURNS bigint LANGUAGE plpgsql AS $$"
" DECLARE k text := 'k' || nextval('t.n'); i bigint; f text; BEGIN"
" IF shape = 'waiting' THEN RETURN payonce.enqueue(k, '{}',"
"  after => ARRAY[payonce.enqueue('parent', '{}')]); END IF;"
" i := payonce.enqueue(k, '{\"a\":1}');"
" IF shape = 'pending' THEN RETURN i; END IF;"
" PERFORM payonce.claim('h1', ARRAY[k], ARRAY[CASE WHEN shape ="
"  'running_local' THEN NULL ELSE 'mock' END], '{m}', '{1}', 60, false);"
" FOREACH f IN ARRAY t.path(shape) LOOP"
"  IF f = 'cancel' THEN PERFORM payonce.cancel(i);"
"  ELSIF t.call(f, i, t.token(i)) <> 1 THEN"
"   RAISE EXCEPTION 'shape %: % did not win', shape, f; END IF;"
" END LOOP; RETURN i; END $$;";

PGconn *
sqltask_new_db(void)
{
	PGconn	*db = pgtest_new_db();

	pgtest_exec(db, "%s", tools_call);
	pgtest_exec(db, "%s", tools_make);
	return db;
}

long
sqltask_make(PGconn *db, const char *shape)
{
	return pgtest_int(db, "SELECT t.make('%s')", shape);
}

long
sqltask_token(PGconn *db, long task)
{
	return pgtest_int(db, "SELECT t.token(%ld)", task);
}

long
sqltask_call(PGconn *db, const char *fn, long task, long token)
{
	return pgtest_int(db, "SELECT t.call('%s', %ld, %ld)", fn, task,
	    token);
}

char *
sqltask_status(PGconn *db, long task)
{
	return pgtest_value(db, "SELECT status FROM payonce.generation_task"
	    " WHERE id = %ld", task);
}

char *
sqltask_print(PGconn *db, long task)
{
	return pgtest_value(db, "SELECT g::text || (SELECT count(*) FROM"
	    " payonce.task_event WHERE task_id = g.id) FROM"
	    " payonce.generation_task g WHERE id = %ld", task);
}
