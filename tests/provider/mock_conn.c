/*
 * mock_conn.c - one client connection: reading requests, holding them,
 * ending them in each of the ways a network can.
 *
 * Owns every struct conn and its descriptor.  It must not know a provider's
 * shape: mock_route.c says what a request means.
 */
#include <sys/socket.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/provider/mock.h"

#define CONN_READ_LEN	(16 * 1024)
#define CONN_IDLE_S	300
#define CONN_COUNT_MAX	30000

TAILQ_HEAD(conn_list, conn);

static struct conn_list	conn_living = TAILQ_HEAD_INITIALIZER(conn_living);
static struct conn_list	conn_dead = TAILQ_HEAD_INITIALIZER(conn_dead);
static size_t		conn_count;

static void	conn_on_read(evutil_socket_t, short, void *);
static void	conn_on_write(evutil_socket_t, short, void *);
static void	conn_on_timer(evutil_socket_t, short, void *);
static int	conn_fill(struct conn *, bool *);
static void	conn_take_head(struct conn *, size_t);
static void	conn_refuse(struct conn *, int);

void
conn_new(int fd, bool is_foreign)
{
	static const struct timeval idle = { CONN_IDLE_S, 0 };
	const struct timeval *common;
	struct conn *conn = NULL;
	int on = 1;

	if (conn_count >= CONN_COUNT_MAX ||
	    (conn = mem_alloc(sizeof(*conn))) == NULL) {
		log_warnx("connection refused: %zu are open", conn_count);
		(void)close(fd);	/* nothing was promised on it */
		return;
	}
	conn->fd = fd;
	conn->is_foreign = is_foreign;
	buf_init(&conn->in, MOCK_HEAD_MAX + MOCK_BODY_MAX + CONN_READ_LEN);
	buf_init(&conn->out, MOCK_OUT_MAX);
	/* Only latency is at stake. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	common = event_base_init_common_timeout(mock.base, &idle);
	if (event_assign(&conn->ev_read, mock.base, fd, EV_READ | EV_PERSIST,
	    conn_on_read, conn) == -1 ||
	    event_assign(&conn->ev_write, mock.base, fd, EV_WRITE,
	    conn_on_write, conn) == -1 ||
	    evtimer_assign(&conn->ev_timer, mock.base, conn_on_timer,
	    conn) == -1 || event_add(&conn->ev_read, common) == -1) {
		log_warnx("connection: no event for it");
		(void)close(fd);
		mem_free(conn);
		return;
	}
	TAILQ_INSERT_TAIL(&conn_living, conn, entry);
	conn_count++;
	mock.stats.connections++;
}

/* conn_drop() ends it; with is_reset the peer sees a reset, not an end. */
void
conn_drop(struct conn *conn, bool is_reset)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (conn->state == CONN_DEAD)
		return;
	conn->state = CONN_DEAD;
	submit_gone(conn);
	admin_forget(conn);
	/* They are assigned: event_del() of an assigned event cannot fail. */
	(void)event_del(&conn->ev_read);
	(void)event_del(&conn->ev_write);
	(void)event_del(&conn->ev_timer);
	if (is_reset && setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &now,
	    sizeof(now)) == -1)
		log_warn("SO_LINGER");
	fd_close(&conn->fd);
	TAILQ_REMOVE(&conn_living, conn, entry);
	TAILQ_INSERT_TAIL(&conn_dead, conn, entry);
	conn_count--;
}

/* conn_reap() frees what died in this turn. */
void
conn_reap(void)
{
	struct conn *conn;

	while ((conn = TAILQ_FIRST(&conn_dead)) != NULL) {
		TAILQ_REMOVE(&conn_dead, conn, entry);
		buf_done(&conn->in);
		buf_done(&conn->out);
		mem_free(conn);
	}
}

void
conn_close_all(void)
{
	while (!TAILQ_EMPTY(&conn_living))
		conn_drop(TAILQ_FIRST(&conn_living), false);
	conn_reap();
}

/* A held connection is still read, so that the end of the peer is noticed. */
void
conn_hold(struct conn *conn)
{
	conn->state = CONN_HELD;
}

void
conn_hold_ms(struct conn *conn, int64_t ms, void (*on_timer)(struct conn *))
{
	struct timeval after = ms_to_timeval(ms);

	conn_hold(conn);
	conn->on_timer = on_timer;
	if (evtimer_add(&conn->ev_timer, &after) == -1)
		log_warnx("connection: no timer; its answer never leaves");
}

void
conn_release(struct conn *conn)
{
	(void)event_del(&conn->ev_timer);	/* assigned: cannot fail */
	conn->on_timer = NULL;
}

static void
conn_on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *conn = arg;
	void (*on_timer)(struct conn *) = conn->on_timer;

	(void)fd;
	(void)what;
	conn->on_timer = NULL;
	if (on_timer != NULL && conn->state != CONN_DEAD)
		on_timer(conn);
}

static void
conn_on_write(evutil_socket_t fd, short what, void *arg)
{
	struct conn *conn = arg;

	(void)fd;
	(void)what;
	answer_write(conn);
}

/*
 * Requests are taken from the buffer one after the other; a request that is
 * complete counts even when the peer is gone by now: the provider has it.
 */
static void
conn_on_read(evutil_socket_t fd, short what, void *arg)
{
	struct conn *conn = arg;
	bool is_ended = false;
	size_t len;

	(void)fd;
	if (what & EV_TIMEOUT) {
		if (conn->state != CONN_HELD)
			conn_drop(conn, false);
		return;
	}
	if (conn_fill(conn, &is_ended) != 0) {
		conn_drop(conn, false);
		return;
	}
	do {
		if (conn->state == CONN_HEAD) {
			len = http_head_len(&conn->in);
			if (len > MOCK_HEAD_MAX || (len == 0 &&
			    buf_left(&conn->in) > MOCK_HEAD_MAX))
				conn_refuse(conn, 431);
			else if (len > 0)
				conn_take_head(conn, len);
		}
		if (conn->state == CONN_BODY &&
		    buf_left(&conn->in) >= conn->req.body_len) {
			conn->state = CONN_HELD;
			route_body(conn);
			if (conn->state != CONN_DEAD)
				buf_consume(&conn->in, conn->req.body_len);
		}
	} while (conn->state == CONN_HEAD && http_head_len(&conn->in) > 0);
	if (is_ended)
		conn_drop(conn, false);
}

/* conn_fill() reads what is there; *ret_ended: the peer will send no more. */
static int
conn_fill(struct conn *conn, bool *ret_ended)
{
	uint8_t *room;
	ssize_t len;

	for (;;) {
		room = buf_reserve(&conn->in, CONN_READ_LEN);
		if (room == NULL)
			return -1;
		len = recv(conn->fd, room, CONN_READ_LEN, 0);
		if (len == -1 && errno == EINTR)
			continue;
		if (len == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (len <= 0) {
			*ret_ended = true;
			return 0;
		}
		conn->in.len += (size_t)len;
		if ((size_t)len < CONN_READ_LEN)
			return 0;
	}
}

static void
conn_take_head(struct conn *conn, size_t len)
{
	int status;

	status = http_parse((const char *)buf_head(&conn->in), len,
	    &conn->req);
	if (status != 0) {
		conn_refuse(conn, status);
		return;
	}
	buf_consume(&conn->in, len);
	conn->state = CONN_BODY;
	if (conn->is_foreign && strncmp(conn->req.path, "/_mock/", 7) != 0) {
		mock.stats.foreign++;
		mock.stats.foreign_keyed += conn->req.has_auth;
	}
	route_head(conn);
	if (conn->state == CONN_BODY && conn->req.is_expecting &&
	    buf_left(&conn->in) < conn->req.body_len &&
	    send(conn->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25,
	    MSG_NOSIGNAL) != 25)
		conn_drop(conn, false);
}

/* A malformed request has no end that could be trusted: answer and close. */
static void
conn_refuse(struct conn *conn, int status)
{
	mock.stats.malformed++;
	conn->req.is_kept = false;
	buf_reset(&conn->in);
	answer_error(conn, status, http_reason(status));
}
