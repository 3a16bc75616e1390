/*
 * chan.c - a non-blocking channel of frames over a stream socket.
 *
 * Owns its descriptor and two buffers.  Must not know an event loop, a role
 * or a state.  Memory follows the bytes received: a header is checked before
 * its body is waited for, and an announced length reserves nothing.
 */
#include <sys/socket.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/mono.h"
#include "proto/proto.h"

#define CHAN_READ_MAX	(64u << 10)	/* per chan_read() */
#define CHAN_OUT_MAX	(64u << 20)
#define CHAN_KEEP	(256u << 10)	/* an empty buffer may keep this */

struct chan {
	int			 fd;		/* -1 only while being freed */
	enum msg_direction	 in_dir;
	struct buf		 in;
	struct buf		 out;
	size_t			 borrowed;	/* frame that the caller has */
};

/* One for all channels: empty between calls, so idle ones cost nothing. */
static uint8_t	chan_chunk[CHAN_READ_MAX];

static size_t	chan_in_max(enum msg_direction);
static void	chan_release(struct chan *);
static void	chan_shrink(struct buf *);

int
chan_new(int fd, enum msg_direction in_dir, struct chan **ret)
{
	struct chan *c = NULL;

	if (fd_set_nonblock(fd) < 0)
		return PO_EIO;
	if ((c = mem_alloc(sizeof(*c))) == NULL)
		return PO_ENOMEM;
	c->fd = fd;
	c->in_dir = in_dir;
	buf_init(&c->in, chan_in_max(in_dir));
	buf_init(&c->out, CHAN_OUT_MAX);
	*ret = c;
	return 0;
}

void
chan_free(struct chan **c)
{
	if (*c == NULL)
		return;
	fd_close(&(*c)->fd);
	buf_done(&(*c)->in);
	buf_done(&(*c)->out);
	mem_free(*c);
	*c = NULL;
}

int
chan_fd(const struct chan *c)
{
	return c->fd;
}

int
chan_read(struct chan *c)
{
	size_t room = 0;
	ssize_t n = 0;
	int rc = 0;

	chan_release(c);
	room = c->in.max - buf_left(&c->in);
	if (room == 0)
		return 0;	/* the largest frame is here: cut it first */
	if (room > sizeof(chan_chunk))
		room = sizeof(chan_chunk);
	while ((n = recv(c->fd, chan_chunk, room, 0)) == -1 && errno == EINTR)
		continue;
	if (n == 0 || (n == -1 && errno == ECONNRESET))
		return PO_EOF;
	if (n == -1)
		return errno == EAGAIN ? PO_EAGAIN : PO_EIO;
	rc = buf_put(&c->in, chan_chunk, (size_t)n);
	explicit_bzero(chan_chunk, (size_t)n);
	return rc;
}

int
chan_next(struct chan *c, struct frame *ret)
{
	const uint8_t *h = NULL;
	const struct msg_row *row = NULL;
	unsigned int type = 0;
	size_t len = 0;

	chan_release(c);
	if (buf_left(&c->in) < PROTO_HEADER)
		return PO_EAGAIN;
	h = buf_head(&c->in);
	len = (size_t)h[0] << 24 | (size_t)h[1] << 16 | (size_t)h[2] << 8 |
	    h[3];
	type = (unsigned int)h[4] << 8 | h[5];
	row = msg_row(type);
	if (row == NULL || row->direction != c->in_dir || len > row->max ||
	    h[6] != 0 || h[7] != 0)
		return PO_EINVAL;	/* it stays: there is no way on */
	if (buf_left(&c->in) - PROTO_HEADER < len)
		return PO_EAGAIN;
	ret->type = type;
	ret->body = h + PROTO_HEADER;
	ret->len = len;
	c->borrowed = PROTO_HEADER + len;
	return 0;
}

struct buf *
chan_out(struct chan *c)
{
	return &c->out;
}

int
chan_flush(struct chan *c)
{
	ssize_t n = 0;

	while (buf_left(&c->out) > 0) {
		n = send(c->fd, buf_head(&c->out), buf_left(&c->out),
		    MSG_NOSIGNAL);
		if (n == -1) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				return PO_EAGAIN;
			return errno == EPIPE || errno == ECONNRESET ?
			    PO_EOF : PO_EIO;
		}
		buf_consume(&c->out, (size_t)n);
	}
	chan_shrink(&c->out);
	return 0;
}

size_t
chan_pending(const struct chan *c)
{
	return buf_left(&c->out);
}

int
chan_wait(struct chan *c, int timeout_ms)
{
	struct mono deadline = mono_add_ms(mono_now(), timeout_ms);
	struct pollfd p = { .fd = c->fd };
	int64_t left = 0;
	int n = 0, rc = 0;

	for (;;) {
		if ((rc = chan_flush(c)) < 0 && rc != PO_EAGAIN)
			return rc;
		p.events = rc == PO_EAGAIN ? POLLIN | POLLOUT : POLLIN;
		left = mono_left_ms(deadline);
		n = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);
		if (n == -1 && errno != EINTR)
			return PO_EIO;
		/* hang-up and error count as readable: chan_read() tells */
		if (n == 1 && (p.revents & ~POLLOUT) != 0)
			return 0;
		if (n <= 0 && mono_left_ms(deadline) == 0)
			return PO_EAGAIN;
	}
}

/* chan_in_max() is the largest frame that may come from that side. */
static size_t
chan_in_max(enum msg_direction dir)
{
	const struct msg_row *row = NULL;
	size_t max = 0;
	unsigned int type = 0;

	for (type = 0; type < MSG_TYPE_MAX; type++) {
		row = msg_row(type);
		if (row != NULL && row->direction == dir && row->max > max)
			max = row->max;
	}
	return PROTO_HEADER + max;
}

/* chan_release() ends the loan of the last frame. */
static void
chan_release(struct chan *c)
{
	if (c->borrowed == 0)
		return;
	buf_consume(&c->in, c->borrowed);
	c->borrowed = 0;
	chan_shrink(&c->in);
}

static void
chan_shrink(struct buf *b)
{
	if (buf_left(b) == 0 && b->cap > CHAN_KEEP)
		buf_done(b);
}
