/*
 * check_template.c - placeholders in URLs, headers and JSON bodies.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"
#include "tests/unit/suite.h"

static const struct task_context task = {
	.task = 42, .attempt = 2, .key = "k1", .model = "fal-ai/flux/dev",
	.own_id = "o/1", .request_id = "a b/c?d", .poll_url =
	"https://h/x?y=1"
};
static const char *const input =
    "{\"prompt\":\"say \\\"hi\\\"\",\"n\":12345678901234567890,"
    "\"nul\":null,\"model\":\"mine\",\"o\":{\"a\":[1,true]}}";

static int
expand(const char *text, enum template_mode mode, struct buf *out)
{
	struct provider p = { .name = (char *)"p" };
	struct scope scope = { .provider = &p, .task = &task,
	    .input = { .at = input, .len = strlen(input) } };
	struct template t = { 0 };
	const char *why = NULL;
	int rc = template_parse(text, &t, &why);

	if (rc == 0)
		rc = template_expand(&t, mode, &scope, out);
	mem_free(scope.error);
	template_done(&t);
	return rc;
}

static const struct {
	const char	*text;
	const char	*out;		/* NULL: refused */
} url_cases[] = {
	{ "/x/{id}", "/x/a%20b%2Fc%3Fd" },
	{ "/x/{+id}", "/x/a%20b/c%3Fd" },
	{ "/{+model}", "/fal-ai/flux/dev" },
	{ "/{+model:2}/y", "/fal-ai/flux/y" },
	{ "/{+model:1}", "/fal-ai" }, { "/{+model:9}", "/fal-ai/flux/dev" },
	{ "/{model}", "/fal-ai%2Fflux%2Fdev" },
	{ "{saved:poll_url}", "https://h/x?y=1" },
	{ "/{task}.{attempt}?o={own}", "/42.2?o=o%2F1" },
	{ "/{?idem}x", "/x" }, { "/{input:/n}", "/12345678901234567890" },
	{ "/{idem}", NULL }, { "{saved:result_url}", NULL },
	{ "/{kex}", NULL }, { "/{id", NULL }, { "/{saved:x}", NULL },
	{ "/{model:0}", NULL }, { "/{input:x}", NULL }, { "{id:2}", NULL },
};

START_TEST(test_url)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, 4096);
	rc = expand(url_cases[_i].text, TEMPLATE_URL, &b);
	if (url_cases[_i].out != NULL) {
		ck_assert_int_eq(rc, 0);
		ck_assert_str_eq(buf_text(&b), url_cases[_i].out);
	} else
		ck_assert_int_lt(rc, 0);
	buf_done(&b);
}
END_TEST

static const char *const bad_paths[] = {
	"..", ".", "a/../b", "a/..", "./a", "/a", "a/", "a//b"
};

/* A value may not walk to another path of the provider's API. */
START_TEST(test_dots)
{
	struct task_context t = task;
	struct provider p = { .name = (char *)"p" };
	struct scope scope = { .provider = &p, .task = &t };
	struct template tpl = { 0 };
	const char *why = NULL;
	struct buf b;

	t.model = bad_paths[_i];
	buf_init(&b, 4096);
	ck_assert_int_eq(template_parse("/{+model}", &tpl, &why), 0);
	ck_assert_int_eq(template_expand(&tpl, TEMPLATE_URL, &scope, &b),
	    PO_EINVAL);
	ck_assert_ptr_nonnull(scope.error);
	mem_free(scope.error);
	template_done(&tpl);
	buf_done(&b);
}
END_TEST

START_TEST(test_header)
{
	static const char *const bad[] = { "a\r\nX: y", "a\nb", "a\x7f" };
	struct task_context t = task;
	struct provider p = { .name = (char *)"p" };
	struct scope scope = { .provider = &p, .task = &t };
	struct template tpl = { 0 };
	const char *why = NULL;
	struct buf b;

	t.own_id = bad[_i];
	buf_init(&b, 4096);
	ck_assert_int_eq(template_parse("Key {own}", &tpl, &why), 0);
	ck_assert_int_eq(template_expand(&tpl, TEMPLATE_HEADER, &scope, &b),
	    PO_EINVAL);
	ck_assert_int_eq(template_expand(&tpl, TEMPLATE_PLAIN, &scope, &b),
	    0);
	mem_free(scope.error);
	template_done(&tpl);
	buf_done(&b);
}
END_TEST

static const struct {
	const char	*body;
	const char	*out;		/* NULL: refused */
} body_cases[] = {
	{ "\"{input}\"", "{\"prompt\":\"say \\\"hi\\\"\","
	    "\"n\":12345678901234567890,\"nul\":null,\"model\":\"mine\","
	    "\"o\":{\"a\":[1,true]}}" },
	{ "{\"input\":\"{input:/o}\"}", "{\"input\":{\"a\":[1,true]}}" },
	{ "{\"n\":\"{input:/n}\",\"t\":\"{task}\",\"o\":\"{own}\"}",
	    "{\"n\":12345678901234567890,\"t\":42,\"o\":\"o/1\"}" },
	{ "{\"p\":\"x {input:/prompt} {id}\"}",
	    "{\"p\":\"x say \\\"hi\\\" a b/c?d\"}" },
	{ "{\"+\":\"{input:/o}\",\"b\":2}", "{\"a\":[1,true],\"b\":2}" },
	{ "{\"+\":\"{input}\",\"model\":\"{model}\",\"n\":1,\"o\":0,"
	    "\"nul\":[]}", "{\"prompt\":\"say \\\"hi\\\"\","
	    "\"model\":\"fal-ai/flux/dev\",\"n\":1,\"o\":0,\"nul\":[]}" },
	{ "[{\"+\":\"{input:/o}\",\"x\":[]},{}]",
	    "[{\"a\":[1,true],\"x\":[]},{}]" },
	{ "{\"a\":\"{?input:/none}\",\"b\":\"{?input:/n}\","
	    "\"c\":\"{?idem}\"}", "{\"b\":12345678901234567890}" },
	{ "[\"{?input:/none}\",1,\"{?idem}\"]", "[1]" },
	{ "{\"a\":{\"b\":\"{?idem}\"},\"c\":true}",
	    "{\"a\":{},\"c\":true}" },
	{ "{\"+\":\"{?input:/none}\",\"b\":2}", "{\"b\":2}" },
	{ "{\"a\":\"{input:/none}\"}", NULL },
	{ "{\"+\":\"{input:/n}\"}", NULL },
	{ "{\"a\":\"{kex}\"}", NULL }, { "{\"a\":{input}}", NULL },
	{ "{a:1}", NULL }, { "\"{?idem}\"", NULL },
};

START_TEST(test_body)
{
	struct provider p = { .name = (char *)"p" };
	struct scope scope = { .provider = &p, .task = &task,
	    .input = { .at = input, .len = strlen(input) } };
	const char *why = NULL;
	char *clean = NULL;
	struct buf b;
	int rc = body_compile(body_cases[_i].body, &clean, &why);

	buf_init(&b, 4096);
	if (rc == 0)
		rc = body_expand(clean, &scope, &b);
	if (body_cases[_i].out != NULL) {
		ck_assert_int_eq(rc, 0);
		ck_assert_str_eq(buf_text(&b), body_cases[_i].out);
	} else
		ck_assert_int_eq(rc, PO_EINVAL);
	mem_free(scope.error);
	mem_free(clean);
	buf_done(&b);
}
END_TEST

#define COUNT(cases)	((int)(sizeof(cases) / sizeof((cases)[0])))

int
main(void)
{
	Suite *s = suite_create("template");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, test_url, 0, COUNT(url_cases));
	tcase_add_loop_test(tc, test_dots, 0, COUNT(bad_paths));
	tcase_add_loop_test(tc, test_header, 0, 3);
	tcase_add_loop_test(tc, test_body, 0, COUNT(body_cases));
	suite_add_tcase(s, tc);
	return suite_run(s);
}
