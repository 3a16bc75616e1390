/*
 * cmd_status.c - payonce status: is all well, and if not, what to do.
 */
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "common/exitcodes.h"
#include "common/mem.h"

/* A host says each lease (60 s) that it lives; silent for longer: gone. */
#define ALIVE	"interval '150 seconds'"

/* Every kind that has open tasks, a hold, or a living host. */
static const char	kinds_sql[] =
    "WITH task AS (SELECT kind, "
    "count(*) FILTER (WHERE status = 'WAITING') AS waiting, "
    "count(*) FILTER (WHERE status = 'PENDING') AS pending, "
    "count(*) FILTER (WHERE status = 'RUNNING') AS running, "
    "count(*) FILTER (WHERE status = 'SUBMITTED') AS submitted, "
    "count(*) FILTER (WHERE status = 'OUTCOME_UNKNOWN') AS parked "
    "FROM payonce.generation_task WHERE status IN ('WAITING', 'PENDING', "
    "'RUNNING', 'SUBMITTED', 'OUTCOME_UNKNOWN') GROUP BY kind), "
    "served AS (SELECT k.kind, count(*) AS hosts "
    "FROM payonce.host h CROSS JOIN LATERAL (SELECT CASE WHEN "
    "jsonb_typeof(h.kinds) = 'object' THEN h.kinds END AS o, CASE WHEN "
    "jsonb_typeof(h.kinds) = 'array' THEN h.kinds END AS a) j "
    "CROSS JOIN LATERAL (SELECT jsonb_object_keys(j.o) UNION ALL SELECT "
    "coalesce(e->>'kind', e->>'name', e#>>'{}') FROM "
    "jsonb_array_elements(j.a) e) k(kind) "
    "WHERE h.seen_at > now() - " ALIVE " GROUP BY k.kind) "
    "SELECT kind, coalesce(waiting, 0) AS waiting, "
    "coalesce(pending, 0) AS pending, coalesce(running, 0) AS running, "
    "coalesce(submitted, 0) AS submitted, coalesce(parked, 0) AS parked, "
    "coalesce(hosts, 0) AS hosts, h.reason AS hold_reason, "
    "h.detail AS hold_detail, h.since AS held_since, h.by_host AS held_by, "
    "extract(epoch FROM now() - h.since)::bigint AS held_s "
    "FROM task FULL JOIN served USING (kind) "
    "FULL JOIN payonce.kind_hold h USING (kind) ORDER BY kind";

static const char	hosts_sql[] =
    "SELECT owner, hostname, pid, version, kinds, started_at, seen_at, "
    "seen_at > now() - " ALIVE " AS is_alive, "
    "extract(epoch FROM now() - seen_at)::bigint AS seen_s, "
    "extract(epoch FROM now() - started_at)::bigint AS up_s "
    "FROM payonce.host WHERE seen_at > now() - interval '1 day' "
    "ORDER BY owner";

static const char	spend_sql[] =
    "SELECT coalesce(currency, 'USD') AS currency, sum(spent) AS spent, "
    "sum(spent) FILTER (WHERE day = (now() AT TIME ZONE 'UTC')::date) "
    "AS today, sum(at_risk) AS at_risk FROM payonce.spend "
    "GROUP BY 1 ORDER BY 1";

static void
count_cell(struct table *t, const PGresult *res, int row, const char *column,
    enum colour colour)
{
	const char	*s = db_text(res, row, column);

	if (s == NULL || strcmp(s, "0") == 0)
		table_cell(t, COLOUR_DIM, "-");
	else
		table_cell(t, colour, s);
}

static int
kinds_table(const struct cli *cli, const PGresult *res)
{
	struct table	*t = table_new();
	const char	*hold;
	int		 i, rc;

	table_column(t, "KIND", 0);
	table_column(t, "WAITING", COLUMN_RIGHT);
	table_column(t, "PENDING", COLUMN_RIGHT);
	table_column(t, "RUNNING", COLUMN_RIGHT);
	table_column(t, "SUBMITTED", COLUMN_RIGHT);
	table_column(t, "PARKED", COLUMN_RIGHT);
	table_column(t, "HOSTS", COLUMN_RIGHT);
	table_column(t, "", COLUMN_SHRINK);
	for (i = 0; i < PQntuples(res); i++) {
		hold = db_text(res, i, "hold_reason");
		table_cell(t, COLOUR_BOLD, db_text(res, i, "kind"));
		count_cell(t, res, i, "waiting", COLOUR_NONE);
		count_cell(t, res, i, "pending", COLOUR_NONE);
		count_cell(t, res, i, "running", COLOUR_CYAN);
		count_cell(t, res, i, "submitted", COLOUR_CYAN);
		count_cell(t, res, i, "parked", COLOUR_YELLOW);
		count_cell(t, res, i, "hosts", COLOUR_NONE);
		table_cell(t, COLOUR_YELLOW, hold != NULL ? "HELD" : NULL);
	}
	rc = table_print(t, cli, stdout);
	table_free(&t);
	return rc;
}

static void
hosts_list(const struct cli *cli, const PGresult *res)
{
	char	 seen[32], up[32];
	bool	 is_alive;
	int	 i;

	for (i = 0; i < PQntuples(res); i++) {
		is_alive = db_bool(res, i, "is_alive");
		words_ago(db_i64(res, i, "seen_s", 0), seen, sizeof(seen));
		words_span(db_i64(res, i, "up_s", 0), up, sizeof(up));
		(void)printf("host %s  %s%s%s, seen %s, up %s, pid %s, "
		    "version %s\n", db_text(res, i, "owner"),
		    colour_on(cli, is_alive ? COLOUR_GREEN : COLOUR_RED),
		    is_alive ? "alive" : "gone",
		    colour_off(cli, is_alive ? COLOUR_GREEN : COLOUR_RED),
		    seen, up, db_text(res, i, "pid"),
		    db_text(res, i, "version"));
	}
}

static void
spend_list(const PGresult *res)
{
	const char	*currency, *at_risk;
	char		 spent[64], today[64], risk[64];
	int		 i;

	for (i = 0; i < PQntuples(res); i++) {
		currency = db_text(res, i, "currency");
		at_risk = db_text(res, i, "at_risk");
		words_money(db_text(res, i, "spent"), currency, spent,
		    sizeof(spent));
		words_money(db_text(res, i, "today"), currency, today,
		    sizeof(today));
		words_money(at_risk, currency, risk, sizeof(risk));
		(void)printf("spent %s%s%s", spent, today[0] != '\0' ?
		    ", today " : "", today);
		if (at_risk != NULL && strspn(at_risk, "0.") !=
		    strlen(at_risk))
			(void)printf("; at risk in parked tasks %s", risk);
		(void)putchar('\n');
	}
}

/* What needs a person, and how to deal with it. */
static void
warnings(const struct cli *cli, const PGresult *kinds)
{
	const char	*y = colour_on(cli, COLOUR_YELLOW);
	const char	*off = colour_off(cli, COLOUR_YELLOW);
	const char	*kind, *detail;
	char		*command = advice_command(cli), ago[32];
	int64_t		 parked = 0;
	int		 i;

	for (i = 0; i < PQntuples(kinds) && command != NULL; i++) {
		kind = db_text(kinds, i, "kind");
		detail = db_text(kinds, i, "hold_detail");
		parked += db_i64(kinds, i, "parked", 0);
		if (db_text(kinds, i, "hold_reason") != NULL) {
			words_ago(db_i64(kinds, i, "held_s", 0), ago,
			    sizeof(ago));
			(void)printf("%sheld%s %s, %s: %s%s%s\n"
			    "     back: %s release %s\n", y, off, kind, ago,
			    db_text(kinds, i, "hold_reason"),
			    detail != NULL ? ", " : "",
			    detail != NULL ? detail : "", command, kind);
		}
		if (db_i64(kinds, i, "hosts", 0) == 0 &&
		    db_i64(kinds, i, "pending", 0) > 0)
			(void)printf("%swarning%s %s pending of kind %s, "
			    "which no living host serves: start payonced\n"
			    "     with a `kind %s` in its configuration\n", y,
			    off, db_text(kinds, i, "pending"), kind, kind);
	}
	if (parked > 0 && command != NULL)
		(void)printf("%sparked%s %lld task%s for a person: "
		    "%s parked\n", y, off, (long long)parked, parked == 1 ?
		    " waits" : "s wait", command);
	mem_free(command);
}

static int
status_json(const PGresult *kinds, const PGresult *hosts,
    const PGresult *spend)
{
	struct json_object	*o = json_object_new_object();

	if (o != NULL) {
		(void)json_object_object_add(o, "kinds", rows_array(kinds));
		(void)json_object_object_add(o, "hosts", rows_array(hosts));
		(void)json_object_object_add(o, "spend", rows_array(spend));
	}
	return rows_print(o);
}

int
cmd_status(struct cli *cli, int argc, char **argv)
{
	PGresult	*kinds = NULL, *hosts = NULL, *spend = NULL;
	int		 rc;

	if ((rc = opts_parse(cli, argc, argv, NULL, 0, 0, 0)) < 0)
		return opts_status(rc);
	if ((rc = db_open(cli)) != 0)
		return rc;
	rc = EXIT_CODE_FAILED;
	if ((kinds = db_query(cli, kinds_sql, 0, NULL)) == NULL ||
	    (hosts = db_query(cli, hosts_sql, 0, NULL)) == NULL ||
	    (spend = db_query(cli, spend_sql, 0, NULL)) == NULL)
		goto out;
	if (cli->is_json) {
		rc = status_json(kinds, hosts, spend);
		goto out;
	}
	rc = EXIT_CODE_OK;
	if (PQntuples(kinds) == 0)
		(void)printf("no open tasks\n");
	else if (kinds_table(cli, kinds) != 0)
		rc = EXIT_CODE_FAILED;
	if (PQntuples(hosts) == 0)
		(void)printf("no host: payonced has not run in the last "
		    "day\n");
	hosts_list(cli, hosts);
	spend_list(spend);
	warnings(cli, kinds);
out:
	PQclear(kinds);
	PQclear(hosts);
	PQclear(spend);
	return rc;
}
