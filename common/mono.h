/*
 * mono.h - time as a process may use it: CLOCK_BOOTTIME, never wall time.
 *
 * The boot-time clock goes on while the machine is suspended, so a timer on
 * it notices a night in a laptop bag (DESIGN, law 9).  It is the same for all
 * processes of one machine, so a deadline may travel between them.
 * Only the mono_* functions look inside.
 */
#ifndef PAYONCE_MONO_H
#define PAYONCE_MONO_H

#include <sys/time.h>

#include <stdbool.h>
#include <stdint.h>

struct mono {
	int64_t	ns;		/* nanoseconds since boot; 0 means "never" */
};

/* mono.c */
struct mono	mono_now(void);
struct mono	mono_add_ms(struct mono, int64_t ms);
/* mono_diff_ms() is a - b; negative when a is the earlier one. */
int64_t		mono_diff_ms(struct mono a, struct mono b);
bool		mono_is_before(struct mono a, struct mono b);
bool		mono_is_set(struct mono);
/*
 * mono_left_ms() is what remains until a deadline, rounded up, never below 0;
 * INT64_MAX for "never".
 */
int64_t		mono_left_ms(struct mono deadline);
/* ms_to_timeval() fills a timeval for libevent from a duration >= 0. */
struct timeval	ms_to_timeval(int64_t ms);

#endif
