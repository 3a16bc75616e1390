/*
 * predicate.c - "[HTTP status] [selector[=text|~substring|>number]] ...".
 *
 * Owns struct predicate.  Without a status a predicate holds for 2xx answers
 * alone: an error page that happens to have the right member proves nothing.
 */
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

#define PARTS_MAX	16

static int	part_parse(const char **, struct predicate_part *,
		    const char **);
static int	text_parse(const char **, char **, const char **);
static bool	part_holds(const struct predicate_part *,
		    const struct view *);
static bool	value_matches(const struct predicate_part *, const char *);

int
predicate_parse(const char *s, struct predicate *ret, const char **ret_why)
{
	struct predicate p = { 0 };
	struct predicate_part *parts = NULL;
	size_t digits = 0;
	int rc = 0;

	s += strspn(s, " \t\n");
	digits = strspn(s, "0123456789");
	if (digits > 0) {
		*ret_why = "an HTTP status of three digits, then selectors";
		if (digits != 3 || s[0] < '1' || s[0] > '5' ||
		    (s[3] != '\0' && s[3] != ' '))
			return PO_EINVAL;
		p.status = (s[0] - '0') * 100 + (s[1] - '0') * 10 +
		    (s[2] - '0');
		s += 3;
	}
	for (s += strspn(s, " \t\n"); *s != '\0'; s += strspn(s, " \t\n")) {
		if (p.count == PARTS_MAX) {
			*ret_why = "at most 16 parts";
			rc = PO_EINVAL;
			goto out;
		}
		parts = mem_grow(p.parts, p.count + 1, sizeof(*parts));
		if (parts == NULL) {
			rc = PO_ENOMEM;
			goto out;
		}
		p.parts = parts;
		p.parts[p.count] = (struct predicate_part){ 0 };
		if ((rc = part_parse(&s, &p.parts[p.count++], ret_why)) < 0)
			goto out;
	}
	if (p.status == 0 && p.count == 0) {
		*ret_why = "a status or a selector";
		rc = PO_EINVAL;
		goto out;
	}
	*ret = p;
	return 0;
out:
	predicate_done(&p);
	return rc;
}

void
predicate_done(struct predicate *p)
{
	size_t i = 0;

	for (i = 0; i < p->count; i++) {
		selector_done(&p->parts[i].selector);
		mem_free(p->parts[i].text);
	}
	mem_free(p->parts);
	*p = (struct predicate){ 0 };
}

void
predicates_done(struct predicates *list)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		predicate_done(&list->v[i]);
	mem_free(list->v);
	*list = (struct predicates){ 0 };
}

bool
predicate_holds(const struct predicate *p, const struct view *view)
{
	int status = view->answer->status;
	size_t i = 0;

	if (p->status != 0 ? p->status != status : status / 100 != 2)
		return false;
	for (i = 0; i < p->count; i++)
		if (!part_holds(&p->parts[i], view))
			return false;
	return true;
}

bool
predicates_any(const struct predicates *list, const struct view *view)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		if (predicate_holds(&list->v[i], view))
			return true;
	return false;
}

bool
words_have(const struct words *words, const char *word)
{
	size_t i = 0;

	for (i = 0; i < words->count; i++)
		if (strcasecmp(words->v[i], word) == 0)
			return true;
	return false;
}

void
words_done(struct words *words)
{
	size_t i = 0;

	for (i = 0; i < words->count; i++)
		mem_free(words->v[i]);
	mem_free(words->v);
	*words = (struct words){ 0 };
}

static int
part_parse(const char **at, struct predicate_part *part, const char **ret_why)
{
	const char *s = *at;
	const char *end = s;
	size_t len = 0;
	int rc = 0;

	/* "~0" and "~1" belong to the pointer, another "~" is the operator */
	while (*end != '\0' && strchr(" \t\n=>", *end) == NULL &&
	    (*end != '~' || end[1] == '0' || end[1] == '1'))
		end++;
	len = (size_t)(end - s);
	if ((rc = selector_parse(s, len, &part->selector, ret_why)) < 0)
		return rc;
	switch (*end) {
	case '=':
		part->op = PART_EQUALS;
		break;
	case '~':
		part->op = PART_CONTAINS;
		break;
	case '>':
		part->op = PART_ABOVE;
		break;
	default:
		*at = end;
		return 0;
	}
	end++;
	if ((rc = text_parse(&end, &part->text, ret_why)) < 0)
		return rc;
	*at = end;
	if (part->op == PART_ABOVE && num_decimal_check(part->text) != 0) {
		*ret_why = "a number behind >";
		return PO_EINVAL;
	}
	return 0;
}

/* A word up to a blank, or "text with blanks". */
static int
text_parse(const char **at, char **ret, const char **ret_why)
{
	const char *s = *at;
	const char *end = NULL;

	if (*s == '"') {
		if ((end = strchr(++s, '"')) == NULL) {
			*ret_why = "a closing \"";
			return PO_EINVAL;
		}
		*at = end + 1;
	} else {
		end = s + strcspn(s, " \t\n");
		*at = end;
	}
	*ret = mem_strndup(s, (size_t)(end - s));
	return *ret != NULL ? 0 : PO_ENOMEM;
}

static bool
part_holds(const struct predicate_part *part, const struct view *view)
{
	struct selector_walk w;
	struct jtext v = { 0 };
	struct buf b;
	bool is_header = false, holds = false;

	selector_walk_init(&w, &part->selector, view);
	while (!holds && selector_next(&w, &v, &is_header)) {
		if (part->op == PART_THERE) {
			holds = is_header ? v.len > 0 : !jtext_is_empty(v);
			continue;
		}
		if (!is_header && jtext_type(v) == JTEXT_NULL)
			continue;
		buf_init(&b, v.len);
		if ((is_header ? buf_put(&b, v.at, v.len) :
		    jtext_put_text(v, &b)) == 0)
			holds = value_matches(part, buf_text(&b));
		buf_done(&b);
	}
	return holds;
}

static bool
value_matches(const struct predicate_part *part, const char *value)
{
	switch (part->op) {
	case PART_EQUALS:
		return strcasecmp(value, part->text) == 0;
	case PART_CONTAINS:
		return strcasestr(value, part->text) != NULL;
	case PART_ABOVE:
		return decimal_is_above(value, part->text);
	default:
		return false;
	}
}
