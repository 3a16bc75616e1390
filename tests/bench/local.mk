# tests/bench

# the bare ceiling of the SQL transitions
noinst_PROGRAMS += tests/bench/sql_ceiling
tests_bench_sql_ceiling_SOURCES = tests/bench/sql_ceiling.c
tests_bench_sql_ceiling_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
tests_bench_sql_ceiling_LDADD = $(LIBS_PGTEST) $(LIBS_COMMON)
