# tests/integration

# ---- sql ---------------------------------------------------------------
SQL_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PQ_CFLAGS)
SQL_LIBS = $(LIBS_PGTEST) $(LIBS_COMMON) $(CHECK_LIBS)
sqltask = tests/integration/sqltask.c tests/integration/sqltask.h
if HAVE_CHECK
SQL_TESTS = \
	tests/integration/check_sql_pooler \
	tests/integration/check_sql_migrate \
	tests/integration/check_sql_batch \
	tests/integration/check_sql_big \
	tests/integration/check_sql_deps \
	tests/integration/check_sql_receipts \
	tests/integration/check_sql_people \
	tests/integration/check_sql_guard \
	tests/integration/check_sql_claim \
	tests/integration/check_sql_edges
check_PROGRAMS += $(SQL_TESTS)
TESTS += $(SQL_TESTS)
endif
tests_integration_check_sql_edges_SOURCES = \
	tests/integration/check_sql_edges.c $(sqltask)
tests_integration_check_sql_edges_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_edges_LDADD = $(SQL_LIBS)
tests_integration_check_sql_claim_SOURCES = \
	tests/integration/check_sql_claim.c $(sqltask)
tests_integration_check_sql_claim_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_claim_LDADD = $(SQL_LIBS)
tests_integration_check_sql_guard_SOURCES = \
	tests/integration/check_sql_guard.c $(sqltask)
tests_integration_check_sql_guard_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_guard_LDADD = $(SQL_LIBS)
tests_integration_check_sql_people_SOURCES = \
	tests/integration/check_sql_people.c $(sqltask)
tests_integration_check_sql_people_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_people_LDADD = $(SQL_LIBS)
tests_integration_check_sql_receipts_SOURCES = \
	tests/integration/check_sql_receipts.c $(sqltask)
tests_integration_check_sql_receipts_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_receipts_LDADD = $(SQL_LIBS)
tests_integration_check_sql_deps_SOURCES = \
	tests/integration/check_sql_deps.c $(sqltask)
tests_integration_check_sql_deps_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_deps_LDADD = $(SQL_LIBS)
tests_integration_check_sql_big_SOURCES = \
	tests/integration/check_sql_big.c $(sqltask)
tests_integration_check_sql_big_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_big_LDADD = $(SQL_LIBS)
tests_integration_check_sql_batch_SOURCES = \
	tests/integration/check_sql_batch.c $(sqltask)
tests_integration_check_sql_batch_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_batch_LDADD = $(SQL_LIBS)
tests_integration_check_sql_migrate_SOURCES = \
	tests/integration/check_sql_migrate.c $(sqltask)
tests_integration_check_sql_migrate_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_migrate_LDADD = $(SQL_LIBS)
tests_integration_check_sql_pooler_SOURCES = \
	tests/integration/check_sql_pooler.c $(sqltask)
tests_integration_check_sql_pooler_CFLAGS = $(SQL_CFLAGS)
tests_integration_check_sql_pooler_LDADD = $(SQL_LIBS)
