/*
 * mock_fal.c - the queue of fal: submit, status, result, cancel.
 *
 * What it copies from life: the sub-path of the model is dropped in the URLs
 * it gives out; COMPLETED is not success; the result's GET answers with the
 * model's own status; a result asked for too early is a 400; the billed
 * units are a header of the result alone.  The unit costs 1.
 */
#include <stdio.h>
#include <string.h>

#include "tests/provider/mock.h"

#define FAL_BODY_MAX	(64 * 1024)

static void	fal_status(struct conn *, struct row *);
static void	fal_result(struct conn *, struct row *);
static void	fal_cancel(struct conn *, struct row *);
static int	fal_put_urls(struct buf *, const struct conn *,
		    const struct row *, bool);
static int	fal_put_output(struct buf *, const struct conn *, struct row *,
		    bool);

/* POST /fal/{model...}, where a model has two segments or more */
const char *
fal_submit_model(const struct request *req, size_t *ret_len)
{
	const char *model = req->path + 5;
	const char *slash;

	if (strncmp(req->path, "/fal/", 5) != 0 ||
	    strcmp(req->method, "POST") != 0 ||
	    strstr(model, "/requests/") != NULL)
		return NULL;
	slash = strchr(model, '/');
	if (slash == NULL || slash == model || slash[1] == '\0')
		return NULL;
	*ret_len = strlen(model);
	return model;
}

/* fal_app_len() counts the first two segments of a model. */
static size_t
fal_app_len(const char *model)
{
	const char *slash = strchr(model, '/');

	if (slash == NULL)
		return strlen(model);
	return (size_t)(strchrnul(slash + 1, '/') - model);
}

/* fal_accepted() prepares the answer to a submit. */
void
fal_accepted(struct conn *conn, struct row *row, int status,
    bool is_foreign, bool has_id)
{
	struct buf body;
	char headers[80] = "", word[32];
	int rc;

	buf_init(&body, FAL_BODY_MAX);
	rc = buf_printf(&body, "{\"status\":\"%s\",\"queue_position\":0",
	    words_put_case(script_of(row)->word_case,
	    "IN_QUEUE", word, sizeof(word)));
	if (rc == 0 && has_id && row->is_accepted) {
		(void)snprintf(headers, sizeof(headers),	/* it fits */
		    "x-fal-request-id: %s\r\n", row->request_id);
		rc = buf_putc(&body, ',');
		if (rc == 0)
			rc = fal_put_urls(&body, conn, row, is_foreign);
	}
	if (rc == 0)
		rc = buf_putc(&body, '}');
	if (rc == 0)
		answer_send(conn, status, "application/json", headers,
		    buf_head(&body), buf_left(&body));
	else
		conn_drop(conn, true);
	buf_done(&body);
}

/* fal_error() prepares; the caller starts it. */
void
fal_error(struct conn *conn, int status, const char *type, const char *text,
    const char *headers)
{
	char body[512], lines[768];

	(void)snprintf(body, sizeof(body),	/* short literals */
	    "{\"detail\":\"%.200s\",\"error_type\":\"%.100s\"}", text, type);
	(void)snprintf(lines, sizeof(lines), "X-Fal-Error-Type: %.100s\r\n%s",
	    type, headers != NULL ? headers : "");
	answer_send(conn, status, "application/json", lines, body,
	    strlen(body));
}

static int
fal_put_urls(struct buf *out, const struct conn *conn, const struct row *row,
    bool is_foreign)
{
	static const struct {
		const char	*name;
		const char	*suffix;
	} urls[] = {
		{ "response_url", "" }, { "status_url", "/status" },
		{ "cancel_url", "/cancel" }
	};
	size_t i;
	int rc;

	rc = buf_printf(out, "\"request_id\":\"%s\"", row->request_id);
	for (i = 0; rc == 0 && i < 3; i++) {
		rc = buf_printf(out, ",\"%s\":\"", urls[i].name);
		if (rc == 0)
			rc = poll_put_base(out, conn, is_foreign);
		if (rc == 0)
			rc = buf_printf(out, "/fal/%.*s/requests/%s%s\"",
			    (int)fal_app_len(row->model), row->model,
			    row->request_id, urls[i].suffix);
	}
	return rc;
}

/* /fal/{owner}/{app}/requests/{id}[/status|/cancel] */
void
fal_route(struct conn *conn)
{
	const char *app = conn->req.path + 5;
	const char *id = strstr(app, "/requests/");
	const char *method = conn->req.method;
	const char *rest;
	size_t app_len;
	struct row *row = NULL;

	if (id != NULL) {
		app_len = (size_t)(id - app);
		id += strlen("/requests/");
		rest = strchrnul(id, '/');
		row = ledger_find(id, (size_t)(rest - id));
		/* The whole model in the path is what a client guessed. */
		if (row != NULL && (row->shape != SHAPE_FAL ||
		    fal_app_len(row->model) != app_len ||
		    strncmp(row->model, app, app_len) != 0))
			row = NULL;
	}
	if (row == NULL)
		answer_error(conn, 404, "Request not found");
	else if (strcmp(rest, "/status") == 0 && strcmp(method, "GET") == 0)
		fal_status(conn, row);
	else if (rest[0] == '\0' && strcmp(method, "GET") == 0)
		fal_result(conn, row);
	else if (strcmp(rest, "/cancel") == 0 && strcmp(method, "PUT") == 0)
		fal_cancel(conn, row);
	else
		answer_error(conn, 405, "Method Not Allowed");
}

static void
fal_status(struct conn *conn, struct row *row)
{
	static const char *const words[] = {
		[PHASE_QUEUED] = "IN_QUEUE", [PHASE_RUNNING] = "IN_PROGRESS",
		[PHASE_ENDED] = "COMPLETED"
	};
	struct view view;
	struct buf body;
	char word[32];
	int rc;

	if (!poll_view(conn, row, &view))
		return;
	buf_init(&body, FAL_BODY_MAX);
	rc = buf_printf(&body, "{\"status\":\"%s\",",
	    words_put_case(script_of(row)->word_case, view.word != NULL ?
	    view.word : words[view.phase], word, sizeof(word)));
	if (rc == 0 && view.phase == PHASE_QUEUED)
		rc = buf_puts(&body, "\"queue_position\":1,");
	if (rc == 0 && view.phase == PHASE_ENDED &&
	    poll_end(row) == END_CANCELED)
		rc = buf_puts(&body, "\"error\":\"Request was cancelled\","
		    "\"error_type\":\"client_cancelled\",");
	else if (rc == 0 && view.phase == PHASE_ENDED &&
	    (poll_end(row) == END_FAILED || poll_end(row) == END_DONE_ERROR))
		rc = buf_puts(&body, "\"error\":\"the model gave up\","
		    "\"error_type\":\"runner_error\",");
	if (rc == 0)
		rc = fal_put_urls(&body, conn, row, view.is_foreign);
	if (rc == 0)
		rc = buf_puts(&body, ",\"logs\":null}");
	if (rc != 0) {
		buf_done(&body);
		conn_drop(conn, true);
		return;
	}
	poll_send(conn, &view, view.phase == PHASE_ENDED ? 200 : 202, NULL,
	    &body);
}

static void
fal_result(struct conn *conn, struct row *row)
{
	struct view view = { .phase = poll_phase(row) };
	enum end_how end = poll_end(row);
	struct buf body;
	char headers[160];
	int rc = 0;

	mock.stats.results++;
	mock.is_dirty = true;
	if (!poll_scripted(conn, row, &script_of(row)->results,
	    row->result_count++, &view))
		return;
	(void)snprintf(headers, sizeof(headers), "x-fal-request-id: %s\r\n"
	    "x-fal-billable-units: %s\r\n", row->request_id, row->price);
	if (view.phase != PHASE_ENDED) {
		answer_error(conn, 400, "Request is still in progress");
		return;
	}
	if (end == END_RESULT_GONE) {
		answer_error(conn, 404, "Request not found");
		return;
	}
	if (end == END_FAILED || end == END_CANCELED ||
	    end == END_DONE_422) {
		fal_error(conn, 422, "runner_error", "the model gave up",
		    headers);
		answer_start(conn);
		return;
	}
	buf_init(&body, FAL_BODY_MAX);
	if (end == END_DONE_ERROR)
		rc = buf_puts(&body, "{\"error\":\"the model gave up\"}");
	else if (end == END_DONE_NOTHING)
		rc = buf_puts(&body, "{\"images\":[],\"seed\":1}");
	else
		rc = fal_put_output(&body, conn, row, view.is_foreign);
	if (rc != 0) {
		buf_done(&body);
		conn_drop(conn, true);
		return;
	}
	poll_send(conn, &view, 200, headers, &body);
}

static int
fal_put_output(struct buf *out, const struct conn *conn, struct row *row,
    bool is_foreign)
{
	enum artifact_kind kind = file_kind(row);
	int i, rc;

	if (kind == ARTIFACT_NONE)
		return buf_puts(out, "{\"output\":\"some text\"}");
	if (kind != ARTIFACT_IMAGE) {
		rc = buf_printf(out, "{\"%s\":{\"url\":\"",
		    kind == ARTIFACT_SOUND ? "audio" : "video");
		if (rc == 0)
			rc = file_put_url(out, conn, row, 0, is_foreign);
		if (rc == 0)
			rc = buf_printf(out, "\",\"content_type\":\"%s\"}}",
			    file_type(row));
		return rc;
	}
	rc = buf_puts(out, "{\"images\":[");
	for (i = 0; rc == 0 && i < script_of(row)->count; i++) {
		rc = buf_puts(out, i == 0 ? "{\"url\":\"" : ",{\"url\":\"");
		if (rc == 0)
			rc = file_put_url(out, conn, row, i, is_foreign);
		if (rc == 0)
			rc = buf_printf(out, "\",\"width\":%d,\"height\":%d,"
			    "\"content_type\":\"%s\"}", ARTIFACT_WIDTH,
			    ARTIFACT_HEIGHT, file_type(row));
	}
	if (rc == 0)
		rc = buf_puts(out, "],\"seed\":1}");
	return rc;
}

/* The money is gone: a cancel does not pay anything back. */
static void
fal_cancel(struct conn *conn, struct row *row)
{
	if (poll_phase(row) == PHASE_ENDED) {
		answer_json(conn, 400, NULL,
		    "{\"status\":\"ALREADY_COMPLETED\"}");
		return;
	}
	row->is_canceled = true;
	answer_json(conn, 202, NULL,
	    "{\"status\":\"CANCELLATION_REQUESTED\"}");
}
