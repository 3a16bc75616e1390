/*
 * bench_ceiling.c - the supervisor's own rate, with workers that do nothing,
 * against the bare statements of the same transitions in a loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "tests/bench/bench.h"

#define SLOTS		16
#define WIDE		100

#define KINDS_NOOP							\
	"kind render { command = {\"/bin/true\"} concurrency = 16 }\n"	\
	"kind image { provider = fal model = \"m\" concurrency = 16 "	\
	"submit_workers = 16 }\n"

/* One step of a life: a transition function with its arrays. */
struct step {
	const char	*name;
	const char	*sql;	/* $1 ids, $2 tokens */
};

static const struct step paid_steps[] = {
	{ "mark", "SELECT count(*) FROM payonce.mark_submit_started('bench', "
	    "$1, $2, array_fill(NULL::int, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::int, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]))" },
	{ "record", "SELECT count(*) FROM payonce.record_submitted('bench', "
	    "$1, $2, (SELECT array_agg('noop-' || i) FROM unnest($1) i), "
	    "array_fill('http://127.0.0.1:1/poll'::text, "
	    "ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]), "
	    "array_fill(3600, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::text, ARRAY[cardinality($1)]))" },
	{ "result", "SELECT count(*) FROM payonce.record_result('bench', $1, "
	    "$2, array_fill('{}'::text, ARRAY[cardinality($1)]), "
	    "array_fill('0.01'::text, ARRAY[cardinality($1)]), "
	    "array_fill('USD'::text, ARRAY[cardinality($1)]), "
	    "array_fill(NULL::bigint, ARRAY[cardinality($1)]))" },
};

static const struct step complete_step = { "complete", "SELECT count(*) FROM "
    "payonce.complete('bench', $1, $2, array_fill('{}'::text, "
    "ARRAY[cardinality($1)]), array_fill(NULL::text, ARRAY[cardinality($1)]), "
    "array_fill(NULL::text, ARRAY[cardinality($1)]))" };

static double	ceiling_bare(const char *kind, int64_t tasks, int batch);
static void	ceiling_life(struct rig *, const char *kind, int batch);
static int	ceiling_claim(struct rig *, const char *kind, int batch,
		    struct buf *ids, struct buf *tokens);
static void	ceiling_step(struct rig *, const struct step *, int count,
		    const struct buf *ids, const struct buf *tokens);
static double	ceiling_supervisor(const char *kind, int64_t tasks);
static void	ceiling_compare(const char *kind, const char *what,
		    int64_t tasks);

void
bench_ceiling(int64_t tasks)
{
	ceiling_compare("render", "local (claim, complete)", tasks);
	ceiling_compare("image", "paid (claim, mark, record, result, "
	    "complete)", tasks / 2);
}

static void
ceiling_compare(const char *kind, const char *what, int64_t tasks)
{
	double bare = ceiling_bare(kind, tasks, SLOTS);
	double wide = ceiling_bare(kind, tasks, WIDE);
	double super = ceiling_supervisor(kind, tasks);

	printf("transitions of a life: %s\n", what);
	bench_print("  bare statements, batches of 16 / of 100",
	    "%.0f / %.0f tasks/s", bare, wide);
	bench_print("  supervisor, 16 slots, workers that do nothing",
	    "%.0f tasks/s, ratio %.2f", super, super / bare);
}

static double
ceiling_bare(const char *kind, int64_t tasks, int batch)
{
	struct rig *r = bench_open(NULL, NULL);
	int64_t done, us;

	(void)rig_sql(r, "SELECT count(payonce.enqueue('%s', '{}')) FROM "
	    "generate_series(1, %lld)", kind, (long long)tasks);
	us = bench_now_us();
	for (done = 0; done < tasks; done += batch)
		ceiling_life(r, kind, batch);
	us = bench_now_us() - us;
	if (rig_sql_int(r, "SELECT count(*) FROM payonce.generation_task "
	    "WHERE status = 'SUCCEEDED'") != tasks)
		RIG_FAIL(r, "the bare statements did not finish every task");
	rig_close(&r);
	return (double)tasks * 1e6 / (double)us;
}

static void
ceiling_life(struct rig *r, const char *kind, int batch)
{
	struct buf ids, tokens;
	size_t i;
	int n;

	buf_init(&ids, 1u << 20);
	buf_init(&tokens, 1u << 20);
	n = ceiling_claim(r, kind, batch, &ids, &tokens);
	if (strcmp(kind, "image") == 0)
		for (i = 0; i < sizeof(paid_steps) / sizeof(paid_steps[0]);
		    i++)
			ceiling_step(r, &paid_steps[i], n, &ids, &tokens);
	ceiling_step(r, &complete_step, n, &ids, &tokens);
	buf_done(&ids);
	buf_done(&tokens);
}

static int
ceiling_claim(struct rig *r, const char *kind, int batch, struct buf *ids,
    struct buf *tokens)
{
	PGresult *res;
	int i, n;

	res = PQexec(r->db, rig_printf("SELECT * FROM payonce.claim('bench', "
	    "ARRAY['%s'], ARRAY[%s], ARRAY[%s], ARRAY[%d], 60, true)", kind,
	    strcmp(kind, "image") == 0 ? "'fal'" : "NULL::text",
	    strcmp(kind, "image") == 0 ? "'m'" : "NULL::text", batch));
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		RIG_FAIL(r, "%s", PQerrorMessage(r->db));
	n = PQntuples(res);
	for (i = 0; i < n; i++)
		if (buf_printf(ids, "%c%s", i == 0 ? '{' : ',',
		    PQgetvalue(res, i, 0)) != 0 ||
		    buf_printf(tokens, "%c%s", i == 0 ? '{' : ',',
		    PQgetvalue(res, i, 1)) != 0)
			RIG_FAIL(r, "out of memory");
	if (buf_puts(ids, n == 0 ? "{}" : "}") != 0 ||
	    buf_puts(tokens, n == 0 ? "{}" : "}") != 0)
		RIG_FAIL(r, "out of memory");
	PQclear(res);
	return n;
}

static void
ceiling_step(struct rig *r, const struct step *step, int count,
    const struct buf *ids, const struct buf *tokens)
{
	static const Oid types[2] = { 1016, 1016 };	/* bigint[] */
	const char *values[2] = { buf_text(ids), buf_text(tokens) };
	PGresult *res;

	res = PQexecParams(r->db, step->sql, 2, types, values, NULL, NULL, 0);
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		RIG_FAIL(r, "%s: %s", step->name, PQerrorMessage(r->db));
	if (strcmp(PQgetvalue(res, 0, 0), rig_printf("%d", count)) != 0)
		RIG_FAIL(r, "%s: %s of %d", step->name,
		    PQgetvalue(res, 0, 0), count);
	PQclear(res);
}

static double
ceiling_supervisor(const char *kind, int64_t tasks)
{
	struct rig *r = bench_open(KINDS_NOOP, NULL);
	int64_t us;

	r->worker = rig_printf("%s/tests/bench/noop_worker", rig_builddir());
	rig_start(r);
	(void)rig_sql(r, "SELECT count(payonce.enqueue('%s', '{}')) FROM "
	    "generate_series(1, 64)", kind);
	rig_wait_sql(r, 60000, "SELECT count(*) = 64 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	us = bench_drain(r, kind, tasks);
	rig_close(&r);
	return (double)tasks * 1e6 / (double)us;
}
