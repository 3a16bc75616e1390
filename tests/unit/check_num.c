/*
 * check_num.c - common/num.c parses strictly and counts money exactly.
 */
#include <string.h>

#include "common/err.h"
#include "common/num.h"
#include "tests/unit/suite.h"

static const struct {
	const char	*text;
	int64_t		 min, max;
	int		 rc;
	int64_t		 value;
} i64_cases[] = {
	{ "0", 0, 10, 0, 0 },
	{ "10", 0, 10, 0, 10 },
	{ "11", 0, 10, PO_ERANGE, 0 },
	{ "-1", 0, 10, PO_EINVAL, 0 },
	{ "-1", -1, 10, 0, -1 },
	{ "-2", -1, 10, PO_ERANGE, 0 },
	{ "-0", -1, 10, 0, 0 },
	{ "", 0, 10, PO_EINVAL, 0 },
	{ "-", -5, 10, PO_EINVAL, 0 },
	{ "--1", -5, 10, PO_EINVAL, 0 },
	{ "+1", 0, 10, PO_EINVAL, 0 },
	{ " 1", 0, 10, PO_EINVAL, 0 },
	{ "1 ", 0, 10, PO_EINVAL, 0 },
	{ "1x", 0, 10, PO_EINVAL, 0 },
	{ "0x1", 0, 10, PO_EINVAL, 0 },
	{ "1.0", 0, 10, PO_EINVAL, 0 },
	{ "9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX },
	{ "9223372036854775808", INT64_MIN, INT64_MAX, PO_ERANGE, 0 },
	{ "-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN },
	{ "-9223372036854775809", INT64_MIN, INT64_MAX, PO_ERANGE, 0 },
	{ "99999999999999999999999", 0, INT64_MAX, PO_ERANGE, 0 },
	{ "99999999999999999999999x", 0, INT64_MAX, PO_EINVAL, 0 },
};

START_TEST(test_i64)
{
	int64_t value = 4711;
	int rc = num_parse_i64(i64_cases[_i].text, i64_cases[_i].min,
	    i64_cases[_i].max, &value);

	ck_assert_msg(rc == i64_cases[_i].rc, "\"%s\": %d", i64_cases[_i].text,
	    rc);
	ck_assert_int_eq(value, rc == 0 ? i64_cases[_i].value : 4711);
}
END_TEST

static const struct {
	const char	*text;
	uint64_t	 max;
	int		 rc;
	uint64_t	 value;
} u64_cases[] = {
	{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
	{ "18446744073709551616", UINT64_MAX, PO_ERANGE, 0 },
	{ "184467440737095516150", UINT64_MAX, PO_ERANGE, 0 },
	{ "007", 9, 0, 7 },
	{ "10", 9, PO_ERANGE, 0 },
	{ "-1", 9, PO_EINVAL, 0 },
	{ "1e1", 99, PO_EINVAL, 0 },
	{ "1\n", 99, PO_EINVAL, 0 },
};

START_TEST(test_u64)
{
	uint64_t value = 4711;
	int rc = num_parse_u64(u64_cases[_i].text, u64_cases[_i].max, &value);

	ck_assert_msg(rc == u64_cases[_i].rc, "\"%s\": %d", u64_cases[_i].text,
	    rc);
	ck_assert_uint_eq(value, rc == 0 ? u64_cases[_i].value : 4711);
}
END_TEST

static const struct {
	const char	*text;
	int		 rc;
} check_cases[] = {
	{ "0", 0 },
	{ "0.03", 0 },
	{ "-12.5", 0 },
	{ "1234567890123456789012345678901234567890", 0 },
	{ "12345678901234567890123456789012345678901", PO_ERANGE },
	{ "0.12345678901234567890123456789012345678", 0 },
	{ "0.123456789012345678901234567890123456789", PO_ERANGE },
	{ "", PO_EINVAL },
	{ "-", PO_EINVAL },
	{ ".5", PO_EINVAL },
	{ "5.", PO_EINVAL },
	{ "1e5", PO_EINVAL },
	{ "1.2.3", PO_EINVAL },
	{ "+1", PO_EINVAL },
	{ " 1", PO_EINVAL },
	{ "1,5", PO_EINVAL },
	{ "NaN", PO_EINVAL },
	{ "Infinity", PO_EINVAL },
	{ "1'); DROP", PO_EINVAL },
};

START_TEST(test_check)
{
	ck_assert_msg(num_decimal_check(check_cases[_i].text) ==
	    check_cases[_i].rc, "\"%s\"", check_cases[_i].text);
}
END_TEST

static const struct {
	char		 op;
	const char	*a, *b;
	int		 rc;
	const char	*value;
} decimal_cases[] = {
	{ '*', "3.008", "0.03", 0, "0.09024" },
	{ '*', "0.00001230", "1", 0, "0.0000123" },
	{ '*', "0.00001230", "1000000", 0, "12.3" },
	{ '*', "1e-5", "3", 0, "0.00003" },
	{ '*', "1.5E+3", "2", 0, "3000" },
	{ '*', "12e2", "0.01", 0, "12" },
	{ '*', "-0.1", "0.1", 0, "-0.01" },
	{ '*', "-0.1", "-0.1", 0, "0.01" },
	{ '*', "0", "-7", 0, "0" },
	{ '*', "-0.00", "7", 0, "0" },
	/* a price in ticks of 10^-10 */
	{ '*', "123456789", "0.0000000001", 0, "0.0123456789" },
	{ '*', "123456789", "1e-10", 0, "0.0123456789" },
	{ '*', "1", "1e-10", 0, "0.0000000001" },
	{ '*', "18446744073709551615", "18446744073709551615", 0,
	    "340282366920938463426481119284349108225" },
	{ '*', "18446744073709551616", "18446744073709551616", PO_ERANGE,
	    NULL },
	{ '*', "1000000000000000000000000000000000000000", "1", PO_ERANGE,
	    NULL },
	{ '*', "1e60", "1", PO_ERANGE, NULL },
	{ '*', "1e99999999999999999999", "1", PO_ERANGE, NULL },
	{ '*', "0e50", "3", 0, "0" },
	{ '*', "1.", "1", PO_EINVAL, NULL },
	{ '*', ".1", "1", PO_EINVAL, NULL },
	{ '*', "1", "", PO_EINVAL, NULL },
	{ '*', "1e", "1", PO_EINVAL, NULL },
	{ '*', "1e+", "1", PO_EINVAL, NULL },
	{ '*', "1e1.5", "1", PO_EINVAL, NULL },
	{ '*', "0x10", "1", PO_EINVAL, NULL },
	{ '*', "nan", "1", PO_EINVAL, NULL },
	{ '+', "0.1", "0.2", 0, "0.3" },
	{ '+', "0.00001230", "0.00000770", 0, "0.00002" },
	{ '+', "999.99", "0.01", 0, "1000" },
	{ '+', "1", "-1.000", 0, "0" },
	{ '+', "-0.3", "0.1", 0, "-0.2" },
	{ '+', "0.1", "-0.3", 0, "-0.2" },
	{ '+', "-1", "-1e-2", 0, "-1.01" },
	{ '+', "1e-10", "12345678", 0, "12345678.0000000001" },
	{ '+', "340282366920938463463374607431768211455", "1", PO_ERANGE,
	    NULL },
	{ '+', "340282366920938463463374607431768211454", "1", 0,
	    "340282366920938463463374607431768211455" },
	{ '+', "1e38", "1e-5", PO_ERANGE, NULL },
	{ '+', "1", "x", PO_EINVAL, NULL },
};

START_TEST(test_decimal)
{
	char ret[160] = "same";
	int rc = 0;

	if (decimal_cases[_i].op == '*')
		rc = num_decimal_mul(decimal_cases[_i].a, decimal_cases[_i].b,
		    ret, sizeof(ret));
	else
		rc = num_decimal_add(decimal_cases[_i].a, decimal_cases[_i].b,
		    ret, sizeof(ret));
	ck_assert_msg(rc == decimal_cases[_i].rc, "%s %c %s: %d",
	    decimal_cases[_i].a, decimal_cases[_i].op, decimal_cases[_i].b,
	    rc);
	ck_assert_str_eq(ret, rc == 0 ? decimal_cases[_i].value : "same");
}
END_TEST

START_TEST(test_decimal_cap)
{
	char ret[8] = "same";

	ck_assert_int_eq(num_decimal_add("123", "0.456", ret, 7), PO_ERANGE);
	ck_assert_str_eq(ret, "same");
	ck_assert_int_eq(num_decimal_add("123", "0.456", ret, 8), 0);
	ck_assert_str_eq(ret, "123.456");
}
END_TEST

/* Every sum of cents comes out to the cent, where doubles drift. */
START_TEST(test_decimal_many)
{
	char sum[48] = "0", want[48] = "";
	int i = 0;

	for (i = 1; i <= 10000; i++)
		ck_assert_int_eq(num_decimal_add(sum, "0.07", sum,
		    sizeof(sum)), 0);
	ck_assert_int_eq(num_decimal_mul("10000", "0.07", want,
	    sizeof(want)), 0);
	ck_assert_str_eq(sum, "700");
	ck_assert_str_eq(sum, want);
}
END_TEST

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	Suite *s = suite_create("num");
	TCase *tc = tcase_create("num");

	tcase_add_loop_test(tc, test_i64, 0, COUNT(i64_cases));
	tcase_add_loop_test(tc, test_u64, 0, COUNT(u64_cases));
	tcase_add_loop_test(tc, test_check, 0, COUNT(check_cases));
	tcase_add_loop_test(tc, test_decimal, 0, COUNT(decimal_cases));
	tcase_add_test(tc, test_decimal_cap);
	tcase_add_test(tc, test_decimal_many);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
