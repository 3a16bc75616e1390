/*
 * reasons.c - the machine words of a row as sentences.  Pure.
 *
 * A word that is not here is shown as it is, with the row's own detail.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/story.h"
#include "common/task.h"

struct reason {
	const char	*word;
	const char	*sentence;
};

static const struct reason reasons[] = {
	/* parked */
	{ "died_in_send_window", "The worker died after it was allowed to "
	    "send and before the provider's answer was kept: it may have "
	    "been billed or not." },
	{ "accepted_without_id", "The provider accepted the request, but its "
	    "answer held no readable request id." },
	{ "no_answer", "The request went out and no answer came back: it may "
	    "have been billed or not." },
	{ "broken_answer", "The request went out and the answer broke off: it "
	    "may have been billed or not." },
	{ "timeout", "The request went out and no answer came in time: it "
	    "may have been billed or not." },
	{ "receipt_exists", "A receipt of this attempt says that a request "
	    "left: it may have been billed or not." },
	{ "answer_too_big", "The answer was too big to read." },
	{ "answer_not_judged", "The answer does not prove whether the request "
	    "was accepted." },
	{ "http_", "The provider's answer has a status that proves nothing: "
	    "it may have been billed or not." },
	{ "poll_deadline", "The provider was asked until the deadline and had "
	    "not finished; it may still finish." },
	{ "ended_with_nothing", "The provider says that it is done, but gave "
	    "no result." },
	{ "provider_gone", "The provider does not know the request any "
	    "more." },
	{ "foreign_poll_url", "The provider wants to be asked on a host that "
	    "its file does not allow." },
	{ "not_json", "The provider's answer is no JSON." },
	{ "foreign_url", "The result lies on a host that the provider's file "
	    "does not allow." },
	{ "result_too_large", "The result is larger than allowed." },
	{ "lookup_failed", "The provider could not be asked for our own id." },
	{ "lookup_missed", "The provider does not show our own id (yet): that "
	    "proves nothing." },
	/* failed */
	{ "provider_failed", "The provider says that it failed." },
	{ "provider_canceled", "The provider says that it was canceled "
	    "there." },
	{ "failed_by_provider", "The provider says that it failed." },
	{ "canceled_by_provider", "The provider says that it was canceled "
	    "there." },
	{ "max_requeues", "It was started too often." },
	{ "bad_input", "The input does not fit the provider's template." },
	{ "bad_output", "The program's output is no JSON." },
	{ "output_too_big", "The program printed too much." },
	/* back in the queue */
	{ "not_sent", "Nothing was sent." },
	{ "mark_timeout", "The database did not answer in time; nothing was "
	    "sent." },
	{ "mark_lost", "The database's permission to send was lost; nothing "
	    "was sent." },
	{ "mark_refused", "The database refused the permission to send; "
	    "nothing was sent." },
	{ "gate_refused", "The last check before sending said no; nothing "
	    "was sent." },
	{ "deadman_failed", "The host could not arm the timer that ends a "
	    "late worker; nothing was sent." },
	{ "orphaned", "The worker's supervisor was gone; the worker stopped "
	    "before it did more." },
	{ "receipt_unwritable", "The disk of the host refuses receipts: make "
	    "room in state_dir/receipts; nothing was sent." },
	{ "no_memory", "The host had no memory left for it." },
	{ "lease_lost", "The lease ended before it was done." },
	{ "connect_timeout", "The provider could not be reached in time; "
	    "nothing was sent." },
	{ "connect_failed", "No connection to the provider: see that the "
	    "host reaches it; nothing was sent." },
	{ "resolve_failed", "The provider's host name has no address: see "
	    "the host's DNS; nothing was sent." },
	{ "tls_failed", "The provider's certificate or TLS was refused: see "
	    "the host's clock and CA certificates; nothing was sent." },
	{ "worker_died", "The worker died; nothing had been sent." },
	/* canceled */
	{ "parent_failed", "A task before it did not succeed." },
};

const char *
words_reason(const char *status, const char *reason)
{
	size_t	 i;

	if (reason == NULL)
		return NULL;
	/* parked under the same word: then the status proved nothing */
	if (strcmp(status, "FAILED") == 0 && strncmp(reason, "http_", 5) == 0)
		return "The provider refused the request.";
	/* http_503 and the like share one sentence */
	if (strncmp(reason, "http_", 5) == 0)
		reason = "http_";
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(reasons[i].word, reason) == 0)
			return reasons[i].sentence;
	return NULL;
}

/* [from][to]; the row for "made" stands behind the statuses. */
static const char *const
sentences[TASK_STATUS_MAX + 1][TASK_STATUS_MAX] = {
	[TASK_STATUS_MAX] = {
		[TASK_PENDING] = "enqueued, ready to be claimed",
		[TASK_WAITING] = "enqueued, waits for the tasks before it",
	},
	[TASK_WAITING] = {
		[TASK_PENDING] = "the tasks before it are done: ready",
		[TASK_CANCELED] = "canceled before it was ready",
	},
	[TASK_PENDING] = {
		[TASK_RUNNING] = "claimed: a worker prepares it",
		[TASK_CANCELED] = "canceled, nothing was sent",
	},
	[TASK_RUNNING] = {
		[TASK_PENDING] = "back in the queue: nothing was billed",
		[TASK_RUNNING] = "goes on",
		[TASK_SUBMITTED] = "the provider accepted it and gave its id",
		[TASK_SUCCEEDED] = "succeeded, the result is saved",
		[TASK_FAILED] = "failed",
		[TASK_CANCELED] = "canceled, nothing was sent",
		[TASK_OUTCOME_UNKNOWN] = "parked: nobody knows whether the "
		    "provider billed it",
	},
	[TASK_SUBMITTED] = {
		[TASK_SUBMITTED] = "goes on by its request id, without "
		    "paying again",
		[TASK_SUCCEEDED] = "succeeded, the result is saved",
		[TASK_FAILED] = "the provider says that it failed",
		[TASK_OUTCOME_UNKNOWN] = "parked: a person decides",
	},
	[TASK_OUTCOME_UNKNOWN] = {
		[TASK_SUBMITTED] = "the request id was found: it goes on, "
		    "without paying again",
		[TASK_PENDING] = "a person decided to send it again",
		[TASK_FAILED] = "a person gave it up",
		[TASK_SUCCEEDED] = "its result was found",
		[TASK_OUTCOME_UNKNOWN] = "still parked",
	},
};

/* Events that do not change the status, and those that say more than it. */
static const struct {
	const char	*reason;
	const char	*sentence;
} by_reason[] = {
	{ "marked", "about to send: from here on it may be billed" },
	{ "result_saved", "the result is saved; its files are fetched" },
	{ "lease_expired", "the worker is gone: its lease ended" },
	{ "recovered", "taken over from where the row says it is" },
	{ "cancel_requested", "asked to cancel it" },
	{ "resolved_adopt", "a person found its request id: it goes on, "
	    "without paying again" },
	{ "resolved_requeue", "a person decided to send it again" },
	{ "resolved_failed", "a person gave it up" },
	{ "resolved_succeeded", "a person brought its result" },
	{ "receipt_submitted", "the local receipt holds the request id: it "
	    "goes on, without paying again" },
	{ "receipt_result", "the local receipt holds the result" },
	{ "receipt_rejected", "the local receipt says that the provider "
	    "refused it: nothing was billed" },
	{ "receipt_unsent", "the local receipt proves that nothing was sent" },
	{ "receipt_superseded", "a late receipt came: kept as a note only" },
	{ "parent_failed", "canceled: a task before it did not succeed" },
	{ "max_requeues", "failed: it was started too often" },
};

const char *
story_sentence(const char *from, const char *to, const char *reason)
{
	enum task_status	 f = TASK_STATUS_MAX, t;
	const char		*s = NULL;
	size_t			 i;

	for (i = 0; reason != NULL && i < sizeof(by_reason) /
	    sizeof(by_reason[0]); i++)
		if (strcmp(by_reason[i].reason, reason) == 0)
			return by_reason[i].sentence;
	if ((from == NULL || task_status_parse(from, &f) == 0) &&
	    to != NULL && task_status_parse(to, &t) == 0)
		s = sentences[f][t];
	return s != NULL ? s : to != NULL ? words_status(to) : "?";
}

bool
story_is_worth_saying(const char *reason)
{
	static const char *const	 plain[] = { "enqueued", "claimed",
		    "marked", "accepted", "result_saved", "lease_expired",
		    "recovered", "parents_succeeded", "completed",
		    "canceled", "cancel_requested", "succeeded", "done" };
	size_t				 i;

	if (reason == NULL || strncmp(reason, "resolved_", 9) == 0 ||
	    strncmp(reason, "receipt_", 8) == 0)
		return false;
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strcmp(plain[i], reason) == 0)
			return false;
	return true;
}
