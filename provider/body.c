/*
 * body.c - JSON bodies with {placeholders} in their strings.
 *
 * The template is JSON itself, checked when the file is read.  It is written
 * out again member by member: a string that is one placeholder takes the
 * value's own type, {?x} drops the member, and the member "+" adds the
 * members of an object that the template does not name.
 * Must not recurse: a small stack of iterators does.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

#define BODY_TEMPLATE_MAX	(64u << 10)

struct level {
	struct jtext_iter	 iter;
	struct jtext		 value;
	bool			 has_member;	/* something is written */
};

static int	string_parse(struct jtext, struct template *, const char **);
static int	put_string(struct jtext, struct scope *, struct buf *);
static int	put_merge(struct level *, struct jtext, struct scope *,
		    struct buf *);
static int	put_key(struct level *, struct jtext, struct buf *);

/* next_string() finds the next string in clean text, keys included. */
static bool
next_string(const char **at, struct jtext *ret)
{
	const char *s = strchr(*at, '"');
	const char *end = NULL;

	if (s == NULL)
		return false;
	for (end = s + 1; *end != '"'; end++)
		if (*end == '\\')
			end++;
	*ret = (struct jtext){ .at = s, .len = (size_t)(end + 1 - s) };
	*at = end + 1;
	return true;
}

int
body_compile(const char *text, char **ret_clean, const char **ret_why)
{
	struct template t = { 0 };
	struct jtext string = { 0 };
	struct buf b;
	const char *at = NULL;
	int rc = 0;

	buf_init(&b, BODY_TEMPLATE_MAX);
	*ret_why = "JSON whose strings hold the placeholders";
	rc = jtext_clean(text, strlen(text), &b);
	at = buf_text(&b);
	while (rc == 0 && next_string(&at, &string)) {
		rc = string_parse(string, &t, ret_why);
		template_done(&t);
	}
	if (rc == 0 && (*ret_clean = buf_steal(&b, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&b);
	return rc;
}

bool
body_uses(const char *clean, enum place place)
{
	struct template t = { 0 };
	struct jtext string = { 0 };
	const char *why = NULL;
	bool uses = false;

	while (clean != NULL && !uses && next_string(&clean, &string)) {
		if (string_parse(string, &t, &why) == 0)
			uses = template_uses(&t, place);
		template_done(&t);
	}
	return uses;
}

int
body_expand(const char *clean, struct scope *scope, struct buf *out)
{
	struct level stack[JTEXT_DEPTH + 1] = { 0 };
	struct level *l = NULL;
	struct jtext v = { .at = clean, .len = strlen(clean) }, key = { 0 };
	size_t depth = 0, mark = 0;
	int rc = 0;

	for (;;) {
		mark = buf_left(out);
		if (l != NULL && key.at != NULL && key.len == 3 &&
		    key.at[1] == '+') {
			rc = put_merge(l, v, scope, out);
		} else if ((rc = put_key(l, key, out)) == 0 &&
		    (*v.at == '{' || *v.at == '[') && !jtext_is_empty(v)) {
			rc = buf_putc(out, *v.at);
			l = &stack[depth++];
			*l = (struct level){ .value = v };
			jtext_iter_init(&l->iter, v);
		} else if (rc == 0 && *v.at == '"') {
			rc = put_string(v, scope, out);
			if (rc == PO_EAGAIN && l != NULL) {
				/* an absent {?x}: the member goes */
				buf_truncate(out, mark);
				rc = 0;
			} else if (l != NULL)
				l->has_member = true;
		} else if (rc == 0) {
			rc = buf_put(out, v.at, v.len);
			if (l != NULL)
				l->has_member = true;
		}
		while (rc == 0 && l != NULL &&
		    !jtext_iter_next(&l->iter, &key, &v)) {
			rc = buf_putc(out, *l->value.at == '{' ? '}' : ']');
			depth--;
			l = depth > 0 ? &stack[depth - 1] : NULL;
			if (l != NULL)
				l->has_member = true;
		}
		if (rc < 0 || l == NULL)
			return rc == PO_EAGAIN ? PO_EINVAL : rc;
	}
}

static int
string_parse(struct jtext v, struct template *ret, const char **ret_why)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, v.len);
	if ((rc = jtext_put_text(v, &b)) == 0)
		rc = template_parse(buf_text(&b), ret, ret_why);
	buf_done(&b);
	return rc;
}

/* typed_value() finds the input's value behind a lone {input...}. */
static bool
typed_value(const struct template *t, struct scope *scope, struct jtext *ret)
{
	struct view view = { .body = scope->input };
	struct selector_walk w;
	bool is_header = false;

	if (t->count != 1 || t->parts[0].place != PLACE_INPUT)
		return false;
	*ret = scope->input;
	if (t->parts[0].selector.count == 0)
		return true;
	selector_walk_init(&w, &t->parts[0].selector, &view);
	if (!selector_next(&w, ret, &is_header))
		*ret = (struct jtext){ 0 };
	return true;
}

/* PO_EAGAIN: leave this member out */
static int
put_string(struct jtext v, struct scope *scope, struct buf *out)
{
	struct template t = { 0 };
	struct jtext typed = { 0 };
	struct buf text;
	const char *why = NULL;
	int rc = 0;

	if (memchr(v.at, '{', v.len) == NULL)
		return buf_put(out, v.at, v.len);
	if ((rc = string_parse(v, &t, &why)) < 0)
		return rc;
	buf_init(&text, out->max);
	if (typed_value(&t, scope, &typed) && typed.at != NULL) {
		rc = buf_put(out, typed.at, typed.len);
	} else if (t.count == 1 && t.parts[0].is_optional &&
	    (rc = place_value(&t.parts[0], scope, &text)) == PO_ENOENT) {
		rc = PO_EAGAIN;
	} else {
		buf_reset(&text);
		rc = template_expand(&t, TEMPLATE_PLAIN, scope, &text);
		if (rc == PO_ENOENT)
			rc = PO_EINVAL;
		if (rc == 0 && t.count == 1 && (t.parts[0].place == PLACE_TASK
		    || t.parts[0].place == PLACE_ATTEMPT))
			rc = buf_put(out, buf_head(&text), buf_left(&text));
		else if (rc == 0)
			rc = jtext_put_string(buf_text(&text),
			    buf_left(&text), out);
	}
	buf_done(&text);
	template_done(&t);
	return rc;
}

static int
put_merge(struct level *l, struct jtext v, struct scope *scope,
    struct buf *out)
{
	struct template t = { 0 };
	struct jtext_iter it;
	struct jtext object = { 0 }, key = { 0 }, member = { 0 };
	const char *why = NULL;
	int rc = 0;

	if ((rc = string_parse(v, &t, &why)) < 0)
		return rc;
	if (!typed_value(&t, scope, &object) ||
	    jtext_type(object) != JTEXT_OBJECT) {
		rc = t.count == 1 && t.parts[0].is_optional &&
		    object.at == NULL ? 0 : PO_EINVAL;
		template_done(&t);
		if (rc < 0 && scope->error == NULL)
			scope->error = mem_printf("\"+\" needs an object, and "
			    "the input has none there");
		return rc;
	}
	template_done(&t);
	jtext_iter_init(&it, object);
	while (rc == 0 && jtext_iter_next(&it, &key, &member)) {
		if (jtext_has(l->value, key))
			continue;		/* the template's own wins */
		if ((rc = put_key(l, key, out)) == 0)
			rc = buf_put(out, member.at, member.len);
		l->has_member = true;
	}
	return rc;
}

static int
put_key(struct level *l, struct jtext key, struct buf *out)
{
	int rc = 0;

	if (l == NULL)
		return 0;
	if (l->has_member)
		rc = buf_putc(out, ',');
	if (rc == 0 && key.at != NULL) {
		rc = buf_put(out, key.at, key.len);
		if (rc == 0)
			rc = buf_putc(out, ':');
	}
	return rc;
}
