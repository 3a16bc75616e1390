/*
 * check_cli.c - the payonce command's pure parts: words, tables, options.
 *
 * cli_fail() and cli_usage() are this program's own, so that a test sees
 * what would have been said.
 */
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "cli/cli.h"
#include "cli/story.h"
#include "common/exitcodes.h"
#include "common/mem.h"

static char	 said[1024];

void
cli_fail(const struct cli *cli, const char *next, const char *fmt, ...)
{
	va_list	 ap;

	(void)cli;
	(void)next;
	va_start(ap, fmt);
	(void)vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

int
cli_usage(const struct cli *cli, const char *fmt, ...)
{
	va_list	 ap;

	(void)cli;
	va_start(ap, fmt);
	(void)vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
	return EXIT_CODE_USAGE;
}

/* What a table prints for a terminal of that width (0: a pipe). */
static char *
printed(const struct table *t, int width, bool has_utf8, bool has_colour)
{
	struct cli	 cli = { .width = width, .has_utf8 = has_utf8,
	    .has_colour = has_colour };
	char		*text = NULL;
	size_t		 len = 0;
	FILE		*f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(table_print(t, &cli, f), 0);
	ck_assert_int_eq(fclose(f), 0);
	return text;
}

static struct table *
sample(void)
{
	struct table	*t = table_new();

	table_column(t, "ID", COLUMN_RIGHT);
	table_column(t, "KIND", 0);
	table_column(t, "WHAT", COLUMN_SHRINK);
	table_cell(t, COLOUR_NONE, "7");
	table_cell(t, COLOUR_GREEN, "image");
	table_cell(t, COLOUR_NONE, "a rather long sentence about it");
	table_cell(t, COLOUR_NONE, "1234");
	table_cell(t, COLOUR_NONE, "clip");
	table_cell(t, COLOUR_NONE, NULL);
	return t;
}

START_TEST(table_is_aligned_in_a_pipe)
{
	struct table	*t = sample();
	char		*s = printed(t, 0, true, false);

	ck_assert_str_eq(s,
	    "  ID  KIND   WHAT\n"
	    "   7  image  a rather long sentence about it\n"
	    "1234  clip\n");
	ck_assert_uint_eq(table_rows(t), 2);
	free(s);
	table_free(&t);
	ck_assert_ptr_null(t);
}
END_TEST

START_TEST(table_fits_the_terminal)
{
	struct table	*t = sample();
	char		*s = printed(t, 28, true, false);

	ck_assert_str_eq(s,
	    "  ID  KIND   WHAT\n"
	    "   7  image  a rather long\xe2\x80\xa6\n"
	    "1234  clip\n");
	free(s);
	s = printed(t, 28, false, false);
	ck_assert_str_eq(s,
	    "  ID  KIND   WHAT\n"
	    "   7  image  a rather long..\n"
	    "1234  clip\n");
	free(s);
	table_free(&t);
}
END_TEST

START_TEST(table_has_colour_only_when_asked)
{
	struct table	*t = sample();
	char		*s = printed(t, 0, true, true);

	ck_assert_ptr_nonnull(strstr(s, "\033[32mimage\033[0m"));
	free(s);
	s = printed(t, 0, true, false);
	ck_assert_ptr_null(strchr(s, '\033'));
	free(s);
	table_free(&t);
}
END_TEST

START_TEST(table_counts_columns_not_bytes)
{
	struct table	*t = table_new();
	char		*s;

	table_column(t, "A", 0);
	table_column(t, "B", 0);
	table_cell(t, COLOUR_NONE, "f\xc3\xbc" "chse");	/* u umlaut */
	table_cell(t, COLOUR_NONE, "x");
	table_cell(t, COLOUR_NONE, "\xe7\x8b\x90");	/* a wide letter */
	table_cell(t, COLOUR_NONE, "y");
	s = printed(t, 0, true, false);
	ck_assert_str_eq(s, "A       B\n"
	    "f\xc3\xbc" "chse  x\n"
	    "\xe7\x8b\x90      y\n");
	free(s);
	table_free(&t);
}
END_TEST

START_TEST(text_has_no_escape_sequences)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "plain", "plain" },
		{ "a\033[2Jb", "a?[2Jb" },
		{ "two\nlines\tand", "two lines and" },
		{ "\xc2\x9b" "2J", "?2J" },	/* C1 control */
		{ "bad\xff", "bad?" },
		{ "\xe2\x80\xae" "txt.exe", "?txt.exe" },	/* override */
		{ "", "" },
	};
	size_t	 i;
	char	*s;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = term_clean(cases[i].in);
		ck_assert_str_eq(s, cases[i].out);
		mem_free(s);
	}
}
END_TEST

START_TEST(text_wraps_at_words)
{
	struct cli	 cli = { .width = 20 };
	char		*text = NULL;
	size_t		 len = 0;
	FILE		*f = open_memstream(&text, &len);

	term_wrap(&cli, f, "why: ", "     ", "one two three four five");
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(text,
	    "why: one two three\n"
	    "     four five\n");
	free(text);
}
END_TEST

START_TEST(times_are_words)
{
	static const struct { int64_t s; const char *ago; } cases[] = {
		{ 0, "now" }, { 1, "1 s ago" }, { 119, "119 s ago" },
		{ 120, "2 min ago" }, { 7199, "119 min ago" },
		{ 7200, "2 h ago" }, { 172799, "47 h ago" },
		{ 172800, "2 days ago" }, { -5, "in 5 s" },
		{ -600, "in 10 min" },
	};
	char	 text[32];
	size_t	 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		words_ago(cases[i].s, text, sizeof(text));
		ck_assert_str_eq(text, cases[i].ago);
	}
	words_span(-3, text, sizeof(text));
	ck_assert_str_eq(text, "0 s");
}
END_TEST

START_TEST(money_is_exact)
{
	static const struct { const char *amount, *currency, *out; } cases[] = {
		{ "0.03", "USD", "$0.03" }, { "0.0300", "USD", "$0.03" },
		{ "3", "USD", "$3.00" }, { "2.5", NULL, "$2.50" },
		{ "0.00001230", "USD", "$0.0000123" },
		{ "100.00", "EUR", "100.00 EUR" },
		{ "0", "USD", "$0.00" }, { "", "USD", "" },
		{ NULL, "USD", "" },
	};
	char	 text[64];
	size_t	 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		words_money(cases[i].amount, cases[i].currency, text,
		    sizeof(text));
		ck_assert_str_eq(text, cases[i].out);
	}
}
END_TEST

START_TEST(statuses_have_two_names)
{
	ck_assert_str_eq(words_status("OUTCOME_UNKNOWN"), "parked");
	ck_assert_str_eq(words_status("SUCCEEDED"), "succeeded");
	ck_assert_str_eq(words_status("NEW_ONE"), "NEW_ONE");
	ck_assert_str_eq(words_status_parse("parked"), "OUTCOME_UNKNOWN");
	ck_assert_str_eq(words_status_parse("Outcome_Unknown"),
	    "OUTCOME_UNKNOWN");
	ck_assert_str_eq(words_status_parse("PENDING"), "PENDING");
	ck_assert_ptr_null(words_status_parse("penning"));
	ck_assert(words_is_ended("OUTCOME_UNKNOWN"));
	ck_assert(words_is_ended("CANCELED"));
	ck_assert(!words_is_ended("WAITING"));
	ck_assert(!words_is_ended("SUBMITTED"));
}
END_TEST

START_TEST(words_survive_a_shell)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "/etc/payonce.conf", "/etc/payonce.conf" },
		{ "host=/run dbname=x", "'host=/run dbname=x'" },
		{ "it's", "'it'\\''s'" }, { "$(id)", "'$(id)'" },
		{ "", "''" },
	};
	size_t	 i;
	char	*s;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = words_quote(cases[i].in);
		ck_assert_str_eq(s, cases[i].out);
		mem_free(s);
	}
}
END_TEST

START_TEST(nearest_word_is_found)
{
	static const char *const	 names[] = { "list", "show", "parked",
	    "resolve", "status" };
	static const struct { const char *word, *near; } cases[] = {
		{ "lsit", "list" }, { "stat", "status" },
		{ "resovle", "resolve" }, { "park", "parked" },
		{ "shwo", "show" }, { "zebra", NULL }, { "x", NULL },
	};
	const char	*near;
	size_t		 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		near = opts_nearest(cases[i].word, names, 5);
		if (cases[i].near == NULL)
			ck_assert_ptr_null(near);
		else
			ck_assert_str_eq(near, cases[i].near);
	}
}
END_TEST

/* Runs opts_parse() over a line of words. */
static int
parse(char **argv, int argc, const char **value, bool *flag)
{
	static const struct verb	 verb = { "test", NULL, "", "" };
	struct cli			 cli = { .verb = &verb };
	const struct opt		 opts[] = {
		{ "limit", value, NULL }, { "wait", NULL, flag },
	};

	said[0] = '\0';
	*value = NULL;
	*flag = false;
	return opts_parse(&cli, argc, argv, opts, 2, 1, 2);
}

START_TEST(options_stand_anywhere)
{
	char		 limit[] = "--limit", five[] = "5", a[] = "a";
	char		 wait[] = "--wait", dash[] = "-";
	char		*argv[] = { limit, five, a, wait, dash };
	const char	*value;
	bool		 flag;

	ck_assert_int_eq(parse(argv, 5, &value, &flag), 2);
	ck_assert_str_eq(value, "5");
	ck_assert(flag);
	ck_assert_str_eq(argv[0], "a");
	ck_assert_str_eq(argv[1], "-");
}
END_TEST

START_TEST(options_wrong_are_named)
{
	static const struct { const char *word, *says; } cases[] = {
		{ "--limti", "there is no option --limti; did you mean "
		    "--limit?" },
		{ "--wait=1", "--wait takes no value" },
		{ "--limit", "--limit needs a value" },
		{ "-x", "there is no option -x (-c and -d stand before the "
		    "verb)" },
	};
	char		 a[] = "a", word[32], end[] = "--";
	char		*argv[2];
	const char	*value;
	bool		 flag;
	size_t		 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		argv[0] = a;
		argv[1] = word;
		(void)snprintf(word, sizeof(word), "%s", cases[i].word);
		ck_assert_int_eq(parse(argv, 2, &value, &flag), -1);
		ck_assert_str_eq(said, cases[i].says);
	}
	argv[0] = word;
	argv[1] = end;
	(void)snprintf(word, sizeof(word), "--limit=3");
	ck_assert_int_eq(parse(argv, 2, &value, &flag), -1);
	ck_assert_str_eq(said, "a word is missing");
	ck_assert_str_eq(value, "3");
}
END_TEST

START_TEST(story_knows_every_edge)
{
	static const struct { const char *from, *to; } edges[] = {
		{ NULL, "PENDING" }, { NULL, "WAITING" },
		{ "WAITING", "PENDING" }, { "WAITING", "CANCELED" },
		{ "PENDING", "RUNNING" }, { "PENDING", "CANCELED" },
		{ "RUNNING", "PENDING" }, { "RUNNING", "SUBMITTED" },
		{ "RUNNING", "SUCCEEDED" }, { "RUNNING", "FAILED" },
		{ "RUNNING", "CANCELED" }, { "RUNNING", "OUTCOME_UNKNOWN" },
		{ "SUBMITTED", "SUCCEEDED" }, { "SUBMITTED", "FAILED" },
		{ "SUBMITTED", "OUTCOME_UNKNOWN" },
		{ "OUTCOME_UNKNOWN", "SUBMITTED" },
		{ "OUTCOME_UNKNOWN", "PENDING" },
		{ "OUTCOME_UNKNOWN", "FAILED" },
		{ "OUTCOME_UNKNOWN", "SUCCEEDED" },
	};
	size_t	 i;

	for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		ck_assert_msg(strlen(story_sentence(edges[i].from,
		    edges[i].to, NULL)) > strlen(words_status(edges[i].to)) ||
		    strcmp(edges[i].to, "FAILED") == 0,
		    "no sentence for %s -> %s", edges[i].from, edges[i].to);
	/* a reason that says more wins over the edge */
	ck_assert_str_eq(story_sentence("RUNNING", "RUNNING", "marked"),
	    "about to send: from here on it may be billed");
	ck_assert_str_eq(story_sentence("SUCCEEDED", "PENDING", NULL),
	    "pending");
	ck_assert(!story_is_worth_saying("claimed"));
	ck_assert(!story_is_worth_saying("resolved_adopt"));
	ck_assert(story_is_worth_saying("poll_deadline"));
}
END_TEST

/* The words that workers and provider files end an attempt with. */
START_TEST(reason_has_a_sentence)
{
	static const char *const	 words[] = { "accepted_without_id",
		    "answer_too_big", "bad_input", "bad_output",
		    "connect_failed", "connect_timeout", "deadman_failed",
		    "ended_with_nothing", "foreign_poll_url", "gate_refused",
		    "http_503", "lease_lost", "lookup_failed", "mark_lost",
		    "mark_refused", "mark_timeout", "max_requeues",
		    "no_memory", "not_json", "not_sent", "orphaned",
		    "output_too_big", "parent_failed", "poll_deadline",
		    "provider_canceled", "provider_failed", "provider_gone",
		    "receipt_exists", "receipt_unwritable", "resolve_failed",
		    "result_too_large", "timeout", "tls_failed" };
	size_t				 i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_msg(words_reason("PENDING", words[i]) != NULL,
		    "no sentence for %s", words[i]);
	ck_assert_ptr_nonnull(strstr(words_reason("PENDING",
	    "receipt_unwritable"), "make room in state_dir/receipts"));
	ck_assert_ptr_null(words_reason("PENDING", "no_such_word"));
}
END_TEST

int
main(void)
{
	Suite	*s = suite_create("cli");
	TCase	*tc = tcase_create("all");
	SRunner	*sr;
	int	 failed;

	/* widths are those of a UTF-8 terminal, whatever the tester has */
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return 77;
	tcase_add_test(tc, table_is_aligned_in_a_pipe);
	tcase_add_test(tc, table_fits_the_terminal);
	tcase_add_test(tc, table_has_colour_only_when_asked);
	tcase_add_test(tc, table_counts_columns_not_bytes);
	tcase_add_test(tc, text_has_no_escape_sequences);
	tcase_add_test(tc, text_wraps_at_words);
	tcase_add_test(tc, times_are_words);
	tcase_add_test(tc, money_is_exact);
	tcase_add_test(tc, statuses_have_two_names);
	tcase_add_test(tc, words_survive_a_shell);
	tcase_add_test(tc, nearest_word_is_found);
	tcase_add_test(tc, options_stand_anywhere);
	tcase_add_test(tc, options_wrong_are_named);
	tcase_add_test(tc, story_knows_every_edge);
	tcase_add_test(tc, reason_has_a_sentence);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
