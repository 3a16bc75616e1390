/*
 * outcome.c - THE function that says what a paid request came to.
 *
 * Pure.  Nothing here turns uncertain into "not sent": UNSENT needs the gate
 * as its witness, and every answer that is not whole, not listed or not
 * understood is UNKNOWN.
 */
#include "worker/outcome.h"

#include <stdio.h>

#include <curl/curl.h>

static void	outcome_set(struct outcome *, enum outcome_class,
		    const char *reason);
static void	outcome_unsent(const struct outcome_facts *,
		    struct outcome *);
static void	outcome_broken(const struct outcome_facts *,
		    struct outcome *);
static void	outcome_judged(const struct outcome_facts *,
		    struct outcome *);

void
outcome_decide(const struct outcome_facts *f, struct outcome *ret)
{
	ret->is_provider = false;
	if (f->gate_count == 0 && (f->code == CURLE_OK || f->status != 0)) {
		/* an answer to a request that we did not see leave */
		outcome_set(ret, OUTCOME_UNKNOWN, "gate_missed");
	} else if (!f->is_passed) {
		outcome_unsent(f, ret);
	} else if (f->gate_count != 1) {
		/* the first one left, the connection died, no second one */
		outcome_set(ret, OUTCOME_UNKNOWN, "no_answer");
		ret->is_provider = true;
	} else if (f->code != CURLE_OK || f->status == 0 || !f->has_verdict) {
		outcome_broken(f, ret);
	} else {
		outcome_judged(f, ret);
	}
}

const char *
outcome_name(enum outcome_class class)
{
	static const char *const names[OUTCOME_MAX] = {
		[OUTCOME_UNSENT] = "unsent",
		[OUTCOME_REJECTED] = "rejected",
		[OUTCOME_THROTTLED] = "throttled",
		[OUTCOME_ACCOUNT] = "account",
		[OUTCOME_ACCEPTED] = "accepted",
		[OUTCOME_RESULT] = "result",
		[OUTCOME_DUPLICATE] = "duplicate",
		[OUTCOME_UNKNOWN] = "unknown",
	};

	return (unsigned int)class < OUTCOME_MAX ? names[class] : "?";
}

static void
outcome_set(struct outcome *o, enum outcome_class class, const char *reason)
{
	o->class = class;
	(void)snprintf(o->reason, sizeof(o->reason), "%s", reason);
}

static void
outcome_unsent(const struct outcome_facts *f, struct outcome *o)
{
	const char *reason = "not_sent";

	if (f->gate_count > 0) {
		outcome_set(o, OUTCOME_UNSENT,
		    f->why != NULL ? f->why : "gate_refused");
		return;
	}
	switch (f->code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		reason = "resolve_failed";
		break;
	case CURLE_COULDNT_CONNECT:
		reason = "connect_failed";
		break;
	case CURLE_OPERATION_TIMEDOUT:
		reason = "connect_timeout";
		break;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
		reason = "tls_failed";
		break;
	default:
		break;
	}
	outcome_set(o, OUTCOME_UNSENT, reason);
}

/* The request left and there is no whole, readable answer. */
static void
outcome_broken(const struct outcome_facts *f, struct outcome *o)
{
	o->is_provider = true;
	if (f->is_too_big) {
		outcome_set(o, OUTCOME_UNKNOWN, "answer_too_big");
	} else if (f->code == CURLE_OPERATION_TIMEDOUT) {
		outcome_set(o, OUTCOME_UNKNOWN, "timeout");
	} else if (f->code == CURLE_OUT_OF_MEMORY ||
	    (f->code == CURLE_OK && f->status != 0 && !f->has_verdict)) {
		/* ours: no memory to read or to judge it */
		outcome_set(o, OUTCOME_UNKNOWN, "answer_not_judged");
		o->is_provider = false;
	} else if (f->status != 0 || f->code == CURLE_OK ||
	    f->code == CURLE_WEIRD_SERVER_REPLY ||
	    f->code == CURLE_UNSUPPORTED_PROTOCOL) {
		outcome_set(o, OUTCOME_UNKNOWN, "broken_answer");
	} else {
		outcome_set(o, OUTCOME_UNKNOWN, "no_answer");
	}
}

static void
outcome_judged(const struct outcome_facts *f, struct outcome *o)
{
	static const struct {
		enum outcome_class	 class;
		const char		*reason;
	} rows[SUBMIT_CLASS_MAX] = {
		[SUBMIT_ACCEPTED] = { OUTCOME_ACCEPTED, "" },
		[SUBMIT_RESULT] = { OUTCOME_RESULT, "" },
		[SUBMIT_REJECTED] = { OUTCOME_REJECTED, "rejected" },
		[SUBMIT_THROTTLED] = { OUTCOME_THROTTLED, "throttled" },
		[SUBMIT_ACCOUNT] = { OUTCOME_ACCOUNT, "account" },
		[SUBMIT_DUPLICATE] = { OUTCOME_DUPLICATE, "duplicate" },
		[SUBMIT_UNKNOWN] = { OUTCOME_UNKNOWN, NULL },
	};
	unsigned int v = f->verdict;

	if (v >= SUBMIT_CLASS_MAX)
		v = SUBMIT_UNKNOWN;
	if (v == SUBMIT_ACCEPTED && !f->has_id) {
		outcome_set(o, OUTCOME_UNKNOWN, "accepted_without_id");
		o->is_provider = true;
		return;
	}
	if (v == SUBMIT_DUPLICATE && f->has_id)
		v = SUBMIT_ACCEPTED;
	if (v != SUBMIT_UNKNOWN) {
		outcome_set(o, rows[v].class, v != SUBMIT_ACCEPTED &&
		    v != SUBMIT_RESULT && f->why != NULL ? f->why :
		    rows[v].reason);
		return;
	}
	o->is_provider = true;
	o->class = OUTCOME_UNKNOWN;
	if (f->why != NULL)
		outcome_set(o, OUTCOME_UNKNOWN, f->why);
	else
		(void)snprintf(o->reason, sizeof(o->reason), "http_%03d",
		    f->status);
}
