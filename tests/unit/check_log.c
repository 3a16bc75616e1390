/*
 * check_log.c - log lines, how processes give up, and allocation that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/unit/suite.h"

static int	pipe_fds[2];

/* From here on stderr is a pipe that the test reads. */
static void
setup(void)
{
	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_ne(dup2(pipe_fds[1], STDERR_FILENO), -1);
	log_init("checker", true, false);
}

static void
expect_line(const char *pattern)
{
	char text[8192] = "";
	ssize_t n = read(pipe_fds[0], text, sizeof(text) - 1);
	regex_t re;
	int rc = 0;

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(text[n - 1], '\n');
	text[n - 1] = '\0';
	ck_assert_int_eq(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	rc = regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	ck_assert_msg(rc == 0, "\"%s\" does not match \"%s\"", text, pattern);
}

static void
expect_nothing(void)
{
	char c = 0;

	ck_assert_int_eq(read(pipe_fds[0], &c, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

#define STAMP "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z " \
	"checker\\[[0-9]+\\] "

START_TEST(test_levels)
{
	log_info("task=%d claimed", 42);
	expect_line(STAMP "info: task=42 claimed$");
	log_warnx("disk is full");
	expect_line(STAMP "warning: disk is full$");
	errno = ENOSPC;
	log_warn("receipt");
	ck_assert_int_eq(errno, ENOSPC);
	expect_line(STAMP "warning: receipt: No space left on device$");
	ck_assert(!log_is_debug());
	log_debug("hidden");
	expect_nothing();
	log_set_debug(true);
	ck_assert(log_is_debug());
	log_debug("seen");
	expect_line(STAMP "debug: seen$");
}
END_TEST

START_TEST(test_one_line)
{
	char big[10000];

	log_info("a\nfatal: forged\r\x1b[0m\x7f");
	expect_line(STAMP "info: a fatal: forged  \\[0m $");
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	errno = EIO;
	log_warn("%s", big);
	ck_assert_int_eq(errno, EIO);
	expect_line(STAMP "warning: x{3000,4096}$");
	expect_nothing();
}
END_TEST

START_TEST(test_stderr_gone)
{
	int fd = STDERR_FILENO;

	fd_close(&fd);
	errno = ENOSPC;
	log_warn("nobody hears");
	ck_assert_int_eq(errno, ENOSPC);
}
END_TEST

START_TEST(test_syslog)
{
	/* Without a syslog daemon nothing may come out anywhere. */
	log_init("checker", false, false);
	errno = ENOSPC;
	log_warn("to syslog");
	ck_assert_int_eq(errno, ENOSPC);
	expect_nothing();
}
END_TEST

START_TEST(test_fatal)
{
	errno = ENOSPC;
	fatal("state_dir");
}
END_TEST

START_TEST(test_fatalx)
{
	fatalx("state_dir");
}
END_TEST

START_TEST(test_panic)
{
	panic("impossible");
}
END_TEST

START_TEST(test_mem)
{
	char *p = NULL;
	unsigned long before = mem_asked_bytes();

	p = mem_alloc(100);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(mem_asked_bytes() - before, 100);
	ck_assert_int_eq(p[0], 0);
	ck_assert_int_eq(p[99], 0);
	mem_free_secret(p, 100);
	mem_free_secret(NULL, 100);
	p = mem_alloc(0);
	ck_assert_ptr_nonnull(p);
	mem_free(p);
	errno = 0;
	ck_assert_ptr_null(mem_array(SIZE_MAX / 2, 3));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(mem_grow(NULL, SIZE_MAX / 2, 3));
	p = mem_printf("%d %s", 7, "x");
	ck_assert_str_eq(p, "7 x");
	p = mem_grow(p, 10, 10);
	ck_assert_str_eq(p, "7 x");
	errno = ENOSPC;
	mem_free(p);
	mem_free(NULL);
	ck_assert_int_eq(errno, ENOSPC);
	p = mem_strndup("abcdef", 3);
	ck_assert_str_eq(p, "abc");
	mem_free(p);
}
END_TEST

START_TEST(test_mem_fails)
{
	void *p = NULL;

	mem_fail_after(2);
	p = mem_strdup("one");
	ck_assert_ptr_nonnull(p);
	mem_free(p);
	errno = 0;
	ck_assert_ptr_null(mem_strdup("two"));
	ck_assert_int_eq(errno, ENOMEM);
	p = mem_strdup("three");
	ck_assert_ptr_nonnull(p);
	mem_free(p);
	mem_fail_after(1);
	mem_fail_after(0);
	p = mem_alloc(1);
	ck_assert_ptr_nonnull(p);
	mem_free(p);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("log");
	TCase *tc = tcase_create("log");
	TCase *mem = tcase_create("mem");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_levels);
	tcase_add_test(tc, test_one_line);
	tcase_add_test(tc, test_stderr_gone);
	tcase_add_test(tc, test_syslog);
	tcase_add_exit_test(tc, test_fatal, EXIT_CODE_FATAL);
	tcase_add_exit_test(tc, test_fatalx, EXIT_CODE_FATAL);
	tcase_add_test_raise_signal(tc, test_panic, SIGABRT);
	suite_add_tcase(s, tc);
	tcase_add_test(mem, test_mem);
	tcase_add_test(mem, test_mem_fails);
	suite_add_tcase(s, mem);
	return suite_run(s);
}
