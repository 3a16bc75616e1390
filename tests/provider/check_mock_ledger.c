/*
 * check_mock_ledger.c - the ledger over restarts, the totals, the key, the
 * outages.
 */
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "tests/provider/check_mock.h"

static void
append_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(write(fd, text, strlen(text)),
	    (ssize_t)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

static int64_t
file_len(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_size;
}

START_TEST(keeps_its_ledger_over_a_restart)
{
	struct json_object *before, *after;
	struct test_answer answer, again;
	struct test_mock m;
	char path[160], *id, *late;
	int64_t len;

	mock_start(&m, NULL);
	id = accept_one(&m, "replicate", 7, "{\"artifact\":\"sound\"}");
	late = accept_one(&m, "fal", 8, "{\"latency_ms\":60000}");
	submit(&m, "fal", 9, "{\"submit\":\"drop_after_read\"}", &answer);
	mock_answer_done(&answer);
	submit(&m, "fal", 9, "{\"submit\":\"status:400\"}", &answer);
	mock_answer_done(&answer);
	(void)snprintf(path, sizeof(path), "/files/%s/0.wav", id);
	mock_call(&m, "GET", path, NULL, NULL, &answer);
	ck_assert_int_eq(mock_get(&m, "/_mock/ledger", &before), 200);
	ck_assert_int_eq(mock_stop(&m), EXIT_CODE_OK);
	len = file_len(m.ledger);
	append_text(m.ledger, "{\"seq\":5,\"at\":\"20");	/* torn */

	mock_again(&m, NULL);
	ck_assert_int_eq(file_len(m.ledger), len);
	ck_assert_int_eq(mock_get(&m, "/_mock/ledger", &after), 200);
	ck_assert_uint_eq(json_object_array_length(after), 4);
	ck_assert(json_object_equal(before, after));
	ck_assert_int_eq(mock_summary(&m, "charged_posts"), 3);
	ck_assert_int_eq(mock_summary(&m, "tasks"), 3);
	mock_call(&m, "GET", path, NULL, NULL, &again);
	ck_assert_int_eq(again.status, 200);
	ck_assert_uint_eq(answer.body_len, again.body_len);
	ck_assert_mem_eq(answer.body, again.body, again.body_len);
	mock_answer_done(&answer);
	mock_answer_done(&again);
	(void)snprintf(path, sizeof(path),
	    "/fal/fal-ai/flux/requests/%s/status", late);
	mock_call(&m, "GET", path, NULL, NULL, &answer);
	ck_assert_int_eq(answer.status, 202);
	mock_answer_done(&answer);
	/* a second charge of task 9 is seen across the restart */
	submit(&m, "fal", 9, "{}", &answer);
	mock_answer_done(&answer);
	ck_assert_int_eq(mock_summary(&m, "charged_twice"), 1);
	json_object_put(before);
	json_object_put(after);
	free(id);
	free(late);
	mock_done(&m);
}
END_TEST

/* A row that was settled late stays the first, and no number comes twice. */
START_TEST(keeps_the_numbers_of_its_rows)
{
	static const int tasks[] = { 2, 1, 3 };		/* as settled */
	static const int numbers[] = { 2, 1, 3 };
	struct test_answer answer;
	struct json_object *row;
	struct test_mock m;
	int fd, i;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 1.1\r\nContent-Length: 2\r\n\r\n{");
	mock_wait_posts(&m, 1);
	submit(&m, "fal", 2, "{}", &answer);
	mock_answer_done(&answer);
	mock_send(fd, "}");
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(mock_stop(&m), EXIT_CODE_OK);
	mock_again(&m, NULL);
	submit(&m, "fal", 3, "{}", &answer);
	mock_answer_done(&answer);
	for (i = 0; i < 3; i++) {
		row = row_of(&m, i);
		ck_assert_int_eq(json_object_get_int(json_object_object_get(
		    row, "task")), tasks[i]);
		ck_assert_int_eq(json_object_get_int(json_object_object_get(
		    row, "seq")), numbers[i]);
		json_object_put(row);
	}
	mock_done(&m);
}
END_TEST

START_TEST(has_the_row_on_disk_before_the_answer)
{
	struct test_answer answer;
	struct test_mock m;
	char text[2048] = "", wanted[32];
	int fd, i;

	mock_start(&m, NULL);
	for (i = 1; i <= 3; i++) {
		submit(&m, "fal", i, "{}", &answer);
		ck_assert_int_eq(answer.status, 200);
		mock_answer_done(&answer);
		fd = open(m.ledger, O_RDONLY | O_CLOEXEC);
		ck_assert_int_ne(fd, -1);
		ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
		ck_assert_int_eq(close(fd), 0);
		(void)snprintf(wanted, sizeof(wanted),
		    "\"task\":%d,", i);
		ck_assert_ptr_nonnull(strstr(text, wanted));
	}
	mock_done(&m);
}
END_TEST

START_TEST(counts_charges)
{
	struct test_answer answer;
	struct json_object *summary;
	struct test_mock m;

	mock_start(&m, NULL);
	submit(&m, "fal", 1, "{\"price\":\"0.1\"}", &answer);
	mock_answer_done(&answer);
	submit(&m, "fal", 1, "{\"submit\":\"status:429\"}", &answer);
	mock_answer_done(&answer);
	ck_assert_int_eq(mock_summary(&m, "charged_twice"), 0);
	mock_call(&m, "POST", "/fal/a/b", "X-Payonce-Task: 1.2\r\n",
	    "{\"mock\":{\"price\":\"0.2\"}}", &answer);
	mock_answer_done(&answer);
	/* another attempt: a task that was paid twice, no attempt that was */
	ck_assert_int_eq(mock_summary(&m, "charged_twice"), 0);
	ck_assert_int_eq(mock_summary(&m, "tasks_charged_twice"), 1);
	mock_call(&m, "POST", "/fal/a/b", "X-Payonce-Task: 1.2\r\n",
	    "{\"mock\":{\"price\":\"0.7000001\"}}", &answer);
	mock_answer_done(&answer);
	ck_assert_int_eq(mock_summary(&m, "charged_twice"), 1);
	ck_assert_int_eq(mock_summary(&m, "tasks_charged_twice"), 1);
	ck_assert_int_eq(mock_summary(&m, "tasks"), 1);
	ck_assert_int_eq(mock_summary(&m, "unmarked"), 0);
	ck_assert_int_eq(mock_get(&m, "/_mock/summary", &summary), 200);
	ck_assert_str_eq(text_of(summary, "spent"), "1.0000001");
	json_object_put(summary);
	ck_assert_int_eq(mock_get(&m, "/_mock/ledger?task=1&since=2",
	    &summary), 200);
	ck_assert_uint_eq(json_object_array_length(summary), 2);
	json_object_put(summary);
	mock_done(&m);
}
END_TEST

START_TEST(refuses_a_ledger_that_is_none)
{
	struct test_mock m;

	mock_start(&m, NULL);
	ck_assert_int_eq(mock_stop(&m), EXIT_CODE_OK);
	append_text(m.ledger, "no ledger at all\n");
	ck_assert_int_eq(mock_try(&m, NULL), EXIT_CODE_FATAL);
	ck_assert_int_eq(file_len(m.ledger), 17);
	ck_assert_int_eq(mock_try(&m, "-z", NULL), EXIT_CODE_USAGE);
	mock_done(&m);
}
END_TEST

START_TEST(wants_the_key)
{
	struct test_answer answer;
	struct json_object *row;
	struct test_mock m;

	mock_start(&m, "-k", "sesame", NULL);
	submit(&m, "fal", 1, "{}", &answer);
	ck_assert_int_eq(answer.status, 401);
	mock_answer_done(&answer);
	row = row_of(&m, 0);
	ck_assert_str_eq(text_of(row, "behaviour"), "unauthorized");
	ck_assert_str_eq(text_of(row, "charged"), "0");
	json_object_put(row);
	mock_call(&m, "POST", "/fal/a/b", "Authorization: Key sesame\r\n",
	    "{}", &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	mock_call(&m, "POST", "/replicate/v1/predictions",
	    "Authorization: Bearer sesame\r\n",
	    "{\"version\":\"acme/x:1\",\"input\":{}}", &answer);
	ck_assert_int_eq(answer.status, 201);
	mock_answer_done(&answer);
	row = row_of(&m, 2);
	ck_assert_str_eq(text_of(row, "model"), "acme/x:1");
	json_object_put(row);
	mock_set(&m, "key/other");
	mock_call(&m, "POST", "/fal/a/b", "Authorization: Key sesame\r\n",
	    "{}", &answer);
	ck_assert_int_eq(answer.status, 401);
	mock_answer_done(&answer);
	mock_done(&m);
}
END_TEST

START_TEST(goes_out_and_comes_back)
{
	struct test_answer answer;
	struct test_mock m;
	int i, fd;

	mock_start(&m, NULL);
	for (i = 0; i < 3; i++) {
		mock_set(&m, "outage/refuse");
		ck_assert_int_eq(mock_connect(&m, "127.0.0.1"), -1);
		ck_assert_int_eq(mock_summary(&m, "posts"), i);
		mock_set(&m, "outage/off");
		submit(&m, "fal", i, "{}", &answer);
		ck_assert_int_eq(answer.status, 200);
		mock_answer_done(&answer);
	}
	mock_set(&m, "outage/503");
	submit(&m, "fal", 7, "{}", &answer);
	ck_assert_int_eq(answer.status, 503);
	mock_answer_done(&answer);
	mock_call(&m, "GET", "/files/x/0.png", NULL, NULL, &answer);
	ck_assert_int_eq(answer.status, 503);
	mock_answer_done(&answer);
	mock_set(&m, "outage/hang");
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 8.1\r\nContent-Length: 2\r\n\r\n{}");
	mock_wait(&m, "open=1&task=8&charged=1");
	ck_assert_int_eq(close(fd), 0);
	mock_set(&m, "outage/off");
	submit(&m, "fal", 9, "{}", &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	mock_done(&m);
}
END_TEST

TCase *
ledger_tcase(void)
{
	TCase *tcase = tcase_create("ledger");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, keeps_its_ledger_over_a_restart);
	tcase_add_test(tcase, keeps_the_numbers_of_its_rows);
	tcase_add_test(tcase, has_the_row_on_disk_before_the_answer);
	tcase_add_test(tcase, counts_charges);
	tcase_add_test(tcase, refuses_a_ledger_that_is_none);
	tcase_add_test(tcase, wants_the_key);
	tcase_add_test(tcase, goes_out_and_comes_back);
	return tcase;
}
