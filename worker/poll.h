/*
 * poll.h - what the poll_*.c files share: many waiting tasks in one process.
 */
#ifndef PAYONCE_WORKER_POLL_H
#define PAYONCE_WORKER_POLL_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "worker/fetch.h"
#include "worker/http.h"
#include "worker/worker.h"

#define POLL_BUCKETS	4096u

/*
 *   WAITING -> QUEUED -> ASKING -> WAITING ...
 *                          |-> QUEUED (the result) -> ASKING
 *                          |-> SAVING -> QUEUED (artifact) -> FETCHING ...
 *                          +-> REPORTED -> gone
 *
 * WAITING and QUEUED end by the task's timer and the pool; ASKING and FETCHING
 * by their request; SAVING and REPORTED by STORED, CANCEL or the supervisor's
 * end: their lease is renewed as long as we beat.
 */
enum poll_state {
	POLL_STATE_WAITING,	/* its timer runs */
	POLL_STATE_QUEUED,	/* wants one of the max_requests */
	POLL_STATE_ASKING,	/* a GET is out */
	POLL_STATE_SAVING,	/* RESULT is out, STORED is awaited */
	POLL_STATE_FETCHING,	/* a download is out */
	POLL_STATE_REPORTED	/* the last word is out, STORED is awaited */
};

enum poll_want {
	POLL_WANT_STATUS,
	POLL_WANT_RESULT,
	POLL_WANT_ARTIFACT
};

struct poll_task {
	struct job		 job;
	TAILQ_ENTRY(poll_task)	 queued;
	LIST_ENTRY(poll_task)	 hashed;
	LIST_ENTRY(poll_task)	 all;
	struct poll		*p;
	enum poll_state		 state;
	enum poll_want		 want;
	struct event		 timer;
	struct mono		 deadline;	/* poll_deadline; unset: none */
	struct mono		 urgent_at;	/* the result vanishes; unset */
	int32_t			 delay_ms;	/* next, before jitter */
	uint32_t		 missed;	/* in a row */
	int16_t			 permille;	/* last reported */
	bool			 is_last_ask;	/* the deadline has passed */
	bool			 told_word;
	bool			 told_account;
	struct http_call	*call;		/* only while ASKING */
	struct poll_verdict	*answer;	/* from DONE on */
	struct fetch		*fetch;		/* from SAVED on */
	char			*cost;		/* of the status answer */
	char			*currency;
};

TAILQ_HEAD(poll_queue, poll_task);
LIST_HEAD(poll_list, poll_task);

struct poll {
	struct worker		*w;
	struct http		*http;
	struct poll_list	 buckets[POLL_BUCKETS];
	struct poll_list	 all;
	struct poll_queue	 asks;		/* most urgent first */
	struct poll_queue	 fetches;
	unsigned int		 count;
	unsigned int		 fetching;	/* downloads that run */
	struct event		*ev_stop;	/* drain: time is over */
	struct mono		 title_at;
};

/* poll.c */
/* poll_drop() forgets a task without a word. */
void	poll_drop(struct poll_task *);

/* poll_queue.c */
void	poll_set_state(struct poll_task *, enum poll_state);
/* poll_wait() sleeps delay_ms with jitter, at most until the deadline. */
void	poll_wait(struct poll_task *, int64_t delay_ms);
/* poll_wait_longer() is poll_wait() with the backoff; at_least_ms or -1. */
void	poll_wait_longer(struct poll_task *, int64_t at_least_ms);
void	poll_enqueue(struct poll_task *, enum poll_want);
void	poll_pump(struct poll *);
void	poll_on_timer(evutil_socket_t, short, void *);

/* poll_ask.c */
void	poll_ask(struct poll_task *);
/* poll_missed() counts an answer that was none. */
void	poll_missed(struct poll_task *, const char *why, int64_t retry_ms);
/* poll_give_up() parks a task whose deadline is over. */
void	poll_give_up(struct poll_task *);

/* poll_result.c */
/* poll_save() takes the verdict (POLL_DONE with a result) over. */
void	poll_save(struct poll_task *, struct poll_verdict *);
void	poll_saved(struct poll_task *);
void	poll_fetch(struct poll_task *);
void	poll_reminted(struct poll_task *, struct poll_verdict *);

#endif
