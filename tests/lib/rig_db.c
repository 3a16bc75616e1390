/*
 * rig_db.c - what a test asks and tells the database.
 *
 * Waits are looks at the row every few milliseconds until a deadline: the
 * row is the interface (DESIGN, law 3), so it is also what tests wait for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tests/lib/rig.h"

#define LOOK_MS	8

static char	*db_ask(struct rig *, const char *query);
static char	*db_vformat(const char *fmt, va_list)
		    __attribute__((format(printf, 1, 0)));

char *
rig_sql(struct rig *r, const char *fmt, ...)
{
	va_list ap;
	char *query;

	va_start(ap, fmt);
	query = db_vformat(fmt, ap);
	va_end(ap);
	return db_ask(r, query);
}

int64_t
rig_sql_int(struct rig *r, const char *fmt, ...)
{
	va_list ap;
	char *query, *text;
	int64_t n;

	va_start(ap, fmt);
	query = db_vformat(fmt, ap);
	va_end(ap);
	text = db_ask(r, query);
	if (num_parse_i64(text, INT64_MIN, INT64_MAX, &n) != 0)
		RIG_FAIL(r, "no number: \"%s\" from %s", text, query);
	return n;
}

void
rig_wait_sql(struct rig *r, int timeout_ms, const char *fmt, ...)
{
	int64_t end = rig_now_ms() + timeout_ms;
	va_list ap;
	char *query, *text;

	va_start(ap, fmt);
	query = db_vformat(fmt, ap);
	va_end(ap);
	for (;;) {
		text = db_ask(r, query);
		if (strcmp(text, "t") == 0)
			return;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "not true within %d ms (\"%s\"): %s",
			    timeout_ms, text, query);
		rig_pause_ms(LOOK_MS);
	}
}

int64_t
rig_enqueue(struct rig *r, const char *kind, const char *input)
{
	const char *values[2] = { kind, input == NULL ? "{}" : input };
	PGresult *res;
	int64_t id;

	res = PQexecParams(r->db, "SELECT payonce.enqueue($1, $2::jsonb)", 2,
	    NULL, values, NULL, NULL, 0);
	if (PQresultStatus(res) != PGRES_TUPLES_OK ||
	    num_parse_i64(PQgetvalue(res, 0, 0), 1, INT64_MAX, &id) != 0)
		RIG_FAIL(r, "enqueue(%s, %s): %s", kind, values[1],
		    PQerrorMessage(r->db));
	PQclear(res);
	return id;
}

const char *
rig_status(struct rig *r, int64_t task)
{
	return rig_sql(r, "SELECT status FROM payonce.generation_task "
	    "WHERE id = %lld", (long long)task);
}

const char *
rig_reason(struct rig *r, int64_t task)
{
	return rig_sql(r, "SELECT reason FROM payonce.generation_task "
	    "WHERE id = %lld", (long long)task);
}

void
rig_wait_status(struct rig *r, int64_t task, const char *status,
    int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	const char *now;

	for (;;) {
		now = rig_status(r, task);
		if (strcmp(now, status) == 0)
			return;
		if (rig_now_ms() >= end) {
			rig_print_task(r, task);
			RIG_FAIL(r, "task %lld is %s, not %s, after %d ms",
			    (long long)task, now, status, timeout_ms);
		}
		rig_pause_ms(LOOK_MS);
	}
}

void
rig_print_task(struct rig *r, int64_t task)
{
	fprintf(stderr, "---- task %lld: %s\n%s\n", (long long)task,
	    rig_sql(r, "SELECT to_jsonb(t) FROM payonce.generation_task t "
	    "WHERE id = %lld", (long long)task),
	    rig_sql(r, "SELECT string_agg(to_jsonb(e)::text, E'\\n' "
	    "ORDER BY e.at) FROM payonce.task_event e WHERE task_id = %lld",
	    (long long)task));
}

static char *
db_ask(struct rig *r, const char *query)
{
	ExecStatusType status;
	PGresult *res;
	char *text;

	res = PQexec(r->db, query);
	status = PQresultStatus(res);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		RIG_FAIL(r, "%s: %s", query, PQerrorMessage(r->db));
	if (status == PGRES_TUPLES_OK && PQntuples(res) > 0)
		text = rig_printf("%s", PQgetvalue(res, 0, 0));
	else
		text = rig_printf("%s", "");
	PQclear(res);
	return text;
}

static char *
db_vformat(const char *fmt, va_list ap)
{
	char *text = NULL, *kept;

	if (vasprintf(&text, fmt, ap) == -1) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	kept = rig_printf("%s", text);
	free(text);
	return kept;
}
