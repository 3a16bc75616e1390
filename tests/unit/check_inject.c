/*
 * check_inject.c - a fault point fires once, in one process, as told.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/fdutil.h"
#include "common/inject.h"
#include "common/mono.h"
#include "tests/unit/suite.h"

static char	dir[] = "/tmp/check_inject.XXXXXX";

static void
setup(void)
{
	(void)strlcpy(dir, "/tmp/check_inject.XXXXXX", sizeof(dir));
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(setenv("PAYONCE_INJECT_DIR", dir, 1), 0);
}

static void
arm(const char *point, const char *text)
{
	char path[128];
	int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, point);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fd_write_all(fd, text, strlen(text)), 0);
	fd_close(&fd);
}

/* The file is gone, and says who took it; the folder is empty afterwards. */
static void
expect_taken(const char *point, pid_t pid)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, point);
	ck_assert_int_eq(access(path, F_OK), -1);
	(void)snprintf(path, sizeof(path), "%s/%s.taken.%ld", dir, point,
	    (long)pid);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(test_unarmed)
{
	errno = ENOSPC;
	ck_assert_int_eq(INJECT_FAIL("x.y"), 0);
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(unsetenv("PAYONCE_INJECT_DIR"), 0);
	ck_assert_int_eq(INJECT_FAIL("x.y"), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(test_fail_once)
{
	arm("x.y", "fail\n");
	ck_assert_int_eq(INJECT_FAIL("x.z"), 0);
	ck_assert_int_eq(INJECT_FAIL("x.y"), 1);
	ck_assert_int_eq(INJECT_FAIL("x.y"), 0);
	expect_taken("x.y", getpid());
}
END_TEST

START_TEST(test_delay)
{
	struct mono start = mono_now();

	arm("x.y", "delay 30");
	INJECT("x.y");
	ck_assert_int_ge(mono_diff_ms(mono_now(), start), 30);
	expect_taken("x.y", getpid());
}
END_TEST

static const struct {
	const char	*text;
	int		 signal;
	int		 status;
} deaths[] = {
	{ "kill", SIGKILL, 0 },
	{ "kill \n", SIGKILL, 0 },
	{ "exit", 0, 99 },
	{ "nonsense", 0, 98 },
	{ "delay", 0, 98 },
	{ "delay x", 0, 98 },
	{ "", 0, 98 },
};

START_TEST(test_death)
{
	pid_t pid = 0;
	int status = 0, null = -1;

	arm("x.y", deaths[_i].text);
	if ((pid = fork()) == 0) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		(void)dup2(null, STDERR_FILENO);
		INJECT("x.y");
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (deaths[_i].signal != 0) {
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(WTERMSIG(status), deaths[_i].signal);
	} else {
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), deaths[_i].status);
	}
	expect_taken("x.y", pid);
}
END_TEST

START_TEST(test_stop)
{
	pid_t pid = 0;
	int status = 0;

	arm("x.y", "stop");
	if ((pid = fork()) == 0) {
		INJECT("x.y");
		_exit(7);
	}
	ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(kill(pid, SIGCONT), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	expect_taken("x.y", pid);
}
END_TEST

START_TEST(test_killparent)
{
	pid_t parent = 0;
	int status = 0;

	arm("x.y", "killparent");
	if ((parent = fork()) == 0) {
		if (fork() == 0) {
			INJECT("x.y");
			_exit(0);
		}
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("inject");
	TCase *tc = tcase_create("inject");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_unarmed);
	tcase_add_test(tc, test_fail_once);
	tcase_add_test(tc, test_delay);
	tcase_add_loop_test(tc, test_death, 0,
	    (int)(sizeof(deaths) / sizeof(deaths[0])));
	tcase_add_test(tc, test_stop);
	tcase_add_test(tc, test_killparent);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
