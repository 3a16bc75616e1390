/*
 * db_conn.h - one connection, between db.c and db_conn.c.
 */
#ifndef PAYONCE_SUPERVISOR_DB_CONN_H
#define PAYONCE_SUPERVISOR_DB_CONN_H

#include <event2/event.h>

#include "supervisor/db.h"

enum conn_state {
	CONN_DOWN,		/* until the retry timer */
	CONN_CONNECTING,	/* until its deadline */
	CONN_IDLE,
	CONN_BUSY		/* a statement is out; until its deadline */
};

struct db_conn {
	struct db	*db;
	PGconn		*pg;
	int		 index;
	bool		 is_listener;
	unsigned int	 nlistens;	/* LISTENs acknowledged */
	bool		 is_listening;	/* all of them */
	enum conn_state	 state;
	struct event	*ev_io;
	short		 what;		/* EV_READ, EV_WRITE of ev_io */
	struct event	*ev_retry;
	int64_t		 backoff_ms;
	struct mono	 deadline;
	struct db_batch	 batch;		/* in flight, or OP_NONE */
	struct db_call	*call;		/* in flight, or NULL */
	struct db_call	 statement;	/* parameters of the batch */
	PGresult	*res;		/* the answer so far */
};

TAILQ_HEAD(db_call_list, db_call);

struct db {
	struct super		*super;
	struct db_queues	 queues;
	struct db_call_list	 calls;
	struct db_conn		 conns[DB_CONNS + 1];
	struct event		*ev_gather;	/* ends a wait for company */
	bool			 was_up;
	char			 sqlstate[6];
};

/* db_conn.c */
int	 conn_init(struct db_conn *, struct db *, int index);
void	 conn_done(struct db_conn *);
void	 conn_connect(struct db_conn *);
/* conn_send() puts a statement out; PO_EIO: the connection is lost now. */
int	 conn_send(struct db_conn *, const char *sql, int nparams,
	    char *const *params);
void	 conn_lose(struct db_conn *, const char *why);

/* db.c: what db_conn.c tells */
void	 db_on_ready(struct db_conn *);
void	 db_on_answer(struct db_conn *, PGresult *);
void	 db_on_lost(struct db_conn *);
void	 db_on_notify(struct db_conn *, const char *channel,
	    const char *payload);

/* db_call.c */
void	 db_call_clear(struct db_call *);

#endif
