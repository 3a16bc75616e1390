/*
 * sandbox_pg.c - the sandbox's private PostgreSQL cluster.
 *
 * Reachable through a socket in a private folder only.  fsync stays on: what
 * payonce promises rests on it, in a sandbox too.
 */
#include <sys/wait.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sandbox.h"
#include "common/exitcodes.h"
#include "common/mem.h"

enum {
	START_MS = 60000,
	TICK_MS = 50,
	/* a cluster of a killed sandbox may still be shutting down */
	TRIES_MAX = 6
};

static int
fail(struct sandbox *sb, const char *what, const char *log_name)
{
	cli_fail(sb->cli, NULL, "%s", what);
	child_log_tail(sb, log_name);
	return EXIT_CODE_FAILED;
}

/*
 * The cluster is made under another name: one that was interrupted must not
 * look like a whole one.
 */
int
pg_make_cluster(struct sandbox *sb)
{
	char	*data = files_path(sb, "pg"), *tmp = files_path(sb, "pg.new");
	char	*initdb = mem_printf("%s/initdb", sb->place.pg_bin);
	char	*where = tmp == NULL ? NULL : mem_printf("--pgdata=%s", tmp);
	char	*args[] = { initdb, where, mem_strdup("--username=payonce"),
		    mem_strdup("--auth=trust"), mem_strdup("--encoding=UTF8"),
		    mem_strdup("--locale=C.UTF-8"), NULL };
	char	*rm[] = { mem_strdup("/bin/rm"), mem_strdup("-rf"), tmp, NULL };
	int	 rc = 0;
	size_t	 i, n = 0;

	while (n < 6 && args[n] != NULL)
		n++;
	if (n < 6 || data == NULL || rm[0] == NULL || rm[1] == NULL) {
		cli_fail(sb->cli, NULL, "out of memory");
		rc = EXIT_CODE_FAILED;
		goto out;
	}
	if (access(data, F_OK) == 0)
		goto out;
	if (access(tmp, F_OK) == 0)
		(void)child_run(sb, "initdb", rm);
	if (!sb->is_quiet)
		(void)printf("making a database in %s\n", data);
	if (child_run(sb, "initdb", args) != 0)
		rc = fail(sb, "initdb could not make the database", "initdb");
	else if (rename(tmp, data) == -1)
		rc = fail(sb, strerror(errno), "initdb");
out:
	for (i = 1; i < 6; i++)
		mem_free(args[i]);
	mem_free(rm[0]);
	mem_free(rm[1]);
	mem_free(data);
	mem_free(tmp);
	mem_free(initdb);
	return rc;
}

static char **
pg_argv(struct sandbox *sb)
{
	char	**a = mem_array(16, sizeof(*a));
	size_t	  n = 0;

	if (a == NULL)
		return NULL;
	a[n++] = mem_printf("%s/postgres", sb->place.pg_bin);
	a[n++] = mem_strdup("-D");
	a[n++] = files_path(sb, "pg");
	a[n++] = mem_strdup("-c");
	a[n++] = mem_strdup("listen_addresses=");
	a[n++] = mem_strdup("-c");
	a[n++] = mem_printf("unix_socket_directories=%s/run", sb->dir);
	a[n++] = mem_strdup("-c");
	a[n++] = mem_strdup("unix_socket_permissions=0700");
	a[n++] = mem_strdup("-c");
	a[n++] = mem_strdup("max_connections=50");
	return a;
}

/* Makes the database itself when the cluster is new. */
static int
make_database(struct sandbox *sb)
{
	char		*conninfo = mem_printf("host=%s/run port=5432 "
	    "dbname=postgres user=payonce", sb->dir);
	PGconn		*db = conninfo == NULL ? NULL : PQconnectdb(conninfo);
	PGresult	*res;
	int		 rc = 0;

	mem_free(conninfo);
	res = PQexec(db, "SELECT 1 FROM pg_database WHERE datname = "
	    "'payonce'");
	if (PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 0) {
		PQclear(res);
		res = PQexec(db, "CREATE DATABASE payonce");
	}
	if (PQresultStatus(res) != PGRES_TUPLES_OK &&
	    PQresultStatus(res) != PGRES_COMMAND_OK) {
		cli_fail(sb->cli, NULL, "the database: %s",
		    PQerrorMessage(db));
		rc = EXIT_CODE_FAILED;
	}
	PQclear(res);
	PQfinish(db);
	return rc;
}

int
pg_start(struct sandbox *sb)
{
	struct child	*c = &sb->children[CHILD_POSTGRES];
	struct mono	 deadline = mono_add_ms(mono_now(), START_MS);
	char		*conninfo, **argv = pg_argv(sb);
	int		 rc;

	if (argv == NULL || (rc = child_start(sb, CHILD_POSTGRES, argv)) != 0)
		return EXIT_CODE_FAILED;
	conninfo = mem_printf("host=%s/run port=5432 dbname=postgres "
	    "user=payonce", sb->dir);
	while (PQping(conninfo) != PQPING_OK) {
		if (c->restarts > TRIES_MAX || mono_left_ms(deadline) == 0) {
			mem_free(conninfo);
			return fail(sb, "PostgreSQL did not start",
			    "postgres");
		}
		if (!child_wait(sb, TICK_MS, NULL)) {
			mem_free(conninfo);
			return EXIT_CODE_FAILED;
		}
	}
	mem_free(conninfo);
	return make_database(sb);
}
