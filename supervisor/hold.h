/*
 * hold.h - when a kind slows down and when it is held: a pure decision.
 */
#ifndef PAYONCE_SUPERVISOR_HOLD_H
#define PAYONCE_SUPERVISOR_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"

#define HOLD_BACKOFF_MIN_MS	1000
#define HOLD_BACKOFF_MAX_MS	60000

struct hold {
	unsigned int	 ambiguous;	/* answers in a row, no proof */
	int64_t		 backoff_ms;	/* the last pause; 0: none */
	struct mono	 paused_until;	/* no submission before this */
};

/* What a submission of the kind came to. */
enum hold_note {
	HOLD_ANSWERED,		/* the provider answered with sense */
	HOLD_AMBIGUOUS,		/* it did not: counts for the breaker */
	HOLD_THROTTLED,		/* it asks to slow down */
	HOLD_UNREACHED,		/* nothing was sent: connect, DNS, TLS, quote */
	HOLD_OUR_FAULT,		/* a crash of ours: counts for nothing */
	HOLD_NOTE_MAX
};

/* hold.c */

/*
 * hold_note() returns true when the kind must be held (the breaker opens).
 * asked_ms: the provider's Retry-After, < 0 when it named none.
 * *ret_delay_ms: how long the task should wait.
 */
bool	hold_note(struct hold *, enum hold_note, unsigned int breaker,
	    int64_t asked_ms, struct mono now, int64_t *ret_delay_ms);
bool	hold_is_paused(const struct hold *, struct mono now);
void	hold_reset(struct hold *);

#endif
