/*
 * outcome.h - what one paid request came to; pure.
 */
#ifndef PAYONCE_WORKER_OUTCOME_H
#define PAYONCE_WORKER_OUTCOME_H

#include <stdbool.h>

#include "provider/provider.h"

enum outcome_class {
	OUTCOME_UNSENT,		/* proof: no byte of the request left */
	OUTCOME_REJECTED,
	OUTCOME_THROTTLED,
	OUTCOME_ACCOUNT,
	OUTCOME_ACCEPTED,	/* an id */
	OUTCOME_RESULT,		/* sync: the result itself */
	OUTCOME_DUPLICATE,	/* our own id was accepted before: look it up */
	OUTCOME_UNKNOWN,
	OUTCOME_MAX
};

struct outcome_facts {
	int		 code;		/* CURLcode */
	unsigned int	 gate_count;	/* how often libcurl wanted to send */
	bool		 is_passed;	/* one request was let through */
	bool		 is_too_big;	/* we ended the answer */
	int		 status;	/* HTTP, 0 = none */
	bool		 has_verdict;	/* the whole answer was judged */
	enum submit_class verdict;
	bool		 has_id;
	const char	*why;		/* the judge's word, or the gate's */
};

struct outcome {
	enum outcome_class class;
	char		 reason[64];	/* machine word; "" when accepted */
	bool		 is_provider;	/* unknown: its doing, not ours */
};

/* outcome.c */
void		 outcome_decide(const struct outcome_facts *,
		    struct outcome *ret);
const char	*outcome_name(enum outcome_class);

#endif
