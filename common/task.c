/*
 * task.c - the names of the task states, as SQL writes them.
 */
#include "common/task.h"

#include <string.h>

#include "common/err.h"

static const char *const task_names[TASK_STATUS_MAX] = {
	[TASK_WAITING] = "WAITING",
	[TASK_PENDING] = "PENDING",
	[TASK_RUNNING] = "RUNNING",
	[TASK_SUBMITTED] = "SUBMITTED",
	[TASK_SUCCEEDED] = "SUCCEEDED",
	[TASK_FAILED] = "FAILED",
	[TASK_CANCELED] = "CANCELED",
	[TASK_OUTCOME_UNKNOWN] = "OUTCOME_UNKNOWN",
};

const char *
task_status_name(enum task_status status)
{
	if ((unsigned int)status >= TASK_STATUS_MAX)
		return "?";
	return task_names[status];
}

int
task_status_parse(const char *name, enum task_status *ret)
{
	unsigned int i = 0;

	for (i = 0; i < TASK_STATUS_MAX; i++) {
		if (strcmp(task_names[i], name) == 0) {
			*ret = (enum task_status)i;
			return 0;
		}
	}
	return PO_EINVAL;
}
