/*
 * submit.h - what the submit_*.c files share: the one task of a submit worker.
 */
#ifndef PAYONCE_WORKER_SUBMIT_H
#define PAYONCE_WORKER_SUBMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/receipt.h"
#include "worker/http.h"
#include "worker/outcome.h"
#include "worker/worker.h"

struct event;
struct fetch;

/*
 *  IDLE -> UNSENT -> SENT -> REPORTED -> IDLE
 *            |        |         | sync: STORED of RESULT
 *            |        |         v
 *            |        |      FETCHING -> REPORTED
 *            |        +-> LOOKING (duplicate) -> REPORTED
 *            +-> REPORTED (unsent)        LOOKING also from IDLE
 *
 * UNSENT ends at the lease (dead-man); SENT and LOOKING at their request's
 * timeout; REPORTED when the row has it, or at the next ASSIGN.
 */
enum submit_state {
	SUBMIT_STATE_IDLE,
	SUBMIT_STATE_UNSENT,	/* building, connecting, asking at the gate */
	SUBMIT_STATE_SENT,	/* a request may have left: wait for it */
	SUBMIT_STATE_LOOKING,	/* a read by our own id */
	SUBMIT_STATE_FETCHING,	/* sync: artifacts */
	SUBMIT_STATE_REPORTED	/* STORED is awaited */
};

enum submit_gate {
	SUBMIT_GATE_CLOSED,	/* libcurl has not come to it */
	SUBMIT_GATE_ASKING,	/* MARK is out */
	SUBMIT_GATE_MARKED,
	SUBMIT_GATE_REFUSED	/* why says what for */
};

struct submit {
	struct worker		*w;
	struct http		*http;		/* made at the first request */
	enum submit_state	 state;
	enum submit_gate	 gate;
	char			 why[LIM_WORD + 1];	/* of a refusal */
	struct job		 job;
	struct http_call	 call;
	struct receipt		*receipt;	/* NULL: none (lookup) */
	struct receipt_facts	 facts;		/* strings borrowed */
	struct submit_verdict	 verdict;
	struct poll_verdict	 answer;	/* sync: result and artifacts */
	char			*excerpt;	/* of an unclear answer */
	char			 reason[LIM_WORD + 1];	/* facts' own */
	char			*detail;	/* facts' own */
	struct fetch		*fetch;
	struct event		*ev_retry;	/* whatever is tried again */
	unsigned int		 tries;		/* of the lookup */
	bool			 is_unwritten;	/* the outcome is not on disk */
};

/* submit.c */
void	submit_set_state(struct submit *, enum submit_state);
/* submit_end() closes the task; is_stored: the row has the outcome. */
void	submit_end(struct submit *, bool is_stored);
/* submit_reported() waits for STORED, or leaves when nobody will send it. */
void	submit_reported(struct submit *);
int	submit_need_http(struct submit *);

/* submit_send.c */
void	submit_send(struct submit *);
/* submit_refuse() closes the gate, or ends a connect that goes on. */
void	submit_refuse(struct submit *, const char *why);
/* submit_unsent() proves and reports that nothing left. */
void	submit_unsent(struct submit *, const char *reason, const char *detail);

/* submit_answer.c */
void	submit_on_answer(struct http_call *, void *);
/* submit_write_outcome() makes facts durable; a full disk is tried again. */
void	submit_write_outcome(struct submit *);
void	submit_fill_facts(struct submit *, enum receipt_class,
	    const char *reason, const char *detail);

/* submit_find.c */
void	submit_find(struct submit *);

/* submit_result.c: a sync provider's answer is the result */
/* submit_need_result() reads it: 0, or PO_E* when it cannot be read. */
int	submit_need_result(struct submit *);
void	submit_result_report(struct submit *);
void	submit_result_stored(struct submit *);

#endif
