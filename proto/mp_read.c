/*
 * mp_read.c - a bounds-checked cursor over msgpack from outside.
 *
 * Owns nothing: strings and bytes are borrowed from the frame.  Must not
 * allocate, recurse or believe a count: libmsgpack's unpacker allocates
 * 67 MB for five hostile bytes.  Knows only what our messages hold (integer,
 * boolean, text, bytes, one outer array); map, float, nil and ext are errors.
 */
#include "proto/mp.h"

#include <string.h>

#include "common/err.h"
#include "common/text.h"

/* first bytes, from the msgpack specification */
#define MP_FIXARRAY	0x90	/* .. 0x9f */
#define MP_FIXSTR	0xa0	/* .. 0xbf */
#define MP_FALSE	0xc2
#define MP_TRUE		0xc3
#define MP_BIN8		0xc4	/* 16: 0xc5, 32: 0xc6 */
#define MP_UINT8	0xcc	/* .. uint64 0xcf */
#define MP_INT8		0xd0	/* .. int64 0xd3 */
#define MP_STR8		0xd9	/* 16: 0xda, 32: 0xdb */
#define MP_ARRAY16	0xdc
#define MP_ARRAY32	0xdd
#define MP_NEGFIX	0xe0	/* .. 0xff */

static const struct mp_bytes mp_empty = { .p = "", .len = 0 };

static uint8_t	mp_take_first(struct mp_reader *);
static uint64_t	mp_take_be(struct mp_reader *, size_t width);
static struct mp_bytes	mp_take_bytes(struct mp_reader *, uint64_t len,
		    size_t max);
static bool	mp_take_int(struct mp_reader *, uint64_t *ret);
static void	mp_fail(struct mp_reader *);

void
mp_read_start(struct mp_reader *r, const void *data, size_t len)
{
	*r = (struct mp_reader){ .at = data, .left = len };
}

void
mp_read_array(struct mp_reader *r, unsigned int arity)
{
	uint8_t first = mp_take_first(r);
	uint64_t count = 0;

	if (first >= MP_FIXARRAY && first < MP_FIXSTR)
		count = first - MP_FIXARRAY;
	else if (first == MP_ARRAY16)
		count = mp_take_be(r, 2);
	else if (first == MP_ARRAY32)
		count = mp_take_be(r, 4);
	else
		mp_fail(r);
	/* Each element has at least one byte. */
	if (count != arity || count > r->left)
		mp_fail(r);
}

uint64_t
mp_read_u64(struct mp_reader *r)
{
	uint64_t value = 0;

	if (mp_take_int(r, &value))
		mp_fail(r);
	return r->err == 0 ? value : 0;
}

int64_t
mp_read_i64(struct mp_reader *r)
{
	uint64_t value = 0;
	bool is_negative = mp_take_int(r, &value);

	if (!is_negative && value > INT64_MAX)
		mp_fail(r);
	/* gcc and clang define this conversion as two's complement */
	return r->err == 0 ? (int64_t)value : 0;
}

bool
mp_read_bool(struct mp_reader *r)
{
	uint8_t first = mp_take_first(r);

	if (first != MP_TRUE && first != MP_FALSE)
		mp_fail(r);
	return r->err == 0 && first == MP_TRUE;
}

struct mp_bytes
mp_read_str(struct mp_reader *r, size_t max)
{
	uint8_t first = mp_take_first(r);
	uint64_t len = 0;
	struct mp_bytes ret = mp_empty;

	if (first >= MP_FIXSTR && first < 0xc0)
		len = first - MP_FIXSTR;
	else if (first >= MP_STR8 && first <= MP_STR8 + 2)
		len = mp_take_be(r, (size_t)1 << (first - MP_STR8));
	else
		mp_fail(r);
	ret = mp_take_bytes(r, len, max);
	if (text_valid_len(ret.p, ret.len) != ret.len) {
		mp_fail(r);
		return mp_empty;
	}
	return ret;
}

struct mp_bytes
mp_read_bin(struct mp_reader *r, size_t max)
{
	uint8_t first = mp_take_first(r);
	uint64_t len = 0;

	if (first >= MP_BIN8 && first <= MP_BIN8 + 2)
		len = mp_take_be(r, (size_t)1 << (first - MP_BIN8));
	else
		mp_fail(r);
	return mp_take_bytes(r, len, max);
}

int
mp_read_end(const struct mp_reader *r)
{
	if (r->err < 0)
		return r->err;
	return r->left == 0 ? 0 : PO_EINVAL;
}

static void
mp_fail(struct mp_reader *r)
{
	r->err = PO_EINVAL;
	r->left = 0;
}

static uint8_t
mp_take_first(struct mp_reader *r)
{
	return (uint8_t)mp_take_be(r, 1);
}

static uint64_t
mp_take_be(struct mp_reader *r, size_t width)
{
	uint64_t value = 0;
	size_t i = 0;

	if (width > r->left) {
		mp_fail(r);
		return 0;
	}
	for (i = 0; i < width; i++)
		value = value << 8 | r->at[i];
	r->at += width;
	r->left -= width;
	return value;
}

static struct mp_bytes
mp_take_bytes(struct mp_reader *r, uint64_t len, size_t max)
{
	struct mp_bytes ret = mp_empty;

	if (r->err < 0)
		return mp_empty;
	if (len > max || len > r->left) {
		mp_fail(r);
		return mp_empty;
	}
	ret.p = (const char *)r->at;
	ret.len = (size_t)len;
	r->at += ret.len;
	r->left -= ret.len;
	return ret;
}

/* *ret is the value, sign-extended when it is negative: then true. */
static bool
mp_take_int(struct mp_reader *r, uint64_t *ret)
{
	uint8_t first = mp_take_first(r);
	size_t width = 0;
	uint64_t sign = 0;

	if (first < 0x80) {
		*ret = first;
		return false;
	}
	if (first >= MP_NEGFIX) {
		*ret = UINT64_C(0xffffffffffffff00) | first;
		return true;
	}
	if (first >= MP_UINT8 && first <= MP_UINT8 + 3) {
		*ret = mp_take_be(r, (size_t)1 << (first - MP_UINT8));
		return false;
	}
	if (first < MP_INT8 || first > MP_INT8 + 3) {
		mp_fail(r);
		return false;
	}
	width = (size_t)1 << (first - MP_INT8);
	*ret = mp_take_be(r, width);
	sign = UINT64_C(1) << (width * 8 - 1);
	if ((*ret & sign) == 0)
		return false;
	/* for 64 bits the shift by one more leaves nothing to extend */
	*ret |= ~((sign << 1) - 1);
	return true;
}
