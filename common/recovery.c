/*
 * recovery.c - what to do with a task in flight whose worker is gone.
 *
 * Pure: the row alone decides, strongest evidence first (DESIGN, law 3).
 * Must not look at a clock, a receipt or a configuration.
 */
#include "common/task.h"

static const char *const recovery_names[RECOVERY_MAX] = {
	[RECOVERY_NONE] = "none",
	[RECOVERY_POLL] = "poll",
	[RECOVERY_REQUEUE] = "requeue",
	[RECOVERY_RESEND] = "resend",
	[RECOVERY_LOOKUP] = "lookup",
	[RECOVERY_PARK] = "park",
};

enum recovery
recovery_for(const struct task_evidence *row)
{
	if (row->status != TASK_RUNNING && row->status != TASK_SUBMITTED)
		return RECOVERY_NONE;
	/* Bought and answered: whatever else the row says, never send. */
	if (row->has_request_id || row->has_result)
		return RECOVERY_POLL;
	/*
	 * The database refuses SUBMITTED without an id.  A row that is so
	 * all the same was sent once, and its other columns are not to be
	 * trusted: a person decides.
	 */
	if (row->status == TASK_SUBMITTED)
		return RECOVERY_PARK;
	if (row->is_local)
		return RECOVERY_REQUEUE;
	/* The mark is committed before the first byte leaves (law 1). */
	if (!row->is_marked)
		return RECOVERY_REQUEUE;
	if (row->idempotency == WINDOW_OPEN)
		return RECOVERY_RESEND;
	if (row->has_own_id && row->lookup == WINDOW_OPEN)
		return RECOVERY_LOOKUP;
	return RECOVERY_PARK;
}

const char *
recovery_name(enum recovery recovery)
{
	if ((unsigned int)recovery >= RECOVERY_MAX)
		return "?";
	return recovery_names[recovery];
}
