/*
 * task.h - the task row as the processes see it, and the recovery decision.
 *
 * The row is the only truth (DESIGN, law 3).  recovery_for() is pure: the
 * same row gives the same answer in a new supervisor, on another host, in a
 * test.
 */
#ifndef PAYONCE_TASK_H
#define PAYONCE_TASK_H

#include <stdbool.h>
#include <stdint.h>

enum task_status {
	TASK_WAITING,		/* parents are not done yet */
	TASK_PENDING,		/* ready to be claimed */
	TASK_RUNNING,		/* claimed; perhaps marked */
	TASK_SUBMITTED,		/* the provider's request id is on the row */
	TASK_SUCCEEDED,
	TASK_FAILED,
	TASK_CANCELED,
	TASK_OUTCOME_UNKNOWN,	/* parked: only a person or evidence moves it */
	TASK_STATUS_MAX
};

/* Whether a right that ends at a time is there; the database's clock said. */
enum task_window {
	WINDOW_NONE,		/* the provider does not offer it */
	WINDOW_OPEN,
	WINDOW_CLOSED		/* it has run out */
};

/* What recovery needs of a row, and nothing else. */
struct task_evidence {
	enum task_status	status;
	bool			is_local;	/* exec: nothing is paid */
	bool			is_marked;	/* submit_started_at is set */
	bool			has_request_id;
	bool			has_result;	/* result is saved */
	bool			has_own_id;
	enum task_window	idempotency;	/* key and its expiry */
	enum task_window	lookup;		/* lookup_until */
};

enum recovery {
	RECOVERY_NONE,		/* not ours to decide: not in flight */
	RECOVERY_POLL,		/* an id, or a saved result: never resubmit */
	RECOVERY_REQUEUE,	/* nothing was ever sent */
	RECOVERY_RESEND,	/* same request, same idempotency key */
	RECOVERY_LOOKUP,	/* ask the provider by our own id */
	RECOVERY_PARK,		/* OUTCOME_UNKNOWN */
	RECOVERY_MAX
};

/* task.c */

/* task_status_name() is the word in SQL ("OUTCOME_UNKNOWN"). */
const char	*task_status_name(enum task_status);
/* task_status_parse() returns 0 or PO_EINVAL. */
int		 task_status_parse(const char *, enum task_status *ret);

/* recovery.c */
enum recovery	 recovery_for(const struct task_evidence *);
const char	*recovery_name(enum recovery);	/* "poll", "requeue", ... */

#endif
