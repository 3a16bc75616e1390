/*
 * check_mock.c - the mock provider as its clients meet it: through sockets.
 *
 * This file: what its parts share, and the HTTP that it accepts and refuses.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/provider/check_mock.h"

void
submit(const struct test_mock *m, const char *shape, int task,
    const char *script, struct test_answer *ret)
{
	char headers[96], body[1024];
	bool is_fal = strcmp(shape, "fal") == 0;

	(void)snprintf(headers, sizeof(headers), "X-Payonce-Task: %d.1\r\n",
	    task);
	ck_assert_int_lt(snprintf(body, sizeof(body), is_fal ?
	    "{\"prompt\":\"x\",\"mock\":%s}" :
	    "{\"input\":{\"prompt\":\"x\",\"mock\":%s}}", script),
	    (int)sizeof(body));
	mock_call(m, "POST", is_fal ? "/fal/fal-ai/flux/dev" :
	    "/replicate/v1/models/acme/flux/predictions", headers, body, ret);
}

char *
accept_one(const struct test_mock *m, const char *shape, int task,
    const char *script)
{
	struct test_answer answer;
	struct json_object *body;
	char *id;

	submit(m, shape, task, script, &answer);
	ck_assert_int_eq(answer.status / 100, 2);
	body = parse_body(&answer);
	id = strdup(text_of(body, strcmp(shape, "fal") == 0 ? "request_id" :
	    "id"));
	ck_assert_uint_eq(strlen(id), 36);
	json_object_put(body);
	mock_answer_done(&answer);
	return id;
}

struct json_object *
parse_body(const struct test_answer *answer)
{
	struct json_object *body;

	ck_assert_ptr_nonnull(answer->body);
	body = json_tokener_parse(answer->body);
	ck_assert_msg(body != NULL, "no JSON: %s", answer->body);
	return body;
}

const char *
text_of(struct json_object *object, const char *member)
{
	struct json_object *value = object;
	char name[32];
	size_t len;

	while (*member != '\0') {
		len = strcspn(member, ".");
		ck_assert_uint_lt(len, sizeof(name));
		memcpy(name, member, len);
		name[len] = '\0';
		if (!json_object_object_get_ex(value, name, &value) ||
		    value == NULL)
			return "";
		member += len + (member[len] == '.');
	}
	if (json_object_is_type(value, json_type_string))
		return json_object_get_string(value);
	return json_object_to_json_string_ext(value,
	    JSON_C_TO_STRING_NOSLASHESCAPE);
}

struct json_object *
row_of(const struct test_mock *m, int n)
{
	struct json_object *rows, *row;

	ck_assert_int_eq(mock_get(m, "/_mock/ledger", &rows), 200);
	row = json_object_get(json_object_array_get_idx(rows, (size_t)n));
	ck_assert_msg(row != NULL, "the ledger has no row %d", n);
	json_object_put(rows);
	return row;
}

/* Requests that the mock must refuse, and how. */
static const struct {
	const char	*name;
	const char	*text;
	int		 status;
} refusals[] = {
	{ "no words", "\r\n\r\n", 400 },
	{ "one word", "GET\r\n\r\n", 400 },
	{ "no slash", "GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
	{ "no host", "GET / HTTP/1.1\r\n\r\n", 400 },
	{ "another version", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505 },
	{ "no colon", "GET / HTTP/1.1\r\nHost: a\r\nx\r\n\r\n", 400 },
	{ "blank before colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
	{ "folded", "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400 },
	{ "no length", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n\r\n", 411 },
	{ "chunked", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", 411 },
	{ "two lengths", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400 },
	{ "length of words", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "Content-Length: -2\r\n\r\n{}", 400 },
	{ "too much", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "Content-Length: 16777217\r\n\r\n", 413 },
	{ "task without attempt", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: 7\r\nContent-Length: 2\r\n\r\n{}", 400 },
	{ "task of words", "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "X-Payonce-Task: a.1\r\nContent-Length: 2\r\n\r\n{}", 400 },
	{ "quote in the path", "POST /fal/a/\"b HTTP/1.1\r\nHost: a\r\n"
	    "Content-Length: 2\r\n\r\n{}", 400 }
};

START_TEST(refuses_malformed_requests)
{
	struct test_answer answer;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, refusals[_i].text);
	mock_read(fd, &answer);
	ck_assert_msg(answer.status == refusals[_i].status, "%s: %d",
	    refusals[_i].name, answer.status);
	ck_assert(mock_is_ended(fd));
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(mock_summary(&m, "malformed"), 1);
	ck_assert_int_eq(mock_summary(&m, "posts"), 0);
	mock_done(&m);
}
END_TEST

START_TEST(refuses_an_endless_head)
{
	static char line[4096];
	struct test_answer answer;
	struct test_mock m;
	int fd, i;

	mock_start(&m, NULL);
	memset(line, 'x', sizeof(line) - 3);
	memcpy(line + sizeof(line) - 3, "\r\n", 3);
	line[1] = ':';
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "GET / HTTP/1.1\r\nHost: a\r\n");
	for (i = 0; i < 16; i++)
		mock_send(fd, line);
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 431);
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	mock_done(&m);
}
END_TEST

START_TEST(serves_pipelined_requests_in_order)
{
	struct test_answer answer;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "POST /fal/a/b HTTP/1.1\r\nHost: h:1\r\n"
	    "X-Payonce-Task: 1.1\r\nContent-Length: 2\r\n\r\n{}"
	    "GET /nothing HTTP/1.1\r\nHost: h:1\r\n\r\n"
	    "GET /_mock/summary HTTP/1.1\r\nHost: h:1\r\n"
	    "Connection: close\r\n\r\n");
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_nonnull(strstr(answer.body, "http://h:1/fal/a/b/req"));
	mock_answer_done(&answer);
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 404);
	mock_answer_done(&answer);
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_nonnull(strstr(answer.body, "\"posts\":1,"));
	mock_answer_done(&answer);
	ck_assert(mock_is_ended(fd));
	ck_assert_int_eq(close(fd), 0);
	mock_done(&m);
}
END_TEST

START_TEST(takes_a_request_in_small_pieces)
{
	static const char text[] = "POST /fal/a/b HTTP/1.1\r\nHost: a\r\n"
	    "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
	struct test_answer answer;
	struct test_mock m;
	char piece[2] = "";
	size_t i;
	int fd;

	mock_start(&m, NULL);
	fd = mock_connect(&m, "127.0.0.1");
	for (i = 0; text[i] != '\0'; i++) {
		piece[0] = text[i];
		mock_send(fd, piece);
	}
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 100);
	mock_answer_done(&answer);
	mock_send(fd, "{}");
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	mock_done(&m);
}
END_TEST

START_TEST(waits_until_numbers_are_reached)
{
	struct test_answer answer;
	struct test_mock m;
	int fd;

	mock_start(&m, NULL);
	mock_call(&m, "GET", "/_mock/wait?posts=1&timeout_ms=20", NULL, NULL,
	    &answer);
	ck_assert_int_eq(answer.status, 504);
	mock_answer_done(&answer);
	mock_call(&m, "GET", "/_mock/wait?posts=x", NULL, NULL, &answer);
	ck_assert_int_eq(answer.status, 400);
	mock_answer_done(&answer);
	/* the wait comes first, the event second */
	fd = mock_connect(&m, "127.0.0.1");
	mock_send(fd, "GET /_mock/wait?task=5&charged=1 HTTP/1.1\r\n"
	    "Host: a\r\n\r\n");
	submit(&m, "fal", 4, "{}", &answer);
	mock_answer_done(&answer);
	submit(&m, "fal", 5, "{\"submit\":\"status:400\"}", &answer);
	mock_answer_done(&answer);
	submit(&m, "fal", 5, "{}", &answer);
	mock_answer_done(&answer);
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_nonnull(strstr(answer.body, "\"posts\":3,"));
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	mock_wait_posts(&m, 3);
	mock_done(&m);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("mock");
	TCase *tcase = tcase_create("http");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, refuses_malformed_requests, 0,
	    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tcase, refuses_an_endless_head);
	tcase_add_test(tcase, serves_pipelined_requests_in_order);
	tcase_add_test(tcase, takes_a_request_in_small_pieces);
	tcase_add_test(tcase, waits_until_numbers_are_reached);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, submit_tcase());
	suite_add_tcase(suite, life_tcase());
	suite_add_tcase(suite, file_tcase());
	suite_add_tcase(suite, ledger_tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
