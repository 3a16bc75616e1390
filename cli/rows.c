/*
 * rows.c - query results as JSON for programs.
 *
 * Integers and booleans are JSON's, json columns are nested, times are ISO
 * 8601.  Money (numeric) is a string: it must not pass through a double.
 */
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "common/exitcodes.h"
#include "common/mem.h"
#include "common/num.h"

/* PostgreSQL's fixed type numbers. */
enum {
	TYPE_BOOL = 16, TYPE_INT8 = 20, TYPE_INT2 = 21, TYPE_INT4 = 23,
	TYPE_JSON = 114, TYPE_FLOAT4 = 700, TYPE_FLOAT8 = 701,
	TYPE_TIMESTAMPTZ = 1184, TYPE_JSONB = 3802
};

/* "2026-01-31 12:00:00.5+00" -> "2026-01-31T12:00:00.5+00:00" */
static struct json_object *
iso_time(const char *s)
{
	struct json_object	*o;
	const char		*blank = strchr(s, ' ');
	size_t			 len = strlen(s);
	char			*t;

	if (blank == NULL || len < 4)
		return json_object_new_string(s);
	t = mem_printf("%.*sT%s%s", (int)(blank - s), s, blank + 1,
	    s[len - 3] == '+' || s[len - 3] == '-' ? ":00" : "");
	if (t == NULL)
		return NULL;
	o = json_object_new_string(t);
	mem_free(t);
	return o;
}

static struct json_object *
field(const PGresult *res, int row, int column)
{
	struct json_object	*o = NULL;
	const char		*s = PQgetvalue(res, row, column);
	int64_t			 n;

	if (PQgetisnull(res, row, column))
		return NULL;
	switch (PQftype(res, column)) {
	case TYPE_BOOL:
		return json_object_new_boolean(s[0] == 't');
	case TYPE_INT2:
	case TYPE_INT4:
	case TYPE_INT8:
		if (num_parse_i64(s, INT64_MIN, INT64_MAX, &n) == 0)
			return json_object_new_int64(n);
		break;
	case TYPE_JSON:
	case TYPE_JSONB:
	case TYPE_FLOAT4:
	case TYPE_FLOAT8:
		/* NaN and Infinity are no JSON: they stay strings */
		if ((o = json_tokener_parse(s)) != NULL)
			return o;
		if (strcmp(s, "null") == 0)
			return NULL;
		break;
	case TYPE_TIMESTAMPTZ:
		return iso_time(s);
	default:
		break;
	}
	return json_object_new_string(s);
}

struct json_object *
rows_object(const PGresult *res, int row)
{
	struct json_object	*o = json_object_new_object();
	int			 i;

	if (o == NULL)
		return NULL;
	for (i = 0; i < PQnfields(res); i++)
		(void)json_object_object_add(o, PQfname(res, i),
		    field(res, row, i));
	return o;
}

struct json_object *
rows_array(const PGresult *res)
{
	struct json_object	*a = json_object_new_array();
	int			 i;

	if (a == NULL)
		return NULL;
	for (i = 0; i < PQntuples(res); i++)
		(void)json_object_array_add(a, rows_object(res, i));
	return a;
}

int
rows_print(struct json_object *o)
{
	const char	*s = NULL;

	if (o != NULL)
		s = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
		    JSON_C_TO_STRING_NOSLASHESCAPE);

	if (s != NULL)
		(void)puts(s);
	else
		(void)fputs("payonce: out of memory\n", stderr);
	json_object_put(o);
	return s != NULL ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

int
rows_print_lines(const PGresult *res)
{
	int	 i, rc = EXIT_CODE_OK;

	for (i = 0; i < PQntuples(res) && rc == EXIT_CODE_OK; i++)
		rc = rows_print(rows_object(res, i));
	return rc;
}
