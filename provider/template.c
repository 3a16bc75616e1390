/*
 * template.c - texts with {placeholders}: URLs, headers, strings of bodies.
 *
 * Owns struct template.  A value that would change the meaning of what it
 * stands in (a line break in a header, a ".." segment in a path) is refused,
 * never repaired.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

#define VALUE_MAX	(64u << 10)	/* one value in a URL or header */

static const struct place_name {
	const char	*name;
	bool		 has_argument;
} place_names[] = {
	[PLACE_TEXT] = { "", false },
	[PLACE_KEY] = { "key", false },
	[PLACE_MODEL] = { "model", false },	/* {model:2}: two segments */
	[PLACE_ID] = { "id", false },
	[PLACE_OWN] = { "own", false },
	[PLACE_IDEM] = { "idem", false },
	[PLACE_TASK] = { "task", false },
	[PLACE_ATTEMPT] = { "attempt", false },
	[PLACE_INPUT] = { "input", false },	/* {input:/pointer} */
	[PLACE_SAVED] = { "saved", true },
	[PLACE_VAR] = { "var", true },
	[PLACE_HOOK] = { "hook", false },
	[PLACE_AFTER] = { "after", false },
	[PLACE_LAST_ID] = { "last_id", false }
};
#define PLACES	(sizeof(place_names) / sizeof(place_names[0]))

static int	part_add(struct template *, struct template_part **);
static int	place_parse(const char *, size_t, struct template_part *,
		    const char **);
static int	put_url(const struct template_part *, const char *, size_t,
		    struct scope *, struct buf *);

int
template_parse(const char *s, struct template *ret, const char **ret_why)
{
	struct template t = { 0 };
	struct template_part *part = NULL;
	const char *end = NULL;
	int rc = 0;

	while (rc == 0 && *s != '\0') {
		if ((rc = part_add(&t, &part)) < 0)
			break;
		if (*s != '{') {
			end = s + strcspn(s, "{");
			part->text = mem_strndup(s, (size_t)(end - s));
			rc = part->text == NULL ? PO_ENOMEM : 0;
			s = end;
			continue;
		}
		if ((end = strchr(s, '}')) == NULL) {
			*ret_why = "a closing }";
			rc = PO_EINVAL;
			break;
		}
		rc = place_parse(s + 1, (size_t)(end - s - 1), part, ret_why);
		s = end + 1;
	}
	if (rc < 0) {
		template_done(&t);
		return rc;
	}
	*ret = t;
	return 0;
}

void
template_done(struct template *t)
{
	size_t i = 0;

	for (i = 0; i < t->count; i++) {
		mem_free(t->parts[i].text);
		selector_done(&t->parts[i].selector);
	}
	mem_free(t->parts);
	*t = (struct template){ 0 };
}

void
templates_done(struct templates *list)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		template_done(&list->v[i]);
	mem_free(list->v);
	*list = (struct templates){ 0 };
}

bool
template_uses(const struct template *t, enum place place)
{
	size_t i = 0;

	for (i = 0; i < t->count; i++)
		if (t->parts[i].place == place)
			return true;
	return false;
}

int
template_expand(const struct template *t, enum template_mode mode,
    struct scope *scope, struct buf *out)
{
	const struct template_part *part = NULL;
	struct buf value;
	size_t i = 0, k = 0;
	int rc = 0;

	for (i = 0; rc == 0 && i < t->count; i++) {
		part = &t->parts[i];
		if (part->place == PLACE_TEXT) {
			rc = buf_puts(out, part->text);
			continue;
		}
		buf_init(&value, VALUE_MAX);
		rc = place_value(part, scope, &value);
		if (rc == PO_ENOENT && part->is_optional)
			rc = 0;
		for (k = 0; rc == 0 && mode == TEMPLATE_HEADER &&
		    k < buf_left(&value); k++)
			if (buf_head(&value)[k] < 0x20 ||
			    buf_head(&value)[k] == 0x7f) {
				mem_free(scope->error);
				scope->error = mem_printf("{%s} has a control "
				    "character: not sent in a header",
				    place_names[part->place].name);
				rc = PO_EINVAL;
			}
		if (rc == 0 && mode == TEMPLATE_URL)
			rc = put_url(part, buf_text(&value), buf_left(&value),
			    scope, out);
		else if (rc == 0)
			rc = buf_put(out, buf_head(&value), buf_left(&value));
		buf_done(&value);
	}
	return rc;
}

/* model_segments() is the length of the first n segments of a model. */
static size_t
model_segments(const char *model, const char *count)
{
	size_t n = (size_t)(count[0] - '0');
	const char *at = model;

	for (; n > 0 && *at != '\0'; n--)
		at = strchrnul(at == model ? at : at + 1, '/');
	return (size_t)(at - model);
}

static const char *
saved_value(const struct task_context *task, const char *name)
{
	if (strcmp(name, "poll_url") == 0 || strcmp(name, "status_url") == 0)
		return task->poll_url;
	if (strcmp(name, "result_url") == 0)
		return task->result_url;
	return task->cancel_url;
}

static const char *
var_value(const struct provider *p, const char *name)
{
	size_t len = strlen(name), i = 0;

	for (i = 0; i < p->vars.count; i++)
		if (strncmp(p->vars.v[i], name, len) == 0 &&
		    p->vars.v[i][len] == '=')
			return p->vars.v[i] + len + 1;
	return NULL;
}

static int
input_value(const struct template_part *part, struct scope *scope,
    struct buf *out)
{
	struct view view = { .body = scope->input };
	struct selector_walk w;
	struct jtext v = { 0 };
	bool is_header = false;

	if (part->selector.count == 0)
		return jtext_put_text(scope->input, out);
	selector_walk_init(&w, &part->selector, &view);
	if (!selector_next(&w, &v, &is_header) ||
	    jtext_type(v) == JTEXT_NULL)
		return PO_ENOENT;
	return jtext_put_text(v, out);
}

static int
text_value(const struct template_part *part, struct scope *scope,
    struct buf *out)
{
	const struct task_context *task = scope->task;
	const char *text = NULL;

	switch (part->place) {
	case PLACE_KEY:
		text = task->key;
		scope->is_secret = true;
		break;
	case PLACE_MODEL:
		text = task->model;
		if (text != NULL && part->text != NULL)
			return buf_put(out, text,
			    model_segments(text, part->text));
		break;
	case PLACE_ID:
		text = task->request_id;
		break;
	case PLACE_OWN:
		text = task->own_id;
		break;
	case PLACE_IDEM:
		text = task->idem_key;
		break;
	case PLACE_SAVED:
		text = saved_value(task, part->text);
		break;
	case PLACE_VAR:
		text = var_value(scope->provider, part->text);
		break;
	default:
		break;
	}
	if (text == NULL || text[0] == '\0')
		return PO_ENOENT;
	return buf_puts(out, text);
}

int
place_value(const struct template_part *part, struct scope *scope,
    struct buf *out)
{
	int rc = 0;

	if (part->place == PLACE_TASK)
		rc = buf_printf(out, "%lld", (long long)scope->task->task);
	else if (part->place == PLACE_ATTEMPT)
		rc = buf_printf(out, "%d", scope->task->attempt);
	else if (part->place == PLACE_INPUT)
		rc = input_value(part, scope, out);
	else
		rc = text_value(part, scope, out);
	if (rc == PO_ENOENT && !part->is_optional) {
		mem_free(scope->error);
		scope->error = mem_printf("{%s%s%s}: the task has none",
		    place_names[part->place].name,
		    part->text != NULL ? ":" : "",
		    part->text != NULL ? part->text : "");
	}
	return rc;
}

static int
part_add(struct template *t, struct template_part **ret)
{
	struct template_part *parts = NULL;

	parts = mem_grow(t->parts, t->count + 1, sizeof(*parts));
	if (parts == NULL)
		return PO_ENOMEM;
	t->parts = parts;
	*ret = &t->parts[t->count++];
	**ret = (struct template_part){ .place = PLACE_TEXT };
	return 0;
}

static bool
argument_is_good(const struct template_part *part)
{
	const char *arg = part->text;

	switch (part->place) {
	case PLACE_SAVED:
		return arg != NULL && (strcmp(arg, "poll_url") == 0 ||
		    strcmp(arg, "status_url") == 0 ||
		    strcmp(arg, "result_url") == 0 ||
		    strcmp(arg, "cancel_url") == 0);
	case PLACE_VAR:
		return arg != NULL && arg[0] != '\0';
	case PLACE_MODEL:
		return arg == NULL || (arg[0] >= '1' && arg[0] <= '9' &&
		    arg[1] == '\0');
	case PLACE_INPUT:
		return arg == NULL || part->selector.count > 0;
	default:
		return arg == NULL;
	}
}

static int
place_parse(const char *s, size_t len, struct template_part *part,
    const char **ret_why)
{
	const char *colon = NULL;
	size_t name_len = 0, i = 0;
	int rc = 0;

	for (; len > 0 && (*s == '+' || *s == '?'); s++, len--) {
		if (*s == '+')
			part->has_slashes = true;
		else
			part->is_optional = true;
	}
	colon = memchr(s, ':', len);
	name_len = colon != NULL ? (size_t)(colon - s) : len;
	for (i = 1; i < PLACES; i++)
		if (strlen(place_names[i].name) == name_len &&
		    strncmp(place_names[i].name, s, name_len) == 0)
			break;
	*ret_why = "{key} {model} {id} {own} {idem} {task} {attempt} {input} "
	    "{input:/pointer} {saved:poll_url|result_url|cancel_url} or "
	    "{var:name}";
	if (i == PLACES)
		return PO_EINVAL;
	part->place = (enum place)i;
	if (colon != NULL) {
		part->text = mem_strndup(colon + 1, len - name_len - 1);
		if (part->text == NULL)
			return PO_ENOMEM;
		if (part->place == PLACE_INPUT && (rc = selector_parse(
		    part->text, strlen(part->text), &part->selector,
		    ret_why)) < 0)
			return rc;
	}
	return argument_is_good(part) ? 0 : PO_EINVAL;
}

/* A URL that the provider gave, and the operator's own words, stay as is. */
static int
put_url(const struct template_part *part, const char *s, size_t len,
    struct scope *scope, struct buf *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-._~";
	const char *stop = NULL;
	size_t i = 0, n = 0;
	int rc = 0;

	if (part->place == PLACE_SAVED || part->place == PLACE_VAR)
		return buf_put(out, s, len);
	for (i = 0; i <= len; i += n + 1) {
		stop = part->has_slashes ? memchr(s + i, '/', len - i) : NULL;
		n = stop != NULL ? (size_t)(stop - s) - i : len - i;
		if ((n == 0 && len > 0) || (n == 1 && s[i] == '.') ||
		    (n == 2 && memcmp(s + i, "..", 2) == 0)) {
			mem_free(scope->error);
			scope->error = mem_printf("{%s}: an empty or dot "
			    "segment has no place in a URL",
			    place_names[part->place].name);
			return PO_EINVAL;
		}
	}
	for (i = 0; rc == 0 && i < len; i++) {
		if (s[i] != '\0' && (strchr(plain, s[i]) != NULL ||
		    (s[i] == '/' && part->has_slashes)))
			rc = buf_putc(out, s[i]);
		else
			rc = buf_printf(out, "%%%02X", (unsigned char)s[i]);
	}
	return rc;
}
