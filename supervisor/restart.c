/*
 * restart.c - restart throttling, without a clock and without processes.
 *
 * The first process that dies before it did anything useful is replaced at
 * once (its tasks are waiting), the next ones slow their pool down, twice as
 * long each time; one finished task forgets all that.  Once the
 * pool has worked, a death after HELLO does not throttle: else a task that
 * kills its worker (its requeues are counted) could stop the whole kind.
 */
#include "supervisor/restart.h"

static int64_t
delay_for(unsigned int failures)
{
	int64_t ms = RESTART_MIN_MS;
	unsigned int i = 0;

	if (failures <= 1)
		return 0;
	for (i = 2; i < failures && ms < RESTART_MAX_MS; i++)
		ms *= 2;
	return ms < RESTART_MAX_MS ? ms : RESTART_MAX_MS;
}

int64_t
restart_note_death(struct restart *r, enum death how, struct mono now)
{
	int64_t ms = 0;

	switch (how) {
	case DEATH_ASKED:
	case DEATH_USEFUL:
		return 0;
	case DEATH_USELESS:
		if (r->has_worked)
			return 0;
		break;
	case DEATH_CONFIG:
		/* It will be wrong again until somebody changes a file. */
		r->failures = 16;
		break;
	case DEATH_EARLY:
	default:
		break;
	}
	if (r->failures < 16)
		r->failures++;
	ms = delay_for(r->failures);
	r->not_before = mono_add_ms(now, ms);
	return ms;
}

void
restart_note_success(struct restart *r, bool is_task)
{
	if (!is_task)
		return;
	r->failures = 0;
	r->has_worked = true;
	r->not_before = (struct mono){ .ns = 0 };
}

int64_t
restart_wait_ms(const struct restart *r, struct mono now)
{
	int64_t left = 0;

	if (!mono_is_set(r->not_before))
		return 0;
	left = mono_diff_ms(r->not_before, now);
	return left > 0 ? left : 0;
}
