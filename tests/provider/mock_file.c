/*
 * mock_file.c - artifacts behind URLs: giving the URL out, and the download.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/num.h"
#include "tests/provider/mock.h"

#define FILE_MAX	(8 * 1024 * 1024)

static struct row *file_find(const struct conn *, int *);
static void	file_answer(struct conn *);
static void	file_send(struct conn *, const struct row *, int,
		    const struct view *);

static bool
file_names(const struct row *row, const char *part)
{
	return strcasestr(row->model, part) != NULL;
}

enum artifact_kind
file_kind(const struct row *row)
{
	enum artifact_kind kind = script_of(row)->artifact;

	if (kind != ARTIFACT_BY_MODEL)
		return kind;
	if (file_names(row, "speech") || file_names(row, "tts"))
		return ARTIFACT_SOUND;
	if (file_names(row, "clip") || file_names(row, "video") ||
	    file_names(row, "veo"))
		return ARTIFACT_CLIP;
	return ARTIFACT_IMAGE;
}

const char *
file_type(const struct row *row)
{
	if (script_of(row)->fault == FAULT_HUGE)
		return "application/octet-stream";
	switch (file_kind(row)) {
	case ARTIFACT_SOUND: return "audio/wav";
	case ARTIFACT_CLIP: return "video/x-yuv4mpeg";
	default: return "image/png";
	}
}

static const char *
file_ending(const struct row *row)
{
	if (script_of(row)->fault == FAULT_HUGE)
		return "bin";
	switch (file_kind(row)) {
	case ARTIFACT_SOUND: return "wav";
	case ARTIFACT_CLIP: return "y4m";
	default: return "png";
	}
}

/* Each time an output is given out its URLs are new: ?v= counts. */
int
file_put_url(struct buf *out, const struct conn *conn, struct row *row,
    int index, bool is_foreign)
{
	int rc;

	if (index == 0)
		row->mint_count++;
	rc = poll_put_base(out, conn, is_foreign ||
	    script_of(row)->fault == FAULT_FOREIGN);
	if (rc == 0)
		rc = buf_printf(out, "/files/%s/%d.%s?v=%zu", row->request_id,
		    index, file_ending(row), row->mint_count);
	return rc;
}

/* GET /files/{id}/{index}.{ending} */
void
file_route(struct conn *conn)
{
	struct row *row;
	int index;

	mock.stats.downloads++;
	mock.stats.downloads_keyed += conn->req.has_auth;
	mock.is_dirty = true;
	row = file_find(conn, &index);
	if (row == NULL || strcmp(conn->req.method, "GET") != 0)
		answer_error(conn, 404, "there is no such file");
	else if (script_of(row)->artifact_delay_ms > 0)
		conn_hold_ms(conn, script_of(row)->artifact_delay_ms,
		    file_answer);
	else
		file_answer(conn);
}

static struct row *
file_find(const struct conn *conn, int *ret_index)
{
	const char *id = conn->req.path + strlen("/files/");
	const char *rest = strchrnul(id, '/');
	struct row *row;
	int64_t index;
	char text[8] = "";

	row = ledger_find(id, (size_t)(rest - id));
	if (row == NULL || poll_phase(row) != PHASE_ENDED || *rest == '\0')
		return NULL;
	rest++;
	(void)snprintf(text, sizeof(text), "%.*s",
	    (int)strcspn(rest, "."), rest);	/* cut short: not found */
	if (num_parse_i64(text, 0, 15, &index) != 0 ||
	    index >= script_of(row)->count)
		return NULL;
	rest = strchrnul(rest, '.');
	if (*rest == '\0' || strcmp(rest + 1, file_ending(row)) != 0)
		return NULL;
	*ret_index = (int)index;
	return row;
}

static void
file_answer(struct conn *conn)
{
	struct view view = { .phase = PHASE_ENDED };
	const struct script *script;
	struct row *row;
	char headers[1024];
	int64_t version = 0;
	int index = 0;

	row = file_find(conn, &index);
	if (row == NULL) {
		answer_error(conn, 404, "there is no such file");
		return;
	}
	script = script_of(row);
	if (!poll_scripted(conn, row, &script->downloads,
	    row->download_count++, &view))
		return;
	(void)http_query_i64(&conn->req, "v", &version);	/* or 0 */
	if (script->fault == FAULT_GONE) {
		answer_error(conn, 404, "expired");
	} else if (script->fault == FAULT_GONE_ONCE && version < 2) {
		answer_error(conn, 403, "expired: ask for a new URL");
	} else if (script->fault == FAULT_REDIRECT_FOREIGN &&
	    !conn->is_foreign) {
		(void)snprintf(headers, sizeof(headers), "Location: http://"
		    MOCK_FOREIGN ":%d%.900s\r\n", (int)mock.port,
		    conn->req.path);
		answer_json(conn, 302, headers, "{}");
	} else if (script->fault == FAULT_HUGE) {
		answer_stream(conn, script->huge_len);
	} else {
		file_send(conn, row, index, &view);
	}
}

static void
file_send(struct conn *conn, const struct row *row, int index,
    const struct view *view)
{
	uint64_t number = row->has_task ? (uint64_t)row->task : row->seq;
	struct buf body;
	int rc;

	buf_init(&body, FILE_MAX);
	switch (file_kind(row)) {
	case ARTIFACT_SOUND:
		rc = wav_put(&body, number);
		break;
	case ARTIFACT_CLIP:
		rc = y4m_put(&body, number);
		break;
	default:
		rc = png_put(&body, number, (unsigned int)index);
		break;
	}
	if (rc != 0) {
		conn_drop(conn, true);
	} else {
		answer_send(conn, 200, file_type(row), NULL, buf_head(&body),
		    buf_left(&body));
		if (view->is_cut)
			answer_cut(conn);
		else if (script_of(row)->fault == FAULT_DRIP)
			answer_drip(conn, script_of(row)->drip_ms);
		else
			answer_start(conn);
	}
	buf_done(&body);
}
