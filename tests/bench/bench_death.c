/*
 * bench_death.c - from SIGKILL of a worker until its task runs again.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/bench.h"

static void	death_exec(int rounds);
static void	death_poll(int rounds);

void
bench_death(int rounds)
{
	death_exec(rounds);
	death_poll(rounds);
}

/* A local program: until another worker runs it. */
static void
death_exec(int rounds)
{
	int64_t *us = calloc((size_t)rounds, sizeof(*us));
	struct rig *r;
	int64_t id, start;
	pid_t pid, again;
	int i;

	r = bench_open(rig_printf("kind render { command = {\"%s/tests/"
	    "integration/job\"} concurrency = 1 max_requeues = 1000 }\n",
	    rig_srcdir()), NULL);
	if (us == NULL)
		RIG_FAIL(r, "out of memory");
	rig_start(r);
	for (i = 0; i < rounds; i++) {
		id = rig_enqueue(r, "render", "{\"do\": \"ok\", \"s\": "
		    "\"0.3\"}");
		pid = rig_wait_worker(r, "exec task", 20000);
		start = bench_now_us();
		(void)kill(pid, SIGKILL);
		while ((again = rig_wait_worker(r, "exec task", 20000)) == pid)
			;
		us[i] = bench_now_us() - start;
		/* a success: the next death is no restart loop */
		rig_wait_status(r, id, "SUCCEEDED", 20000);
	}
	bench_print("SIGKILL of an exec worker to its task running again",
	    "p50 %.1f ms, max %.1f ms (%d times)",
	    bench_percentile(us, (size_t)rounds, 0.5),
	    bench_percentile(us, (size_t)rounds, 1), rounds);
	free(us);
	rig_close(&r);
}

/* A poll worker: until the provider is asked again. */
static void
death_poll(int rounds)
{
	int64_t *us = calloc((size_t)rounds, sizeof(*us));
	struct rig *r;
	int64_t id, other, start, polls;
	pid_t pid;
	char *text;
	int i;

	r = bench_open("kind image { provider = fal model = "
	    "\"fal-ai/flux/dev\" concurrency = 4 max_requeues = 1000 }\n",
	    "interval = 0.01 interval_max = 0.01");
	if (us == NULL)
		RIG_FAIL(r, "out of memory");
	rig_start(r);
	id = rig_enqueue(r, "image", "{\"mock\": {\"never\": true}}");
	rig_wait_status(r, id, "SUBMITTED", 20000);
	for (i = 0; i < rounds; i++) {
		pid = rig_wait_worker(r, "poll", 20000);
		start = bench_now_us();
		(void)kill(pid, SIGKILL);
		rig_wait_gone(r, pid, 5000);
		if (rig_http(r, "GET", "/_mock/summary", &text) != 200 ||
		    (text = strstr(text, "\"polls\":")) == NULL ||
		    sscanf(text + 8, " %" SCNd64, &polls) != 1)
			RIG_FAIL(r, "no summary of the mock");
		(void)rig_http(r, "GET", rig_printf("/_mock/wait?polls=%lld"
		    "&timeout_ms=10000", (long long)polls + 1), NULL);
		us[i] = bench_now_us() - start;
		other = rig_enqueue(r, "image", NULL);
		rig_wait_status(r, other, "SUCCEEDED", 20000);
	}
	bench_print("SIGKILL of a poll worker to the next poll of its task",
	    "p50 %.1f ms, max %.1f ms (%d times)",
	    bench_percentile(us, (size_t)rounds, 0.5),
	    bench_percentile(us, (size_t)rounds, 1), rounds);
	free(us);
	rig_close(&r);
}
