/*
 * check_selector.c - clean JSON text, selectors in it, and predicates.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"
#include "tests/unit/suite.h"

static const struct {
	const char	*in;
	const char	*out;		/* NULL: refused */
} clean_cases[] = {
	{ " { \"a\" : [ 1 , -2.5e3 , true , null ] } ",
	    "{\"a\":[1,-2.5e3,true,null]}" },
	{ "\xef\xbb\xbf[]", "[]" },
	{ "12345678901234567890123456789", "12345678901234567890123456789" },
	{ "1e300", "1e300" },
	{ "1e301", "\"1e301\"" },
	{ "-1e999999999999999999", "\"-1e999999999999999999\"" },
	{ "\"\\u0000\"", "\"\xef\xbf\xbd\"" },
	{ "\"\\ud83d\\ude00\"", "\"\\ud83d\\ude00\"" },
	{ "\"\\ud83dx\"", "\"\xef\xbf\xbdx\"" },
	{ "\"\\ude00\"", "\"\xef\xbf\xbd\"" },
	{ "\"a\xff\xc3\xa4\xc3\"", "\"a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\"" },
	{ "\"\xed\xa0\x80\"", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ "[\"\xc3\xa4\",1]", "[\"\xc3\xa4\",1]" },
	{ "[\"\xef\xbf\xbd\",\"\xf0\x9f\x98\x80\"]",
	    "[\"\xef\xbf\xbd\",\"\xf0\x9f\x98\x80\"]" },
	{ "[\"\xf0\x9f\x98\",1]",
	    "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",1]" },
	{ "\"a\nb\"", "\"a\\u000ab\"" },
	{ "", NULL }, { " ", NULL }, { "{", NULL }, { "}", NULL },
	{ "[1,]", NULL }, { "[,1]", NULL }, { "{\"a\"}", NULL },
	{ "{\"a\":}", NULL }, { "{a:1}", NULL }, { "{\"a\":1]", NULL },
	{ "[1 2]", NULL }, { "1 2", NULL }, { "01", NULL }, { "1.", NULL },
	{ "-", NULL }, { ".5", NULL }, { "1e", NULL }, { "+1", NULL },
	{ "NaN", NULL }, { "tru", NULL }, { "'a'", NULL }, { "\"a", NULL },
	{ "\"\\x\"", NULL }, { "\"\\u12g4\"", NULL }, { "\"\\u12", NULL },
	{ "/* */1", NULL }, { "<html>", NULL },
};

START_TEST(test_clean)
{
	const char *want = clean_cases[_i].out;
	struct buf b;
	int rc = 0;

	buf_init(&b, 4096);
	rc = jtext_clean(clean_cases[_i].in, strlen(clean_cases[_i].in), &b);
	ck_assert_int_eq(rc, want == NULL ? PO_EINVAL : 0);
	if (want != NULL)
		ck_assert_str_eq(buf_text(&b), want);
	buf_done(&b);
}
END_TEST

/* A million brackets cost no stack and no memory. */
START_TEST(test_depth)
{
	static char deep[1000000];
	char good[2 * JTEXT_DEPTH + 2] = "";
	struct buf b;

	memset(deep, '[', sizeof(deep));
	buf_init(&b, 4096);
	ck_assert_int_eq(jtext_clean(deep, sizeof(deep), &b), PO_EINVAL);
	buf_reset(&b);
	memset(good, '[', JTEXT_DEPTH);
	memset(good + JTEXT_DEPTH, ']', JTEXT_DEPTH);
	ck_assert_int_eq(jtext_clean(good, strlen(good), &b), 0);
	ck_assert_str_eq(buf_text(&b), good);
	buf_reset(&b);
	ck_assert_int_eq(jtext_clean("\"aaaaaaaa\"", 10, &b), 0);
	buf_done(&b);
	buf_init(&b, 4);
	ck_assert_int_eq(jtext_clean("\"aaaaaaaa\"", 10, &b), PO_ENOMEM);
	buf_done(&b);
}
END_TEST

static const char *const document =
    "{\"id\":\"abc\",\"n\":987654321098765432109876,\"nul\":null,"
    "\"e\":\"\",\"a/b\":1,\"m~n\":2,\"\\u0061c\":3,"
    "\"images\":[{\"url\":\"u0\"},{\"x\":1},{\"url\":\"u2\"}],"
    "\"deep\":{\"a\":[[\"p\",\"q\"],[],[\"r\"]]},\"dup\":1,\"dup\":2,"
    "\"t\":true,\"q\":\"say \\\"hi\\\"\\u00e4\\ud83d\\ude00\","
    "\"status\":\"Completed\",\"price\":\"3.008\"}";

static const char *headers[] = {
	"X-Fal-Request-Id: r-1", "retry-after:  30", "Empty:", NULL
};

static void
open_view(struct view *view, struct answer *a, struct buf *b, int status)
{
	*a = (struct answer){
		.status = status, .headers = headers, .body = document,
		.body_len = strlen(document)
	};
	ck_assert_int_eq(view_open(view, a, b), 0);
}

/* All values, one after another, with a "|" behind each. */
static const struct {
	const char	*selector;
	const char	*found;		/* NULL: not a selector */
} selector_cases[] = {
	{ "/id", "abc|" }, { "/n", "987654321098765432109876|" },
	{ "/nul", "null|" }, { "/none", "" }, { "/e", "|" },
	{ "/a~1b", "1|" }, { "/m~0n", "2|" }, { "/ac", "3|" },
	{ "/images/0/url", "u0|" }, { "/images/01/url", "" },
	{ "/images/3", "" }, { "/images/-1", "" }, { "/images/url", "" },
	{ "/images/*/url", "u0|u2|" }, { "/images/*/x", "1|" },
	{ "/deep/a/*/*", "p|q|r|" }, { "/deep/*/0/1", "q|" },
	{ "/deep/a/*", "[\"p\",\"q\"]|[]|[\"r\"]|" },
	{ "/dup", "2|" }, { "/t", "true|" }, { "/id/x", "" }, { "/id/*", "" },
	{ "/q", "say \"hi\"\xc3\xa4\xf0\x9f\x98\x80|" },
	{ "header:x-fal-request-id", "r-1|" }, { "header:Retry-After", "30|" },
	{ "header:none", "" }, { "HEADER:empty", "|" },
	{ "", NULL }, { "id", NULL }, { "/", NULL }, { "header:", NULL },
	{ "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", NULL },
};

START_TEST(test_selector)
{
	const char *text = selector_cases[_i].selector;
	const char *want = selector_cases[_i].found, *why = NULL;
	struct selector sel = { 0 };
	struct selector_walk w;
	struct jtext v = { 0 };
	struct answer a;
	struct view view;
	struct buf b, out;
	bool is_header = false;
	int rc = selector_parse(text, strlen(text), &sel, &why);

	ck_assert_int_eq(rc, want == NULL ? PO_EINVAL : 0);
	if (want == NULL) {
		ck_assert_ptr_nonnull(why);
		return;
	}
	open_view(&view, &a, &b, 200);
	buf_init(&out, 4096);
	selector_walk_init(&w, &sel, &view);
	while (selector_next(&w, &v, &is_header)) {
		ck_assert_int_eq(is_header ? buf_put(&out, v.at, v.len) :
		    jtext_put_text(v, &out), 0);
		ck_assert_int_eq(buf_putc(&out, '|'), 0);
	}
	ck_assert_str_eq(buf_text(&out), want);
	buf_done(&out);
	buf_done(&b);
	selector_done(&sel);
}
END_TEST

static const struct {
	const char	*predicate;
	int		 status;
	int		 holds;		/* -1: not a predicate */
} predicate_cases[] = {
	{ "200", 200, 1 }, { "200", 201, 0 }, { "429", 429, 1 },
	{ "/id", 200, 1 }, { "/id", 204, 1 },
	{ "/id", 500, 0 }, { "/id", 302, 0 },	/* without a status: 2xx */
	{ "500 /id", 500, 1 }, { "500 /none", 500, 0 },
	{ "/nul", 200, 0 }, { "/e", 200, 0 }, { "/deep/a/1", 200, 0 },
	{ "/t", 200, 1 }, { "/t=true", 200, 1 }, { "/t=false", 200, 0 },
	{ "/status=COMPLETED", 200, 1 }, { "/status=COMPLETE", 200, 0 },
	{ "/status~plet", 200, 1 }, { "/q~\"say \"", 200, 1 },
	{ "/q~\"says \"", 200, 0 },
	{ "/price>3", 200, 1 }, { "/price>3.008", 200, 0 },
	{ "/price>-1", 200, 1 }, { "/status>1", 200, 0 },
	{ "/images/*/url=u2", 200, 1 }, { "/images/*/url=u1", 200, 0 },
	{ "200 /id=abc header:retry-after>29", 200, 1 },
	{ "200 /id=abc header:retry-after>30", 200, 0 },
	{ "/nul=null", 200, 0 }, { "/a~1b=1", 200, 1 },
	{ "header:empty", 200, 0 },
	{ "", 200, -1 }, { "20", 200, -1 }, { "999", 200, -1 },
	{ "2000", 200, -1 }, { "200x", 200, -1 }, { "id", 200, -1 },
	{ "/a>b", 200, -1 }, { "/a=\"b", 200, -1 },
};

START_TEST(test_predicate)
{
	struct predicate p = { 0 };
	struct answer a;
	struct view view;
	struct buf b;
	const char *why = NULL;
	int want = predicate_cases[_i].holds;
	int rc = predicate_parse(predicate_cases[_i].predicate, &p, &why);

	ck_assert_int_eq(rc, want < 0 ? PO_EINVAL : 0);
	if (want < 0)
		return;
	open_view(&view, &a, &b, predicate_cases[_i].status);
	ck_assert_int_eq(predicate_holds(&p, &view), want);
	buf_done(&b);
	predicate_done(&p);
}
END_TEST

static const struct {
	const char	*text;
	const char	*date;
	int64_t		 ms;
} retry_cases[] = {
	{ "30", NULL, 30000 }, { "0", NULL, 0 }, { "1.5", NULL, 1500 },
	{ "30s", NULL, 30000 }, { "99999999999999999999999999", NULL,
	    3600000 }, { "86400", NULL, 3600000 }, { "-1", NULL, -1 },
	{ "soon", NULL, -1 }, { "", NULL, -1 }, { "30m", NULL, -1 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT", NULL, -1 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT",
	    "Date: Sun, 06 Nov 1994 08:49:07 GMT", 30000 },
	{ "Sun, 06 Nov 1994 08:49:37 GMT",
	    "Date: Sun, 06 Nov 1994 08:50:07 GMT", 0 },
	{ "Fri, 01 Mar 2024 00:00:05 GMT",
	    "Date: Thu, 29 Feb 2024 23:59:55 GMT", 10000 },
	{ "Sun, 06 Xxx 1994 08:49:37 GMT",
	    "Date: Sun, 06 Nov 1994 08:49:07 GMT", -1 },
	{ "Sun, 06 Nov 2994 08:49:37 GMT",
	    "Date: Sun, 06 Nov 1994 08:49:07 GMT", 3600000 },
};

START_TEST(test_retry)
{
	const char *date[] = { retry_cases[_i].date, NULL };
	struct answer a = { .status = 429, .headers = date };

	ck_assert_int_eq(retry_after_ms(retry_cases[_i].text, &a),
	    retry_cases[_i].ms);
}
END_TEST

#define COUNT(cases)	((int)(sizeof(cases) / sizeof((cases)[0])))

int
main(void)
{
	Suite *s = suite_create("selector");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, test_clean, 0, COUNT(clean_cases));
	tcase_add_test(tc, test_depth);
	tcase_add_loop_test(tc, test_selector, 0, COUNT(selector_cases));
	tcase_add_loop_test(tc, test_predicate, 0, COUNT(predicate_cases));
	tcase_add_loop_test(tc, test_retry, 0, COUNT(retry_cases));
	suite_add_tcase(s, tc);
	return suite_run(s);
}
