/*
 * hostile.c - see hostile.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/hostile.h"

#define PROVIDER							\
	"max_artifact = 100000\n"					\
	"provider raw {\n"						\
	"  base = \"http://127.0.0.1:%d\"\n"				\
	"  header = {'Authorization: Key {key}', "			\
	"'X-Payonce-Task: {task}.{attempt}'}\n"				\
	"  submit {\n"							\
	"    url = '/s/{input:/row}' body = '\"{input}\"'\n"		\
	"    timeout = 5 max_body = 65536\n"				\
	"    accept = {200, 201, 202} id = {\"/id\"}\n"			\
	"    save = {'poll_url=/poll'}\n"				\
	"    rejected = {400, 404, 413, 422}\n"				\
	"    rejected_if = {'200 /code=400'}\n"				\
	"    account = {401, 402, 403} throttled = {429}\n"		\
	"    retry_after = {\"header:retry-after\"}\n"			\
	"    error = {\"/error\"}\n"					\
	"  }\n"								\
	"  poll {\n"							\
	"    url = {'{saved:poll_url}', '/p/{id}'}\n"			\
	"    interval = 0.02 interval_max = 0.1\n"			\
	"    status = {\"/status\"} pending = {queued, running}\n"	\
	"    done = {done} failed = {failed, rejected}\n"		\
	"    canceled = {canceled} gone = {expired}\n"			\
	"    failed_if = {'200 /code=400'}\n"				\
	"    error = {\"/error\"} max_body = 65536\n"			\
	"  }\n"								\
	"  result { artifact = {'url /url', 'text /output'} }\n"	\
	"}\n"								\
	"kind raw { provider = raw model = \"m\" concurrency = 8 "	\
	"breaker = 1000 }\n"						\
	"%s"

static void	hostile_serve(struct rawd *, const struct hostile_row *,
		    size_t count, const struct rawd_script *more,
		    size_t nmore);
static int	hostile_check(struct rawd *, const struct hostile_row *,
		    int64_t task);
static int	hostile_wrong(const struct hostile_row *, const char *what,
		    const char *got, const char *wanted);

static struct rawd_script	hostile_scripts[HOSTILE_MAX];

void
hostile_run(struct rawd *d, const struct hostile_row *rows, size_t count,
    const struct rawd_script *more, size_t nmore)
{
	int64_t tasks[HOSTILE_MAX];
	int wrong = 0;
	size_t i;

	hostile_start(d, rows, count, more, nmore);
	for (i = 0; i < count; i++)
		tasks[i] = hostile_enqueue(&rows[i]);
	for (i = 0; i < count; i++)
		rig_wait_sql(rig, 30000, "SELECT status NOT IN ('PENDING', "
		    "'RUNNING', 'SUBMITTED') OR status::text = '%s' FROM "
		    "payonce.generation_task WHERE id = %lld", rows[i].status,
		    (long long)tasks[i]);
	for (i = 0; i < count; i++)
		wrong += hostile_check(d, &rows[i], tasks[i]);
	ck_assert_msg(wrong == 0, "%d things are wrong, see above", wrong);
}

void
hostile_start(struct rawd *d, const struct hostile_row *rows, size_t count,
    const struct rawd_script *more, size_t nmore)
{
	rig->lenient_log = true;
	rawd_listen(rig, d);
	hostile_serve(d, rows, count, more, nmore);
	rig_write_file(rig, rig_printf("%s/secrets/raw", rig->dir),
	    "raw-key\n", 0600);
	rig->kinds = rig_printf(PROVIDER, d->port,
	    rig->kinds != NULL ? rig->kinds : "");
	rig_start(rig);
}

int64_t
hostile_enqueue(const struct hostile_row *row)
{
	return rig_enqueue(rig, row->kind != NULL ? row->kind : "raw",
	    rig_printf("{\"row\": \"%s\"}", row->name));
}

/* Everything ends before the server does: nobody finds it away. */
void
hostile_done(struct rawd *d)
{
	ck_assert_int_eq(rawd_foreign(d), 0);
	rig_stop(rig);
	rawd_stop(rig, d);
}

static void
hostile_serve(struct rawd *d, const struct hostile_row *rows, size_t count,
    const struct rawd_script *more, size_t nmore)
{
	const struct rawd_script done = {
		.path = "/p/*",
		.head = RAW_OK("{\"status\":\"done\",\"output\":\"fine\"}"),
	};
	size_t i, n = 0;

	ck_assert_uint_lt(count + nmore, HOSTILE_MAX);
	for (i = 0; i < nmore; i++)
		hostile_scripts[n++] = more[i];
	for (i = 0; i < count; i++)
		hostile_scripts[n++] = (struct rawd_script){
			.path = rig_printf("/s/%s", rows[i].name),
			.head = rows[i].head,
			.piece = rows[i].piece,
			.times = rows[i].times,
			.piece_ms = rows[i].piece_ms,
			.tail = rows[i].tail,
			.end = rows[i].end,
		};
	hostile_scripts[n++] = done;
	rawd_serve(rig, d, hostile_scripts, n);
}

static int
hostile_check(struct rawd *d, const struct hostile_row *row, int64_t task)
{
	const char *status = rig_status(rig, task);
	const char *reason = rig_reason(rig, task), *want = row->reason;
	int posts = rawd_count(d, rig_printf("/s/%s", row->name)), wrong = 0;

	if (posts != 1)
		wrong += hostile_wrong(row, "posts", rig_printf("%d", posts),
		    "1");
	if (strcmp(status, row->status) != 0)
		wrong += hostile_wrong(row, "status", status, row->status);
	if (strcmp(want == NULL ? "" : want, "*") == 0 ? *reason == '\0' :
	    strcmp(reason, want == NULL ? "" : want) != 0)
		wrong += hostile_wrong(row, "reason", reason, want == NULL ?
		    "" : want);
	if (row->told != NULL && rig_sql_int(rig, "SELECT count(*) FROM "
	    "(SELECT detail FROM payonce.generation_task WHERE id = %lld "
	    "UNION ALL SELECT detail FROM payonce.task_event WHERE task_id = "
	    "%lld) t WHERE position('%s' in detail) > 0", (long long)task,
	    (long long)task, row->told) == 0)
		wrong += hostile_wrong(row, "told", rig_sql(rig, "SELECT "
		    "detail FROM payonce.generation_task WHERE id = %lld",
		    (long long)task), row->told);
	if (row->id != NULL && strcmp(rig_sql(rig, "SELECT remote_request_id "
	    "FROM payonce.generation_task WHERE id = %lld", (long long)task),
	    row->id) != 0)
		wrong += hostile_wrong(row, "id", rig_sql(rig, "SELECT "
		    "remote_request_id FROM payonce.generation_task WHERE id "
		    "= %lld", (long long)task), row->id);
	/* parked means sent; a refusal clears the mark, with cost 0 */
	if (strcmp(rig_sql(rig, "SELECT (CASE status WHEN 'FAILED' THEN "
	    "remote_request_id IS NOT NULL OR submit_started_at IS NULL "
	    "ELSE submit_started_at IS NOT NULL END AND requeues = 0 AND "
	    "attempt = 1)::text FROM payonce.generation_task WHERE id = %lld",
	    (long long)task), "true") != 0)
		wrong += hostile_wrong(row, "mark", status, "as it is due");
	if (wrong > 0)
		rig_print_task(rig, task);
	return wrong;
}

static int
hostile_wrong(const struct hostile_row *row, const char *what,
    const char *got, const char *wanted)
{
	fprintf(stderr, "row %s: %s is \"%s\", not \"%s\"\n", row->name,
	    what, got, wanted);
	return 1;
}
