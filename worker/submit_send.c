/*
 * submit_send.c - from an assigned task to the one request that may leave.
 *
 * The order is the product: dead-man timer, whole request, receipt intent on
 * the disk, connection; then, inside libcurl's pre-request callback, the mark.
 * Nothing may be put between MARKED and the return of submit_gate().
 */
#include "worker/submit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"

#define SUBMIT_GATE_MS	30000

static int	submit_build(struct submit *, struct request *);
static int	submit_intent(struct submit *);
static int	submit_gate(void *);
static int	submit_gate_refused(struct submit *, const char *why);
static void	submit_out(void *);

void
submit_send(struct submit *s)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	submit_set_state(s, SUBMIT_STATE_UNSENT);
	s->why[0] = '\0';
	if (deadman_arm(s->job.lease_end) < 0) {
		log_warn("task=%llu not sent: cannot arm the dead-man timer",
		    (unsigned long long)s->job.task);
		submit_unsent(s, "deadman_failed", NULL);
		return;
	}
	if (submit_build(s, &request) < 0 || submit_intent(s) < 0)
		goto out;
	INJECT("submit.intent");
	s->call.on_gate = submit_gate;
	s->call.on_out = submit_out;
	s->call.on_done = submit_on_answer;
	s->call.arg = s;
	if (submit_need_http(s) < 0 ||
	    http_start(s->http, HTTP_PAID, &request, &s->call) < 0)
		submit_unsent(s, "no_memory", "libcurl cannot start");
out:
	request_done(&request);
}

void
submit_refuse(struct submit *s, const char *why)
{
	if (s->gate != SUBMIT_GATE_CLOSED) {
		/*
		 * We are inside the gate, so inside libcurl: end nothing
		 * here.  MARKED may have come in the same read; what follows
		 * it still counts, nothing has left.
		 */
		s->gate = SUBMIT_GATE_REFUSED;
		(void)snprintf(s->why, sizeof(s->why), "%s", why);
		return;
	}
	http_cancel(&s->call);
	submit_unsent(s, why, NULL);
}

void
submit_unsent(struct submit *s, const char *reason, const char *detail)
{
	if (deadman_disarm() < 0)
		log_warn("cannot disarm the dead-man timer");
	submit_fill_facts(s, RECEIPT_UNSENT, reason, detail);
	submit_write_outcome(s);
	report_unsent(s->w, &s->job, reason, detail);
	submit_reported(s);
}

/* An input that does not fit the template is the task's own fault. */
static int
submit_build(struct submit *s, struct request *ret)
{
	struct task_context ctx;
	char *error = NULL;
	int rc = 0;

	job_context(&s->job, s->w, &ctx);
	rc = provider_build_submit(s->w->provider, &ctx, ret, &error);
	if (rc == PO_ENOMEM)
		submit_unsent(s, "no_memory", NULL);
	else if (rc < 0 && s->job.mode == ASSIGN_RESEND)
		submit_unsent(s, "bad_input", error);
	else if (rc < 0) {
		if (deadman_disarm() < 0)
			log_warn("cannot disarm the dead-man timer");
		report_rejected(s->w, &s->job, REJECT_TASK, "bad_input",
		    error, -1);
		submit_reported(s);
	}
	mem_free(error);
	return rc;
}

static int
submit_intent(struct submit *s)
{
	const char *why = NULL;
	char *detail = NULL;
	int rc = 0;

	submit_fill_facts(s, RECEIPT_INTENT, NULL, NULL);
	errno = 0;
	/* The row allows the same request again: a silence is no obstacle. */
	if (s->job.mode == ASSIGN_RESEND)
		rc = receipt_reopen(s->w->state_dir, &s->facts, &s->receipt);
	else
		rc = receipt_open(s->w->state_dir, &s->facts, &s->receipt);
	if (rc == 0)
		return 0;
	s->receipt = NULL;
	if (rc == PO_EEXIST) {
		log_warnx("task=%llu attempt=%llu not sent: a receipt of this "
		    "attempt says that a request left",
		    (unsigned long long)s->job.task,
		    (unsigned long long)s->job.attempt);
		if (deadman_disarm() < 0)
			log_warn("cannot disarm the dead-man timer");
		report_unknown(s->w, &s->job, "receipt_exists",
		    "a receipt of this attempt says that a request left",
		    false);
		submit_reported(s);
		return rc;
	}
	/* the person at the other end needs the disk's own word */
	why = errno == 0 || rc != PO_EIO ? po_strerror(rc) : strerror(errno);
	detail = mem_printf("%s/receipts: %s", s->w->state_dir, why);
	log_warnx("task=%llu not sent: receipt in %s/receipts: %s",
	    (unsigned long long)s->job.task, s->w->state_dir, why);
	submit_unsent(s, "receipt_unwritable", detail);
	mem_free(detail);
	return rc;
}

/*
 * submit_gate() runs inside libcurl, once connection and TLS are up.  0 lets
 * the request leave.  It blocks, at most until the lease ends: what else
 * would this process do?
 */
static int
submit_gate(void *arg)
{
	struct submit *s = arg;
	struct mono until = mono_add_ms(mono_now(), SUBMIT_GATE_MS);

	INJECT("submit.before_mark");
	if (s->w->is_leaving || s->state != SUBMIT_STATE_UNSENT)
		return submit_gate_refused(s, "leaving");
	if (!mono_is_before(mono_now(), s->job.lease_end))
		return submit_gate_refused(s, "lease_lost");
	if (s->job.mode == ASSIGN_RESEND)
		goto pass;
	s->gate = SUBMIT_GATE_ASKING;
	report_mark(s->w, &s->job);
	INJECT("submit.marking");
	loop_dispatch_all(s->w);
	while (s->gate == SUBMIT_GATE_ASKING && !s->w->is_leaving &&
	    mono_is_before(mono_now(), until) &&
	    mono_is_before(mono_now(), s->job.lease_end))
		loop_wait_frame(s->w, mono_is_before(until,
		    s->job.lease_end) ? until : s->job.lease_end);
	if (s->gate == SUBMIT_GATE_REFUSED)
		return submit_gate_refused(s, NULL);
	if (s->gate != SUBMIT_GATE_MARKED)
		return submit_gate_refused(s, "mark_timeout");
	INJECT("submit.marked");
	/* a process that slept here must not send on a lease that is over */
	if (s->w->is_orphan || s->w->is_leaving ||
	    !mono_is_before(mono_now(), s->job.lease_end))
		return submit_gate_refused(s, "lease_lost");
pass:
	submit_set_state(s, SUBMIT_STATE_SENT);
	return 0;
}

static int
submit_gate_refused(struct submit *s, const char *why)
{
	s->gate = SUBMIT_GATE_REFUSED;
	if (why != NULL)
		(void)snprintf(s->why, sizeof(s->why), "%s", why);
	return -1;
}

static void
submit_out(void *arg)
{
	struct submit *s = arg;

	if (deadman_disarm() < 0)
		log_warn("task=%llu cannot disarm the dead-man timer",
		    (unsigned long long)s->job.task);
	INJECT("submit.sent");
}
