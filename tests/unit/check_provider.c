/*
 * check_provider.c - the shipped files of fal and Replicate: what is sent,
 * and what each answer means.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "tests/unit/provider_tool.h"
#include "tests/unit/suite.h"

static const char *const more =
    "provider fal { cost { unit_price = {'fal-ai/x=0.5', \"0.03\"} } }\n"
    "provider replicate { cost { unit_price = \"0.0014\" } }\n"
    "provider sync {\n"
    "  base = 'https://s.example'\n  header = {'A: {key}', 'I: {idem}'}\n"
    "  key_hosts = {'s.example'}\n"
    "  submit { url = '/x' body = '\"{input}\"' sync = yes accept = {200}\n"
    "    duplicate_if = {'409 /code=dup'} account_if = {'429 /code=money'}\n"
    "    throttled = {429} rejected_if = {'200 /error', '403 /mod'}\n"
    "    account = {403} }\n"
    "  idempotency { ttl = 3600 }\n"
    "  result { artifact = {'base64 /data/*/b64', 'text /text'} min = 2 }\n"
    "  cost { at = result currency = EUR\n"
    "    part = {'/u/a*0.01', '/u/b*0.5', '/u/none*1'} }\n"
    "}\n";

static struct task_context
context(void)
{
	static const char input[] = "{\"prompt\":\"a cat\"}";

	return (struct task_context){
		.task = 7, .attempt = 1, .key = "s:k",
		.model = "fal-ai/flux/dev", .own_id = "own-1",
		.idem_key = "idem-1", .input = input,
		.input_len = strlen(input)
	};
}

#define R	"x-fal-request-id: r"
#define URLS	"\"status_url\":\"https://queue.fal.run/a/s\","		\
		"\"response_url\":\"/a/r\","				\
		"\"cancel_url\":\"https://queue.fal.run/a/c\""

static const struct submit_case {
	const char		*provider;
	int			 status;
	const char		*header;
	const char		*body;
	enum submit_class	 class;
	const char		*id, *poll, *reason;
} submit_cases[] = {
	{ "fal", 200, R, "{\"request_id\":\"abc\"," URLS "}",
	    SUBMIT_ACCEPTED, "abc", "https://queue.fal.run/a/s", NULL },
	{ "fal", 200, R, "{\"request_id\":123456789012345678901}",
	    SUBMIT_ACCEPTED, "123456789012345678901", NULL, NULL },
	{ "fal", 200, R, "{\"request_id\":\"abc\","
	    "\"status_url\":\"https://evil.example/s\"}", SUBMIT_ACCEPTED,
	    "abc", NULL, "foreign_poll_url" },
	{ "fal", 200, R, "{\"status\":\"IN_QUEUE\"}", SUBMIT_UNKNOWN, NULL,
	    NULL, "accepted_without_id" },
	{ "fal", 200, R, "{\"request_id\":null}", SUBMIT_UNKNOWN, NULL, NULL,
	    "accepted_without_id" },
	{ "fal", 200, R, "{\"request_id\":\"\"}", SUBMIT_UNKNOWN, NULL, NULL,
	    "accepted_without_id" },
	{ "fal", 200, R, "{\"request_id\":[1]}", SUBMIT_UNKNOWN, NULL, NULL,
	    "accepted_without_id" },
	{ "fal", 200, R, "{\"request_id\":\"a\\u000ab\"}", SUBMIT_UNKNOWN,
	    NULL, NULL, "accepted_without_id" },
	{ "fal", 200, R, "[{\"request_id\":\"abc\"}]", SUBMIT_UNKNOWN, NULL,
	    NULL, "accepted_without_id" },
	{ "fal", 200, R, "{\"request_id\":\"abc\"", SUBMIT_UNKNOWN, NULL,
	    NULL, "accepted_without_id" },
	{ "fal", 200, R, "<html>", SUBMIT_UNKNOWN, NULL, NULL,
	    "accepted_without_id" },
	{ "fal", 200, R, "", SUBMIT_UNKNOWN, NULL, NULL,
	    "accepted_without_id" },
	{ "fal", 422, R, "{\"detail\":\"no\"}", SUBMIT_REJECTED, NULL, NULL,
	    "http_422" },
	{ "fal", 403, R, "{\"detail\":\"User is locked\"}", SUBMIT_ACCOUNT,
	    NULL, NULL, "http_403" },
	{ "fal", 429, R, "{}", SUBMIT_THROTTLED, NULL, NULL, "http_429" },
	{ "fal", 429, "server: nginx", "", SUBMIT_UNKNOWN, NULL, NULL,
	    "http_429" },
	{ "fal", 204, R, "", SUBMIT_UNKNOWN, NULL, NULL, "http_204" },
	{ "fal", 302, R, "", SUBMIT_UNKNOWN, NULL, NULL, "http_302" },
	{ "fal", 408, R, "", SUBMIT_UNKNOWN, NULL, NULL, "http_408" },
	{ "fal", 409, R, "", SUBMIT_UNKNOWN, NULL, NULL, "http_409" },
	{ "fal", 500, R, "{\"request_id\":\"abc\"}", SUBMIT_UNKNOWN, NULL,
	    NULL, "http_500" },
	{ "fal", 503, R, "", SUBMIT_UNKNOWN, NULL, NULL, "http_503" },
	{ "replicate", 201, R, "{\"id\":\"p1\",\"urls\":{\"get\":"
	    "\"https://api.replicate.com/v1/predictions/p1\"}}",
	    SUBMIT_ACCEPTED, "p1",
	    "https://api.replicate.com/v1/predictions/p1", NULL },
	{ "replicate", 402, R, "{}", SUBMIT_ACCOUNT, NULL, NULL,
	    "http_402" },
	{ "replicate", 429, R, "{}", SUBMIT_THROTTLED, NULL, NULL,
	    "http_429" },
	{ "sync", 200, R, "{\"data\":[]}", SUBMIT_RESULT, NULL, NULL, NULL },
	{ "sync", 200, R, "{\"error\":1}", SUBMIT_REJECTED, NULL, NULL,
	    "http_200" },
	{ "sync", 409, R, "{\"code\":\"dup\"}", SUBMIT_DUPLICATE, NULL, NULL,
	    "http_409" },
	{ "sync", 409, R, "{}", SUBMIT_UNKNOWN, NULL, NULL, "http_409" },
	{ "sync", 429, R, "{\"code\":\"money\"}", SUBMIT_ACCOUNT, NULL, NULL,
	    "http_429" },
	{ "sync", 429, R, "{\"code\":\"x\"}", SUBMIT_THROTTLED, NULL, NULL,
	    "http_429" },
	{ "sync", 403, R, "{\"mod\":1}", SUBMIT_REJECTED, NULL, NULL,
	    "http_403" },
	{ "sync", 403, R, "{}", SUBMIT_ACCOUNT, NULL, NULL, "http_403" },
};

static void
same(const char *what, int at, const char *found, const char *want)
{
	ck_assert_msg(found == NULL ? want == NULL : want != NULL &&
	    strcmp(found, want) == 0, "case %d, %s: expected %s, found %s",
	    at, what, want != NULL ? want : "(none)",
	    found != NULL ? found : "(none)");
}

START_TEST(test_submit)
{
	const struct submit_case *c = &submit_cases[_i];
	struct conf *conf = tool_conf(more);
	struct task_context task = context();
	const char *headers[] = { c->header, NULL };
	struct answer a = { .status = c->status, .headers = headers,
	    .body = c->body, .body_len = strlen(c->body) };
	struct submit_verdict v = { 0 };

	ck_assert_int_eq(provider_read_submit(tool_provider(conf,
	    c->provider), &task, &a, &v), 0);
	ck_assert_int_eq(v.class, c->class);
	same("id", _i, v.request_id, c->id);
	same("poll_url", _i, v.poll_url, c->poll);
	same("reason", _i, v.reason, c->reason);
	if (c->class == SUBMIT_UNKNOWN && v.reason[0] == 'a')
		ck_assert_ptr_nonnull(v.error);
	submit_verdict_done(&v);
	conf_free(&conf);
}
END_TEST

#define OUT	"{\"status\":\"succeeded\",\"metrics\":{\"predict_time\":2.5},"

static const struct poll_case {
	const char	*provider;
	bool		 is_result;
	int		 status;
	const char	*header;
	const char	*body;
	enum poll_class	 class;
	const char	*reason, *error, *cost, *unlisted;
	size_t		 nartifacts;
} poll_cases[] = {
	{ "fal", false, 202, R, "{\"status\":\"IN_QUEUE\"}", POLL_PENDING,
	    NULL, NULL, NULL, NULL, 0 },
	{ "fal", false, 202, R, "{\"status\":\"in_progress\"}",
	    POLL_PENDING, NULL, NULL, NULL, NULL, 0 },
	{ "fal", false, 202, R, "{\"status\":\"DREAMING\"}", POLL_PENDING,
	    NULL, NULL, NULL, "DREAMING", 0 },
	{ "fal", false, 200, R, "{\"status\":\"Completed\"}", POLL_DONE,
	    NULL, NULL, NULL, NULL, 0 },
	{ "fal", false, 200, R, "{\"status\":\"completed\",\"error\":\"x\"}",
	    POLL_FAILED, "provider_failed", "x", NULL, NULL, 0 },
	{ "fal", false, 500, R, "{\"status\":\"COMPLETED\",\"error\":\"x\"}",
	    POLL_MISSED, "http_500", "x", NULL, NULL, 0 },
	{ "fal", false, 404, R, "{}", POLL_MISSED, "http_404", NULL, NULL,
	    NULL, 0 },
	{ "fal", false, 401, R, "{}", POLL_ACCOUNT, "http_401", NULL, NULL,
	    NULL, 0 },
	{ "fal", false, 200, R, "<html>", POLL_MISSED, "not_json", "<html>",
	    NULL, NULL, 0 },
	{ "fal", false, 200, R, "", POLL_MISSED, "not_json", NULL, NULL,
	    NULL, 0 },
	{ "fal", false, 200, R, "[]", POLL_MISSED, "no_status", NULL, NULL,
	    NULL, 0 },
	{ "fal", true, 200, "x-fal-billable-units: 3.008",
	    "{\"images\":[{\"url\":\"https://fal.media/1\"},"
	    "{\"url\":\"https://fal.media/2\"}]}", POLL_DONE, NULL, NULL,
	    "0.09024", NULL, 2 },
	{ "fal", true, 200, R, "{\"video\":{\"url\":\"https://fal.media/1\"}}",
	    POLL_DONE, NULL, NULL, NULL, NULL, 1 },
	{ "fal", true, 200, "x-fal-billable-units: 0", "{\"output\":\"text\"}",
	    POLL_DONE, NULL, NULL, "0", NULL, 1 },
	{ "fal", true, 200, "x-fal-billable-units: x", "{\"images\":[]}",
	    POLL_PARK, "ended_with_nothing", NULL, NULL, NULL, 0 },
	{ "fal", true, 200, R, "{\"images\":[{\"url\":\"x\"}]}", POLL_PARK,
	    "ended_with_nothing", NULL, NULL, NULL, 0 },
	{ "fal", true, 400, R, "{\"detail\":\"Request is still in "
	    "progress\"}", POLL_PENDING, NULL, NULL, NULL, NULL, 0 },
	{ "fal", true, 400, R, "{\"detail\":\"bad\"}", POLL_FAILED,
	    "provider_failed", "bad", NULL, NULL, 0 },
	{ "fal", true, 422, R, "{\"detail\":[{\"msg\":\"m\"}]}", POLL_FAILED,
	    "provider_failed", "[{\"msg\":\"m\"}]", NULL, NULL, 0 },
	{ "fal", true, 422, "server: nginx", "", POLL_MISSED, "http_422",
	    NULL, NULL, NULL, 0 },
	{ "fal", true, 404, R, "{\"detail\":\"Request not found\"}",
	    POLL_GONE, "provider_gone", "Request not found", NULL, NULL, 0 },
	{ "fal", true, 502, R, "", POLL_MISSED, "http_502", NULL, NULL, NULL,
	    0 },
	{ "fal", true, 200, R, "garbage", POLL_MISSED, "not_json", "garbage",
	    NULL, NULL, 0 },
	{ "replicate", false, 200, R, "{\"status\":\"starting\"}",
	    POLL_PENDING, NULL, NULL, NULL, NULL, 0 },
	{ "replicate", false, 200, R, OUT
	    "\"output\":\"https://replicate.delivery/1\"}", POLL_DONE, NULL,
	    NULL, "0.0035", NULL, 1 },
	{ "replicate", false, 200, R, OUT
	    "\"output\":[\"https://replicate.delivery/1\","
	    "\"https://replicate.delivery/2\"]}", POLL_DONE, NULL, NULL,
	    "0.0035", NULL, 2 },
	{ "replicate", false, 200, R, OUT
	    "\"output\":{\"a\":\"https://replicate.delivery/1\"}}",
	    POLL_DONE, NULL, NULL, "0.0035", NULL, 1 },
	{ "replicate", false, 200, R, OUT "\"output\":[\"He\",\"llo\"]}",
	    POLL_DONE, NULL, NULL, "0.0035", NULL, 2 },
	{ "replicate", false, 200, R, OUT "\"output\":[]}", POLL_PARK,
	    "ended_with_nothing", NULL, "0.0035", NULL, 0 },
	{ "replicate", false, 200, R, OUT
	    "\"output\":null,\"error\":\"odd\"}", POLL_PARK,
	    "ended_with_nothing", "odd", "0.0035", NULL, 0 },
	{ "replicate", false, 200, R, OUT
	    "\"output\":null,\"data_removed\":true}", POLL_GONE,
	    "provider_gone", NULL, "0.0035", NULL, 0 },
	{ "replicate", false, 200, R, "{\"status\":\"failed\","
	    "\"error\":\"NSFW\"}", POLL_FAILED, "provider_failed", "NSFW",
	    NULL, NULL, 0 },
	{ "replicate", false, 200, R, "{\"status\":\"ABORTED\"}",
	    POLL_CANCELED, "provider_canceled", NULL, NULL, NULL, 0 },
	{ "sync", true, 200, R, "{\"data\":[{\"b64\":\"QQ==\"},"
	    "{\"b64\":\"Qg==\"}],\"u\":{\"a\":3,\"b\":\"2\"}}", POLL_DONE,
	    NULL, NULL, "1.03", NULL, 2 },
	{ "sync", true, 200, R, "{\"data\":[{\"b64\":\"QQ==\"}]}", POLL_PARK,
	    "ended_with_nothing", NULL, NULL, NULL, 1 },
};

START_TEST(test_poll)
{
	const struct poll_case *c = &poll_cases[_i];
	struct conf *conf = tool_conf(more);
	const struct provider *p = tool_provider(conf, c->provider);
	struct task_context task = context();
	const char *headers[] = { c->header, NULL };
	struct answer a = { .status = c->status, .headers = headers,
	    .body = c->body, .body_len = strlen(c->body) };
	struct poll_verdict v = { 0 }, again = { 0 };

	ck_assert_int_eq(c->is_result ?
	    provider_read_result(p, &task, &a, &v) :
	    provider_read_poll(p, &task, &a, &v), 0);
	ck_assert_msg(v.class == c->class, "case %d: class %d", _i, v.class);
	same("reason", _i, v.reason, c->reason);
	same("error", _i, v.error, c->error);
	same("cost", _i, v.cost, c->cost);
	same("unlisted", _i, v.unlisted, c->unlisted);
	ck_assert_uint_eq(v.nartifacts, c->nartifacts);
	if (v.result != NULL) {
		ck_assert_int_eq(strncmp(v.result, "{\"output\":", 10), 0);
		ck_assert_int_eq(provider_read_saved(p, v.result,
		    strlen(v.result), &again), 0);
		ck_assert_uint_eq(again.nartifacts, v.nartifacts);
		ck_assert_str_eq(again.result, v.result);
		if (v.nartifacts > 0)
			ck_assert_str_eq(again.artifacts[0].value,
			    v.artifacts[0].value);
		poll_verdict_done(&again);
	}
	poll_verdict_done(&v);
	conf_free(&conf);
}
END_TEST

/* What could be read can be read again from the row, at any depth. */
START_TEST(test_deep_result)
{
	struct conf *conf = tool_conf(more);
	const struct provider *p = tool_provider(conf, "fal");
	struct task_context task = context();
	struct poll_verdict v = { 0 }, again = { 0 };
	char body[256] = "{\"output\":\"x\",\"deep\":";
	size_t head = strlen(body);
	struct answer a = { .status = 200, .body = body };

	/* an empty list takes no level; the object takes one */
	memset(body + head, '[', 64);
	memset(body + head + 64, ']', 64);
	body[head + 128] = '}';
	a.body_len = head + 129;
	ck_assert_int_eq(provider_read_result(p, &task, &a, &v), 0);
	ck_assert_int_eq(v.class, POLL_DONE);
	ck_assert_int_eq(provider_read_saved(p, v.result, strlen(v.result),
	    &again), 0);
	ck_assert_uint_eq(again.nartifacts, 1);
	ck_assert_str_eq(again.artifacts[0].value, "x");
	poll_verdict_done(&again);
	poll_verdict_done(&v);
	memset(body + head, '[', 65);
	memset(body + head + 65, ']', 65);
	body[head + 130] = '}';
	a.body_len = head + 131;
	ck_assert_int_eq(provider_read_result(p, &task, &a, &v), 0);
	ck_assert_int_eq(v.class, POLL_MISSED);
	ck_assert_str_eq(v.reason, "not_json");
	poll_verdict_done(&v);
	conf_free(&conf);
}
END_TEST

static bool
has_header(const struct request *r, const char *line)
{
	size_t i = 0;

	for (i = 0; r->headers[i] != NULL; i++)
		if (strcmp(r->headers[i], line) == 0)
			return true;
	return false;
}

START_TEST(test_requests)
{
	struct conf *conf = tool_conf(more);
	const struct provider *p = tool_provider(conf, "fal");
	struct task_context task = context();
	struct request r = { 0 };
	char *error = NULL;

	ck_assert_int_eq(provider_build_submit(p, &task, &r, &error), 0);
	ck_assert_str_eq(r.method, "POST");
	ck_assert_str_eq(r.url, "https://queue.fal.run/fal-ai/flux/dev");
	ck_assert_str_eq(r.body, "{\"prompt\":\"a cat\"}");
	ck_assert_uint_eq(r.body_len, strlen(r.body));
	ck_assert(has_header(&r, "Authorization: Key s:k"));
	ck_assert(has_header(&r, "Content-Type: application/json"));
	ck_assert(r.has_secret);
	request_done(&r);
	/* an adopted id has no URL: the second form */
	task.request_id = "abc";
	ck_assert_int_eq(provider_build_poll(p, &task, &r, &error), 0);
	ck_assert_str_eq(r.url,
	    "https://queue.fal.run/fal-ai/flux/requests/abc/status");
	request_done(&r);
	task.poll_url = "https://queue.fal.run/z/status";
	ck_assert_int_eq(provider_build_poll(p, &task, &r, &error), 0);
	ck_assert_str_eq(r.url, task.poll_url);
	request_done(&r);
	task.poll_url = "https://evil.example/z/status";
	ck_assert_int_eq(provider_build_poll(p, &task, &r, &error),
	    PO_EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "evil.example"));
	mem_free(error);
	task.input = "{broken";
	task.input_len = strlen(task.input);
	ck_assert_int_eq(provider_build_submit(p, &task, &r, &error),
	    PO_EINVAL);
	mem_free(error);
	task = context();
	task.model = NULL;
	ck_assert_int_eq(provider_build_submit(p, &task, &r, &error),
	    PO_EINVAL);
	ck_assert_ptr_nonnull(strstr(error, "{model}"));
	mem_free(error);
	conf_free(&conf);
}
END_TEST

START_TEST(test_download)
{
	struct conf *conf = tool_conf(more);
	struct task_context task = context();
	struct request r = { 0 };
	char *error = NULL;

	ck_assert_int_eq(provider_build_download(tool_provider(conf, "fal"),
	    &task, "https://v3.fal.media/x", &r, &error), 0);
	ck_assert_ptr_null(r.headers[0]);
	ck_assert(!r.has_secret);
	request_done(&r);
	ck_assert_int_eq(provider_build_download(tool_provider(conf,
	    "replicate"), &task, "https://x.replicate.delivery/x", &r,
	    &error), 0);
	ck_assert(has_header(&r, "Authorization: Bearer s:k"));
	ck_assert(r.has_secret);
	request_done(&r);
	ck_assert_int_eq(provider_build_download(tool_provider(conf, "fal"),
	    &task, "https://evil.example/x", &r, &error), PO_EINVAL);
	mem_free(error);
	conf_free(&conf);
}
END_TEST

/* What a worker gets is what the supervisor has read. */
START_TEST(test_wire)
{
	struct conf *conf = tool_conf(more);
	const struct desc *d = conf_find_provider(conf, "fal")->desc;
	struct desc *back = NULL;
	struct provider *p = NULL;
	struct buf b, again;
	char *error = NULL;
	size_t i = 0;

	buf_init(&b, 1 << 20);
	buf_init(&again, 1 << 20);
	ck_assert_int_eq(desc_serialize(d, &b), 0);
	ck_assert_int_eq(desc_deserialize(buf_head(&b), buf_left(&b), &back),
	    0);
	ck_assert_int_eq(desc_serialize(back, &again), 0);
	ck_assert_uint_eq(buf_left(&b), buf_left(&again));
	ck_assert_mem_eq(buf_head(&b), buf_head(&again), buf_left(&b));
	ck_assert_int_eq(provider_compile(back, &p, &error), 0);
	ck_assert_str_eq(provider_name(p), "fal");
	ck_assert(provider_has_result_fetch(p) && !provider_is_sync(p));
	ck_assert_int_eq(provider_poll_interval_ms(p), 2000);
	ck_assert_int_eq(provider_fetch_within_ms(p), 360000);
	ck_assert_int_eq(provider_idempotency_ttl_s(p), 0);
	ck_assert_int_eq(provider_idempotency_ttl_s(tool_provider(conf,
	    "sync")), 3600);
	provider_free(&p);
	desc_free(&back);
	for (i = 0; i < buf_left(&b); i++)
		ck_assert_int_lt(desc_deserialize(buf_head(&b), i, &back), 0);
	buf_done(&b);
	buf_done(&again);
	conf_free(&conf);
}
END_TEST

#define COUNT(cases)	((int)(sizeof(cases) / sizeof((cases)[0])))

int
main(void)
{
	Suite *s = suite_create("provider");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, test_submit, 0, COUNT(submit_cases));
	tcase_add_loop_test(tc, test_poll, 0, COUNT(poll_cases));
	tcase_add_test(tc, test_deep_result);
	tcase_add_test(tc, test_requests);
	tcase_add_test(tc, test_download);
	tcase_add_test(tc, test_wire);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
