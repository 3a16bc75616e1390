# tests/bench: measured and printed, never a reason to fail

# the bare ceiling of the SQL transitions
noinst_PROGRAMS += tests/bench/sql_ceiling
tests_bench_sql_ceiling_SOURCES = tests/bench/sql_ceiling.c
tests_bench_sql_ceiling_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
tests_bench_sql_ceiling_LDADD = $(LIBS_PGTEST) $(LIBS_COMMON)

# what a task costs, with everything running
bench_programs = tests/bench/run tests/bench/noop_worker
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
tests_bench_run_SOURCES = \
	tests/bench/bench.c \
	tests/bench/bench.h \
	tests/bench/bench_ceiling.c \
	tests/bench/bench_death.c \
	tests/bench/bench_life.c \
	tests/bench/bench_memory.c
tests_bench_run_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
tests_bench_run_LDADD = $(LIBS_RIG)
tests_bench_noop_worker_SOURCES = tests/bench/noop_worker.c
tests_bench_noop_worker_LDADD = $(LIBS_PROTO) $(LIBS_COMMON)

.PHONY: bench
bench: all $(check_LIBRARIES) $(bench_programs)
	tests/bench/run
