/*
 * check_mono.c - common/mono.c: boot time, saturating, never early.
 */
#include <time.h>

#include "common/mono.h"
#include "tests/unit/suite.h"

START_TEST(test_is_boottime)
{
	struct timespec ts = { 0 };
	struct mono before = mono_now(), after = { 0 };
	int64_t ns = 0;

	ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &ts), 0);
	ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	after = mono_now();
	ck_assert_int_le(before.ns, ns);
	ck_assert_int_le(ns, after.ns);
	ck_assert(mono_is_set(before));
	ck_assert(!mono_is_set((struct mono){ 0 }));
}
END_TEST

START_TEST(test_add_and_diff)
{
	struct mono a = { .ns = 5000000 }, b = mono_add_ms(a, 250);

	ck_assert_int_eq(b.ns, 255000000);
	ck_assert_int_eq(mono_diff_ms(b, a), 250);
	ck_assert_int_eq(mono_diff_ms(a, b), -250);
	ck_assert(mono_is_before(a, b));
	ck_assert(!mono_is_before(b, a));
	ck_assert(!mono_is_before(a, a));
	ck_assert_int_eq(mono_add_ms(b, -250).ns, a.ns);
}
END_TEST

START_TEST(test_saturates)
{
	struct mono now = mono_now();
	struct mono never = mono_add_ms(now, INT64_MAX);
	struct mono ever = mono_add_ms(now, INT64_MIN);

	ck_assert_int_eq(never.ns, INT64_MAX);
	ck_assert_int_eq(ever.ns, INT64_MIN);
	ck_assert_int_gt(mono_diff_ms(never, ever), 0);
	ck_assert_int_lt(mono_diff_ms(ever, never), 0);
	ck_assert(mono_is_before(now, never));
}
END_TEST

START_TEST(test_left)
{
	struct mono now = mono_now();
	int64_t left = mono_left_ms(mono_add_ms(now, 60000));

	ck_assert_int_le(left, 60000);
	ck_assert_int_gt(left, 50000);
	ck_assert_int_eq(mono_left_ms(now), 0);
	ck_assert_int_eq(mono_left_ms(mono_add_ms(now, -5)), 0);
	ck_assert_int_eq(mono_left_ms((struct mono){ 0 }), INT64_MAX);
	/* a deadline within a millisecond is not over yet: never 0 */
	now = mono_now();
	now.ns += 900000;
	left = mono_left_ms(now);
	ck_assert(left == 1 || !mono_is_before(mono_now(), now));
}
END_TEST

START_TEST(test_timeval)
{
	struct timeval tv = ms_to_timeval(1234);

	ck_assert_int_eq(tv.tv_sec, 1);
	ck_assert_int_eq(tv.tv_usec, 234000);
	tv = ms_to_timeval(0);
	ck_assert_int_eq(tv.tv_sec, 0);
	ck_assert_int_eq(tv.tv_usec, 0);
	tv = ms_to_timeval(-1);
	ck_assert_int_eq(tv.tv_sec, 0);
	ck_assert_int_eq(tv.tv_usec, 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("mono");
	TCase *tc = tcase_create("mono");

	tcase_add_test(tc, test_is_boottime);
	tcase_add_test(tc, test_add_and_diff);
	tcase_add_test(tc, test_saturates);
	tcase_add_test(tc, test_left);
	tcase_add_test(tc, test_timeval);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
