/*
 * fuzz_messages.c - every msg_unpack_*() on any body.
 *
 * Input: the type (2 bytes), then the body.  Unpacking may not allocate, may
 * point nowhere but into the body, and what it takes must survive a round trip.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/message_tool.h"

const char *const fuzz_name = "fuzz_messages";

/* good_x, bad_x for each message in order */
const struct fuzz_outcome fuzz_outcomes[] = {
	{ "no_type", true },
#define MSG(NAME, name, num, dir, roles, states, max)			\
	{ #name, true }, { "bad_" #name, true },
#include "proto/messages.def"
	{ NULL, false }
};

static void
fuzz_seed_one(const struct tool_message *msg, size_t fill)
{
	static char filler[512];
	union tool_struct m;
	struct buf b;
	uint8_t type[2] = { (uint8_t)(msg->type >> 8), (uint8_t)msg->type };

	memset(filler, 'f', sizeof(filler));
	tool_fill(msg, filler, fill, &m);
	buf_init(&b, FUZZ_INPUT_MAX);
	fuzz_expect(buf_put(&b, type, 2) == 0, "memory for a seed");
	tool_encode_body(msg, &m, &b);
	fuzz_add(buf_head(&b), buf_left(&b));
	buf_done(&b);
}

void
fuzz_seed(void)
{
	size_t i = 0;

	for (i = 0; i < TOOL_MESSAGES; i++) {
		fuzz_seed_one(&tool_messages[i], 0);
		fuzz_seed_one(&tool_messages[i], 5);
		fuzz_seed_one(&tool_messages[i], 300);
	}
	fuzz_add("", 0);
}

static void
fuzz_check_inside(const struct tool_message *msg, union tool_struct *m,
    const uint8_t *body, size_t len)
{
	const struct tool_field *f = NULL;
	const struct mp_bytes *s = NULL;
	size_t i = 0;

	for (i = 0; i < msg->nfields; i++) {
		f = &msg->fields()[i];
		if (f->kind != FIELD_STR && f->kind != FIELD_BIN)
			continue;
		s = tool_bytes(f, m);
		fuzz_expect(s->len <= f->max, "a field is within its limit");
		fuzz_expect((const uint8_t *)s->p >= body && s->len <=
		    len - (size_t)((const uint8_t *)s->p - body),
		    "a field is inside the body");
		if (f->kind == FIELD_STR)
			fuzz_expect(memchr(s->p, '\0', s->len) == NULL,
			    "text has no NUL");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct tool_message *msg = NULL;
	union tool_struct m, again;
	struct buf b;
	unsigned long before = mem_asked_bytes();
	size_t at = 0;
	int rc = 0;

	if (len < 2 || (msg = tool_find((unsigned int)data[0] << 8 |
	    data[1])) == NULL) {
		fuzz_count(0);
		return 0;
	}
	at = 1 + 2 * (size_t)(msg - tool_messages);
	data += 2;
	len -= 2;
	rc = msg->unpack(data, len, &m);
	fuzz_expect(mem_asked_bytes() == before, "unpacking allocates nothing");
	if (rc < 0) {
		fuzz_expect(rc == PO_EINVAL, "the one error");
		fuzz_count(at + 1);
		return 0;
	}
	fuzz_count(at);
	fuzz_check_inside(msg, &m, data, len);
	buf_init(&b, 2 * FUZZ_INPUT_MAX);
	fuzz_expect(msg->pack(&b, &m) == 0, "what was read can be written");
	fuzz_expect(buf_left(&b) <= PROTO_HEADER + len + 4,
	    "our form is not longer");
	fuzz_expect(msg->unpack(buf_head(&b) + PROTO_HEADER,
	    buf_left(&b) - PROTO_HEADER, &again) == 0 &&
	    tool_is_equal(msg, &m, &again), "a round trip changes nothing");
	buf_done(&b);
	return 0;
}
