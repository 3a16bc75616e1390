/*
 * mono.c - CLOCK_BOOTTIME, the only clock of our timers (DESIGN, law 9).
 *
 * Owns the meaning of struct mono.  Must not look at wall time.
 */
#include "common/mono.h"

#include <time.h>

#include "common/log.h"

#define NS_PER_MS	INT64_C(1000000)
#define NS_PER_S	INT64_C(1000000000)

struct mono
mono_now(void)
{
	struct timespec ts = { 0 };
	struct mono ret = { 0 };

	if (clock_gettime(CLOCK_BOOTTIME, &ts) == -1)
		fatal("CLOCK_BOOTTIME is missing; payonce needs Linux 2.6.39");
	ret.ns = (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
	return ret;
}

/* Saturates: a sum that does not fit is as far away as time goes. */
struct mono
mono_add_ms(struct mono t, int64_t ms)
{
	struct mono ret = { 0 };
	int64_t ns = 0;

	if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) ||
	    __builtin_add_overflow(t.ns, ns, &ret.ns))
		ret.ns = ms < 0 ? INT64_MIN : INT64_MAX;
	return ret;
}

int64_t
mono_diff_ms(struct mono a, struct mono b)
{
	int64_t ns = 0;

	if (__builtin_sub_overflow(a.ns, b.ns, &ns))
		return a.ns < b.ns ? INT64_MIN / NS_PER_MS :
		    INT64_MAX / NS_PER_MS;
	return ns / NS_PER_MS;
}

bool
mono_is_before(struct mono a, struct mono b)
{
	return a.ns < b.ns;
}

bool
mono_is_set(struct mono t)
{
	return t.ns != 0;
}

/* Rounds up: a timer of this length never fires before its deadline. */
int64_t
mono_left_ms(struct mono deadline)
{
	struct mono now = mono_now();

	if (!mono_is_set(deadline))
		return INT64_MAX;
	if (!mono_is_before(now, deadline))
		return 0;
	return mono_diff_ms(deadline, now) +
	    ((deadline.ns - now.ns) % NS_PER_MS != 0);
}

struct timeval
ms_to_timeval(int64_t ms)
{
	struct timeval ret = { 0 };

	if (ms < 0)
		ms = 0;
	ret.tv_sec = (time_t)(ms / 1000);
	ret.tv_usec = (suseconds_t)(ms % 1000 * 1000);
	return ret;
}
