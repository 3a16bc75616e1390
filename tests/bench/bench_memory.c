/*
 * bench_memory.c - the memory that is each process's own share (PSS).
 */
#include <stdio.h>
#include <string.h>

#include "tests/bench/bench.h"

void
bench_memory(int64_t in_flight)
{
	struct rig *r;
	pid_t poll, submit;

	r = bench_open(rig_printf("kind image { provider = fal model = "
	    "\"fal-ai/flux/dev\" concurrency = %lld submit_workers = 8 "
	    "poll_deadline = 86400 }\n", (long long)in_flight),
	    "interval = 10 interval_max = 30");
	rig_start(r);
	(void)rig_sql(r, "SELECT count(payonce.enqueue('image', '{\"mock\": "
	    "{\"never\": true}}')) FROM generate_series(1, %lld)",
	    (long long)in_flight);
	rig_wait_sql(r, 300000, "SELECT count(*) = %lld FROM "
	    "payonce.generation_task WHERE status = 'SUBMITTED'",
	    (long long)in_flight);
	submit = rig_wait_worker(r, "submit", 1000);
	poll = rig_wait_worker(r, "poll", 1000);
	rig_pause_ms(2000);	/* polls of all of them are under way */
	bench_print("PSS of the supervisor", "%.1f MB, %lld tasks in flight",
	    (double)rig_pss_kb(r->hosts[0].pid) / 1024,
	    (long long)in_flight);
	bench_print("PSS of an idle submit worker", "%.1f MB",
	    (double)rig_pss_kb(submit) / 1024);
	bench_print("PSS of a poll worker", "%.1f MB, %lld tasks in flight",
	    (double)rig_pss_kb(poll) / 1024, (long long)in_flight);
	rig_close(&r);
}
