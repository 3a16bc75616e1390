/*
 * check_mock_file.c - artifacts: real files, different for each task, and
 * the ways in which a download goes wrong.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/provider/check_mock.h"

/* result_url() asks for the result and returns the first URL in it. */
static char *
result_url(const struct test_mock *m, const char *app, const char *id)
{
	struct test_answer answer;
	char path[160], *at, *url;

	(void)snprintf(path, sizeof(path), "/fal/%s/requests/%s", app, id);
	mock_call(m, "GET", path, NULL, NULL, &answer);
	ck_assert_int_eq(answer.status, 200);
	at = strstr(answer.body, "\"url\":\"");
	ck_assert_ptr_nonnull(at);
	url = strndup(at + 7, strcspn(at + 7, "\""));
	mock_answer_done(&answer);
	return url;
}

static void
download(const struct test_mock *m, const char *url, const char *headers,
    struct test_answer *ret)
{
	mock_call(m, "GET", strstr(url, "/files/"), headers, NULL, ret);
}

/* fetch_artifact() is the whole way from a submit to the file. */
static void
fetch_artifact(const struct test_mock *m, int task, const char *script,
    struct test_answer *ret)
{
	char *id = accept_one(m, "fal", task, script);
	char *url = result_url(m, "fal-ai/flux", id);

	download(m, url, NULL, ret);
	free(url);
	free(id);
}

static const struct {
	const char	*script;
	const char	*type;
	const char	*head;
	size_t		 head_len;
	size_t		 len_min;
} kinds[] = {
	{ "{}", "image/png", "\x89PNG\r\n\x1a\n", 8, 10000 },
	{ "{\"artifact\":\"sound\"}", "audio/wav", "RIFF", 4, 30000 },
	{ "{\"artifact\":\"clip\"}", "video/x-yuv4mpeg", "YUV4MPEG2 W128 ",
	    15, 100000 }
};

START_TEST(sends_real_files_that_name_the_task)
{
	struct test_answer one, same, other;
	struct test_mock m;
	char type[64];

	mock_start(&m, NULL);
	fetch_artifact(&m, 41, kinds[_i].script, &one);
	fetch_artifact(&m, 41, kinds[_i].script, &same);
	fetch_artifact(&m, 42, kinds[_i].script, &other);
	ck_assert_int_eq(one.status, 200);
	(void)snprintf(type, sizeof(type), "\r\nContent-Type: %s\r\n",
	    kinds[_i].type);
	ck_assert_ptr_nonnull(strstr(one.head, type));
	ck_assert_uint_gt(one.body_len, kinds[_i].len_min);
	ck_assert_mem_eq(one.body, kinds[_i].head, kinds[_i].head_len);
	ck_assert_uint_eq(one.body_len, same.body_len);
	ck_assert_uint_eq(one.body_len, other.body_len);
	ck_assert_mem_eq(one.body, same.body, one.body_len);
	ck_assert_mem_ne(one.body, other.body, one.body_len);
	ck_assert_int_eq(mock_summary(&m, "downloads"), 3);
	mock_answer_done(&one);
	mock_answer_done(&same);
	mock_answer_done(&other);
	mock_done(&m);
}
END_TEST

START_TEST(knows_the_kind_by_the_model)
{
	static const struct {
		const char	*app;
		const char	*ending;
		const char	*price;
	} models[] = {
		{ "acme/my-speech-2", ".wav?", "0.015" },
		{ "acme/fast-TTS", ".wav?", "0.015" },
		{ "acme/clip", ".y4m?", "0.50" },
		{ "acme/text-to-video", ".y4m?", "0.50" },
		{ "fal-ai/veo3", ".y4m?", "0.50" },
		{ "fal-ai/flux", ".png?", "0.03" }
	};
	struct test_answer answer;
	struct json_object *row;
	struct test_mock m;
	char path[160], *url;
	int i;

	mock_start(&m, NULL);
	for (i = 0; i < 6; i++) {
		(void)snprintf(path, sizeof(path), "/fal/%s", models[i].app);
		mock_call(&m, "POST", path, NULL, "{}", &answer);
		ck_assert_int_eq(answer.status, 200);
		mock_answer_done(&answer);
		row = row_of(&m, i);
		ck_assert_str_eq(text_of(row, "charged"), models[i].price);
		ck_assert_str_eq(text_of(row, "task"), "");
		url = result_url(&m, models[i].app,
		    text_of(row, "request_id"));
		ck_assert_msg(strstr(url, models[i].ending) != NULL, "%s",
		    url);
		free(url);
		json_object_put(row);
	}
	mock_done(&m);
}
END_TEST

START_TEST(streams_what_is_huge)
{
	struct test_answer answer;
	struct test_mock m;

	mock_start(&m, NULL);
	fetch_artifact(&m, 1, "{\"artifact\":\"huge:5000000\"}", &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_uint_eq(answer.body_len, 5000000);
	mock_answer_done(&answer);
	mock_done(&m);
}
END_TEST

START_TEST(loses_files)
{
	struct test_answer answer;
	struct test_mock m;
	char *id, *url;

	mock_start(&m, NULL);
	fetch_artifact(&m, 1, "{\"artifact\":\"gone\"}", &answer);
	ck_assert_int_eq(answer.status, 404);
	mock_answer_done(&answer);
	/* the old URL stays dead, a new one lives */
	id = accept_one(&m, "fal", 2, "{\"artifact\":\"gone_once\"}");
	url = result_url(&m, "fal-ai/flux", id);
	download(&m, url, NULL, &answer);
	ck_assert_int_eq(answer.status, 403);
	mock_answer_done(&answer);
	download(&m, url, NULL, &answer);
	ck_assert_int_eq(answer.status, 403);
	mock_answer_done(&answer);
	free(url);
	url = result_url(&m, "fal-ai/flux", id);
	download(&m, url, NULL, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	free(url);
	free(id);
	fetch_artifact(&m, 3, "{\"download\":[\"status:500\"]}", &answer);
	ck_assert_int_eq(answer.status, 500);
	mock_answer_done(&answer);
	fetch_artifact(&m, 4, "{\"download\":[\"drop_mid\"]}", &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_uint_gt(answer.body_len, 1000);
	ck_assert_ptr_null(memmem(answer.body, answer.body_len, "IEND", 4));
	mock_answer_done(&answer);
	fetch_artifact(&m, 5, "{\"artifact\":\"drip\",\"drip_ms\":100,"
	    "\"artifact_delay_ms\":20}", &answer);
	ck_assert_ptr_nonnull(memmem(answer.body, answer.body_len, "IEND",
	    4));
	mock_answer_done(&answer);
	mock_done(&m);
}
END_TEST

START_TEST(counts_who_follows_to_the_foreign_host)
{
	struct test_answer answer;
	struct test_mock m;
	char text[512], *at, *url, *id;
	int fd;

	mock_start(&m, "-k", "sesame", NULL);
	mock_set(&m, "key/");
	id = accept_one(&m, "fal", 1, "{\"artifact\":\"redirect_foreign\"}");
	url = result_url(&m, "fal-ai/flux", id);
	download(&m, url, NULL, &answer);
	ck_assert_int_eq(answer.status, 302);
	at = strstr(answer.head, "\r\nLocation: http://127.0.0.2:");
	ck_assert_ptr_nonnull(at);
	at = strstr(at, "/files/");
	ck_assert_int_eq(mock_summary(&m, "foreign"), 0);
	(void)snprintf(text, sizeof(text), "GET %.*s HTTP/1.1\r\nHost: b\r\n"
	    "Authorization: Key x\r\nConnection: close\r\n\r\n",
	    (int)strcspn(at, "\r"), at);
	mock_answer_done(&answer);
	fd = mock_connect(&m, "127.0.0.2");
	mock_send(fd, text);
	mock_read(fd, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(mock_summary(&m, "foreign"), 1);
	ck_assert_int_eq(mock_summary(&m, "foreign_keyed"), 1);
	ck_assert_int_eq(mock_summary(&m, "downloads_keyed"), 1);
	free(url);
	free(id);
	id = accept_one(&m, "fal", 2, "{\"artifact\":\"foreign\"}");
	url = result_url(&m, "fal-ai/flux", id);
	ck_assert_ptr_nonnull(strstr(url, "http://127.0.0.2:"));
	free(url);
	free(id);
	mock_done(&m);
}
END_TEST

START_TEST(makes_several_images)
{
	struct test_answer first, second;
	struct test_mock m;
	char path[160], *id;

	mock_start(&m, NULL);
	id = accept_one(&m, "replicate", 1, "{\"count\":2}");
	(void)snprintf(path, sizeof(path), "/files/%s/0.png", id);
	mock_call(&m, "GET", path, NULL, NULL, &first);
	(void)snprintf(path, sizeof(path), "/files/%s/1.png", id);
	mock_call(&m, "GET", path, NULL, NULL, &second);
	ck_assert_int_eq(first.status, 200);
	ck_assert_int_eq(second.status, 200);
	ck_assert_uint_eq(first.body_len, second.body_len);
	ck_assert_mem_ne(first.body, second.body, first.body_len);
	mock_answer_done(&first);
	mock_answer_done(&second);
	(void)snprintf(path, sizeof(path), "/files/%s/2.png", id);
	mock_call(&m, "GET", path, NULL, NULL, &first);
	ck_assert_int_eq(first.status, 404);
	mock_answer_done(&first);
	free(id);
	mock_done(&m);
}
END_TEST

TCase *
file_tcase(void)
{
	TCase *tcase = tcase_create("file");

	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, sends_real_files_that_name_the_task, 0,
	    sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_test(tcase, knows_the_kind_by_the_model);
	tcase_add_test(tcase, streams_what_is_huge);
	tcase_add_test(tcase, loses_files);
	tcase_add_test(tcase, counts_who_follows_to_the_foreign_host);
	tcase_add_test(tcase, makes_several_images);
	return tcase;
}
