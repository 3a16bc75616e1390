/*
 * check_restart.c - restart throttling, breaker and backoff: pure decisions.
 */
#include "supervisor/hold.h"
#include "supervisor/restart.h"
#include "tests/unit/suite.h"

static struct mono
at(int64_t ms)
{
	struct mono m = { .ns = INT64_C(1000000000) };

	return mono_add_ms(m, ms);
}

START_TEST(early_deaths_double)
{
	struct restart r = { .failures = 0 };
	static const int64_t want[] = { 0, 200, 400, 800, 1600, 3200, 6400,
	    12800, 25600, 51200, 60000, 60000 };
	size_t i = 0;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		ck_assert_int_eq(restart_note_death(&r, DEATH_EARLY, at(0)),
		    want[i]);
	ck_assert_int_eq(restart_wait_ms(&r, at(0)), 60000);
	ck_assert_int_eq(restart_wait_ms(&r, at(59999)), 1);
	ck_assert_int_eq(restart_wait_ms(&r, at(60001)), 0);
}
END_TEST

START_TEST(one_task_forgets)
{
	struct restart r = { .failures = 0 };

	(void)restart_note_death(&r, DEATH_EARLY, at(0));
	(void)restart_note_death(&r, DEATH_EARLY, at(0));
	restart_note_success(&r, false);	/* HELLO alone is no success */
	ck_assert_int_gt(restart_wait_ms(&r, at(0)), 0);
	restart_note_success(&r, true);
	ck_assert_int_eq(restart_wait_ms(&r, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_EARLY, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_EARLY, at(0)), 200);
}
END_TEST

START_TEST(deaths_that_do_not_count)
{
	struct restart r = { .failures = 0 };

	ck_assert_int_eq(restart_note_death(&r, DEATH_ASKED, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_USEFUL, at(0)), 0);
	/* before anything worked useless ones throttle, later not */
	ck_assert_int_eq(restart_note_death(&r, DEATH_USELESS, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_USELESS, at(0)), 200);
	restart_note_success(&r, true);
	ck_assert_int_eq(restart_note_death(&r, DEATH_USELESS, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_USELESS, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_EARLY, at(0)), 0);
	ck_assert_int_eq(restart_note_death(&r, DEATH_EARLY, at(0)), 200);
}
END_TEST

START_TEST(wrong_configuration_waits_longest)
{
	struct restart r = { .failures = 0 };

	ck_assert_int_eq(restart_note_death(&r, DEATH_CONFIG, at(0)), 60000);
}
END_TEST

START_TEST(breaker_opens_at_its_number)
{
	struct hold h = { .ambiguous = 0 };
	int64_t delay = -1;

	ck_assert(!hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
	ck_assert(!hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
	ck_assert(hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
	ck_assert_int_eq(delay, 0);
	hold_reset(&h);
	/* 0 switches it off */
	ck_assert(!hold_note(&h, HOLD_AMBIGUOUS, 0, -1, at(0), &delay));
}
END_TEST

START_TEST(breaker_needs_a_row)
{
	struct hold h = { .ambiguous = 0 };
	int64_t delay = -1;

	(void)hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay);
	(void)hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay);
	/* our own crash neither counts nor forgives */
	ck_assert(!hold_note(&h, HOLD_OUR_FAULT, 3, -1, at(0), &delay));
	ck_assert_uint_eq(h.ambiguous, 2);
	ck_assert(!hold_note(&h, HOLD_ANSWERED, 3, -1, at(0), &delay));
	ck_assert(!hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
	ck_assert(!hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
	ck_assert(hold_note(&h, HOLD_AMBIGUOUS, 3, -1, at(0), &delay));
}
END_TEST

START_TEST(retry_after_is_kept)
{
	struct hold h = { .ambiguous = 0 };
	int64_t delay = -1;

	ck_assert(!hold_note(&h, HOLD_THROTTLED, 3, 7000, at(0), &delay));
	ck_assert_int_eq(delay, 7000);
	ck_assert(hold_is_paused(&h, at(6999)));
	ck_assert(!hold_is_paused(&h, at(7000)));
}
END_TEST

START_TEST(backoff_doubles_to_a_minute)
{
	struct hold h = { .ambiguous = 0 };
	int64_t delay = -1, now = 0, want = 1000;
	int i = 0;

	for (i = 0; i < 10; i++) {
		(void)hold_note(&h, HOLD_THROTTLED, 3, -1, at(now), &delay);
		ck_assert_int_eq(delay, want);
		/* a burst within the pause is one step */
		(void)hold_note(&h, HOLD_THROTTLED, 3, -1, at(now), &delay);
		ck_assert_int_eq(delay, want);
		now += delay + 1;
		want = want * 2 > 60000 ? 60000 : want * 2;
	}
	(void)hold_note(&h, HOLD_ANSWERED, 3, -1, at(now), &delay);
	(void)hold_note(&h, HOLD_UNREACHED, 3, -1, at(now), &delay);
	ck_assert_int_eq(delay, 1000);
}
END_TEST

START_TEST(late_answer_ends_no_pause)
{
	struct hold h = { .ambiguous = 0 };
	int64_t delay = -1;

	(void)hold_note(&h, HOLD_THROTTLED, 3, 5000, at(0), &delay);
	(void)hold_note(&h, HOLD_ANSWERED, 3, -1, at(100), &delay);
	ck_assert(hold_is_paused(&h, at(4000)));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("restart");
	TCase *tc = tcase_create("restart");

	tcase_add_test(tc, early_deaths_double);
	tcase_add_test(tc, one_task_forgets);
	tcase_add_test(tc, deaths_that_do_not_count);
	tcase_add_test(tc, wrong_configuration_waits_longest);
	tcase_add_test(tc, breaker_opens_at_its_number);
	tcase_add_test(tc, breaker_needs_a_row);
	tcase_add_test(tc, retry_after_is_kept);
	tcase_add_test(tc, backoff_doubles_to_a_minute);
	tcase_add_test(tc, late_answer_ends_no_pause);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
