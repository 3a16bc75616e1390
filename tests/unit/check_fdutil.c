/*
 * check_fdutil.c - common/fdutil.c: flags from birth, whole files, one lock.
 */
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "tests/unit/suite.h"

static char	tmp[] = "/tmp/check_fdutil.XXXXXX";
static char	path[128];

static void
setup(void)
{
	(void)strlcpy(tmp, "/tmp/check_fdutil.XXXXXX", sizeof(tmp));
	ck_assert_ptr_nonnull(mkdtemp(tmp));
	(void)snprintf(path, sizeof(path), "%s/file", tmp);
}

static void
teardown(void)
{
	(void)unlink(path);
	(void)rmdir(tmp);
}

static void
write_file(const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fd_write_all(fd, data, len), 0);
	fd_close(&fd);
	ck_assert_int_eq(fd, -1);
}

START_TEST(test_pair)
{
	int fds[2] = { -1, -1 }, i = 0, type = 0;
	socklen_t len = sizeof(type);
	char c = 0;

	ck_assert_int_eq(fd_pair(fds), 0);
	for (i = 0; i < 2; i++) {
		ck_assert(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
		ck_assert(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
		ck_assert_int_eq(getsockopt(fds[i], SOL_SOCKET, SO_TYPE, &type,
		    &len), 0);
		ck_assert_int_eq(type, SOCK_STREAM);
	}
	ck_assert_int_eq(fd_write_all(fds[0], "x", 1), 0);
	ck_assert_int_eq(read(fds[1], &c, 1), 1);
	ck_assert_int_eq(c, 'x');
	fd_close(&fds[0]);
	fd_close(&fds[1]);
}
END_TEST

START_TEST(test_flags)
{
	int fd = dup(STDERR_FILENO);

	ck_assert_int_eq(fd_set_cloexec(fd, 1), 0);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(fd_set_cloexec(fd, 0), 0);
	ck_assert(!(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	fd_close(&fd);
	ck_assert_int_eq(fd_set_nonblock(-1), PO_EIO);
	ck_assert_int_eq(fd_set_cloexec(-1, 1), PO_EIO);
	errno = ENOSPC;
	fd_close(&fd);		/* -1 is fine */
	fd = 4711;
	fd_close(&fd);		/* EBADF must not show */
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(test_read_file)
{
	char big[200000];
	char *text = NULL;
	size_t len = 0, i = 0;

	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7 % 256);
	write_file(big, sizeof(big));
	ck_assert_int_eq(fd_read_file(path, sizeof(big), &text, &len), 0);
	ck_assert_uint_eq(len, sizeof(big));
	ck_assert_mem_eq(text, big, sizeof(big));
	ck_assert_int_eq(text[len], '\0');
	mem_free(text);
	text = NULL;
	ck_assert_int_eq(fd_read_file(path, sizeof(big) - 1, &text, &len),
	    PO_ERANGE);
	ck_assert_ptr_null(text);
	write_file("", 0);
	ck_assert_int_eq(fd_read_file(path, 10, &text, NULL), 0);
	ck_assert_str_eq(text, "");
	mem_free(text);
	ck_assert_int_eq(unlink(path), 0);
	errno = 0;
	ck_assert_int_eq(fd_read_file(path, 10, &text, &len), PO_EIO);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(test_write_fails)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fd_write_all(fd, "x", 1), PO_EIO);
	ck_assert_int_eq(errno, ENOSPC);
	fd_close(&fd);
}
END_TEST

START_TEST(test_mkdir_and_sync)
{
	char deep[160], part[160];
	struct stat st = { 0 };

	(void)snprintf(deep, sizeof(deep), "%s/a//b/c/", tmp);
	ck_assert_int_eq(fd_mkdir_p(deep, 0700), 0);
	ck_assert_int_eq(stat(deep, &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(fd_mkdir_p(deep, 0700), 0);
	ck_assert_int_eq(fd_sync_dir(deep), 0);
	write_file("x", 1);
	(void)snprintf(part, sizeof(part), "%s/file/d", tmp);
	ck_assert_int_eq(fd_mkdir_p(part, 0700), PO_EIO);
	ck_assert_int_eq(errno, ENOTDIR);
	ck_assert_int_eq(fd_mkdir_p("", 0700), PO_EIO);
	ck_assert_int_eq(fd_sync_dir(part), PO_EIO);
	(void)snprintf(part, sizeof(part), "%s/a/b/c", tmp);
	ck_assert_int_eq(rmdir(part), 0);
	(void)snprintf(part, sizeof(part), "%s/a/b", tmp);
	ck_assert_int_eq(rmdir(part), 0);
	(void)snprintf(part, sizeof(part), "%s/a", tmp);
	ck_assert_int_eq(rmdir(part), 0);
}
END_TEST

START_TEST(test_lock)
{
	int a = -1, b = -1;

	write_file("", 0);
	a = open(path, O_RDWR | O_CLOEXEC);
	b = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(fd_lock(a), 0);
	ck_assert_int_eq(fd_lock(a), 0);
	ck_assert_int_eq(fd_lock(b), PO_EBUSY);
	fd_close(&a);
	ck_assert_int_eq(fd_lock(b), 0);
	fd_close(&b);
	ck_assert_int_eq(fd_lock(-1), PO_EIO);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("fdutil");
	TCase *tc = tcase_create("fdutil");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_pair);
	tcase_add_test(tc, test_flags);
	tcase_add_test(tc, test_read_file);
	tcase_add_test(tc, test_write_fails);
	tcase_add_test(tc, test_mkdir_and_sync);
	tcase_add_test(tc, test_lock);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
