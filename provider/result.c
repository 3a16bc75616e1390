/*
 * result.c - the result that is saved, and the artifacts in it.
 *
 * Owns nothing.  The saved text is {"output": <the provider's body>}; the
 * artifacts are listed from that body, now and from the row later on.
 */
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

#define ARTIFACTS_MAX	1000

static int	list_artifacts(const struct result_rules *,
		    const struct view *, bool, struct poll_verdict *);
static int	add_artifact(struct poll_verdict *, const char *, char *);
static int	put_result(const struct view *, struct poll_verdict *);

int
result_fill(const struct provider *p, const struct view *view,
    struct poll_verdict *v)
{
	const struct result_rules *rules = &p->result_rules;
	int rc = 0;

	if (view->body.at == NULL) {
		v->class = POLL_MISSED;
		v->reason = mem_strdup("not_json");
		return v->reason != NULL ? 0 : PO_ENOMEM;
	}
	if (view->body.len > PROVIDER_RESULT_MAX) {
		v->class = POLL_PARK;
		v->reason = mem_strdup("result_too_large");
		v->error = mem_printf("a result of %zu bytes; at most %u can "
		    "be saved", view->body.len, PROVIDER_RESULT_MAX);
		return v->reason == NULL || v->error == NULL ? PO_ENOMEM : 0;
	}
	rc = put_result(view, v);
	if (rc == 0)
		rc = list_artifacts(rules, view, false, v);
	if (rc == 0 && v->nartifacts == 0)
		rc = list_artifacts(rules, view, true, v);
	/* "done" is not "succeeded": there must be something to show */
	if (rc == 0 && rules->nartifacts > 0 && v->nartifacts < rules->min)
		v->class = POLL_PARK;
	return rc;
}

int
provider_read_saved(const struct provider *p, const char *result, size_t len,
    struct poll_verdict *ret)
{
	struct poll_verdict v = {
		.class = POLL_DONE, .progress = -1, .retry_after_ms = -1
	};
	struct view view = { 0 };
	struct buf clean;
	int rc = 0;

	buf_init(&clean, 6 * len + 64);
	rc = jtext_clean_saved(result, len, &clean);
	if (rc == 0) {
		view.body = jtext_child(jtext_of(&clean), "output");
		rc = view.body.at == NULL ? PO_EINVAL : 0;
	}
	if (rc == 0)
		rc = list_artifacts(&p->result_rules, &view, false, &v);
	if (rc == 0 && v.nartifacts == 0)
		rc = list_artifacts(&p->result_rules, &view, true, &v);
	if (rc == 0 && (v.result = mem_strndup(result, len)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&clean);
	if (rc < 0) {
		poll_verdict_done(&v);
		return rc;
	}
	*ret = v;
	return 0;
}

static int
put_result(const struct view *view, struct poll_verdict *v)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, view->body.len + 64);
	rc = buf_puts(&b, "{\"output\":");
	if (rc == 0)
		rc = buf_put(&b, view->body.at, view->body.len);
	if (rc == 0)
		rc = buf_putc(&b, '}');
	if (rc == 0 && (v->result = buf_steal(&b, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&b);
	return rc;
}

static bool
is_text(const struct artifact_rule *rule)
{
	return strcmp(rule->encoding, "text") == 0;
}

/*
 * artifact_take() turns a string into an artifact; a "url" that is none is
 * skipped, since several models put text where others put a URL.
 * It takes text over.
 */
static int
artifact_take(const struct artifact_rule *rule, char *text,
    struct poll_verdict *v)
{
	const char *encoding = rule->encoding;
	const char *data = NULL;
	char *copy = NULL;

	if (strcmp(encoding, "url") == 0) {
		if (strncasecmp(text, "data:", 5) == 0 &&
		    (data = strcasestr(text, ";base64,")) != NULL) {
			copy = mem_strdup(data + 8);
			mem_free(text);
			if (copy == NULL)
				return PO_ENOMEM;
			return add_artifact(v, "base64", copy);
		}
		if (strncasecmp(text, "http://", 7) != 0 &&
		    strncasecmp(text, "https://", 8) != 0) {
			mem_free(text);
			return 0;
		}
	}
	if (text[0] == '\0') {
		mem_free(text);
		return 0;
	}
	return add_artifact(v, encoding, text);
}

/* The text rules count only where no other rule has found anything. */
static int
list_artifacts(const struct result_rules *rules, const struct view *view,
    bool texts, struct poll_verdict *v)
{
	const struct artifact_rule *rule = NULL;
	struct selector_walk w;
	struct jtext at = { 0 };
	struct buf b;
	char *text = NULL;
	size_t i = 0;
	bool is_header = false;
	int rc = 0;

	for (i = 0; rc == 0 && i < rules->nartifacts; i++) {
		rule = &rules->artifacts[i];
		if (is_text(rule) != texts)
			continue;
		selector_walk_init(&w, &rule->selector, view);
		while (rc == 0 && v->nartifacts < ARTIFACTS_MAX &&
		    selector_next(&w, &at, &is_header)) {
			if (!is_header && jtext_type(at) != JTEXT_STRING)
				continue;
			buf_init(&b, at.len);
			rc = is_header ? buf_put(&b, at.at, at.len) :
			    jtext_put_text(at, &b);
			if (rc == 0 && (text = buf_steal(&b, NULL)) == NULL)
				rc = PO_ENOMEM;
			buf_done(&b);
			if (rc == 0)
				rc = artifact_take(rule, text, v);
		}
	}
	return rc;
}

/* add_artifact() takes value over; what is there already is not doubled. */
static int
add_artifact(struct poll_verdict *v, const char *encoding, char *value)
{
	struct artifact *list = NULL;
	size_t i = 0;

	for (i = 0; i < v->nartifacts; i++)
		if (strcmp(v->artifacts[i].value, value) == 0) {
			mem_free(value);
			return 0;
		}
	list = mem_grow(v->artifacts, v->nartifacts + 1, sizeof(*list));
	if (list == NULL) {
		mem_free(value);
		return PO_ENOMEM;
	}
	v->artifacts = list;
	list[v->nartifacts] = (struct artifact){
		.encoding = mem_strdup(encoding), .value = value
	};
	if (list[v->nartifacts].encoding == NULL) {
		mem_free(value);
		return PO_ENOMEM;
	}
	v->nartifacts++;
	return 0;
}
