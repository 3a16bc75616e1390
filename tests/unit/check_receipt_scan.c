/*
 * check_receipt_scan.c - scans of receipts, and their end.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/receipt.h"
#include "tests/unit/receipt_tool.h"
#include "tests/unit/suite.h"

static struct buf	seen;

/* Appends "task.attempt:class" or "task.attempt:locked". */
static int
note(const struct receipt_facts *f, bool is_locked, void *arg)
{
	const int *stop_at = arg;

	ck_assert_int_eq(buf_printf(&seen, "%lld.%d:%s ", (long long)f->task,
	    f->attempt, is_locked ? "locked" : receipt_class_name(f->class)),
	    0);
	if (is_locked)
		ck_assert_ptr_null(f->own_id);
	return stop_at != NULL && *stop_at == f->task ? 99 : 0;
}

static int
note_and_acknowledge(const struct receipt_facts *f, bool is_locked, void *arg)
{
	(void)arg;
	ck_assert(!is_locked);
	return receipt_acknowledge(tool_dir, f->task, f->attempt);
}

static int
note_path(const char *path, void *arg)
{
	(void)arg;
	return buf_printf(&seen, "%s ", strrchr(path, '/') + 1);
}

static void
setup(void)
{
	tool_setup();
	buf_init(&seen, 65536);
}

static void
teardown(void)
{
	buf_done(&seen);
	tool_teardown();
}

START_TEST(test_scan)
{
	struct receipt_facts intent = tool_intent(11, 1);
	struct receipt *r = NULL;
	int stop_at = 10;

	ck_assert_int_eq(receipt_scan("/nowhere/at/all", note, NULL), 0);
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_str_eq(buf_text(&seen), "");
	tool_write_lines("10.2", "iu");
	tool_write_lines("10.1", "is");
	tool_write_lines("9.1", "i");
	tool_write_lines("7.1", "if");
	tool_write_lines("8.1", "");
	tool_write_lines("2.1", "iI?");
	ck_assert_int_eq(receipt_open(tool_dir, &intent, &r), 0);
	tool_write("core.dump", "x", 1);
	tool_write("012.1", "x", 1);
	tool_write("12.01", "x", 1);
	tool_write("12", "x", 1);
	tool_write("-3.1", "x", 1);
	tool_write("12.1.1", "x", 1);
	tool_write("99999999999999999999.1", "x", 1);
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_str_eq(buf_text(&seen), "2.1:unknown 9.1:intent "
	    "10.1:submitted 10.2:unsent 11.1:locked ");
	buf_reset(&seen);
	ck_assert_int_eq(receipt_scan(tool_dir, note, &stop_at), 99);
	ck_assert_str_eq(buf_text(&seen), "2.1:unknown 9.1:intent "
	    "10.1:submitted ");
	receipt_close(&r, false);
	ck_assert_int_eq(access(tool_path("damaged", "7.1"), F_OK), 0);
	ck_assert_int_eq(access(tool_path("damaged", "core.dump"), F_OK), 0);
	ck_assert_int_eq(access(tool_path("damaged", "12.01"), F_OK), 0);
	ck_assert_int_eq(access(tool_path("open", "8.1"), F_OK), 0);
}
END_TEST

START_TEST(test_scan_damaged)
{
	ck_assert_int_eq(receipt_scan_damaged("/nowhere", note_path, NULL), 0);
	tool_write_lines("7.1", "f");
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_int_eq(receipt_scan_damaged(tool_dir, note_path, NULL), 0);
	ck_assert_str_eq(buf_text(&seen), "7.1 ");
}
END_TEST

START_TEST(test_acknowledge_in_scan)
{
	char name[32];
	int i = 0;

	for (i = 1; i <= 200; i++) {
		(void)snprintf(name, sizeof(name), "%d.1", i);
		tool_write_lines(name, "is");
	}
	ck_assert_int_eq(receipt_scan(tool_dir, note_and_acknowledge, NULL),
	    0);
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_str_eq(buf_text(&seen), "");
	ck_assert_int_eq(access(tool_path(tool_today(), "200.1"), F_OK), 0);
}
END_TEST

/* Moves an open file to the folder of a day of the test's choice. */
static void
move_to_day(const char *name, const char *day)
{
	char folder[256];

	(void)strlcpy(folder, tool_path(day, ""), sizeof(folder));
	(void)mkdir(folder, 0750);
	ck_assert_int_eq(rename(tool_path("open", name),
	    tool_path2(day, name)), 0);
}

START_TEST(test_scan_all)
{
	/* of one attempt the newest counts; open is newer than any day */
	tool_write_lines("1.1", "it");
	move_to_day("1.1", "2026-01-30");
	tool_write_lines("1.1", "is");
	move_to_day("1.1", "2026-01-31");
	tool_write_lines("2.1", "iu");
	move_to_day("2.1", "2026-01-31");
	tool_write_lines("2.1", "i");
	tool_write_lines("3.2", "ir");
	move_to_day("3.2", "2025-12-31");
	/* a damaged newer one does not hide an older one */
	tool_write_lines("4.1", "is");
	move_to_day("4.1", "2026-01-30");
	tool_write_lines("4.1", "f");
	move_to_day("4.1", "2026-01-31");
	ck_assert_int_eq(mkdir(tool_path("2026-13-01", ""), 0700), 0);
	ck_assert_int_eq(receipt_scan_all(tool_dir, note, NULL), 0);
	ck_assert_str_eq(buf_text(&seen),
	    "1.1:submitted 2.1:intent 3.2:result 4.1:submitted ");
	buf_reset(&seen);
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_str_eq(buf_text(&seen), "2.1:intent ");
}
END_TEST

START_TEST(test_clean)
{
	char old[16], young[16];
	time_t now = time(NULL), then = now - 3 * 86400;
	struct tm tm = { 0 };

	ck_assert_int_eq(receipt_clean("/nowhere/at/all", 1), 0);
	ck_assert_ptr_nonnull(gmtime_r(&then, &tm));
	ck_assert_uint_gt(strftime(old, sizeof(old), "%Y-%m-%d", &tm), 0);
	then = now - 86400;
	ck_assert_ptr_nonnull(gmtime_r(&then, &tm));
	ck_assert_uint_gt(strftime(young, sizeof(young), "%Y-%m-%d", &tm), 0);
	tool_write_lines("1.1", "is");
	move_to_day("1.1", old);
	tool_write_lines("2.1", "is");
	move_to_day("2.1", young);
	tool_write_lines("3.1", "is");
	ck_assert_int_eq(receipt_acknowledge(tool_dir, 3, 1), 0);
	tool_write_lines("4.1", "is");
	tool_write_lines("5.1", "f");
	ck_assert_int_eq(receipt_scan(tool_dir, note, NULL), 0);
	ck_assert_int_eq(receipt_clean(tool_dir, 86400), 0);
	ck_assert_int_eq(access(tool_path(old, ""), F_OK), -1);
	ck_assert_int_eq(access(tool_path(young, "2.1"), F_OK), 0);
	ck_assert_int_eq(access(tool_path(tool_today(), "3.1"), F_OK), 0);
	/* whatever the age: not acknowledged, or damaged */
	ck_assert_int_eq(receipt_clean(tool_dir, 0), 0);
	ck_assert_int_eq(access(tool_path("open", "4.1"), F_OK), 0);
	ck_assert_int_eq(access(tool_path("damaged", "5.1"), F_OK), 0);
	ck_assert_int_eq(access(tool_path(young, ""), F_OK), -1);
	ck_assert_int_eq(access(tool_path(tool_today(), "3.1"), F_OK), 0);
}
END_TEST

START_TEST(test_class_names)
{
	ck_assert_str_eq(receipt_class_name(RECEIPT_INTENT), "intent");
	ck_assert_str_eq(receipt_class_name(RECEIPT_UNSENT), "unsent");
	ck_assert_str_eq(receipt_class_name(RECEIPT_SUBMITTED), "submitted");
	ck_assert_str_eq(receipt_class_name(RECEIPT_RESULT), "result");
	ck_assert_str_eq(receipt_class_name(RECEIPT_REJECTED), "rejected");
	ck_assert_str_eq(receipt_class_name(RECEIPT_THROTTLED), "throttled");
	ck_assert_str_eq(receipt_class_name(RECEIPT_ACCOUNT), "account");
	ck_assert_str_eq(receipt_class_name(RECEIPT_UNKNOWN), "unknown");
	ck_assert_str_eq(receipt_class_name(RECEIPT_CLASS_MAX), "?");
}
END_TEST

/* Each allocation of a scan fails once. */
START_TEST(test_no_memory)
{
	unsigned long n = 0;
	int rc = PO_ENOMEM, failures = 0;

	tool_write_lines("1.1", "is");
	tool_write_lines("2.1", "iu");
	move_to_day("2.1", "2026-01-31");
	for (n = 1; rc == PO_ENOMEM && n < 1000; n++) {
		buf_reset(&seen);
		ck_assert_ptr_nonnull(buf_reserve(&seen, 1000));
		mem_fail_after(n);
		rc = receipt_scan_all(tool_dir, note, NULL);
		mem_fail_after(0);
		failures += rc == PO_ENOMEM;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_gt(failures, 8);
	ck_assert_str_eq(buf_text(&seen), "1.1:submitted 2.1:unsent ");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("receipt_scan");
	TCase *tc = tcase_create("scan");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 30);	/* each line is fsynced */
	tcase_add_test(tc, test_scan);
	tcase_add_test(tc, test_scan_damaged);
	tcase_add_test(tc, test_acknowledge_in_scan);
	tcase_add_test(tc, test_scan_all);
	tcase_add_test(tc, test_clean);
	tcase_add_test(tc, test_class_names);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
