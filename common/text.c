/*
 * text.c - UTF-8 without NUL; see text.h.  Pure.
 *
 * PostgreSQL refuses a whole statement for one bad byte, so a provider's
 * broken error text must not travel as it came.
 */
#include "common/text.h"

#include <stdint.h>

static size_t	text_char_len(const uint8_t *, size_t);

size_t
text_valid_len(const char *s, size_t len)
{
	const uint8_t *at = (const uint8_t *)s;
	size_t done = 0, n = 0;

	while (done < len) {
		if ((n = text_char_len(at + done, len - done)) == 0)
			break;
		done += n;
	}
	return done;
}

void
text_clean(char *s, size_t len)
{
	size_t done = text_valid_len(s, len);

	while (done < len) {
		s[done++] = '?';
		done += text_valid_len(s + done, len - done);
	}
}

size_t
text_clip(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	/* back over the continuation bytes of the character that is cut */
	while (max > 0 && ((uint8_t)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

/* Bytes of the character at s, 0 when it is none (Unicode, table 3-7). */
static size_t
text_char_len(const uint8_t *s, size_t len)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t need = 0, i = 0;

	if (s[0] >= 0x01 && s[0] <= 0x7f)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		need = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		need = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		need = 4;
	if (need == 0 || need > len)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;		/* overlong */
	else if (s[0] == 0xed)
		high = 0x9f;		/* surrogates */
	else if (s[0] == 0xf0)
		low = 0x90;		/* overlong */
	else if (s[0] == 0xf4)
		high = 0x8f;		/* above U+10FFFF */
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < need; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return need;
}
