/*
 * check_text.c - common/text.c knows UTF-8 as PostgreSQL does.
 */
#include <string.h>

#include "common/text.h"
#include "tests/unit/suite.h"

static const struct {
	const char	*text;
	size_t		 len;
	size_t		 valid;
	const char	*clean;
} cases[] = {
	{ "", 0, 0, "" },
	{ "plain", 5, 5, "plain" },
	{ "gr\xc3\xbc\xc3\x9f", 6, 6, "gr\xc3\xbc\xc3\x9f" },
	{ "\xe2\x82\xac", 3, 3, "\xe2\x82\xac" },
	{ "\xf0\x9f\x98\x80!", 5, 5, "\xf0\x9f\x98\x80!" },
	{ "a\0b", 3, 1, "a?b" },
	{ "a\xff" "b", 3, 1, "a?b" },
	{ "\x80", 1, 0, "?" },
	{ "\xc3", 1, 0, "?" },
	{ "\xe2\x82", 2, 0, "??" },
	{ "\xe2\x82x", 3, 0, "??x" },
	{ "\xc0\x80", 2, 0, "??" },		/* overlong NUL */
	{ "\xc1\xbf", 2, 0, "??" },
	{ "\xe0\x9f\xbf", 3, 0, "???" },	/* overlong */
	{ "\xe0\xa0\x80", 3, 3, "\xe0\xa0\x80" },
	{ "\xed\x9f\xbf", 3, 3, "\xed\x9f\xbf" },
	{ "\xed\xa0\x80", 3, 0, "???" },	/* surrogate */
	{ "\xf0\x8f\xbf\xbf", 4, 0, "????" },	/* overlong */
	{ "\xf4\x8f\xbf\xbf", 4, 4, "\xf4\x8f\xbf\xbf" },
	{ "\xf4\x90\x80\x80", 4, 0, "????" },	/* above U+10FFFF */
	{ "\xf5\x80\x80\x80", 4, 0, "????" },
};

START_TEST(test_cases)
{
	char copy[16];

	ck_assert_uint_eq(text_valid_len(cases[_i].text, cases[_i].len),
	    cases[_i].valid);
	memcpy(copy, cases[_i].text, cases[_i].len);
	text_clean(copy, cases[_i].len);
	ck_assert_mem_eq(copy, cases[_i].clean, cases[_i].len);
	ck_assert_uint_eq(text_valid_len(copy, cases[_i].len), cases[_i].len);
}
END_TEST

START_TEST(test_clip)
{
	const char *s = "a\xe2\x82\xac\xf0\x9f\x98\x80";	/* 1 + 3 + 4 */
	static const size_t want[] = { 0, 1, 1, 1, 4, 4, 4, 4, 8, 8 };
	size_t max = 0;

	for (max = 0; max < sizeof(want) / sizeof(want[0]); max++)
		ck_assert_uint_eq(text_clip(s, 8, max), want[max]);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("text");
	TCase *tc = tcase_create("text");

	tcase_add_loop_test(tc, test_cases, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, test_clip);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
