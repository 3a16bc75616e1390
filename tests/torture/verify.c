/*
 * verify.c - the reckoning after a torture run.
 *
 * Reads the ledger, the rows, the receipts and the artifacts, and believes
 * nobody: no log line, no counter of payonce's own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"
#include "tests/torture/torture.h"

/* Columns of the list of tasks. */
enum {
	COL_ID, COL_STATUS, COL_ATTEMPT, COL_REQUEST, COL_MARKED, COL_REASON,
	COL_IS_PAID, COL_EXPECT, COL_HAS_RESULT, COL_ARTIFACTS
};

struct bills {
	struct rig_bill	*rows;
	size_t		 n;
};

static void	verify_task(struct rig *, const struct bills *, PGresult *,
		    int row, struct verdict *);
static void	verify_paid(struct rig *, const struct bills *, PGresult *,
		    int row);
static void	verify_parked(struct rig *, int64_t id, int attempt,
		    int charges, bool is_marked);
static void	verify_artifacts(struct rig *, struct verdict *);
static int	verify_compare(const void *, const void *);
static const struct rig_bill *verify_find(const struct bills *, int64_t task,
		    int *ret_posts, int *ret_charges);

void
verify_all(struct rig *r, const struct monkey *m, struct verdict *ret)
{
	struct bills bills;
	PGresult *res;
	size_t b;
	int i;

	*ret = (struct verdict){ .tasks = 0 };
	bills.n = rig_ledger(r, &bills.rows);
	if (bills.n > 0)
		qsort(bills.rows, bills.n, sizeof(*bills.rows),
		    verify_compare);
	for (b = 0; b < bills.n; b++) {
		if (bills.rows[b].mark != 1)
			RIG_FAIL(r, "task %lld.%d was posted and the provider "
			    "saw no committed mark",
			    (long long)bills.rows[b].task,
			    bills.rows[b].attempt);
		ret->charges += bills.rows[b].is_charged;
	}
	ret->posts = (int)bills.n;
	res = PQexec(r->db, "SELECT id, status, attempt, "
	    "coalesce(remote_request_id, ''), submit_started_at IS NOT NULL, "
	    "coalesce(reason, ''), kind <> 'render', coalesce(input->>"
	    "'expect', 'SUCCEEDED'), result IS NOT NULL, "
	    "coalesce(jsonb_array_length(result->'artifacts'), 0) "
	    "FROM payonce.generation_task ORDER BY id");
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		RIG_FAIL(r, "%s", PQerrorMessage(r->db));
	for (i = 0; i < PQntuples(res); i++)
		verify_task(r, &bills, res, i, ret);
	PQclear(res);
	verify_artifacts(r, ret);
	if (ret->parked > m->submit_hits)
		RIG_FAIL(r, "%d tasks are parked, but only %d submitters were "
		    "hit", ret->parked, m->submit_hits);
	free(bills.rows);
}

static void
verify_task(struct rig *r, const struct bills *bills, PGresult *res, int row,
    struct verdict *ret)
{
	const char *status = PQgetvalue(res, row, COL_STATUS);
	const char *expect = PQgetvalue(res, row, COL_EXPECT);
	bool is_paid = PQgetvalue(res, row, COL_IS_PAID)[0] == 't';

	ret->tasks++;
	if (strcmp(status, "OUTCOME_UNKNOWN") == 0)
		ret->parked++;
	else if (strcmp(status, expect) != 0)
		RIG_FAIL(r, "task %s ended as %s (%s), not as %s",
		    PQgetvalue(res, row, COL_ID), status,
		    PQgetvalue(res, row, COL_REASON), expect);
	else if (strcmp(status, "FAILED") == 0)
		ret->failed++;
	else
		ret->succeeded++;
	if (strcmp(status, "SUCCEEDED") == 0 &&
	    PQgetvalue(res, row, COL_HAS_RESULT)[0] != 't')
		RIG_FAIL(r, "task %s succeeded and its result is lost",
		    PQgetvalue(res, row, COL_ID));
	if (is_paid)
		verify_paid(r, bills, res, row);
}

static void
verify_paid(struct rig *r, const struct bills *bills, PGresult *res, int row)
{
	const char *status = PQgetvalue(res, row, COL_STATUS);
	const char *request = PQgetvalue(res, row, COL_REQUEST);
	const struct rig_bill *bill;
	int64_t id = 0, attempt = 0;
	int posts, charges;

	if (num_parse_i64(PQgetvalue(res, row, COL_ID), 1, INT64_MAX,
	    &id) != 0 || num_parse_i64(PQgetvalue(res, row, COL_ATTEMPT), 0,
	    INT32_MAX, &attempt) != 0)
		RIG_FAIL(r, "a row without numbers");
	bill = verify_find(bills, id, &posts, &charges);
	if (charges > 1)
		RIG_FAIL(r, "task %lld was charged %d times", (long long)id,
		    charges);
	if (posts > 1)
		RIG_FAIL(r, "task %lld was posted %d times", (long long)id,
		    posts);
	if (strcmp(status, "OUTCOME_UNKNOWN") == 0) {
		verify_parked(r, id, (int)attempt, charges,
		    PQgetvalue(res, row, COL_MARKED)[0] == 't');
		return;
	}
	if (strcmp(status, "SUCCEEDED") != 0) {
		/* failed by its provider: charged and known, or refused */
		if (charges == 1 && strcmp(bill->request_id, request) != 0)
			RIG_FAIL(r, "task %lld failed, its charge is on no "
			    "row", (long long)id);
		return;
	}
	if (charges != 1 || strcmp(bill->request_id, request) != 0)
		RIG_FAIL(r, "task %lld succeeded with id \"%s\", the ledger "
		    "has %d charges and id \"%s\"", (long long)id, request,
		    charges, bill == NULL ? "" : bill->request_id);
	if (strcmp(PQgetvalue(res, row, COL_ARTIFACTS), "0") == 0)
		RIG_FAIL(r, "task %lld succeeded without an artifact",
		    (long long)id);
}

/* Parked is right only where nobody can know: marked, and no id anywhere. */
static void
verify_parked(struct rig *r, int64_t id, int attempt, int charges,
    bool is_marked)
{
	if (!is_marked)
		RIG_FAIL(r, "task %lld is parked and was never marked",
		    (long long)id);
	if (charges > 1)
		RIG_FAIL(r, "parked task %lld has %d charges", (long long)id,
		    charges);
	if (rig_has_receipt(r, id, attempt, "\"class\":\"submitted\""))
		RIG_FAIL(r, "task %lld is parked although a receipt knows its "
		    "request id", (long long)id);
}

/* Every artifact of every success is on the disk, byte for byte. */
static void
verify_artifacts(struct rig *r, struct verdict *ret)
{
	char *list = rig_printf("%s/sums", r->dir);
	const char *argv[] = { "sha256sum", "--quiet", "-c", list, NULL };
	PGresult *res;
	FILE *f;
	char *out;
	int i;

	res = PQexec(r->db, "SELECT a->>'sha256', a->>'path' FROM "
	    "payonce.generation_task t, jsonb_array_elements(t.result->"
	    "'artifacts') a WHERE status = 'SUCCEEDED' AND "
	    "jsonb_typeof(t.result->'artifacts') = 'array'");
	if (PQresultStatus(res) != PGRES_TUPLES_OK)
		RIG_FAIL(r, "%s", PQerrorMessage(r->db));
	ret->artifacts = PQntuples(res);
	f = fopen(list, "we");
	if (f == NULL)
		RIG_FAIL(r, "%s cannot be written", list);
	for (i = 0; i < ret->artifacts; i++)
		fprintf(f, "%s  %s%s%s\n", PQgetvalue(res, i, 0),
		    PQgetvalue(res, i, 1)[0] == '/' ? "" :
		    r->hosts[0].state_dir,
		    PQgetvalue(res, i, 1)[0] == '/' ? "" : "/",
		    PQgetvalue(res, i, 1));
	if (fclose(f) != 0)
		RIG_FAIL(r, "%s cannot be written", list);
	PQclear(res);
	if (ret->artifacts == 0)
		return;
	if (rig_run(r, argv, &out) != 0)
		RIG_FAIL(r, "artifacts are lost or damaged:\n%s", out);
	free(out);
}

static int
verify_compare(const void *a, const void *b)
{
	int64_t x = ((const struct rig_bill *)a)->task;
	int64_t y = ((const struct rig_bill *)b)->task;

	return x < y ? -1 : x > y;
}

/* Rows are sorted by task.  Returns the charged one, else NULL. */
static const struct rig_bill *
verify_find(const struct bills *bills, int64_t task, int *ret_posts,
    int *ret_charges)
{
	const struct rig_bill *found = NULL;
	size_t low = 0, high = bills->n, mid;

	*ret_posts = *ret_charges = 0;
	while (low < high) {
		mid = low + (high - low) / 2;
		if (bills->rows[mid].task < task)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < bills->n && bills->rows[low].task == task; low++) {
		(*ret_posts)++;
		if (!bills->rows[low].is_charged)
			continue;
		(*ret_charges)++;
		found = &bills->rows[low];
	}
	return found;
}
