/*
 * cmd_list.c - payonce list: the tasks, newest first.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/exitcodes.h"

static const char	list_sql[] =
    "SELECT id, job_id, kind, status::text AS status, reason, detail, "
    "provider, model, attempt, requeues, progress, "
    "round(progress * 100)::int AS percent, remote_request_id, "
    "cost_actual, cost_estimated, currency, run_at, created_at, updated_at, "
    "finished_at, extract(epoch FROM now() - created_at)::bigint AS age_s "
    "FROM payonce.generation_task "
    "WHERE ($1::text IS NULL OR kind = $1) "
    "AND ($2::text IS NULL OR status = $2::payonce.task_status) "
    "AND ($3::bigint IS NULL OR job_id = $3) "
    "ORDER BY id DESC LIMIT $4::bigint + 1";

/* What there is to say beside the status, in a few words. */
static void
what_cell(struct table *t, const PGresult *res, int row)
{
	const char	*percent = db_text(res, row, "percent");
	const char	*reason = db_text(res, row, "reason");
	const char	*detail = db_text(res, row, "detail");
	const char	*status = db_text(res, row, "status");
	const char	*words = words_reason(status, reason);

	if (percent != NULL && !words_is_ended(status))
		table_cellf(t, COLOUR_NONE, "%s %% done", percent);
	else if (status != NULL && strcmp(status, "SUCCEEDED") == 0)
		table_cell(t, COLOUR_NONE, NULL);
	else if (words != NULL)
		table_cell(t, COLOUR_NONE, words);
	else
		table_cell(t, COLOUR_NONE, detail != NULL ? detail : reason);
}

static void
list_row(struct table *t, const PGresult *res, int row)
{
	const char	*status = db_text(res, row, "status");
	const char	*cost = db_text(res, row, "cost_actual");
	bool		 is_estimate = cost == NULL;
	char		 ago[32], money[64];

	if (is_estimate)
		cost = db_text(res, row, "cost_estimated");
	words_ago(db_i64(res, row, "age_s", 0), ago, sizeof(ago));
	words_money(cost, db_text(res, row, "currency"), money, sizeof(money));
	table_cell(t, COLOUR_BOLD, db_text(res, row, "id"));
	table_cell(t, COLOUR_NONE, db_text(res, row, "kind"));
	table_cell(t, words_status_colour(status), words_status(status));
	table_cell(t, COLOUR_NONE, ago);
	table_cellf(t, COLOUR_NONE, "%s%s", is_estimate && money[0] != '\0' ?
	    "~" : "", money);
	table_cell(t, COLOUR_NONE, db_text(res, row, "model"));
	what_cell(t, res, row);
}

static int
list_table(const struct cli *cli, const PGresult *res, int limit)
{
	struct table	*t = table_new();
	int		 i, rc, n = PQntuples(res);

	table_column(t, "ID", COLUMN_RIGHT);
	table_column(t, "KIND", 0);
	table_column(t, "STATUS", 0);
	table_column(t, "CREATED", 0);
	table_column(t, "COST", COLUMN_RIGHT);
	table_column(t, "MODEL", COLUMN_SHRINK);
	table_column(t, "WHAT", COLUMN_SHRINK);
	for (i = 0; i < n && i < limit; i++)
		list_row(t, res, i);
	rc = table_print(t, cli, stdout);
	if (n > limit)
		(void)printf("%sthere are more; --limit shows them%s\n",
		    colour_on(cli, COLOUR_DIM), colour_off(cli, COLOUR_DIM));
	table_free(&t);
	return rc == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

static int
list_lines(const PGresult *res, int64_t limit)
{
	int	 i, rc = EXIT_CODE_OK;

	for (i = 0; i < PQntuples(res) && i < limit && rc == 0; i++)
		rc = rows_print(rows_object(res, i));
	return rc;
}

int
cmd_list(struct cli *cli, int argc, char **argv)
{
	const char	*params[4] = { NULL, NULL, NULL, "50" };
	const char	*status = NULL;
	const struct opt opts[] = {
		{ "kind", &params[0], NULL }, { "status", &status, NULL },
		{ "job", &params[2], NULL }, { "limit", &params[3], NULL },
	};
	PGresult	*res;
	int64_t		 n, limit;
	int		 rc;

	rc = opts_parse(cli, argc, argv, opts, sizeof(opts) / sizeof(opts[0]),
	    0, 0);
	if (rc < 0)
		return opts_status(rc);
	if (status != NULL &&
	    (params[1] = words_status_parse(status)) == NULL)
		return cli_usage(cli, "--status %s is none of waiting, "
		    "pending, running, submitted, succeeded, failed, "
		    "canceled, parked", status);
	if ((params[2] != NULL &&
	    !opts_i64(cli, "--job", params[2], INT64_MIN, &n)) ||
	    !opts_i64(cli, "--limit", params[3], 1, &limit))
		return EXIT_CODE_USAGE;
	if (limit > 1000000)
		return cli_usage(cli, "--limit is %s, at most 1000000",
		    params[3]);
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, list_sql, 4, params)) == NULL)
		return EXIT_CODE_FAILED;
	if (cli->is_json)
		rc = list_lines(res, limit);
	else if (PQntuples(res) == 0)
		(void)printf("no tasks\n");
	else
		rc = list_table(cli, res, (int)limit);
	PQclear(res);
	return rc;
}
