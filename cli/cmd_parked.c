/*
 * cmd_parked.c - payonce parked and payonce resolve: where a person decides.
 *
 * resolve() in the database refuses what may not be decided; this file only
 * says it well.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/exitcodes.h"
#include "common/num.h"

static const char	parked_sql[] =
    "SELECT p.*, t.poll_url, t.result IS NOT NULL AS has_result, "
    "to_char(p.marked_at, 'YYYY-MM-DD HH24:MI:SS TZ') AS marked_text, "
    "extract(epoch FROM now() - p.parked_at)::bigint AS parked_s "
    "FROM payonce.parked p JOIN payonce.generation_task t USING (id) "
    "ORDER BY p.id";

static void
parked_entry(const struct cli *cli, const PGresult *res, int row)
{
	const char	*reason = db_text(res, row, "reason");
	const char	*detail = db_text(res, row, "detail");
	const char	*words = words_reason("OUTCOME_UNKNOWN",
	    reason);
	const char	*model = db_text(res, row, "model");
	char		 ago[32], money[64];

	words_ago(db_i64(res, row, "parked_s", 0), ago, sizeof(ago));
	words_money(db_text(res, row, "cost_estimated"),
	    db_text(res, row, "currency"), money, sizeof(money));
	(void)printf("%s%s#%s%s  %s%s%s  parked %s%s%s%s\n",
	    row > 0 ? "\n" : "", colour_on(cli, COLOUR_YELLOW),
	    db_text(res, row, "id"), colour_off(cli, COLOUR_YELLOW),
	    db_text(res, row, "kind"), model != NULL ? " " : "",
	    model != NULL ? model : "", ago,
	    money[0] != '\0' ? ", about " : "", money,
	    money[0] != '\0' ? " at stake" : "");
	if (words != NULL || reason != NULL)
		term_wrap(cli, stdout, "  ", "  ", words != NULL ? words :
		    reason);
	if (detail != NULL)
		term_wrap(cli, stdout, "  ", "  ", detail);
	advice_print(cli, stdout, res, row, "  ");
}

int
cmd_parked(struct cli *cli, int argc, char **argv)
{
	PGresult	*res;
	int		 i, rc;

	if ((rc = opts_parse(cli, argc, argv, NULL, 0, 0, 0)) < 0)
		return opts_status(rc);
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, parked_sql, 0, NULL)) == NULL)
		return EXIT_CODE_FAILED;
	if (cli->is_json)
		rc = rows_print_lines(res);
	else if (PQntuples(res) == 0)
		(void)printf("nothing is parked: no task waits for a "
		    "person\n");
	else
		for (i = 0; i < PQntuples(res); i++)
			parked_entry(cli, res, i);
	PQclear(res);
	return rc;
}

struct decision {
	const char	*actor;
	const char	*note;
	const char	*request_id;
	const char	*result;
	const char	*cost;
	const char	*currency;
};

static int
check_decision(struct cli *cli, const char *action, const struct decision *d)
{
	static const char *const	 actions[] = { "adopt", "requeue",
		    "failed", "succeeded" };
	const char			*near;
	size_t				 i;

	for (i = 0; i < 4; i++)
		if (strcmp(action, actions[i]) == 0)
			break;
	if (i == 4) {
		near = opts_nearest(action, actions, 4);
		return cli_usage(cli, "there is no action \"%s\"%s%s%s",
		    action, near != NULL ? "; did you mean \"" : "",
		    near != NULL ? near : "", near != NULL ? "\"?" : "");
	}
	if (d->actor == NULL || d->actor[0] == '\0')
		return cli_usage(cli, "--actor is missing: who decides?");
	if (d->note == NULL || d->note[0] == '\0')
		return cli_usage(cli, "--note is missing: on what grounds?");
	if (d->cost != NULL && num_decimal_check(d->cost) != 0)
		return cli_usage(cli, "--cost must be an amount such as 0.03, "
		    "not \"%s\"", d->cost);
	if (d->currency != NULL && (strlen(d->currency) != 3 ||
	    strspn(d->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3))
		return cli_usage(cli, "--currency must be three capital "
		    "letters such as USD, not \"%s\"", d->currency);
	return 0;
}

/* The database says no, or there is no such task: say which, and the status */
static int
refused(struct cli *cli, const PGresult *res, const char *id)
{
	const char	*params[] = { id };
	PGresult	*now = db_try(cli, "SELECT status::text AS status "
	    "FROM payonce.generation_task WHERE id = $1::bigint", 1, params);
	const char	*status;

	if (PQresultStatus(now) != PGRES_TUPLES_OK) {
		db_explain(cli, res);
	} else if (PQntuples(now) == 0) {
		cli_fail(cli, "`payonce parked` lists what can be decided",
		    "there is no task %s", id);
	} else {
		status = db_text(now, 0, "status");
		if (strcmp(status, "OUTCOME_UNKNOWN") == 0)
			db_explain(cli, res);
		else
			cli_fail(cli, "`payonce parked` lists what can be "
			    "decided", "task %s is not parked, it is %s; only "
			    "a parked task can be resolved", id,
			    words_status(status));
	}
	PQclear(now);
	return EXIT_CODE_FAILED;
}

static int
resolve_run(struct cli *cli, const char *id, const char *action,
    const struct decision *d)
{
	const char	*params[] = { id, action, d->actor, d->note,
		    d->request_id, d->result, d->cost, d->currency };
	PGresult	*res;
	int		 rc = EXIT_CODE_OK;

	res = db_try(cli, "SELECT $1::bigint AS id, payonce.resolve("
	    "$1::bigint, $2::text, $3::text, $4::text, request_id => "
	    "$5::text, result => $6::jsonb, cost => $7::numeric, currency => "
	    "$8::text) AS status", 8, params);
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		rc = refused(cli, res, id);
	else if (cli->is_json)
		rc = rows_print_lines(res);
	else
		(void)printf("task %s is %s now\n", id,
		    words_status(db_text(res, 0, "status")));
	PQclear(res);
	return rc;
}

int
cmd_resolve(struct cli *cli, int argc, char **argv)
{
	struct decision	 d = { .actor = NULL };
	const struct opt opts[] = {
		{ "actor", &d.actor, NULL }, { "note", &d.note, NULL },
		{ "request-id", &d.request_id, NULL },
		{ "result", &d.result, NULL }, { "cost", &d.cost, NULL },
		{ "currency", &d.currency, NULL },
	};
	int64_t		 id;
	int		 rc;

	rc = opts_parse(cli, argc, argv, opts, sizeof(opts) / sizeof(opts[0]),
	    2, 2);
	if (rc < 0)
		return opts_status(rc);
	if (!opts_i64(cli, "the task's id", argv[0], 1, &id))
		return EXIT_CODE_USAGE;
	if ((rc = check_decision(cli, argv[1], &d)) != 0)
		return rc;
	if ((rc = db_open(cli)) != 0)
		return rc;
	return resolve_run(cli, argv[0], argv[1], &d);
}
