/*
 * rig_laws.c - what must hold after every test, whatever it did: the ledger
 * on one side, rows and receipts on the other.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rig.h"

static void	laws_check_bill(struct rig *, const struct rig_bill *);
static bool	laws_host_has_receipt(const char *state_dir, int64_t task,
		    int attempt, const char *text);
static bool	laws_file_holds(const char *path, const char *text);

void
rig_check_laws(struct rig *r)
{
	struct rig_bill *rows;
	size_t i, j, n;
	int64_t bad;

	n = rig_ledger(r, &rows);
	for (i = 0; i < n; i++) {
		if (rows[i].mark == 0)
			RIG_FAIL(r, "law 1: task %lld.%d was posted without a "
			    "committed mark", (long long)rows[i].task,
			    rows[i].attempt);
		if (!rows[i].is_charged)
			continue;
		for (j = 0; j < i; j++)
			if (rows[j].is_charged &&
			    rows[j].task == rows[i].task &&
			    rows[j].attempt == rows[i].attempt)
				RIG_FAIL(r, "law 2: task %lld.%d was charged "
				    "twice", (long long)rows[i].task,
				    rows[i].attempt);
		laws_check_bill(r, &rows[i]);
	}
	free(rows);
	bad = rig_sql_int(r, "SELECT count(*) FROM payonce.generation_task "
	    "WHERE status = 'OUTCOME_UNKNOWN' AND submit_started_at IS NULL");
	if (bad != 0)
		RIG_FAIL(r, "law 3: %lld parked tasks were never marked",
		    (long long)bad);
	bad = rig_sql_int(r, "SELECT count(*) FROM payonce.generation_task "
	    "WHERE status = 'SUCCEEDED' AND result IS NULL");
	if (bad != 0)
		RIG_FAIL(r, "law 7: %lld tasks succeeded without a result",
		    (long long)bad);
	bad = rig_sql_int(r, "SELECT count(*) FROM (SELECT task_id FROM "
	    "payonce.task_event WHERE to_status IN ('SUCCEEDED', 'FAILED', "
	    "'CANCELED') AND from_status IS DISTINCT FROM to_status GROUP BY "
	    "task_id HAVING count(*) > 1) x");
	if (bad != 0)
		RIG_FAIL(r, "%lld tasks ended more than once",
		    (long long)bad);
}

/* Every charge leads back to a row, an old attempt, a receipt or a park. */
static void
laws_check_bill(struct rig *r, const struct rig_bill *bill)
{
	char *found;

	found = rig_sql(r, "SELECT EXISTS (SELECT FROM "
	    "payonce.generation_task WHERE id = %lld AND attempt = %d AND "
	    "(remote_request_id = '%s' OR status = 'OUTCOME_UNKNOWN')) OR "
	    "EXISTS (SELECT FROM payonce.past_attempt WHERE task_id = %lld "
	    "AND attempt = %d AND (remote_request_id = '%s' OR action <> "
	    "'released'))", (long long)bill->task, bill->attempt,
	    bill->request_id, (long long)bill->task, bill->attempt,
	    bill->request_id);
	if (strcmp(found, "t") == 0 || rig_has_receipt(r, bill->task,
	    bill->attempt, bill->request_id))
		return;
	rig_print_task(r, bill->task);
	RIG_FAIL(r, "law 7: the charge of task %lld.%d (request id \"%s\", "
	    "%s) is on no row and in no receipt", (long long)bill->task,
	    bill->attempt, bill->request_id, bill->behaviour);
}

bool
rig_has_receipt(struct rig *r, int64_t task, int attempt, const char *text)
{
	size_t h;

	for (h = 0; h < RIG_HOSTS_MAX; h++)
		if (laws_host_has_receipt(r->hosts[h].state_dir, task,
		    attempt, text))
			return true;
	return false;
}

static bool
laws_host_has_receipt(const char *state_dir, int64_t task, int attempt,
    const char *text)
{
	struct dirent *de;
	bool found = false;
	char *path;
	DIR *dir;

	path = rig_printf("%s/receipts", state_dir);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	while (!found && (de = readdir(dir)) != NULL) {
		if (de->d_name[0] == '.')
			continue;
		found = laws_file_holds(rig_printf("%s/%s/%lld.%d", path,
		    de->d_name, (long long)task, attempt), text);
	}
	(void)closedir(dir);
	return found;
}

/* An empty text is held by any file that is there. */
static bool
laws_file_holds(const char *path, const char *text)
{
	char line[65536];
	bool found = false;
	FILE *f;

	f = fopen(path, "re");
	if (f == NULL)
		return false;
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, text) != NULL;
	(void)fclose(f);
	return found;
}
