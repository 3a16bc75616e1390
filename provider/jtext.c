/*
 * jtext.c - looks into clean JSON text; see jtext.h.
 *
 * Owns nothing.  Relies on jtext_clean(): the text has no blanks, strings
 * end, brackets match.
 */
#include <string.h>

#include "common/err.h"
#include "common/num.h"
#include "provider/jtext.h"

#define INDEX_MAX	100000000u

static const char	*skip_value(const char *, const char *);
static const char	*skip_string(const char *, const char *);
static bool		 key_is(struct jtext, const char *);
static int		 put_escape(const char **, struct buf *);

struct jtext
jtext_of(const struct buf *clean)
{
	return (struct jtext){ .at = buf_text(clean), .len = buf_left(clean) };
}

enum jtext_type
jtext_type(struct jtext v)
{
	if (v.at == NULL || v.len == 0)
		return JTEXT_ABSENT;
	switch (*v.at) {
	case '{':
		return JTEXT_OBJECT;
	case '[':
		return JTEXT_ARRAY;
	case '"':
		return JTEXT_STRING;
	case 'n':
		return JTEXT_NULL;
	case 't':
	case 'f':
		return JTEXT_BOOL;
	default:
		return JTEXT_NUMBER;
	}
}

bool
jtext_is_empty(struct jtext v)
{
	switch (jtext_type(v)) {
	case JTEXT_ABSENT:
	case JTEXT_NULL:
		return true;
	case JTEXT_STRING:
	case JTEXT_ARRAY:
	case JTEXT_OBJECT:
		return v.len == 2;
	default:
		return false;
	}
}

void
jtext_iter_init(struct jtext_iter *it, struct jtext v)
{
	enum jtext_type type = jtext_type(v);

	*it = (struct jtext_iter){ .is_object = type == JTEXT_OBJECT };
	if (type != JTEXT_OBJECT && type != JTEXT_ARRAY)
		return;
	it->at = v.at + 1;
	it->end = v.at + v.len - 1;
}

bool
jtext_iter_next(struct jtext_iter *it, struct jtext *ret_key,
    struct jtext *ret)
{
	const char *start = it->at;

	if (ret_key != NULL)
		*ret_key = (struct jtext){ 0 };
	if (it->at == NULL || it->at >= it->end)
		return false;
	if (it->is_object) {
		it->at = skip_string(it->at, it->end);
		if (ret_key != NULL)
			*ret_key = (struct jtext){ .at = start,
			    .len = (size_t)(it->at - start) };
		start = ++it->at;		/* the colon */
	}
	it->at = skip_value(it->at, it->end);
	*ret = (struct jtext){ .at = start, .len = (size_t)(it->at - start) };
	it->at++;				/* the comma, or past the end */
	return true;
}

struct jtext
jtext_child(struct jtext v, const char *name)
{
	struct jtext_iter it;
	struct jtext key = { 0 }, at = { 0 }, found = { 0 };
	uint64_t index = 0, i = 0;

	jtext_iter_init(&it, v);
	if (!it.is_object && (num_parse_u64(name, INDEX_MAX, &index) < 0 ||
	    (name[0] == '0' && name[1] != '\0')))
		return found;
	while (jtext_iter_next(&it, &key, &at)) {
		if (it.is_object) {
			if (key_is(key, name))
				found = at;
		} else if (i++ == index)
			return at;
	}
	return found;
}

bool
jtext_has(struct jtext object, struct jtext key)
{
	struct jtext_iter it;
	struct jtext own = { 0 }, at = { 0 };
	struct buf a, b;
	bool has = false;

	buf_init(&a, key.len);
	buf_init(&b, object.len);
	jtext_iter_init(&it, object);
	if (jtext_put_text(key, &a) == 0)
		while (!has && jtext_iter_next(&it, &own, &at)) {
			buf_reset(&b);
			has = jtext_put_text(own, &b) == 0 &&
			    buf_left(&a) == buf_left(&b) &&
			    memcmp(buf_head(&a), buf_head(&b),
			    buf_left(&a)) == 0;
		}
	buf_done(&a);
	buf_done(&b);
	return has;
}

int
jtext_put_text(struct jtext v, struct buf *out)
{
	const char *at = v.at + 1, *end = v.at + v.len - 1;
	const char *stop = NULL;
	int rc = 0;

	if (jtext_type(v) != JTEXT_STRING)
		return buf_put(out, v.at, v.len);
	while (rc == 0 && at < end) {
		stop = memchr(at, '\\', (size_t)(end - at));
		if (stop == NULL)
			stop = end;
		rc = buf_put(out, at, (size_t)(stop - at));
		at = stop;
		if (rc == 0 && at < end)
			rc = put_escape(&at, out);
	}
	return rc;
}

int
jtext_put_string(const char *s, size_t len, struct buf *out)
{
	size_t i = 0, start = 0;
	unsigned char c = 0;
	int rc = buf_putc(out, '"');

	for (i = 0; rc == 0 && i < len; i++) {
		c = (unsigned char)s[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		rc = buf_put(out, s + start, i - start);
		start = i + 1;
		if (rc == 0 && c < 0x20)
			rc = buf_printf(out, "\\u%04x", c);
		else if (rc == 0)
			rc = buf_printf(out, "\\%c", c);
	}
	if (rc == 0)
		rc = buf_put(out, s + start, len - start);
	return rc == 0 ? buf_putc(out, '"') : rc;
}

static const char *
skip_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\')
			at++;
	return at < end ? at + 1 : end;
}

static const char *
skip_value(const char *at, const char *end)
{
	size_t depth = 0;

	while (at < end) {
		if (*at == '"') {
			at = skip_string(at, end);
		} else if (*at == '{' || *at == '[') {
			depth++;
			at++;
			continue;
		} else if (*at == '}' || *at == ']') {
			depth--;
			at++;
		} else if (*at == ',' || *at == ':') {
			at++;
			continue;
		} else {
			at += strcspn(at, ",]}");
		}
		if (depth == 0)
			break;
	}
	return at < end ? at : end;
}

static bool
key_is(struct jtext key, const char *name)
{
	size_t len = strlen(name);
	struct buf b;
	bool is = false;

	if (memchr(key.at, '\\', key.len) == NULL)
		return key.len == len + 2 && memcmp(key.at + 1, name, len) == 0;
	buf_init(&b, key.len);
	is = jtext_put_text(key, &b) == 0 && buf_left(&b) == len &&
	    memcmp(buf_head(&b), name, len) == 0;
	buf_done(&b);
	return is;
}

static unsigned long
hex4(const char *s)
{
	unsigned long value = 0;
	int i = 0;

	for (i = 0; i < 4; i++)
		value = value * 16 + (unsigned long)(s[i] <= '9' ?
		    s[i] - '0' : (s[i] | 32) - 'a' + 10);
	return value;
}

static int
put_utf8(unsigned long code, struct buf *out)
{
	char b[4];

	if (code < 0x80)
		return buf_putc(out, (char)code);
	if (code < 0x800) {
		b[0] = (char)(0xc0 | code >> 6);
		b[1] = (char)(0x80 | (code & 0x3f));
		return buf_put(out, b, 2);
	}
	if (code < 0x10000) {
		b[0] = (char)(0xe0 | code >> 12);
		b[1] = (char)(0x80 | (code >> 6 & 0x3f));
		b[2] = (char)(0x80 | (code & 0x3f));
		return buf_put(out, b, 3);
	}
	b[0] = (char)(0xf0 | code >> 18);
	b[1] = (char)(0x80 | (code >> 12 & 0x3f));
	b[2] = (char)(0x80 | (code >> 6 & 0x3f));
	b[3] = (char)(0x80 | (code & 0x3f));
	return buf_put(out, b, 4);
}

/* put_escape() reads one escape; jtext_clean() has checked it. */
static int
put_escape(const char **at, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *s = *at, *letter = NULL;
	unsigned long code = 0;

	if (s[1] != 'u') {
		*at += 2;
		letter = strchr(from, s[1]);
		return buf_putc(out, letter != NULL ? to[letter - from] : s[1]);
	}
	code = hex4(s + 2);
	*at += 6;
	if (code >= 0xd800 && code <= 0xdbff) {
		code = 0x10000 + ((code - 0xd800) << 10) +
		    (hex4(s + 8) - 0xdc00);
		*at += 6;
	}
	return put_utf8(code, out);
}
