/*
 * db.h - the database: connections, batches of transitions, single calls.
 *
 * A transition of a task is queued under its op; while one batch of an op is
 * in flight the next gathers.  Nothing here waits.
 */
#ifndef PAYONCE_SUPERVISOR_DB_H
#define PAYONCE_SUPERVISOR_DB_H

#include <sys/queue.h>

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/mono.h"
#include "supervisor/task.h"

#define DB_CONNS	2		/* that work; one more listens */
#define DB_BATCH_MAX	500		/* tasks in one statement */
#define DB_BATCH_BYTES	(8u << 20)	/* of results in one statement */
#define DB_GATHER_MS	5		/* while another connection works */
#define DB_GATHER_MAX	16		/* as many tasks do not wait for it */
#define DB_PARAMS_MAX	16
#define DB_ANSWER_MS	30000		/* a silent connection is dead */

struct super;

/* ---- queues and batches (pure) ------------------------------------------ */

struct db_batch {
	enum db_op	 op;		/* OP_NONE: no batch */
	struct task_list tasks;
	size_t		 count;
	bool		 is_single;	/* one of a batch that was refused */
};

struct db_queue {
	struct task_list tasks;
	size_t		 count;
	size_t		 singly;	/* that many go one by one */
	struct mono	 since;		/* the first one waits since then */
	struct mono	 not_before;	/* after "not now" of the server */
	int64_t		 retry_ms;	/* the wait after the last one */
	bool		 is_in_flight;
	bool		 is_blocked;	/* by a call that must end first */
};

struct db_queues {
	struct db_queue	 q[OP_MAX];
};

/* db_batch.c */
void	 db_queues_init(struct db_queues *);
void	 db_push(struct db_queues *, enum db_op, struct task *);
/* db_pick() is the op to send next, OP_NONE: nothing may go now. */
enum db_op	db_pick(const struct db_queues *, struct mono now);
/* db_is_ripe(): what the op's queue has is worth a second connection. */
bool	 db_is_ripe(const struct db_queues *, enum db_op, struct mono now);
/* db_take() moves the first tasks of the op's queue into the batch. */
void	 db_take(struct db_queues *, enum db_op, struct db_batch *);
/* db_give_back() puts a batch back to the front, in its old order. */
void	 db_give_back(struct db_queues *, struct db_batch *);
/* db_split() is db_give_back(), and its tasks go one by one from now. */
void	 db_split(struct db_queues *, struct db_batch *);
/* db_answer() empties the batch: each task is told whether it is in ids. */
void	 db_answer(struct db_queues *, struct db_batch *, int64_t *ids,
	    size_t n, void (*fn)(struct task *, enum tevent, void *),
	    void *arg);
/* db_later() is db_give_back(), and the op waits, longer each time. */
void	 db_later(struct db_queues *, struct db_batch *, struct mono now);
/* db_refuse() empties a batch of one with TE_D_ERROR. */
void	 db_refuse(struct db_queues *, struct db_batch *,
	    void (*fn)(struct task *, enum tevent, void *), void *arg);

/* db_array.c: text of PostgreSQL arrays; 0 or PO_ENOMEM */
int	 array_open(struct buf *);
int	 array_put_text(struct buf *, const char *);	/* NULL: NULL */
int	 array_put_i64(struct buf *, int64_t);
int	 array_put_bool(struct buf *, bool);
int	 array_put_null(struct buf *);
int	 array_close(struct buf *);
/* array_clean() is a copy in UTF-8 without NUL; other bytes become '?'. */
char	*array_clean(const char *, size_t len);

/* ---- connections --------------------------------------------------------- */

enum db_outcome {
	DB_OK,
	DB_REFUSED,		/* the values are wrong: never again */
	DB_LATER,		/* the server cannot now: again as it is */
	DB_GONE			/* the connection broke: unknown, read back */
};

/* One statement with its own callback. */
struct db_call {
	TAILQ_ENTRY(db_call)	 link;
	struct mono		 since;		/* it waits since then */
	const char		*name;
	const char		*sql;
	int			 nparams;
	char			*params[DB_PARAMS_MAX];	/* owned; NULL: NULL */
	/* res is NULL unless DB_OK; the call is freed afterwards */
	void			(*fn)(struct super *, enum db_outcome,
				    PGresult *, void *);
	void			*arg;
};

struct db;

/* db.c */
int	 db_new(struct super *, struct db **ret);
void	 db_free(struct db **);
void	 db_start(struct db *);
void	 db_check(struct db *);		/* at the tick: deadlines */
bool	 db_is_up(const struct db *);
bool	 db_is_quiet(const struct db *);	/* nothing queued, in flight */
struct db_queues	*db_queues(struct db *);
/* db_sqlstate() is the last error's code, "" before the first one. */
const char	*db_sqlstate(const struct db *);
size_t	 db_describe(struct db *, char *buf, size_t cap);

/* db_conn.c: struct db_conn, see db_conn.h */

/* db_send.c */
/* db_send_all() gives every free connection something to do. */
void	 db_send_all(struct db *);
void	 db_call_send(struct db *, struct db_call **,
	    void (*fn)(struct super *, enum db_outcome, PGresult *, void *),
	    void *arg);

/* db_call.c */
struct db_call	*db_call_new(const char *name, const char *sql);
void	 db_call_free(struct db_call **);
/* db_call_add() takes text (mem_free) as the next parameter; NULL: NULL. */
void	 db_call_add(struct db_call *, char *text);
int	 db_call_add_text(struct db_call *, const char *);
int	 db_call_add_i64(struct db_call *, int64_t);
/* db_call_add_array() closes the array and takes its text. */
int	 db_call_add_array(struct db_call *, struct buf *);
enum db_outcome	db_classify(const PGresult *);

/* db_ops.c */
const char	*db_op_name(enum db_op);
/* db_op_build() makes the parameters of a batch; 0 or PO_ENOMEM. */
int	 db_op_build(struct super *, const struct db_batch *,
	    struct db_call *ret);

#endif
