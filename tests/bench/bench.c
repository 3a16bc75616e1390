/*
 * bench.c - one run, one table: what a task costs.
 *
 *   tests/bench/run [-q] [latency|death|life|ceiling|memory ...]
 *
 * -q: a tenth of everything.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/lib/pgtest.h"

static bool	bench_is_wanted(char **, const char *name);
static int	bench_compare(const void *, const void *);

int
main(int argc, char **argv)
{
	int part = 1;
	int c;

	while ((c = getopt(argc, argv, "q")) != -1) {
		if (c != 'q') {
			fputs("usage: run [-q] [latency|death|life|ceiling|"
			    "memory ...]\n", stderr);
			return 2;
		}
		part = 10;
	}
	pgtest_start(argc, argv);
	argv += optind;
	printf("payonce on %ld processors, the mock provider and PostgreSQL "
	    "beside it\n\n", sysconf(_SC_NPROCESSORS_ONLN));
	if (bench_is_wanted(argv, "latency"))
		bench_latency(300 / part);
	if (bench_is_wanted(argv, "death"))
		bench_death(30 / part);
	if (bench_is_wanted(argv, "life"))
		bench_life(6000 / part);
	if (bench_is_wanted(argv, "ceiling"))
		bench_ceiling(40000 / part);
	if (bench_is_wanted(argv, "memory"))
		bench_memory(5000 / part);
	return 0;
}

/* No names: everything. */
static bool
bench_is_wanted(char **names, const char *name)
{
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return i == 0;
}

int64_t
bench_now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);	/* cannot fail here */
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void
bench_print(const char *what, const char *fmt, ...)
{
	va_list ap;

	printf("%-58s ", what);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	(void)fflush(stdout);
}

struct rig *
bench_open(const char *kinds, const char *fal_poll)
{
	struct rig *r = rig_open();

	r->lenient_log = true;
	r->lease_s = 60;
	r->kinds = kinds;
	r->fal_poll = fal_poll;
	return r;
}

int64_t
bench_drain(struct rig *r, const char *kind, int64_t tasks)
{
	int64_t start;

	(void)rig_sql(r, "SELECT payonce.hold('%s', 'bench', 'filling')",
	    kind);
	(void)rig_sql(r, "SELECT count(payonce.enqueue('%s', '{}')) FROM "
	    "generate_series(1, %lld)", kind, (long long)tasks);
	start = bench_now_us();
	(void)rig_sql(r, "SELECT payonce.release_kind('%s', 'bench')", kind);
	/* asked all the time, so it must not walk over what has ended */
	(void)rig_sql(r, "SET enable_seqscan = off");
	rig_wait_sql(r, 600000, "SELECT NOT EXISTS (SELECT FROM "
	    "payonce.generation_task WHERE status = 'PENDING' AND due AND "
	    "kind = '%s') AND NOT EXISTS (SELECT FROM "
	    "payonce.generation_task WHERE status IN ('RUNNING', "
	    "'SUBMITTED') AND kind = '%s')", kind, kind);
	start = bench_now_us() - start;
	(void)rig_sql(r, "RESET enable_seqscan");
	return start;
}

double
bench_percentile(int64_t *us, size_t n, double p)
{
	size_t i;

	if (n == 0)
		return 0;
	qsort(us, n, sizeof(*us), bench_compare);
	i = (size_t)(p * (double)(n - 1) + 0.5);
	return (double)us[i] / 1000.0;
}

static int
bench_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}
