/*
 * check_flush.c - fsync that the event loop does not wait for.
 */
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/err.h"
#include "tests/unit/suite.h"
#include "worker/flush.h"

#define MANY	300	/* more than are under way at once */

static struct event_base	*base;
static struct flush		*flush;
static int			 told, failed;

static void
setup(void)
{
	base = event_base_new();
	ck_assert_ptr_nonnull(base);
	ck_assert_int_eq(flush_new(base, &flush), 0);
}

static void
teardown(void)
{
	flush_free(&flush);
	event_base_free(base);
}

static void
on_flushed(void *arg, int err)
{
	ck_assert_ptr_eq(arg, &told);
	told++;
	failed += err != 0;
}

static int
open_file(void)
{
	char path[] = "/tmp/check_flush.XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(write(fd, "x", 1), 1);
	return fd;
}

/* Each one is told once, or was done when it was started. */
START_TEST(test_many)
{
	struct flush_job *job = NULL;
	int i = 0, fd = -1, later = 0;

	for (i = 0; i < MANY; i++) {
		fd = open_file();
		ck_assert_int_eq(flush_start(flush, fd, on_flushed, &told,
		    &job), 0);
		later += job != NULL;
		ck_assert_int_eq(close(fd), 0);
	}
	ck_assert_int_eq(told, 0);
	while (told < later)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_int_eq(failed, 0);
	ck_assert_int_eq(event_base_loop(base, EVLOOP_NONBLOCK), 0);
	ck_assert_int_eq(told, later);
}
END_TEST

START_TEST(test_forgotten)
{
	struct flush_job *job = NULL;
	int fd = open_file();

	ck_assert_int_eq(flush_start(flush, fd, on_flushed, &told, &job), 0);
	flush_forget(&job);
	ck_assert_ptr_null(job);
	flush_free(&flush);	/* waits for it */
	ck_assert_int_eq(told, 0);
	ck_assert_int_eq(close(fd), 0);
}
END_TEST

START_TEST(test_no_file)
{
	struct flush_job *job = NULL;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(flush_start(flush, fds[0], on_flushed, &told, &job),
	    PO_EIO);
	ck_assert_ptr_null(job);
	ck_assert_int_eq(flush_start(flush, -1, on_flushed, &told, &job),
	    PO_EIO);
	ck_assert_ptr_null(job);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("flush");
	TCase *tc = tcase_create("flush");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_forgotten);
	tcase_add_test(tc, test_no_file);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
