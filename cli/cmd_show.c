/*
 * cmd_show.c - payonce show: one task, its story and what to do about it.
 *
 * The story is the task's events (cli/story.c); everything else is the row.
 */
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/story.h"
#include "common/exitcodes.h"
#include "common/mem.h"

static const char	row_sql[] =
    "SELECT t.*, t.status::text AS status_text, "
    "t.remote_request_id AS request_id, t.result IS NOT NULL AS has_result, "
    "to_char(t.submit_started_at, 'YYYY-MM-DD HH24:MI:SS TZ') "
    "AS marked_text, "
    "to_char(t.created_at, 'YYYY-MM-DD HH24:MI:SS TZ') AS created_text, "
    "extract(epoch FROM now() - t.created_at)::bigint AS age_s, "
    "extract(epoch FROM t.run_at - now())::bigint AS due_s, "
    "extract(epoch FROM t.lease_expires_at - now())::bigint AS lease_s, "
    "extract(epoch FROM t.poll_deadline_at - now())::bigint AS deadline_s, "
    "(SELECT jsonb_agg(jsonb_build_object('id', p.id, 'kind', p.kind, "
    "'status', p.status) ORDER BY d.ord) FROM payonce.task_dep d "
    "JOIN payonce.generation_task p ON p.id = d.parent "
    "WHERE d.child = t.id) AS parents, "
    "(SELECT string_agg('#' || p.id || ' (' || p.kind || ', ' || CASE "
    "p.status WHEN 'OUTCOME_UNKNOWN' THEN 'parked' ELSE lower(p.status::text)"
    " END || ')', ', ' ORDER BY d.ord) FROM payonce.task_dep d "
    "JOIN payonce.generation_task p ON p.id = d.parent "
    "WHERE d.child = t.id) AS parents_text, "
    "(SELECT h.reason FROM payonce.kind_hold h WHERE h.kind = t.kind) "
    "AS hold_reason "
    "FROM payonce.generation_task t WHERE t.id = $1::bigint";

static const char	past_sql[] =
    "SELECT attempt, status::text AS status, reason, detail, provider, model, "
    "own_id, submit_started_at, submitted_at, remote_request_id, poll_url, "
    "cost_estimated, cost_actual, currency, action, superseded_by, note, "
    "superseded_at FROM payonce.past_attempt WHERE task_id = $1::bigint "
    "ORDER BY id";

static void
fact(const struct cli *cli, const char *name, const char *text)
{
	char	 first[32];

	if (text == NULL || text[0] == '\0')
		return;
	(void)snprintf(first, sizeof(first), "  %-10s", name);
	term_wrap(cli, stdout, first, "            ", text);
}

static void
fact_money(const struct cli *cli, const PGresult *res, int row)
{
	const char	*currency = db_text(res, row, "currency");
	char		 billed[64], guess[64], text[192];

	words_money(db_text(res, row, "cost_actual"), currency, billed,
	    sizeof(billed));
	words_money(db_text(res, row, "cost_estimated"), currency, guess,
	    sizeof(guess));
	if (billed[0] != '\0')
		(void)snprintf(text, sizeof(text), "%s billed%s%s%s", billed,
		    guess[0] != '\0' ? " (estimate was " : "", guess,
		    guess[0] != '\0' ? ")" : "");
	else
		(void)snprintf(text, sizeof(text), "%s%s", guess,
		    guess[0] != '\0' ? " estimated" : "");
	fact(cli, "money", text);
}

static void
head(const struct cli *cli, const PGresult *res)
{
	const char	*status = db_text(res, 0, "status_text");
	const char	*model = db_text(res, 0, "model");
	const char	*provider = db_text(res, 0, "provider");
	char		 ago[32], text[256];

	words_ago(db_i64(res, 0, "age_s", 0), ago, sizeof(ago));
	(void)printf("%stask %s%s  %s%s%s%s%s  %s%s%s\n",
	    colour_on(cli, COLOUR_BOLD), db_text(res, 0, "id"),
	    colour_off(cli, COLOUR_BOLD), db_text(res, 0, "kind"),
	    provider != NULL ? " by " : "", provider != NULL ? provider : "",
	    model != NULL ? ", " : "", model != NULL ? model : "",
	    colour_on(cli, words_status_colour(status)),
	    words_status(status), colour_off(cli, words_status_colour(
	    status)));
	(void)snprintf(text, sizeof(text), "%s, %s", ago,
	    db_text(res, 0, "created_text"));
	fact(cli, "created", text);
	fact(cli, "job", db_text(res, 0, "job_id"));
	fact(cli, "dedupe key", db_text(res, 0, "dedupe_key"));
	fact(cli, "after", db_text(res, 0, "parents_text"));
	fact(cli, "input", db_text(res, 0, "input"));
	fact(cli, "request", db_text(res, 0, "request_id"));
	fact(cli, "poll URL", db_text(res, 0, "poll_url"));
	fact_money(cli, res, 0);
}

/* What happens next by itself, when something does. */
static void
outlook(const struct cli *cli, const PGresult *res)
{
	const char	*status = db_text(res, 0, "status_text");
	const char	*owner = db_text(res, 0, "lease_owner");
	const char	*hold = db_text(res, 0, "hold_reason");
	int64_t		 due = db_i64(res, 0, "due_s", 0);
	int64_t		 lease = db_i64(res, 0, "lease_s", 0);
	char		 span[32], text[512] = "";

	if (strcmp(status, "PENDING") == 0 && due > 0) {
		words_span(due, span, sizeof(span));
		(void)snprintf(text, sizeof(text), "not before %s from now",
		    span);
	} else if (strcmp(status, "PENDING") == 0 && hold != NULL) {
		(void)snprintf(text, sizeof(text), "waits: its kind is held "
		    "(%s); `payonce status` shows the way back", hold);
	} else if (strcmp(status, "PENDING") == 0) {
		(void)snprintf(text, sizeof(text), "waits for a free place");
	} else if (owner != NULL) {
		words_span(lease < 0 ? -lease : lease, span, sizeof(span));
		(void)snprintf(text, sizeof(text), lease >= 0 ?
		    "in the hands of %s; if that dies, another takes over "
		    "within %s" : "its lease (%s) ran out %s ago; the next "
		    "claim takes it over", owner, span);
	}
	fact(cli, "now", text);
	if (strcmp(status, "SUBMITTED") == 0 &&
	    db_text(res, 0, "deadline_s") != NULL) {
		words_span(db_i64(res, 0, "deadline_s", 0), span,
		    sizeof(span));
		(void)snprintf(text, sizeof(text), "in %s it is parked, if "
		    "the provider has not finished", span);
		fact(cli, "deadline", text);
	}
}

/* Lines "path (sha)" of whatever the result calls artifacts. */
static void
artifacts(const struct cli *cli, const PGresult *res)
{
	const char		*text = db_text(res, 0, "result");
	struct json_object	*o, *list = NULL, *a, *path = NULL;
	const char		*s;
	size_t			 i;

	if (text == NULL || (o = json_tokener_parse(text)) == NULL)
		return;
	if (json_object_is_type(o, json_type_object) &&
	    json_object_object_get_ex(o, "artifacts", &list) &&
	    json_object_is_type(list, json_type_array)) {
		for (i = 0; i < json_object_array_length(list); i++) {
			a = json_object_array_get_idx(list, i);
			if (json_object_is_type(a, json_type_object) &&
			    json_object_object_get_ex(a, "path", &path))
				s = json_object_get_string(path);
			else
				s = json_object_get_string(a);
			fact(cli, i == 0 ? "artifacts" : "", s);
		}
	}
	json_object_put(o);
}

static void
past_attempts(const struct cli *cli, const PGresult *past)
{
	char	*line;
	int	 i;

	for (i = 0; i < PQntuples(past); i++) {
		line = mem_printf("attempt %s ended by %s (%s)%s%s%s%s",
		    db_text(past, i, "attempt"),
		    db_text(past, i, "superseded_by"),
		    db_text(past, i, "action"),
		    db_text(past, i, "note") != NULL ? ": " : "",
		    db_text(past, i, "note") != NULL ?
		    db_text(past, i, "note") : "",
		    db_text(past, i, "remote_request_id") != NULL ?
		    "; its request id was " : "",
		    db_text(past, i, "remote_request_id") != NULL ?
		    db_text(past, i, "remote_request_id") : "");
		if (line != NULL)
			fact(cli, i == 0 ? "before" : "", line);
		mem_free(line);
	}
}

static int
show_text(const struct cli *cli, const PGresult *res, const PGresult *past,
    const PGresult *events)
{
	const char	*status = db_text(res, 0, "status_text");
	const char	*reason = db_text(res, 0, "reason");
	const char	*words = words_reason(status, reason);
	bool		 is_parked = strcmp(status, "OUTCOME_UNKNOWN") == 0;
	int		 rc;

	head(cli, res);
	past_attempts(cli, past);
	outlook(cli, res);
	if (is_parked || strcmp(status, "FAILED") == 0) {
		fact(cli, "why", words != NULL ? words : reason);
		fact(cli, "", db_text(res, 0, "detail"));
	}
	fact(cli, "result", db_text(res, 0, "result"));
	artifacts(cli, res);
	(void)putchar('\n');
	rc = story_print(cli, events);
	if (is_parked) {
		(void)printf("\n%sa person decides:%s\n",
		    colour_on(cli, COLOUR_YELLOW),
		    colour_off(cli, COLOUR_YELLOW));
		advice_print(cli, stdout, res, 0, "  ");
	}
	return rc;
}

static int
show_json(const PGresult *res, const PGresult *past, const PGresult *events)
{
	struct json_object	*o = rows_object(res, 0);

	if (o != NULL) {
		json_object_object_del(o, "status_text");
		json_object_object_del(o, "request_id");
		json_object_object_del(o, "has_result");
		json_object_object_del(o, "marked_text");
		json_object_object_del(o, "created_text");
		json_object_object_del(o, "parents_text");
		json_object_object_del(o, "hold_reason");
		(void)json_object_object_add(o, "past_attempts",
		    rows_array(past));
		(void)json_object_object_add(o, "events", rows_array(events));
	}
	return rows_print(o);
}

int
cmd_show(struct cli *cli, int argc, char **argv)
{
	const char *const	*params = (const char *const *)argv;
	PGresult		*res = NULL, *past = NULL, *events = NULL;
	int64_t			 id;
	int			 rc;

	if ((rc = opts_parse(cli, argc, argv, NULL, 0, 1, 1)) < 0)
		return opts_status(rc);
	if (!opts_i64(cli, "the task's id", argv[0], 1, &id))
		return EXIT_CODE_USAGE;
	if ((rc = db_open(cli)) != 0)
		return rc;
	rc = EXIT_CODE_FAILED;
	if ((res = db_query(cli, row_sql, 1, params)) == NULL)
		goto out;
	if (PQntuples(res) == 0) {
		cli_fail(cli, "`payonce list` shows what there is",
		    "there is no task %s", argv[0]);
		goto out;
	}
	if ((past = db_query(cli, past_sql, 1, params)) == NULL ||
	    (events = db_query(cli, story_sql, 1, params)) == NULL)
		goto out;
	rc = cli->is_json ? show_json(res, past, events) :
	    show_text(cli, res, past, events);
out:
	PQclear(res);
	PQclear(past);
	PQclear(events);
	return rc;
}
