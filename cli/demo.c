/*
 * demo.c - the demonstration: tasks of four kinds, while supervisor and
 * workers are killed at random.
 *
 * Its own process and its own connection; the sandbox starts the supervisor
 * again, as an init system would.  Nothing here helps payonce along.
 */
#include <sys/prctl.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/demo.h"
#include "cli/sandbox.h"
#include "common/exitcodes.h"
#include "common/mem.h"

enum {
	TICK_MS = 200,
	WIDTH = 96,
	KILL_MIN_MS = 800,
	KILL_SPREAD_MS = 1000,
	FEW = 4,
	LIMIT_MS = 240000,
	SHARE_OF = 24, SHARE_IMAGE = 10, SHARE_CLIP = 5, SHARE_SPEECH = 4
};

/* Where the tasks stand. */
struct standing {
	int64_t	 total;
	int64_t	 done;
	int64_t	 parked;
	int64_t	 open;		/* something will still happen by itself */
	char	 money[64];
};

static const char	standing_sql[] =
    "SELECT count(*) AS total, "
    "count(*) FILTER (WHERE status IN ('SUCCEEDED', 'FAILED', 'CANCELED')) "
    "AS done, count(*) FILTER (WHERE status = 'OUTCOME_UNKNOWN') AS parked, "
    "count(*) FILTER (WHERE status IN ('PENDING', 'RUNNING', 'SUBMITTED') "
    "OR (status = 'WAITING' AND NOT EXISTS (SELECT FROM payonce.task_dep d "
    "JOIN payonce.generation_task p ON p.id = d.parent WHERE d.child = t.id "
    "AND p.status = 'OUTCOME_UNKNOWN'))) AS open, "
    "sum(cost_actual) AS money FROM payonce.generation_task t "
    "WHERE job_id = $1::bigint";

/*
 * The provider answers a submit after a while, so that a kill can hit the
 * window in which nobody knows; and it takes one clip's request and hangs
 * up, as happens in life.
 */
static const char	enqueue_sql[] =
    "WITH n AS (SELECT greatest(1, $2::int * 10 / 24) AS image, "
    "$2::int * 5 / 24 AS clip, $2::int * 4 / 24 AS speech), "
    "image AS MATERIALIZED (SELECT i, payonce.enqueue('image', "
    "jsonb_build_object('prompt', 'a red fox, picture ' || i, 'mock', "
    "jsonb_build_object('latency_ms', 5000 + 700 * (i % 5), 'delay_ms', "
    "250 + 100 * (i % 4))), job_id => $1::bigint) AS id "
    "FROM n, generate_series(1, n.image) i), "
    "clip AS MATERIALIZED (SELECT i, payonce.enqueue('clip', "
    "jsonb_build_object('prompt', 'the fox runs, take ' || i, 'mock', "
    "jsonb_build_object('latency_ms', 9000 + 2000 * (i % 3), 'delay_ms', "
    "350) || CASE WHEN i = 3 THEN jsonb_build_object('submit', "
    "'drop_after_read') ELSE '{}' END), job_id => $1::bigint) AS id "
    "FROM n, generate_series(1, n.clip) i), "
    "speech AS MATERIALIZED (SELECT i, payonce.enqueue('speech', "
    "jsonb_build_object('text', 'The fox runs. Line ' || i || '.', 'mock', "
    "jsonb_build_object('latency_ms', 6000, 'delay_ms', 250)), "
    "job_id => $1::bigint) AS id FROM n, generate_series(1, n.speech) i) "
    "SELECT array_agg(id ORDER BY i) FILTER (WHERE what = 1) AS images, "
    "array_agg(id ORDER BY i) FILTER (WHERE what = 3) AS speeches "
    "FROM (SELECT 1, i, id FROM image UNION ALL SELECT 2, i, id FROM clip "
    "UNION ALL SELECT 3, i, id FROM speech) a(what, i, id)";

/* A render joins two images and a line of speech, when all three are done. */
static const char	render_sql[] =
    "SELECT payonce.enqueue('render', jsonb_build_object('title', "
    "'scene ' || n), job_id => $1::bigint, after => array_remove(ARRAY["
    "i[1 + (2 * n - 2) % cardinality(i)], CASE WHEN cardinality(i) > 1 "
    "THEN i[1 + (2 * n - 1) % cardinality(i)] END, CASE WHEN "
    "cardinality(s) > 0 THEN s[1 + (n - 1) % cardinality(s)] END], NULL)) "
    "FROM (SELECT $3::bigint[], coalesce($4::bigint[], '{}')) a(i, s), "
    "generate_series(1, $2::int) n";

static int
enqueue_all(struct demo *d, int64_t tasks)
{
	const char	*params[4] = { d->job };
	char		 count[24], renders[24];
	PGresult	*first, *second = NULL;
	int64_t		 paid;

	paid = tasks * SHARE_IMAGE / SHARE_OF;
	paid = (paid < 1 ? 1 : paid) + tasks * SHARE_CLIP / SHARE_OF +
	    tasks * SHARE_SPEECH / SHARE_OF;
	(void)snprintf(count, sizeof(count), "%lld", (long long)tasks);
	(void)snprintf(renders, sizeof(renders), "%lld",
	    (long long)(d->sandbox->place.render != NULL ? tasks - paid : 0));
	params[1] = count;
	if ((first = db_query(d->cli, enqueue_sql, 2, params)) == NULL)
		return EXIT_CODE_FAILED;
	params[1] = renders;
	params[2] = db_text(first, 0, "images");
	params[3] = db_text(first, 0, "speeches");
	second = db_query(d->cli, render_sql, 4, params);
	PQclear(first);
	PQclear(second);
	return second != NULL ? 0 : EXIT_CODE_FAILED;
}

static int
look(struct demo *d, struct standing *ret)
{
	const char	*params[] = { d->job };
	PGresult	*res = db_query(d->cli, standing_sql, 1, params);

	if (res == NULL)
		return EXIT_CODE_FAILED;
	ret->total = db_i64(res, 0, "total", 0);
	ret->done = db_i64(res, 0, "done", 0);
	ret->parked = db_i64(res, 0, "parked", 0);
	ret->open = db_i64(res, 0, "open", 0);
	words_money(db_text(res, 0, "money"), "USD", ret->money,
	    sizeof(ret->money));
	PQclear(res);
	return 0;
}

/* On a terminal one line that is drawn anew; else a letter for each kill. */
static void
say_progress(const struct demo *d, const struct standing *s,
    const char *victim, bool is_supervisor)
{
	char	 line[256], *fit;

	if (!d->cli->is_tty) {
		if (victim != NULL)
			(void)fputs(is_supervisor ? "S" : "w", stdout);
		(void)fflush(stdout);
		return;
	}
	(void)snprintf(line, sizeof(line), "  %lld of %lld done, %lld parked, "
	    "%s spent, %u kills%s%s", (long long)s->done, (long long)s->total,
	    (long long)s->parked, s->money[0] != '\0' ? s->money : "$0",
	    d->kills, victim != NULL ? ", just now: " : "",
	    victim != NULL ? victim : "");
	fit = term_fit(line, (size_t)d->cli->width - 1, d->cli->has_utf8);
	(void)printf("\r\033[K%s", fit != NULL ? fit : "");
	(void)fflush(stdout);
	mem_free(fit);
}

static void
say_start(const struct demo *d, int64_t tasks)
{
	(void)printf("%lld tasks: images (4 at a time), clips (3), speech (2), "
	    "renders (1).\n"
	    "The provider is a mock that keeps a bill.  While they run, "
	    "payonce's processes are\nkilled with SIGKILL, again and "
	    "again.\n", (long long)tasks);
	if (!d->cli->is_tty)
		(void)printf("killed (w worker, S supervisor): ");
	(void)fflush(stdout);
}

/* The last ones get a chance: killed each second, no render would end. */
static int64_t
pause_ms(const struct standing *s)
{
	int64_t	 ms = KILL_MIN_MS + (int64_t)arc4random_uniform(
	    KILL_SPREAD_MS);

	return s->open < FEW ? 3 * ms : ms;
}

static int
run(struct demo *d)
{
	struct standing	 s;
	struct mono	 limit = mono_add_ms(mono_now(), LIMIT_MS);
	struct mono	 next = mono_add_ms(mono_now(), KILL_MIN_MS);
	char		 name[64], victim[64] = "";
	bool		 is_supervisor = false;
	int		 rc;

	for (;;) {
		if ((rc = look(d, &s)) != 0)
			return rc;
		if (d->cli->is_tty)
			say_progress(d, &s, victim[0] != '\0' ? victim : NULL,
			    is_supervisor);
		if (s.open == 0)
			break;
		if (mono_left_ms(limit) == 0) {
			(void)putchar('\n');
			cli_fail(d->cli, "read the logs in the folder below",
			    "%lld tasks have not ended after %d s",
			    (long long)s.open, LIMIT_MS / 1000);
			return EXIT_CODE_FAILED;
		}
		if (mono_left_ms(next) == 0 && demo_kill(d, name,
		    sizeof(name), &is_supervisor) == 0) {
			(void)strlcpy(victim, name, sizeof(victim));
			if (!d->cli->is_tty)
				say_progress(d, &s, victim, is_supervisor);
			next = mono_add_ms(mono_now(), pause_ms(&s));
		}
		if ((rc = wait_next(d->cli, TICK_MS)) != 0)
			return rc;
	}
	(void)printf("%s", d->cli->is_tty ? "\r\033[K" : "\n");
	return 0;
}

int
demo_run(struct sandbox *sb, int64_t tasks)
{
	struct demo	 d = { .sandbox = sb, .cli = sb->cli,
	    .sandbox_pid = getppid() };
	sigset_t	 none;
	int		 rc;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if ((rc = db_open(d.cli)) != 0)
		return rc;
	/* advice then speaks of `payonce` alone: the folder may go away */
	d.cli->conninfo = NULL;
	if (d.cli->width == 0)
		d.cli->width = WIDTH;	/* a log is read by people as well */
	wait_start(d.cli);
	(void)snprintf(d.job, sizeof(d.job), "%lld", (long long)time(NULL));
	if ((rc = enqueue_all(&d, tasks)) == 0) {
		say_start(&d, tasks);
		rc = run(&d);
	}
	if (rc == 0)
		rc = demo_report(&d);
	db_close(d.cli);
	(void)fflush(stdout);
	return rc;
}
