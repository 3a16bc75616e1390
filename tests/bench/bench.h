/*
 * bench.h - what payonce costs, measured in one run and printed; nothing
 * here fails on a time.
 */
#ifndef PAYONCE_BENCH_H
#define PAYONCE_BENCH_H

#include <stdint.h>

#include "tests/lib/rig.h"

#define BENCH_FAST	"interval = 0.01 interval_max = 0.02"

/* bench.c */
int64_t		 bench_now_us(void);
void		 bench_print(const char *what, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
struct rig	*bench_open(const char *kinds, const char *fal_poll);
/*
 * bench_drain() fills the queue of a held kind, releases it and returns the
 * time until everything has ended.
 */
int64_t		 bench_drain(struct rig *, const char *kind, int64_t tasks);
/* bench_percentile() sorts the samples. */
double		 bench_percentile(int64_t *us, size_t n, double p);

/* bench_life.c: whole lives */
void		 bench_life(int64_t tasks);
void		 bench_latency(int rounds);

/* bench_memory.c */
void		 bench_memory(int64_t in_flight);

/* bench_death.c */
void		 bench_death(int rounds);

/* bench_ceiling.c: the supervisor against the bare statements */
void		 bench_ceiling(int64_t tasks);

#endif
