/*
 * mock_script.c - what a task told the mock to do to it.
 *
 * Reads the member "mock" of a task's input.  An unknown word is an error
 * that the caller answers with: a test must never pass because its script
 * was misspelled and ignored.
 */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "tests/provider/mock.h"

#define SCRIPT_ANSWERS_MAX	1000
#define SCRIPT_MS_MAX		(24 * 3600 * 1000)
#define SCRIPT_COUNT_MAX	16

static const struct script script_default = {
	.bill = -1, .latency_ms = -1, .drip_ms = 1000, .count = 1
};

const struct script *
script_of(const struct row *row)
{
	return row->script != NULL ? row->script : &script_default;
}

static int
script_parse_status(const char *text, int *ret)
{
	int64_t status;

	if (num_parse_i64(text, 200, 599, &status) != 0)
		return PO_EINVAL;
	*ret = (int)status;
	return 0;
}

static int
script_set_submit(struct script *script, const char *text)
{
	const char *rest;
	int how;

	how = words_find(WORDS_SUBMIT, text, &rest);
	if (how == -1)
		return PO_EINVAL;
	script->submit = (enum submit_how)how;
	if (how == SUBMIT_STATUS || how == SUBMIT_REDIRECT)
		return script_parse_status(rest, &script->status);
	return 0;
}

static int
script_set_artifact(struct script *script, const char *text)
{
	const char *rest;
	int which;

	which = words_find(WORDS_KIND, text, &rest);
	if (which != -1) {
		script->artifact = (enum artifact_kind)which;
		return 0;
	}
	which = words_find(WORDS_FAULT, text, &rest);
	if (which == -1)
		return PO_EINVAL;
	script->fault = (enum artifact_fault)which;
	if (which == FAULT_HUGE)
		return num_parse_u64(rest, (uint64_t)1 << 40,
		    &script->huge_len);
	return 0;
}

static int
script_set_word(enum word_list list, const char *text, int *ret)
{
	const char *rest;
	int which;

	which = words_find(list, text, &rest);
	if (which == -1)
		return PO_EINVAL;
	*ret = which;
	return 0;
}

/* A price is what JSON takes as a number as well, and never negative. */
static int
script_set_price(struct script *script, const char *text)
{
	if (num_decimal_check(text) != 0 || !isdigit((unsigned char)text[0]) ||
	    (text[0] == '0' && text[1] != '.' && text[1] != '\0') ||
	    strlen(text) >= sizeof(script->price))
		return PO_EINVAL;
	memcpy(script->price, text, strlen(text) + 1);
	return 0;
}

static int
script_set_text(char *ret, size_t cap, const char *text)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++) {
		if (i + 1 >= cap || (unsigned char)text[i] < 0x20 ||
		    text[i] == '"' || text[i] == '\\')
			return PO_EINVAL;
		ret[i] = text[i];
	}
	ret[i] = '\0';
	return 0;
}

static int
script_set_answers(struct answers *answers, struct json_object *value)
{
	struct answer *answer;
	const char *text, *rest;
	size_t i, len;
	int how;

	if (!json_object_is_type(value, json_type_array) ||
	    answers->list != NULL)
		return PO_EINVAL;
	len = json_object_array_length(value);
	if (len == 0)
		return 0;
	if (len > SCRIPT_ANSWERS_MAX)
		return PO_ERANGE;
	answers->list = mem_array(len, sizeof(*answers->list));
	if (answers->list == NULL)
		return PO_ENOMEM;
	answers->count = len;
	for (i = 0; i < len; i++) {
		answer = &answers->list[i];
		text = json_object_get_string(
		    json_object_array_get_idx(value, i));
		if (text == NULL || (how = words_find(WORDS_ANSWER, text,
		    &rest)) == -1)
			return PO_EINVAL;
		answer->how = (enum answer_how)how;
		if (how == ANSWER_STATUS &&
		    script_parse_status(rest, &answer->status) != 0)
			return PO_EINVAL;
		if (how == ANSWER_WORD && script_set_text(answer->word,
		    sizeof(answer->word), rest) != 0)
			return PO_EINVAL;
	}
	return 0;
}

static int
script_set_number(struct json_object *value, int64_t max, int64_t *ret)
{
	int64_t number;

	if (!json_object_is_type(value, json_type_int))
		return PO_EINVAL;
	number = json_object_get_int64(value);
	if (number < 0 || number > max)
		return PO_ERANGE;
	*ret = number;
	return 0;
}

static int
script_set_bool(struct json_object *value, bool *ret)
{
	if (!json_object_is_type(value, json_type_boolean))
		return PO_EINVAL;
	*ret = json_object_get_boolean(value);
	return 0;
}

/* Members that are lists, numbers or truth values; PO_ENOENT: none of them. */
static int
script_set_typed(struct script *script, const char *name,
    struct json_object *value)
{
	bool is_set = false;
	int64_t number = 0;
	int rc;

	if (strcmp(name, "poll") == 0)
		return script_set_answers(&script->polls, value);
	if (strcmp(name, "result") == 0)
		return script_set_answers(&script->results, value);
	if (strcmp(name, "download") == 0)
		return script_set_answers(&script->downloads, value);
	if (strcmp(name, "once") == 0)
		return script_set_bool(value, &script->is_once);
	if (strcmp(name, "never") == 0)
		return script_set_bool(value, &script->is_never);
	if (strcmp(name, "delay_ms") == 0)
		return script_set_number(value, SCRIPT_MS_MAX,
		    &script->delay_ms);
	if (strcmp(name, "latency_ms") == 0)
		return script_set_number(value, SCRIPT_MS_MAX,
		    &script->latency_ms);
	if (strcmp(name, "artifact_delay_ms") == 0)
		return script_set_number(value, SCRIPT_MS_MAX,
		    &script->artifact_delay_ms);
	if (strcmp(name, "drip_ms") == 0)
		return script_set_number(value, SCRIPT_MS_MAX,
		    &script->drip_ms);
	if (strcmp(name, "bill") == 0) {
		rc = script_set_bool(value, &is_set);
		script->bill = is_set;
		return rc;
	}
	if (strcmp(name, "count") == 0) {
		rc = script_set_number(value, SCRIPT_COUNT_MAX, &number);
		script->count = (int)number;
		return rc;
	}
	return PO_ENOENT;
}

static int
script_set(struct script *script, const char *name,
    struct json_object *value)
{
	const char *text;
	int rc, which = 0;

	rc = script_set_typed(script, name, value);
	if (rc != PO_ENOENT)
		return rc;
	text = json_object_get_string(value);	/* numbers as their text */
	if (text == NULL)
		return PO_EINVAL;
	if (strcmp(name, "submit") == 0)
		return script_set_submit(script, text);
	if (strcmp(name, "artifact") == 0)
		return script_set_artifact(script, text);
	if (strcmp(name, "price") == 0)
		return script_set_price(script, text);
	if (strcmp(name, "retry_after") == 0)
		return script_set_text(script->retry_after,
		    sizeof(script->retry_after), text);
	if (strcmp(name, "end") == 0) {
		rc = script_set_word(WORDS_END, text, &which);
		script->end = (enum end_how)which;
		return rc;
	}
	if (strcmp(name, "case") == 0) {
		rc = script_set_word(WORDS_CASE, text, &which);
		script->word_case = (enum word_case)which;
		return rc;
	}
	return PO_EINVAL;
}

/* script_parse() returns NULL with the reason in error. */
struct script *
script_parse(struct json_object *object, char *error, size_t cap)
{
	struct script *script;
	struct json_object_iterator at, end;
	const char *name;

	if (!json_object_is_type(object, json_type_object) ||
	    (script = mem_alloc(sizeof(*script))) == NULL) {
		(void)snprintf(error, cap, "mock is no object");
		return NULL;
	}
	*script = script_default;
	at = json_object_iter_begin(object);
	end = json_object_iter_end(object);
	while (!json_object_iter_equal(&at, &end)) {
		name = json_object_iter_peek_name(&at);
		if (script_set(script, name,
		    json_object_iter_peek_value(&at)) != 0) {
			/* Cut short is good enough for a person. */
			(void)snprintf(error, cap,
			    "mock script: member %.40s is unknown or wrong",
			    name);
			script_free(&script);
			return NULL;
		}
		json_object_iter_next(&at);
	}
	return script;
}

void
script_free(struct script **script)
{
	if (*script == NULL)
		return;
	mem_free((*script)->polls.list);
	mem_free((*script)->results.list);
	mem_free((*script)->downloads.list);
	mem_free(*script);
	*script = NULL;
}
