/*
 * task.h - a task that this supervisor holds the lease of, and its states.
 *
 * task.c owns the objects; task_fsm.c is the only writer of a state.  Others
 * reach the world through struct task_ports, so a test can record the calls.
 */
#ifndef PAYONCE_SUPERVISOR_TASK_H
#define PAYONCE_SUPERVISOR_TASK_H

#include <sys/queue.h>
#include <sys/tree.h>

#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"
#include "common/receipt.h"
#include "common/task.h"
#include "proto/proto.h"

/* The states; doc/STATES.md tells what each one waits for. */
#define TASK_STATES(X)							\
	X(NEW)		/* claimed; the row is being read */		\
	X(SUBMIT_WAIT)	/* waits for a submit worker; not marked */	\
	X(RESEND_WAIT)	/* the same, but marked: resend or look up */	\
	X(SUBMIT)	/* a submit worker prepares; not marked */	\
	X(MARKING)	/* the mark is on its way to the database */	\
	X(UNMARKING)	/* as MARKING, but its worker will not send */	\
	X(SENT)		/* permission was given: money may flow */	\
	X(RESENT)	/* again, or a look-up: the first may be paid */ \
	X(RECORDING)	/* the request id is on its way to the row */	\
	X(SAVING_SYNC)	/* a submit worker's result is being saved */	\
	X(FETCH_SYNC)	/* a submit worker fetches artifacts */		\
	X(POLL_WAIT)	/* waits for the poll worker */			\
	X(POLL)		/* the poll worker has it */			\
	X(SAVING)	/* the poll worker's result is being saved */	\
	X(EXEC_WAIT)	/* waits for an exec worker */			\
	X(EXEC)		/* a local program runs */			\
	X(ENDING)	/* the last write of this claim is under way */	\
	X(ORPHAN)	/* a worker of a former supervisor lives */	\
	X(APPLYING)	/* a receipt goes to the row; lease is ours */	\
	X(EVIDENCE)	/* a report goes to the row; lease is lost */	\
	X(DROPPING)	/* a write is under way, then EXPIRING */	\
	X(EXPIRING)	/* the lease is being given up */		\
	X(LOST)		/* lease lost; the worker saves its receipt */	\
	X(CLOSED)	/* over; freed at the end of the turn */

#define TASK_EVENTS(X)							\
	/* what the row says (recovery_for) */				\
	X(ROW_SUBMIT) X(ROW_RESEND) X(ROW_POLL) X(ROW_EXEC)		\
	X(ROW_REQUEUE) X(ROW_PARK) X(ROW_ORPHAN) X(ROW_EVIDENCE)	\
	/* a worker is free for it */					\
	X(WORKER)							\
	/* what its worker says */					\
	X(W_MARK) X(W_SUBMITTED) X(W_PROGRESS) X(W_RESULT) X(W_DONE)	\
	X(W_REJECTED) X(W_FAILED) X(W_UNKNOWN) X(W_UNSENT)		\
	/* what the database says to the write under way */		\
	X(D_WON) X(D_LOST) X(D_ERROR)					\
	/* what happens around it */					\
	X(DEAD) X(LEASE_LOST) X(CANCEL) X(STOP)

enum tstate {
#define TS(name) TS_##name,
	TASK_STATES(TS)
#undef TS
	TS_MAX
};

enum tevent {
#define TE(name) TE_##name,
	TASK_EVENTS(TE)
#undef TE
	TE_MAX
};

/* The database writes of one task; at most one is under way. */
enum db_op {
	OP_NONE,
	OP_MARK,
	OP_RECORD,
	OP_RESULT,
	OP_COMPLETE,
	OP_RELEASE,
	OP_REJECT,
	OP_FAIL,
	OP_PARK,
	OP_EVIDENCE,
	OP_EXPIRE,
	OP_MAX
};

/* What is to be written next; texts are owned, NULL = absent. */
struct report {
	unsigned int		 what;		/* message to acknowledge */
	enum receipt_class	 class;		/* for OP_EVIDENCE */
	enum reject_class	 reject;
	char			*request_id;
	char			*poll_url;
	char			*result_url;
	char			*cancel_url;
	char			*result;
	char			*cost;
	char			*currency;
	char			*reason;
	char			*detail;
	int64_t			 delay_ms;	/* release */
	int64_t			 fetch_ms;	/* < 0: not known */
	bool			 is_unmark;	/* release: proven unsent */
	bool			 is_counted;	/* release: counts a requeue */
};

struct child;
struct kind;
struct pool;

struct task {
	RB_ENTRY(task)		 by_id;
	TAILQ_ENTRY(task)	 op_link;	/* in a queue of db_batch.c */
	TAILQ_ENTRY(task)	 wait_link;	/* in pool->waiting */
	TAILQ_ENTRY(task)	 child_link;	/* in child->tasks */
	TAILQ_ENTRY(task)	 list_link;	/* orphans, or closed ones */
	TAILQ_ENTRY(task)	 progress_link;
	int64_t			 id;
	int64_t			 token;
	int			 attempt;
	enum tstate		 state;		/* task_fsm.c writes it */
	enum assign_mode	 mode;
	enum db_op		 op;		/* queued or in flight */
	struct child		*child;		/* who works on it, or NULL */
	struct pool		*pool;		/* where it waits, or NULL */
	struct kind		*kind;
	char			*provider;	/* NULL: local */
	char			*model;
	struct task_evidence	 row;		/* as the claim found it */
	char			*own_id;
	char			*idem_key;
	char			*request_id;
	char			*poll_url;
	char			*result_url;
	char			*cancel_url;
	char			*input;
	char			*result;
	char			*parents;
	int64_t			 poll_left_ms;	/* < 0: none; at read_at */
	int64_t			 fetch_left_ms;	/* < 0: not known; at read_at */
	struct mono		 read_at;	/* when the two were true */
	struct mono		 deadline;	/* the lease's end */
	struct mono		 retry_at;	/* ORPHAN: look again */
	struct mono		 warned_at;	/* ORPHAN: said in the log */
	struct report		 report;
	int			 permille;
	char			*note;
	bool			 is_progress;	/* in the progress list */
	bool			 is_watched;	/* in the list of orphans */
	bool			 is_canceled;	/* somebody asked */
	bool			 is_stopped;	/* SIGTERM reached it */
};

TAILQ_HEAD(task_list, task);
RB_HEAD(task_tree, task);

/*
 * The world as a task sees it.  The database side queues a write and is
 * answered by TE_D_WON, TE_D_LOST or TE_D_ERROR later, never from inside the
 * call.  The worker side does nothing when the task has no worker any more.
 */
struct task_ports {
	/* the database */
	void	(*mark)(void *, struct task *);
	void	(*record)(void *, struct task *);
	void	(*save_result)(void *, struct task *);
	void	(*progress)(void *, struct task *);
	void	(*complete)(void *, struct task *);
	void	(*release)(void *, struct task *);
	void	(*reject)(void *, struct task *);
	void	(*fail)(void *, struct task *);
	void	(*park)(void *, struct task *);
	void	(*evidence)(void *, struct task *);
	void	(*expire)(void *, struct task *);
	/* the workers */
	void	(*queue)(void *, struct task *, enum worker_role);
	void	(*unqueue)(void *, struct task *);
	void	(*submit)(void *, struct task *);
	void	(*poll)(void *, struct task *);
	void	(*exec)(void *, struct task *);
	void	(*tell_marked)(void *, struct task *);
	void	(*tell_refused)(void *, struct task *);
	void	(*tell_stored)(void *, struct task *, bool is_final);
	void	(*cancel)(void *, struct task *, const char *why);
	void	(*kill)(void *, struct task *);
	/* the lists */
	void	(*watch)(void *, struct task *);	/* an orphan's lock */
	void	(*closed)(void *, struct task *);
};

struct task_env {
	const struct task_ports	*ports;
	void			*arg;
	unsigned long		 count[TS_MAX];	/* tasks in each state */
};

enum task_cell {
	CELL_BUG,		/* cannot happen: panic */
	CELL_VIOLATION,		/* the worker may not say this now */
	CELL_IGNORE,		/* allowed, and means nothing any more */
	CELL_DO
};

/* task.c */
int		 task_new(int64_t id, struct task **ret);
void		 task_free(struct task **);
struct task	*task_find(struct task_tree *, int64_t id);
/* task_insert() returns PO_EEXIST when the id is there already. */
int		 task_insert(struct task_tree *, struct task *);
void		 task_remove(struct task_tree *, struct task *);
void		 report_done(struct report *);
/* task_report() empties the report and fills reason and detail (copied). */
int		 task_report(struct task *, const char *reason,
		    const char *detail);
bool		 task_is_unsent(const struct task *);
RB_PROTOTYPE(task_tree, task, by_id, task_compare)
int		 task_compare(const struct task *, const struct task *);

/* task_fsm.c */
void		 task_born(struct task_env *, struct task *);
void		 task_event(struct task_env *, struct task *, enum tevent);
/* task_permits() says what the event would do, without doing it. */
enum task_cell	 task_permits(const struct task *, enum tevent);
const char	*task_state_name(enum tstate);
const char	*task_event_name(enum tevent);
/* task_cell_look() is for the test that walks the table. */
enum task_cell	 task_cell_look(enum tstate, enum tevent, enum tstate *ret_next,
		    const char **ret_act);
/* task_set_state() is the only writer; for task_act.c. */
void		 task_set_state(struct task_env *, struct task *, enum tstate,
		    enum tevent why);

/* task_act.c: what a cell of the table does */
#define TASK_ACTS(X)							\
	X(none) X(queue_submit) X(queue_poll) X(queue_exec)		\
	X(send_submit) X(send_poll) X(send_exec) X(mark) X(permit)	\
	X(refuse) X(record) X(save) X(progress) X(complete) X(rejected)	\
	X(reject) X(fail) X(park) X(release) X(unsent) X(evidence)	\
	X(expire) X(stored) X(handover) X(finish) X(close) X(cancel)	\
	X(cancel_close) X(cancel_expire) X(kill) X(dequeue_release)	\
	X(dequeue_expire) X(dequeue_close) X(watch) X(lost_end)		\
	X(dead_unmark) X(lost_evidence) X(bad_write) X(bad_end)	\
	X(resent_rejected) X(try_later) X(forgotten)
#define TASK_ACT(name) void task_act_##name(struct task_env *, struct task *, \
	enum tevent);
TASK_ACTS(TASK_ACT)
#undef TASK_ACT

#endif
