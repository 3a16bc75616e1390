/*
 * suite.c - the frame of the integration tests: a rig before, its checks
 * after each test.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/integration/suite.h"
#include "tests/lib/pgtest.h"

struct rig	*rig;

static void	suite_setup(void);
static void	suite_teardown(void);

int
suite_run(int argc, char **argv, const char *name,
    const TTest *const *tests, size_t count, int timeout_s)
{
	Suite *s = suite_create(name);
	TCase *tc = tcase_create(name);
	SRunner *sr;
	size_t i;
	int failed;

	pgtest_start(argc, argv);
	tcase_set_timeout(tc, timeout_s);
	tcase_add_checked_fixture(tc, suite_setup, suite_teardown);
	for (i = 0; i < count; i++)
		if (argc < 2 || strstr(tests[i]->name, argv[1]) != NULL)
			tcase_add_test(tc, tests[i]);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
suite_setup(void)
{
	rig = rig_open();
}

static void
suite_teardown(void)
{
	rig_close(&rig);
}
