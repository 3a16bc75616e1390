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

# ---- workers, with a test as their supervisor ---------------------------
WORKER_TESTS = \
	tests/integration/check_worker_confine \
	tests/integration/check_worker_exec \
	tests/integration/check_worker_poll \
	tests/integration/check_worker_receipt \
	tests/integration/check_worker_submit
BOSS = tests/integration/boss.c tests/integration/boss.h \
	tests/lib/mock.c tests/lib/mock.h
WORKER_TEST_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
WORKER_TEST_LIBS = $(LIBS_PROVIDER) $(LIBS_PROTO) $(LIBS_COMMON) \
	$(CHECK_LIBS)
if HAVE_CHECK
check_PROGRAMS += $(WORKER_TESTS)
TESTS += $(WORKER_TESTS)
endif
tests_integration_check_worker_confine_SOURCES = \
	tests/integration/check_worker_confine.c $(BOSS)
tests_integration_check_worker_confine_CFLAGS = $(WORKER_TEST_CFLAGS)
tests_integration_check_worker_confine_LDADD = $(WORKER_TEST_LIBS)
tests_integration_check_worker_submit_SOURCES = \
	tests/integration/check_worker_submit.c $(BOSS)
tests_integration_check_worker_submit_CFLAGS = $(WORKER_TEST_CFLAGS)
tests_integration_check_worker_submit_LDADD = $(WORKER_TEST_LIBS)
tests_integration_check_worker_receipt_SOURCES = \
	tests/integration/check_worker_receipt.c $(BOSS)
tests_integration_check_worker_receipt_CFLAGS = $(WORKER_TEST_CFLAGS)
tests_integration_check_worker_receipt_LDADD = $(WORKER_TEST_LIBS)
tests_integration_check_worker_poll_SOURCES = \
	tests/integration/check_worker_poll.c $(BOSS)
tests_integration_check_worker_poll_CFLAGS = $(WORKER_TEST_CFLAGS) $(MD_CFLAGS)
tests_integration_check_worker_poll_LDADD = libworker.a $(WORKER_TEST_LIBS) \
	$(MD_LIBS)
tests_integration_check_worker_exec_SOURCES = \
	tests/integration/check_worker_exec.c $(BOSS)
tests_integration_check_worker_exec_CFLAGS = $(WORKER_TEST_CFLAGS)
tests_integration_check_worker_exec_LDADD = $(WORKER_TEST_LIBS)
TESTS += tests/integration/t_render.sh
EXTRA_DIST += tests/integration/t_render.sh
# ---- the command line and the init script, as people use them ------------
CLI_TESTS = tests/integration/t_cli.sh tests/integration/t_init.sh \
	tests/integration/t_sandbox.sh
TESTS += $(CLI_TESTS)
EXTRA_DIST += $(CLI_TESTS)
