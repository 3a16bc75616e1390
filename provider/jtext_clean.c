/*
 * jtext_clean.c - checks JSON text and makes it safe in one pass.
 *
 * Owns nothing.  Must not recurse: the nesting is a small array, so that a
 * body of a million brackets costs nothing.
 */
#include <string.h>

#include "common/err.h"
#include "common/num.h"
#include "common/text.h"
#include "provider/jtext.h"

/* PostgreSQL's numeric ends at 131072 digits; nothing real comes near this. */
#define NUMBER_LEN_MAX	300
#define NUMBER_EXP_MAX	300

#define REPLACEMENT	"\xef\xbf\xbd"		/* U+FFFD */

enum need { NEED_VALUE, NEED_KEY, NEED_NEXT };

struct cleaner {
	const char	*at;
	const char	*end;
	struct buf	*out;
	char		 open[JTEXT_DEPTH + 1];
	size_t		 depth;
	size_t		 max_depth;
};

static int	clean(const char *, size_t, size_t, struct buf *);
static int	clean_value(struct cleaner *, enum need *);
static int	clean_key(struct cleaner *);
static int	clean_next(struct cleaner *, enum need *);
static int	clean_string(struct cleaner *);
static int	clean_escape(struct cleaner *);
static int	clean_unicode(struct cleaner *);
static int	clean_number(struct cleaner *);
static int	clean_word(struct cleaner *);

static void
skip_blanks(struct cleaner *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' ||
	    *c->at == '\n' || *c->at == '\r'))
		c->at++;
}

static bool
next_is(const struct cleaner *c, char want)
{
	return c->at < c->end && *c->at == want;
}

int
jtext_clean(const char *s, size_t len, struct buf *out)
{
	return clean(s, len, JTEXT_DEPTH, out);
}

int
jtext_clean_saved(const char *s, size_t len, struct buf *out)
{
	return clean(s, len, JTEXT_DEPTH + 1, out);
}

static int
clean(const char *s, size_t len, size_t max_depth, struct buf *out)
{
	struct cleaner c = {
		.at = s, .end = s + len, .out = out, .max_depth = max_depth
	};
	enum need need = NEED_VALUE;
	int rc = 0;

	if (len >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0)
		c.at += 3;			/* a byte order mark */
	for (;;) {
		skip_blanks(&c);
		if (need == NEED_NEXT && c.depth == 0)
			return c.at == c.end ? 0 : PO_EINVAL;
		if (c.at == c.end)
			return PO_EINVAL;
		if (need == NEED_VALUE)
			rc = clean_value(&c, &need);
		else if (need == NEED_KEY) {
			rc = clean_key(&c);
			need = NEED_VALUE;
		} else
			rc = clean_next(&c, &need);
		if (rc < 0)
			return rc;
	}
}

static int
clean_value(struct cleaner *c, enum need *need)
{
	char open = *c->at;
	char close = open == '{' ? '}' : ']';
	int rc = 0;

	*need = NEED_NEXT;
	if (open == '"')
		return clean_string(c);
	if (open == '-' || (open >= '0' && open <= '9'))
		return clean_number(c);
	if (open != '{' && open != '[')
		return clean_word(c);
	c->at++;
	if ((rc = buf_putc(c->out, open)) < 0)
		return rc;
	skip_blanks(c);
	if (next_is(c, close)) {
		c->at++;
		return buf_putc(c->out, close);
	}
	if (c->depth == c->max_depth)
		return PO_EINVAL;
	c->open[c->depth++] = open;
	*need = open == '{' ? NEED_KEY : NEED_VALUE;
	return 0;
}

static int
clean_key(struct cleaner *c)
{
	int rc = 0;

	if (*c->at != '"')
		return PO_EINVAL;
	if ((rc = clean_string(c)) < 0)
		return rc;
	skip_blanks(c);
	if (!next_is(c, ':'))
		return PO_EINVAL;
	c->at++;
	return buf_putc(c->out, ':');
}

static int
clean_next(struct cleaner *c, enum need *need)
{
	char open = c->open[c->depth - 1];
	char found = *c->at++;

	if (found == ',') {
		*need = open == '{' ? NEED_KEY : NEED_VALUE;
		return buf_putc(c->out, ',');
	}
	if (found != (open == '{' ? '}' : ']'))
		return PO_EINVAL;
	c->depth--;
	return buf_putc(c->out, found);
}

/* char_len() is the length of the one character at at; 0: it is none. */
static size_t
char_len(const struct cleaner *c)
{
	size_t left = (size_t)(c->end - c->at), n = 0;

	for (n = 2; n <= 4 && n <= left; n++)
		if (text_valid_len(c->at, n) == n)
			return n;
	return 0;
}

/*
 * Raw control characters are no JSON, but an answer that is paid for is read
 * all the same: they become escapes.
 */
static int
clean_string(struct cleaner *c)
{
	size_t good = 0;
	unsigned char byte = 0;
	int rc = 0;

	c->at++;
	if ((rc = buf_putc(c->out, '"')) < 0)
		return rc;
	while (rc == 0 && c->at < c->end) {
		for (good = 0; c->at + good < c->end; good++) {
			byte = (unsigned char)c->at[good];
			if (byte < 0x20 || byte >= 0x7f || byte == '"' ||
			    byte == '\\')
				break;
		}
		if ((rc = buf_put(c->out, c->at, good)) < 0)
			return rc;
		c->at += good;
		if (c->at == c->end)
			break;
		byte = (unsigned char)*c->at;
		if (byte == '"') {
			c->at++;
			return buf_putc(c->out, '"');
		}
		if (byte == '\\') {
			rc = clean_escape(c);
		} else if (byte == 0) {
			rc = buf_puts(c->out, REPLACEMENT);
			c->at++;
		} else if (byte < 0x20) {
			rc = buf_printf(c->out, "\\u%04x", byte);
			c->at++;
		} else {
			good = char_len(c);
			rc = good > 0 ? buf_put(c->out, c->at, good) :
			    buf_puts(c->out, REPLACEMENT);
			c->at += good > 0 ? good : 1;
		}
	}
	return rc < 0 ? rc : PO_EINVAL;
}

static int
clean_escape(struct cleaner *c)
{
	if (c->end - c->at < 2)
		return PO_EINVAL;
	if (c->at[1] == 'u')
		return clean_unicode(c);
	if (strchr("\"\\/bfnrt", c->at[1]) == NULL || c->at[1] == '\0')
		return PO_EINVAL;
	c->at += 2;
	return buf_put(c->out, c->at - 2, 2);
}

/* parse_hex4() reads "\uXXXX" at s; -1: it is none. */
static long
parse_hex4(const char *s, const char *end)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = NULL;
	long value = 0;
	int i = 0;

	if (end - s < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	for (i = 2; i < 6; i++) {
		if (s[i] == '\0' || (digit = strchr(digits,
		    s[i] >= 'A' && s[i] <= 'F' ? s[i] + 32 : s[i])) == NULL)
			return -1;
		value = value * 16 + (digit - digits);
	}
	return value;
}

static int
clean_unicode(struct cleaner *c)
{
	long code = parse_hex4(c->at, c->end);
	long low = 0;
	size_t len = 6;

	if (code < 0)
		return PO_EINVAL;
	if (code >= 0xd800 && code <= 0xdbff) {
		low = parse_hex4(c->at + 6, c->end);
		if (low >= 0xdc00 && low <= 0xdfff)
			len = 12;
	}
	c->at += len;
	if (code == 0 || (len == 6 && code >= 0xd800 && code <= 0xdfff))
		return buf_puts(c->out, REPLACEMENT);
	return buf_put(c->out, c->at - len, len);
}

static size_t
count_digits(const char *s, const char *end)
{
	const char *at = s;

	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return (size_t)(at - s);
}

static int
clean_number(struct cleaner *c)
{
	const char *start = c->at;
	const char *at = start + (*start == '-');
	size_t digits = count_digits(at, c->end);
	size_t exp = 0, i = 0;
	bool is_huge = false;
	int rc = 0;

	if (digits == 0 || (digits > 1 && *at == '0'))
		return PO_EINVAL;
	at += digits;
	if (at < c->end && *at == '.') {
		if ((digits = count_digits(++at, c->end)) == 0)
			return PO_EINVAL;
		at += digits;
	}
	if (at < c->end && (*at == 'e' || *at == 'E')) {
		at++;
		if (at < c->end && (*at == '+' || *at == '-'))
			at++;
		if ((digits = count_digits(at, c->end)) == 0)
			return PO_EINVAL;
		for (i = 0; i < digits && exp <= NUMBER_EXP_MAX; i++)
			exp = exp * 10 + (size_t)(at[i] - '0');
		is_huge = exp > NUMBER_EXP_MAX;
		at += digits;
	}
	c->at = at;
	if (at - start > NUMBER_LEN_MAX)
		is_huge = true;
	if (is_huge && (rc = buf_putc(c->out, '"')) < 0)
		return rc;
	if ((rc = buf_put(c->out, start, (size_t)(at - start))) < 0)
		return rc;
	return is_huge ? buf_putc(c->out, '"') : 0;
}

static int
clean_word(struct cleaner *c)
{
	static const char *const words[] = { "true", "false", "null" };
	size_t i = 0, len = 0;

	for (i = 0; i < 3; i++) {
		len = strlen(words[i]);
		if ((size_t)(c->end - c->at) >= len &&
		    memcmp(c->at, words[i], len) == 0) {
			c->at += len;
			return buf_put(c->out, words[i], len);
		}
	}
	return PO_EINVAL;
}
