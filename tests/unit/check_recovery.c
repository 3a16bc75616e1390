/*
 * check_recovery.c - the recovery decision for every row that can be, and
 * every one that cannot.
 *
 * What is expected is written here a second time, as a list of patterns over
 * the columns of a row ('?' any, '1' set, '0' not set, 'o' open, 'x' not
 * open), with the rows that matter most spelled out by hand after it.
 */
#include <stdio.h>
#include <string.h>

#include "common/task.h"
#include "tests/unit/suite.h"

/*
 * One character each: status (R running, S submitted, - any other), local,
 * marked, request id, result, own id, idempotency window, look-up window.
 */
static const struct {
	const char	*pattern;
	enum recovery	 want;
} rules[] = {
	{ "-???????", RECOVERY_NONE },
	{ "R??1????", RECOVERY_POLL },
	{ "R??01???", RECOVERY_POLL },
	{ "S??1????", RECOVERY_POLL },
	{ "S??01???", RECOVERY_POLL },
	{ "S??00???", RECOVERY_PARK },
	{ "R1?00???", RECOVERY_REQUEUE },
	{ "R0000???", RECOVERY_REQUEUE },
	{ "R0100?o?", RECOVERY_RESEND },
	{ "R01001xo", RECOVERY_LOOKUP },
	{ "R01001xx", RECOVERY_PARK },
	{ "R01000x?", RECOVERY_PARK },
};

#define RULES	(sizeof(rules) / sizeof(rules[0]))
#define ROWS	(TASK_STATUS_MAX * 2 * 2 * 2 * 2 * 2 * 3 * 3)

static void
row_write(const struct task_evidence *row, char text[9])
{
	text[0] = row->status == TASK_RUNNING ? 'R' :
	    row->status == TASK_SUBMITTED ? 'S' : '-';
	text[1] = row->is_local ? '1' : '0';
	text[2] = row->is_marked ? '1' : '0';
	text[3] = row->has_request_id ? '1' : '0';
	text[4] = row->has_result ? '1' : '0';
	text[5] = row->has_own_id ? '1' : '0';
	text[6] = row->idempotency == WINDOW_OPEN ? 'o' : 'x';
	text[7] = row->lookup == WINDOW_OPEN ? 'o' : 'x';
	text[8] = '\0';
}

static int
is_match(const char *pattern, const char *text)
{
	size_t i = 0;

	for (i = 0; i < 8; i++)
		if (pattern[i] != '?' && pattern[i] != text[i])
			return 0;
	return 1;
}

static unsigned int
digit(unsigned int *number, unsigned int base)
{
	unsigned int ret = *number % base;

	*number /= base;
	return ret;
}

/* Exactly one rule covers each row, and the function says the same. */
START_TEST(test_every_row)
{
	unsigned int n = 0, left = 0, seen[RECOVERY_MAX] = { 0 };
	size_t used[RULES] = { 0 }, i = 0, hit = 0, hits = 0;
	char text[9];

	for (n = 0; n < ROWS; n++) {
		struct task_evidence row = { 0 };

		left = n;
		row.status = (enum task_status)digit(&left, TASK_STATUS_MAX);
		row.is_local = digit(&left, 2) == 1;
		row.is_marked = digit(&left, 2) == 1;
		row.has_request_id = digit(&left, 2) == 1;
		row.has_result = digit(&left, 2) == 1;
		row.has_own_id = digit(&left, 2) == 1;
		row.idempotency = (enum task_window)digit(&left, 3);
		row.lookup = (enum task_window)digit(&left, 3);
		ck_assert_uint_eq(left, 0);
		row_write(&row, text);
		hits = 0;
		for (i = 0; i < RULES; i++) {
			if (is_match(rules[i].pattern, text)) {
				hit = i;
				hits++;
			}
		}
		ck_assert_msg(hits == 1, "%s: %zu rules", text, hits);
		used[hit]++;
		seen[rules[hit].want]++;
		ck_assert_msg(recovery_for(&row) == rules[hit].want,
		    "%s: %s instead of %s", text,
		    recovery_name(recovery_for(&row)),
		    recovery_name(rules[hit].want));
	}
	for (i = 0; i < RULES; i++)
		ck_assert_uint_gt(used[i], 0);
	for (i = 0; i < RECOVERY_MAX; i++)
		ck_assert_uint_gt(seen[i], 0);
}
END_TEST

/* DESIGN, law 3, word by word. */
static const struct {
	const char		*why;
	struct task_evidence	 row;
	enum recovery		 want;
} pins[] = {
	{ "request id: poll, never resubmit", {
		.status = TASK_SUBMITTED, .is_marked = true,
		.has_request_id = true, .has_own_id = true,
		.idempotency = WINDOW_OPEN, .lookup = WINDOW_OPEN,
	    }, RECOVERY_POLL },
	{ "a saved result is fetched, not bought again", {
		.status = TASK_RUNNING, .is_marked = true,
		.has_result = true, .idempotency = WINDOW_OPEN,
	    }, RECOVERY_POLL },
	{ "not marked: requeue", {
		.status = TASK_RUNNING, .has_own_id = true,
		.lookup = WINDOW_OPEN,
	    }, RECOVERY_REQUEUE },
	{ "marked, key still valid: resend", {
		.status = TASK_RUNNING, .is_marked = true,
		.has_own_id = true, .idempotency = WINDOW_OPEN,
		.lookup = WINDOW_OPEN,
	    }, RECOVERY_RESEND },
	{ "marked, key run out, own id can be looked up", {
		.status = TASK_RUNNING, .is_marked = true,
		.has_own_id = true, .idempotency = WINDOW_CLOSED,
		.lookup = WINDOW_OPEN,
	    }, RECOVERY_LOOKUP },
	{ "marked, everything run out: park", {
		.status = TASK_RUNNING, .is_marked = true,
		.has_own_id = true, .idempotency = WINDOW_CLOSED,
		.lookup = WINDOW_CLOSED,
	    }, RECOVERY_PARK },
	{ "marked, nothing else: park", {
		.status = TASK_RUNNING, .is_marked = true,
		.has_own_id = true,
	    }, RECOVERY_PARK },
	{ "a look-up needs the own id", {
		.status = TASK_RUNNING, .is_marked = true,
		.lookup = WINDOW_OPEN,
	    }, RECOVERY_PARK },
	{ "nothing is paid for a local program", {
		.status = TASK_RUNNING, .is_local = true,
	    }, RECOVERY_REQUEUE },
	{ "parked stays parked (law 4)", {
		.status = TASK_OUTCOME_UNKNOWN, .is_marked = true,
		.has_own_id = true, .idempotency = WINDOW_OPEN,
		.lookup = WINDOW_OPEN,
	    }, RECOVERY_NONE },
	{ "waiting work is not in flight", {
		.status = TASK_PENDING,
	    }, RECOVERY_NONE },
};

START_TEST(test_pins)
{
	enum recovery got = recovery_for(&pins[_i].row);

	ck_assert_msg(got == pins[_i].want, "%s: %s", pins[_i].why,
	    recovery_name(got));
}
END_TEST

START_TEST(test_names)
{
	ck_assert_str_eq(recovery_name(RECOVERY_NONE), "none");
	ck_assert_str_eq(recovery_name(RECOVERY_POLL), "poll");
	ck_assert_str_eq(recovery_name(RECOVERY_REQUEUE), "requeue");
	ck_assert_str_eq(recovery_name(RECOVERY_RESEND), "resend");
	ck_assert_str_eq(recovery_name(RECOVERY_LOOKUP), "lookup");
	ck_assert_str_eq(recovery_name(RECOVERY_PARK), "park");
	ck_assert_str_eq(recovery_name(RECOVERY_MAX), "?");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("recovery");
	TCase *tc = tcase_create("recovery");

	tcase_add_test(tc, test_every_row);
	tcase_add_loop_test(tc, test_pins, 0,
	    (int)(sizeof(pins) / sizeof(pins[0])));
	tcase_add_test(tc, test_names);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
