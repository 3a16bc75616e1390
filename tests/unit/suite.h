/*
 * suite.h - the main() of a unit test: one suite, quiet unless it fails.
 */
#ifndef PAYONCE_TESTS_SUITE_H
#define PAYONCE_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

static inline int
suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed = 0;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
