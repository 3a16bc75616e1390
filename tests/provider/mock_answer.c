/*
 * mock_answer.c - sending an answer: whole, in half, twice, or drop by drop.
 *
 * Works on a connection's out buffer.  It must not decide what is answered.
 * Between answer_send() and answer_start() the caller may spoil the answer.
 */
#include <sys/socket.h>

#include <errno.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "tests/provider/mock.h"

#define ANSWER_FILL_LEN	(64 * 1024)
#define ANSWER_DROPS	50

static void	answer_end(struct conn *);
static void	answer_on_drip(struct conn *);
static int	answer_fill(struct conn *);

/*
 * answer_send() prepares the whole answer; answer_start() lets it go.
 * headers: whole lines with CRLF, or NULL.
 */
void
answer_send(struct conn *conn, int status, const char *type,
    const char *headers, const void *body, size_t len)
{
	if (conn->state == CONN_DEAD)
		return;
	if (conn->is_open_submit) {
		conn->is_open_submit = false;
		mock.stats.open--;
		mock.is_dirty = true;
	}
	conn_release(conn);
	conn->state = CONN_WRITE;
	buf_reset(&conn->out);
	if (buf_printf(&conn->out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
	    "Content-Length: %zu\r\n%s%s\r\n", status, http_reason(status),
	    type, len, headers != NULL ? headers : "",
	    conn->req.is_kept ? "" : "Connection: close\r\n") != 0 ||
	    buf_put(&conn->out, body, len) != 0) {
		log_warnx("answer of %zu bytes does not fit, connection "
		    "dropped", len);
		conn_drop(conn, false);
	}
}

void
answer_json(struct conn *conn, int status, const char *headers,
    const char *json)
{
	answer_send(conn, status, "application/json", headers, json,
	    strlen(json));
	answer_start(conn);
}

void
answer_error(struct conn *conn, int status, const char *text)
{
	struct buf body;

	buf_init(&body, 4096);
	if (buf_printf(&body, "{\"detail\":\"%s\"}", text) != 0)
		conn_drop(conn, false);
	else
		answer_json(conn, status, NULL, buf_text(&body));
	buf_done(&body);
}

/* answer_stream() sends len bytes of filler without holding them. */
void
answer_stream(struct conn *conn, uint64_t len)
{
	if (conn->state == CONN_DEAD)
		return;
	conn_release(conn);
	conn->state = CONN_WRITE;
	buf_reset(&conn->out);
	conn->stream_left = len;
	if (buf_printf(&conn->out, "HTTP/1.1 200 OK\r\n"
	    "Content-Type: application/octet-stream\r\n"
	    "Content-Length: %llu\r\n\r\n", (unsigned long long)len) != 0)
		conn_drop(conn, false);
	else
		answer_start(conn);
}

/* answer_drip() lets the prepared answer take total_ms. */
void
answer_drip(struct conn *conn, int64_t total_ms)
{
	if (conn->state == CONN_DEAD)
		return;
	conn->drip_len = buf_left(&conn->out) / ANSWER_DROPS + 1;
	conn->drip_ms = total_ms / ANSWER_DROPS;
	conn_hold_ms(conn, conn->drip_ms, answer_on_drip);
	conn->state = CONN_WRITE;
}

/* answer_cut() keeps the head and half of the body, then comes the end. */
void
answer_cut(struct conn *conn)
{
	const uint8_t *head = buf_head(&conn->out);
	const uint8_t *body;
	size_t len = buf_left(&conn->out);

	if (conn->state == CONN_DEAD)
		return;
	body = memmem(head, len, "\r\n\r\n", 4);
	if (body != NULL) {
		body += 4;
		len -= (len - (size_t)(body - head) + 1) / 2;
		conn->out.len = conn->out.off + len;
	}
	conn->is_cut = true;
	answer_start(conn);
}

/* answer_twice() sends the same answer a second time behind the first. */
void
answer_twice(struct conn *conn)
{
	size_t len = buf_left(&conn->out);
	char *copy;

	if (conn->state == CONN_DEAD)
		return;
	copy = mem_strndup(buf_text(&conn->out), len);
	if (copy == NULL || buf_put(&conn->out, copy, len) != 0)
		conn_drop(conn, false);
	else
		answer_start(conn);
	mem_free(copy);
}

void
answer_start(struct conn *conn)
{
	if (conn->state == CONN_WRITE)
		answer_write(conn);
}

static void
answer_on_drip(struct conn *conn)
{
	ssize_t len = (ssize_t)buf_left(&conn->out);
	struct timeval after = ms_to_timeval(conn->drip_ms);

	if (len > (ssize_t)conn->drip_len)
		len = (ssize_t)conn->drip_len;
	len = send(conn->fd, buf_head(&conn->out), (size_t)len, MSG_NOSIGNAL);
	if (len == -1 && errno != EAGAIN && errno != EINTR) {
		conn_drop(conn, false);
		return;
	}
	if (len > 0)
		buf_consume(&conn->out, (size_t)len);
	if (buf_left(&conn->out) == 0) {
		answer_end(conn);
		return;
	}
	conn->on_timer = answer_on_drip;
	if (evtimer_add(&conn->ev_timer, &after) == -1)
		conn_drop(conn, false);
}

/* answer_write() goes on until all is out or the socket is full. */
void
answer_write(struct conn *conn)
{
	ssize_t len;

	if (conn->state != CONN_WRITE)
		return;
	for (;;) {
		if (buf_left(&conn->out) == 0 && answer_fill(conn) == 0)
			break;
		len = send(conn->fd, buf_head(&conn->out),
		    buf_left(&conn->out), MSG_NOSIGNAL);
		if (len == -1 && errno == EINTR)
			continue;
		if (len == -1 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			if (event_add(&conn->ev_write, NULL) == -1)
				conn_drop(conn, false);
			return;
		}
		if (len == -1) {
			conn_drop(conn, false);
			return;
		}
		buf_consume(&conn->out, (size_t)len);
	}
	answer_end(conn);
}

/* answer_fill() puts more filler into out; 0: there is no more. */
static int
answer_fill(struct conn *conn)
{
	uint64_t len = conn->stream_left;
	uint8_t *room;

	if (len == 0)
		return 0;
	if (len > ANSWER_FILL_LEN)
		len = ANSWER_FILL_LEN;
	buf_reset(&conn->out);
	room = buf_reserve(&conn->out, (size_t)len);
	if (room == NULL)
		return 0;
	memset(room, 'p', (size_t)len);
	conn->out.len += (size_t)len;
	conn->stream_left -= len;
	return 1;
}

static void
answer_end(struct conn *conn)
{
	conn->drip_len = 0;
	if (!conn->req.is_kept || conn->is_cut) {
		conn_drop(conn, false);
		return;
	}
	buf_reset(&conn->out);
	if (conn->row != NULL)
		conn->row->conn = NULL;
	conn->row = NULL;
	conn->state = CONN_HEAD;
	/* A pipelined request gives no event of its own. */
	if (buf_left(&conn->in) > 0)
		event_active(&conn->ev_read, EV_READ, 1);
}
