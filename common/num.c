/*
 * num.c - strict number parsing and exact decimal arithmetic.
 *
 * Owns no state.  Must not use a locale or a double.
 */
#include "common/num.h"

#include <stdbool.h>
#include <string.h>

#include "common/err.h"

#define DECIMAL_TEXT_MAX	40	/* what numeric columns take from us */
#define DECIMAL_EXP_MAX		60	/* beyond that 128 bits cannot hold */

/* value = (is_negative ? -1 : 1) * digits / 10^scale */
struct decimal {
	unsigned __int128	digits;
	int			scale;		/* 0 .. 2 * DECIMAL_EXP_MAX */
	bool			is_negative;
};

static bool	num_is_digit(char);
static int	decimal_parse(const char *, struct decimal *);
static int	decimal_parse_exp(const char *, int *);
static int	decimal_scale(struct decimal *, int);
static void	decimal_trim(struct decimal *);
static int	decimal_print(struct decimal, char *, size_t);

int
num_parse_u64(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;

	if (*s == '\0')
		return PO_EINVAL;
	for (; *s != '\0'; s++) {
		if (!num_is_digit(*s))
			return PO_EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value)) {
			/* malformed further on is still malformed */
			return s[strspn(s, "0123456789")] == '\0' ?
			    PO_ERANGE : PO_EINVAL;
		}
	}
	if (value > max)
		return PO_ERANGE;
	*ret = value;
	return 0;
}

int
num_parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	bool is_negative = *s == '-';
	uint64_t abs = 0;
	int64_t value = 0;
	int rc = 0;

	if (is_negative && min >= 0)
		return PO_EINVAL;
	if ((rc = num_parse_u64(s + is_negative,
	    (uint64_t)INT64_MAX + is_negative, &abs)) < 0)
		return rc;
	if (is_negative)
		value = abs == 0 ? 0 : -(int64_t)(abs - 1) - 1;
	else
		value = (int64_t)abs;
	if (value < min || value > max)
		return PO_ERANGE;
	*ret = value;
	return 0;
}

int
num_decimal_check(const char *s)
{
	const char *at = s + (*s == '-');
	size_t len = strspn(at, "0123456789");

	if (len == 0)
		return PO_EINVAL;
	at += len;
	if (*at == '.') {
		if ((len = strspn(++at, "0123456789")) == 0)
			return PO_EINVAL;
		at += len;
	}
	if (*at != '\0')
		return PO_EINVAL;
	return (size_t)(at - s) > DECIMAL_TEXT_MAX ? PO_ERANGE : 0;
}

int
num_decimal_mul(const char *a, const char *b, char *ret, size_t cap)
{
	struct decimal x = { 0 }, y = { 0 }, z = { 0 };
	int rc = 0;

	if ((rc = decimal_parse(a, &x)) < 0 || (rc = decimal_parse(b, &y)) < 0)
		return rc;
	decimal_trim(&x);
	decimal_trim(&y);
	if (__builtin_mul_overflow(x.digits, y.digits, &z.digits))
		return PO_ERANGE;
	z.scale = x.scale + y.scale;
	z.is_negative = x.is_negative != y.is_negative;
	return decimal_print(z, ret, cap);
}

int
num_decimal_add(const char *a, const char *b, char *ret, size_t cap)
{
	struct decimal x = { 0 }, y = { 0 }, z = { 0 };
	int rc = 0;

	if ((rc = decimal_parse(a, &x)) < 0 || (rc = decimal_parse(b, &y)) < 0)
		return rc;
	decimal_trim(&x);
	decimal_trim(&y);
	z.scale = x.scale > y.scale ? x.scale : y.scale;
	if ((rc = decimal_scale(&x, z.scale)) < 0 ||
	    (rc = decimal_scale(&y, z.scale)) < 0)
		return rc;
	if (x.is_negative == y.is_negative) {
		z.is_negative = x.is_negative;
		if (__builtin_add_overflow(x.digits, y.digits, &z.digits))
			return PO_ERANGE;
	} else if (x.digits >= y.digits) {
		z.is_negative = x.is_negative;
		z.digits = x.digits - y.digits;
	} else {
		z.is_negative = y.is_negative;
		z.digits = y.digits - x.digits;
	}
	return decimal_print(z, ret, cap);
}

static bool
num_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* [-]digits[.digits][(e|E)[+-]digits] */
static int
decimal_parse(const char *s, struct decimal *ret)
{
	struct decimal d = { 0 };
	bool is_fraction = false;
	size_t ndigits = 0;
	int exp = 0, rc = 0;

	if (*s == '-') {
		d.is_negative = true;
		s++;
	}
	for (; num_is_digit(*s) || (*s == '.' && !is_fraction); s++) {
		if (*s == '.') {
			if (ndigits == 0 || !num_is_digit(s[1]))
				return PO_EINVAL;
			is_fraction = true;
			continue;
		}
		ndigits++;
		if (is_fraction && d.scale++ >= DECIMAL_EXP_MAX)
			return PO_ERANGE;
		if (__builtin_mul_overflow(d.digits, 10, &d.digits) ||
		    __builtin_add_overflow(d.digits, *s - '0', &d.digits))
			return PO_ERANGE;
	}
	if (ndigits == 0)
		return PO_EINVAL;
	if (*s == 'e' || *s == 'E') {
		if ((rc = decimal_parse_exp(s + 1, &exp)) < 0)
			return rc;
	} else if (*s != '\0')
		return PO_EINVAL;
	/* 10^exp moves the point to the right */
	if (exp <= d.scale)
		d.scale -= exp;
	else if (d.digits == 0)
		d.scale = 0;
	else {
		int zeros = exp - d.scale;

		d.scale = 0;
		if ((rc = decimal_scale(&d, zeros)) < 0)
			return rc;
		d.scale = 0;
	}
	*ret = d;
	return 0;
}

static int
decimal_parse_exp(const char *s, int *ret)
{
	bool is_negative = *s == '-';
	uint64_t abs = 0;
	int rc = 0;

	if (*s == '-' || *s == '+')
		s++;
	if ((rc = num_parse_u64(s, DECIMAL_EXP_MAX, &abs)) < 0)
		return rc;
	*ret = is_negative ? -(int)abs : (int)abs;
	return 0;
}

/* decimal_scale() appends zeros until there are scale fraction digits. */
static int
decimal_scale(struct decimal *d, int scale)
{
	for (; d->scale < scale; d->scale++)
		if (__builtin_mul_overflow(d->digits, 10, &d->digits))
			return PO_ERANGE;
	return 0;
}

static void
decimal_trim(struct decimal *d)
{
	if (d->digits == 0)
		d->scale = 0;
	while (d->scale > 0 && d->digits % 10 == 0) {
		d->digits /= 10;
		d->scale--;
	}
}

static int
decimal_print(struct decimal d, char *ret, size_t cap)
{
	/* 39 digits, or 2 * DECIMAL_EXP_MAX of a fraction; sign, "0.", NUL */
	char text[2 * DECIMAL_EXP_MAX + 48] = "";
	size_t at = sizeof(text) - 1;
	int i = 0;

	decimal_trim(&d);
	for (i = 0; d.digits != 0 || i <= d.scale; i++) {
		if (i == d.scale && i > 0)
			text[--at] = '.';
		text[--at] = (char)('0' + (int)(d.digits % 10));
		d.digits /= 10;
	}
	if (d.is_negative && strpbrk(text + at, "123456789") != NULL)
		text[--at] = '-';
	if (sizeof(text) - at > cap)
		return PO_ERANGE;
	memcpy(ret, text + at, sizeof(text) - at);
	return 0;
}
