/*
 * mock_replicate.c - the predictions of Replicate: create, get, cancel.
 *
 * What it copies from life: one object for submit and poll; output is one
 * URL or a list; outputs vanish after a time (data_removed); the bill is
 * only a number of seconds.  A second costs 1.
 */
#include <stdio.h>
#include <string.h>

#include "tests/provider/mock.h"

#define REPLICATE_ROOT		"/replicate/v1/"
#define REPLICATE_BODY_MAX	(64 * 1024)

static int	replicate_put(struct buf *, const struct conn *, struct row *,
		    const struct view *, bool);
static int	replicate_put_output(struct buf *, const struct conn *,
		    struct row *, const struct view *);

static const char *
replicate_tail(const struct request *req)
{
	size_t len = strlen(REPLICATE_ROOT);

	return strncmp(req->path, REPLICATE_ROOT, len) == 0 ?
	    req->path + len : NULL;
}

/* POST models/{owner}/{name}/predictions, or predictions with a version */
const char *
replicate_submit_model(const struct request *req, size_t *ret_len)
{
	const char *tail = replicate_tail(req);
	const char *end;

	if (tail == NULL || strcmp(req->method, "POST") != 0)
		return NULL;
	*ret_len = 0;
	if (strcmp(tail, "predictions") == 0)
		return "";
	if (strncmp(tail, "models/", 7) != 0)
		return NULL;
	tail += 7;
	end = strchrnul(tail, '/');
	if (end == tail || *end == '\0' || end[1] == '/')
		return NULL;
	end = strchrnul(end + 1, '/');
	if (strcmp(end, "/predictions") != 0)
		return NULL;
	*ret_len = (size_t)(end - tail);
	return tail;
}

/* replicate_accepted() prepares the answer to a submit. */
void
replicate_accepted(struct conn *conn, struct row *row, int status,
    bool is_foreign, bool has_id)
{
	struct view view = {
		.phase = PHASE_QUEUED, .is_foreign = is_foreign
	};
	struct buf body;

	buf_init(&body, REPLICATE_BODY_MAX);
	if (replicate_put(&body, conn, row, &view,
	    has_id && row->is_accepted) == 0)
		answer_send(conn, status, "application/json", NULL,
		    buf_head(&body), buf_left(&body));
	else
		conn_drop(conn, true);
	buf_done(&body);
}

/* replicate_error() prepares; the caller starts it. */
void
replicate_error(struct conn *conn, int status, const char *text,
    const char *headers)
{
	char body[512];

	(void)snprintf(body, sizeof(body),	/* short literals */
	    "{\"title\":\"%s\",\"detail\":\"%.200s\",\"status\":%d}",
	    http_reason(status), text, status);
	answer_send(conn, status, "application/json", headers, body,
	    strlen(body));
}

/* predictions/{id}[/cancel] */
void
replicate_route(struct conn *conn)
{
	const char *tail = replicate_tail(&conn->req);
	const char *method = conn->req.method;
	const char *rest = "";
	struct row *row = NULL;
	struct view view = { .phase = PHASE_QUEUED };
	struct buf body;
	int status = 200;

	if (tail != NULL && strncmp(tail, "predictions/", 12) == 0) {
		tail += 12;
		rest = strchrnul(tail, '/');
		row = ledger_find(tail, (size_t)(rest - tail));
	}
	if (row == NULL || row->shape != SHAPE_REPLICATE) {
		replicate_error(conn, 404, "there is no such prediction",
		    NULL);
		answer_start(conn);
		return;
	}
	if (strcmp(rest, "/cancel") == 0 && strcmp(method, "POST") == 0) {
		if (poll_phase(row) != PHASE_ENDED)
			row->is_canceled = true;
		view.phase = poll_phase(row);
	} else if (rest[0] != '\0' || strcmp(method, "GET") != 0) {
		replicate_error(conn, 405, "not here", NULL);
		answer_start(conn);
		return;
	} else if (!poll_view(conn, row, &view)) {
		return;
	}
	buf_init(&body, REPLICATE_BODY_MAX);
	if (replicate_put(&body, conn, row, &view, true) != 0) {
		buf_done(&body);
		conn_drop(conn, true);
		return;
	}
	poll_send(conn, &view, status, NULL, &body);
}

static const char *
replicate_word(const struct row *row, const struct view *view)
{
	if (view->word != NULL)
		return view->word;
	if (view->phase != PHASE_ENDED)
		return view->phase == PHASE_QUEUED ? "starting" :
		    "processing";
	switch (poll_end(row)) {
	case END_FAILED:
	case END_DONE_422:
		return "failed";
	case END_CANCELED:
		return "canceled";
	default:
		return "succeeded";
	}
}

static int
replicate_put_urls(struct buf *out, const struct conn *conn,
    const struct row *row, bool is_foreign)
{
	int rc;

	rc = buf_printf(out, "\"id\":\"%s\",\"urls\":{\"get\":\"",
	    row->request_id);
	if (rc == 0)
		rc = poll_put_base(out, conn, is_foreign);
	if (rc == 0)
		rc = buf_printf(out, REPLICATE_ROOT "predictions/%s\","
		    "\"cancel\":\"", row->request_id);
	if (rc == 0)
		rc = poll_put_base(out, conn, is_foreign);
	if (rc == 0)
		rc = buf_printf(out, REPLICATE_ROOT "predictions/%s/cancel\"}"
		    ",", row->request_id);
	return rc;
}

static int
replicate_put(struct buf *out, const struct conn *conn, struct row *row,
    const struct view *view, bool has_id)
{
	enum end_how end = poll_end(row);
	bool is_ended = view->phase == PHASE_ENDED;
	bool is_error = is_ended && (end == END_FAILED ||
	    end == END_DONE_422 || end == END_DONE_ERROR);
	char word[40];
	int rc;

	rc = buf_putc(out, '{');
	if (rc == 0 && has_id)
		rc = replicate_put_urls(out, conn, row, view->is_foreign);
	if (rc == 0)
		rc = buf_printf(out, "\"model\":\"%s\",\"status\":\"%s\","
		    "\"error\":%s,\"logs\":\"\",\"data_removed\":%s,"
		    "\"output\":", row->model,
		    words_put_case(script_of(row)->word_case,
		    replicate_word(row, view), word, sizeof(word)),
		    is_error ? "\"the model gave up\"" : "null",
		    is_ended && end == END_RESULT_GONE ? "true" : "false");
	if (rc == 0)
		rc = replicate_put_output(out, conn, row, view);
	if (rc == 0 && is_ended)
		rc = buf_printf(out, ",\"metrics\":{\"predict_time\":%s,"
		    "\"total_time\":%s}", row->price, row->price);
	if (rc == 0)
		rc = buf_putc(out, '}');
	return rc;
}

static int
replicate_put_output(struct buf *out, const struct conn *conn,
    struct row *row, const struct view *view)
{
	enum end_how end = poll_end(row);
	enum artifact_kind kind = file_kind(row);
	int i, rc = 0;

	if (view->phase == PHASE_ENDED && end == END_DONE_NOTHING)
		return buf_puts(out, "[]");
	if (view->phase != PHASE_ENDED || end != END_DONE)
		return buf_puts(out, "null");
	if (kind == ARTIFACT_NONE)
		return buf_puts(out, "\"some text\"");
	if (kind != ARTIFACT_IMAGE) {
		rc = buf_putc(out, '"');
		if (rc == 0)
			rc = file_put_url(out, conn, row, 0,
			    view->is_foreign);
		return rc == 0 ? buf_putc(out, '"') : rc;
	}
	rc = buf_putc(out, '[');
	for (i = 0; rc == 0 && i < script_of(row)->count; i++) {
		rc = buf_puts(out, i == 0 ? "\"" : ",\"");
		if (rc == 0)
			rc = file_put_url(out, conn, row, i,
			    view->is_foreign);
		if (rc == 0)
			rc = buf_putc(out, '"');
	}
	return rc == 0 ? buf_putc(out, ']') : rc;
}
