/*
 * receipt_line.c - the lines of a receipt: written, read, and what they mean
 * together.
 *
 * Owns the format (version 1).  Touches no file.  Writing puts text into a
 * buffer by itself, so that running out of memory is seen; reading is
 * json-c's, strict.
 */
#include <json-c/json.h>

#include <limits.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/receipt_file.h"
#include "common/text.h"

#define RECEIPT_DEPTH	4	/* our lines are flat objects */

static const char *const receipt_names[RECEIPT_CLASS_MAX] = {
	[RECEIPT_INTENT] = "intent",
	[RECEIPT_UNSENT] = "unsent",
	[RECEIPT_SUBMITTED] = "submitted",
	[RECEIPT_RESULT] = "result",
	[RECEIPT_REJECTED] = "rejected",
	[RECEIPT_THROTTLED] = "throttled",
	[RECEIPT_ACCOUNT] = "account",
	[RECEIPT_UNKNOWN] = "unknown",
};

/* The text members by line, in the order in which a person reads them. */
struct receipt_member {
	const char	*name;
	size_t		 offset;	/* of the char * in receipt_facts */
};

#define MEMBER(f)	{ #f, offsetof(struct receipt_facts, f) }

static const struct receipt_member receipt_intent_members[] = {
	MEMBER(own_id),
	MEMBER(kind),
	MEMBER(provider),
	{ "system", offsetof(struct receipt_facts, system_id) },
	MEMBER(host),
	{ NULL, 0 }
};

static const struct receipt_member receipt_outcome_members[] = {
	MEMBER(request_id),
	MEMBER(poll_url),
	MEMBER(result_url),
	MEMBER(cancel_url),
	MEMBER(result),
	MEMBER(cost),
	MEMBER(currency),
	MEMBER(reason),
	MEMBER(detail),
	{ NULL, 0 }
};

static int	receipt_put_members(struct buf *,
		    const struct receipt_member *,
		    const struct receipt_facts *);
static int	receipt_put_string(struct buf *, const char *, size_t);
static int	receipt_put_end(struct buf *);
static int	receipt_read_line(struct json_tokener *, const char *, size_t,
		    struct receipt_facts *, bool is_first, bool *ret_is_intent);
static int	receipt_read_intent(struct json_object *,
		    struct receipt_facts *);
static int	receipt_read_outcome(struct json_object *,
		    struct receipt_facts *);
static int	receipt_read_members(struct json_object *,
		    const struct receipt_member *, struct receipt_facts *);
static int	receipt_read_number(struct json_object *, const char *,
		    int64_t min, int64_t max, int64_t *ret);
static void	receipt_follow(struct receipt_trail *, bool is_intent,
		    const struct receipt_facts *,
		    const struct receipt_facts *here);
static bool	receipt_is_complete(const struct receipt_facts *);

/* cast away const: who writes through it owns the facts */
static char **
receipt_member_at(const struct receipt_facts *f,
    const struct receipt_member *m)
{
	return (char **)((uintptr_t)f + m->offset);
}

const char *
receipt_class_name(enum receipt_class class)
{
	return (unsigned int)class < RECEIPT_CLASS_MAX ?
	    receipt_names[class] : "?";
}

void
receipt_facts_done(struct receipt_facts *f)
{
	const struct receipt_member *m = NULL;

	for (m = receipt_intent_members; m->name != NULL; m++)
		mem_free(*receipt_member_at(f, m));
	for (m = receipt_outcome_members; m->name != NULL; m++)
		mem_free(*receipt_member_at(f, m));
	*f = (struct receipt_facts){ 0 };
}

int
receipt_line_intent(struct buf *b, const struct receipt_facts *f)
{
	if (buf_printf(b, "{\"v\":%d,\"event\":\"intent\",\"task\":%lld,"
	    "\"attempt\":%d,\"token\":%lld,\"timeline\":%lld",
	    RECEIPT_VERSION, (long long)f->task, f->attempt,
	    (long long)f->token, (long long)f->timeline) < 0 ||
	    receipt_put_members(b, receipt_intent_members, f) < 0)
		return PO_ENOMEM;
	return receipt_put_end(b);
}

int
receipt_line_outcome(struct buf *b, const struct receipt_facts *f)
{
	if (f->class == RECEIPT_INTENT ||
	    (unsigned int)f->class >= RECEIPT_CLASS_MAX ||
	    !receipt_is_complete(f))
		return PO_EINVAL;
	if (buf_printf(b, "{\"v\":%d,\"event\":\"outcome\",\"class\":\"%s\"",
	    RECEIPT_VERSION, receipt_names[f->class]) < 0)
		return PO_ENOMEM;
	if (f->http_status != 0 &&
	    buf_printf(b, ",\"http_status\":%d", f->http_status) < 0)
		return PO_ENOMEM;
	if (receipt_put_members(b, receipt_outcome_members, f) < 0)
		return PO_ENOMEM;
	return receipt_put_end(b);
}

int
receipt_parse(const char *text, size_t len, int64_t task, int attempt,
    const struct receipt_facts *here, struct receipt_facts *ret,
    struct receipt_trail *ret_trail)
{
	struct json_tokener *tok = NULL;
	struct receipt_facts f = { .task = task, .attempt = attempt };
	struct receipt_trail trail = { 0 };
	const char *end = NULL;
	bool is_intent = false;
	int rc = 0;

	if ((tok = json_tokener_new_ex(RECEIPT_DEPTH)) == NULL)
		return PO_ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
	    JSON_TOKENER_VALIDATE_UTF8);
	/* What follows the last newline was torn in the write. */
	while (trail.good_len < len && (end = memchr(text + trail.good_len,
	    '\n', len - trail.good_len)) != NULL) {
		rc = receipt_read_line(tok, text + trail.good_len,
		    (size_t)(end - text) - trail.good_len, &f,
		    trail.good_len == 0, &is_intent);
		if (rc < 0)
			goto out;
		receipt_follow(&trail, is_intent, &f, here);
		trail.good_len = (size_t)(end - text) + 1;
	}
	*ret = f;
	f = (struct receipt_facts){ 0 };
	if (ret_trail != NULL)
		*ret_trail = trail;
out:
	receipt_facts_done(&f);
	json_tokener_free(tok);
	return rc;
}

static int
receipt_put_members(struct buf *b, const struct receipt_member *m,
    const struct receipt_facts *f)
{
	const char *s = NULL;

	for (; m->name != NULL; m++) {
		if ((s = *receipt_member_at(f, m)) == NULL)
			continue;
		if (buf_printf(b, ",\"%s\":", m->name) < 0 ||
		    receipt_put_string(b, s, strlen(s)) < 0)
			return PO_ENOMEM;
	}
	return 0;
}

/* A JSON string.  Bad UTF-8 becomes '?': the database takes none. */
static int
receipt_put_string(struct buf *b, const char *s, size_t len)
{
	size_t good = text_valid_len(s, len), at = 0, from = 0;
	int rc = buf_putc(b, '"');

	for (; rc == 0 && at < len; from = at) {
		while (at < good && (uint8_t)s[at] >= 0x20 && s[at] != '"' &&
		    s[at] != '\\' && s[at] != 0x7f)
			at++;
		if ((rc = buf_put(b, s + from, at - from)) < 0 || at == len)
			break;
		if (at == good) {
			rc = buf_putc(b, '?');
			good += 1 + text_valid_len(s + at + 1, len - at - 1);
		} else if (s[at] == '"' || s[at] == '\\')
			rc = buf_printf(b, "\\%c", s[at]);
		else
			rc = buf_printf(b, "\\u%04x", (uint8_t)s[at]);
		at++;
	}
	return rc < 0 ? rc : buf_putc(b, '"');
}

static int
receipt_put_end(struct buf *b)
{
	struct timespec now = { 0 };
	struct tm tm = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);	/* only for people */
	(void)gmtime_r(&now.tv_sec, &tm);
	return buf_printf(b,
	    ",\"at\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ\"}\n",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
	    tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000);
}

static int
receipt_read_line(struct json_tokener *tok, const char *line, size_t len,
    struct receipt_facts *f, bool is_first, bool *ret_is_intent)
{
	struct json_object *o = NULL, *event = NULL;
	int64_t version = 0;
	int rc = PO_EINVAL;

	if (len > INT_MAX)
		return PO_EINVAL;
	json_tokener_reset(tok);
	o = json_tokener_parse_ex(tok, line, (int)len);
	if (o == NULL || json_tokener_get_parse_end(tok) != len ||
	    !json_object_is_type(o, json_type_object))
		goto out;
	if (receipt_read_number(o, "v", RECEIPT_VERSION, RECEIPT_VERSION,
	    &version) < 0 ||
	    !json_object_object_get_ex(o, "event", &event) ||
	    !json_object_is_type(event, json_type_string))
		goto out;
	*ret_is_intent = strcmp(json_object_get_string(event), "intent") == 0;
	if (*ret_is_intent)
		rc = receipt_read_intent(o, f);
	else if (!is_first && strcmp(json_object_get_string(event),
	    "outcome") == 0)
		rc = receipt_read_outcome(o, f);
out:
	json_object_put(o);
	return rc;
}

/* A later intent of the same attempt replaces what an earlier one said. */
static int
receipt_read_intent(struct json_object *o, struct receipt_facts *f)
{
	int64_t task = 0, attempt = 0, token = 0, timeline = 0;

	if (receipt_read_number(o, "task", f->task, f->task, &task) < 0 ||
	    receipt_read_number(o, "attempt", f->attempt, f->attempt,
	    &attempt) < 0 ||
	    receipt_read_number(o, "token", 0, INT64_MAX, &token) < 0 ||
	    receipt_read_number(o, "timeline", 0, INT64_MAX, &timeline) < 0)
		return PO_EINVAL;
	f->token = token;
	f->timeline = timeline;
	/* What was bought stays bought, whatever is tried afterwards. */
	if (f->class != RECEIPT_SUBMITTED && f->class != RECEIPT_RESULT)
		f->class = RECEIPT_INTENT;
	return receipt_read_members(o, receipt_intent_members, f);
}

static int
receipt_read_outcome(struct json_object *o, struct receipt_facts *f)
{
	struct json_object *name = NULL;
	struct receipt_facts line = { 0 };
	const struct receipt_member *m = NULL;
	int64_t status = 0;
	int class = 0, rc = 0;

	if (!json_object_object_get_ex(o, "class", &name) ||
	    !json_object_is_type(name, json_type_string))
		return PO_EINVAL;
	for (class = RECEIPT_UNSENT; class < RECEIPT_CLASS_MAX; class++)
		if (strcmp(json_object_get_string(name),
		    receipt_names[class]) == 0)
			break;
	if (class == RECEIPT_CLASS_MAX)
		return PO_EINVAL;
	line.class = (enum receipt_class)class;
	if (json_object_object_get_ex(o, "http_status", NULL) &&
	    receipt_read_number(o, "http_status", 0, 999, &status) < 0)
		return PO_EINVAL;
	if ((rc = receipt_read_members(o, receipt_outcome_members, &line)) < 0)
		goto out;
	if (!receipt_is_complete(&line)) {
		rc = PO_EINVAL;
		goto out;
	}
	if ((f->class == RECEIPT_SUBMITTED || f->class == RECEIPT_RESULT) &&
	    line.class != RECEIPT_SUBMITTED && line.class != RECEIPT_RESULT)
		goto out;
	for (m = receipt_outcome_members; m->name != NULL; m++) {
		mem_free(*receipt_member_at(f, m));
		*receipt_member_at(f, m) = *receipt_member_at(&line, m);
		*receipt_member_at(&line, m) = NULL;
	}
	f->class = line.class;
	f->http_status = (int)status;
out:
	receipt_facts_done(&line);
	return rc;
}

static int
receipt_read_members(struct json_object *o, const struct receipt_member *m,
    struct receipt_facts *f)
{
	struct json_object *value = NULL;
	const char *s = NULL;
	char *copy = NULL;

	for (; m->name != NULL; m++) {
		copy = NULL;
		if (json_object_object_get_ex(o, m->name, &value)) {
			if (!json_object_is_type(value, json_type_string))
				return PO_EINVAL;
			s = json_object_get_string(value);
			/* \u0000 would cut the text */
			if (strlen(s) !=
			    (size_t)json_object_get_string_len(value))
				return PO_EINVAL;
			if ((copy = mem_strdup(s)) == NULL)
				return PO_ENOMEM;
		}
		mem_free(*receipt_member_at(f, m));
		*receipt_member_at(f, m) = copy;
	}
	return 0;
}

static int
receipt_read_number(struct json_object *o, const char *name, int64_t min,
    int64_t max, int64_t *ret)
{
	struct json_object *value = NULL;
	int64_t n = 0;

	if (!json_object_object_get_ex(o, name, &value) ||
	    !json_object_is_type(value, json_type_int))
		return PO_EINVAL;
	n = json_object_get_int64(value);
	if (n < min || n > max)
		return PO_EINVAL;
	*ret = n;
	return 0;
}

static void
receipt_follow(struct receipt_trail *trail, bool is_intent,
    const struct receipt_facts *f, const struct receipt_facts *here)
{
	if (!is_intent) {
		if (f->class == RECEIPT_SUBMITTED || f->class == RECEIPT_RESULT)
			trail->has_bought = true;
		else if (f->class == RECEIPT_UNKNOWN)
			trail->has_unknown = true;
		else	/* proof that nothing was bought so far */
			trail->has_foreign = false;
		return;
	}
	if (here != NULL && (f->timeline != here->timeline ||
	    strcmp(f->system_id != NULL ? f->system_id : "",
	    here->system_id != NULL ? here->system_id : "") != 0))
		trail->has_foreign = true;
}

static bool
receipt_is_complete(const struct receipt_facts *f)
{
	const char *need = f->class == RECEIPT_SUBMITTED ? f->request_id :
	    f->class == RECEIPT_RESULT ? f->result : "nothing";

	return need != NULL && *need != '\0';
}
