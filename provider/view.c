/*
 * view.c - an answer made ready for selectors, and the words in it.
 *
 * Owns nothing: the clean body lives in the caller's buffer.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/text.h"
#include "provider/parts.h"

/*
 * A raw control byte becomes six, a bad byte three: the clean text of a body
 * within its limit may not fit into 64 MiB, and is then not looked at.
 */
#define CLEAN_MAX	(64u << 20)

/* view_open() gives 0 also for a body that is no JSON: body.at is NULL. */
int
view_open(struct view *view, const struct answer *answer, struct buf *clean)
{
	int rc = 0;

	*view = (struct view){ .answer = answer };
	buf_init(clean, CLEAN_MAX);
	if (answer->body == NULL || answer->body_len == 0)
		return 0;
	rc = jtext_clean(answer->body, answer->body_len, clean);
	if (rc == 0)
		view->body = jtext_of(clean);
	return rc == PO_EINVAL ? 0 : rc;
}

static int
clip_text(char **text)
{
	size_t len = strlen(*text);

	text_clean(*text, len);
	(*text)[text_clip(*text, len, PROVIDER_TEXT_MAX)] = '\0';
	return 0;
}

/*
 * view_error() is what the file's selectors find, else where most providers
 * put their words, else the beginning of a body that is no JSON.
 */
int
view_error(const struct selectors *list, const struct view *view, char **ret)
{
	static const char *const usual[] = {
		"error", "detail", "message", "title", "error_type"
	};
	struct jtext v = { 0 }, inner = { 0 };
	struct buf b;
	const struct answer *a = view->answer;
	size_t i = 0;
	int rc = selectors_text(list, view, ret);

	if (rc == 0)
		return clip_text(ret);
	if (rc != PO_ENOENT)
		return rc;
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]) &&
	    jtext_is_empty(v); i++)
		v = jtext_child(view->body, usual[i]);
	inner = jtext_child(v, "message");
	if (!jtext_is_empty(inner))
		v = inner;
	if (!jtext_is_empty(v)) {
		buf_init(&b, v.len);
		if ((rc = jtext_put_text(v, &b)) == 0 &&
		    (*ret = buf_steal(&b, NULL)) == NULL)
			rc = PO_ENOMEM;
		buf_done(&b);
	} else if (view->body.at == NULL && a != NULL && a->body_len > 0) {
		*ret = mem_strndup(a->body, text_clip(a->body, a->body_len,
		    200));
		rc = *ret != NULL ? 0 : PO_ENOMEM;
	} else
		return 0;
	return rc < 0 ? rc : clip_text(ret);
}

int64_t
view_retry_after(const struct selectors *list, const struct view *view)
{
	const char *header = NULL;
	char *text = NULL;
	int64_t ms = -1;

	if (list->count > 0) {
		if (selectors_text(list, view, &text) == 0)
			ms = retry_after_ms(text, view->answer);
		mem_free(text);
	} else if ((header = answer_header(view->answer,
	    "retry-after")) != NULL)
		ms = retry_after_ms(header, view->answer);
	return ms;
}
