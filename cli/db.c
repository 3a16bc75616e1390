/*
 * db.c - the command's one connection, and its errors in a person's words.
 *
 * Owns cli->db and cli->where.  Never prints a password: what is said about
 * a connection is host, port, dbname and user only.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/mem.h"
#include "common/num.h"
#include "config/conf.h"

enum { WHERE_MAX = 4096 };

char *
db_where(const char *conninfo)
{
	static const char *const	 keys[] = { "dbname", "host", "port",
		    "user", NULL };
	PQconninfoOption		*opts, *o;
	struct buf			 b;
	size_t				 i;

	if ((opts = PQconninfoParse(conninfo, NULL)) == NULL)
		return mem_strdup("(a connection string that does not parse)");
	buf_init(&b, WHERE_MAX);
	for (i = 0; keys[i] != NULL; i++) {
		for (o = opts; o->keyword != NULL; o++) {
			if (strcmp(o->keyword, keys[i]) != 0 || o->val == NULL)
				continue;
			(void)buf_printf(&b, "%s%s=%s",
			    buf_left(&b) > 0 ? " " : "", keys[i], o->val);
		}
	}
	PQconninfoFree(opts);
	if (buf_left(&b) == 0)
		(void)buf_puts(&b, "(libpq's defaults)");
	return buf_steal(&b, NULL);
}

/* The connection string: -d, else the configuration's; caller frees. */
static char *
find_conninfo(struct cli *cli)
{
	struct conf	*conf = NULL;
	const char	*path;
	char		*error = NULL, *s = NULL;

	if (cli->conninfo != NULL)
		return mem_strdup(cli->conninfo);
	path = conf_default_path(cli->conf_path);
	if (conf_load(path, &conf, &error) != 0) {
		cli_fail(cli, access(path, F_OK) == 0 ?
		    "correct the file; -d 'host=... dbname=...' works "
		    "without it" :
		    "give -c FILE, or -d 'host=... dbname=...'; "
		    "`payonce sandbox DIR` needs neither",
		    "the configuration cannot be used:\n%s",
		    error != NULL ? error : path);
	} else {
		s = mem_strdup(conf->database);
	}
	mem_free(error);
	conf_free(&conf);
	return s;
}

/* PostgreSQL's notices are not for the person at the terminal. */
static void
ignore_notice(void *arg, const PGresult *res)
{
	(void)arg;
	(void)res;
}

/* libpq's message without its line ends. */
static char *
one_line(const char *message)
{
	char	*s = term_clean(message);
	size_t	 n;

	if (s == NULL)
		return NULL;
	for (n = strlen(s); n > 0 && s[n - 1] == ' '; n--)
		s[n - 1] = '\0';
	return s;
}

int
db_open(struct cli *cli)
{
	static const char *const	 keys[] = { "connect_timeout",
		    "fallback_application_name", "dbname", NULL };
	const char	*values[] = { "10", "payonce", NULL, NULL };
	char		*conninfo, *why;

	if (cli->db != NULL)
		return 0;
	if ((conninfo = find_conninfo(cli)) == NULL)
		return EXIT_CODE_FAILED;
	cli->where = db_where(conninfo);
	/* it stands last, so a timeout of its own wins over ours */
	values[2] = conninfo;
	cli->db = PQconnectdbParams(keys, values, 1);
	mem_free_secret(conninfo, strlen(conninfo));
	if (PQstatus(cli->db) != CONNECTION_OK) {
		why = one_line(PQerrorMessage(cli->db));
		cli_fail(cli, why != NULL && strstr(why, "does not exist") !=
		    NULL ? "create it (createdb), then `payonce migrate`" :
		    "see that PostgreSQL runs and that `database` in the "
		    "configuration (or -d) is right",
		    "no connection to the database %s: %s",
		    cli->where != NULL ? cli->where : "",
		    why != NULL ? why : "out of memory");
		mem_free(why);
		return EXIT_CODE_FAILED;
	}
	(void)PQsetNoticeReceiver(cli->db, ignore_notice, NULL);
	return 0;
}

void
db_close(struct cli *cli)
{
	PQfinish(cli->db);
	cli->db = NULL;
	mem_free(cli->where);
	cli->where = NULL;
}

static void
explain_refusal(struct cli *cli, const PGresult *res)
{
	const char	*text = PQresultErrorField(res,
	    PG_DIAG_MESSAGE_PRIMARY);
	const char	*hint = PQresultErrorField(res, PG_DIAG_MESSAGE_HINT);
	const char	*detail = PQresultErrorField(res,
	    PG_DIAG_MESSAGE_DETAIL);

	/* our own functions say who they are; we say it already */
	if (text != NULL && strncmp(text, "payonce: ", 9) == 0)
		text += 9;
	cli_fail(cli, hint, "%s%s%s%s",
	    text != NULL ? text : "the database refused, without a reason",
	    detail != NULL ? " (" : "", detail != NULL ? detail : "",
	    detail != NULL ? ")" : "");
}

void
db_explain(struct cli *cli, const PGresult *res)
{
	const char	*state = res == NULL ? NULL :
	    PQresultErrorField(res, PG_DIAG_SQLSTATE);
	char		*why;

	if (state == NULL || PQstatus(cli->db) != CONNECTION_OK) {
		why = one_line(PQerrorMessage(cli->db));
		cli_fail(cli, "the last command may have happened or not: look "
		    "with `payonce show` before you repeat it",
		    "the connection to %s was lost: %s",
		    cli->where != NULL ? cli->where : "the database",
		    why != NULL ? why : "out of memory");
		mem_free(why);
	} else if (strcmp(state, "3F000") == 0 ||
	    strcmp(state, "42P01") == 0 || strcmp(state, "42883") == 0 ||
	    strcmp(state, "42703") == 0) {
		cli_fail(cli, "run `payonce migrate`",
		    "the database %s has no payonce schema, or an older one "
		    "(%s)", cli->where != NULL ? cli->where : "",
		    PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY));
	} else if (strcmp(state, "42501") == 0) {
		cli_fail(cli, "let its owner GRANT it payonce_app (to read and "
		    "enqueue) or payonce_operator (to decide)",
		    "role %s has no right to this: %s", PQuser(cli->db),
		    PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY));
	} else {
		explain_refusal(cli, res);
	}
}

PGresult *
db_try(struct cli *cli, const char *sql, int nparams,
    const char *const *params)
{
	return PQexecParams(cli->db, sql, nparams, NULL, params, NULL, NULL,
	    0);
}

PGresult *
db_query(struct cli *cli, const char *sql, int nparams,
    const char *const *params)
{
	PGresult	*res = db_try(cli, sql, nparams, params);

	if (PQresultStatus(res) == PGRES_TUPLES_OK ||
	    PQresultStatus(res) == PGRES_COMMAND_OK)
		return res;
	db_explain(cli, res);
	PQclear(res);
	return NULL;
}

const char *
db_text(const PGresult *res, int row, const char *column)
{
	int	 n = PQfnumber(res, column);

	if (n < 0 || PQgetisnull(res, row, n))
		return NULL;
	return PQgetvalue(res, row, n);
}

int64_t
db_i64(const PGresult *res, int row, const char *column, int64_t none)
{
	const char	*s = db_text(res, row, column);
	int64_t		 n;

	if (s == NULL || num_parse_i64(s, INT64_MIN, INT64_MAX, &n) != 0)
		return none;
	return n;
}

bool
db_bool(const PGresult *res, int row, const char *column)
{
	const char	*s = db_text(res, row, column);

	return s != NULL && s[0] == 't';
}
