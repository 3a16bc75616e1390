/*
 * check_task.c - task states have the names that SQL uses; error codes speak.
 */
#include <string.h>

#include "common/err.h"
#include "common/task.h"
#include "tests/unit/suite.h"

static const struct {
	enum task_status	 status;
	const char		*name;
} cases[] = {
	{ TASK_WAITING, "WAITING" },
	{ TASK_PENDING, "PENDING" },
	{ TASK_RUNNING, "RUNNING" },
	{ TASK_SUBMITTED, "SUBMITTED" },
	{ TASK_SUCCEEDED, "SUCCEEDED" },
	{ TASK_FAILED, "FAILED" },
	{ TASK_CANCELED, "CANCELED" },
	{ TASK_OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN" },
};

START_TEST(test_names)
{
	enum task_status status = TASK_STATUS_MAX;

	ck_assert_uint_eq(sizeof(cases) / sizeof(cases[0]), TASK_STATUS_MAX);
	ck_assert_str_eq(task_status_name(cases[_i].status), cases[_i].name);
	ck_assert_int_eq(task_status_parse(cases[_i].name, &status), 0);
	ck_assert_int_eq(status, cases[_i].status);
}
END_TEST

START_TEST(test_unknown_names)
{
	enum task_status status = TASK_RUNNING;

	ck_assert_int_eq(task_status_parse("running", &status), PO_EINVAL);
	ck_assert_int_eq(task_status_parse("", &status), PO_EINVAL);
	ck_assert_int_eq(task_status_parse("RUNNING ", &status), PO_EINVAL);
	ck_assert_int_eq(status, TASK_RUNNING);
	ck_assert_str_eq(task_status_name(TASK_STATUS_MAX), "?");
	ck_assert_str_eq(task_status_name((enum task_status)-1), "?");
}
END_TEST

START_TEST(test_error_names)
{
	int a = 0, b = 0;

	for (a = PO_EVERSION; a <= PO_OK; a++) {
		ck_assert_str_ne(po_strerror(a), "unknown error");
		for (b = PO_EVERSION; b < a; b++)
			ck_assert_str_ne(po_strerror(a), po_strerror(b));
	}
	ck_assert_str_eq(po_strerror(1), "unknown error");
	ck_assert_str_eq(po_strerror(PO_EVERSION - 1), "unknown error");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("task");
	TCase *tc = tcase_create("task");

	tcase_add_loop_test(tc, test_names, 0, TASK_STATUS_MAX);
	tcase_add_test(tc, test_unknown_names);
	tcase_add_test(tc, test_error_names);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
