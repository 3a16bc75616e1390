/*
 * mock_submit.c - a paid POST: the row, the mark, the charge, the answer.
 *
 * The order is the point.  The row exists once the head was read, and the
 * look-up of the mark starts right then; the charge is set once the body was
 * read; both are in the ledger (on disk, with a file) before a byte of the
 * answer leaves.  A client that dies on the way is charged all the same.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "tests/provider/mock.h"

static void	submit_force(struct row *, enum force);
static bool	submit_parse(struct row *, const char *, size_t, char *,
		    size_t);
static bool	submit_set_model(struct row *, const char *, size_t);
static void	submit_decide(struct row *);
static void	submit_settle(struct row *);
static void	submit_on_delay(struct conn *);
static void	submit_answer(struct conn *);
static void	submit_prepare(struct conn *);
static void	submit_accepted(struct conn *, int, bool, bool);
static void	submit_error(struct conn *, int, const char *, const char *);

static void
submit_behaviour(struct row *row, const char *word, int status)
{
	if (status != 0)	/* it was made to fit */
		(void)snprintf(row->behaviour, sizeof(row->behaviour),
		    "%s%d", word, status);
	else
		(void)snprintf(row->behaviour, sizeof(row->behaviour), "%s",
		    word);
}

void
submit_begin(struct conn *conn, enum shape shape, const char *model,
    size_t model_len)
{
	struct row *row = ledger_add(shape, &conn->req);

	if (row == NULL) {
		conn_drop(conn, true);
		return;
	}
	submit_behaviour(row, "no_body", 0);
	if (!submit_set_model(row, model, model_len))
		row->model[0] = '\0';
	row->conn = conn;
	conn->row = row;
	if (markdb_is_used() && row->has_task)
		markdb_ask(row);
	else
		row->has_mark = true;
}

/* submit_body() is called once, with the whole body at the buffer's head. */
void
submit_body(struct conn *conn)
{
	struct row *row = conn->row;
	char error[160];

	row->has_body = true;
	conn->is_open_submit = true;
	mock.stats.open++;
	mock.is_dirty = true;
	if (conn->force != FORCE_NONE) {
		submit_force(row, conn->force);
	} else if (!submit_parse(row, (const char *)buf_head(&conn->in),
	    conn->req.body_len, error, sizeof(error))) {
		log_warnx("task=%lld.%d answered 422: %s",
		    (long long)row->task, row->attempt, error);
		row->how = SUBMIT_STATUS;
		row->status = 422;
		submit_behaviour(row, "bad_request", 0);
	}
	submit_decide(row);
	submit_settle(row);
}

static void
submit_force(struct row *row, enum force force)
{
	switch (force) {
	case FORCE_401:
		row->how = SUBMIT_STATUS;
		row->status = 401;
		submit_behaviour(row, "unauthorized", 0);
		break;
	case FORCE_503:
		row->how = SUBMIT_STATUS;
		row->status = 503;
		submit_behaviour(row, "outage_503", 0);
		break;
	case FORCE_HANG:
		row->how = SUBMIT_HANG;
		submit_behaviour(row, "outage_hang", 0);
		break;
	case FORCE_DROP_IDLE:
		row->how = SUBMIT_DROP_AFTER_READ;
		submit_behaviour(row, "drop_idle", 0);
		break;
	case FORCE_NONE:
		break;
	}
}

/* fal: the body is the input; replicate: it is inside, maybe with a version */
static bool
submit_parse(struct row *row, const char *text, size_t len, char *error,
    size_t cap)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *body = NULL, *input, *script, *version;
	int64_t posts = 0, charged = 0;
	bool is_good = false;

	(void)snprintf(error, cap, "the body is no JSON object");
	if (tok != NULL)
		body = json_tokener_parse_ex(tok, text, (int)len);
	input = body;
	if (!json_object_is_type(body, json_type_object))
		goto out;
	if (row->shape == SHAPE_REPLICATE) {
		(void)snprintf(error, cap, "input is missing");
		if (!json_object_object_get_ex(body, "input", &input) ||
		    !json_object_is_type(input, json_type_object))
			goto out;
		if (row->model[0] == '\0' &&
		    json_object_object_get_ex(body, "version", &version) &&
		    !submit_set_model(row, json_object_get_string(version),
		    (size_t)json_object_get_string_len(version)))
			goto out;
	}
	if (json_object_object_get_ex(input, "mock", &script) &&
	    script != NULL) {
		row->script = script_parse(script, error, cap);
		row->script_text = mem_strdup(json_object_to_json_string_ext(
		    script, JSON_C_TO_STRING_PLAIN));
		if (row->script == NULL || row->script_text == NULL)
			goto out;
	}
	/* This POST is counted already. */
	row->is_scripted = row->script != NULL && (!row->script->is_once ||
	    !row->has_task || ledger_task_count(row->task, &posts,
	    &charged) != 0 || posts <= 1);
	is_good = true;
	if (!row->is_scripted)
		row->how = SUBMIT_OK;
	else {
		row->how = row->script->submit;
		row->status = row->script->status;
	}
	/* A redirect that was followed ends here, as a second row. */
	if (row->how == SUBMIT_REDIRECT && row->conn != NULL &&
	    strcmp(row->conn->req.query, "redirected=1") == 0)
		row->how = SUBMIT_OK;
	submit_behaviour(row, words_name(WORDS_SUBMIT, (int)row->how),
	    row->how == SUBMIT_STATUS || row->how == SUBMIT_REDIRECT ?
	    row->status : 0);
out:
	json_object_put(body);
	if (tok != NULL)
		json_tokener_free(tok);
	return is_good;
}

static bool
submit_set_model(struct row *row, const char *model, size_t len)
{
	size_t i;

	if (model == NULL || len >= sizeof(row->model))
		return false;
	for (i = 0; i < len; i++) {
		if (model[i] <= 0x20 || model[i] == 0x7f ||
		    model[i] == '"' || model[i] == '\\')
			return false;
		row->model[i] = model[i];
	}
	row->model[len] = '\0';
	return true;
}

/*
 * Who took the whole request and did not refuse it has started to work, and
 * bills: that is what a lost answer costs in life.
 */
static void
submit_decide(struct row *row)
{
	const struct script *script = script_of(row);
	const char *price = script->price;
	bool is_billed;
	int64_t latency_ms;

	is_billed = row->how != SUBMIT_DROP_BEFORE_READ &&
	    !(row->how == SUBMIT_STATUS && row->status >= 400 &&
	    row->status < 500);
	if (row->is_scripted && row->how != SUBMIT_OK && script->bill != -1 &&
	    strcmp(row->behaviour, "bad_request") != 0)
		is_billed = script->bill == 1;
	if (price[0] == '\0') {
		switch (file_kind(row)) {
		case ARTIFACT_SOUND: price = "0.015"; break;
		case ARTIFACT_CLIP: price = "0.50"; break;
		default: price = "0.03"; break;
		}
	}
	memcpy(row->price, price, strlen(price) + 1);
	if (!is_billed)
		return;
	latency_ms = script->latency_ms != -1 ? script->latency_ms :
	    mock.latency_ms;
	row->accepted_at = mono_now();
	row->ready_at = mono_add_ms(row->accepted_at, latency_ms);
	ledger_accept(row);
	ledger_charge(row);
}

/* submit_mark() brings the look-up's answer. */
void
submit_mark(struct row *row, enum mark mark)
{
	row->mark = mark;
	row->has_mark = true;
	submit_settle(row);
}

void
submit_gone(struct conn *conn)
{
	struct row *row = conn->row;

	if (conn->is_open_submit) {
		conn->is_open_submit = false;
		mock.stats.open--;
		mock.is_dirty = true;
	}
	if (row == NULL)
		return;
	conn->row = NULL;
	row->conn = NULL;
	row->has_body = true;	/* or it never comes */
	submit_settle(row);
}

static void
submit_settle(struct row *row)
{
	if (row->has_body && row->has_mark)
		ledger_settle(row);
}

/* submit_go() is called once the ledger has the row. */
void
submit_go(struct row *row)
{
	struct conn *conn = row->conn;

	if (conn == NULL || conn->state == CONN_DEAD)
		return;
	if (row->is_scripted && row->script->delay_ms > 0)
		conn_hold_ms(conn, row->script->delay_ms, submit_on_delay);
	else
		submit_answer(conn);
}

static void
submit_on_delay(struct conn *conn)
{
	if (conn->row != NULL)
		submit_answer(conn);
}

/* submit_answer() prepares the answer, then spoils its way out. */
static void
submit_answer(struct conn *conn)
{
	struct row *row = conn->row;

	switch (row->how) {
	case SUBMIT_DROP_BEFORE_READ:
		conn_drop(conn, true);
		return;
	case SUBMIT_DROP_AFTER_READ:
		conn_drop(conn, false);
		return;
	case SUBMIT_HANG:
		conn_hold(conn);
		return;
	default:
		submit_prepare(conn);
		break;
	}
	switch (row->how) {
	case SUBMIT_DROP_MID_ANSWER:
		answer_cut(conn);
		break;
	case SUBMIT_DRIP:
		answer_drip(conn, row->script->drip_ms);
		break;
	case SUBMIT_TWICE:
		answer_twice(conn);
		break;
	default:
		conn->drops_next = row->how == SUBMIT_CLOSE_IDLE;
		answer_start(conn);
		break;
	}
}

static void
submit_prepare(struct conn *conn)
{
	struct row *row = conn->row;
	static const char html[] = "<html><body><h1>It works</h1></body>"
	    "</html>\n";
	static const char garbage[] = "{\"status\":\"IN_QU\001\377\376,,}";
	char headers[512] = "";

	if (row->is_scripted && row->script->retry_after[0] != '\0')
		(void)snprintf(headers, sizeof(headers), /* 40 bytes at most */
		    "Retry-After: %s\r\n", row->script->retry_after);
	switch (row->how) {
	case SUBMIT_STATUS:
		if (row->status >= 300)
			submit_error(conn, row->status, "scripted status",
			    headers);
		else
			submit_accepted(conn, row->status, false, true);
		break;
	case SUBMIT_REDIRECT:
		(void)snprintf(headers, sizeof(headers), "Location: "
		    "http://%.100s%.300s?redirected=1\r\n", conn->req.host,
		    conn->req.path);
		submit_error(conn, row->status, "scripted redirect", headers);
		break;
	case SUBMIT_GARBAGE:
		answer_send(conn, 200, "application/json", NULL, garbage,
		    sizeof(garbage) - 1);
		break;
	case SUBMIT_EMPTY:
		answer_send(conn, 200, "application/json", NULL, "", 0);
		break;
	case SUBMIT_HTML_200:
		answer_send(conn, 200, "text/html", NULL, html,
		    sizeof(html) - 1);
		break;
	case SUBMIT_ERROR_200:
		submit_error(conn, 200, "scripted error", headers);
		break;
	default:
		submit_accepted(conn, row->shape == SHAPE_FAL ? 200 : 201,
		    row->how == SUBMIT_FOREIGN_URL,
		    row->how != SUBMIT_NO_ID);
		break;
	}
}

static void
submit_accepted(struct conn *conn, int status, bool is_foreign, bool has_id)
{
	if (conn->row->shape == SHAPE_FAL)
		fal_accepted(conn, conn->row, status, is_foreign, has_id);
	else
		replicate_accepted(conn, conn->row, status, is_foreign,
		    has_id);
}

static void
submit_error(struct conn *conn, int status, const char *text,
    const char *headers)
{
	if (conn->row->shape == SHAPE_FAL)
		fal_error(conn, status, "scripted", text, headers);
	else
		replicate_error(conn, status, text, headers);
}
