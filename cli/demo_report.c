/*
 * demo_report.c - what payonce says and what the provider charged, side by
 * side; the verdict comes from the provider's ledger.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "cli/sandbox.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"

enum { LEDGER_MAX = 256 * 1024 * 1024, ADVICE_MAX = 1, MONEY_CAP = 64 };

/* What the ledger says about one task. */
struct bill {
	int64_t	 task;
	int	 posts;
	int	 charges;
	char	 amount[MONEY_CAP];
};

struct bills {
	struct bill	*list;
	size_t		 count;
	size_t		 cap;
	char		 total[MONEY_CAP];
};

static const char	report_sql[] =
    "SELECT id, kind, status::text AS status, reason, detail, attempt, "
    "requeues, cost_actual, cost_estimated, currency, model, provider, "
    "own_id, poll_url, remote_request_id AS request_id, "
    "result IS NOT NULL AS has_result, "
    "to_char(submit_started_at, 'YYYY-MM-DD HH24:MI:SS TZ') AS marked_text, "
    "(SELECT string_agg('#' || p.id, ', ' ORDER BY p.id) "
    "FROM payonce.task_dep d JOIN payonce.generation_task p "
    "ON p.id = d.parent WHERE d.child = t.id "
    "AND p.status = 'OUTCOME_UNKNOWN') AS waits_for, "
    "(SELECT count(*) FROM payonce.task_event e WHERE e.task_id = t.id AND "
    "(e.reason = 'recovered' OR (e.from_status = 'RUNNING' AND "
    "e.to_status = 'PENDING'))) AS rescues "
    "FROM payonce.generation_task t WHERE job_id = $1::bigint "
    "ORDER BY id";

static struct bill *
bill_of(struct bills *b, int64_t task)
{
	struct bill	*grown;
	size_t		 i;

	for (i = 0; i < b->count; i++)
		if (b->list[i].task == task)
			return &b->list[i];
	if (b->count == b->cap) {
		grown = mem_grow(b->list, b->cap == 0 ? 64 : b->cap * 2,
		    sizeof(*grown));
		if (grown == NULL)
			return NULL;
		b->list = grown;
		b->cap = b->cap == 0 ? 64 : b->cap * 2;
	}
	b->list[b->count] = (struct bill){ .task = task, .amount = "0" };
	return &b->list[b->count++];
}

static bool
is_zero(const char *amount)
{
	return strspn(amount, "0.") == strlen(amount);
}

static int
bill_line(struct bills *b, const char *line)
{
	struct json_object	*o = json_tokener_parse(line), *v = NULL;
	const char		*charged = "0";
	struct bill		*bill;
	int			 rc = EXIT_CODE_FAILED;

	if (o == NULL || !json_object_object_get_ex(o, "task", &v) ||
	    (bill = bill_of(b, json_object_get_int64(v))) == NULL)
		goto out;
	bill->posts++;
	if (json_object_object_get_ex(o, "charged", &v) && v != NULL)
		charged = json_object_get_string(v);
	if (!is_zero(charged)) {
		bill->charges++;
		if (num_decimal_add(bill->amount, charged, bill->amount,
		    sizeof(bill->amount)) != 0)
			goto out;
	}
	rc = 0;
out:
	json_object_put(o);
	return rc;
}

static int
read_ledger(const struct demo *d, struct bills *b)
{
	char	*path = files_path(d->sandbox, "ledger.jsonl"), *text = NULL;
	char	*next, *line;
	size_t	 len;
	int	 rc = 0;

	if (path == NULL ||
	    fd_read_file(path, LEDGER_MAX, &text, &len) != 0) {
		cli_fail(d->cli, NULL, "the provider's ledger %s cannot be "
		    "read", path != NULL ? path : "");
		mem_free(path);
		return EXIT_CODE_FAILED;
	}
	for (next = text; rc == 0 && (line = strsep(&next, "\n")) != NULL;)
		if (line[0] != '\0')
			rc = bill_line(b, line);
	if (rc != 0)
		cli_fail(d->cli, NULL, "the provider's ledger %s has a line "
		    "that makes no sense", path);
	mem_free(text);
	mem_free(path);
	return rc;
}

static void
report_row(const struct cli *cli, struct table *t, const PGresult *res,
    int row, const struct bill *bill)
{
	const char	*status = db_text(res, row, "status");
	const char	*waits = db_text(res, row, "waits_for");
	bool		 is_local = db_text(res, row, "provider") == NULL &&
	    bill->posts == 0;
	char		 money[MONEY_CAP], charged[MONEY_CAP];
	int64_t		 rescues = db_i64(res, row, "rescues", 0);

	words_money(db_text(res, row, "cost_actual"), "USD", money,
	    sizeof(money));
	words_money(bill->charges > 0 ? bill->amount : NULL, "USD", charged,
	    sizeof(charged));
	table_cellf(t, COLOUR_BOLD, "#%s", db_text(res, row, "id"));
	table_cell(t, COLOUR_NONE, db_text(res, row, "kind"));
	if (strcmp(status, "WAITING") == 0 && waits != NULL)
		table_cellf(t, COLOUR_DIM, "waits for %s", waits);
	else
		table_cell(t, words_status_colour(status),
		    words_status(status));
	if (rescues > 0)
		table_cellf(t, COLOUR_CYAN, "%lldx", (long long)rescues);
	else
		table_cell(t, COLOUR_NONE, NULL);
	table_cell(t, COLOUR_NONE, money);
	table_cell(t, COLOUR_DIM, cli->has_utf8 ? "\xe2\x94\x82" : "|");
	if (is_local) {
		table_cell(t, COLOUR_DIM, "local");
	} else {
		table_cellf(t, bill->charges > 1 ? COLOUR_RED : COLOUR_NONE,
		    "%d", bill->charges);
	}
	table_cell(t, COLOUR_NONE, charged);
}

/* Parked: the advice in full for the first, a pointer for the others. */
static void
report_parked(const struct demo *d, const PGresult *res)
{
	const struct cli	*cli = d->cli;
	const char		*reason, *words, *status;
	char			*head;
	int			 i, n = 0;

	for (i = 0; i < PQntuples(res); i++) {
		status = db_text(res, i, "status");
		if (strcmp(status, "OUTCOME_UNKNOWN") != 0)
			continue;
		if (n == 0)
			(void)printf("\n%sParked: payonce does not guess and "
			    "does not pay twice; a person decides.%s\n",
			    colour_on(cli, COLOUR_YELLOW),
			    colour_off(cli, COLOUR_YELLOW));
		reason = db_text(res, i, "reason");
		words = words_reason(status, reason);
		head = mem_printf("#%s %s: ", db_text(res, i, "id"),
		    db_text(res, i, "kind"));
		if (head != NULL)
			term_wrap(cli, stdout, head, "   ", words != NULL ?
			    words : reason);
		mem_free(head);
		if (n++ < ADVICE_MAX)
			advice_print(cli, stdout, res, i, "   ");
	}
	if (n > ADVICE_MAX)
		(void)printf("   (for %s the same; `payonce parked` says it "
		    "for each)\n", n == 2 ? "the other one" : "the others");
}

static int
report_table(const struct demo *d, const PGresult *res, struct bills *b)
{
	struct table	*t = table_new();
	struct bill	*bill;
	int		 i, rc;

	table_column(t, "TASK", COLUMN_RIGHT);
	table_column(t, "KIND", 0);
	table_column(t, "PAYONCE SAYS", 0);
	table_column(t, "RESCUED", COLUMN_RIGHT);
	table_column(t, "COST", COLUMN_RIGHT);
	table_column(t, d->cli->has_utf8 ? "\xe2\x94\x82" : "|", 0);
	table_column(t, "PROVIDER CHARGED", 0);
	table_column(t, "AMOUNT", COLUMN_RIGHT);
	for (i = 0; i < PQntuples(res); i++) {
		bill = bill_of(b, db_i64(res, i, "id", 0));
		if (bill == NULL)
			break;
		report_row(d->cli, t, res, i, bill);
	}
	rc = table_print(t, d->cli, stdout);
	table_free(&t);
	return rc == 0 ? 0 : EXIT_CODE_FAILED;
}

/* The sums; returns how many tasks were paid more than once. */
static int
report_verdict(struct demo *d, const PGresult *res, struct bills *b)
{
	char		 ours[MONEY_CAP] = "0", theirs[MONEY_CAP] = "0";
	char		 open[MONEY_CAP] = "0", m1[80], m2[80], m3[80];
	const char	*cost, *status;
	struct bill	*bill;
	int		 i, twice = 0, lost = 0;

	for (i = 0; i < PQntuples(res); i++) {
		status = db_text(res, i, "status");
		cost = db_text(res, i, "cost_actual");
		bill = bill_of(b, db_i64(res, i, "id", 0));
		if (bill == NULL)
			return -1;
		twice += bill->charges > 1;
		lost += bill->charges > 0 && strcmp(status, "FAILED") == 0;
		if (cost != NULL)
			(void)num_decimal_add(ours, cost, ours, sizeof(ours));
		(void)num_decimal_add(theirs, bill->amount, theirs,
		    sizeof(theirs));
		if (strcmp(status, "OUTCOME_UNKNOWN") == 0)
			(void)num_decimal_add(open, bill->amount, open,
			    sizeof(open));
	}
	words_money(ours, "USD", m1, sizeof(m1));
	words_money(theirs, "USD", m2, sizeof(m2));
	words_money(open, "USD", m3, sizeof(m3));
	(void)printf("\nMoney: the provider charged %s; payonce's books show "
	    "%s for results that\nare here, and %s of the rest hangs on what "
	    "is parked.  Paid for and lost: %d.\n", m2, m1, m3, lost);
	(void)printf("\n%s%d tasks, %u kills, %d paid twice%s\n",
	    colour_on(d->cli, twice == 0 ? COLOUR_GREEN : COLOUR_RED),
	    PQntuples(res), d->kills, twice,
	    colour_off(d->cli, COLOUR_GREEN));
	return twice;
}

int
demo_report(struct demo *d)
{
	const char	*params[] = { d->job };
	struct bills	 b = { .list = NULL };
	PGresult	*res;
	int		 rc;

	if ((res = db_query(d->cli, report_sql, 1, params)) == NULL)
		return EXIT_CODE_FAILED;
	rc = read_ledger(d, &b);
	if (rc == 0)
		rc = report_table(d, res, &b);
	if (rc == 0) {
		report_parked(d, res);
		rc = report_verdict(d, res, &b) == 0 ? EXIT_CODE_OK :
		    EXIT_CODE_FAILED;
	}
	mem_free(b.list);
	PQclear(res);
	return rc;
}
