/*
 * message_tool.c - every message of messages.def as data; see the header.
 */
#include "tests/unit/message_tool.h"

#include <string.h>

#include "common/log.h"

#define AT(f)		offsetof(__typeof__(*here), f)
#define F_U64(f)	{ #f, FIELD_U64, 0, AT(f) },
#define F_I64(f)	{ #f, FIELD_I64, 0, AT(f) },
#define F_BOOL(f)	{ #f, FIELD_BOOL, 0, AT(f) },
#define F_STR(f, lim)	{ #f, FIELD_STR, lim, AT(f) },
#define F_BIN(f, lim)	{ #f, FIELD_BIN, lim, AT(f) },
#define ONE(f)		+ 1
#define ONE_LIM(f, lim)	+ 1

/* here: only its type is used */
#define MSG(NAME, lower, num, dir, rolebits, statebits, limit)		\
	static int							\
	tool_pack_##lower(struct buf *b, const union tool_struct *m)	\
	{								\
		return msg_pack_##lower(b, &m->lower);			\
	}								\
									\
	static int							\
	tool_unpack_##lower(const void *p, size_t len,			\
	    union tool_struct *ret)					\
	{								\
		return msg_unpack_##lower(p, len, &ret->lower);		\
	}								\
									\
	static const struct tool_field *				\
	tool_fields_##lower(void)					\
	{								\
		const struct msg_##lower *here = NULL;			\
		static const struct tool_field fields[] = {		\
			MSG_FIELDS_##NAME(F_U64, F_I64, F_BOOL, F_STR,	\
			    F_BIN)					\
		};							\
									\
		(void)here;						\
		return fields;						\
	}
#include "proto/messages.def"

const struct tool_message tool_messages[TOOL_MESSAGES] = {
#define MSG(NAME, lower, num, dir, rolebits, statebits, limit)		\
	{								\
		.name = #NAME, .type = num, .direction = dir,		\
		.roles = rolebits, .states = statebits, .max = limit,	\
		.nfields = 0 MSG_FIELDS_##NAME(ONE, ONE, ONE, ONE_LIM,	\
		    ONE_LIM),						\
		.fields = tool_fields_##lower,				\
		.pack = tool_pack_##lower,				\
		.unpack = tool_unpack_##lower,				\
	},
#include "proto/messages.def"
};

const struct tool_message *
tool_find(unsigned int type)
{
	size_t i = 0;

	for (i = 0; i < TOOL_MESSAGES; i++)
		if (tool_messages[i].type == type)
			return &tool_messages[i];
	return NULL;
}

static void *
tool_at(const struct tool_field *f, union tool_struct *m)
{
	return (char *)m + f->offset;
}

struct mp_bytes *
tool_bytes(const struct tool_field *f, union tool_struct *m)
{
	return tool_at(f, m);
}

void
tool_fill(const struct tool_message *msg, const char *filler, size_t len,
    union tool_struct *ret)
{
	const struct tool_field *f = NULL;
	size_t i = 0;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < msg->nfields; i++) {
		f = &msg->fields()[i];
		switch (f->kind) {
		case FIELD_U64:
			*(uint64_t *)tool_at(f, ret) = len > 0 ?
			    UINT64_MAX - i : 0;
			break;
		case FIELD_I64:
			*(int64_t *)tool_at(f, ret) = len > 0 ?
			    INT64_MIN + (int64_t)i : 0;
			break;
		case FIELD_BOOL:
			*(bool *)tool_at(f, ret) = len > 0;
			break;
		case FIELD_STR:
		case FIELD_BIN:
			*tool_bytes(f, ret) = mp_bytes(filler,
			    len < f->max ? len : f->max);
			break;
		}
	}
}

bool
tool_is_equal(const struct tool_message *msg, const union tool_struct *a,
    const union tool_struct *b)
{
	const struct tool_field *f = NULL;
	const struct mp_bytes *x = NULL, *y = NULL;
	const char *pa = NULL, *pb = NULL;
	size_t i = 0;

	for (i = 0; i < msg->nfields; i++) {
		f = &msg->fields()[i];
		pa = (const char *)a + f->offset;
		pb = (const char *)b + f->offset;
		x = (const void *)pa;
		y = (const void *)pb;
		if (f->kind == FIELD_BOOL) {
			if (*(const bool *)pa != *(const bool *)pb)
				return false;
		} else if (f->kind == FIELD_U64 || f->kind == FIELD_I64) {
			if (memcmp(pa, pb, sizeof(uint64_t)) != 0)
				return false;
		} else if (x->len != y->len || y->p == NULL ||
		    memcmp(x->p, y->p, x->len) != 0)
			return false;
	}
	return true;
}

static void
tool_put(struct buf *b, const void *p, size_t len)
{
	if (buf_put(b, p, len) < 0)
		fatalx("message_tool: no memory");
}

/* first byte, then value in width bytes, big-endian */
static void
tool_put_be(struct buf *b, unsigned int first, uint64_t value, size_t width)
{
	uint8_t bytes[9] = { (uint8_t)first };
	size_t i = 0;

	for (i = 0; i < width; i++)
		bytes[1 + i] = (uint8_t)(value >> (8 * (width - 1 - i)));
	tool_put(b, bytes, 1 + width);
}

static void
tool_encode_u64(struct buf *b, uint64_t v)
{
	if (v < 128)
		tool_put_be(b, (unsigned int)v, 0, 0);
	else if (v <= UINT8_MAX)
		tool_put_be(b, 0xcc, v, 1);
	else if (v <= UINT16_MAX)
		tool_put_be(b, 0xcd, v, 2);
	else if (v <= UINT32_MAX)
		tool_put_be(b, 0xce, v, 4);
	else
		tool_put_be(b, 0xcf, v, 8);
}

static void
tool_encode_i64(struct buf *b, int64_t v)
{
	if (v >= 0)
		tool_encode_u64(b, (uint64_t)v);
	else if (v >= -32)
		tool_put_be(b, (uint8_t)v, 0, 0);
	else if (v >= INT8_MIN)
		tool_put_be(b, 0xd0, (uint64_t)v, 1);
	else if (v >= INT16_MIN)
		tool_put_be(b, 0xd1, (uint64_t)v, 2);
	else if (v >= INT32_MIN)
		tool_put_be(b, 0xd2, (uint64_t)v, 4);
	else
		tool_put_be(b, 0xd3, (uint64_t)v, 8);
}

static void
tool_encode_bytes(struct buf *b, bool is_text, const struct mp_bytes *s)
{
	unsigned int first = is_text ? 0xd9 : 0xc4;

	if (is_text && s->len < 32)
		tool_put_be(b, 0xa0 + (unsigned int)s->len, 0, 0);
	else if (s->len <= UINT8_MAX)
		tool_put_be(b, first, s->len, 1);
	else if (s->len <= UINT16_MAX)
		tool_put_be(b, first + 1, s->len, 2);
	else
		tool_put_be(b, first + 2, s->len, 4);
	tool_put(b, s->p, s->len);
}

void
tool_encode_array(struct buf *b, size_t count)
{
	if (count < 16)
		tool_put_be(b, 0x90 + (unsigned int)count, 0, 0);
	else
		tool_put_be(b, 0xdc, count, 2);
}

void
tool_encode_field(const struct tool_field *f, union tool_struct *m,
    struct buf *b)
{
	switch (f->kind) {
	case FIELD_U64:
		tool_encode_u64(b, *(uint64_t *)tool_at(f, m));
		break;
	case FIELD_I64:
		tool_encode_i64(b, *(int64_t *)tool_at(f, m));
		break;
	case FIELD_BOOL:
		tool_put_be(b, *(bool *)tool_at(f, m) ? 0xc3 : 0xc2, 0, 0);
		break;
	case FIELD_STR:
	case FIELD_BIN:
		tool_encode_bytes(b, f->kind == FIELD_STR, tool_bytes(f, m));
		break;
	}
}

void
tool_encode_body(const struct tool_message *msg, union tool_struct *m,
    struct buf *b)
{
	size_t i = 0;

	tool_encode_array(b, msg->nfields);
	for (i = 0; i < msg->nfields; i++)
		tool_encode_field(&msg->fields()[i], m, b);
}

void
tool_encode_header(struct buf *b, size_t len, unsigned int type)
{
	uint8_t header[PROTO_HEADER] = {
		(uint8_t)(len >> 24), (uint8_t)(len >> 16),
		(uint8_t)(len >> 8), (uint8_t)len, (uint8_t)(type >> 8),
		(uint8_t)type, 0, 0,
	};

	tool_put(b, header, sizeof(header));
}
