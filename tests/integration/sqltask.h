/*
 * sqltask.h - tasks in any state, and transitions by name, for the SQL tests.
 *
 * A shape is a state as the functions themselves reach it: "waiting",
 * "pending", "released" (pending again, its old token still known),
 * "running_local", "running_paid" (not marked), "marked", "marked_result",
 * "submitted", "submitted_result", "succeeded", "failed", "rejected",
 * "canceled", "parked", "parked_id".  Every task has a kind of its own.
 */
#ifndef PAYONCE_SQLTASK_H
#define PAYONCE_SQLTASK_H

#include <libpq-fe.h>

extern const char *const	sqltask_shapes[];
#define SQLTASK_NSHAPES	15

/* sqltask.c */
PGconn	*sqltask_new_db(void);		/* pgtest_new_db() with these tools */
long	 sqltask_make(PGconn *, const char *shape);
long	 sqltask_token(PGconn *, long task);	/* 0: never claimed */
/*
 * sqltask_call() calls a transition for one task with ordinary arguments and
 * returns how many won: mark, record (request id r1), result, progress,
 * complete, complete_saved, release, release_unmark, reject, fail, park,
 * expire, renew.
 */
long	 sqltask_call(PGconn *, const char *fn, long task, long token);
/* sqltask_status() is one of the status words; the caller frees. */
char	*sqltask_status(PGconn *, long task);
/* sqltask_print() is the whole row and its number of events; freed by you. */
char	*sqltask_print(PGconn *, long task);

#endif
