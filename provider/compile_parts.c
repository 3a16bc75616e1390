/*
 * compile_parts.c - reads the small languages of a provider file: selectors,
 * predicates, words, headers, requests.
 *
 * Owns nothing; fills the provider that compile.c made.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

#define SMALL_BODY_MAX	(8 << 20)

/* compile_fault() reports one value, or keeps PO_ENOMEM. */
static void
compile_fault(struct compile *c, const char *key, int rc, const char *why,
    const char *value)
{
	if (rc == PO_ENOMEM)
		c->rc = rc;
	else
		compile_error(c, key, "expected %s, found \"%.200s\"", why,
		    value);
}

/* compile_room() makes room for all values of a key; NULL: none. */
static void *
compile_room(struct compile *c, const struct desc_item *item, size_t len)
{
	void *room = NULL;

	if (item == NULL || item->nvalues == 0)
		return NULL;
	if ((room = mem_array(item->nvalues, len)) == NULL)
		c->rc = PO_ENOMEM;
	return room;
}

void
compile_selectors(struct compile *c, const char *key, struct selectors *list)
{
	const struct desc_item *item = compile_item(c, key);
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	list->v = compile_room(c, item, sizeof(*list->v));
	for (i = 0; list->v != NULL && i < item->nvalues; i++) {
		rc = selector_parse(item->values[i], strlen(item->values[i]),
		    &list->v[list->count], &why);
		if (rc == 0)
			list->count++;
		else
			compile_fault(c, key, rc, why, item->values[i]);
	}
}

void
compile_predicates(struct compile *c, const char *key,
    struct predicates *list)
{
	const struct desc_item *item = compile_item(c, key);
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	list->v = compile_room(c, item, sizeof(*list->v));
	for (i = 0; list->v != NULL && i < item->nvalues; i++) {
		rc = predicate_parse(item->values[i], &list->v[list->count],
		    &why);
		if (rc == 0)
			list->count++;
		else
			compile_fault(c, key, rc, why, item->values[i]);
	}
}

void
compile_words(struct compile *c, const char *key, struct words *list)
{
	const struct desc_item *item = compile_item(c, key);
	size_t i = 0;

	list->v = compile_room(c, item, sizeof(*list->v));
	for (i = 0; list->v != NULL && i < item->nvalues; i++) {
		if (item->values[i][0] == '\0') {
			compile_fault(c, key, PO_EINVAL, "a word", "");
			continue;
		}
		list->v[list->count] = mem_strdup(item->values[i]);
		if (list->v[list->count] == NULL) {
			c->rc = PO_ENOMEM;
			return;
		}
		list->count++;
	}
}

static int
header_parse(const char *text, struct header *ret, const char **ret_why)
{
	static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	size_t len = strspn(text, name_chars);
	const char *at = NULL;
	int rc = 0;

	*ret_why = "\"Name: value\" on one line";
	if (len == 0 || text[len] != ':')
		return PO_EINVAL;
	for (at = text; *at != '\0'; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return PO_EINVAL;
	at = text + len + 1;
	rc = template_parse(at + strspn(at, " "), &ret->value, ret_why);
	if (rc == 0 && (ret->name = mem_strndup(text, len)) == NULL) {
		template_done(&ret->value);
		rc = PO_ENOMEM;
	}
	return rc;
}

void
compile_headers(struct compile *c, const char *key, struct headers *list)
{
	const struct desc_item *item = compile_item(c, key);
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	list->v = compile_room(c, item, sizeof(*list->v));
	for (i = 0; list->v != NULL && i < item->nvalues; i++) {
		rc = header_parse(item->values[i], &list->v[list->count],
		    &why);
		if (rc == 0)
			list->count++;
		else
			compile_fault(c, key, rc, why, item->values[i]);
	}
}

static bool
template_is_buildable(const struct template *t)
{
	return !template_uses(t, PLACE_HOOK) &&
	    !template_uses(t, PLACE_AFTER) &&
	    !template_uses(t, PLACE_LAST_ID);
}

static void
compile_urls(struct compile *c, const char *key, struct templates *list)
{
	const struct desc_item *item = compile_item(c, key);
	struct template *t = NULL;
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	list->v = compile_room(c, item, sizeof(*list->v));
	for (i = 0; list->v != NULL && i < item->nvalues; i++) {
		t = &list->v[list->count];
		rc = template_parse(item->values[i], t, &why);
		if (rc < 0) {
			compile_fault(c, key, rc, why, item->values[i]);
			continue;
		}
		list->count++;
		if (!template_is_buildable(t))
			compile_error(c, key, "{hook}, {after} and {last_id} "
			    "are not supported yet by this version");
		if (template_uses(t, PLACE_KEY))
			compile_error(c, key, "{key} belongs into a header: "
			    "URLs are logged");
	}
}

/* compile_call() reads what the sections of requests have in common. */
void
compile_call(struct compile *c, const char *section, struct call *call)
{
	bool is_submit = strcmp(section, "submit") == 0;
	const char *method = NULL, *body = NULL, *why = NULL;
	char key[64] = "";
	size_t at = strlen(section), i = 0;
	int rc = 0;
	static const char *const methods[] = { "GET", "POST", "PUT" };

	memcpy(key, section, at);	/* one of four short names */
	key[at++] = '.';
#define KEY(word) (memcpy(key + at, word, sizeof(word)), key)
	compile_urls(c, KEY("url"), &call->urls);
	compile_headers(c, KEY("header"), &call->headers);
	call->timeout_ms = compile_ms(c, KEY("timeout"), 1000, 7200 * 1000,
	    is_submit ? 120 * 1000 : 60 * 1000);
	call->max_body = (size_t)compile_int(c, KEY("max_body"), 1024,
	    1 << 30, SMALL_BODY_MAX);
	method = compile_text(c, KEY("method"));
	if (method == NULL)
		method = is_submit ? "POST" : "GET";
	for (i = 0; i < 3 && strcmp(methods[i], method) != 0; i++)
		;
	if (i == 3 || (is_submit && i == 0))
		compile_error(c, KEY("method"), "expected %sPOST or PUT, "
		    "found \"%.40s\"", is_submit ? "" : "GET, ", method);
	if ((call->method = mem_strdup(method)) == NULL)
		c->rc = PO_ENOMEM;
	body = compile_text(c, KEY("body"));
	if (body != NULL &&
	    (rc = body_compile(body, &call->body, &why)) < 0)
		compile_fault(c, KEY("body"), rc, why, body);
	if (body_uses(call->body, PLACE_HOOK) ||
	    body_uses(call->body, PLACE_AFTER))
		compile_error(c, KEY("body"), "{hook} and {after} are not "
		    "supported yet by this version");
#undef KEY
}
