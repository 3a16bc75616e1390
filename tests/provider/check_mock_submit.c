/*
 * check_mock_submit.c - each misbehaviour of a submit: what the client sees,
 * and what it costs.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/provider/check_mock.h"

#define FAL	1
#define REPL	2
#define BOTH	(FAL | REPL)

/* status 0: the connection ended without an answer */
static const struct {
	const char	*script;
	int		 shapes;
	int		 status;
	bool		 has_id;
	bool		 is_charged;
	const char	*behaviour;
} submits[] = {
	{ "{}", FAL, 200, true, true, "ok" },
	{ "{}", REPL, 201, true, true, "ok" },
	{ "{\"submit\":\"drop_before_read\"}", BOTH, 0, false, false,
	    "drop_before_read" },
	{ "{\"submit\":\"drop_after_read\"}", BOTH, 0, false, true,
	    "drop_after_read" },
	{ "{\"submit\":\"drop_after_read\",\"bill\":false}", BOTH, 0, false,
	    false, "drop_after_read" },
	{ "{\"submit\":\"status:500\"}", BOTH, 500, false, true,
	    "status:500" },
	{ "{\"submit\":\"status:503\",\"bill\":false}", BOTH, 503, false,
	    false, "status:503" },
	{ "{\"submit\":\"status:402\"}", BOTH, 402, false, false,
	    "status:402" },
	{ "{\"submit\":\"status:409\",\"bill\":true}", BOTH, 409, false,
	    true, "status:409" },
	{ "{\"submit\":\"status:202\"}", BOTH, 202, true, true,
	    "status:202" },
	{ "{\"submit\":\"redirect:307\"}", BOTH, 307, false, true,
	    "redirect:307" },
	{ "{\"submit\":\"garbage\"}", BOTH, 200, false, true, "garbage" },
	{ "{\"submit\":\"empty\"}", BOTH, 200, false, true, "empty" },
	{ "{\"submit\":\"no_id\"}", FAL, 200, false, true, "no_id" },
	{ "{\"submit\":\"no_id\"}", REPL, 201, false, true, "no_id" },
	{ "{\"submit\":\"error_200\"}", BOTH, 200, false, true,
	    "error_200" },
	{ "{\"submit\":\"html_200\"}", BOTH, 200, false, true, "html_200" },
	{ "{\"submit\":\"drip\",\"drip_ms\":100}", FAL, 200, true, true,
	    "drip" },
	{ "{\"submit\":\"foreign_url\"}", FAL, 200, true, true,
	    "foreign_url" },
	{ "{\"submit\":\"bogus\"}", BOTH, 422, false, false, "bad_request" },
	{ "{\"bogus\":1}", BOTH, 422, false, false, "bad_request" },
	{ "{\"latency_ms\":-1}", BOTH, 422, false, false, "bad_request" },
	{ "{\"price\":\"1e9\"}", BOTH, 422, false, false, "bad_request" },
	{ "7", BOTH, 422, false, false, "bad_request" },
	{ "null", FAL, 200, true, true, "ok" }
};

static void
check_submit(const char *shape, size_t i)
{
	struct test_answer answer;
	struct test_mock m;
	struct json_object *row;
	const char *script = submits[i].script;

	mock_start(&m, NULL);
	submit(&m, shape, 11, script, &answer);
	ck_assert_msg(answer.status == submits[i].status, "%s %s: status %d",
	    shape, script, answer.status);
	row = row_of(&m, 0);
	ck_assert_str_eq(text_of(row, "behaviour"), submits[i].behaviour);
	ck_assert_str_eq(text_of(row, "charged"), submits[i].is_charged ?
	    "0.03" : "0");
	ck_assert_str_eq(text_of(row, "accepted"), submits[i].is_charged ?
	    "true" : "false");
	ck_assert_str_eq(text_of(row, "shape"), shape);
	ck_assert_str_eq(text_of(row, "task"), "11");
	ck_assert_str_eq(text_of(row, "attempt"), "1");
	ck_assert_str_eq(text_of(row, "model"), strcmp(shape, "fal") == 0 ?
	    "fal-ai/flux/dev" : "acme/flux");
	ck_assert_str_eq(text_of(row, "mark"), "");
	ck_assert_uint_eq(strlen(text_of(row, "request_id")),
	    submits[i].is_charged ? 36 : 0);
	/* the id is in the answer exactly when it should be */
	if (submits[i].has_id)
		ck_assert_ptr_nonnull(strstr(answer.body,
		    text_of(row, "request_id")));
	else if (submits[i].is_charged && answer.body != NULL)
		ck_assert_ptr_null(strstr(answer.body,
		    text_of(row, "request_id")));
	ck_assert_int_eq(mock_summary(&m, "open"), 0);
	ck_assert_int_eq(mock_summary(&m, "posts"), 1);
	ck_assert_int_eq(mock_summary(&m, "charged_posts"),
	    submits[i].is_charged);
	json_object_put(row);
	mock_answer_done(&answer);
	mock_done(&m);
}

START_TEST(costs_what_a_provider_would_bill)
{
	if (submits[_i].shapes & FAL)
		check_submit("fal", (size_t)_i);
	if (submits[_i].shapes & REPL)
		check_submit("replicate", (size_t)_i);
}
END_TEST

START_TEST(drops_in_different_ways)
{
	struct test_answer answer;
	struct test_mock m;

	mock_start(&m, NULL);
	submit(&m, "fal", 1, "{\"submit\":\"drop_before_read\"}", &answer);
	ck_assert(answer.is_reset);
	mock_answer_done(&answer);
	submit(&m, "fal", 2, "{\"submit\":\"drop_after_read\"}", &answer);
	ck_assert(!answer.is_reset && answer.status == 0);
	mock_answer_done(&answer);
	submit(&m, "fal", 3, "{\"submit\":\"drop_mid_answer\"}", &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_uint_gt(answer.body_len, 10);
	ck_assert_ptr_null(strchr(answer.body, '}'));
	mock_answer_done(&answer);
	ck_assert_int_eq(mock_summary(&m, "charged_posts"), 2);
	mock_done(&m);
}
END_TEST

START_TEST(hangs_until_the_client_gives_up)
{
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 3.1\r\nContent-Length: 26\r\n\r\n"
	    "{\"mock\":{\"submit\":\"hang\"}}");
	mock_wait(&m, "open=1&charged=1");
	ck_assert_int_eq(close(fd), 0);
	/* it notices the end; there is nothing else to wait for */
	while (mock_summary(&m, "open") != 0)
		;
	ck_assert_int_eq(mock_summary(&m, "charged_posts"), 1);
	mock_done(&m);
}
END_TEST

START_TEST(delays_and_charges_at_once)
{
	struct test_answer answer;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 4.1\r\nContent-Length: 25\r\n\r\n"
	    "{\"mock\":{\"delay_ms\":300}}");
	mock_wait(&m, "charged=1&open=1");
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(mock_summary(&m, "open"), 0);
	mock_done(&m);
}
END_TEST

START_TEST(charges_nothing_without_the_whole_body)
{
	struct json_object *row;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 3.2\r\nContent-Length: 1000\r\n\r\n{\"p\":");
	mock_wait_posts(&m, 1);
	ck_assert_int_eq(close(fd), 0);
	row = row_of(&m, 0);
	ck_assert_str_eq(text_of(row, "behaviour"), "no_body");
	ck_assert_str_eq(text_of(row, "charged"), "0");
	ck_assert_str_eq(text_of(row, "attempt"), "2");
	ck_assert_str_eq(text_of(row, "request_id"), "");
	json_object_put(row);
	mock_done(&m);
}
END_TEST

START_TEST(charges_a_client_that_died_after_the_request)
{
	struct json_object *row;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 3.1\r\nContent-Length: 2\r\n\r\n{}");
	ck_assert_int_eq(close(fd), 0);
	mock_wait(&m, "charged=1");
	row = row_of(&m, 0);
	ck_assert_str_eq(text_of(row, "accepted"), "true");
	json_object_put(row);
	mock_done(&m);
}
END_TEST

START_TEST(plays_its_script_once)
{
	static const char script[] = "{\"submit\":\"status:429\","
	    "\"retry_after\":\"7\",\"once\":true,\"price\":\"0.25\"}";
	struct test_answer answer;
	struct test_mock m;
	struct json_object *row;

	mock_start(&m, NULL);
	submit(&m, "replicate", 8, script, &answer);
	ck_assert_int_eq(answer.status, 429);
	ck_assert_ptr_nonnull(strstr(answer.head, "\r\nRetry-After: 7\r\n"));
	mock_answer_done(&answer);
	submit(&m, "replicate", 8, script, &answer);
	ck_assert_int_eq(answer.status, 201);
	mock_answer_done(&answer);
	submit(&m, "replicate", 9, script, &answer);
	ck_assert_int_eq(answer.status, 429);
	mock_answer_done(&answer);
	row = row_of(&m, 1);
	ck_assert_str_eq(text_of(row, "charged"), "0.25");
	json_object_put(row);
	mock_done(&m);
}
END_TEST

START_TEST(sees_a_client_that_follows_a_redirect)
{
	struct test_answer answer;
	struct test_mock m;
	char *at, *path;

	mock_start(&m, NULL);
	submit(&m, "fal", 8, "{\"submit\":\"redirect:308\"}", &answer);
	ck_assert_int_eq(answer.status, 308);
	at = strstr(answer.head, "\r\nLocation: http://127.0.0.1:");
	ck_assert_ptr_nonnull(at);
	at = strstr(at + 20, "/fal/");
	path = strndup(at, strcspn(at, "\r"));
	mock_answer_done(&answer);
	mock_call(&m, "POST", path, "X-Payonce-Task: 8.1\r\n",
	    "{\"mock\":{\"submit\":\"redirect:308\"}}", &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	free(path);
	ck_assert_int_eq(mock_summary(&m, "charged_twice"), 1);
	ck_assert_int_eq(mock_summary(&m, "tasks_charged_twice"), 1);
	mock_done(&m);
}
END_TEST

START_TEST(drops_an_idle_connection_when_it_is_used_again)
{
	struct test_answer answer;
	struct json_object *row;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 3.1\r\nContent-Length: 32\r\n\r\n"
	    "{\"mock\":{\"submit\":\"close_idle\"}}");
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_null(strstr(answer.head, "Connection: close"));
	mock_answer_done(&answer);
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 4.1\r\nContent-Length: 2\r\n\r\n{}");
	ck_assert(mock_is_ended(fd));
	ck_assert_int_eq(close(fd), 0);
	row = row_of(&m, 1);
	ck_assert_str_eq(text_of(row, "behaviour"), "drop_idle");
	ck_assert_str_eq(text_of(row, "charged"), "0.03");
	json_object_put(row);
	mock_done(&m);
}
END_TEST

START_TEST(answers_twice)
{
	struct test_answer first, second;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 3.1\r\nContent-Length: 27\r\n\r\n"
	    "{\"mock\":{\"submit\":\"twice\"}}");
	mock_read(fd, &first);
	mock_read(fd, &second);
	ck_assert_int_eq(first.status, 200);
	ck_assert_str_eq(first.head, second.head);
	ck_assert_str_eq(first.body, second.body);
	mock_answer_done(&first);
	mock_answer_done(&second);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(mock_summary(&m, "posts"), 1);
	mock_done(&m);
}
END_TEST

TCase *
submit_tcase(void)
{
	TCase *tcase = tcase_create("submit");

	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, costs_what_a_provider_would_bill, 0,
	    sizeof(submits) / sizeof(submits[0]));
	tcase_add_test(tcase, drops_in_different_ways);
	tcase_add_test(tcase, hangs_until_the_client_gives_up);
	tcase_add_test(tcase, delays_and_charges_at_once);
	tcase_add_test(tcase, charges_nothing_without_the_whole_body);
	tcase_add_test(tcase, charges_a_client_that_died_after_the_request);
	tcase_add_test(tcase, plays_its_script_once);
	tcase_add_test(tcase, sees_a_client_that_follows_a_redirect);
	tcase_add_test(tcase, drops_an_idle_connection_when_it_is_used_again);
	tcase_add_test(tcase, answers_twice);
	return tcase;
}
