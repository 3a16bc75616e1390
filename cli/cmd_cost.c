/*
 * cmd_cost.c - payonce cost: what was spent, and on what.
 *
 * Spent: the provider's own figure where it sent one, else the estimate.
 * At risk: what is parked, and earlier attempts that nobody knows about.
 */
#include "cli/cli.h"
#include "common/exitcodes.h"

static const char	cost_sql[] =
    "SELECT kind, provider, coalesce(currency, 'USD') AS currency, "
    "count(*) AS attempts, sum(spent) AS spent, sum(at_risk) AS at_risk "
    "FROM payonce.attempt_cost WHERE $1::bigint IS NULL OR job_id = $1 "
    "GROUP BY GROUPING SETS ((kind, provider, coalesce(currency, 'USD')), "
    "(coalesce(currency, 'USD'))) "
    "ORDER BY coalesce(currency, 'USD'), grouping(kind), kind, provider";

static void
money_cell(struct table *t, const PGresult *res, int row, const char *column)
{
	char	 money[64];

	words_money(db_text(res, row, column), db_text(res, row, "currency"),
	    money, sizeof(money));
	table_cell(t, COLOUR_NONE, money);
}

int
cmd_cost(struct cli *cli, int argc, char **argv)
{
	const char	*params[1] = { NULL };
	const struct opt opts[] = { { "job", &params[0], NULL } };
	struct table	*t;
	PGresult	*res;
	int64_t		 n;
	int		 i, rc;

	if ((rc = opts_parse(cli, argc, argv, opts, 1, 0, 0)) < 0)
		return opts_status(rc);
	if (params[0] != NULL &&
	    !opts_i64(cli, "--job", params[0], INT64_MIN, &n))
		return EXIT_CODE_USAGE;
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, cost_sql, 1, params)) == NULL)
		return EXIT_CODE_FAILED;
	if (cli->is_json || PQntuples(res) == 0) {
		if (cli->is_json)
			rc = rows_print_lines(res);
		else
			(void)printf("nothing was spent\n");
		PQclear(res);
		return rc;
	}
	t = table_new();
	table_column(t, "KIND", 0);
	table_column(t, "PROVIDER", COLUMN_SHRINK);
	table_column(t, "ATTEMPTS", COLUMN_RIGHT);
	table_column(t, "SPENT", COLUMN_RIGHT);
	table_column(t, "AT RISK", COLUMN_RIGHT);
	for (i = 0; i < PQntuples(res); i++) {
		table_cell(t, COLOUR_BOLD, db_text(res, i, "kind") != NULL ?
		    db_text(res, i, "kind") : "all");
		table_cell(t, COLOUR_NONE, db_text(res, i, "provider"));
		table_cell(t, COLOUR_NONE, db_text(res, i, "attempts"));
		money_cell(t, res, i, "spent");
		money_cell(t, res, i, "at_risk");
	}
	rc = table_print(t, cli, stdout);
	table_free(&t);
	PQclear(res);
	return rc == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}
