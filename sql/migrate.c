/*
 * migrate.c - bring a database to the version that this program knows.
 *
 * Owns no state but the schema it makes.  Must not change a migration that
 * is applied already, and must not leave a half-applied one.
 */
#include <limits.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "sql/migrate.h"
#include "sql/migrations.h"

/* Any number will do that nobody else takes: "payonce" in ASCII. */
#define LOCK_SQL	"SELECT pg_advisory_xact_lock(31632294829843301)"

/* Only the holder of the lock makes the schema: IF NOT EXISTS races. */
#define BEGIN_SQL							\
	"BEGIN; SET LOCAL client_min_messages = warning; " LOCK_SQL ";"	\
	"CREATE SCHEMA IF NOT EXISTS payonce;"				\
	"CREATE TABLE IF NOT EXISTS payonce.migration ("		\
	"version int PRIMARY KEY, name text NOT NULL,"			\
	"applied_at timestamptz NOT NULL DEFAULT now())"

static int	apply_next(PGconn *, int *, char **);
static int	find_missing(PGconn *, const struct migration **, char **);
static int	check_row(PGresult *, int, char **);
static int	apply(PGconn *, const struct migration *, char **);
static int	exec_ok(PGconn *, const char *, const char *, char **);
static int	explain(char **, char *, int);

int
migrate_run(PGconn *conn, int *ret_applied, char **ret_error)
{
	int	applied = 0, is_done = 0, rc;
	char	*error = NULL;

	do {
		rc = apply_next(conn, &is_done, &error);
		if (rc == 0 && !is_done)
			applied++;
	} while (rc == 0 && !is_done);
	*ret_applied = applied;
	*ret_error = error;
	return rc;
}

/* One transaction: lock, look what is missing, apply the first of it. */
static int
apply_next(PGconn *conn, int *ret_done, char **ret_error)
{
	const struct migration	*missing = NULL;
	PGresult		*res;
	int			 rc;

	rc = exec_ok(conn, BEGIN_SQL, "preparing the schema payonce",
	    ret_error);
	if (rc == 0)
		rc = find_missing(conn, &missing, ret_error);
	if (rc == 0 && missing != NULL)
		rc = apply(conn, missing, ret_error);
	if (rc == 0)
		rc = exec_ok(conn, "COMMIT", missing != NULL ? missing->name :
		    "looking for migrations", ret_error);
	if (rc != 0) {
		/* The first error is the one to tell. */
		res = PQexec(conn, "ROLLBACK");
		PQclear(res);
		return rc;
	}
	*ret_done = missing == NULL;
	return 0;
}

static int
find_missing(PGconn *conn, const struct migration **ret_missing,
    char **ret_error)
{
	PGresult	*res;
	size_t		 have;
	int		 i, rc = 0;

	res = PQexec(conn,
	    "SELECT version, name FROM payonce.migration ORDER BY version");
	if (PQresultStatus(res) != PGRES_TUPLES_OK) {
		rc = explain(ret_error, mem_printf("reading payonce.migration: "
		    "%s", PQerrorMessage(conn)), PO_EIO);
		goto out;
	}
	for (i = 0; i < PQntuples(res) && rc == 0; i++)
		rc = check_row(res, i, ret_error);
	have = (size_t)PQntuples(res);
	if (rc == 0 && have < nmigrations)
		*ret_missing = &migrations[have];
out:
	PQclear(res);
	return rc;
}

/* Row i must be migration i + 1 of ours, by number and by name. */
static int
check_row(PGresult *res, int i, char **ret_error)
{
	const char	*version = PQgetvalue(res, i, 0);
	const char	*name = PQgetvalue(res, i, 1);
	int64_t		 number = 0;

	if (num_parse_i64(version, 1, INT_MAX, &number) != 0 ||
	    number > (int64_t)nmigrations)
		return explain(ret_error, mem_printf("the database has "
		    "migration %s (%s), this program knows only %zu: install "
		    "the newer payonce", version, name, nmigrations),
		    PO_EVERSION);
	if (number != i + 1 || strcmp(name, migrations[i].name) != 0)
		return explain(ret_error, mem_printf("the database has "
		    "migration %s (%s) where this program has %d (%s): the "
		    "schema payonce was not made by payonce", version, name,
		    migrations[i].version, migrations[i].name), PO_EVERSION);
	return 0;
}

static int
apply(PGconn *conn, const struct migration *m, char **ret_error)
{
	const char	*values[2];
	char		*version;
	PGresult	*res;
	int		 rc;

	rc = exec_ok(conn, m->text, m->name, ret_error);
	if (rc != 0)
		return rc;
	version = mem_printf("%d", m->version);
	if (version == NULL)
		return PO_ENOMEM;
	values[0] = version;
	values[1] = m->name;
	res = PQexecParams(conn, "INSERT INTO payonce.migration (version, name)"
	    " VALUES ($1, $2)", 2, NULL, values, NULL, NULL, 0);
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		rc = explain(ret_error, mem_printf("recording migration %s: "
		    "%s", m->name, PQerrorMessage(conn)), PO_EIO);
	PQclear(res);
	mem_free(version);
	return rc;
}

static int
exec_ok(PGconn *conn, const char *sql, const char *what, char **ret_error)
{
	PGresult	*res;
	ExecStatusType	 status;

	res = PQexec(conn, sql);
	status = PQresultStatus(res);
	PQclear(res);
	if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
		return 0;
	return explain(ret_error, mem_printf("%s: %s", what,
	    PQerrorMessage(conn)), PO_EIO);
}

/* explain() takes text, which may be NULL, and returns the code for it. */
static int
explain(char **ret_error, char *text, int rc)
{
	size_t	len;

	if (text == NULL)
		return PO_ENOMEM;
	/* libpq's messages end with a newline */
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	*ret_error = text;
	return rc;
}
