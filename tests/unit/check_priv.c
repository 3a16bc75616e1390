/*
 * check_priv.c - root is given away with all its groups, for good.
 *
 * Needs root to show anything; else it is skipped.
 */
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "common/err.h"
#include "common/priv.h"
#include "tests/unit/suite.h"

#define EXIT_SKIPPED	77

START_TEST(test_drop)
{
	const gid_t extra[] = { 0, 4711 };
	const struct passwd *pw = getpwnam("nobody");
	gid_t groups[64] = { 0 };
	uid_t ruid = 0, euid = 0, suid = 0;
	gid_t rgid = 0, egid = 0, sgid = 0;
	int n = 0, i = 0;

	ck_assert_ptr_nonnull(pw);
	ck_assert_int_eq(setgroups(2, extra), 0);
	ck_assert_int_eq(priv_drop("nobody"), 0);
	ck_assert_int_eq(getresuid(&ruid, &euid, &suid), 0);
	ck_assert_int_eq(getresgid(&rgid, &egid, &sgid), 0);
	ck_assert(ruid == pw->pw_uid && euid == ruid && suid == ruid);
	ck_assert(rgid == pw->pw_gid && egid == rgid && sgid == rgid);
	n = getgroups(64, groups);
	for (i = 0; i < n; i++)
		ck_assert(groups[i] != 0 && groups[i] != 4711);
	ck_assert_int_eq(setuid(0), -1);
	ck_assert_int_eq(setgid(0), -1);
	/* again, without root: nothing to do */
	ck_assert_int_eq(priv_drop("root"), 0);
	ck_assert_uint_eq(geteuid(), pw->pw_uid);
}
END_TEST

START_TEST(test_no_such_user)
{
	ck_assert_int_eq(priv_drop("no-such-user-here"), PO_ENOENT);
	ck_assert_uint_eq(geteuid(), 0);
}
END_TEST

START_TEST(test_nobody_named)
{
	ck_assert_int_eq(priv_drop(NULL), 0);
	ck_assert_int_eq(priv_drop(""), 0);
	ck_assert_uint_eq(geteuid(), 0);
	ck_assert_int_eq(priv_drop("root"), 0);
	ck_assert_uint_eq(geteuid(), 0);
}
END_TEST

int
main(void)
{
	Suite *s = NULL;
	TCase *tc = NULL;

	if (geteuid() != 0)
		return EXIT_SKIPPED;
	s = suite_create("priv");
	tc = tcase_create("priv");
	tcase_add_test(tc, test_drop);
	tcase_add_test(tc, test_no_such_user);
	tcase_add_test(tc, test_nobody_named);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
