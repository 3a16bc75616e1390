/*
 * check_outcome.c - what a paid request came to: every libcurl code, every
 * gate count, every verdict of the provider's file.
 *
 * The expectation is written a second time, as the promise reads: without the
 * gate's word nothing is "unsent"; whatever is not whole and listed is
 * unknown.
 */
#include <stdio.h>
#include <string.h>

#include <curl/curl.h>

#include "tests/unit/suite.h"
#include "worker/outcome.h"

static const enum outcome_class verdict_wants[SUBMIT_CLASS_MAX] = {
	[SUBMIT_ACCEPTED] = OUTCOME_ACCEPTED,
	[SUBMIT_RESULT] = OUTCOME_RESULT,
	[SUBMIT_REJECTED] = OUTCOME_REJECTED,
	[SUBMIT_THROTTLED] = OUTCOME_THROTTLED,
	[SUBMIT_ACCOUNT] = OUTCOME_ACCOUNT,
	[SUBMIT_DUPLICATE] = OUTCOME_DUPLICATE,
	[SUBMIT_UNKNOWN] = OUTCOME_UNKNOWN,
};

static enum outcome_class
expected(const struct outcome_facts *f)
{
	if (f->gate_count == 0)
		return f->code == CURLE_OK || f->status != 0 ?
		    OUTCOME_UNKNOWN : OUTCOME_UNSENT;
	if (!f->is_passed)
		return OUTCOME_UNSENT;
	if (f->gate_count > 1 || f->code != CURLE_OK || f->status == 0 ||
	    !f->has_verdict)
		return OUTCOME_UNKNOWN;
	if (f->verdict == SUBMIT_ACCEPTED && !f->has_id)
		return OUTCOME_UNKNOWN;
	if (f->verdict == SUBMIT_DUPLICATE && f->has_id)
		return OUTCOME_ACCEPTED;
	return verdict_wants[f->verdict];
}

START_TEST(test_whole_table)
{
	struct outcome_facts f;
	struct outcome o;
	unsigned int row = 0, bits = 0;

	memset(&f, 0, sizeof(f));
	f.code = _i;
	for (row = 0; row < 3u * SUBMIT_CLASS_MAX * 3; row++) {
		f.gate_count = row % 3;
		f.verdict = (enum submit_class)(row / 3 % SUBMIT_CLASS_MAX);
		f.status = (int[]){ 0, 200, 503 }[row / 3 / SUBMIT_CLASS_MAX];
		for (bits = 0; bits < 16; bits++) {
			f.is_passed = (bits & 1) != 0 && f.gate_count > 0;
			f.has_verdict = (bits & 2) != 0;
			f.has_id = (bits & 4) != 0;
			f.is_too_big = (bits & 8) != 0;
			outcome_decide(&f, &o);
			ck_assert_msg(o.class == expected(&f),
			    "curl %d gate %u passed %d http %d verdict %d/%d "
			    "id %d: %s", f.code, f.gate_count, f.is_passed,
			    f.status, f.has_verdict, f.verdict, f.has_id,
			    outcome_name(o.class));
			/* a machine word wherever somebody has to decide */
			ck_assert_int_eq(o.reason[0] == '\0',
			    o.class == OUTCOME_ACCEPTED ||
			    o.class == OUTCOME_RESULT);
			if (o.class != OUTCOME_UNKNOWN)
				ck_assert(!o.is_provider);
		}
	}
}
END_TEST

static const struct {
	int		 code;
	unsigned int	 gate;
	bool		 passed;
	int		 status;
	bool		 judged;
	enum submit_class verdict;
	bool		 id;
	bool		 big;
	const char	*why;
	const char	*want;
	bool		 provider;
} words[] = {
	{ CURLE_COULDNT_RESOLVE_HOST, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent resolve_failed", false },
	{ CURLE_COULDNT_CONNECT, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent connect_failed", false },
	{ CURLE_OPERATION_TIMEDOUT, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent connect_timeout", false },
	{ CURLE_SSL_CONNECT_ERROR, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent tls_failed", false },
	{ CURLE_PEER_FAILED_VERIFICATION, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent tls_failed", false },
	{ CURLE_OUT_OF_MEMORY, 0, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent not_sent", false },
	{ CURLE_ABORTED_BY_CALLBACK, 1, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, "mark_lost", "unsent mark_lost", false },
	{ CURLE_ABORTED_BY_CALLBACK, 1, false, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unsent gate_refused", false },
	/* libcurl's hidden second POST, stopped at the gate */
	{ CURLE_ABORTED_BY_CALLBACK, 2, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown no_answer", true },
	{ CURLE_GOT_NOTHING, 1, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown no_answer", true },
	{ CURLE_SEND_ERROR, 1, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown no_answer", true },
	{ CURLE_RECV_ERROR, 1, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown no_answer", true },
	{ CURLE_OPERATION_TIMEDOUT, 1, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown timeout", true },
	{ CURLE_OPERATION_TIMEDOUT, 1, true, 200, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown timeout", true },
	{ CURLE_PARTIAL_FILE, 1, true, 200, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown broken_answer", true },
	{ CURLE_WEIRD_SERVER_REPLY, 1, true, 0, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown broken_answer", true },
	{ CURLE_WRITE_ERROR, 1, true, 200, false, SUBMIT_UNKNOWN,
	    false, true, NULL, "unknown answer_too_big", true },
	{ CURLE_OK, 1, true, 200, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown answer_not_judged", false },
	{ CURLE_OUT_OF_MEMORY, 1, true, 200, false, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown answer_not_judged", false },
	{ CURLE_OK, 0, false, 200, true, SUBMIT_ACCEPTED,
	    true, false, NULL, "unknown gate_missed", false },
	{ CURLE_OK, 1, true, 200, true, SUBMIT_ACCEPTED,
	    true, false, NULL, "accepted ", false },
	{ CURLE_OK, 1, true, 200, true, SUBMIT_ACCEPTED,
	    false, false, NULL, "unknown accepted_without_id", true },
	{ CURLE_OK, 1, true, 409, true, SUBMIT_DUPLICATE,
	    true, false, NULL, "accepted ", false },
	{ CURLE_OK, 1, true, 409, true, SUBMIT_DUPLICATE,
	    false, false, NULL, "duplicate duplicate", false },
	{ CURLE_OK, 1, true, 503, true, SUBMIT_UNKNOWN,
	    false, false, NULL, "unknown http_503", true },
	{ CURLE_OK, 1, true, 503, true, SUBMIT_UNKNOWN,
	    false, false, "http_503", "unknown http_503", true },
	{ CURLE_OK, 1, true, 422, true, SUBMIT_REJECTED,
	    false, false, NULL, "rejected rejected", false },
	{ CURLE_OK, 1, true, 422, true, SUBMIT_REJECTED,
	    false, false, "http_422", "rejected http_422", false },
	{ CURLE_OK, 1, true, 429, true, SUBMIT_THROTTLED,
	    false, false, NULL, "throttled throttled", false },
	{ CURLE_OK, 1, true, 401, true, SUBMIT_ACCOUNT,
	    false, false, NULL, "account account", false },
	{ CURLE_OK, 1, true, 200, true, SUBMIT_RESULT,
	    false, false, NULL, "result ", false },
};

START_TEST(test_words)
{
	const struct outcome_facts f = {
		.code = words[_i].code,
		.gate_count = words[_i].gate,
		.is_passed = words[_i].passed,
		.status = words[_i].status,
		.has_verdict = words[_i].judged,
		.verdict = words[_i].verdict,
		.has_id = words[_i].id,
		.is_too_big = words[_i].big,
		.why = words[_i].why,
	};
	struct outcome o;
	char got[128];

	outcome_decide(&f, &o);
	(void)snprintf(got, sizeof(got), "%s %s", outcome_name(o.class),
	    o.reason);
	ck_assert_str_eq(got, words[_i].want);
	ck_assert_int_eq(o.is_provider, words[_i].provider);
}
END_TEST

START_TEST(test_long_reason)
{
	char why[200];
	struct outcome_facts f;
	struct outcome o;

	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	memset(&f, 0, sizeof(f));
	f.code = CURLE_ABORTED_BY_CALLBACK;
	f.gate_count = 1;
	f.why = why;
	outcome_decide(&f, &o);
	ck_assert_int_eq(o.class, OUTCOME_UNSENT);
	ck_assert_uint_eq(strlen(o.reason), sizeof(o.reason) - 1);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("outcome");
	TCase *tc = tcase_create("outcome");

	tcase_add_loop_test(tc, test_whole_table, 0, CURL_LAST);
	tcase_add_loop_test(tc, test_words, 0,
	    (int)(sizeof(words) / sizeof(words[0])));
	tcase_add_test(tc, test_long_reason);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
