/*
 * check_worker_receipt.c - a real submit worker that finds a receipt of its
 * attempt, or cannot write one: may the request leave?
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
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
expect_receipt(int64_t task, enum receipt_class class)
{
	struct receipt_facts facts;

	boss_receipt(&boss, task, &facts);
	ck_assert_str_eq(receipt_class_name(facts.class),
	    receipt_class_name(class));
	receipt_facts_done(&facts);
}

/* The mark is on the row already: the same request, without asking. */
START_TEST(test_resend)
{
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_RESEND, "{}");
	boss_expect(&boss, MSG_SUBMITTED, &f);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

/* A refused resend is no word about the request before it. */
START_TEST(test_resend_refused)
{
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_RESEND,
	    "{\"mock\":{\"submit\":\"status:429\"}}");
	boss_expect(&boss, MSG_REJECTED, &f);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, RECEIPT_INTENT);
}
END_TEST

/*
 * The receipt holds a silence.  A row that allows the same request again
 * outweighs it; a first try, which knows nothing of it, does not send.
 */
START_TEST(test_resend_after_silence)
{
	const enum assign_mode mode = _i == 0 ? ASSIGN_RESEND : ASSIGN_SUBMIT;
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT,
	    "{\"mock\":{\"submit\":\"drop_after_read\"}}");
	boss_marked(&boss, 1);
	boss_expect(&boss, MSG_UNKNOWN, &f);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, RECEIPT_UNKNOWN);
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, mode, "{}");
	boss_expect(&boss, mode == ASSIGN_RESEND ? MSG_SUBMITTED :
	    MSG_UNKNOWN, &f);
	ck_assert_int_eq(mock_summary(&mock, "posts"),
	    mode == ASSIGN_RESEND ? 2 : 1);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, mode == ASSIGN_RESEND ? RECEIPT_SUBMITTED :
	    RECEIPT_UNKNOWN);
}
END_TEST

START_TEST(test_receipt_unwritable)
{
	struct msg_unsent m;
	struct frame f;
	char path[160], want[256];
	int fd = -1;

	boss_init(&boss, ROLE_SUBMIT);
	(void)snprintf(path, sizeof(path), "%s/receipts", boss.state_dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	fd_close(&fd);
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_UNSENT, &f);
	ck_assert_int_eq(msg_unpack_unsent(f.body, f.len, &m), 0);
	ck_assert_uint_eq(m.task, 1);
	ck_assert(boss_is(m.reason, "receipt_unwritable"));
	/* where, and the disk's own word */
	(void)snprintf(want, sizeof(want), "%s: %s", path, strerror(ENOTDIR));
	ck_assert(boss_is(m.detail, want));
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

START_TEST(test_receipt_says_sent)
{
	struct msg_unknown m;
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_marked(&boss, 1);
	boss_expect(&boss, MSG_SUBMITTED, &f);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	/* the database forgot it; the file did not */
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_UNKNOWN, &f);
	ck_assert_int_eq(msg_unpack_unknown(f.body, f.len, &m), 0);
	ck_assert(boss_is(m.reason, "receipt_exists"));
	ck_assert(!m.is_provider);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("worker receipt");
	TCase *tc = tcase_create("receipt");

	tcase_set_timeout(tc, 40);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_resend);
	tcase_add_test(tc, test_resend_refused);
	tcase_add_loop_test(tc, test_resend_after_silence, 0, 2);
	tcase_add_test(tc, test_receipt_unwritable);
	tcase_add_test(tc, test_receipt_says_sent);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
