# tests/torture: random deaths, then the reckoning; run it longer by hand
check_PROGRAMS += tests/torture/run
tests_torture_run_SOURCES = \
	tests/torture/monkey.c \
	tests/torture/run.c \
	tests/torture/torture.h \
	tests/torture/verify.c
tests_torture_run_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
tests_torture_run_LDADD = $(LIBS_RIG)
TESTS += tests/torture/run
