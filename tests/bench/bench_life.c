/*
 * bench_life.c - whole lives at 16 slots, and how soon a new task is posted.
 */
#include <sys/wait.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/num.h"
#include "tests/bench/bench.h"

#define KIND_16								\
	"kind image { provider = fal model = \"fal-ai/flux/dev\" "	\
	"concurrency = 16 submit_workers = 16 }\n"

static void	life_run(int64_t tasks, int in_flight);
static double	life_cpu_s(struct rig *, pid_t);
static double	life_workers_s(struct rig *, const char *word);
static int64_t	life_round_trips(struct rig *);

void
bench_life(int64_t tasks)
{
	life_run(tasks, 16);
	life_run(tasks, 64);
}

static void
life_run(int64_t tasks, int in_flight)
{
	struct rig *r = bench_open(rig_printf("kind image { provider = fal "
	    "model = \"fal-ai/flux/dev\" concurrency = %d submit_workers = "
	    "16 }\n", in_flight), BENCH_FAST);
	double cpu, mock_cpu, submit_cpu, poll_cpu, s;
	int64_t us;

	rig_start(r);
	/* workers are there and warm */
	(void)rig_sql(r, "SELECT count(payonce.enqueue('image', '{}')) FROM "
	    "generate_series(1, 64)");
	rig_wait_sql(r, 60000, "SELECT count(*) = 64 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	cpu = life_cpu_s(r, r->hosts[0].pid);
	mock_cpu = life_cpu_s(r, r->mock_pid);
	submit_cpu = life_workers_s(r, "image submit");
	poll_cpu = life_workers_s(r, "image poll");
	us = bench_drain(r, "image", tasks);
	s = (double)us / 1e6;
	cpu = life_cpu_s(r, r->hosts[0].pid) - cpu;
	mock_cpu = life_cpu_s(r, r->mock_pid) - mock_cpu;
	submit_cpu = life_workers_s(r, "image submit") - submit_cpu;
	poll_cpu = life_workers_s(r, "image poll") - poll_cpu;
	bench_print(rig_printf("whole lives, 16 submit workers, %d in flight",
	    in_flight), "%.0f tasks/s (%lld in %.2f s)",
	    (double)tasks / s, (long long)tasks, s);
	bench_print("  processor time per task: supervisor, submit, poll, mock",
	    "%.2f, %.2f, %.2f, %.2f ms", cpu * 1000 / (double)tasks,
	    submit_cpu * 1000 / (double)tasks,
	    poll_cpu * 1000 / (double)tasks,
	    mock_cpu * 1000 / (double)tasks);
	bench_print("  round trips to the database per task", "%.2f",
	    (double)life_round_trips(r) / (double)(tasks + 64));
	bench_print("  milliseconds of a life: claim to mark, to id, to "
	    "result, to end", "%s", rig_sql(r, "SELECT format('%%s, %%s, "
	    "%%s, %%s', "
	    "round(avg(extract(epoch FROM m.at - c.at) * 1000), 1), "
	    "round(avg(extract(epoch FROM a.at - m.at) * 1000), 1), "
	    "round(avg(extract(epoch FROM s.at - a.at) * 1000), 1), "
	    "round(avg(extract(epoch FROM d.at - s.at) * 1000), 1)) "
	    "FROM payonce.task_event c "
	    "JOIN payonce.task_event m ON m.task_id = c.task_id AND m.reason "
	    "= 'marked' "
	    "JOIN payonce.task_event a ON a.task_id = c.task_id AND a.reason "
	    "= 'accepted' "
	    "JOIN payonce.task_event s ON s.task_id = c.task_id AND s.reason "
	    "= 'result_saved' "
	    "JOIN payonce.task_event d ON d.task_id = c.task_id AND d.reason "
	    "= 'done' WHERE c.reason = 'claimed' AND c.task_id > 64"));
	rig_close(&r);
}

void
bench_latency(int rounds)
{
	struct rig *r = bench_open(KIND_16, BENCH_FAST);
	int64_t *us = calloc((size_t)rounds, sizeof(*us));
	int64_t start, id;
	int i;

	if (us == NULL)
		RIG_FAIL(r, "out of memory");
	rig_start(r);
	for (i = 0; i < 16; i++)
		(void)rig_enqueue(r, "image", NULL);
	rig_wait_sql(r, 60000, "SELECT count(*) = 16 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	for (i = 0; i < rounds; i++) {
		start = bench_now_us();
		id = rig_enqueue(r, "image", NULL);
		(void)rig_http(r, "GET", rig_printf("/_mock/wait?posts=1"
		    "&task=%lld&timeout_ms=10000", (long long)id), NULL);
		us[i] = bench_now_us() - start;
		rig_wait_status(r, id, "SUCCEEDED", 20000);
	}
	bench_print("enqueue to POST, idle", "p50 %.1f ms, p99 %.1f ms "
	    "(%d times)", bench_percentile(us, (size_t)rounds, 0.50),
	    bench_percentile(us, (size_t)rounds, 0.99), rounds);
	free(us);
	rig_close(&r);
}

/* User and system time of one process, in seconds. */
static double
life_cpu_s(struct rig *r, pid_t pid)
{
	unsigned long user = 0, sys = 0;
	char text[1024] = "", *p;
	FILE *f;

	f = fopen(rig_printf("/proc/%d/stat", (int)pid), "re");
	if (f == NULL)
		RIG_FAIL(r, "process %d is gone", (int)pid);
	if (fgets(text, sizeof(text), f) == NULL)
		text[0] = '\0';
	(void)fclose(f);
	p = strrchr(text, ')');
	if (p == NULL || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u "
	    "%*u %*u %lu %lu", &user, &sys) != 2)
		RIG_FAIL(r, "/proc/%d/stat is not understood", (int)pid);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static double
life_workers_s(struct rig *r, const char *word)
{
	pid_t pids[64];
	size_t i, n = rig_list_workers(r, word, pids, 64);
	double sum = 0;

	for (i = 0; i < n; i++)
		sum += life_cpu_s(r, pids[i]);
	return sum;
}

/* SIGUSR1 makes the supervisor tell its counters. */
static int64_t
life_round_trips(struct rig *r)
{
	static const char word[] = "round_trips=";
	char *line = NULL, *p;
	int64_t n = 0;
	size_t cap = 0;
	FILE *f;

	(void)kill(r->hosts[0].pid, SIGUSR1);
	rig_wait_log(r, 5000, word);
	f = fopen(r->hosts[0].log, "re");
	if (f == NULL)
		RIG_FAIL(r, "no log");
	while (getline(&line, &cap, f) > 0) {
		p = strstr(line, word);
		if (p == NULL)
			continue;
		p += strlen(word);
		p[strspn(p, "0123456789")] = '\0';
		if (num_parse_i64(p, 0, INT64_MAX, &n) != 0)
			RIG_FAIL(r, "no number of round trips");
	}
	free(line);
	(void)fclose(f);
	return n;
}
