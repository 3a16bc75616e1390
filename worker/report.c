/*
 * report.c - what a worker tells its supervisor.
 *
 * Owns nothing.  Texts for people are cut to their limit; what identifies or
 * costs money is never cut: a field that does not fit is the caller's to
 * handle.  A report that cannot be packed ends the worker: its lease then
 * expires, and row and receipt decide.
 */
#include "worker/worker.h"

#include <stddef.h>
#include <string.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/log.h"
#include "common/text.h"

static struct mp_bytes	report_clip(const char *, size_t max);
static void		report_note(struct worker *, const struct job *,
			    int permille, const char *note, bool is_account);
static void		report_sent(struct worker *, const struct job *,
			    const char *name, int rc);

#define REPORT(w, j, name, m)						\
	report_sent((w), (j), #name,					\
	    (w)->is_orphan ? 0 : msg_pack_##name(chan_out((w)->chan), (m)))

void
report_mark(struct worker *w, const struct job *j)
{
	const struct msg_mark m = { .task = j->task, .attempt = j->attempt };

	REPORT(w, j, mark, &m);
}

void
report_submitted(struct worker *w, const struct job *j,
    const struct submit_verdict *v)
{
	const struct msg_submitted m = {
		.task = j->task,
		.attempt = j->attempt,
		.request_id = mp_str(v->request_id),
		.poll_url = mp_str(v->poll_url),
		.result_url = mp_str(v->result_url),
		.cancel_url = mp_str(v->cancel_url),
		.cost = mp_str(v->cost),
		.currency = mp_str(v->currency),
		.trace = report_clip(v->trace, LIM_ID),
	};

	REPORT(w, j, submitted, &m);
}

void
report_progress(struct worker *w, const struct job *j, int permille,
    const char *note)
{
	report_note(w, j, permille, note, false);
}

void
report_account(struct worker *w, const struct job *j, const char *note)
{
	report_note(w, j, -1, note, true);
}

static void
report_note(struct worker *w, const struct job *j, int permille,
    const char *note, bool is_account)
{
	const struct msg_progress m = {
		.task = j->task,
		.attempt = j->attempt,
		.permille = permille,
		.note = report_clip(note, LIM_TEXT),
		.is_account = is_account,
	};

	REPORT(w, j, progress, &m);
}

void
report_result(struct worker *w, const struct job *j, const char *result,
    size_t len, const char *cost, const char *currency,
    int64_t fetch_within_ms)
{
	const struct msg_result m = {
		.task = j->task,
		.attempt = j->attempt,
		.result = mp_bytes(result, len),
		.cost = mp_str(cost),
		.currency = mp_str(currency),
		.fetch_within_ms = fetch_within_ms,
	};

	REPORT(w, j, result, &m);
}

void
report_done(struct worker *w, const struct job *j, const char *result,
    size_t len, const char *cost, const char *currency)
{
	const struct msg_done m = {
		.task = j->task,
		.attempt = j->attempt,
		.result = mp_bytes(result, len),
		.cost = mp_str(cost),
		.currency = mp_str(currency),
	};

	REPORT(w, j, done, &m);
}

void
report_rejected(struct worker *w, const struct job *j, enum reject_class class,
    const char *reason, const char *detail, int64_t retry_after_ms)
{
	const struct msg_rejected m = {
		.task = j->task,
		.attempt = j->attempt,
		.class = class,
		.reason = report_clip(reason, LIM_WORD),
		.detail = report_clip(detail, LIM_TEXT),
		.retry_after_ms = retry_after_ms,
	};

	REPORT(w, j, rejected, &m);
}

void
report_failed(struct worker *w, const struct job *j, const char *reason,
    const char *detail, const char *cost, const char *currency)
{
	const struct msg_failed m = {
		.task = j->task,
		.attempt = j->attempt,
		.reason = report_clip(reason, LIM_WORD),
		.detail = report_clip(detail, LIM_TEXT),
		.cost = mp_str(cost),
		.currency = mp_str(currency),
	};

	REPORT(w, j, failed, &m);
}

void
report_unknown(struct worker *w, const struct job *j, const char *reason,
    const char *detail, bool is_provider)
{
	const struct msg_unknown m = {
		.task = j->task,
		.attempt = j->attempt,
		.reason = report_clip(reason, LIM_WORD),
		.detail = report_clip(detail, LIM_TEXT),
		.is_provider = is_provider,
	};

	REPORT(w, j, unknown, &m);
}

void
report_unsent(struct worker *w, const struct job *j, const char *reason,
    const char *detail)
{
	const struct msg_unsent m = {
		.task = j->task,
		.attempt = j->attempt,
		.reason = report_clip(reason, LIM_WORD),
		.detail = report_clip(detail, LIM_TEXT),
	};

	REPORT(w, j, unsent, &m);
}

/*
 * Bad bytes travel as '?' (proto.h), so only the length is cut here, before
 * a broken character rather than inside one.
 */
static struct mp_bytes
report_clip(const char *s, size_t max)
{
	size_t len = 0;

	if (s == NULL)
		return mp_str(NULL);
	len = strnlen(s, max + 1);
	return mp_bytes(s, text_clip(s, len, max));
}

static void
report_sent(struct worker *w, const struct job *j, const char *name, int rc)
{
	if (w->is_orphan)
		return;
	if (rc < 0) {
		log_warnx("task=%llu attempt=%llu cannot report %s: %s; "
		    "leaving, the row and the receipt decide",
		    (unsigned long long)j->task,
		    (unsigned long long)j->attempt, name, po_strerror(rc));
		loop_leave(w, EXIT_CODE_FATAL);
		return;
	}
	loop_flush(w);
}
