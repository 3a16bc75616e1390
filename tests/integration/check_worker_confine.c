/*
 * check_worker_confine.c - a submit worker as a process: what it gave up, which
 * secrets it takes, and that it ends when it is spoken to wrongly.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "tests/integration/boss.h"
#include "tests/lib/mock.h"
#include "tests/unit/suite.h"

static struct test_mock mock;
static struct boss boss;

static void
setup(void)
{
	mock_start(&mock, "-k", BOSS_SECRET, NULL);
}

static void
teardown(void)
{
	boss_done(&boss);
	mock_done(&mock);
}

static void
read_proc(const char *name, char **ret, size_t *ret_len)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)boss.pid, name);
	ck_assert_int_eq(fd_read_file(path, 1u << 20, ret, ret_len), 0);
}

START_TEST(test_confined)
{
	static const char *const places[] = { "cmdline", "environ" };
	struct frame f;
	char *text = NULL, path[64];
	size_t len = 0, i = 0;
	int fd = 0;

	if (geteuid() != 0)
		return;		/* dumpable is off: only root may look */
	fd = open("/dev/null", O_RDONLY);	/* not close-on-exec */
	ck_assert_int_ge(fd, 0);
	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_marked(&boss, 1);
	boss_expect(&boss, MSG_SUBMITTED, &f);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		read_proc(places[i], &text, &len);
		ck_assert_ptr_null(memmem(text, len, BOSS_SECRET,
		    strlen(BOSS_SECRET)));
		mem_free(text);
	}
	read_proc("status", &text, NULL);
	ck_assert_ptr_nonnull(strstr(text, "NoNewPrivs:\t1"));
	mem_free(text);
	read_proc("limits", &text, NULL);
	ck_assert_ptr_nonnull(strstr(text, "Max core file size        0"));
	mem_free(text);
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)boss.pid,
	    fd);
	if (fd > PROTO_FD) {
		/* what is there now is the worker's own, not our /dev/null */
		char where[64] = "";

		(void)!readlink(path, where, sizeof(where) - 1);
		ck_assert_str_ne(where, "/dev/null");
	}
	(void)close(fd);
	ck_assert(!boss_log_has(&boss, BOSS_SECRET));
	ck_assert(boss_log_has(&boss, "task=1"));
}
END_TEST

START_TEST(test_loose_secret)
{
	boss_init(&boss, ROLE_SUBMIT);
	ck_assert_int_eq(chmod(boss.secret, 0644), 0);
	boss_start(&boss);
	boss_expect_exit(&boss, EXIT_CODE_SECRET);
	ck_assert(boss_log_has(&boss, "others can read it"));
}
END_TEST

START_TEST(test_linked_secret)
{
	char real[128];

	boss_init(&boss, ROLE_SUBMIT);
	(void)snprintf(real, sizeof(real), "%s/real", boss.dir);
	ck_assert_int_eq(rename(boss.secret, real), 0);
	ck_assert_int_eq(symlink(real, boss.secret), 0);
	boss_start(&boss);
	boss_expect_exit(&boss, EXIT_CODE_SECRET);
}
END_TEST

static const char *const nonsense[] = {
	"\377\377\377\377\0\1\0\0",		/* longer than anything */
	"\0\0\0\0\0\145\0\0",			/* HELLO, to a worker */
	"\0\0\0\1\0\2\0\0\220",			/* ASSIGN of no fields */
	"\0\0\0\1\0\1\0\0\220",			/* a second SETUP */
};

START_TEST(test_bad_frame)
{
	static const size_t lens[] = { 8, 8, 9, 9 };

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	ck_assert_int_eq(buf_put(chan_out(boss.chan), nonsense[_i],
	    lens[_i]), 0);
	boss_flush(&boss);
	boss_expect_exit(&boss, EXIT_CODE_PROTO);
}
END_TEST

START_TEST(test_other_version)
{
	struct msg_setup m = { .version = PROTO_VERSION + 1,
	    .role = ROLE_SUBMIT, .kind = mp_str(BOSS_KIND), .lease_ms = 1000,
	    .state_dir = mp_str("/tmp") };

	boss_init(&boss, ROLE_SUBMIT);
	boss_start(&boss);
	ck_assert_int_eq(msg_pack_setup(chan_out(boss.chan), &m), 0);
	boss_flush(&boss);
	boss_expect_exit(&boss, EXIT_CODE_PROTO);
	ck_assert(boss_log_has(&boss, "another protocol version"));
}
END_TEST

START_TEST(test_not_by_hand)
{
	boss_init(&boss, ROLE_SUBMIT);
	boss_start(&boss);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
}
END_TEST

#define COUNT(rows)	((int)(sizeof(rows) / sizeof((rows)[0])))

int
main(void)
{
	Suite *s = suite_create("worker process");
	TCase *tc = tcase_create("process");

	tcase_set_timeout(tc, 40);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_confined);
	tcase_add_test(tc, test_loose_secret);
	tcase_add_test(tc, test_linked_secret);
	tcase_add_loop_test(tc, test_bad_frame, 0, COUNT(nonsense));
	tcase_add_test(tc, test_other_version);
	tcase_add_test(tc, test_not_by_hand);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
