/*
 * mock_words.c - the words of a script, and what stands behind them.
 *
 * A word that ends in a colon takes what follows it: "status:503".
 */
#include <ctype.h>
#include <string.h>

#include "tests/provider/mock.h"

static const char *const words_submits[SUBMIT_HOW_MAX] = {
	[SUBMIT_OK] = "ok",
	[SUBMIT_DROP_BEFORE_READ] = "drop_before_read",
	[SUBMIT_DROP_AFTER_READ] = "drop_after_read",
	[SUBMIT_DROP_MID_ANSWER] = "drop_mid_answer",
	[SUBMIT_HANG] = "hang",
	[SUBMIT_STATUS] = "status:",
	[SUBMIT_REDIRECT] = "redirect:",
	[SUBMIT_GARBAGE] = "garbage",
	[SUBMIT_EMPTY] = "empty",
	[SUBMIT_NO_ID] = "no_id",
	[SUBMIT_ERROR_200] = "error_200",
	[SUBMIT_HTML_200] = "html_200",
	[SUBMIT_DRIP] = "drip",
	[SUBMIT_CLOSE_IDLE] = "close_idle",
	[SUBMIT_TWICE] = "twice",
	[SUBMIT_FOREIGN_URL] = "foreign_url"
};

static const char *const words_answers[ANSWER_HOW_MAX] = {
	[ANSWER_OK] = "ok",
	[ANSWER_PENDING] = "pending",
	[ANSWER_STATUS] = "status:",
	[ANSWER_GARBAGE] = "garbage",
	[ANSWER_EMPTY] = "empty",
	[ANSWER_DROP] = "drop",
	[ANSWER_DROP_MID] = "drop_mid",
	[ANSWER_HANG] = "hang",
	[ANSWER_WORD] = "word:",
	[ANSWER_FOREIGN_URL] = "foreign_url"
};

static const char *const words_ends[] = {
	[END_DONE] = "done",
	[END_FAILED] = "failed",
	[END_CANCELED] = "canceled",
	[END_DONE_ERROR] = "done_error",
	[END_DONE_422] = "done_422",
	[END_DONE_NOTHING] = "done_nothing",
	[END_RESULT_GONE] = "result_gone"
};

static const char *const words_cases[] = {
	[CASE_AS_IS] = "as_is",
	[CASE_LOWER] = "lower",
	[CASE_UPPER] = "upper",
	[CASE_MIXED] = "mixed"
};

static const char *const words_kinds[] = {
	[ARTIFACT_BY_MODEL] = "by_model",
	[ARTIFACT_IMAGE] = "image",
	[ARTIFACT_SOUND] = "sound",
	[ARTIFACT_CLIP] = "clip",
	[ARTIFACT_NONE] = "none"
};

static const char *const words_faults[] = {
	[FAULT_NONE] = "fine",
	[FAULT_HUGE] = "huge:",
	[FAULT_GONE] = "gone",
	[FAULT_GONE_ONCE] = "gone_once",
	[FAULT_REDIRECT_FOREIGN] = "redirect_foreign",
	[FAULT_FOREIGN] = "foreign",
	[FAULT_DRIP] = "drip"
};

static const struct {
	const char *const	*words;
	size_t			 count;
} words_lists[] = {
	[WORDS_SUBMIT] = { words_submits, SUBMIT_HOW_MAX },
	[WORDS_ANSWER] = { words_answers, ANSWER_HOW_MAX },
	[WORDS_END] = { words_ends, END_HOW_MAX },
	[WORDS_CASE] = { words_cases, CASE_MIXED + 1 },
	[WORDS_KIND] = { words_kinds, ARTIFACT_NONE + 1 },
	[WORDS_FAULT] = { words_faults, FAULT_DRIP + 1 }
};

/* words_find() returns the index of the word, or -1. */
int
words_find(enum word_list list, const char *text, const char **ret_rest)
{
	const char *const *words = words_lists[list].words;
	size_t i, len;

	for (i = 0; i < words_lists[list].count; i++) {
		len = strlen(words[i]);
		if (words[i][len - 1] == ':') {
			if (strncmp(text, words[i], len) == 0) {
				*ret_rest = text + len;
				return (int)i;
			}
		} else if (strcmp(text, words[i]) == 0) {
			*ret_rest = text + len;
			return (int)i;
		}
	}
	return -1;
}

const char *
words_name(enum word_list list, int which)
{
	return words_lists[list].words[which];
}

/* words_put_case() copies a status word in the case that the script wants. */
const char *
words_put_case(enum word_case how, const char *word, char *ret, size_t cap)
{
	size_t i;

	for (i = 0; i + 1 < cap && word[i] != '\0'; i++) {
		if (how == CASE_LOWER || (how == CASE_MIXED && i > 0))
			ret[i] = (char)tolower((unsigned char)word[i]);
		else if (how == CASE_UPPER || how == CASE_MIXED)
			ret[i] = (char)toupper((unsigned char)word[i]);
		else
			ret[i] = word[i];
	}
	ret[i] = '\0';
	return ret;
}
