/*
 * check_worker_poll.c - a real poll worker between this test, as its
 * supervisor, and the mock provider.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/mono.h"
#include "tests/integration/boss.h"
#include "tests/lib/mock.h"
#include "tests/unit/suite.h"
#include "worker/artifact.h"

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

struct accepted {
	char	id[256];
	char	poll_url[512];
	char	result_url[512];
};

/* submit() buys one generation, as a submit worker would. */
static void
submit(uint64_t task, const char *input, struct accepted *ret)
{
	struct test_answer a;
	struct json_object *root = NULL, *o = NULL;
	char headers[256];

	(void)snprintf(headers, sizeof(headers), "Authorization: Key "
	    BOSS_SECRET "\r\nX-Payonce-Task: %llu.1\r\n"
	    "Content-Type: application/json\r\n", (unsigned long long)task);
	mock_call(&mock, "POST", "/fal/fal-ai/flux/dev", headers, input, &a);
	ck_assert_int_eq(a.status, 200);
	root = json_tokener_parse(a.body);
	ck_assert(json_object_object_get_ex(root, "request_id", &o));
	(void)snprintf(ret->id, sizeof(ret->id), "%s",
	    json_object_get_string(o));
	ck_assert(json_object_object_get_ex(root, "status_url", &o));
	(void)snprintf(ret->poll_url, sizeof(ret->poll_url), "%s",
	    json_object_get_string(o));
	ck_assert(json_object_object_get_ex(root, "response_url", &o));
	(void)snprintf(ret->result_url, sizeof(ret->result_url), "%s",
	    json_object_get_string(o));
	(void)json_object_put(root);
	mock_answer_done(&a);
}

static void
assign(uint64_t task, const struct accepted *a, int64_t left_ms,
    const char *saved)
{
	const struct msg_assign m = {
		.task = task,
		.attempt = 1,
		.token = 5,
		.mode = saved != NULL ? ASSIGN_FETCH : ASSIGN_POLL,
		.deadline_ns = (uint64_t)mono_add_ms(mono_now(), 60000).ns,
		.model = mp_str("fal-ai/flux/dev"),
		.request_id = mp_str(a->id),
		.poll_url = mp_str(a->poll_url),
		.result_url = mp_str(a->result_url),
		.poll_left_ms = left_ms,
		.fetch_left_ms = -1,
		.input = mp_str("{}"),
		.result = mp_str(saved),
	};

	ck_assert_int_eq(msg_pack_assign(chan_out(boss.chan), &m), 0);
	boss_flush(&boss);
}

/* begin() buys one task with that script and gives it to a poll worker. */
static void
begin(const char *script, int64_t left_ms)
{
	struct accepted a;
	char input[512];

	boss_begin(&boss, ROLE_POLL, mock.port);
	(void)snprintf(input, sizeof(input), "{\"mock\":{%s}}", script);
	submit(1, input, &a);
	assign(1, &a, left_ms, NULL);
}

/* expect_done() walks RESULT, STORED, DONE; the DONE result is the caller's */
static struct json_object *
expect_done(uint64_t task)
{
	struct json_object *root = NULL;
	struct msg_result r;
	struct msg_done d;
	struct frame f;
	char *text = NULL;

	boss_expect(&boss, MSG_RESULT, &f);
	ck_assert_int_eq(msg_unpack_result(f.body, f.len, &r), 0);
	ck_assert_uint_eq(r.task, task);
	ck_assert_uint_gt(r.result.len, 1);
	/* nothing is fetched before the row has the result */
	ck_assert_int_eq(mock_summary(&mock, "downloads"), 0);
	boss_stored(&boss, task, MSG_RESULT, false);
	boss_expect(&boss, MSG_DONE, &f);
	ck_assert_int_eq(msg_unpack_done(f.body, f.len, &d), 0);
	ck_assert_uint_eq(d.task, task);
	text = mp_dup(d.result);
	root = json_tokener_parse(text);
	ck_assert_ptr_nonnull(root);
	mem_free(text);
	boss_stored(&boss, task, MSG_DONE, true);
	return root;
}

/* artifact() is a member of the first artifact, or NULL. */
static const char *
artifact(struct json_object *root, const char *member)
{
	struct json_object *list = NULL, *o = NULL;

	ck_assert(json_object_object_get_ex(root, "artifacts", &list));
	ck_assert_uint_eq(json_object_array_length(list), 1);
	if (!json_object_object_get_ex(json_object_array_get_idx(list, 0),
	    member, &o))
		return NULL;
	return json_object_get_string(o);
}

START_TEST(test_happy)
{
	struct artifact_facts facts;
	struct json_object *root = NULL;
	const char *path = NULL;

	begin("\"latency_ms\":100,\"price\":\"0.25\"", -1);
	root = expect_done(1);
	path = artifact(root, "path");
	ck_assert_ptr_nonnull(path);
	ck_assert_str_eq(artifact(root, "type"), "image/png");
	ck_assert_ptr_nonnull(artifact(root, "url"));
	ck_assert_int_eq(artifact_measure(path, &facts), 0);
	ck_assert_str_eq(artifact(root, "sha256"), facts.sha256);
	ck_assert_int_gt(facts.bytes, 8);
	ck_assert_ptr_nonnull(strstr(path, "/artifacts/1.1/0.png"));
	artifact_facts_done(&facts);
	(void)json_object_put(root);
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
	ck_assert_int_eq(mock_summary(&mock, "downloads"), 1);
	boss_drain(&boss, 1000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

static const char *const bumps[] = {
	"\"poll\":[\"status:500\",\"status:503\",\"status:404\"]",
	"\"poll\":[\"garbage\",\"empty\",\"drop\"]",
	"\"poll\":[\"pending\",\"pending\",\"pending\",\"pending\"]",
	"\"case\":\"lower\"",
	"\"case\":\"mixed\",\"latency_ms\":60",
};

/* A failed GET is a missed poll, whatever failed about it. */
START_TEST(test_bumps)
{
	begin(bumps[_i], -1);
	(void)json_object_put(expect_done(1));
}
END_TEST

START_TEST(test_unlisted_word)
{
	begin("\"poll\":[\"word:POLISHING\",\"word:POLISHING\","
	    "\"word:DRYING\"]", -1);
	(void)json_object_put(expect_done(1));
	ck_assert_uint_eq(boss.notes, 1);
	ck_assert_ptr_nonnull(strstr(boss.note, "POLISHING"));
}
END_TEST

START_TEST(test_refused_key)
{
	begin("\"poll\":[\"status:401\",\"status:401\"]", -1);
	(void)json_object_put(expect_done(1));
	ck_assert_uint_le(boss.notes, 1);
}
END_TEST

static const struct {
	const char	*script;
	enum msg_type	 type;
	const char	*reason;
} ends[] = {
	{ "\"end\":\"done_error\"", MSG_FAILED, "failed_by_provider" },
	{ "\"end\":\"done_422\"", MSG_FAILED, "failed_by_provider" },
	{ "\"end\":\"done_nothing\"", MSG_UNKNOWN, "ended_with_nothing" },
};

START_TEST(test_ends)
{
	struct msg_failed m;
	struct msg_unknown u;
	struct frame f;

	begin(ends[_i].script, -1);
	boss_expect(&boss, ends[_i].type, &f);
	if (ends[_i].type == MSG_FAILED) {
		ck_assert_int_eq(msg_unpack_failed(f.body, f.len, &m), 0);
		ck_assert(boss_is(m.reason, ends[_i].reason));
		ck_assert_uint_gt(m.detail.len, 0);
	} else {
		ck_assert_int_eq(msg_unpack_unknown(f.body, f.len, &u), 0);
		ck_assert(boss_is(u.reason, ends[_i].reason));
		ck_assert(!u.is_provider);
	}
	ck_assert_int_eq(mock_summary(&mock, "posts"), 1);
}
END_TEST

START_TEST(test_deadline)
{
	struct msg_unknown m;
	struct frame f;
	const struct mono start = mono_now();

	begin("\"never\":true", 300);
	boss_expect(&boss, MSG_UNKNOWN, &f);
	ck_assert_int_eq(msg_unpack_unknown(f.body, f.len, &m), 0);
	ck_assert(boss_is(m.reason, "poll_deadline"));
	ck_assert(!m.is_provider);
	ck_assert_int_ge(mono_diff_ms(mono_now(), start), 300);
	ck_assert_int_gt(mock_summary(&mock, "polls"), 2);
}
END_TEST

/* Finished while nobody looked: one last look keeps what was paid for. */
START_TEST(test_deadline_passed_but_finished)
{
	begin("\"latency_ms\":0", 0);
	(void)json_object_put(expect_done(1));
}
END_TEST

static const struct {
	const char	*script;
	const char	*lost;
	int		 downloads;
} losses[] = {
	{ "\"artifact\":\"gone\"", "http 4", 2 },
	{ "\"artifact\":\"redirect_foreign\"", "host not allowed", 1 },
	{ "\"artifact\":\"huge:2000000\"", "too big", 1 },
};

/* What cannot be had is listed as lost; the task is done all the same. */
START_TEST(test_lost_artifact)
{
	struct json_object *root = NULL;
	char path[160];

	begin(losses[_i].script, -1);
	root = expect_done(1);
	ck_assert_ptr_null(artifact(root, "path"));
	ck_assert_ptr_nonnull(artifact(root, "url"));
	ck_assert_ptr_nonnull(strstr(artifact(root, "lost"), losses[_i].lost));
	(void)json_object_put(root);
	ck_assert_int_eq(mock_summary(&mock, "downloads"),
	    losses[_i].downloads);
	(void)snprintf(path, sizeof(path), "%s/artifacts/1.1/0.part",
	    boss.state_dir);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(test_slow_artifact)
{
	struct json_object *root = NULL;

	begin("\"artifact\":\"drip\"", -1);
	root = expect_done(1);
	ck_assert_ptr_nonnull(artifact(root, "path"));
	(void)json_object_put(root);
}
END_TEST

/* The result is on the row, its worker died: only artifacts are missing. */
START_TEST(test_fetch_saved)
{
	struct json_object *root = NULL;
	struct accepted a;
	struct msg_result r;
	struct msg_done d;
	struct frame f;
	char *saved = NULL, *text = NULL;

	boss_begin(&boss, ROLE_POLL, mock.port);
	submit(1, "{}", &a);
	assign(1, &a, -1, NULL);
	boss_expect(&boss, MSG_RESULT, &f);
	ck_assert_int_eq(msg_unpack_result(f.body, f.len, &r), 0);
	saved = mp_dup(r.result);
	ck_assert_int_eq(kill(boss.pid, SIGKILL), 0);
	(void)boss_wait(&boss);
	chan_free(&boss.chan);
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	assign(1, &a, -1, saved);
	boss_expect(&boss, MSG_DONE, &f);
	ck_assert_int_eq(msg_unpack_done(f.body, f.len, &d), 0);
	text = mp_dup(d.result);
	root = json_tokener_parse(text);
	ck_assert_ptr_nonnull(artifact(root, "path"));
	(void)json_object_put(root);
	mem_free(text);
	mem_free(saved);
}
END_TEST

START_TEST(test_many)
{
	const uint64_t count = 300;
	struct msg_result r;
	struct accepted a;
	struct frame f;
	bool seen[301] = { false };
	uint64_t i = 0;

	boss_begin(&boss, ROLE_POLL, mock.port);
	for (i = 1; i <= count; i++) {
		submit(i, "{\"mock\":{\"latency_ms\":50}}", &a);
		assign(i, &a, -1, NULL);
	}
	for (i = 1; i <= count; i++) {
		boss_expect(&boss, MSG_RESULT, &f);
		ck_assert_int_eq(msg_unpack_result(f.body, f.len, &r), 0);
		ck_assert_uint_le(r.task, count);
		ck_assert(!seen[r.task]);
		seen[r.task] = true;
		boss_stored(&boss, r.task, MSG_RESULT, true);
	}
	ck_assert_int_eq(mock_summary(&mock, "posts"), (int64_t)count);
	boss_drain(&boss, 1000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

START_TEST(test_cancel_and_drain)
{
	struct accepted a;

	begin("\"never\":true", -1);
	submit(2, "{\"mock\":{\"never\":true}}", &a);
	assign(2, &a, -1, NULL);
	boss_cancel(&boss, 1, "canceled");
	boss_drain(&boss, 5000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

START_TEST(test_beats_and_end)
{
	boss_init(&boss, ROLE_POLL);
	boss.lease_ms = 300;
	boss_start(&boss);
	boss_setup(&boss, mock.port);
	boss_expect_beat(&boss);
	boss_expect_beat(&boss);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
}
END_TEST

#define COUNT(rows)	((int)(sizeof(rows) / sizeof((rows)[0])))

int
main(void)
{
	Suite *s = suite_create("worker poll");
	TCase *tc = tcase_create("poll");

	tcase_set_timeout(tc, 40);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_happy);
	tcase_add_loop_test(tc, test_bumps, 0, COUNT(bumps));
	tcase_add_test(tc, test_unlisted_word);
	tcase_add_test(tc, test_refused_key);
	tcase_add_loop_test(tc, test_ends, 0, COUNT(ends));
	tcase_add_test(tc, test_deadline);
	tcase_add_test(tc, test_deadline_passed_but_finished);
	tcase_add_loop_test(tc, test_lost_artifact, 0, COUNT(losses));
	tcase_add_test(tc, test_slow_artifact);
	tcase_add_test(tc, test_fetch_saved);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_cancel_and_drain);
	tcase_add_test(tc, test_beats_and_end);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
