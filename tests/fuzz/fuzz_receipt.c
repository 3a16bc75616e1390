/*
 * fuzz_receipt.c - receipt_parse() on any file.
 *
 * Whatever it takes must be complete, and an intent that follows a sale must
 * not hide it: a file that says submitted is never read as less.
 */
#include <string.h>

#include "common/err.h"
#include "common/receipt_file.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_name = "fuzz_receipt";

enum { OUT_DAMAGED, OUT_NOTHING, OUT_TORN, OUT_BOUGHT, OUT_FOREIGN, OUT_CLASS };

const struct fuzz_outcome fuzz_outcomes[] = {
	[OUT_DAMAGED] = { "damaged", true },
	[OUT_NOTHING] = { "nothing", true },
	[OUT_TORN] = { "torn", true },
	[OUT_BOUGHT] = { "bought", true },
	[OUT_FOREIGN] = { "foreign", true },
	[OUT_CLASS + RECEIPT_INTENT] = { "intent", true },
	[OUT_CLASS + RECEIPT_UNSENT] = { "unsent", true },
	[OUT_CLASS + RECEIPT_SUBMITTED] = { "submitted", true },
	[OUT_CLASS + RECEIPT_RESULT] = { "result", true },
	[OUT_CLASS + RECEIPT_REJECTED] = { "rejected", true },
	[OUT_CLASS + RECEIPT_THROTTLED] = { "throttled", true },
	[OUT_CLASS + RECEIPT_ACCOUNT] = { "account", true },
	[OUT_CLASS + RECEIPT_UNKNOWN] = { "unknown", true },
	{ NULL, false }
};

#define INTENT(timeline)						\
	"{\"v\":1,\"event\":\"intent\",\"task\":42,\"attempt\":1,"	\
	"\"token\":7,\"timeline\":" timeline ",\"own_id\":\"o\","	\
	"\"kind\":\"image\",\"system\":\"7312\"}\n"
#define OUTCOME(class, more)						\
	"{\"v\":1,\"event\":\"outcome\",\"class\":\"" class "\"" more "}\n"

void
fuzz_seed(void)
{
	static const char *const seeds[] = {
		INTENT("1"),
		INTENT("2"),
		INTENT("1") OUTCOME("unsent", ""),
		INTENT("1") OUTCOME("submitted", ",\"request_id\":\"r\""),
		INTENT("1") OUTCOME("result", ",\"result\":\"{\\\"a\\\":1}\""),
		INTENT("1") OUTCOME("rejected", ",\"http_status\":422"),
		INTENT("1") OUTCOME("throttled", ",\"reason\":\"http_429\""),
		INTENT("1") OUTCOME("account", "") INTENT("1"),
		INTENT("1") OUTCOME("unknown", ",\"detail\":\"\\u00fc\""),
	};
	size_t i = 0;

	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		fuzz_add(seeds[i], strlen(seeds[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char system_id[] = "7312";
	const struct receipt_facts here = {
		.system_id = system_id, .timeline = 1,
	};
	struct receipt_facts facts = { 0 };
	struct receipt_trail trail = { 0 };
	int rc = receipt_parse((const char *)data, len, 42, 1, &here, &facts,
	    &trail);

	if (rc < 0) {
		fuzz_expect(rc == PO_EINVAL, "the one error");
		fuzz_count(OUT_DAMAGED);
		return 0;
	}
	fuzz_expect(facts.task == 42 && facts.attempt == 1, "of this attempt");
	fuzz_expect(trail.good_len <= len && (trail.good_len == 0 ||
	    data[trail.good_len - 1] == '\n'), "whole lines");
	fuzz_expect(memchr(data + trail.good_len, '\n', len - trail.good_len)
	    == NULL, "all whole lines");
	if (trail.good_len == 0)
		fuzz_count(OUT_NOTHING);
	else
		fuzz_count(OUT_CLASS + facts.class);
	if (trail.good_len < len)
		fuzz_count(OUT_TORN);
	if (trail.has_foreign)
		fuzz_count(OUT_FOREIGN);
	if (trail.has_bought) {
		fuzz_count(OUT_BOUGHT);
		fuzz_expect(facts.class == RECEIPT_SUBMITTED ||
		    facts.class == RECEIPT_RESULT, "a sale is not hidden");
	}
	if (facts.class == RECEIPT_SUBMITTED)
		fuzz_expect(facts.request_id != NULL && *facts.request_id !=
		    '\0', "an id");
	if (facts.class == RECEIPT_RESULT)
		fuzz_expect(facts.result != NULL, "a result");
	receipt_facts_done(&facts);
	return 0;
}
