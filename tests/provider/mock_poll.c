/*
 * mock_poll.c - how far a generation is, and the scripted answers of polls.
 *
 * Common to both shapes; the words and bodies are theirs.
 */
#include <stdio.h>
#include <string.h>

#include "tests/provider/mock.h"

enum end_how
poll_end(const struct row *row)
{
	return row->is_canceled ? END_CANCELED : script_of(row)->end;
}

/* The first half of its time a generation waits, then it runs. */
enum phase
poll_phase(const struct row *row)
{
	int64_t left_ms, total_ms;

	if (row->is_canceled)
		return PHASE_ENDED;
	if (script_of(row)->is_never)
		return PHASE_RUNNING;
	left_ms = mono_left_ms(row->ready_at);
	if (left_ms == 0)
		return PHASE_ENDED;
	total_ms = mono_diff_ms(row->ready_at, row->accepted_at);
	return left_ms > total_ms / 2 ? PHASE_QUEUED : PHASE_RUNNING;
}

/* poll_view() counts a poll; false: it was answered here. */
bool
poll_view(struct conn *conn, struct row *row, struct view *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->phase = poll_phase(row);
	mock.stats.polls++;
	mock.is_dirty = true;
	return poll_scripted(conn, row, &script_of(row)->polls,
	    row->poll_count++, ret);
}

/* poll_scripted() answers by the list's entry, or lets the shape do it. */
bool
poll_scripted(struct conn *conn, const struct row *row,
    const struct answers *answers, size_t turn, struct view *ret)
{
	static const char garbage[] = "{\"status\": \"COMP\001\377,,";
	const struct answer *answer;

	if (turn >= answers->count)
		return true;
	answer = &answers->list[turn];
	switch (answer->how) {
	case ANSWER_PENDING:
		ret->phase = PHASE_RUNNING;
		return true;
	case ANSWER_WORD:
		ret->phase = PHASE_RUNNING;
		ret->word = answer->word;
		return true;
	case ANSWER_FOREIGN_URL:
		ret->is_foreign = true;
		return true;
	case ANSWER_DROP_MID:
		ret->is_cut = true;
		return true;
	case ANSWER_STATUS:
		if (row->shape == SHAPE_FAL)
			fal_error(conn, answer->status, "scripted",
			    "scripted status", NULL);
		else
			replicate_error(conn, answer->status,
			    "scripted status", NULL);
		answer_start(conn);
		return false;
	case ANSWER_GARBAGE:
		answer_send(conn, 200, "application/json", NULL, garbage,
		    sizeof(garbage) - 1);
		answer_start(conn);
		return false;
	case ANSWER_EMPTY:
		answer_send(conn, 200, "application/json", NULL, "", 0);
		answer_start(conn);
		return false;
	case ANSWER_DROP:
		conn_drop(conn, false);
		return false;
	case ANSWER_HANG:
		conn_hold(conn);
		return false;
	default:
		return true;
	}
}

/* poll_put_base() writes the scheme and host that the client reached. */
int
poll_put_base(struct buf *out, const struct conn *conn, bool is_foreign)
{
	if (is_foreign)
		return buf_printf(out, "http://%s:%d", MOCK_FOREIGN,
		    (int)mock.port);
	return buf_printf(out, "http://%s", conn->req.host);
}

/* poll_send() sends a shape's body as the view wants it and frees it. */
void
poll_send(struct conn *conn, const struct view *view, int status,
    const char *headers, struct buf *body)
{
	answer_send(conn, status, "application/json", headers,
	    buf_head(body), buf_left(body));
	if (view != NULL && view->is_cut)
		answer_cut(conn);
	else
		answer_start(conn);
	buf_done(body);
}
