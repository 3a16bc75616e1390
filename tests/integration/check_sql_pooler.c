/*
 * check_sql_pooler.c - everything works through pgbouncer in transaction mode.
 *
 * Two server connections, changed after each transaction, so nothing may rest
 * in a session.  Skipped (77) where pgbouncer is not installed.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <check.h>
#include <err.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/mem.h"
#include "sql/migrate.h"
#include "tests/integration/sqltask.h"
#include "tests/lib/pgtest.h"
#include "tests/unit/suite.h"

#define PORT	"6543"

static const char *const	paths[] = { "/usr/sbin/pgbouncer",
	"/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer" };

static const char *
find_pgbouncer(void)
{
	size_t	i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

/* The server's folder is gone after the run, and our files with it. */
static char *
write_config(void)
{
	const char	*dir = getenv("PGHOST");
	char		*path = mem_printf("%s/pgbouncer.ini", dir);
	FILE		*out;

	ck_assert_ptr_nonnull(path);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fprintf(out, "[databases]\n* = host=%s user=postgres pool_size=2\n"
	    "[pgbouncer]\nlisten_addr =\nlisten_port = " PORT "\n"
	    "unix_socket_dir = %s\nauth_type = any\n"
	    "pool_mode = transaction\nserver_round_robin = 1\n"
	    "ignore_startup_parameters = extra_float_digits\n", dir, dir);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(path, 0644), 0);
	return path;
}

static pid_t
start_pgbouncer(void)
{
	char		*path = write_config();
	struct passwd	*pw;
	pid_t		 pid;

	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		if (geteuid() == 0) {
			pw = getpwnam("postgres");
			if (pw == NULL || setgid(pw->pw_gid) != 0 ||
			    setuid(pw->pw_uid) != 0)
				_exit(126);
		}
		execl(find_pgbouncer(), "pgbouncer", "-q", path, (char *)NULL);
		_exit(127);
	}
	mem_free(path);
	return pid;
}

/* connect() tries until the pooler listens; 10 s at most. */
static PGconn *
connect_pooled(PGconn *db)
{
	struct timespec	 pause = { .tv_nsec = 20 * 1000000 };
	char		*info;
	PGconn		*conn;
	int		 tries;

	info = mem_printf("host=%s port=" PORT " user=postgres dbname=%s",
	    getenv("PGHOST"), PQdb(db));
	ck_assert_ptr_nonnull(info);
	for (tries = 0; tries < 500; tries++) {
		conn = PQconnectdb(info);
		if (PQstatus(conn) == CONNECTION_OK)
			break;
		PQfinish(conn);
		conn = NULL;
		nanosleep(&pause, NULL);
	}
	ck_assert_msg(conn != NULL, "pgbouncer does not answer: %s", info);
	mem_free(info);
	return conn;
}

static void
stop_pgbouncer(pid_t pid)
{
	int	status;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

START_TEST(migrates)
{
	PGconn	*db = pgtest_new_db(), *pooled;
	pid_t	 pid = start_pgbouncer();
	char	*error = NULL;
	int	 applied = 0;

	pooled = connect_pooled(db);
	pgtest_exec(db, "DROP SCHEMA payonce CASCADE");
	ck_assert_msg(migrate_run(pooled, &applied, &error) == 0, "%s", error);
	ck_assert_int_eq(applied, 4);
	PQfinish(pooled);
	stop_pgbouncer(pid);
	PQfinish(db);
}
END_TEST

/* Each step of a task from another client, over whatever server session. */
START_TEST(a_life_over_many_sessions)
{
	static const char *const	steps[] = { "mark", "record", "result",
	    "renew", "progress", "complete_saved" };
	PGconn	*db = sqltask_new_db(), *pooled[3];
	pid_t	 pid = start_pgbouncer();
	long	 task, token, round, one, two, now;
	size_t	 i;

	for (i = 0; i < 3; i++)
		pooled[i] = connect_pooled(db);
	/* two open transactions make the pooler open its two sessions */
	pgtest_exec(pooled[0], "BEGIN");
	pgtest_exec(pooled[1], "BEGIN");
	one = pgtest_int(pooled[0], "SELECT pg_backend_pid()");
	two = pgtest_int(pooled[1], "SELECT pg_backend_pid()");
	ck_assert_int_ne(one, two);
	pgtest_exec(pooled[0], "COMMIT");
	pgtest_exec(pooled[1], "COMMIT");
	for (round = 0; round < 20; round++) {
		task = pgtest_int(pooled[0], "SELECT payonce.enqueue('image',"
		    " '{}')");
		token = pgtest_int(pooled[1], "SELECT lease_token FROM"
		    " payonce.claim('h', '{image}', '{m}', '{m}', '{1}', 60,"
		    " true)");
		for (i = 0; i < 6; i++)
			ck_assert_int_eq(sqltask_call(pooled[i % 3], steps[i],
			    task, token), 1);
	}
	ck_assert_int_eq(pgtest_int(db, "SELECT count(*) FROM"
	    " payonce.generation_task WHERE status = 'SUCCEEDED'"), 20);
	/* one client really meets both */
	now = pgtest_int(pooled[2], "SELECT pg_backend_pid()");
	for (round = 0; round < 4 && now == pgtest_int(pooled[2],
	    "SELECT pg_backend_pid()"); round++)
		;
	ck_assert_int_lt(round, 4);
	for (i = 0; i < 3; i++)
		PQfinish(pooled[i]);
	stop_pgbouncer(pid);
	PQfinish(db);
}
END_TEST

/* What resolve() sets for itself must not stay in the pooled session. */
START_TEST(evidence_stays_in_its_transaction)
{
	PGconn	*db = sqltask_new_db(), *pooled;
	pid_t	 pid = start_pgbouncer();
	char	*value;
	long	 task;
	int	 i;

	pooled = connect_pooled(db);
	for (i = 0; i < 4; i++) {
		task = sqltask_make(db, "parked");
		pgtest_exec(pooled, "SELECT payonce.resolve(%ld, 'failed',"
		    " 'bob', 'x')", task);
		value = pgtest_value(pooled, "SELECT coalesce(current_setting("
		    "'payonce.evidence', true), '')");
		ck_assert_str_eq(value, "");
		mem_free(value);
	}
	PQfinish(pooled);
	stop_pgbouncer(pid);
	PQfinish(db);
}
END_TEST

/* As the supervisor talks: unnamed statements in libpq's pipeline mode. */
START_TEST(pipeline)
{
	static const char *const	params[] = { "{image}" };
	PGconn		*db = sqltask_new_db(), *pooled;
	PGresult	*res;
	pid_t		 pid = start_pgbouncer();
	int		 i, rows = 0, syncs = 0;

	pooled = connect_pooled(db);
	pgtest_exec(db, "SELECT payonce.enqueue('image', '{}') FROM"
	    " generate_series(1, 30)");
	ck_assert_int_eq(PQenterPipelineMode(pooled), 1);
	for (i = 0; i < 10; i++) {
		ck_assert_int_eq(PQsendQueryParams(pooled, "SELECT id FROM"
		    " payonce.claim('h', $1, '{m}', '{m}', '{3}', 60, true)",
		    1, NULL, params, NULL, NULL, 0), 1);
		ck_assert_int_eq(PQpipelineSync(pooled), 1);
	}
	while (syncs < 10) {
		res = PQgetResult(pooled);
		if (res == NULL)
			continue;
		if (PQresultStatus(res) == PGRES_PIPELINE_SYNC)
			syncs++;
		else
			ck_assert_int_eq(PQresultStatus(res),
			    PGRES_TUPLES_OK);
		rows += PQntuples(res);
		PQclear(res);
	}
	ck_assert_int_eq(rows, 30);
	PQfinish(pooled);
	stop_pgbouncer(pid);
	PQfinish(db);
}
END_TEST

int
main(int argc, char **argv)
{
	Suite	*suite = suite_create("sql_pooler");
	TCase	*tc = tcase_create("pooler");

	if (find_pgbouncer() == NULL) {
		warnx("pgbouncer is not installed; skipped");
		return 77;
	}
	pgtest_start(argc, argv);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, migrates);
	tcase_add_test(tc, a_life_over_many_sessions);
	tcase_add_test(tc, evidence_stays_in_its_transaction);
	tcase_add_test(tc, pipeline);
	return suite_run(suite);
}
