/*
 * run.c - the torture run: random tasks, random deaths, then the reckoning.
 *
 *   tests/torture/run [-s SEED] [-t SECONDS] [-n TASKS] [-k KILLS_PER_S]
 *
 * Exit 0: every task ended, nothing was charged twice, nothing that was paid
 * for is lost, and nothing is parked that the monkey did not hit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/num.h"
#include "tests/lib/pgtest.h"
#include "tests/torture/torture.h"

#define CALM_MS		120000
#define KINDS								\
	"kind image { provider = fal model = \"fal-ai/flux/dev\" "	\
	"concurrency = 6 max_requeues = 1000 }\n"			\
	"kind clip { provider = fal model = \"fal-ai/veo3\" "		\
	"concurrency = 4 max_requeues = 1000 }\n"			\
	"kind pred { provider = replicate model = \"acme/flux\" "	\
	"concurrency = 4 max_requeues = 1000 }\n"			\
	"kind render { command = {\"%s/tests/integration/job\"} "	\
	"concurrency = 2 timeout = 60 max_requeues = 1000 }\n"

struct options {
	int64_t	seed;
	int64_t	seconds;
	int64_t	tasks;
	int64_t	strikes_per_s;
};

static void	run_parse(int, char **, struct options *);
static void	run_usage(void) __attribute__((noreturn));
static void	run_number(const char *, int64_t max, int64_t *);
static void	run_enqueue(struct rig *, struct dice *);
static void	run_storm(struct rig *, struct monkey *, struct dice *,
		    const struct options *);
static void	run_check_limits(struct rig *);
static void	run_calm(struct rig *, struct monkey *);
static void	run_settle(struct rig *, struct monkey *);
static void	run_report(const struct monkey *, const struct verdict *,
		    const struct options *);

int
main(int argc, char **argv)
{
	struct options opt = { (int64_t)time(NULL), 25, 120, 6 };
	struct monkey monkey = { .super_cont_at_ms = 0 };
	struct verdict verdict;
	struct dice dice;
	struct rig *r;

	run_parse(argc, argv, &opt);
	pgtest_start(argc, argv);
	printf("torture: seed %lld, %lld s, %lld tasks\n",
	    (long long)opt.seed, (long long)opt.seconds,
	    (long long)opt.tasks);
	(void)fflush(stdout);
	dice_init(&dice, (uint64_t)opt.seed);
	dice_init(&monkey.dice, (uint64_t)opt.seed + 1);
	r = rig_open();
	r->lenient_log = true;
	r->stop_timeout_s = 3;
	r->kinds = rig_printf(KINDS, rig_srcdir());
	rig_start(r);
	run_storm(r, &monkey, &dice, &opt);
	run_calm(r, &monkey);
	run_settle(r, &monkey);
	rig_stop(r);
	verify_all(r, &monkey, &verdict);
	rig_close(&r);
	run_report(&monkey, &verdict, &opt);
	return 0;
}

/* Tasks come in evenly, so that each moment of a life meets the monkey. */
static void
run_storm(struct rig *r, struct monkey *m, struct dice *dice,
    const struct options *opt)
{
	int64_t start = rig_now_ms(), now, end, next_strike;
	int64_t enqueued = 0, due;

	end = start + opt->seconds * 1000;
	next_strike = start + 300;
	while ((now = rig_now_ms()) < end) {
		due = opt->tasks * (now - start) / (opt->seconds * 800) + 1;
		while (enqueued < due && enqueued < opt->tasks) {
			run_enqueue(r, dice);
			enqueued++;
		}
		if (now >= next_strike) {
			monkey_strike(m, r);
			next_strike = now + dice_roll(&m->dice,
			    (int)(2000 / opt->strikes_per_s));
		}
		monkey_tend(m, r);
		run_check_limits(r);
		rig_pause_ms(5);
	}
	for (; enqueued < opt->tasks; enqueued++)
		run_enqueue(r, dice);
}

/* A limit holds at every moment, whoever has just died. */
static void
run_check_limits(struct rig *r)
{
	char *over = rig_sql(r, "SELECT kind || ': ' || count(*) FROM "
	    "payonce.generation_task WHERE status IN ('RUNNING', "
	    "'SUBMITTED') GROUP BY kind HAVING count(*) > CASE kind WHEN "
	    "'image' THEN 6 WHEN 'render' THEN 2 ELSE 4 END");

	if (*over == '\0')
		return;
	fprintf(stderr, "%s\n", rig_sql(r, "SELECT now() || E'\\n' || "
	    "string_agg(format('%%s %%s %%s token %%s until %%s marked %%s', "
	    "kind, id, status, lease_token, lease_expires_at, "
	    "submit_started_at), E'\\n' ORDER BY kind, id) FROM "
	    "payonce.generation_task WHERE status IN ('RUNNING', "
	    "'SUBMITTED')"));
	RIG_FAIL(r, "more in flight than the limit: %s", over);
}

static void
run_calm(struct rig *r, struct monkey *m)
{
	int64_t end = rig_now_ms() + CALM_MS;

	for (;;) {
		monkey_rest(m, r);
		if (rig_sql_int(r, "SELECT count(*) FROM "
		    "payonce.generation_task WHERE status IN ('WAITING', "
		    "'PENDING', 'RUNNING', 'SUBMITTED')") == 0)
			return;
		if (rig_now_ms() >= end)
			break;
		rig_pause_ms(20);
	}
	fprintf(stderr, "---- not ended:\n%s\nheld kinds: %s\n",
	    rig_sql(r, "SELECT string_agg(to_jsonb(t)::text, E'\\n') FROM "
	    "(SELECT * FROM payonce.generation_task WHERE status IN "
	    "('WAITING', 'PENDING', 'RUNNING', 'SUBMITTED') ORDER BY id "
	    "LIMIT 5) t"), rig_sql(r, "SELECT string_agg(to_jsonb(h)::text, "
	    "E'\\n') FROM payonce.kind_hold h"));
	RIG_FAIL(r, "tasks do not end although everything lives");
}

/*
 * The monkey's last stroke may still be on its way: wait for a supervisor
 * that serves and that nobody has asked to end.
 */
static void
run_settle(struct rig *r, struct monkey *m)
{
	int64_t end = rig_now_ms() + CALM_MS;

	for (;;) {
		monkey_rest(m, r);
		if (r->hosts[0].pid > 0 && !m->is_ending &&
		    strcmp(rig_sql(r, "SELECT EXISTS (SELECT FROM "
		    "payonce.host WHERE pid = %d)", (int)r->hosts[0].pid),
		    "t") == 0)
			return;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "no supervisor serves");
		rig_pause_ms(10);
	}
}

static void
run_enqueue(struct rig *r, struct dice *d)
{
	static const char *const paid[] = { "image", "image", "clip",
	    "pred" };
	static const char *const words[] = {
		"", ", \"poll\": [\"pending\", \"drop\", \"status:500\"]",
		", \"artifact_delay_ms\": 80", ", \"case\": \"mixed\"",
		", \"poll\": [\"garbage\", \"word:HUMMING\"]",
	};
	const char *kind = paid[dice_roll(d, 4)];
	int roll = dice_roll(d, 100);

	if (roll < 10) {
		(void)rig_enqueue(r, "render", rig_printf("{\"do\": \"ok\", "
		    "\"s\": \"0.%d\"}", dice_roll(d, 10)));
	} else if (roll < 14) {
		(void)rig_enqueue(r, kind, "{\"mock\": {\"submit\": "
		    "\"status:422\"}, \"expect\": \"FAILED\"}");
	} else if (roll < 18) {
		(void)rig_enqueue(r, "pred", "{\"mock\": {\"end\": "
		    "\"failed\"}, \"expect\": \"FAILED\"}");
	} else {
		(void)rig_enqueue(r, kind, rig_printf("{\"mock\": "
		    "{\"delay_ms\": %d, \"latency_ms\": %d%s}}",
		    dice_roll(d, 3) == 0 ? dice_roll(d, 400) : 0,
		    dice_roll(d, 600), words[dice_roll(d, 5)]));
	}
}

static void
run_report(const struct monkey *m, const struct verdict *v,
    const struct options *opt)
{
	int kills = m->workers_killed + m->supers_killed;

	printf("%d tasks, %d kills (%d workers, %d supervisors), %d stops "
	    "(%d, %d), %d SIGTERM, %d times the database hung up\n",
	    v->tasks, kills, m->workers_killed, m->supers_killed,
	    m->workers_stopped + m->supers_stopped, m->workers_stopped,
	    m->supers_stopped, m->supers_ended, m->backends_ended);
	printf("%d succeeded, %d failed as scripted, %d parked; %d posts, "
	    "%d charged, %d artifacts with the right sum\n", v->succeeded,
	    v->failed, v->parked, v->posts, v->charges, v->artifacts);
	printf("0 charged twice, 0 results lost (seed %lld)\n",
	    (long long)opt->seed);
}

static void
run_parse(int argc, char **argv, struct options *ret)
{
	int c;

	while ((c = getopt(argc, argv, "s:t:n:k:")) != -1) {
		switch (c) {
		case 's':
			run_number(optarg, INT64_MAX, &ret->seed);
			break;
		case 't':
			run_number(optarg, 86400, &ret->seconds);
			break;
		case 'n':
			run_number(optarg, 1000000, &ret->tasks);
			break;
		case 'k':
			run_number(optarg, 1000, &ret->strikes_per_s);
			break;
		default:
			run_usage();
		}
	}
	if (optind != argc)
		run_usage();
}

static void
run_number(const char *text, int64_t max, int64_t *ret)
{
	if (num_parse_i64(text, 1, max, ret) != 0)
		run_usage();
}

static void
run_usage(void)
{
	fputs("usage: run [-s SEED] [-t SECONDS] [-n TASKS] [-k PER_SECOND]\n",
	    stderr);
	exit(2);
}
