/*
 * check_receipt.c - receipts: what a worker leaves and a supervisor finds.
 */
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/receipt.h"
#include "tests/unit/receipt_tool.h"
#include "tests/unit/suite.h"

START_TEST(test_happy_path)
{
	struct receipt_facts intent = tool_intent(42, 1), got = { 0 };
	struct receipt_facts outcome = {
		.class = RECEIPT_SUBMITTED, .http_status = 200,
		.request_id = lent("req \"1\"\n\\"),
		.poll_url = lent("https://x/p"),
		.result_url = lent("https://x/r"),
		.cancel_url = lent("https://x/c"),
		.cost = lent("0.03"), .currency = lent("USD"),
		.detail = lent("gr\xc3\xbc\xc3\x9f \xff!"),
	};
	struct receipt *r = NULL;
	struct stat st = { 0 };

	ck_assert_int_eq(receipt_read(tool_dir, 42, 1, &got), PO_ENOENT);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	ck_assert_int_eq(receipt_read(tool_dir, 42, 1, &got), PO_EBUSY);
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 42, 1), PO_EBUSY);
	ck_assert_int_eq(receipt_write_outcome(r, &outcome), 0);
	receipt_close(&r, false);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(stat(tool_path("open", "42.1"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
	ck_assert_int_eq(receipt_read(tool_dir, 42, 1, &got), 0);
	ck_assert_int_eq(got.task, 42);
	ck_assert_int_eq(got.attempt, 1);
	ck_assert_int_eq(got.token, 7);
	ck_assert_str_eq(got.own_id, "own-42");
	ck_assert_str_eq(got.kind, "image");
	ck_assert_str_eq(got.provider, "fal");
	ck_assert_str_eq(got.system_id, "7312");
	ck_assert_int_eq(got.timeline, 1);
	ck_assert_str_eq(got.host, "host-a");
	ck_assert_int_eq(got.class, RECEIPT_SUBMITTED);
	ck_assert_str_eq(got.request_id, "req \"1\"\n\\");
	ck_assert_str_eq(got.poll_url, "https://x/p");
	ck_assert_str_eq(got.result_url, "https://x/r");
	ck_assert_str_eq(got.cancel_url, "https://x/c");
	ck_assert_str_eq(got.cost, "0.03");
	ck_assert_str_eq(got.currency, "USD");
	ck_assert_str_eq(got.detail, "gr\xc3\xbc\xc3\x9f ?!");
	ck_assert_ptr_null(got.result);
	ck_assert_ptr_null(got.reason);
	ck_assert_int_eq(got.http_status, 200);
	receipt_facts_done(&got);
	ck_assert_ptr_null(got.request_id);
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 42, 1), 0);
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 42, 1), PO_ENOENT);
	ck_assert_int_eq(receipt_read(tool_dir, 42, 1, &got), PO_ENOENT);
	ck_assert_int_eq(access(tool_path(tool_today(), "42.1"), F_OK), 0);
}
END_TEST

START_TEST(test_closed_as_stored)
{
	struct receipt_facts intent = tool_intent(9, 2);
	struct receipt *r = NULL;

	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	receipt_close(&r, true);
	receipt_close(&r, true);
	ck_assert_int_eq(access(tool_path("open", "9.2"), F_OK), -1);
	ck_assert_int_eq(access(tool_path(tool_today(), "9.2"), F_OK), 0);
}
END_TEST

/* What a file with these outcomes, in this order, means for a new try. */
static const struct {
	const char	*lines;		/* classes by first letter; i, I, S */
	int		 open_rc;
	int		 reopen_rc;
	int		 class;		/* what a reader sees */
} tries[] = {
	/* i: intent, I: intent under another timeline, y: another system */
	{ "i", 0, 0, RECEIPT_INTENT },
	{ "ii", 0, 0, RECEIPT_INTENT },
	{ "iu", 0, 0, RECEIPT_UNSENT },
	{ "ij", 0, 0, RECEIPT_REJECTED },
	{ "it", 0, 0, RECEIPT_THROTTLED },
	{ "ia", 0, 0, RECEIPT_ACCOUNT },
	{ "iui", 0, 0, RECEIPT_INTENT },
	{ "is", PO_EEXIST, PO_EEXIST, RECEIPT_SUBMITTED },
	{ "ir", PO_EEXIST, PO_EEXIST, RECEIPT_RESULT },
	{ "isr", PO_EEXIST, PO_EEXIST, RECEIPT_RESULT },
	{ "i?", PO_EEXIST, 0, RECEIPT_UNKNOWN },
	{ "iui?", PO_EEXIST, 0, RECEIPT_UNKNOWN },
	{ "i?i", PO_EEXIST, 0, RECEIPT_INTENT },
	{ "isi", PO_EEXIST, PO_EEXIST, RECEIPT_SUBMITTED },
	{ "isiu", PO_EEXIST, PO_EEXIST, RECEIPT_SUBMITTED },
	{ "is?", PO_EEXIST, PO_EEXIST, RECEIPT_SUBMITTED },
	/* under another database an intent alone counts as sent */
	{ "I", PO_EEXIST, 0, RECEIPT_INTENT },
	{ "y", PO_EEXIST, 0, RECEIPT_INTENT },
	{ "Iu", 0, 0, RECEIPT_UNSENT },
	{ "Ii", PO_EEXIST, 0, RECEIPT_INTENT },
	{ "Iui", 0, 0, RECEIPT_INTENT },
	/* nothing whole: the worker died before it could ask for a mark */
	{ "", 0, 0, -1 },
	/* not ours */
	{ "u", PO_EEXIST, PO_EEXIST, -2 },
	{ "f", PO_EEXIST, PO_EEXIST, -2 },
	{ "if", PO_EEXIST, PO_EEXIST, -2 },
	{ "v", PO_EEXIST, PO_EEXIST, -2 },
	{ "ic", PO_EEXIST, PO_EEXIST, -2 },
	{ "iz", PO_EEXIST, PO_EEXIST, -2 },
	{ "iR", PO_EEXIST, PO_EEXIST, -2 },
};

START_TEST(test_tries)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt *r = NULL;
	int rc = 0, again = 0;

	for (again = 0; again < 2; again++) {
		tool_write_lines("5.1", tries[_i].lines);
		rc = again ? receipt_reopen(tool_dir, &intent, &r) :
		    receipt_open(tool_dir, &intent, &r);
		ck_assert_msg(rc == (again ? tries[_i].reopen_rc :
		    tries[_i].open_rc), "\"%s\": %d", tries[_i].lines, rc);
		receipt_close(&r, false);
	}
	tool_write_lines("5.1", tries[_i].lines);
	rc = receipt_read(tool_dir, 5, 1, &got);
	if (tries[_i].class == -2) {
		ck_assert_msg(rc == PO_EINVAL, "\"%s\": %d", tries[_i].lines,
		    rc);
		ck_assert_int_eq(access(tool_path("damaged", "5.1"), F_OK), 0);
		ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got),
		    PO_ENOENT);
		return;
	}
	if (tries[_i].class == -1) {
		ck_assert_int_eq(rc, PO_ENOENT);
		return;
	}
	ck_assert_msg(rc == 0, "\"%s\": %d", tries[_i].lines, rc);
	ck_assert_int_eq(got.class, tries[_i].class);
	receipt_facts_done(&got);
}
END_TEST

/* A process may die at each byte of a write; no prefix is misread. */
START_TEST(test_every_torn_line)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt *r = NULL;
	char *text = NULL;
	size_t len = 0, first = 0, cut = 0;
	int rc = 0;

	tool_write_lines("5.1", "is");
	ck_assert_int_eq(fd_read_file(tool_path("open", "5.1"), 65536, &text,
	    &len), 0);
	first = (size_t)(strchr(text, '\n') - text) + 1;
	for (cut = 0; cut <= len; cut++) {
		tool_write("5.1", text, cut);
		rc = receipt_read(tool_dir, 5, 1, &got);
		ck_assert_int_eq(rc, cut < first ? PO_ENOENT : 0);
		if (rc == 0)
			ck_assert_int_eq(got.class, cut == len ?
			    RECEIPT_SUBMITTED : RECEIPT_INTENT);
		receipt_facts_done(&got);
		rc = receipt_open(tool_dir, &intent, &r);
		ck_assert_int_eq(rc, cut == len ? PO_EEXIST : 0);
		receipt_close(&r, false);
		/* what was torn is gone, and the file is whole again */
		rc = receipt_read(tool_dir, 5, 1, &got);
		ck_assert_int_eq(rc, 0);
		receipt_facts_done(&got);
	}
	mem_free(text);
}
END_TEST

START_TEST(test_foreign_places)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt *r = NULL;

	/* another task's file under this name */
	tool_write_lines("5.1", "i");
	ck_assert_int_eq(rename(tool_path("open", "5.1"),
	    tool_path2("open", "6.1")), 0);
	ck_assert_int_eq(receipt_read(tool_dir, 6, 1, &got), PO_EINVAL);
	ck_assert_int_eq(access(tool_path("damaged", "6.1"), F_OK), 0);
	/* a link is not followed, a folder not read */
	ck_assert_int_eq(symlink("/etc/passwd", tool_path("open", "5.1")), 0);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), PO_EIO);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got), PO_EINVAL);
	ck_assert_int_eq(mkdir(tool_path("open", "5.2"), 0700), 0);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 2, &got), PO_EINVAL);
	ck_assert_int_eq(access(tool_path("open", "5.2"), F_OK), -1);
	ck_assert_int_eq(mkfifo(tool_path("open", "5.3"), 0600), 0);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 3, &got), PO_EINVAL);
}
END_TEST

/* Another process holds the file; its death frees it. */
START_TEST(test_lock)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt *r = NULL;
	int fds[2] = { -1, -1 }, status = 0;
	char c = 0;
	pid_t pid = 0;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	if ((pid = fork()) == 0) {
		if (receipt_open(tool_dir, &intent, &r) < 0 ||
		    write(fds[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	fd_close(&fds[1]);
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), PO_EBUSY);
	ck_assert_int_eq(receipt_reopen(tool_dir, &intent, &r), PO_EBUSY);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got), PO_EBUSY);
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 5, 1), PO_EBUSY);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got), 0);
	ck_assert_int_eq(got.class, RECEIPT_INTENT);
	receipt_facts_done(&got);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	receipt_close(&r, false);
}
END_TEST

START_TEST(test_outcome_rules)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt_facts bad = { .class = RECEIPT_SUBMITTED };
	struct receipt *r = NULL;
	char *text = NULL;

	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	ck_assert_int_eq(receipt_write_outcome(r, &bad), PO_EINVAL);
	bad.request_id = lent("");
	ck_assert_int_eq(receipt_write_outcome(r, &bad), PO_EINVAL);
	bad.class = RECEIPT_RESULT;
	ck_assert_int_eq(receipt_write_outcome(r, &bad), PO_EINVAL);
	bad.class = RECEIPT_INTENT;
	ck_assert_int_eq(receipt_write_outcome(r, &bad), PO_EINVAL);
	bad.class = RECEIPT_CLASS_MAX;
	ck_assert_int_eq(receipt_write_outcome(r, &bad), PO_EINVAL);
	/* a large answer comes back as it was */
	text = mem_alloc((4u << 20) + 1);
	ck_assert_ptr_nonnull(text);
	memset(text, '"', 4u << 20);
	bad.class = RECEIPT_RESULT;
	bad.result = text;
	ck_assert_int_eq(receipt_write_outcome(r, &bad), 0);
	receipt_close(&r, false);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got), 0);
	ck_assert_int_eq(got.class, RECEIPT_RESULT);
	ck_assert_str_eq(got.result, text);
	receipt_facts_done(&got);
	mem_free(text);
}
END_TEST

/* The disk takes part of a line: it is taken back, and a retry is whole. */
START_TEST(test_disk_full)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt_facts outcome = {
		.class = RECEIPT_SUBMITTED, .request_id = lent("r"),
	};
	struct receipt *r = NULL;
	struct rlimit limit = { 0 }, old = { 0 };
	struct stat before = { 0 }, after = { 0 };

	ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	ck_assert_int_eq(stat(tool_path("open", "5.1"), &before), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = (rlim_t)before.st_size + 20;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	errno = 0;
	ck_assert_int_eq(receipt_write_outcome(r, &outcome), PO_EIO);
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_int_eq(stat(tool_path("open", "5.1"), &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	ck_assert_int_eq(receipt_write_outcome(r, &outcome), PO_EIO);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(receipt_write_outcome(r, &outcome), 0);
	receipt_close(&r, false);
	ck_assert_int_eq(receipt_read(tool_dir, 5, 1, &got), 0);
	ck_assert_int_eq(got.class, RECEIPT_SUBMITTED);
	receipt_facts_done(&got);
	/* no room for the intent: do not send */
	intent = tool_intent(6, 1);
	limit.rlim_cur = 10;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), PO_EIO);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	ck_assert_int_eq(receipt_read(tool_dir, 6, 1, &got), PO_ENOENT);
}
END_TEST

START_TEST(test_no_folder)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt *r = NULL;
	char file[128];

	ck_assert_int_eq(receipt_read("/nowhere/at/all", 5, 1, &got),
	    PO_ENOENT);
	/* a file where the folder should be: also root cannot write there */
	(void)snprintf(file, sizeof(file), "%s/plain", tool_dir);
	ck_assert_int_eq(mknod(file, S_IFREG | 0600, 0), 0);
	errno = 0;
	ck_assert_int_eq(receipt_open(file, &intent, &r), PO_EIO);
	ck_assert_int_eq(errno, ENOTDIR);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(receipt_prepare(file, NULL), PO_EIO);
	ck_assert_int_eq(receipt_prepare(tool_dir, NULL), 0);
}
END_TEST

/* A dropped worker writes where root prepared; root moves, it moves. */
START_TEST(test_prepared_for_user)
{
	struct receipt_facts intent = tool_intent(5, 1);
	struct receipt *r = NULL;
	int status = 0;
	pid_t pid = 0;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(receipt_prepare(tool_dir, "no-such-user-here"),
	    PO_ENOENT);
	ck_assert_int_eq(receipt_prepare(tool_dir, "nobody"), 0);
	ck_assert_int_eq(chmod(tool_dir, 0755), 0);
	/* root makes the day folder first */
	tool_write_lines("4.1", "i");
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 4, 1), 0);
	if ((pid = fork()) == 0) {
		if (setgid(65534) == -1 || setuid(65534) == -1)
			_exit(1);
		if (receipt_open(tool_dir, &intent, &r) < 0)
			_exit(2);
		receipt_close(&r, true);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(access(tool_path(tool_today(), "5.1"), F_OK), 0);
}
END_TEST

/* Each allocation fails once; nothing is lost, leaked or half-written. */
START_TEST(test_no_memory)
{
	struct receipt_facts intent = tool_intent(5, 1), got = { 0 };
	struct receipt_facts outcome = {
		.class = RECEIPT_SUBMITTED, .request_id = lent("r"),
	};
	struct receipt *r = NULL;
	unsigned long n = 0;
	int rc = PO_ENOMEM, failures = 0;

	for (n = 1; rc == PO_ENOMEM; n++, failures += rc == PO_ENOMEM) {
		mem_fail_after(n);
		rc = receipt_open(tool_dir, &intent, &r);
		mem_fail_after(0);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(failures, 3);
	for (rc = PO_ENOMEM, n = 1; rc == PO_ENOMEM; n++) {
		mem_fail_after(n);
		rc = receipt_write_outcome(r, &outcome);
		mem_fail_after(0);
	}
	ck_assert_int_eq(rc, 0);
	receipt_close(&r, false);
	for (rc = PO_ENOMEM, n = 1; rc == PO_ENOMEM; n++) {
		mem_fail_after(n);
		rc = receipt_read(tool_dir, 5, 1, &got);
		mem_fail_after(0);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_str_eq(got.request_id, "r");
	receipt_facts_done(&got);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("receipt");
	TCase *tc = tcase_create("receipt");

	tcase_add_checked_fixture(tc, tool_setup, tool_teardown);
	tcase_add_test(tc, test_happy_path);
	tcase_add_test(tc, test_closed_as_stored);
	tcase_add_loop_test(tc, test_tries, 0,
	    (int)(sizeof(tries) / sizeof(tries[0])));
	tcase_set_timeout(tc, 30);	/* each line is fsynced */
	tcase_add_test(tc, test_every_torn_line);
	tcase_add_test(tc, test_foreign_places);
	tcase_add_test(tc, test_lock);
	tcase_add_test(tc, test_outcome_rules);
	tcase_add_test(tc, test_disk_full);
	tcase_add_test(tc, test_no_folder);
	tcase_add_test(tc, test_prepared_for_user);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
