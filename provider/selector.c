/*
 * selector.c - JSON pointers with "*", and "header:Name".
 *
 * Owns struct selector.  Walks without recursion: each "*" has its place on a
 * small stack.
 */
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/text.h"
#include "provider/parts.h"

#define HEADER_PREFIX	"header:"

static int	segment_parse(const char *, size_t, char **);

int
selector_parse(const char *s, size_t len, struct selector *ret,
    const char **ret_why)
{
	struct selector sel = { 0 };
	size_t prefix = strlen(HEADER_PREFIX), n = 0;
	const char *slash = NULL;
	int rc = 0;

	if (len > prefix && strncasecmp(s, HEADER_PREFIX, prefix) == 0) {
		sel.header = mem_strndup(s + prefix, len - prefix);
		if (sel.header == NULL)
			return PO_ENOMEM;
		*ret = sel;
		return 0;
	}
	*ret_why = "a JSON pointer such as /data/0/id, or header:Name";
	if (len == 0 || s[0] != '/')
		return PO_EINVAL;
	if (len == 1)		/* "/" would be the member named "" */
		return PO_EINVAL;
	while (rc == 0 && len > 0) {
		s++;
		len--;
		slash = memchr(s, '/', len);
		n = slash != NULL ? (size_t)(slash - s) : len;
		if (sel.count == SELECTOR_DEPTH) {
			*ret_why = "at most 16 segments";
			rc = PO_EINVAL;
			break;
		}
		if ((rc = segment_parse(s, n, &sel.segments[sel.count])) == 0)
			sel.count++;
		s += n;
		len -= n;
	}
	if (rc < 0) {
		selector_done(&sel);
		return rc;
	}
	*ret = sel;
	return 0;
}

void
selector_done(struct selector *sel)
{
	size_t i = 0;

	mem_free(sel->header);
	for (i = 0; i < sel->count; i++)
		mem_free(sel->segments[i]);
	*sel = (struct selector){ 0 };
}

void
selectors_done(struct selectors *list)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		selector_done(&list->v[i]);
	mem_free(list->v);
	*list = (struct selectors){ 0 };
}

void
selector_walk_init(struct selector_walk *w, const struct selector *sel,
    const struct view *view)
{
	memset(w, 0, sizeof(*w));
	w->selector = sel;
	if (sel->header == NULL)
		w->body = view->body;
	else if (view->answer != NULL)
		w->header = answer_header(view->answer, sel->header);
}

/*
 * walk_down() goes from v at segment seg to the end of the pointer, and back
 * to the last "*" that has another element whenever there is no way on.
 */
static bool
walk_down(struct selector_walk *w, struct jtext v, size_t seg,
    struct jtext *ret)
{
	const struct selector *sel = w->selector;
	struct jtext none = { 0 };

	for (;;) {
		while (v.at != NULL && seg < sel->count) {
			if (strcmp(sel->segments[seg], "*") == 0) {
				jtext_iter_init(&w->iters[w->depth], v);
				w->stars[w->depth++] = seg;
				v = none;
			} else
				v = jtext_child(v, sel->segments[seg++]);
		}
		if (v.at != NULL) {
			*ret = v;
			return true;
		}
		while (w->depth > 0 &&
		    !jtext_iter_next(&w->iters[w->depth - 1], NULL, &v)) {
			w->depth--;
			v = none;
		}
		if (w->depth == 0)
			return false;
		seg = w->stars[w->depth - 1] + 1;
	}
}

bool
selector_next(struct selector_walk *w, struct jtext *ret, bool *ret_is_header)
{
	struct jtext none = { 0 };
	bool is_first = !w->is_started;

	w->is_started = true;
	*ret_is_header = w->selector->header != NULL;
	if (*ret_is_header) {
		if (!is_first || w->header == NULL)
			return false;
		*ret = (struct jtext){ .at = w->header,
		    .len = strlen(w->header) };
		return true;
	}
	if (is_first)
		return walk_down(w, w->body, 0, ret);
	return w->depth > 0 && walk_down(w, none, w->selector->count, ret);
}

int
selector_text(const struct selector *sel, const struct view *view, char **ret)
{
	struct selector_walk w;
	struct jtext v = { 0 };
	struct buf b;
	bool is_header = false;
	int rc = PO_ENOENT;

	selector_walk_init(&w, sel, view);
	while (selector_next(&w, &v, &is_header)) {
		if (!is_header && jtext_type(v) == JTEXT_NULL)
			continue;
		buf_init(&b, v.len);
		rc = is_header ? buf_put(&b, v.at, v.len) :
		    jtext_put_text(v, &b);
		if (rc == 0 && (*ret = buf_steal(&b, NULL)) == NULL)
			rc = PO_ENOMEM;
		if (rc == 0 && is_header)
			text_clean(*ret, strlen(*ret));
		buf_done(&b);
		break;
	}
	return rc;
}

int
selectors_text(const struct selectors *list, const struct view *view,
    char **ret)
{
	size_t i = 0;
	int rc = PO_ENOENT;

	for (i = 0; rc == PO_ENOENT && i < list->count; i++)
		rc = selector_text(&list->v[i], view, ret);
	return rc;
}

const char *
answer_header(const struct answer *a, const char *name)
{
	size_t len = strlen(name), i = 0;
	const char *value = NULL;

	for (i = 0; a->headers != NULL && a->headers[i] != NULL; i++)
		if (strncasecmp(a->headers[i], name, len) == 0 &&
		    a->headers[i][len] == ':') {
			value = a->headers[i] + len + 1;
			return value + strspn(value, " \t");
		}
	return NULL;
}

/* segment_parse() undoes ~1 and ~0 (RFC 6901). */
static int
segment_parse(const char *s, size_t len, char **ret)
{
	char *out = NULL;
	size_t i = 0, n = 0;

	if ((out = mem_array(len + 1, 1)) == NULL)
		return PO_ENOMEM;
	for (i = 0; i < len; i++) {
		if (s[i] == '~' && i + 1 < len && s[i + 1] == '1') {
			out[n++] = '/';
			i++;
		} else if (s[i] == '~' && i + 1 < len && s[i + 1] == '0') {
			out[n++] = '~';
			i++;
		} else
			out[n++] = s[i];
	}
	*ret = out;
	return 0;
}
