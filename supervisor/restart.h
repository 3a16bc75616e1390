/*
 * restart.h - when a pool may start its next process: a pure decision.
 */
#ifndef PAYONCE_SUPERVISOR_RESTART_H
#define PAYONCE_SUPERVISOR_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"

#define RESTART_MIN_MS	200
#define RESTART_MAX_MS	60000

/* What is remembered about the processes of one pool. */
struct restart {
	unsigned int	 failures;	/* useless deaths in a row */
	bool		 has_worked;	/* some process said HELLO once */
	struct mono	 not_before;	/* unset: at once */
};

/* How a process ended, as far as the policy cares. */
enum death {
	DEATH_EARLY,		/* before HELLO */
	DEATH_USELESS,		/* after HELLO, before any task was done */
	DEATH_USEFUL,		/* it had done something */
	DEATH_ASKED,		/* drained, retired, or killed by us */
	DEATH_CONFIG,		/* it says that its configuration is wrong */
	DEATH_MAX
};

/* restart.c */

/* restart_note_death() returns the delay in ms before the next start. */
int64_t	restart_note_death(struct restart *, enum death, struct mono now);
/* restart_note_success() is called at HELLO and whenever a task is done. */
void	restart_note_success(struct restart *, bool is_task);
/* restart_wait_ms() is how long to wait yet; 0: start now. */
int64_t	restart_wait_ms(const struct restart *, struct mono now);

#endif
