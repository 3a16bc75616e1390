/*
 * check_chan.c - a channel cuts frames out of any stream, refuses bad ones,
 * and spends memory on bytes received only.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/mono.h"
#include "tests/unit/message_tool.h"
#include "tests/unit/suite.h"

static struct chan	*chan;		/* a supervisor's end */
static int		 peer;		/* the worker's end, raw */

static void
setup(void)
{
	int fds[2] = { -1, -1 };

	ck_assert_int_eq(fd_pair(fds), 0);
	ck_assert_int_eq(chan_new(fds[0], W2S, &chan), 0);
	ck_assert_int_eq(chan_fd(chan), fds[0]);
	peer = fds[1];
}

static void
teardown(void)
{
	chan_free(&chan);
	chan_free(&chan);
	fd_close(&peer);
}

static void
feed(const void *p, size_t len)
{
	ck_assert_int_eq(fd_write_all(peer, p, len), 0);
}

/* A MARK for task 7 and one with a text. */
static void
two_frames(struct buf *b)
{
	struct msg_mark mark = { .task = 7, .attempt = 1 };
	struct msg_failed failed = { .task = 8, .attempt = 2 };

	failed.reason = mp_str("failed");
	failed.detail = mp_str("no such model");
	failed.cost = mp_str("0.01");
	failed.currency = mp_str("USD");
	ck_assert_int_eq(msg_pack_mark(b, &mark), 0);
	ck_assert_int_eq(msg_pack_failed(b, &failed), 0);
}

static void
expect_mark(void)
{
	struct msg_mark mark = { 0 };
	struct frame f = { 0 };

	ck_assert_int_eq(chan_next(chan, &f), 0);
	ck_assert_uint_eq(f.type, MSG_MARK);
	ck_assert_int_eq(msg_unpack_mark(f.body, f.len, &mark), 0);
	ck_assert_uint_eq(mark.task, 7);
}

static void
expect_failed(void)
{
	struct msg_failed failed = { 0 };
	struct frame f = { 0 };

	ck_assert_int_eq(chan_next(chan, &f), 0);
	ck_assert_uint_eq(f.type, MSG_FAILED);
	ck_assert_int_eq(msg_unpack_failed(f.body, f.len, &failed), 0);
	ck_assert_uint_eq(failed.detail.len, 13);
	ck_assert_mem_eq(failed.detail.p, "no such model", 13);
}

START_TEST(test_byte_by_byte)
{
	struct buf b;
	struct frame f = { 0 };
	size_t first = 0, i = 0;

	buf_init(&b, 1000);
	two_frames(&b);
	first = 8 + buf_head(&b)[3];
	ck_assert_int_eq(chan_read(chan), PO_EAGAIN);
	for (i = 0; i < buf_left(&b); i++) {
		if (i == first)
			expect_mark();
		ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
		feed(buf_head(&b) + i, 1);
		ck_assert_int_eq(chan_read(chan), 0);
		ck_assert_int_eq(chan_read(chan), PO_EAGAIN);
	}
	expect_failed();
	ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
	buf_done(&b);
}
END_TEST

/* What had arrived whole before the end is still given. */
START_TEST(test_eof)
{
	struct buf b;
	struct frame f = { 0 };

	buf_init(&b, 1000);
	two_frames(&b);
	feed(buf_head(&b), buf_left(&b) - 1);
	fd_close(&peer);
	ck_assert_int_eq(chan_read(chan), 0);
	ck_assert_int_eq(chan_read(chan), PO_EOF);
	expect_mark();
	ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
	ck_assert_int_eq(chan_read(chan), PO_EOF);
	buf_done(&b);
}
END_TEST

static const struct {
	const char	*why;
	unsigned char	 header[PROTO_HEADER];
	int		 rc;
} headers[] = {
	{ "a BEAT", { 0, 0, 0, 9, 0, 102, 0, 0 }, PO_EAGAIN },
	{ "type 0", { 0, 0, 0, 9, 0, 0, 0, 0 }, PO_EINVAL },
	{ "unknown type", { 0, 0, 0, 9, 0, 199, 0, 0 }, PO_EINVAL },
	{ "type over the table", { 0, 0, 0, 9, 255, 255, 0, 0 }, PO_EINVAL },
	{ "type in the high byte", { 0, 0, 0, 9, 102, 0, 0, 0 }, PO_EINVAL },
	{ "the other direction", { 0, 0, 0, 9, 0, 3, 0, 0 }, PO_EINVAL },
	{ "reserved 1", { 0, 0, 0, 9, 0, 102, 1, 0 }, PO_EINVAL },
	{ "reserved 2", { 0, 0, 0, 9, 0, 102, 0, 1 }, PO_EINVAL },
	{ "16 KiB", { 0, 0, 0x40, 0, 0, 102, 0, 0 }, PO_EAGAIN },
	{ "16 KiB + 1", { 0, 0, 0x40, 1, 0, 102, 0, 0 }, PO_EINVAL },
	{ "25 MiB", { 1, 0x90, 0, 0, 0, 107, 0, 0 }, PO_EAGAIN },
	{ "25 MiB + 1", { 1, 0x90, 0, 1, 0, 107, 0, 0 }, PO_EINVAL },
	{ "4 GiB", { 255, 255, 255, 255, 0, 107, 0, 0 }, PO_EINVAL },
	{ "text", "GET / HT", PO_EINVAL },
};

START_TEST(test_headers)
{
	struct frame f = { 0 };
	unsigned long before = 0;
	size_t i = 0;

	before = mem_asked_bytes();
	for (i = 0; i < PROTO_HEADER; i++) {
		ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
		feed(headers[_i].header + i, 1);
		ck_assert_int_eq(chan_read(chan), 0);
	}
	ck_assert_msg(chan_next(chan, &f) == headers[_i].rc, "%s",
	    headers[_i].why);
	/* what was announced took nothing */
	ck_assert_uint_le(mem_asked_bytes() - before, 1024);
	if (headers[_i].rc == PO_EAGAIN)
		return;
	/* there is no way back into step */
	feed("\0\0\0\2\0\146\0\0\221\0", 10);
	ck_assert_int_eq(chan_read(chan), 0);
	ck_assert_int_eq(chan_next(chan, &f), PO_EINVAL);
}
END_TEST

/* The inputs that make libmsgpack's unpacker take megabytes. */
static const struct {
	const char	*why;
	const char	*body;
	size_t		 len;
} bombs[] = {
	{ "array of 2^20", "\xdd\x00\x10\x00\x00", 5 },
	{ "map of 2^20", "\xdf\x00\x10\x00\x00", 5 },
	{ "array of 2^32 - 1", "\xdd\xff\xff\xff\xff", 5 },
	{ "map of 2^32 - 1", "\xdf\xff\xff\xff\xff", 5 },
	{ "text of 2^32 - 1", "\x96\x01\x01\xdb\xff\xff\xff\xff", 8 },
	{ "bytes of 2^32 - 1", "\x95\x01\x01\xc6\xff\xff\xff\xff", 8 },
	{ "extension of 2^32 - 1", "\xc9\xff\xff\xff\xff\x01", 6 },
};

static void
expect_cheap(const void *p, size_t len)
{
	unsigned long before = mem_asked_bytes();
	struct mallinfo2 heap = mallinfo2(), after = { 0 };
	union tool_struct m;
	struct buf b;
	struct frame f = { 0 };
	size_t i = 0;

	for (i = 0; i < TOOL_MESSAGES; i++) {
		if (tool_messages[i].direction != W2S)
			continue;
		buf_init(&b, 4096);
		tool_encode_header(&b, len, tool_messages[i].type);
		feed(buf_head(&b), buf_left(&b));
		buf_done(&b);
		feed(p, len);
		ck_assert_int_eq(chan_read(chan), 0);
		ck_assert_int_eq(chan_next(chan, &f), 0);
		ck_assert_int_eq(tool_messages[i].unpack(f.body, f.len, &m),
		    PO_EINVAL);
	}
	/* the test's own buffers are in the first number */
	ck_assert_uint_le(mem_asked_bytes() - before, 16384);
	after = mallinfo2();
	ck_assert_uint_le(after.uordblks + after.hblkhd,
	    heap.uordblks + heap.hblkhd + 16384);
}

START_TEST(test_bombs)
{
	expect_cheap(bombs[_i].body, bombs[_i].len);
}
END_TEST

START_TEST(test_nested_bomb)
{
	unsigned char nested[31 * 3];
	size_t i = 0;

	for (i = 0; i < sizeof(nested); i += 3)
		memcpy(nested + i, "\xdc\xff\xff", 3);
	expect_cheap(nested, sizeof(nested));
}
END_TEST

/* A large frame costs a small multiple of itself and is given back. */
START_TEST(test_large_frame)
{
	struct msg_done done = { .task = 1, .attempt = 1 }, got = { 0 };
	struct buf b;
	struct frame f = { 0 };
	unsigned long before = 0;
	char *result = mem_alloc(8u << 20);
	ssize_t n = 0;
	int rc = 0;

	ck_assert_ptr_nonnull(result);
	memset(result, 'r', 8u << 20);
	done.result = mp_bytes(result, 8u << 20);
	done.cost = mp_str("0.5");
	done.currency = mp_str("USD");
	buf_init(&b, 32u << 20);
	ck_assert_int_eq(msg_pack_done(&b, &done), 0);
	before = mem_asked_bytes();
	while (buf_left(&b) > 0) {
		n = send(peer, buf_head(&b), buf_left(&b), MSG_NOSIGNAL);
		ck_assert_int_gt(n, 0);
		buf_consume(&b, (size_t)n);
		while ((rc = chan_read(chan)) == 0)
			continue;
		ck_assert_int_eq(rc, PO_EAGAIN);
		if (buf_left(&b) > 0)
			ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
	}
	ck_assert_int_eq(chan_next(chan, &f), 0);
	ck_assert_int_eq(msg_unpack_done(f.body, f.len, &got), 0);
	ck_assert_uint_eq(got.result.len, 8u << 20);
	ck_assert_mem_eq(got.result.p, result, 8u << 20);
	/* doubling: in all at most twice the last size */
	ck_assert_uint_le(mem_asked_bytes() - before, 4 * (9u << 20));
	ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
	buf_done(&b);
	mem_free(result);
}
END_TEST

/* One chan_read() takes a bounded amount, however much there is. */
START_TEST(test_read_is_bounded)
{
	static char zeros[100000];
	struct frame f = { 0 };
	unsigned char header[PROTO_HEADER] = { 1, 0, 0, 0, 0, 107, 0, 0 };
	size_t reads = 0;
	int size = 400000;

	ck_assert_int_eq(setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &size,
	    sizeof(size)), 0);
	feed(header, sizeof(header));
	feed(zeros, sizeof(zeros));
	while (chan_read(chan) == 0)
		reads++;
	ck_assert_uint_ge(reads, 2);
	ck_assert_int_eq(chan_next(chan, &f), PO_EAGAIN);
}
END_TEST

START_TEST(test_flush)
{
	struct msg_assign assign = { .task = 1, .attempt = 1 };
	struct msg_drain drain = { .stop_ms = 5 };
	struct buf *out = chan_out(chan);
	static char input[4u << 20], sink[65536];
	size_t total = 0, got = 0;
	ssize_t n = 0;
	int rc = 0;

	ck_assert_int_eq(chan_flush(chan), 0);
	memset(input, 'i', sizeof(input));
	assign.input = mp_bytes(input, sizeof(input));
	ck_assert_int_eq(msg_pack_assign(out, &assign), 0);
	ck_assert_int_eq(msg_pack_drain(out, &drain), 0);
	total = chan_pending(chan);
	ck_assert_uint_gt(total, sizeof(input));
	ck_assert_int_eq(chan_flush(chan), PO_EAGAIN);
	ck_assert_uint_lt(chan_pending(chan), total);
	while (got < total) {
		n = read(peer, sink, sizeof(sink));
		ck_assert_int_gt(n, 0);
		got += (size_t)n;
		rc = chan_flush(chan);
		ck_assert(rc == 0 || rc == PO_EAGAIN);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(chan_pending(chan), 0);
	ck_assert_int_eq(read(peer, sink, sizeof(sink)), -1);
	/* a dead peer is an answer, not a signal */
	fd_close(&peer);
	ck_assert_int_eq(msg_pack_drain(out, &drain), 0);
	ck_assert_int_eq(chan_flush(chan), PO_EOF);
}
END_TEST

START_TEST(test_out_is_capped)
{
	struct msg_assign assign = { .task = 1, .attempt = 1 };
	static char input[8u << 20];
	int rc = 0, count = 0;

	memset(input, 'i', sizeof(input));
	assign.input = mp_bytes(input, sizeof(input));
	while ((rc = msg_pack_assign(chan_out(chan), &assign)) == 0)
		count++;
	ck_assert_int_eq(rc, PO_ENOMEM);
	ck_assert_int_eq(count, 7);
	ck_assert_uint_le(chan_pending(chan), 64u << 20);
}
END_TEST

START_TEST(test_wait)
{
	struct mono start = mono_now();
	pid_t pid = 0;
	int status = 0;
	struct buf b;

	ck_assert_int_eq(chan_wait(chan, 30), PO_EAGAIN);
	ck_assert_int_ge(mono_diff_ms(mono_now(), start), 30);
	ck_assert_int_eq(chan_wait(chan, 0), PO_EAGAIN);
	buf_init(&b, 1000);
	two_frames(&b);
	if ((pid = fork()) == 0) {
		feed(buf_head(&b), buf_left(&b));
		_exit(0);
	}
	ck_assert_int_eq(chan_wait(chan, 3000), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(chan_read(chan), 0);
	expect_mark();
	expect_failed();
	fd_close(&peer);
	ck_assert_int_eq(chan_wait(chan, 3000), 0);
	ck_assert_int_eq(chan_read(chan), PO_EOF);
	buf_done(&b);
}
END_TEST

/* Waiting also brings out what was not yet sent. */
START_TEST(test_wait_flushes)
{
	struct msg_assign assign = { .task = 1, .attempt = 1 };
	static char input[4u << 20], sink[65536];
	size_t total = 0;
	ssize_t n = 0;
	pid_t pid = 0;
	int status = 0;

	assign.input = mp_bytes(input, sizeof(input));
	ck_assert_int_eq(msg_pack_assign(chan_out(chan), &assign), 0);
	total = chan_pending(chan);
	if ((pid = fork()) == 0) {
		if (fcntl(peer, F_SETFL, 0) == -1)
			_exit(1);
		while (total > 0) {
			if ((n = read(peer, sink, sizeof(sink))) <= 0)
				_exit(2);
			total -= (size_t)n;
		}
		_exit(write(peer, "x", 1) == 1 ? 0 : 3);
	}
	ck_assert_int_eq(chan_wait(chan, 3000), 0);
	ck_assert_uint_eq(chan_pending(chan), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(test_owner)
{
	struct chan *c = NULL;
	int fds[2] = { -1, -1 }, fd = -1;

	ck_assert_int_eq(chan_new(-1, W2S, &c), PO_EIO);
	ck_assert_int_eq(fd_pair(fds), 0);
	mem_fail_after(1);
	ck_assert_int_eq(chan_new(fds[0], W2S, &c), PO_ENOMEM);
	mem_fail_after(0);
	ck_assert_ptr_null(c);
	/* refused: still the caller's */
	ck_assert_int_eq(chan_new(fds[0], W2S, &c), 0);
	fd = chan_fd(c);
	chan_free(&c);
	ck_assert_ptr_null(c);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	fd_close(&fds[1]);
}
END_TEST

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	Suite *s = suite_create("chan");
	TCase *tc = tcase_create("chan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, test_byte_by_byte);
	tcase_add_test(tc, test_eof);
	tcase_add_loop_test(tc, test_headers, 0, COUNT(headers));
	tcase_add_loop_test(tc, test_bombs, 0, COUNT(bombs));
	tcase_add_test(tc, test_nested_bomb);
	tcase_add_test(tc, test_large_frame);
	tcase_add_test(tc, test_read_is_bounded);
	tcase_add_test(tc, test_flush);
	tcase_add_test(tc, test_out_is_capped);
	tcase_add_test(tc, test_wait);
	tcase_add_test(tc, test_wait_flushes);
	tcase_add_test(tc, test_owner);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
