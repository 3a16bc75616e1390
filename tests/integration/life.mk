# tests/integration: whole lives, deaths and signals, against the mock
if HAVE_CHECK
check_LIBRARIES += libsuite.a
libsuite_a_SOURCES = tests/integration/suite.c tests/integration/suite.h \
	tests/integration/hostile.c tests/integration/hostile.h
libsuite_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PQ_CFLAGS)

LIBS_SUITE = libsuite.a $(LIBS_RIG) $(CHECK_LIBS)
suite_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PQ_CFLAGS)

suite_programs = \
	tests/integration/check_cancel \
	tests/integration/check_cases \
	tests/integration/check_confine \
	tests/integration/check_crash \
	tests/integration/check_database \
	tests/integration/check_exec \
	tests/integration/check_hostile \
	tests/integration/check_hostile_hold \
	tests/integration/check_hostile_poll \
	tests/integration/check_paid \
	tests/integration/check_signals \
	tests/integration/check_submit
check_PROGRAMS += $(suite_programs)
TESTS += $(suite_programs)

tests_integration_check_cancel_SOURCES = tests/integration/check_cancel.c
tests_integration_check_cancel_CFLAGS = $(suite_cflags)
tests_integration_check_cancel_LDADD = $(LIBS_SUITE)
tests_integration_check_cases_SOURCES = tests/integration/check_cases.c
tests_integration_check_cases_CFLAGS = $(suite_cflags)
tests_integration_check_cases_LDADD = $(LIBS_SUITE)
tests_integration_check_confine_SOURCES = tests/integration/check_confine.c
tests_integration_check_confine_CFLAGS = $(suite_cflags)
tests_integration_check_confine_LDADD = $(LIBS_SUITE)
tests_integration_check_crash_SOURCES = \
	tests/integration/check_crash.c \
	tests/integration/fault_table.c \
	tests/integration/fault_table.h
tests_integration_check_crash_CFLAGS = $(suite_cflags)
tests_integration_check_crash_LDADD = $(LIBS_SUITE)
tests_integration_check_database_SOURCES = \
	tests/integration/check_database.c \
	tests/integration/pooler.c \
	tests/integration/pooler.h
tests_integration_check_database_CFLAGS = $(suite_cflags)
tests_integration_check_database_LDADD = $(LIBS_SUITE)
tests_integration_check_exec_SOURCES = tests/integration/check_exec.c
tests_integration_check_exec_CFLAGS = $(suite_cflags)
tests_integration_check_exec_LDADD = $(LIBS_SUITE)
tests_integration_check_hostile_SOURCES = tests/integration/check_hostile.c
tests_integration_check_hostile_CFLAGS = $(suite_cflags)
tests_integration_check_hostile_LDADD = $(LIBS_SUITE)
tests_integration_check_hostile_poll_SOURCES = \
	tests/integration/check_hostile_poll.c
tests_integration_check_hostile_poll_CFLAGS = $(suite_cflags)
tests_integration_check_hostile_poll_LDADD = $(LIBS_SUITE)
tests_integration_check_hostile_hold_SOURCES = \
	tests/integration/check_hostile_hold.c
tests_integration_check_hostile_hold_CFLAGS = $(suite_cflags)
tests_integration_check_hostile_hold_LDADD = $(LIBS_SUITE)
tests_integration_check_paid_SOURCES = tests/integration/check_paid.c
tests_integration_check_paid_CFLAGS = $(suite_cflags)
tests_integration_check_paid_LDADD = $(LIBS_SUITE)
tests_integration_check_signals_SOURCES = tests/integration/check_signals.c
tests_integration_check_signals_CFLAGS = $(suite_cflags)
tests_integration_check_signals_LDADD = $(LIBS_SUITE)
tests_integration_check_submit_SOURCES = tests/integration/check_submit.c
tests_integration_check_submit_CFLAGS = $(suite_cflags)
tests_integration_check_submit_LDADD = $(LIBS_SUITE)
endif
EXTRA_DIST += tests/integration/job
