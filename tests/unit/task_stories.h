/*
 * task_stories.h - what happens to a task, and the calls that must follow.
 */
#ifndef PAYONCE_TESTS_TASK_STORIES_H
#define PAYONCE_TESTS_TASK_STORIES_H

#include "supervisor/task.h"

struct story {
	const char	*name;
	const char	*events;	/* by name, blank between */
	const char	*calls;
	enum tstate	 end;
	enum reject_class reject;
	enum receipt_class class;
	bool		 is_local;
};

#define SENT	"ROW_SUBMIT WORKER W_MARK D_WON "
#define C_SENT	"queue:submit submit mark tell_marked "

static const struct story stories[] = {
	{ .name = "happy path", .events = SENT "W_SUBMITTED D_WON WORKER "
	    "W_RESULT D_WON W_DONE D_WON",
	  .calls = C_SENT "record tell_stored:final queue:poll poll "
	    "save_result tell_stored complete tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "restored SUBMITTED row", .events = "ROW_POLL WORKER W_DONE "
	    "D_WON",
	  .calls = "queue:poll poll complete tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "sync provider", .events = SENT "W_RESULT D_WON W_DONE "
	    "D_WON",
	  .calls = C_SENT "save_result tell_stored complete tell_stored:final "
	    "closed", .end = TS_CLOSED },
	{ .name = "local program", .events = "ROW_EXEC WORKER W_PROGRESS "
	    "W_DONE D_WON", .is_local = true,
	  .calls = "queue:exec exec progress complete tell_stored:final "
	    "closed", .end = TS_CLOSED },
	/* rejections */
	{ .name = "the task's fault", .events = SENT "W_REJECTED D_WON",
	  .reject = REJECT_TASK,
	  .calls = C_SENT "reject tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "throttled", .events = SENT "W_REJECTED D_WON",
	  .reject = REJECT_THROTTLED,
	  .calls = C_SENT "release+unmark tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "account", .events = SENT "W_REJECTED D_WON",
	  .reject = REJECT_ACCOUNT,
	  .calls = C_SENT "release+unmark tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "rejected before the mark", .events = "ROW_SUBMIT WORKER "
	    "W_REJECTED D_WON", .reject = REJECT_TASK,
	  .calls = "queue:submit submit reject tell_stored:final closed",
	  .end = TS_CLOSED },
	/* nothing sent */
	{ .name = "a receipt knows more than the row", .events = "ROW_SUBMIT "
	    "WORKER W_UNKNOWN D_WON",
	  .calls = "queue:submit submit release tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "refused connection", .events = "ROW_SUBMIT WORKER W_UNSENT "
	    "D_WON",
	  .calls = "queue:submit submit release+unmark tell_stored:final "
	    "closed", .end = TS_CLOSED },
	{ .name = "mark lost", .events = "ROW_SUBMIT WORKER W_MARK D_LOST "
	    "W_UNSENT D_WON",
	  .calls = "queue:submit submit mark tell_refused release+unmark "
	    "tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "mark refused by the database", .events = "ROW_SUBMIT "
	    "WORKER W_MARK D_ERROR W_UNSENT D_WON",
	  .calls = "queue:submit submit mark tell_refused release+unmark "
	    "tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "worker gives up waiting for the mark", .events =
	    "ROW_SUBMIT WORKER W_MARK W_UNSENT D_WON D_WON",
	  .calls = "queue:submit submit mark release+unmark tell_stored:final "
	    "closed", .end = TS_CLOSED },
	{ .name = "canceled while it prepares", .events = "ROW_SUBMIT WORKER "
	    "CANCEL W_UNSENT D_WON",
	  .calls = "queue:submit submit cancel:canceled release+unmark "
	    "tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "stop while it waits", .events = "ROW_SUBMIT STOP D_WON",
	  .calls = "queue:submit unqueue release tell_stored:final closed",
	  .end = TS_CLOSED },
	/* ends that cost money, or may */
	{ .name = "provider says failed", .events = "ROW_POLL WORKER W_FAILED "
	    "D_WON",
	  .calls = "queue:poll poll fail tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "poll deadline", .events = "ROW_POLL WORKER W_UNKNOWN "
	    "D_WON",
	  .calls = "queue:poll poll park tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "no answer", .events = SENT "W_UNKNOWN D_WON",
	  .calls = C_SENT "park tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "program fails", .events = "ROW_EXEC WORKER W_FAILED D_WON",
	  .is_local = true,
	  .calls = "queue:exec exec fail tell_stored:final closed",
	  .end = TS_CLOSED },
	/* deaths */
	{ .name = "death before the mark", .events = "ROW_SUBMIT WORKER DEAD "
	    "D_WON",
	  .calls = "queue:submit submit expire closed", .end = TS_CLOSED },
	{ .name = "death while the mark is asked", .events = "ROW_SUBMIT "
	    "WORKER W_MARK DEAD D_WON D_WON",
	  .calls = "queue:submit submit mark release+unmark+count "
	    "tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "death after the permission", .events = SENT "DEAD D_WON",
	  .calls = C_SENT "expire closed", .end = TS_CLOSED },
	{ .name = "death after the id", .events = SENT "W_SUBMITTED DEAD "
	    "D_WON",
	  .calls = C_SENT "record tell_stored:final queue:poll",
	  .end = TS_POLL_WAIT },
	{ .name = "death of the poll worker", .events = "ROW_POLL WORKER DEAD "
	    "D_WON",
	  .calls = "queue:poll poll expire closed", .end = TS_CLOSED },
	{ .name = "death while the result is saved", .events = "ROW_POLL "
	    "WORKER W_RESULT DEAD D_WON D_WON",
	  .calls = "queue:poll poll save_result expire closed",
	  .end = TS_CLOSED },
	{ .name = "death while it is completed", .events = "ROW_POLL WORKER "
	    "W_DONE DEAD D_WON",
	  .calls = "queue:poll poll complete tell_stored:final closed",
	  .end = TS_CLOSED },
	/* lost leases */
	{ .name = "lease lost, not sent", .events = "ROW_SUBMIT WORKER "
	    "LEASE_LOST DEAD",
	  .calls = "queue:submit submit kill closed", .end = TS_CLOSED },
	{ .name = "lease lost, sent, id comes", .events = SENT "LEASE_LOST "
	    "W_SUBMITTED D_WON", .class = RECEIPT_SUBMITTED,
	  .calls = C_SENT "cancel:lease_lost evidence tell_stored:final "
	    "closed", .end = TS_CLOSED },
	{ .name = "lease lost, sent, no answer", .events = SENT "LEASE_LOST "
	    "W_UNKNOWN",
	  .calls = C_SENT "cancel:lease_lost tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "lease lost, unsent without a mark of ours", .events =
	    "ROW_SUBMIT WORKER LEASE_LOST W_UNSENT", .class = RECEIPT_UNSENT,
	  .calls = "queue:submit submit kill tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "lease lost while polling", .events = "ROW_POLL WORKER "
	    "LEASE_LOST",
	  .calls = "queue:poll poll cancel:lease_lost closed",
	  .end = TS_CLOSED },
	{ .name = "id comes for another token", .events = SENT "W_SUBMITTED "
	    "D_LOST D_WON", .class = RECEIPT_SUBMITTED,
	  .calls = C_SENT "record evidence tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "refusal comes for another token", .events = SENT
	    "W_REJECTED D_LOST D_WON", .class = RECEIPT_REJECTED,
	  .calls = C_SENT "reject evidence tell_stored:final closed",
	  .end = TS_CLOSED },
	/* what the database cannot hold */
	{ .name = "id that cannot be stored", .events = SENT "W_SUBMITTED "
	    "D_ERROR D_WON",
	  .calls = C_SENT "record park tell_stored:final closed",
	  .end = TS_CLOSED },
	{ .name = "local result that cannot be stored", .events = "ROW_EXEC "
	    "WORKER W_DONE D_ERROR D_WON", .is_local = true,
	  .calls = "queue:exec exec complete fail tell_stored:final closed",
	  .end = TS_CLOSED },
	/* recovery */
	{ .name = "nothing was sent", .events = "ROW_REQUEUE D_WON",
	  .calls = "release tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "died in the window", .events = "ROW_PARK D_WON",
	  .calls = "park tell_stored:final closed", .end = TS_CLOSED },
	{ .name = "orphan, then its receipt", .events = "ROW_ORPHAN "
	    "ROW_ORPHAN ROW_EVIDENCE D_WON D_WON",
	  .calls = "watch evidence expire closed", .end = TS_CLOSED },
	{ .name = "resend is answered", .events = "ROW_RESEND WORKER "
	    "W_SUBMITTED D_WON",
	  .calls = "queue:submit submit record tell_stored:final queue:poll",
	  .end = TS_POLL_WAIT },
	{ .name = "resend does not leave", .events = "ROW_RESEND WORKER "
	    "W_UNSENT D_WON",
	  .calls = "queue:submit submit tell_stored:final expire closed",
	  .end = TS_CLOSED },
	{ .name = "resend is throttled", .events = "ROW_RESEND WORKER "
	    "W_REJECTED D_WON", .reject = REJECT_THROTTLED,
	  .calls = "queue:submit submit tell_stored:final expire closed",
	  .end = TS_CLOSED },
	{ .name = "resend is refused", .events = "ROW_RESEND WORKER "
	    "W_REJECTED D_WON", .reject = REJECT_TASK,
	  .calls = "queue:submit submit park tell_stored:final closed",
	  .end = TS_CLOSED },
	/* leaving */
	{ .name = "stop after the permission", .events = SENT "STOP "
	    "W_SUBMITTED D_WON STOP D_WON",
	  .calls = C_SENT "record tell_stored:final queue:poll unqueue expire "
	    "closed", .end = TS_CLOSED },
	{ .name = "stop while polling", .events = "ROW_POLL WORKER STOP D_WON",
	  .calls = "queue:poll poll cancel:drain expire closed",
	  .end = TS_CLOSED },
	{ .name = "stop of a program", .events = "ROW_EXEC WORKER STOP "
	    "W_UNSENT D_WON", .is_local = true,
	  .calls = "queue:exec exec cancel:drain release+unmark "
	    "tell_stored:final closed", .end = TS_CLOSED },
};

#undef SENT
#undef C_SENT

#endif
