/*
 * fuzz_chan.c - a channel on any stream, in any pieces.
 *
 * Input: direction (1 byte), size of the pieces (1 byte), then the stream.
 * The channel must find the frames that a plain walk over the whole stream
 * finds, and spend no more memory than a multiple of the bytes it got.
 */
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/message_tool.h"

const char *const fuzz_name = "fuzz_chan";

enum {
	OUT_EMPTY,
	OUT_INCOMPLETE,
	OUT_UNKNOWN,
	OUT_DIRECTION,
	OUT_LONG,
	OUT_RESERVED,
	OUT_BODY,
	OUT_PERMISSION,
	OUT_MANY,
	OUT_FRAMES	/* then one for each message */
};

const struct fuzz_outcome fuzz_outcomes[] = {
	[OUT_EMPTY] = { "empty", true },
	[OUT_INCOMPLETE] = { "incomplete", true },
	[OUT_UNKNOWN] = { "unknown_type", true },
	[OUT_DIRECTION] = { "wrong_direction", true },
	[OUT_LONG] = { "too_long", true },
	[OUT_RESERVED] = { "reserved", true },
	[OUT_BODY] = { "bad_body", true },
	[OUT_PERMISSION] = { "not_permitted", true },
	[OUT_MANY] = { "many_frames", true },
#define MSG(NAME, name, num, dir, roles, states, max)	{ #name, true },
#include "proto/messages.def"
	{ NULL, false }
};

static void
fuzz_seed_stream(enum msg_direction dir, uint8_t piece, size_t fill)
{
	static char filler[64];
	union tool_struct m;
	struct buf b, body;
	const uint8_t head[2] = { (uint8_t)dir, piece };
	size_t i = 0;

	buf_init(&b, FUZZ_INPUT_MAX);
	buf_init(&body, FUZZ_INPUT_MAX);
	fuzz_expect(buf_put(&b, head, 2) == 0, "memory for a seed");
	for (i = 0; i < sizeof(filler); i++)
		filler[i] = 'f';
	for (i = 0; i < TOOL_MESSAGES; i++) {
		if (tool_messages[i].direction != dir)
			continue;
		tool_fill(&tool_messages[i], filler, fill, &m);
		buf_reset(&body);
		tool_encode_body(&tool_messages[i], &m, &body);
		tool_encode_header(&b, buf_left(&body),
		    tool_messages[i].type);
		fuzz_expect(buf_put(&b, buf_head(&body), buf_left(&body)) ==
		    0, "memory for a seed");
	}
	fuzz_add(buf_head(&b), buf_left(&b));
	buf_done(&body);
	buf_done(&b);
}

void
fuzz_seed(void)
{
	fuzz_seed_stream(S2W, 255, 0);
	fuzz_seed_stream(S2W, 7, 9);
	fuzz_seed_stream(W2S, 255, 0);
	fuzz_seed_stream(W2S, 1, 40);
	fuzz_add("\0\377", 2);
}

/* The length of the frame at p, 0 at a stop, which *ret_outcome names. */
static size_t
fuzz_walk(const uint8_t *p, size_t len, enum msg_direction dir,
    size_t *ret_outcome)
{
	const struct tool_message *msg = NULL;
	size_t body = 0;

	*ret_outcome = len == 0 ? OUT_EMPTY : OUT_INCOMPLETE;
	if (len < PROTO_HEADER)
		return 0;
	body = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 |
	    p[3];
	msg = tool_find((unsigned int)p[4] << 8 | p[5]);
	if (msg == NULL)
		*ret_outcome = OUT_UNKNOWN;
	else if (msg->direction != dir)
		*ret_outcome = OUT_DIRECTION;
	else if (body > msg->max)
		*ret_outcome = OUT_LONG;
	else if (p[6] != 0 || p[7] != 0)
		*ret_outcome = OUT_RESERVED;
	else if (len - PROTO_HEADER >= body)
		return PROTO_HEADER + body;
	return 0;
}

static void
fuzz_take(const struct frame *f, enum msg_direction dir)
{
	const struct tool_message *msg = tool_find(f->type);
	union tool_struct m;

	fuzz_expect(msg != NULL, "a frame has a known type");
	if (msg_check(f->type, dir, R_POLL, C_BUSY, f->len) < 0)
		fuzz_count(OUT_PERMISSION);
	if (msg->unpack(f->body, f->len, &m) < 0)
		fuzz_count(OUT_BODY);
	else
		fuzz_count(OUT_FRAMES + (size_t)(msg - tool_messages));
}

/* Cuts what is there; *at is how far the plain walk has come. */
static int
fuzz_drain(struct chan *c, enum msg_direction dir, const uint8_t *data,
    size_t given, size_t *at, size_t *frames)
{
	struct frame f = { 0 };
	size_t outcome = 0, len = 0;
	int rc = 0;

	while ((rc = chan_next(c, &f)) == 0) {
		len = fuzz_walk(data + *at, given - *at, dir, &outcome);
		fuzz_expect(len == PROTO_HEADER + f.len, "the same frame");
		fuzz_take(&f, dir);
		*at += len;
		(*frames)++;
	}
	len = fuzz_walk(data + *at, given - *at, dir, &outcome);
	fuzz_expect(len == 0, "no frame is left behind");
	fuzz_expect((rc == PO_EAGAIN) == (outcome == OUT_EMPTY ||
	    outcome == OUT_INCOMPLETE), "the same stop");
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct chan *c = NULL;
	enum msg_direction dir = S2W;
	int fds[2] = { -1, -1 }, rc = PO_EAGAIN;
	size_t given = 0, piece = 0, n = 0, at = 0, frames = 0, outcome = 0;
	unsigned long before = 0;

	if (len < 2)
		return 0;
	dir = data[0] % 2 == 0 ? S2W : W2S;
	piece = (size_t)data[1] * data[1] + 1;
	data += 2;
	len -= 2;
	fuzz_expect(fd_pair(fds) == 0 && chan_new(fds[0], dir, &c) == 0,
	    "a channel");
	before = mem_asked_bytes();
	while (given < len && rc == PO_EAGAIN) {
		n = len - given < piece ? len - given : piece;
		fuzz_expect(fd_write_all(fds[1], data + given, n) == 0,
		    "the socket takes a piece");
		given += n;
		while ((rc = chan_read(c)) == 0)
			continue;
		fuzz_expect(rc == PO_EAGAIN, "everything was read");
		rc = fuzz_drain(c, dir, data, given, &at, &frames);
	}
	/* doubling, and the first step */
	fuzz_expect(mem_asked_bytes() - before <= 4 * len + 1024,
	    "memory follows the bytes received");
	(void)fuzz_walk(data + at, given - at, dir, &outcome);
	fuzz_count(outcome);
	if (frames >= 3)
		fuzz_count(OUT_MANY);
	chan_free(&c);
	fd_close(&fds[1]);
	return 0;
}
