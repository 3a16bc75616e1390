/*
 * check_conf.c - payonce.conf and provider files: read whole, or refused with
 * file, line and what was expected.
 */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "tests/unit/provider_tool.h"
#include "tests/unit/suite.h"

#define MAIN	"worker_path = /bin/true\nproviders = {}\n"
#define P(keys)	MAIN "provider p {\n base = 'https://p.example'\n" keys "\n}\n"
#define SUBMIT	"submit { url = '/x' accept = {200} id = {'/id'} }\n"
#define POLL	"poll { url = '/x/{id}' status = {'/s'} done = {d} }\n"

static const struct {
	const char	*text;
	const char	*want;
} faults[] = {
	{ MAIN "lese = 3\n", ":3: lese: there is no such key in this file; "
	    "the nearest one is lease" },
	{ MAIN "\n\nlease = x\n", ":5: lease: expected a whole number from 1 "
	    "to 86400, found \"x\"" },
	{ MAIN "lease = 0\n", ":3: lease: expected" },
	{ MAIN "lease = 1\nlease = 2\n", ":4: lease: expected once, found a "
	    "second time (first: line 3)" },
	{ MAIN "state_dir = \"var\"\n", ":3: state_dir: expected an absolute "
	    "path" },
	{ MAIN "max_artifact = 2T\n", ":3: max_artifact: expected bytes" },
	{ "worker_path = /bin/nope\nproviders={}\n", ":1: worker_path: "
	    "expected a program that can be run" },
	{ "worker_path = /bin/true\nproviders = {'/nope/x.conf'}\n",
	    ":2: providers: expected readable files" },
	{ "worker_path = /bin/true\nproviders = {'/tmp'}\n", "/tmp: cannot be "
	    "read: Is a directory" },
	{ MAIN "kind k { concurrency = 1 }\n", ":3: kind k: expected exactly "
	    "one of provider and command, found neither" },
	{ MAIN "kind k { provider = p }\n", ":3: provider: expected one that "
	    "a file of providers describes, found \"p\"" },
	{ P(SUBMIT POLL) "kind k { provider = pp }\n", "nearest one is p" },
	{ MAIN "kind k {\n command = {\"true\"} }\n", ":4: command: expected "
	    "an absolute path" },
	{ MAIN "kind k {\n command = {\"/bin/nope\"} }\n", ":4: command: "
	    "expected a program that can be run" },
	{ MAIN "kind k { command = {/bin/true} estimate = 1e3 }\n",
	    ":3: estimate: expected a price" },
	{ MAIN "kind 'a b' { command = {/bin/true} }\n", "kind: expected a "
	    "name" },
	{ MAIN "kind k { command = {/bin/true} }\nkind k { }\n", ":4: " },
	{ MAIN "kind k {", ":3: " },
	{ MAIN "provider '../x' { base = 'https://x' }\n", "provider: "
	    "expected a name" },
	{ P("sumbit { }"), ":5: sumbit: there is no such key in provider; "
	    "the nearest one is submit" },
	{ P("submit { urll = x }"), "urll: there is no such key in submit; "
	    "the nearest one is url" },
	{ P("submit { form = {'a=b'} }"), ":5: provider p: submit.form: not "
	    "supported yet" },
	{ P("token = {x}"), ":5: provider p: token: not supported yet" },
	{ P(POLL), "submit.url: expected a URL, found nothing" },
	{ P(SUBMIT), "poll.url: expected a URL, found nothing" },
	{ P("submit { url = '/x' accept = {200} }\n" POLL),
	    "submit.id: expected a selector" },
	{ P("submit { url = '/x' id = {'/id'} }\n" POLL), "submit.accept: "
	    "expected the statuses" },
	{ P("submit { url = '/{x}' }"), "submit.url: expected {key}" },
	{ P("submit { url = '/x?k={key}' }"), "submit.url: {key} belongs "
	    "into a header" },
	{ P("submit { body = '{\"a\":}' }"), "submit.body: expected JSON" },
	{ P("submit { id = {'id'} }"), ":5: provider p: submit.id: expected a "
	    "JSON pointer" },
	{ P("submit { rejected_if = {'4x /a'} }"), "submit.rejected_if: "
	    "expected an HTTP status" },
	{ P("submit { method = GET }"), "submit.method: expected POST or "
	    "PUT, found \"GET\"" },
	{ P("submit { accept = {2000} }"), "submit.accept: expected HTTP "
	    "statuses" },
	{ P("submit { url = '/x' accept = {200} id = {'/id'} "
	    "rejected = {409} }\n" POLL), "submit.rejected: 409 may hide an "
	    "accepted job" },
	{ P("submit { url = '/x' accept = {200} id = {'/id'} "
	    "throttled = {503} }\n" POLL), "submit.throttled: 503 may hide" },
	{ P("submit { url = '/x' accept = {200} id = {'/id'} "
	    "account = {200} }\n" POLL), "submit.account: 200 is a success" },
	{ P("submit { url = '/x' accept = {200} id = {'/id'} "
	    "account = {403} rejected = {403} }\n" POLL), "submit.rejected: "
	    "403 is in submit.account too" },
	{ P("submit { url = '/x' accept = {200} id = {'/id'} "
	    "rejected_if = {'500'} }\n" POLL), "submit.rejected_if: a bare "
	    "500 proves nothing" },
	{ P(SUBMIT POLL "idempotency { ttl = 60 }"), "idempotency.ttl: "
	    "expected {idem} or {own}" },
	{ P(SUBMIT POLL "find { by = own url = '/f/{own}' id = {'/id'} }"),
	    "find.by: own expects {own} somewhere in the submit" },
	{ P(SUBMIT "poll { url = '/x' status = {'/s'} done = {d} }"),
	    "poll.url: expected {id}, {own} or {saved:poll_url}" },
	{ P(SUBMIT "poll { url = 'https://q.example/{id}' status = {'/s'} "
	    "done = {d} }"), "poll.url: key_hosts does not name the host" },
	{ P("poll { interval = 0 }"), "poll.interval: expected seconds" },
	{ P("poll { interval = 9 interval_max = 3 }"), "poll.interval_max: "
	    "expected at least" },
	{ P("result { artifact = {'jpeg /a'} }"), "result.artifact: expected "
	    "url, base64" },
	{ P("result { min = -1 }"), "result.min: expected a whole number" },
	{ P("cost { at = never value = '/a' }"), "cost.at: expected submit, "
	    "poll or result" },
	{ P("cost { unit_price = {'x=y'} }"), "cost.unit_price: expected a "
	    "decimal number" },
	{ P("header = {'no colon'}"), "header: expected \"Name: value\"" },
	{ P("hosts = {'https://x'}"), "hosts: expected \"host\"" },
	{ P("own = md5"), "own: expected text or uuid4" },
	{ MAIN "provider p { base = 'ftp://x' }", "base: expected an "
	    "https://" },
	{ MAIN "provider p { header = {} }", "base: expected the API's "
	    "address" },
};

START_TEST(test_fault)
{
	ck_assert_msg(tool_fault(faults[_i].text, faults[_i].want),
	    "case %d: %s", _i, faults[_i].want);
}
END_TEST

/* One run tells everything that is wrong. */
START_TEST(test_all_faults)
{
	struct conf *conf = NULL;
	char *error = NULL;

	ck_assert_int_eq(tool_load(MAIN "lease = x\nidle = y\n"
	    "kind k { provider = p concurrency = 0 }\n", &conf, &error),
	    PO_EINVAL);
	ck_assert_ptr_null(conf);
	ck_assert_ptr_nonnull(strstr(error, ":3: lease"));
	ck_assert_ptr_nonnull(strstr(error, ":4: idle"));
	ck_assert_ptr_nonnull(strstr(error, ":5: provider"));
	ck_assert_ptr_nonnull(strstr(error, ":5: concurrency"));
	mem_free(error);
}
END_TEST

START_TEST(test_missing)
{
	struct conf *conf = NULL;
	char *error = NULL;

	ck_assert_int_eq(conf_load("/nope/payonce.conf", &conf, &error),
	    PO_EINVAL);
	ck_assert_str_eq(error, "/nope/payonce.conf: cannot be read: No such "
	    "file or directory");
	mem_free(error);
}
END_TEST

START_TEST(test_values)
{
	struct conf *c = tool_conf("database = \"dbname=x\"\n"
	    "state_dir = \"/s\"\nrun_dir = \"/r\"\nsecrets_dir = '/k'\n"
	    "lease = 2\nstop_timeout = 7\nreceipt_retention = 9\nidle = 3\n"
	    "max_artifact = 2M\n"
	    "kind image { provider = fal model = 'fal-ai/flux/dev' "
	    "concurrency = 40 estimate = '0.025' }\n"
	    "kind render { command = {\"/bin/true\", \"-x\", \"\"} "
	    "timeout = 60 }\n");
	const struct conf_kind *k = conf_find_kind(c, "image");
	char *path = conf_secret_path(c, "fal");

	ck_assert_str_eq(c->database, "dbname=x");
	ck_assert_str_eq(c->state_dir, "/s");
	ck_assert_str_eq(c->run_dir, "/r");
	ck_assert_str_eq(path, "/k/fal");
	ck_assert_str_eq(c->worker_path, "/bin/true");
	ck_assert_ptr_null(c->user);
	ck_assert_int_eq(c->lease_s, 2);
	ck_assert_int_eq(c->stop_timeout_s, 7);
	ck_assert_int_eq(c->receipt_retention_s, 9);
	ck_assert_int_eq(c->idle_s, 3);
	ck_assert_int_eq(c->max_artifact, 2 << 20);
	ck_assert_uint_eq(c->nkinds, 2);
	ck_assert_str_eq(k->provider, "fal");
	ck_assert_str_eq(k->model, "fal-ai/flux/dev");
	ck_assert_int_eq(k->concurrency, 40);
	ck_assert_int_eq(k->submit_workers, 16);
	ck_assert_int_eq(k->poll_deadline_s, 3600);
	ck_assert_int_eq(k->breaker, 3);
	ck_assert_int_eq(k->max_requeues, 3);
	ck_assert_str_eq(k->estimate, "0.025");
	ck_assert_str_eq(k->currency, "USD");
	ck_assert_ptr_null(k->command);
	k = conf_find_kind(c, "render");
	ck_assert_ptr_null(k->provider);
	ck_assert_str_eq(k->command[1], "-x");
	ck_assert_str_eq(k->command[2], "");
	ck_assert_ptr_null(k->command[3]);
	ck_assert_int_eq(k->timeout_s, 60);
	ck_assert_ptr_null(conf_find_kind(c, "none"));
	mem_free(path);
	conf_free(&c);
}
END_TEST

/* A deployment changes the keys it names, and no other. */
START_TEST(test_override)
{
	struct conf *shipped = tool_conf("");
	struct conf *changed = tool_conf("provider fal {\n"
	    "base = \"http://127.0.0.1:80/fal\"\nhosts = {}\n"
	    "submit { timeout = 20 }\npoll { interval = 0.05 } }\n");
	const struct desc *a = conf_find_provider(shipped, "fal")->desc;
	const struct desc *b = conf_find_provider(changed, "fal")->desc;
	const struct desc_item *x = NULL, *y = NULL;
	size_t i = 0, n = 0, differ = 0;

	ck_assert_uint_eq(a->count, b->count);
	for (i = 0; i < a->count; i++) {
		x = &a->items[i];
		y = desc_find(b, x->key);
		ck_assert_ptr_nonnull(y);
		if (x->nvalues != y->nvalues) {
			ck_assert_str_eq(x->key, "hosts");
			ck_assert_uint_eq(y->nvalues, 0);
			differ++;
			continue;
		}
		for (n = 0; n < x->nvalues; n++)
			if (strcmp(x->values[n], y->values[n]) != 0)
				differ++;
	}
	ck_assert_uint_eq(differ, 4);
	ck_assert_str_eq(desc_find(b, "submit.timeout")->values[0], "20");
	ck_assert_int_eq(desc_find(b, "submit.timeout")->line, 6);
	ck_assert_int_eq(provider_poll_interval_ms(tool_provider(changed,
	    "fal")), 50);
	conf_free(&shipped);
	conf_free(&changed);
}
END_TEST

/* No allocation that fails leaks, crashes or gives half a configuration. */
START_TEST(test_memory)
{
	struct conf *conf = NULL;
	char *error = NULL;
	unsigned long n = 0;
	int rc = PO_ENOMEM;

	for (n = 1; rc < 0 && n < 100000; n++) {
		mem_fail_after(n);
		rc = tool_load(P(SUBMIT POLL "cost { at = poll value = '/c' "
		    "unit_price = {'a=1'} } header = {'A: {key}'}")
		    "kind k { provider = p }\n", &conf, &error);
		mem_fail_after(0);
		ck_assert(rc == 0 || rc == PO_ENOMEM);
		ck_assert((rc == 0) == (conf != NULL));
		mem_free(error);
		error = NULL;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_gt(n, 50);
	conf_free(&conf);
}
END_TEST

#define COUNT(cases)	((int)(sizeof(cases) / sizeof((cases)[0])))

int
main(void)
{
	Suite *s = suite_create("conf");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, test_fault, 0, COUNT(faults));
	tcase_add_test(tc, test_all_faults);
	tcase_add_test(tc, test_missing);
	tcase_add_test(tc, test_values);
	tcase_add_test(tc, test_override);
	tcase_add_test(tc, test_memory);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
