/*
 * check_url.c - which URLs are followed, and which of them see the key.
 */
#include "common/err.h"
#include "common/mem.h"
#include "tests/unit/provider_tool.h"
#include "tests/unit/suite.h"

enum { REFUSED, BARE, KEYED };

struct url_case {
	const char	*url;
	int		 want;
};

static const struct url_case fal_cases[] = {
	{ "https://queue.fal.run/a/b/requests/1/status", KEYED },
	{ "https://QUEUE.fal.RUN:443/x?y#z", KEYED },
	{ "https://queue.fal.run", KEYED },
	{ "https://v3.fal.media/files/a.png", BARE },
	{ "https://fal.media/a", BARE },
	{ "https://a.b.fal.media/a", BARE },
	{ "http://queue.fal.run/x", REFUSED },
	{ "https://queue.fal.run:444/x", REFUSED },
	{ "https://xfal.media/a", REFUSED },
	{ "https://fal.media.evil.example/a", REFUSED },
	{ "https://evil.example/queue.fal.run", REFUSED },
	{ "https://queue.fal.run@evil.example/", REFUSED },
	{ "https://evil.example#@queue.fal.run/", REFUSED },
	{ "https://evil.example\\@queue.fal.run/", REFUSED },
	{ "https://user:pw@queue.fal.run/", REFUSED },
	{ "https://queue.fal.run./x", REFUSED },
	{ "https://queue.fal.run%2eevil.example/", REFUSED },
	{ "https://169.254.169.254/latest/meta-data", REFUSED },
	{ "https://127.0.0.1/x", REFUSED }, { "https://[::1]/x", REFUSED },
	{ "https://2130706433/x", REFUSED }, { "https://0x7f.1/", REFUSED },
	{ "file:///etc/passwd", REFUSED }, { "ftp://fal.media/a", REFUSED },
	{ "//queue.fal.run/x", REFUSED }, { "/x", REFUSED },
	{ "", REFUSED }, { "https://", REFUSED }, { "https:///x", REFUSED },
	{ "https://queue.fal.run:/x", REFUSED },
	{ "https://queue.fal.run:0443/x", REFUSED },
	{ "https://queue.fal.run:99999/x", REFUSED },
	{ "https://queue.fal.run/a b", REFUSED },
	{ "https://queue.fal.run/\r\nX: y", REFUSED },
	{ "https://queue.fal.run/\xc3\xa4", REFUSED },
	{ "javascript://queue.fal.run/x", REFUSED },
};

static const struct url_case test_cases[] = {
	{ "http://127.0.0.1:8080/x", KEYED },
	{ "http://127.0.0.1/x", REFUSED },
	{ "http://127.0.0.1:8081/x", REFUSED },
	{ "http://127.0.0.2:8080/x", REFUSED },
	{ "http://[::1]:9/x", BARE }, { "http://[::1]/x", REFUSED },
	{ "http://[::2]:9/x", REFUSED },
	{ "http://[::1]evil:9/x", REFUSED }, { "http://[::1:9/x", REFUSED },
	{ "http://10.0.0.1/x", BARE }, { "https://10.0.0.1/x", BARE },
	{ "http://a.0.0.1/x", REFUSED },
};

static void
check(const struct provider *p, const struct url_case *c)
{
	bool has_key = false;
	int rc = provider_check_url(p, c->url, &has_key);

	ck_assert_msg(rc == (c->want == REFUSED ? PO_EPERM : 0), "%s: %d",
	    c->url, rc);
	ck_assert_msg(has_key == (c->want == KEYED), "%s: key", c->url);
}

#define COUNT(cases)	(sizeof(cases) / sizeof((cases)[0]))

START_TEST(test_check)
{
	struct conf *shipped = tool_conf("");
	struct conf *local = tool_conf("provider fal {\n"
	    "base = \"http://127.0.0.1:8080/fal\"\nkey_hosts = {}\n"
	    "hosts = {\"[::1]:9\", \"10.0.0.1\", \"*.0.0.1\"}\n}\n");
	size_t i = 0;

	for (i = 0; i < COUNT(fal_cases); i++)
		check(tool_provider(shipped, "fal"), &fal_cases[i]);
	for (i = 0; i < COUNT(test_cases); i++)
		check(tool_provider(local, "fal"), &test_cases[i]);
	conf_free(&shipped);
	conf_free(&local);
}
END_TEST

static const struct {
	const char	*base, *ref, *want;
} resolve_cases[] = {
	{ "https://h/v1", "https://o/x", "https://o/x" },
	{ "https://h:1/v1/y?q", "/a/b?c#d", "https://h:1/a/b?c" },
	{ "https://h/v1/y", "z", "https://h/v1/z" },
	{ "https://h/v1/y", "../z", "https://h/z" },
	{ "https://h/v1/y", "../../../z", "https://h/z" },
	{ "https://h/v1/y", "./z/./w/..", "https://h/v1/z/" },
	{ "https://h", "z", "https://h/z" },
	{ "https://h/v1/y", "?a=b", "https://h/v1/y?a=b" },
	{ "https://h/v1", "//o/x", "https://o/x" },
	{ "https://h/v1", "javascript:x", "javascript:x" },
};

START_TEST(test_resolve)
{
	char *url = NULL;

	ck_assert_int_eq(url_resolve(resolve_cases[_i].base,
	    resolve_cases[_i].ref, &url), 0);
	ck_assert_str_eq(url, resolve_cases[_i].want);
	mem_free(url);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("url");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, test_check);
	tcase_add_loop_test(tc, test_resolve, 0, (int)COUNT(resolve_cases));
	suite_add_tcase(s, tc);
	return suite_run(s);
}
