/*
 * check_worker_submit.c - a real submit worker between this test, as its
 * supervisor, and the mock provider.  The verdict is the ledger's count.
 */
#include <sys/wait.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mono.h"
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

/* expect_unsent() takes UNSENT, and counts what the provider saw. */
static void
expect_unsent(const char *reason, int posts)
{
	struct msg_unsent m;
	struct frame f;

	boss_expect(&boss, MSG_UNSENT, &f);
	ck_assert_int_eq(msg_unpack_unsent(f.body, f.len, &m), 0);
	ck_assert_uint_eq(m.task, 1);
	ck_assert(boss_is(m.reason, reason));
	ck_assert_int_eq(mock_summary(&mock, "posts"), posts);
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

START_TEST(test_happy)
{
	struct msg_submitted m;
	struct frame f;
	uint64_t task = 0;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	for (task = 1; task <= 3; task++) {
		boss_assign(&boss, task, ASSIGN_SUBMIT, "{\"prompt\":\"x\"}");
		boss_expect(&boss, MSG_MARK, &f);
		/* the mark comes before the first byte */
		ck_assert_int_eq(mock_summary(&mock, "posts"),
		    (int64_t)task - 1);
		ck_assert(boss_has_receipt(&boss, (int64_t)task));
		const struct msg_marked ok = { .task = task, .attempt = 1 };
		ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &ok), 0);
		boss_flush(&boss);
		boss_expect(&boss, MSG_SUBMITTED, &f);
		ck_assert_int_eq(msg_unpack_submitted(f.body, f.len, &m), 0);
		ck_assert_uint_eq(m.task, task);
		ck_assert_uint_gt(m.request_id.len, 0);
		ck_assert_uint_gt(m.poll_url.len, 0);
		ck_assert_uint_gt(m.result_url.len, 0);
		ck_assert(boss_has_receipt(&boss, (int64_t)task));
		boss_stored(&boss, task, MSG_SUBMITTED, true);
	}
	boss_drain(&boss, 1000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
	for (task = 1; task <= 3; task++)
		ck_assert(!boss_has_receipt(&boss, (int64_t)task));
	ck_assert_int_eq(mock_summary(&mock, "posts"), 3);
	ck_assert_int_eq(mock_summary(&mock, "charged_twice"), 0);
}
END_TEST

START_TEST(test_refused)
{
	const struct msg_mark_refused no = { .task = 1, .attempt = 1,
	    .reason = mp_str("mark_lost") };
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_mark_refused(chan_out(boss.chan), &no), 0);
	boss_flush(&boss);
	expect_unsent("mark_lost", 0);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, RECEIPT_UNSENT);
}
END_TEST

static const char *const wishes[] = { "canceled", "drain", "lease_lost" };

START_TEST(test_canceled_at_the_gate)
{
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	boss_cancel(&boss, 1, wishes[_i]);
	expect_unsent(wishes[_i], 0);
	/* the same task again, in the same process and receipt */
	boss_stored(&boss, 1, MSG_UNSENT, true);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_marked(&boss, 1);
	boss_expect(&boss, MSG_SUBMITTED, &f);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

START_TEST(test_drained_at_the_gate)
{
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	boss_drain(&boss, 1000);
	expect_unsent("drain", 0);
	boss_stored(&boss, 1, MSG_UNSENT, true);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

/* A MARKED for another task or attempt opens nothing. */
START_TEST(test_foreign_mark)
{
	const struct msg_marked other = { .task = 2, .attempt = 1 };
	const struct msg_marked later = { .task = 1, .attempt = 2 };
	struct frame f;

	boss_init(&boss, ROLE_SUBMIT);
	boss.lease_ms = 3000;
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &other), 0);
	ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &later), 0);
	boss_flush(&boss);
	boss_expect_beat(&boss);	/* it still asks */
	boss_cancel(&boss, 1, "canceled");
	expect_unsent("canceled", 0);
}
END_TEST

/* Both in one read: the gate, inside libcurl, ends by the later one. */
START_TEST(test_marked_and_canceled)
{
	const struct msg_marked ok = { .task = 1, .attempt = 1 };
	const struct msg_cancel no = { .task = 1, .attempt = 1,
	    .reason = mp_str("lease_lost") };
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &ok), 0);
	ck_assert_int_eq(msg_pack_cancel(chan_out(boss.chan), &no), 0);
	boss_flush(&boss);
	expect_unsent("lease_lost", 0);
	boss_stored(&boss, 1, MSG_UNSENT, true);
	boss_drain(&boss, 1000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

static const struct {
	const char	*script;
	enum msg_type	 type;
	const char	*reason;
	enum reject_class class;
} answers[] = {
	{ "\"drop_before_read\"", MSG_UNKNOWN, "no_answer", 0 },
	{ "\"drop_after_read\"", MSG_UNKNOWN, "no_answer", 0 },
	{ "\"drop_mid_answer\"", MSG_UNKNOWN, "broken_answer", 0 },
	{ "\"hang\"", MSG_UNKNOWN, "timeout", 0 },
	{ "\"status:503\"", MSG_UNKNOWN, "http_503", 0 },
	{ "\"status:500\"", MSG_UNKNOWN, "http_500", 0 },
	{ "\"status:408\"", MSG_UNKNOWN, "http_408", 0 },
	{ "\"status:409\"", MSG_UNKNOWN, "http_409", 0 },
	{ "\"redirect:307\"", MSG_UNKNOWN, "http_307", 0 },
	{ "\"redirect:308\"", MSG_UNKNOWN, "http_308", 0 },
	{ "\"garbage\"", MSG_UNKNOWN, NULL, 0 },
	{ "\"empty\"", MSG_UNKNOWN, "accepted_without_id", 0 },
	{ "\"no_id\"", MSG_UNKNOWN, "accepted_without_id", 0 },
	{ "\"html_200\"", MSG_UNKNOWN, "accepted_without_id", 0 },
	{ "\"status:422\"", MSG_REJECTED, NULL, REJECT_TASK },
	{ "\"status:401\"", MSG_REJECTED, NULL, REJECT_ACCOUNT },
	{ "\"status:429\",\"retry_after\":\"7\"", MSG_REJECTED, NULL,
	    REJECT_THROTTLED },
};

START_TEST(test_answers)
{
	struct msg_unknown u;
	struct msg_rejected r;
	struct frame f;
	char input[128];

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	(void)snprintf(input, sizeof(input), "{\"mock\":{\"submit\":%s}}",
	    answers[_i].script);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, input);
	boss_marked(&boss, 1);
	boss_expect(&boss, answers[_i].type, &f);
	if (answers[_i].type == MSG_UNKNOWN) {
		ck_assert_int_eq(msg_unpack_unknown(f.body, f.len, &u), 0);
		if (answers[_i].reason != NULL)
			ck_assert(boss_is(u.reason, answers[_i].reason));
		ck_assert(u.is_provider);
	} else {
		ck_assert_int_eq(msg_unpack_rejected(f.body, f.len, &r), 0);
		ck_assert_uint_eq(r.class, answers[_i].class);
		if (answers[_i].class == REJECT_THROTTLED)
			ck_assert_int_eq(r.retry_after_ms, 7000);
	}
	/* one mark, one request: never a second POST behind the first */
	ck_assert_int_le(mock_summary(&mock, "posts"), 1);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, answers[_i].type == MSG_UNKNOWN ? RECEIPT_UNKNOWN :
	    answers[_i].class == REJECT_TASK ? RECEIPT_REJECTED :
	    answers[_i].class == REJECT_ACCOUNT ? RECEIPT_ACCOUNT :
	    RECEIPT_THROTTLED);
	ck_assert_int_le(mock_summary(&mock, "posts"), 1);
}
END_TEST

/* Nobody listens: no mark was ever asked for. */
START_TEST(test_refused_connection)
{
	const int port = mock.port;

	ck_assert_int_eq(mock_stop(&mock), 0);
	boss_begin(&boss, ROLE_SUBMIT, port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	{
		struct msg_unsent m;
		struct frame f;

		boss_expect(&boss, MSG_UNSENT, &f);
		ck_assert_int_eq(msg_unpack_unsent(f.body, f.len, &m), 0);
		ck_assert(boss_is(m.reason, "connect_failed"));
	}
}
END_TEST

START_TEST(test_supervisor_dies_at_the_gate)
{
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_receipt(1, RECEIPT_UNSENT);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

START_TEST(test_supervisor_dies_after_the_send)
{
	struct receipt_facts facts;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT,
	    "{\"mock\":{\"delay_ms\":400}}");
	boss_marked(&boss, 1);
	mock_wait_posts(&mock, 1);
	boss_die(&boss);
	ck_assert_int_eq(receipt_read(boss.state_dir, 1, 1, &facts), PO_EBUSY);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	boss_receipt(&boss, 1, &facts);
	ck_assert_int_eq(facts.class, RECEIPT_SUBMITTED);
	ck_assert_ptr_nonnull(facts.request_id);
	ck_assert_int_eq(facts.token, 5);
	receipt_facts_done(&facts);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

/* The kernel kills a stopped worker before it can send on an old lease. */
START_TEST(test_dead_man)
{
	struct frame f;
	int status = 0;

	boss_init(&boss, ROLE_SUBMIT);
	boss.lease_ms = 700;
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(kill(boss.pid, SIGSTOP), 0);
	const struct msg_marked ok = { .task = 1, .attempt = 1 };
	ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &ok), 0);
	boss_flush(&boss);
	status = boss_wait(&boss);	/* nobody continues it */
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

/* A renewal moves the kernel's timer, and beats go on inside the gate. */
START_TEST(test_renewed_and_beating)
{
	const struct mono lease = mono_add_ms(mono_now(), 30000);
	const struct msg_renewed m = { .task = 1, .attempt = 1,
	    .deadline_ns = (uint64_t)lease.ns };
	struct frame f;
	int i = 0;

	boss_init(&boss, ROLE_SUBMIT);
	boss.lease_ms = 600;
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_expect_beat(&boss);
	boss_assign(&boss, 1, ASSIGN_SUBMIT,
	    "{\"mock\":{\"delay_ms\":500}}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_renewed(chan_out(boss.chan), &m), 0);
	boss_flush(&boss);
	for (i = 0; i < 4; i++)		/* 800 ms: longer than the old lease */
		boss_expect_beat(&boss);
	const struct msg_marked ok = { .task = 1, .attempt = 1 };
	ck_assert_int_eq(msg_pack_marked(chan_out(boss.chan), &ok), 0);
	boss_flush(&boss);
	boss_expect_beat(&boss);	/* while the provider thinks */
	boss_expect(&boss, MSG_SUBMITTED, &f);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

START_TEST(test_mark_times_out_with_the_lease)
{
	const struct msg_renewed m = { .task = 1, .attempt = 1,
	    .deadline_ns = UINT64_MAX };
	struct frame f;
	int status = 0;

	boss_init(&boss, ROLE_SUBMIT);
	boss.lease_ms = 400;
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{}");
	boss_expect(&boss, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_renewed(chan_out(boss.chan), &m), 0);
	boss_flush(&boss);	/* a time that does not exist moves nothing */
	status = boss_wait(&boss);
	/* its own end or the kernel's, whoever is first: nothing was sent */
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

START_TEST(test_bad_input)
{
	struct msg_rejected m;
	struct frame f;

	boss_begin(&boss, ROLE_SUBMIT, mock.port);
	boss_assign(&boss, 1, ASSIGN_SUBMIT, "{broken");
	boss_expect(&boss, MSG_REJECTED, &f);
	ck_assert_int_eq(msg_unpack_rejected(f.body, f.len, &m), 0);
	ck_assert_uint_eq(m.class, REJECT_TASK);
	ck_assert(boss_is(m.reason, "bad_input"));
	ck_assert_int_eq(mock_summary(&mock, "posts"), 0);
}
END_TEST

#define COUNT(rows)	((int)(sizeof(rows) / sizeof((rows)[0])))

int
main(void)
{
	Suite *s = suite_create("worker submit");
	TCase *tc = tcase_create("send");

	tcase_set_timeout(tc, 40);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_happy);
	tcase_add_test(tc, test_refused);
	tcase_add_loop_test(tc, test_canceled_at_the_gate, 0, COUNT(wishes));
	tcase_add_test(tc, test_drained_at_the_gate);
	tcase_add_test(tc, test_foreign_mark);
	tcase_add_test(tc, test_marked_and_canceled);
	tcase_add_loop_test(tc, test_answers, 0, COUNT(answers));
	tcase_add_test(tc, test_refused_connection);
	tcase_add_test(tc, test_supervisor_dies_at_the_gate);
	tcase_add_test(tc, test_supervisor_dies_after_the_send);
	tcase_add_test(tc, test_dead_man);
	tcase_add_test(tc, test_renewed_and_beating);
	tcase_add_test(tc, test_mark_times_out_with_the_lease);
	tcase_add_test(tc, test_bad_input);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
