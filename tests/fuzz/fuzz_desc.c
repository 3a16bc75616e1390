/*
 * fuzz_desc.c - what a worker is sent as its provider, and URLs.
 *
 * A description that is taken comes out of desc_serialize() as it went in,
 * and provider_compile() takes or refuses it with words.  The same bytes are
 * tried as a URL: what may be fetched is split in one way only.
 */
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "provider/parts.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_name = "fuzz_desc";

enum { OUT_MALFORMED, OUT_REFUSED, OUT_COMPILED, OUT_URL_REFUSED, OUT_URL,
    OUT_RESOLVED };

const struct fuzz_outcome fuzz_outcomes[] = {
	[OUT_MALFORMED] = { "malformed", true },
	[OUT_REFUSED] = { "refused", true },
	[OUT_COMPILED] = { "compiled", true },
	[OUT_URL_REFUSED] = { "url refused", true },
	[OUT_URL] = { "url allowed", true },
	[OUT_RESOLVED] = { "url resolved", true },
	{ NULL, false }
};

static const char *const items[][3] = {
	{ "base", "https://a.example/v1" }, { "hosts", "*.b.example", "c:8" },
	{ "header", "A: Key {key}", "B: {task}.{?own}" },
	{ "submit.url", "/{+model}" },
	{ "submit.body", "{\"+\":\"{input}\",\"m\":\"{?input:/m}\"}" },
	{ "submit.accept", "200" }, { "submit.id", "/id" },
	{ "submit.rejected_if", "409 /a/*/b=\"x y\" header:z" },
	{ "poll.url", "{saved:poll_url}", "/{id}" },
	{ "poll.status", "/s" }, { "poll.done", "d" },
	{ "cost.at", "poll" }, { "cost.part", "/a/*/b*0.5" },
};

static struct desc *
make_desc(void)
{
	struct desc *d = NULL;
	size_t i = 0;

	if (desc_new("p", &d) < 0)
		fatalx("memory");
	for (i = 0; i < sizeof(items) / sizeof(items[0]); i++)
		if (desc_set(d, items[i][0], &items[i][1],
		    items[i][2] != NULL ? 2 : 1, "f", (int)i + 1) < 0)
			fatalx("memory");
	return d;
}

void
fuzz_seed(void)
{
	static const char *const urls[] = {
		"https://a.example/x", "https://d.b.example/x?y#z",
		"https://c:8/", "https://u@a.example:443/", "//x/y", "../z",
		"https://[::1]:9/x", "https://a.example:99999/"
	};
	struct desc *d = make_desc();
	struct buf b;
	size_t i = 0;

	buf_init(&b, FUZZ_INPUT_MAX);
	if (desc_serialize(d, &b) < 0)
		fatalx("memory");
	fuzz_add(buf_head(&b), buf_left(&b));
	buf_done(&b);
	desc_free(&d);
	for (i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
		fuzz_add(urls[i], strlen(urls[i]));
}

static void
try_url(const uint8_t *data, size_t len)
{
	static struct provider *p;
	struct desc *d = NULL;
	struct url_parts u = { 0 };
	char *url = NULL, *error = NULL, *whole = NULL;
	bool has_key = false;

	if (p == NULL) {
		d = make_desc();
		if (provider_compile(d, &p, &error) < 0)
			fatalx("%s", error);
		desc_free(&d);
	}
	if ((url = mem_strndup((const char *)data, len)) == NULL)
		return;
	if (provider_check_url(p, url, &has_key) == 0) {
		fuzz_expect(url_split(url, &u) == 0 && !u.has_user &&
		    strncasecmp(url, "https://", 8) == 0 &&
		    memchr(u.host, '@', u.host_len) == NULL, "a plain URL");
		fuzz_count(OUT_URL);
	} else
		fuzz_count(OUT_URL_REFUSED);
	if (url_resolve("https://a.example/v1/x", url, &whole) == 0)
		fuzz_count(OUT_RESOLVED);
	mem_free(whole);
	mem_free(url);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	unsigned long before = mem_asked_bytes();
	struct desc *d = NULL;
	struct provider *p = NULL;
	struct buf b;
	char *error = NULL;
	int rc = desc_deserialize(data, len, &d);

	/* no announced count or length may be believed */
	fuzz_expect(mem_asked_bytes() - before < 128 * len + 4096,
	    "memory in proportion to the input");
	if (rc < 0) {
		fuzz_count(OUT_MALFORMED);
		try_url(data, len);
		return 0;
	}
	buf_init(&b, 2 * FUZZ_INPUT_MAX);
	fuzz_expect(desc_serialize(d, &b) == 0 && buf_left(&b) == len &&
	    memcmp(buf_head(&b), data, len) == 0, "the same bytes again");
	buf_done(&b);
	rc = provider_compile(d, &p, &error);
	fuzz_expect(rc == 0 || (rc == PO_EINVAL && error != NULL),
	    "words with a refusal");
	fuzz_count(rc == 0 ? OUT_COMPILED : OUT_REFUSED);
	mem_free(error);
	provider_free(&p);
	desc_free(&d);
	return 0;
}
