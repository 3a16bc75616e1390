/*
 * retry.c - Retry-After, as seconds, as "30s", or as an HTTP date.
 *
 * Owns nothing.  Must not look at a clock: a date is compared with the Date
 * header of the same answer.
 */
#include <string.h>

#include "common/num.h"
#include "provider/parts.h"

#define RETRY_MAX_MS	(3600 * 1000)	/* no provider stops a kind for more */
#define DATE_LEN	29		/* Sun, 06 Nov 1994 08:49:37 GMT */

static int	date_parse(const char *, int64_t *);

int64_t
retry_after_ms(const char *text, const struct answer *answer)
{
	char digits[24] = "";
	const char *date = NULL;
	size_t len = strspn(text, "0123456789.");
	int64_t ms = 0, at = 0, now = 0;

	if (len > 0 && len < sizeof(digits) && (text[len] == '\0' ||
	    (text[len] == 's' && text[len + 1] == '\0'))) {
		memcpy(digits, text, len);
		if (decimal_to_i64(digits, "1000", &ms) < 0)
			return -1;
	} else if (len >= sizeof(digits) && text[len] == '\0') {
		return RETRY_MAX_MS;
	} else {
		if (answer == NULL || date_parse(text, &at) < 0 ||
		    (date = answer_header(answer, "date")) == NULL ||
		    date_parse(date, &now) < 0)
			return -1;
		ms = at > now ? (at - now) * 1000 : 0;
	}
	return ms > RETRY_MAX_MS ? RETRY_MAX_MS : ms;
}

static int
two_digits(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	char text[3] = { s[0], s[1], '\0' };
	uint64_t value = 0;

	if (num_parse_u64(text, (uint64_t)max, &value) < 0 ||
	    (int64_t)value < min)
		return -1;
	*ret = (int64_t)value;
	return 0;
}

/* date_parse() gives seconds since 1970 of the one form that is sent. */
static int
date_parse(const char *s, int64_t *ret)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char name[4] = "";
	const char *month = NULL;
	int64_t day = 0, century = 0, year = 0, hour = 0, min = 0, sec = 0;
	int64_t mon = 0, era_day = 0;

	if (strlen(s) != DATE_LEN || s[3] != ',' ||
	    strcmp(s + 25, " GMT") != 0)
		return -1;
	memcpy(name, s + 8, 3);
	if ((month = strstr(months, name)) == NULL ||
	    (month - months) % 3 != 0 ||
	    two_digits(s + 5, 1, 31, &day) < 0 ||
	    two_digits(s + 12, 0, 99, &century) < 0 ||
	    two_digits(s + 14, 0, 99, &year) < 0 ||
	    two_digits(s + 17, 0, 23, &hour) < 0 ||
	    two_digits(s + 20, 0, 59, &min) < 0 ||
	    two_digits(s + 23, 0, 60, &sec) < 0)
		return -1;
	year += century * 100;
	mon = (month - months) / 3 + 1;
	if (year < 1970)
		return -1;
	/* the year begins in March, so that a leap day is its last day */
	year -= mon <= 2;
	mon = (mon + 9) % 12;
	era_day = year * 365 + year / 4 - year / 100 + year / 400 +
	    (153 * mon + 2) / 5 + day - 1 - 719468;
	*ret = ((era_day * 24 + hour) * 60 + min) * 60 + sec;
	return 0;
}
