/*
 * demo.h - the demonstration in the sandbox: work, killed at random, and
 * the provider's bill afterwards.
 */
#ifndef PAYONCE_DEMO_H
#define PAYONCE_DEMO_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;
struct sandbox;

struct demo {
	struct sandbox	*sandbox;
	struct cli	*cli;
	char		 job[24];	/* job_id of the demo's tasks */
	pid_t		 sandbox_pid;	/* our parent: payonced's parent too */
	unsigned int	 kills;
	unsigned int	 supervisor_kills;
};

/* demo_kill.c */

/*
 * demo_kill() kills the supervisor or one of its workers, at random.
 * Returns 0 with the victim's name, PO_ENOENT when nothing was there.
 */
int	demo_kill(struct demo *, char *ret_name, size_t cap,
	    bool *ret_is_supervisor);

/* demo_report.c: the exit code */
int	demo_report(struct demo *);

#endif
