/*
 * sql_ceiling.c - tasks per second that the transition functions allow.
 *
 * One session, durable commits, the five transitions of a paid task (claim,
 * mark, record, result, complete), each batch one round trip and one commit.
 * This is the ceiling that the supervisor's own rate is compared with.
 *
 * usage: sql_ceiling [tasks per batch size]
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/mono.h"
#include "common/num.h"
#include "tests/lib/pgtest.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define ARRAY_CAP	65536

struct batch {
	size_t	count;
	char	ids[ARRAY_CAP];		/* text of a bigint[] */
	char	tokens[ARRAY_CAP];
	char	requests[ARRAY_CAP];
	char	results[ARRAY_CAP];
	char	nulls[ARRAY_CAP];
	char	numbers[ARRAY_CAP];
	char	costs[ARRAY_CAP];
};

static const struct {
	const char	*name;
	const char	*sql;
} statements[] = {
	{ "claim", "SELECT id, lease_token FROM payonce.claim('bench',"
	    " '{image}', '{mock}', '{m}', ARRAY[$1::int], 60, false)" },
	{ "mark", "SELECT * FROM payonce.mark_submit_started('bench', $1, $2,"
	    " $3, $3, $4, $5)" },
	{ "record", "SELECT * FROM payonce.record_submitted('bench', $1, $2,"
	    " $3, $3, $3, $3, $4, $5, $5)" },
	{ "result", "SELECT * FROM payonce.record_result('bench', $1, $2, $3,"
	    " $4, $5, $6)" },
	{ "complete", "SELECT * FROM payonce.complete('bench', $1, $2, $3, $3,"
	    " $3)" },
};

static double	spent_ms[COUNT(statements)];

static PGresult *
call(PGconn *db, size_t which, int nparams, const char *const *params)
{
	struct mono	 start = mono_now();
	PGresult	*res;

	res = PQexecPrepared(db, statements[which].name, nparams, params, NULL,
	    NULL, 0);
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		errx(1, "%s: %s", statements[which].name, PQerrorMessage(db));
	spent_ms[which] += (double)(mono_now().ns - start.ns) / 1e6;
	return res;
}

static void
expect(PGresult *res, size_t which, size_t count)
{
	if ((size_t)PQntuples(res) != count)
		errx(1, "%s: %d rows, not %zu", statements[which].name,
		    PQntuples(res), count);
	PQclear(res);
}

static void
append(char *array, size_t i, const char *text)
{
	size_t	len = strlen(array);

	if (i == 0)
		len = 0;
	if (ARRAY_CAP - len < strlen(text) + 3)
		errx(1, "a batch does not fit");
	snprintf(array + len, ARRAY_CAP - len, "%s%s}", i == 0 ? "{" : ",",
	    text);
	if (i > 0)
		memmove(array + len - 1, array + len, strlen(array + len) + 1);
}

static void
fill(struct batch *b, PGresult *res)
{
	char	*text;
	size_t	 i;

	b->count = (size_t)PQntuples(res);
	for (i = 0; i < b->count; i++) {
		append(b->ids, i, PQgetvalue(res, (int)i, 0));
		append(b->tokens, i, PQgetvalue(res, (int)i, 1));
		text = mem_printf("req-%s", PQgetvalue(res, (int)i, 0));
		append(b->requests, i, text);
		mem_free(text);
		append(b->results, i, "\"{\\\"images\\\":[{\\\"url\\\":"
		    "\\\"http://127.0.0.1/files/x.png\\\"}]}\"");
		append(b->nulls, i, "NULL");
		append(b->numbers, i, "3600");
		append(b->costs, i, "0.03");
	}
}

static size_t
run_batch(PGconn *db, struct batch *b, const char *limit)
{
	PGresult	*res;

	res = call(db, 0, 1, &limit);
	if (PQntuples(res) == 0) {
		PQclear(res);
		return 0;
	}
	fill(b, res);
	PQclear(res);
	expect(call(db, 1, 5, (const char *[]){ b->ids, b->tokens, b->numbers,
	    b->costs, b->nulls }), 1, b->count);
	expect(call(db, 2, 5, (const char *[]){ b->ids, b->tokens, b->requests,
	    b->numbers, b->nulls }), 2, b->count);
	expect(call(db, 3, 6, (const char *[]){ b->ids, b->tokens, b->results,
	    b->costs, b->nulls, b->numbers }), 3, b->count);
	expect(call(db, 4, 3, (const char *[]){ b->ids, b->tokens, b->nulls }),
	    4, b->count);
	return b->count;
}

/* Processor time of the session's own process: load beside it counts less. */
static double
session_cpu_ms(PGconn *db)
{
	char	*path = mem_printf("/proc/%d/schedstat", PQbackendPID(db));
	double	 ns = 0;
	FILE	*f;

	if (path == NULL || (f = fopen(path, "re")) == NULL)
		return 0;	/* another machine's server */
	if (fscanf(f, "%lf", &ns) != 1)
		ns = 0;
	(void)fclose(f);
	mem_free(path);
	return ns / 1e6;
}

static void
measure(PGconn *db, size_t size, size_t ntasks)
{
	struct batch	*b;
	struct mono	 start;
	char		*limit;
	size_t		 done = 0, n, i;
	double		 ms, cpu;

	b = mem_alloc(sizeof(*b));
	limit = mem_printf("%zu", size);
	if (b == NULL || limit == NULL)
		err(1, "sql_ceiling");
	pgtest_exec(db, "SELECT payonce.enqueue('image', jsonb_build_object("
	    "'prompt', 'a red fox in the snow', 'n', i))"
	    " FROM generate_series(1, %zu) AS i", ntasks);
	memset(spent_ms, 0, sizeof(spent_ms));
	cpu = session_cpu_ms(db);
	start = mono_now();
	while ((n = run_batch(db, b, limit)) > 0)
		done += n;
	ms = (double)(mono_now().ns - start.ns) / 1e6;
	cpu = session_cpu_ms(db) - cpu;
	printf("batch %4zu: %7.0f tasks/s, %.0f us of processor per task  "
	    "(per batch, ms:", size, (double)done / ms * 1000,
	    cpu * 1000 / (double)done);
	for (i = 0; i < COUNT(statements); i++)
		printf(" %s %.3f", statements[i].name,
		    spent_ms[i] / ((double)done / (double)size));
	printf(")\n");
	mem_free(limit);
	mem_free(b);
}

int
main(int argc, char **argv)
{
	static const size_t	 sizes[] = { 1, 16, 100, 500 };
	int64_t			 ntasks = 20000;
	PGconn			*db;
	PGresult		*res;
	size_t			 i;

	if (argc > 1 && num_parse_i64(argv[1], 1, 10000000, &ntasks) != 0)
		errx(2, "usage: sql_ceiling [tasks]");
	pgtest_start(argc, argv);
	db = pgtest_new_db();
	for (i = 0; i < COUNT(statements); i++) {
		res = PQprepare(db, statements[i].name, statements[i].sql, 0,
		    NULL);
		if (PQresultStatus(res) != PGRES_COMMAND_OK)
			errx(1, "%s", PQerrorMessage(db));
		PQclear(res);
	}
	for (i = 0; i < COUNT(sizes); i++)
		measure(db, sizes[i], sizes[i] == 1 ? (size_t)ntasks / 10 :
		    (size_t)ntasks);
	PQfinish(db);
	return 0;
}
