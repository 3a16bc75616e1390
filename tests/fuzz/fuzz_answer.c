/*
 * fuzz_answer.c - any answer, read as the shipped files and a sync provider
 * would.
 *
 * The first byte chooses what it answers to, the second a status, then come
 * header lines up to an empty one, then the body.  Whatever is taken can be
 * kept: an id without control characters, a result that is clean JSON, money
 * that is a decimal, and artifacts that the saved result lists again.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/text.h"
#include "provider/parts.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_name = "fuzz_answer";

enum { OUT_SUBMIT, OUT_POLL = OUT_SUBMIT + SUBMIT_CLASS_MAX,
    OUT_ARTIFACT = OUT_POLL + POLL_CLASS_MAX, OUT_COST, OUT_RETRY };

const struct fuzz_outcome fuzz_outcomes[] = {
	[OUT_SUBMIT + SUBMIT_ACCEPTED] = { "accepted", true },
	[OUT_SUBMIT + SUBMIT_RESULT] = { "sync result", true },
	[OUT_SUBMIT + SUBMIT_REJECTED] = { "rejected", true },
	[OUT_SUBMIT + SUBMIT_THROTTLED] = { "throttled", true },
	[OUT_SUBMIT + SUBMIT_ACCOUNT] = { "account", true },
	[OUT_SUBMIT + SUBMIT_DUPLICATE] = { "duplicate", true },
	[OUT_SUBMIT + SUBMIT_UNKNOWN] = { "unknown", true },
	[OUT_POLL + POLL_PENDING] = { "pending", true },
	[OUT_POLL + POLL_DONE] = { "done", true },
	[OUT_POLL + POLL_FAILED] = { "failed", true },
	[OUT_POLL + POLL_CANCELED] = { "canceled", true },
	[OUT_POLL + POLL_GONE] = { "gone", true },
	[OUT_POLL + POLL_PARK] = { "park", true },
	[OUT_POLL + POLL_MISSED] = { "missed", true },
	[OUT_POLL + POLL_ACCOUNT] = { "poll account", true },
	[OUT_ARTIFACT] = { "artifact", true },
	[OUT_COST] = { "cost", true },
	[OUT_RETRY] = { "retry after", true },
	{ NULL, false }
};

/* The two shapes in one description each; statuses as in the shipped files. */
static const char *const descriptions[2][18][3] = {
	{ { "base", "https://a.example" }, { "hosts", "*.b.example" },
	    { "submit.url", "/x" }, { "submit.accept", "200" },
	    { "submit.id", "/id", "/request_id" },
	    { "submit.save", "poll_url=/url", "result_url=/urls/*/get" },
	    { "submit.rejected", "422" }, { "submit.account", "403" },
	    { "submit.throttled_if", "429 header:x-id" },
	    { "submit.duplicate_if", "400 /code=dup" },
	    { "poll.url", "/{id}" }, { "poll.status", "/status" },
	    { "poll.pending", "queued" }, { "poll.done", "done" },
	    { "poll.failed", "failed" }, { "poll.canceled", "canceled" },
	    { "poll.gone_if", "/gone=true" },
	    { "result.artifact", "url /o/*/u", "text /t" } },
	{ { "base", "https://a.example" }, { "submit.url", "/x" },
	    { "submit.sync", "yes" }, { "submit.accept", "200" },
	    { "submit.rejected_if", "200 /error>5" },
	    { "result.artifact", "url /o/*/u", "base64 /b" },
	    { "result.pending_if", "202" }, { "result.failed_if", "422" },
	    { "result.gone_if", "410" },
	    { "cost.at", "result" }, { "cost.value", "header:x-units" },
	    { "cost.in", "units" }, { "cost.unit_price", "0.003" },
	    { "cost.scale", "1.5" }, { "submit.retry_after", "/wait" },
	    { "submit.throttled", "429" } }
};

static struct provider *
provider_at(int at)
{
	static struct provider *made[2];
	struct desc *d = NULL;
	const char *const *item = NULL;
	char *error = NULL;
	size_t i = 0;

	if (made[at] != NULL)
		return made[at];
	if (desc_new("p", &d) < 0)
		fatalx("memory");
	for (i = 0; i < 18 && descriptions[at][i][0] != NULL; i++) {
		item = descriptions[at][i];
		if (desc_set(d, item[0], item + 1, item[2] != NULL ? 2 : 1,
		    NULL, 0) < 0)
			fatalx("memory");
	}
	if (provider_compile(d, &made[at], &error) < 0)
		fatalx("%s", error);
	desc_free(&d);
	return made[at];
}

static const char *const seeds[] = {
	"\x00\xc8X-Id: r\n\n{\"id\":\"abc\",\"url\":\"/x\",\"urls\":"
	    "[{\"get\":\"https://c.b.example/1\"}]}",
	"\x00\xc8\n{\"request_id\":123456789012345678901}",
	"\x00\xc8\n{\"id\":null}", "\x00\x86\n{\"detail\":\"\\ud800\"}",
	"\x00\x93\n", "\x00\x8dX-Id: 1\nRetry-After: 30\n\n",
	"\x00\x70\n{\"code\":\"dup\"}",
	"\x00\x8dX-Id: 1\nDate: Sun, 06 Nov 1994 08:49:07 GMT\n"
	    "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\n\n",
	"\x01\xc8\n{\"status\":\"queued\"}",
	"\x01\xc8\n{\"status\":\"done\",\"o\":[{\"u\":\"https://x/1\"},"
	    "{\"u\":\"data:image/png;base64,QQ==\"}]}",
	"\x01\xc8\n{\"status\":\"done\",\"t\":\"text \\u0000\"}",
	"\x01\xc8\n{\"status\":\"done\"}", "\x01\xc8\n{\"status\":\"failed\"}",
	"\x01\xc8\n{\"status\":\"Canceled\"}", "\x01\xc8\n{\"gone\":true}",
	"\x01\xc8\n<html>", "\x01\x91\n", "\x01\xc8\n{\"status\":7}",
	"\x02\xc8\n{\"o\":[{\"u\":\"x\"}]}", "\x02\xc8\n{\"error\":6.5}",
	"\x02\x8d\n{\"wait\":\"12s\"}",
	"\x03\xc8X-Units: 3.008\n\n{\"b\":\"QQ==\",\"n\":1e999}",
	"\x03\x86\n{\"error\":{\"message\":\"\xff\"}}", "\x03\xca\n",
};

/* the bytes that stand for a status in the seeds and in any input */
static int
status_of(uint8_t byte)
{
	static const int statuses[] = { 400, 401, 403, 404, 410, 422, 429,
	    500, 502, 204 };

	if (byte >= 0xc8 && byte < 0xd2)
		return byte;			/* 200 .. 209 */
	if (byte == 0x86)
		return 422;
	if (byte == 0x8d)
		return 429;
	if (byte == 0x93 || byte == 0x91)
		return byte == 0x93 ? 403 : 401;
	return statuses[byte % 10];
}

void
fuzz_seed(void)
{
	size_t i = 0, len = 0;

	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		len = 2 + strlen(seeds[i] + 2);
		fuzz_add(seeds[i], len);
	}
}

static void
check_money(const char *cost)
{
	if (cost == NULL)
		return;
	fuzz_expect(num_decimal_check(cost) == 0 && cost[0] != '-', "money");
	fuzz_count(OUT_COST);
}

static void
check_submit(const struct provider *p, const struct task_context *task,
    const struct answer *a)
{
	struct submit_verdict v = { 0 };
	bool has_key = false;
	size_t i = 0;

	fuzz_expect(provider_read_submit(p, task, a, &v) == 0, "a verdict");
	fuzz_expect((v.request_id != NULL) == (v.class == SUBMIT_ACCEPTED),
	    "an id exactly when accepted");
	for (i = 0; v.request_id != NULL && v.request_id[i] != '\0'; i++)
		fuzz_expect((unsigned char)v.request_id[i] >= 0x20,
		    "an id that can be kept");
	fuzz_expect(v.request_id == NULL || (i > 0 && i <= 1024 &&
	    text_valid_len(v.request_id, i) == i), "an id of some length");
	fuzz_expect(v.poll_url == NULL ||
	    provider_check_url(p, v.poll_url, &has_key) == 0, "allowed URLs");
	fuzz_expect(v.error == NULL || text_valid_len(v.error,
	    strlen(v.error)) == strlen(v.error), "words in UTF-8");
	fuzz_expect(v.retry_after_ms <= 3600000, "a wait with a limit");
	if (v.retry_after_ms >= 0)
		fuzz_count(OUT_RETRY);
	check_money(v.cost);
	fuzz_count((size_t)OUT_SUBMIT + v.class);
	submit_verdict_done(&v);
}

static void
check_poll(const struct provider *p, const struct task_context *task,
    const struct answer *a, bool is_result)
{
	struct poll_verdict v = { 0 }, again = { 0 };
	struct buf b;
	size_t i = 0;

	fuzz_expect((is_result ? provider_read_result(p, task, a, &v) :
	    provider_read_poll(p, task, a, &v)) == 0, "a verdict");
	fuzz_count((size_t)OUT_POLL + v.class);
	check_money(v.cost);
	fuzz_expect(v.class != POLL_DONE || v.result != NULL, "a result");
	if (v.result != NULL) {
		buf_init(&b, 8 * strlen(v.result) + 64);
		fuzz_expect(jtext_clean_saved(v.result, strlen(v.result),
		    &b) == 0 && strcmp(buf_text(&b), v.result) == 0,
		    "clean JSON");
		buf_done(&b);
		fuzz_expect(text_valid_len(v.result, strlen(v.result)) ==
		    strlen(v.result), "a result in UTF-8");
		fuzz_expect(provider_read_saved(p, v.result,
		    strlen(v.result), &again) == 0 &&
		    again.nartifacts == v.nartifacts, "the same artifacts");
		for (i = 0; i < v.nartifacts; i++)
			fuzz_expect(strcmp(v.artifacts[i].value,
			    again.artifacts[i].value) == 0, "the same again");
		if (v.nartifacts > 0)
			fuzz_count(OUT_ARTIFACT);
		poll_verdict_done(&again);
	}
	poll_verdict_done(&v);
}

/* split_headers() cuts lines off the front; returns where the body is. */
static char *
split_headers(char *at, const char **headers, size_t max)
{
	size_t n = 0;
	char *end = NULL;

	while (n < max && *at != '\n' && (end = strchr(at, '\n')) != NULL) {
		*end = '\0';
		headers[n++] = at;
		at = end + 1;
	}
	headers[n] = NULL;
	return *at == '\n' ? at + 1 : at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char input[] = "{\"prompt\":\"x\"}";
	const struct task_context task = { .task = 1, .attempt = 1,
	    .input = input, .input_len = sizeof(input) - 1 };
	const char *headers[9] = { NULL };
	struct answer a = { .headers = headers };
	struct provider *p = NULL;
	char *text = NULL, *body = NULL;

	if (len < 2)
		return 0;
	/* a body may hold NUL: the copy is longer than its text */
	if ((text = mem_array(len + 1, 1)) == NULL)
		return 0;
	memcpy(text, data + 2, len - 2);
	body = split_headers(text, headers, 8);
	a.status = status_of(data[1]);
	a.body = body;
	a.body_len = len - 2 - (size_t)(body - text);
	p = provider_at(data[0] / 2 % 2);
	if (data[0] % 2 == 0)
		check_submit(p, &task, &a);
	else
		check_poll(p, &task, &a, data[0] / 2 % 2 == 1);
	mem_free(text);
	return 0;
}
