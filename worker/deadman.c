/*
 * deadman.c - the timer that kills a process whose lease ran out before its
 * request left.
 *
 * Owns the one timer.  A stopped or suspended process cannot wake up late and
 * pay: SIGKILL from the kernel needs no code of ours to run.
 */
#include "worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "common/err.h"

static timer_t	deadman_timer;
static bool	deadman_is_made;

int
deadman_arm(struct mono at)
{
	struct sigevent sev;
	struct itimerspec when;

	if (!mono_is_set(at)) {
		errno = EINVAL;	/* a time of 0 would disarm it */
		return PO_EIO;
	}
	if (!deadman_is_made) {
		memset(&sev, 0, sizeof(sev));
		sev.sigev_notify = SIGEV_SIGNAL;
		sev.sigev_signo = SIGKILL;
		if (timer_create(CLOCK_BOOTTIME, &sev, &deadman_timer) == -1)
			return PO_EIO;
		deadman_is_made = true;
	}
	memset(&when, 0, sizeof(when));
	when.it_value.tv_sec = (time_t)(at.ns / 1000000000);
	when.it_value.tv_nsec = (long)(at.ns % 1000000000);
	/* absolute: a time that has passed already kills at once */
	if (timer_settime(deadman_timer, TIMER_ABSTIME, &when, NULL) == -1)
		return PO_EIO;
	return 0;
}

int
deadman_disarm(void)
{
	struct itimerspec never;

	if (!deadman_is_made)
		return 0;
	memset(&never, 0, sizeof(never));
	if (timer_settime(deadman_timer, 0, &never, NULL) == -1)
		return PO_EIO;
	return 0;
}
