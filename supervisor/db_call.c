/*
 * db_call.c - one statement with its parameters, and what an error means.
 */
#include "supervisor/db.h"

#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/db_conn.h"

struct db_call *
db_call_new(const char *name, const char *sql)
{
	struct db_call *c = mem_alloc(sizeof(*c));

	if (c == NULL)
		return NULL;
	c->name = name;
	c->sql = sql;
	return c;
}

void
db_call_clear(struct db_call *c)
{
	int i = 0;

	for (i = 0; i < c->nparams; i++) {
		mem_free(c->params[i]);
		c->params[i] = NULL;
	}
	c->nparams = 0;
}

void
db_call_free(struct db_call **cp)
{
	if (*cp == NULL)
		return;
	db_call_clear(*cp);
	mem_free(*cp);
	*cp = NULL;
}

void
db_call_add(struct db_call *c, char *text)
{
	if (c->nparams >= DB_PARAMS_MAX)
		panic("statement %s has more than %d parameters", c->name,
		    DB_PARAMS_MAX);
	c->params[c->nparams++] = text;
}

int
db_call_add_text(struct db_call *c, const char *s)
{
	char *copy = NULL;

	if (s != NULL) {
		copy = mem_strdup(s);
		if (copy == NULL)
			return PO_ENOMEM;
	}
	db_call_add(c, copy);
	return 0;
}

int
db_call_add_array(struct db_call *c, struct buf *b)
{
	size_t len = 0;
	char *text = NULL;

	if (array_close(b) != 0)
		return PO_ENOMEM;
	text = buf_steal(b, &len);
	if (text == NULL)
		return PO_ENOMEM;
	db_call_add(c, text);
	return 0;
}

int
db_call_add_i64(struct db_call *c, int64_t v)
{
	char *s = mem_printf("%lld", (long long)v);

	if (s == NULL)
		return PO_ENOMEM;
	db_call_add(c, s);
	return 0;
}

/*
 * Only the classes that speak of the values themselves refuse for good.
 * Everything else (deadlock, shutdown, a standby, a missing function, no
 * memory) is the server's state: the same words may go well later, and
 * nobody's task may be parked for it.
 */
enum db_outcome
db_classify(const PGresult *res)
{
	const char *state = NULL;

	switch (PQresultStatus(res)) {
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
		return DB_OK;
	default:
		break;
	}
	state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	if (state == NULL)
		return DB_LATER;
	if (strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
	    strncmp(state, "54", 2) == 0 || strncmp(state, "P0", 2) == 0)
		return DB_REFUSED;
	return DB_LATER;
}
