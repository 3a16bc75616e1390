/*
 * check_messages.c - pack and unpack of every message: at its limits, one
 * over, and in every wrong way.
 */
#include <sys/mman.h>

#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "tests/unit/message_tool.h"
#include "tests/unit/suite.h"

#define FILLER_LEN	((8u << 20) + 1)
#define BUF_MAX		(64u << 20)

static char		*filler;
static struct buf	 out, body;
static union tool_struct sent, got;

static void
setup(void)
{
	size_t i = 0;

	filler = mem_alloc(FILLER_LEN);
	ck_assert_ptr_nonnull(filler);
	for (i = 0; i < FILLER_LEN; i++)
		filler[i] = (char)('!' + i % 90);
	buf_init(&out, BUF_MAX);
	buf_init(&body, BUF_MAX);
}

static void
teardown(void)
{
	buf_done(&out);
	buf_done(&body);
	mem_free(filler);
}

#define ROOM		65536

/* Unpacks a copy that ends where readable memory ends. */
static int
unpack_exact(const struct tool_message *msg, const void *p, size_t len)
{
	static char *room;

	if (room == NULL) {
		room = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(room, MAP_FAILED);
		ck_assert_int_eq(mprotect(room + ROOM, ROOM, PROT_NONE), 0);
	}
	ck_assert_uint_le(len, ROOM);
	memcpy(room + ROOM - len, p, len);
	memset(&got, 0xa5, sizeof(got));
	return msg->unpack(room + ROOM - len, len, &got);
}

/* Both ways, and the bytes between are those of our second encoder. */
START_TEST(test_round_trip)
{
	static const size_t lens[] = { 0, 1, 31, 32, 255, 256, 65535, 65536,
	    SIZE_MAX };
	const struct tool_message *msg = &tool_messages[_i];
	size_t i = 0;

	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		tool_fill(msg, filler, lens[i], &sent);
		buf_reset(&out);
		ck_assert_int_eq(buf_puts(&out, "before"), 0);
		ck_assert_int_eq(msg->pack(&out, &sent), 0);
		buf_reset(&body);
		tool_encode_body(msg, &sent, &body);
		ck_assert_mem_eq(buf_head(&out), "before", 6);
		buf_consume(&out, 6);
		ck_assert_uint_eq(buf_left(&out), 8 + buf_left(&body));
		ck_assert_mem_eq(buf_head(&out) + 8, buf_head(&body),
		    buf_left(&body));
		ck_assert_uint_le(buf_left(&body), msg->max);
		memset(&got, 0xa5, sizeof(got));
		ck_assert_int_eq(msg->unpack(buf_head(&out) + 8,
		    buf_left(&out) - 8, &got), 0);
		ck_assert(tool_is_equal(msg, &sent, &got));
		buf_reset(&body);
		tool_encode_header(&body, buf_left(&out) - 8, msg->type);
		ck_assert_mem_eq(buf_head(&out), buf_head(&body), 8);
	}
}
END_TEST

START_TEST(test_over_limit)
{
	const struct tool_message *msg = &tool_messages[_i];
	const struct tool_field *f = NULL;
	size_t i = 0;

	for (i = 0; i < msg->nfields; i++) {
		f = &msg->fields()[i];
		if (f->kind != FIELD_STR && f->kind != FIELD_BIN)
			continue;
		tool_fill(msg, filler, 1, &sent);
		tool_bytes(f, &sent)->len = f->max + 1;
		buf_reset(&out);
		ck_assert_int_eq(buf_puts(&out, "before"), 0);
		ck_assert_msg(msg->pack(&out, &sent) == PO_ERANGE, "%s.%s",
		    msg->name, f->name);
		ck_assert_str_eq(buf_text(&out), "before");
		buf_reset(&body);
		tool_encode_body(msg, &sent, &body);
		ck_assert_msg(msg->unpack(buf_head(&body), buf_left(&body),
		    &got) == PO_EINVAL, "%s.%s", msg->name, f->name);
	}
	/* nor may the whole be longer than its row says */
	buf_reset(&body);
	ck_assert_ptr_nonnull(buf_reserve(&body, msg->max + 1));
	ck_assert_int_eq(msg->unpack(buf_head(&body), msg->max + 1, &got),
	    PO_EINVAL);
}
END_TEST

START_TEST(test_no_memory)
{
	const struct tool_message *msg = &tool_messages[_i];

	tool_fill(msg, filler, 300, &sent);
	buf_done(&out);
	mem_fail_after(1);
	ck_assert_int_eq(msg->pack(&out, &sent), PO_ENOMEM);
	mem_fail_after(0);
	ck_assert_uint_eq(buf_left(&out), 0);
	/* the cap comes in the middle of the frame */
	buf_init(&out, 12);
	ck_assert_int_eq(buf_puts(&out, "x"), 0);
	ck_assert_int_eq(msg->pack(&out, &sent), PO_ENOMEM);
	ck_assert_str_eq(buf_text(&out), "x");
}
END_TEST

START_TEST(test_every_truncation)
{
	const struct tool_message *msg = &tool_messages[_i];
	size_t len = 0;

	tool_fill(msg, filler, 40, &sent);
	tool_encode_body(msg, &sent, &body);
	for (len = 0; len < buf_left(&body); len++)
		ck_assert_msg(unpack_exact(msg, buf_head(&body), len) ==
		    PO_EINVAL, "%s: %zu bytes", msg->name, len);
	ck_assert_int_eq(unpack_exact(msg, buf_head(&body), len), 0);
	ck_assert_int_eq(buf_putc(&body, '\0'), 0);
	ck_assert_int_eq(unpack_exact(msg, buf_head(&body), len + 1),
	    PO_EINVAL);
}
END_TEST

START_TEST(test_arity)
{
	const struct tool_message *msg = &tool_messages[_i];
	size_t count = 0, i = 0;

	tool_fill(msg, filler, 3, &sent);
	for (count = 0; count <= msg->nfields + 20; count++) {
		/* an array of count, with count good elements */
		buf_reset(&body);
		tool_encode_array(&body, count);
		for (i = 0; i < count; i++)
			tool_encode_field(&msg->fields()[i % msg->nfields],
			    &sent, &body);
		ck_assert_int_eq(unpack_exact(msg, buf_head(&body),
		    buf_left(&body)), count == msg->nfields ? 0 : PO_EINVAL);
	}
	/* a count that is not that of the elements */
	for (count = 0; count < 16; count++) {
		buf_reset(&body);
		tool_encode_body(msg, &sent, &body);
		if (msg->nfields >= 16)
			buf_consume(&body, 2);
		body.data[body.off] = (uint8_t)(0x90 + count);
		ck_assert_int_eq(unpack_exact(msg, buf_head(&body),
		    buf_left(&body)), count == msg->nfields ? 0 : PO_EINVAL);
	}
	/* the right count in each wider form */
	for (i = 2; i <= 4; i += 2) {
		uint8_t head[5] = { i == 2 ? 0xdc : 0xdd };

		head[i] = (uint8_t)msg->nfields;
		buf_reset(&body);
		ck_assert_int_eq(buf_put(&body, head, 1 + i), 0);
		for (count = 0; count < msg->nfields; count++)
			tool_encode_field(&msg->fields()[count], &sent, &body);
		ck_assert_int_eq(unpack_exact(msg, buf_head(&body),
		    buf_left(&body)), 0);
	}
}
END_TEST

/* One value of every kind that msgpack has. */
static const struct {
	const char	*bytes;
	size_t		 len;
	int		 kinds;		/* bits: which enum field_kind */
} values[] = {
#define U	(1 << FIELD_U64)
#define I	(1 << FIELD_I64)
#define B	(1 << FIELD_BOOL)
#define S	(1 << FIELD_STR)
#define D	(1 << FIELD_BIN)
	{ "\x00", 1, U | I },
	{ "\x7f", 1, U | I },
	{ "\x80", 1, 0 },				/* fixmap */
	{ "\x90", 1, 0 },				/* fixarray */
	{ "\xa0", 1, S },
	{ "\xa1" "a", 2, S },
	{ "\xa2" "a\0", 3, 0 },				/* NUL inside */
	{ "\xa2" "a\xc3", 3, 0 },			/* cut UTF-8 */
	{ "\xa2\xc3\xbc", 3, S },
	{ "\xc0", 1, 0 },				/* nil */
	{ "\xc1", 1, 0 },				/* never used */
	{ "\xc2", 1, B },
	{ "\xc3", 1, B },
	{ "\xc4\x01" "a", 3, D },
	{ "\xc5\x00\x01" "a", 4, D },
	{ "\xc6\x00\x00\x00\x01" "a", 6, D },
	{ "\xc4\x02\x00\xff", 4, D },
	{ "\xc7\x01\x05" "a", 4, 0 },			/* ext8 */
	{ "\xca\x00\x00\x00\x00", 5, 0 },		/* float */
	{ "\xcb\x00\x00\x00\x00\x00\x00\x00\x00", 9, 0 },
	{ "\xcc\x01", 2, U | I },
	{ "\xcd\x00\x01", 3, U | I },
	{ "\xce\x00\x00\x00\x01", 5, U | I },
	{ "\xcf\x00\x00\x00\x00\x00\x00\x00\x01", 9, U | I },
	{ "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff", 9, U | I },
	{ "\xcf\x80\x00\x00\x00\x00\x00\x00\x00", 9, U },
	{ "\xd0\x01", 2, U | I },
	{ "\xd0\xff", 2, I },
	{ "\xd1\xff\xfe", 3, I },
	{ "\xd2\xff\xff\xff\xfd", 5, I },
	{ "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, I },
	{ "\xd3\x7f\xff\xff\xff\xff\xff\xff\xff", 9, U | I },
	{ "\xe0", 1, I },
	{ "\xff", 1, I },
	{ "\xd4\x05" "a", 3, 0 },			/* fixext */
	{ "\xd9\x01" "a", 3, S },
	{ "\xda\x00\x01" "a", 4, S },
	{ "\xdb\x00\x00\x00\x01" "a", 6, S },
	{ "\xdb\xff\xff\xff\xff" "a", 6, 0 },
	{ "\xc6\xff\xff\xff\xff" "a", 6, 0 },
	{ "\xdc\x00\x00", 3, 0 },
	{ "\xdd\x00\x00\x00\x00", 5, 0 },
	{ "\xde\x00\x00", 3, 0 },
	{ "\xdf\x00\x10\x00\x00", 5, 0 },
#undef U
#undef I
#undef B
#undef S
#undef D
};

START_TEST(test_types)
{
	const struct tool_message *msg = &tool_messages[_i];
	size_t field = 0, v = 0, i = 0;
	int want = 0;

	tool_fill(msg, filler, 3, &sent);
	for (field = 0; field < msg->nfields; field++) {
		for (v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			buf_reset(&body);
			tool_encode_array(&body, msg->nfields);
			for (i = 0; i < msg->nfields; i++) {
				if (i == field)
					ck_assert_int_eq(buf_put(&body,
					    values[v].bytes, values[v].len),
					    0);
				else
					tool_encode_field(&msg->fields()[i],
					    &sent, &body);
			}
			want = (values[v].kinds >> msg->fields()[field].kind &
			    1) != 0 ? 0 : PO_EINVAL;
			ck_assert_msg(unpack_exact(msg, buf_head(&body),
			    buf_left(&body)) == want, "%s.%s: value %zu",
			    msg->name, msg->fields()[field].name, v);
		}
	}
}
END_TEST

/* Numbers that travel in wide or signed forms arrive as they are. */
START_TEST(test_numbers)
{
	static const char wide[] = "\x93\xd3\x7f\xff\xff\xff\xff\xff\xff\xfe"
	    "\xcf\x00\x00\x00\x00\x00\x00\x00\x05\xd1\xff\x7f";
	struct msg_unsent unused;
	struct msg_renewed r = { 0 };

	ck_assert_int_eq(msg_unpack_renewed(wide, sizeof(wide) - 1, &r),
	    PO_EINVAL);		/* -129 is no u64 */
	ck_assert_int_eq(msg_unpack_renewed("\x93\x01\x02\xcd\x01\x00", 6, &r),
	    0);
	ck_assert_uint_eq(r.task, 1);
	ck_assert_uint_eq(r.attempt, 2);
	ck_assert_uint_eq(r.deadline_ns, 256);
	ck_assert_int_eq(msg_unpack_unsent("\x90", 1, &unused), PO_EINVAL);
}
END_TEST

static const struct {
	const char	*bytes;
	size_t		 len;
	int64_t		 value;
} signed_numbers[] = {
	{ "\xd0\x80", 2, -128 },
	{ "\xd1\x80\x00", 3, -32768 },
	{ "\xd2\x80\x00\x00\x00", 5, INT32_MIN },
	{ "\xd3\x80\0\0\0\0\0\0\0", 9, INT64_MIN },
	{ "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 9, -1 },
	{ "\xe0", 1, -32 },
	{ "\xff", 1, -1 },
	{ "\x7f", 1, 127 },
	{ "\xcc\xff", 2, 255 },
	{ "\xd0\x7f", 2, 127 },
};

START_TEST(test_signed_numbers)
{
	struct msg_progress p = { 0 };

	ck_assert_int_eq(buf_put(&body, "\x95\x01\x02", 3), 0);
	ck_assert_int_eq(buf_put(&body, signed_numbers[_i].bytes,
	    signed_numbers[_i].len), 0);
	ck_assert_int_eq(buf_put(&body, "\xa0\xc2", 2), 0);
	ck_assert_int_eq(msg_unpack_progress(buf_head(&body),
	    buf_left(&body), &p), 0);
	ck_assert_int_eq(p.permille, signed_numbers[_i].value);
	ck_assert_uint_eq(p.note.len, 0);
	ck_assert_ptr_nonnull(p.note.p);
}
END_TEST

/* Text that is not UTF-8 leaves as UTF-8, and does not come in. */
START_TEST(test_text)
{
	struct msg_unknown m = { .task = 1, .attempt = 1 }, r = { 0 };
	char *copy = (char *)1;

	m.reason = mp_str(NULL);
	m.detail = mp_bytes("a\0b\xff\xc3\xbc\xe2\x82", 8);
	ck_assert_int_eq(msg_pack_unknown(&out, &m), 0);
	ck_assert_int_eq(msg_unpack_unknown(buf_head(&out) + 8,
	    buf_left(&out) - 8, &r), 0);
	ck_assert_uint_eq(r.detail.len, 8);
	ck_assert_mem_eq(r.detail.p, "a?b?\xc3\xbc??", 8);
	ck_assert_uint_eq(r.reason.len, 0);
	ck_assert_int_eq(mp_dup_opt(r.reason, &copy), 0);
	ck_assert_ptr_null(copy);
	ck_assert_int_eq(mp_dup_opt(r.detail, &copy), 0);
	ck_assert_str_eq(copy, "a?b?\xc3\xbc??");
	mem_free(copy);
	copy = mp_dup(r.reason);
	ck_assert_str_eq(copy, "");
	mem_free(copy);
	copy = (char *)1;
	mem_fail_after(1);
	ck_assert_int_eq(mp_dup_opt(r.detail, &copy), PO_ENOMEM);
	ck_assert_ptr_eq(copy, (char *)1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("messages");
	TCase *tc = tcase_create("messages");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 20);
	tcase_add_loop_test(tc, test_round_trip, 0, TOOL_MESSAGES);
	tcase_add_loop_test(tc, test_over_limit, 0, TOOL_MESSAGES);
	tcase_add_loop_test(tc, test_no_memory, 0, TOOL_MESSAGES);
	tcase_add_loop_test(tc, test_every_truncation, 0, TOOL_MESSAGES);
	tcase_add_loop_test(tc, test_arity, 0, TOOL_MESSAGES);
	tcase_add_loop_test(tc, test_types, 0, TOOL_MESSAGES);
	tcase_add_test(tc, test_numbers);
	tcase_add_loop_test(tc, test_signed_numbers, 0,
	    (int)(sizeof(signed_numbers) / sizeof(signed_numbers[0])));
	tcase_add_test(tc, test_text);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
