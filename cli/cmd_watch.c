/*
 * cmd_watch.c - payonce watch: tasks on their way.
 *
 * A terminal gets a table that is drawn anew; a pipe gets one line for each
 * change of a status.  Ends when every named task has ended or is parked;
 * without names it goes on until it is interrupted.
 */
#include <sys/ioctl.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/buf.h"
#include "common/exitcodes.h"
#include "common/mem.h"

enum { ROWS_MAX = 1000, IDS_MAX = 64 * 1024 };

struct seen {
	int64_t	 id;
	char	 status[24];
};

struct watch {
	const char	*ids;		/* "{1,2}", or NULL */
	const char	*job;
	struct seen	*seen;
	size_t		 nseen;
	size_t		 lines;		/* drawn last time */
};

static const char	watch_sql[] =
    "SELECT id, kind, status::text AS status, reason, detail, progress, "
    "round(progress * 100)::int AS percent, model, "
    "remote_request_id, cost_actual, cost_estimated, currency, "
    "extract(epoch FROM now() - updated_at)::bigint AS since_s, "
    "extract(epoch FROM now() - created_at)::bigint AS age_s "
    "FROM payonce.generation_task WHERE CASE "
    "WHEN $1::bigint[] IS NOT NULL THEN id = ANY($1) "
    "WHEN $2::bigint IS NOT NULL THEN job_id = $2 "
    "ELSE status IN ('WAITING', 'PENDING', 'RUNNING', 'SUBMITTED') "
    "OR finished_at > now() - interval '15 seconds' END "
    "ORDER BY id LIMIT 1000";

/* True when the status is new for this task. */
static bool
is_news(struct watch *w, const PGresult *res, int row)
{
	const char	*status = db_text(res, row, "status");
	int64_t		 id = db_i64(res, row, "id", 0);
	size_t		 i;

	for (i = 0; i < w->nseen && w->seen[i].id != id; i++)
		continue;
	if (i == w->nseen) {
		/* the oldest entry makes room: it is no longer in the list */
		if (w->nseen == ROWS_MAX) {
			memmove(w->seen, w->seen + 1,
			    (ROWS_MAX - 1) * sizeof(*w->seen));
			i = --w->nseen;
		}
		w->nseen++;
		w->seen[i].id = id;
		w->seen[i].status[0] = '\0';
	}
	if (strcmp(w->seen[i].status, status) == 0)
		return false;
	(void)snprintf(w->seen[i].status, sizeof(w->seen[i].status), "%s",
	    status);
	return true;
}

static int
say_changes(const struct cli *cli, struct watch *w, const PGresult *res)
{
	const char	*status;
	int		 i, rc = EXIT_CODE_OK;

	for (i = 0; i < PQntuples(res) && rc == EXIT_CODE_OK; i++) {
		if (!is_news(w, res, i))
			continue;
		status = db_text(res, i, "status");
		if (cli->is_json)
			rc = rows_print(rows_object(res, i));
		else
			(void)printf("task %s %s %s%s%s\n",
			    db_text(res, i, "id"), db_text(res, i, "kind"),
			    words_status(status),
			    db_text(res, i, "reason") != NULL ? ": " : "",
			    db_text(res, i, "reason") != NULL ?
			    db_text(res, i, "reason") : "");
	}
	(void)fflush(stdout);
	return rc;
}

static void
bar_cell(const struct cli *cli, struct table *t, const PGresult *res, int row)
{
	int64_t	 percent = db_i64(res, row, "percent", -1);
	char	 bar[64] = "";
	int	 i;

	if (percent < 0 || words_is_ended(db_text(res, row, "status"))) {
		table_cell(t, COLOUR_NONE, NULL);
		return;
	}
	for (i = 0; i < 10; i++)
		(void)strlcat(bar, percent > i * 10 ?
		    (cli->has_utf8 ? "\xe2\x96\x88" : "#") :
		    (cli->has_utf8 ? "\xe2\x96\x91" : "-"), sizeof(bar));
	table_cellf(t, COLOUR_CYAN, "%s %3lld %%", bar, (long long)percent);
}

static void
draw_row(const struct cli *cli, struct table *t, const PGresult *res, int row)
{
	const char	*status = db_text(res, row, "status");
	const char	*cost = db_text(res, row, "cost_actual");
	const char	*reason = db_text(res, row, "reason");
	char		 span[32], money[64];

	words_span(db_i64(res, row, "since_s", 0), span, sizeof(span));
	words_money(cost != NULL ? cost : db_text(res, row, "cost_estimated"),
	    db_text(res, row, "currency"), money, sizeof(money));
	table_cell(t, COLOUR_BOLD, db_text(res, row, "id"));
	table_cell(t, COLOUR_NONE, db_text(res, row, "kind"));
	table_cell(t, words_status_colour(status), words_status(status));
	table_cell(t, COLOUR_DIM, span);
	bar_cell(cli, t, res, row);
	table_cell(t, COLOUR_NONE, money);
	table_cell(t, COLOUR_DIM, reason != NULL && !(status != NULL &&
	    strcmp(status, "SUCCEEDED") == 0) ? reason : NULL);
}

static int
terminal_rows(void)
{
	struct winsize	 ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 6)
		return ws.ws_row - 3;
	return 20;
}

static int
draw(const struct cli *cli, struct watch *w, const PGresult *res)
{
	struct table	*t = table_new();
	int		 i, rc, n = PQntuples(res), most = terminal_rows();

	table_column(t, "ID", COLUMN_RIGHT);
	table_column(t, "KIND", 0);
	table_column(t, "STATUS", 0);
	table_column(t, "SINCE", 0);
	table_column(t, "PROGRESS", 0);
	table_column(t, "COST", COLUMN_RIGHT);
	table_column(t, "WHY", COLUMN_SHRINK);
	for (i = 0; i < n && i < most; i++)
		draw_row(cli, t, res, i);
	if (w->lines > 0)
		(void)printf("\033[%zuA\033[J", w->lines);
	rc = table_print(t, cli, stdout);
	w->lines = table_rows(t) + 1;
	if (n > most) {
		(void)printf("and %d more\n", n - most);
		w->lines++;
	} else if (n == 0) {
		(void)printf("nothing is under way; waiting (Ctrl-C ends)\n");
		w->lines++;
	}
	(void)fflush(stdout);
	table_free(&t);
	return rc == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}

/* All ended?  *ret_good: every one of them succeeded. */
static bool
all_ended(const PGresult *res, bool *ret_good)
{
	const char	*status;
	int		 i;

	*ret_good = true;
	for (i = 0; i < PQntuples(res); i++) {
		status = db_text(res, i, "status");
		if (!words_is_ended(status))
			return false;
		if (strcmp(status, "SUCCEEDED") != 0)
			*ret_good = false;
	}
	return true;
}

static int
watch_run(struct cli *cli, struct watch *w)
{
	const char	*params[] = { w->ids, w->job };
	PGresult	*res;
	bool		 is_good, is_over = false;
	int		 rc = EXIT_CODE_OK;

	while (!is_over && !wait_is_interrupted() && rc == EXIT_CODE_OK) {
		if ((res = db_query(cli, watch_sql, 2, params)) == NULL)
			return EXIT_CODE_FAILED;
		if ((w->ids != NULL || w->job != NULL) &&
		    PQntuples(res) == 0) {
			cli_fail(cli, "`payonce list` shows what there is",
			    "there is no such task");
			PQclear(res);
			return EXIT_CODE_FAILED;
		}
		rc = cli->is_tty && !cli->is_json ? draw(cli, w, res) :
		    say_changes(cli, w, res);
		if (w->ids != NULL || w->job != NULL)
			is_over = all_ended(res, &is_good);
		PQclear(res);
		if (!is_over && rc == EXIT_CODE_OK)
			rc = wait_next(cli, 1000);
	}
	if (is_over && !is_good)
		rc = EXIT_CODE_FAILED;
	return rc;
}

static int
watch_ids(const struct cli *cli, int n, char **words, char **ret)
{
	struct buf	 b;
	int64_t		 id;
	int		 i;

	buf_init(&b, IDS_MAX);
	for (i = 0; i < n; i++) {
		if (!opts_i64(cli, "a task's id", words[i], 1, &id)) {
			buf_done(&b);
			return EXIT_CODE_USAGE;
		}
		(void)buf_printf(&b, "%s%lld", i == 0 ? "{" : ",",
		    (long long)id);
	}
	if (buf_putc(&b, '}') != 0) {
		buf_done(&b);
		cli_fail(cli, "name a job: --job N", "too many tasks");
		return EXIT_CODE_FAILED;
	}
	*ret = buf_steal(&b, NULL);
	return 0;
}

int
cmd_watch(struct cli *cli, int argc, char **argv)
{
	struct watch	 w = { .ids = NULL };
	const struct opt opts[] = { { "job", &w.job, NULL } };
	char		*ids = NULL;
	int64_t		 job;
	int		 n, rc;

	if ((n = opts_parse(cli, argc, argv, opts, 1, 0, ROWS_MAX)) < 0)
		return opts_status(n);
	if (n > 0 && w.job != NULL)
		return cli_usage(cli, "name tasks or a job, not both");
	if (w.job != NULL && !opts_i64(cli, "--job", w.job, INT64_MIN, &job))
		return EXIT_CODE_USAGE;
	if (n > 0 && (rc = watch_ids(cli, n, argv, &ids)) != 0)
		return rc;
	w.ids = ids;
	w.seen = mem_array(ROWS_MAX, sizeof(*w.seen));
	rc = w.seen == NULL ? EXIT_CODE_FAILED : db_open(cli);
	if (rc == 0) {
		wait_catch_signals();
		wait_start(cli);
		rc = watch_run(cli, &w);
	}
	mem_free(w.seen);
	mem_free(ids);
	return rc;
}
