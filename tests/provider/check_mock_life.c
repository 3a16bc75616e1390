/*
 * check_mock_life.c - a generation from its acceptance to its end, in both
 * shapes.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/provider/check_mock.h"

/* ask_status() polls; the word is copied to word (32 bytes). */
static int
ask_status(const struct test_mock *m, bool is_fal, const char *id,
    char *word, struct json_object **ret)
{
	struct json_object *body;
	char path[160];
	int status;

	(void)snprintf(path, sizeof(path), is_fal ?
	    "/fal/fal-ai/flux/requests/%s/status" :
	    "/replicate/v1/predictions/%s", id);
	status = mock_get(m, path, &body);
	(void)snprintf(word, 32, "%.31s", text_of(body, "status"));
	if (ret != NULL)
		*ret = body;
	else
		json_object_put(body);
	return status;
}

static void
ask_result(const struct test_mock *m, const char *id, struct test_answer *ret)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "/fal/fal-ai/flux/requests/%s",
	    id);
	mock_call(m, "GET", path, NULL, NULL, ret);
}

START_TEST(fal_goes_through_its_words)
{
	struct test_answer answer;
	struct test_mock m;
	char word[32], *id;
	int status, queued = 0, running = 0;

	mock_start(&m, "-n", "800", NULL);
	id = accept_one(&m, "fal", 1, "{}");
	ask_result(&m, id, &answer);
	ck_assert_int_eq(answer.status, 400);
	ck_assert_ptr_nonnull(strstr(answer.body, "still in progress"));
	mock_answer_done(&answer);
	while ((status = ask_status(&m, true, id, word, NULL)) == 202) {
		if (strcmp(word, "IN_QUEUE") == 0) {
			ck_assert_int_eq(running, 0);
			queued++;
		} else {
			ck_assert_str_eq(word, "IN_PROGRESS");
			running++;
		}
	}
	ck_assert_int_eq(status, 200);
	ck_assert_str_eq(word, "COMPLETED");
	ck_assert_int_gt(queued, 0);
	ck_assert_int_gt(running, 0);
	ck_assert_int_eq(mock_summary(&m, "polls"), queued + running + 1);
	ask_result(&m, id, &answer);
	ck_assert_int_eq(answer.status, 200);
	ck_assert_ptr_nonnull(strstr(answer.head,
	    "\r\nx-fal-billable-units: 0.03\r\n"));
	ck_assert_ptr_nonnull(strstr(answer.body, "{\"images\":[{\"url\":"));
	mock_answer_done(&answer);
	ck_assert_int_eq(mock_summary(&m, "results"), 2);
	free(id);
	mock_done(&m);
}
END_TEST

START_TEST(replicate_goes_through_its_words)
{
	struct json_object *body;
	struct test_mock m;
	char word[32], *id;
	int starting = 0, processing = 0;

	mock_start(&m, NULL);
	mock_set(&m, "latency/800");
	id = accept_one(&m, "replicate", 1, "{\"price\":\"1.25\"}");
	for (;;) {
		ck_assert_int_eq(ask_status(&m, false, id, word, &body), 200);
		if (strcmp(word, "succeeded") == 0)
			break;
		ck_assert_str_eq(text_of(body, "output"), "");
		starting += strcmp(word, "starting") == 0;
		processing += strcmp(word, "processing") == 0;
		json_object_put(body);
	}
	ck_assert_int_gt(starting, 0);
	ck_assert_int_gt(processing, 0);
	ck_assert_int_eq(mock_summary(&m, "polls"),
	    starting + processing + 1);
	ck_assert_str_eq(text_of(body, "metrics.predict_time"), "1.25");
	ck_assert_ptr_nonnull(strstr(text_of(body, "output"), "/files/"));
	json_object_put(body);
	free(id);
	mock_done(&m);
}
END_TEST

static const struct {
	const char	*end;
	const char	*error_type;	/* fal, in the status */
	int		 fal_result;
	const char	*fal_part;	/* in the result's body */
	const char	*word;		/* replicate */
	const char	*output;
	const char	*error;
	const char	*removed;
} ends[] = {
	{ "done", "", 200, "/files/", "succeeded", "/files/", "", "false" },
	{ "failed", "runner_error", 422, "detail", "failed", "", "gave up",
	    "false" },
	{ "canceled", "client_cancelled", 422, "detail", "canceled", "", "",
	    "false" },
	{ "done_error", "runner_error", 200, "\"error\"", "succeeded", "",
	    "gave up", "false" },
	{ "done_422", "", 422, "detail", "failed", "", "gave up", "false" },
	{ "done_nothing", "", 200, "\"images\":[]", "succeeded", "[]", "",
	    "false" },
	{ "result_gone", "", 404, "not found", "succeeded", "", "", "true" }
};

START_TEST(ends_as_the_script_says)
{
	struct test_answer answer;
	struct json_object *body;
	struct test_mock m;
	char script[64], word[32], *id;

	mock_start(&m, NULL);
	(void)snprintf(script, sizeof(script), "{\"end\":\"%s\"}",
	    ends[_i].end);
	id = accept_one(&m, "fal", 1, script);
	ck_assert_int_eq(ask_status(&m, true, id, word, &body), 200);
	ck_assert_str_eq(word, "COMPLETED");
	ck_assert_str_eq(text_of(body, "error_type"), ends[_i].error_type);
	json_object_put(body);
	ask_result(&m, id, &answer);
	ck_assert_int_eq(answer.status, ends[_i].fal_result);
	ck_assert_ptr_nonnull(strstr(answer.body, ends[_i].fal_part));
	mock_answer_done(&answer);
	free(id);

	id = accept_one(&m, "replicate", 2, script);
	ck_assert_int_eq(ask_status(&m, false, id, word, &body), 200);
	ck_assert_str_eq(word, ends[_i].word);
	ck_assert_str_eq(text_of(body, "data_removed"), ends[_i].removed);
	ck_assert_ptr_nonnull(strstr(text_of(body, "error"),
	    ends[_i].error));
	if (ends[_i].output[0] == '\0')
		ck_assert_str_eq(text_of(body, "output"), "");
	else
		ck_assert_ptr_nonnull(strstr(text_of(body, "output"),
		    ends[_i].output));
	json_object_put(body);
	free(id);
	mock_done(&m);
}
END_TEST

START_TEST(answers_polls_by_the_list)
{
	static const char script[] = "{\"poll\":[\"pending\",\"status:502\","
	    "\"garbage\",\"empty\",\"drop\",\"word:WARMING\",\"drop_mid\","
	    "\"foreign_url\",\"ok\"],\"result\":[\"status:500\"]}";
	static const int statuses[] = {
		202, 502, 200, 200, 0, 202, 200, 200, 200, 200
	};
	static const char *const parts[] = {
		"IN_PROGRESS", "detail", "COMP", "", "", "WARMING",
		"COMPLETED", "http://127.0.0.2:", "COMPLETED", "COMPLETED"
	};
	struct test_answer answer;
	struct test_mock m;
	char path[160], *id;
	size_t i;

	mock_start(&m, NULL);
	id = accept_one(&m, "fal", 1, script);
	(void)snprintf(path, sizeof(path),
	    "/fal/fal-ai/flux/requests/%s/status", id);
	for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		mock_call(&m, "GET", path, NULL, NULL, &answer);
		ck_assert_msg(answer.status == statuses[i], "poll %zu: %d", i,
		    answer.status);
		if (parts[i][0] == '\0')
			ck_assert_uint_eq(answer.body_len, 0);
		else
			ck_assert_msg(strstr(answer.body, parts[i]) != NULL,
			    "poll %zu: %s", i, answer.body);
		mock_answer_done(&answer);
	}
	ck_assert_int_eq(mock_summary(&m, "polls"), (int)i);
	ask_result(&m, id, &answer);
	ck_assert_int_eq(answer.status, 500);
	mock_answer_done(&answer);
	ask_result(&m, id, &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
	free(id);
	mock_done(&m);
}
END_TEST

START_TEST(writes_words_in_any_case)
{
	struct test_mock m;
	char word[32], *id;

	mock_start(&m, NULL);
	id = accept_one(&m, "fal", 1, "{\"case\":\"lower\"}");
	(void)ask_status(&m, true, id, word, NULL);
	ck_assert_str_eq(word, "completed");
	free(id);
	id = accept_one(&m, "fal", 2, "{\"case\":\"mixed\"}");
	(void)ask_status(&m, true, id, word, NULL);
	ck_assert_str_eq(word, "Completed");
	free(id);
	id = accept_one(&m, "replicate", 3, "{\"case\":\"upper\"}");
	(void)ask_status(&m, false, id, word, NULL);
	ck_assert_str_eq(word, "SUCCEEDED");
	free(id);
	id = accept_one(&m, "replicate", 4, "{\"never\":true}");
	(void)ask_status(&m, false, id, word, NULL);
	ck_assert_str_eq(word, "processing");
	free(id);
	mock_done(&m);
}
END_TEST

START_TEST(cancels_what_is_not_done)
{
	struct test_answer answer;
	struct test_mock m;
	char path[160], word[32], *id;

	mock_start(&m, NULL);
	id = accept_one(&m, "fal", 1, "{\"latency_ms\":60000}");
	(void)snprintf(path, sizeof(path),
	    "/fal/fal-ai/flux/requests/%s/cancel", id);
	mock_call(&m, "PUT", path, NULL, NULL, &answer);
	ck_assert_int_eq(answer.status, 202);
	mock_answer_done(&answer);
	(void)ask_status(&m, true, id, word, NULL);
	ck_assert_str_eq(word, "COMPLETED");
	mock_call(&m, "PUT", path, NULL, NULL, &answer);
	ck_assert_ptr_nonnull(strstr(answer.body, "ALREADY_COMPLETED"));
	mock_answer_done(&answer);
	free(id);
	id = accept_one(&m, "replicate", 2, "{\"latency_ms\":60000}");
	(void)snprintf(path, sizeof(path),
	    "/replicate/v1/predictions/%s/cancel", id);
	mock_call(&m, "POST", path, NULL, NULL, &answer);
	ck_assert_ptr_nonnull(strstr(answer.body, "\"canceled\""));
	mock_answer_done(&answer);
	free(id);
	/* the money is gone, and the cancel was no submit */
	ck_assert_int_eq(mock_summary(&m, "charged_posts"), 2);
	ck_assert_int_eq(mock_summary(&m, "posts"), 2);
	mock_done(&m);
}
END_TEST

START_TEST(knows_only_its_own_requests)
{
	static const char *const paths[] = {
		"/fal/fal-ai/flux/requests/", "/replicate/v1/predictions/"
	};
	static const char unknown[] = "00000000-0000-4000-8000-000000000000";
	struct json_object *body;
	struct test_mock m;
	char path[160], *id;
	size_t i;

	mock_start(&m, NULL);
	for (i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s%s", paths[i], unknown);
		ck_assert_int_eq(mock_get(&m, path, &body), 404);
		json_object_put(body);
	}
	/* fal drops the sub-path; whoever builds the URL alone misses it */
	id = accept_one(&m, "fal", 1, "{}");
	(void)snprintf(path, sizeof(path),
	    "/fal/fal-ai/flux/dev/requests/%s/status", id);
	ck_assert_int_eq(mock_get(&m, path, &body), 404);
	json_object_put(body);
	/* and the other shape does not know it */
	(void)snprintf(path, sizeof(path), "%s%s", paths[1], id);
	ck_assert_int_eq(mock_get(&m, path, &body), 404);
	json_object_put(body);
	free(id);
	mock_done(&m);
}
END_TEST

TCase *
life_tcase(void)
{
	TCase *tcase = tcase_create("life");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, fal_goes_through_its_words);
	tcase_add_test(tcase, replicate_goes_through_its_words);
	tcase_add_loop_test(tcase, ends_as_the_script_says, 0,
	    sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tcase, answers_polls_by_the_list);
	tcase_add_test(tcase, writes_words_in_any_case);
	tcase_add_test(tcase, cancels_what_is_not_done);
	tcase_add_test(tcase, knows_only_its_own_requests);
	return tcase;
}
