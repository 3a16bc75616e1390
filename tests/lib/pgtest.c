/*
 * pgtest.c - fresh payonce databases for tests and benches.
 *
 * Owns the template database of the test cluster.  Must never run against a
 * server that with-pg has not made.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/num.h"
#include "sql/migrate.h"
#include "tests/lib/pgtest.h"

static PGconn	*connect_to(const char *dbname, const char *user);
static PGresult	*run(PGconn *, const char *fmt, va_list);
static PGresult	*run_rows(PGconn *, const char *fmt, va_list);
static void	 make_template(void);

void
pgtest_start(int argc, char **argv)
{
	char	**args;
	int	  i;

	if (getenv("PAYONCE_TEST_PG") != NULL) {
		make_template();
		return;
	}
	args = mem_array((size_t)argc + 2, sizeof(*args));
	if (args == NULL)
		err(1, "pgtest");
	args[0] = mem_strdup(PGTEST_WITH_PG);
	for (i = 0; i < argc; i++)
		args[i + 1] = argv[i];
	execv(args[0], args);
	err(1, "%s", args[0]);
}

static void
make_template(void)
{
	PGconn	*conn, *tmpl;
	char	*error = NULL;
	int	 applied = 0;

	conn = connect_to("postgres", NULL);
	/* Programs of one cluster may start at the same time. */
	pgtest_exec(conn, "SELECT pg_advisory_lock(1)");
	if (pgtest_int(conn, "SELECT count(*) FROM pg_database"
	    " WHERE datname = 'payonce_tmpl' AND datistemplate") == 0) {
		pgtest_exec(conn, "DROP DATABASE IF EXISTS payonce_tmpl");
		pgtest_exec(conn, "CREATE DATABASE payonce_tmpl");
		tmpl = connect_to("payonce_tmpl", NULL);
		if (migrate_run(tmpl, &applied, &error) != 0)
			errx(1, "pgtest: %s", error != NULL ? error :
			    "no memory");
		PQfinish(tmpl);
		pgtest_exec(conn,
		    "ALTER DATABASE payonce_tmpl IS_TEMPLATE true");
	}
	PQfinish(conn);
}

PGconn *
pgtest_new_db(void)
{
	static unsigned int	 count;
	PGconn			*conn;
	char			*name;

	name = mem_printf("t%ld_%u", (long)getpid(), count++);
	if (name == NULL)
		err(1, "pgtest");
	conn = connect_to("postgres", NULL);
	pgtest_exec(conn, "CREATE DATABASE %s TEMPLATE payonce_tmpl", name);
	PQfinish(conn);
	conn = connect_to(name, NULL);
	mem_free(name);
	return conn;
}

PGconn *
pgtest_connect(PGconn *other)
{
	return connect_to(PQdb(other), NULL);
}

PGconn *
pgtest_connect_as(PGconn *other, const char *user)
{
	return connect_to(PQdb(other), user);
}

char *
pgtest_conninfo(PGconn *conn)
{
	char	*text;

	text = mem_printf("%s dbname=%s", getenv("PAYONCE_TEST_PG"),
	    PQdb(conn));
	if (text == NULL)
		err(1, "pgtest");
	return text;
}

static PGconn *
connect_to(const char *dbname, const char *user)
{
	const char	*base = getenv("PAYONCE_TEST_PG");
	char		*info;
	PGconn		*conn;

	if (base == NULL)
		errx(1, "pgtest: PAYONCE_TEST_PG is not set; run this below "
		    "tests/lib/with-pg");
	info = mem_printf("%s dbname=%s%s%s", base, dbname,
	    user != NULL ? " user=" : "", user != NULL ? user : "");
	if (info == NULL)
		err(1, "pgtest");
	conn = PQconnectdb(info);
	if (PQstatus(conn) != CONNECTION_OK)
		errx(1, "pgtest: %s: %s", info, PQerrorMessage(conn));
	mem_free(info);
	pgtest_exec(conn, "SET client_min_messages = warning");
	return conn;
}

static PGresult *run(PGconn *, const char *, va_list)
    __attribute__((format(printf, 2, 0)));

static PGresult *
run(PGconn *conn, const char *fmt, va_list ap)
{
	char		*sql = NULL;
	PGresult	*res;

	if (vasprintf(&sql, fmt, ap) == -1)
		err(1, "pgtest");
	res = PQexec(conn, sql);
	free(sql);
	return res;
}

static PGresult *run_rows(PGconn *, const char *, va_list)
    __attribute__((format(printf, 2, 0)));

static PGresult *
run_rows(PGconn *conn, const char *fmt, va_list ap)
{
	PGresult	*res;

	res = run(conn, fmt, ap);
	if (PQresultStatus(res) != PGRES_TUPLES_OK &&
	    PQresultStatus(res) != PGRES_COMMAND_OK)
		errx(1, "pgtest: %s: %s", fmt, PQerrorMessage(conn));
	return res;
}

void
pgtest_exec(PGconn *conn, const char *fmt, ...)
{
	va_list	ap;

	va_start(ap, fmt);
	PQclear(run_rows(conn, fmt, ap));
	va_end(ap);
}

char *
pgtest_value(PGconn *conn, const char *fmt, ...)
{
	va_list		 ap;
	PGresult	*res;
	char		*value;

	va_start(ap, fmt);
	res = run_rows(conn, fmt, ap);
	va_end(ap);
	if (PQntuples(res) != 1)
		errx(1, "pgtest: %s: %d rows, not one", fmt, PQntuples(res));
	value = mem_strdup(PQgetvalue(res, 0, 0));
	if (value == NULL)
		err(1, "pgtest");
	PQclear(res);
	return value;
}

long
pgtest_int(PGconn *conn, const char *fmt, ...)
{
	va_list		 ap;
	PGresult	*res;
	int64_t		 value = 0;

	va_start(ap, fmt);
	res = run_rows(conn, fmt, ap);
	va_end(ap);
	if (PQntuples(res) != 1 || num_parse_i64(PQgetvalue(res, 0, 0),
	    INT64_MIN, INT64_MAX, &value) != 0)
		errx(1, "pgtest: %s: not one number", fmt);
	PQclear(res);
	return (long)value;
}

char *
pgtest_list(PGconn *conn, const char *fmt, ...)
{
	va_list		 ap;
	PGresult	*res;
	FILE		*out;
	char		*text = NULL;
	size_t		 len = 0;
	int		 row, column;

	va_start(ap, fmt);
	res = run_rows(conn, fmt, ap);
	va_end(ap);
	out = open_memstream(&text, &len);
	if (out == NULL)
		err(1, "pgtest");
	for (row = 0; row < PQntuples(res); row++)
		for (column = 0; column < PQnfields(res); column++)
			fprintf(out, "%s%s", column > 0 ? "," :
			    row > 0 ? ";" : "", PQgetvalue(res, row, column));
	if (fclose(out) != 0)
		err(1, "pgtest");
	PQclear(res);
	return text;
}

const char *
pgtest_error(PGconn *conn, const char *fmt, ...)
{
	static char	 state[6];
	const char	*field;
	va_list		 ap;
	PGresult	*res;

	va_start(ap, fmt);
	res = run(conn, fmt, ap);
	va_end(ap);
	field = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	if (field == NULL)
		errx(1, "pgtest: %s: did not fail", fmt);
	snprintf(state, sizeof(state), "%s", field);
	PQclear(res);
	return state;
}
