/*
 * compile.c - a description becomes a provider, or a list of all its faults.
 *
 * Owns the life of struct provider and the small readers that each section
 * uses.  Every fault names file, line and key, and what was expected.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/keys.h"
#include "provider/parts.h"

#define ERRORS_MAX	(64u << 10)

static void	compile_keys(struct compile *);
static void	compile_top(struct compile *);

int
provider_compile(const struct desc *d, struct provider **ret,
    char **ret_error)
{
	struct compile c = { .desc = d };
	int rc = 0;

	*ret_error = NULL;
	buf_init(&c.errors, ERRORS_MAX);
	if ((c.p = mem_alloc(sizeof(*c.p))) == NULL ||
	    (c.p->name = mem_strdup(d->name)) == NULL)
		c.rc = PO_ENOMEM;
	else {
		compile_keys(&c);
		compile_top(&c);
		compile_submit(&c);
		compile_poll(&c);
		compile_result(&c);
		compile_cost(&c);
		compile_find(&c);
		if (c.rc == 0 && buf_left(&c.errors) == 0)
			compile_check(&c);
	}
	rc = c.rc;
	if (rc == 0 && buf_left(&c.errors) > 0) {
		rc = PO_EINVAL;
		*ret_error = buf_steal(&c.errors, NULL);
		if (*ret_error == NULL)
			rc = PO_ENOMEM;
	}
	buf_done(&c.errors);
	if (rc < 0) {
		provider_free(&c.p);
		return rc;
	}
	*ret = c.p;
	return 0;
}

/* One line per fault; ends without a line break. */
void
compile_error(struct compile *c, const char *key, const char *fmt, ...)
{
	const struct desc_item *item = desc_find(c->desc, key);
	char text[512] = "";
	va_list ap;
	int rc = 0;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut is fine */
	va_end(ap);
	if (buf_left(&c->errors) > 0)
		rc = buf_putc(&c->errors, '\n');
	/* a key that is missing is missing where the others stand */
	if (item == NULL && c->desc->count > 0)
		item = &c->desc->items[0];
	if (rc == 0 && item != NULL && item->file != NULL)
		rc = buf_printf(&c->errors, "%s:%d: ", item->file,
		    item->line);
	if (rc == 0)
		rc = buf_printf(&c->errors, "provider %s: %s: %s",
		    c->desc->name, key, text);
	if (rc < 0 && c->rc == 0)
		c->rc = PO_ENOMEM;
}

const struct desc_item *
compile_item(struct compile *c, const char *key)
{
	return c->rc == 0 ? desc_find(c->desc, key) : NULL;
}

const char *
compile_text(struct compile *c, const char *key)
{
	const struct desc_item *item = compile_item(c, key);

	return item != NULL && item->nvalues == 1 ? item->values[0] : NULL;
}

bool
compile_bool(struct compile *c, const char *key, bool def)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };
	const char *text = compile_text(c, key);
	size_t i = 0;

	if (text == NULL)
		return def;
	for (i = 0; i < 4; i++) {
		if (strcmp(text, yes[i]) == 0)
			return true;
		if (strcmp(text, no[i]) == 0)
			return false;
	}
	compile_error(c, key, "expected yes or no, found \"%.100s\"", text);
	return def;
}

int64_t
compile_int(struct compile *c, const char *key, int64_t min, int64_t max,
    int64_t def)
{
	const char *text = compile_text(c, key);
	int64_t value = def;

	if (text != NULL && num_parse_i64(text, min, max, &value) < 0)
		compile_error(c, key, "expected a whole number from %lld to "
		    "%lld, found \"%.100s\"", (long long)min, (long long)max,
		    text);
	return value;
}

int64_t
compile_ms(struct compile *c, const char *key, int64_t min_ms,
    int64_t max_ms, int64_t def_ms)
{
	const char *text = compile_text(c, key);
	int64_t value = def_ms;

	if (text == NULL)
		return def_ms;
	if (num_decimal_check(text) < 0 ||
	    decimal_to_i64(text, "1000", &value) < 0 || value < min_ms ||
	    value > max_ms) {
		compile_error(c, key, "expected seconds from %g to %lld, "
		    "found \"%.100s\"", (double)min_ms / 1000,
		    (long long)max_ms / 1000, text);
		return def_ms;
	}
	return value;
}

const char *
provider_name(const struct provider *p)
{
	return p->name;
}

bool
provider_is_sync(const struct provider *p)
{
	return p->is_sync;
}

bool
provider_has_result_fetch(const struct provider *p)
{
	return p->result.urls.count > 0;
}

bool
provider_has_find(const struct provider *p)
{
	return p->find.urls.count > 0;
}

bool
provider_has_cancel(const struct provider *p)
{
	(void)p;
	return false;	/* cancel { } is read and checked, not sent yet */
}

int
provider_idempotency_ttl_s(const struct provider *p)
{
	return p->idem_ttl_s;
}

int
provider_lookup_window_s(const struct provider *p)
{
	return p->lookup_s;
}

int
provider_poll_interval_ms(const struct provider *p)
{
	return p->interval_ms;
}

int
provider_poll_interval_max_ms(const struct provider *p)
{
	return p->interval_max_ms;
}

int64_t
provider_fetch_within_ms(const struct provider *p)
{
	return p->result_rules.fetch_within_ms;
}

static void
compile_unknown(struct compile *c, const char *key)
{
	const char *names[256];
	const char *near = NULL;
	size_t count = 0;

	for (count = 0; count < provider_keys_count && count < 256; count++)
		names[count] = provider_keys[count].name;
	near = key_nearest(key, names, count);
	if (near != NULL)
		compile_error(c, key, "there is no such key; the nearest one "
		    "is %s", near);
	else
		compile_error(c, key, "there is no such key; see "
		    "provider.conf(5)");
}

static void
compile_keys(struct compile *c)
{
	const struct desc_item *item = NULL;
	const struct provider_key *key = NULL;
	size_t i = 0;

	for (i = 0; i < c->desc->count; i++) {
		item = &c->desc->items[i];
		if ((key = provider_key_find(item->key)) == NULL)
			compile_unknown(c, item->key);
		else if (!key->is_list && item->nvalues != 1)
			compile_error(c, item->key, "expected one value, "
			    "found %zu", item->nvalues);
		else if (key->use == KEY_REFUSED)
			compile_error(c, item->key, "not supported yet by "
			    "this version, and without it the calls would "
			    "be wrong");
	}
}

/* {var:name} is the one placeholder that base may have. */
static int
compile_base(struct compile *c, const char *text)
{
	struct template t = { 0 };
	struct scope scope = { .provider = c->p };
	struct url_parts parts;
	struct buf b;
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	buf_init(&b, PROVIDER_URL_MAX);
	if ((rc = template_parse(text, &t, &why)) < 0)
		goto out;
	for (i = 0; i < t.count; i++)
		if (t.parts[i].place != PLACE_TEXT &&
		    t.parts[i].place != PLACE_VAR)
			rc = PO_EINVAL;
	if (rc == 0)
		rc = template_expand(&t, TEMPLATE_PLAIN, &scope, &b);
	while (rc == 0 && buf_left(&b) > 0 &&
	    buf_text(&b)[buf_left(&b) - 1] == '/')
		buf_truncate(&b, buf_left(&b) - 1);
	if (rc == 0 && (c->p->base = buf_steal(&b, NULL)) == NULL)
		rc = PO_ENOMEM;
	if (rc == 0 && (url_split(c->p->base, &parts) < 0 || parts.has_user ||
	    (strncmp(c->p->base, "https://", 8) != 0 &&
	    strncmp(c->p->base, "http://", 7) != 0)))
		rc = PO_EINVAL;
out:
	mem_free(scope.error);
	template_done(&t);
	buf_done(&b);
	return rc;
}

static void
compile_hosts(struct compile *c, const char *key, struct words *list)
{
	const char *bad = NULL;
	size_t i = 0;

	compile_words(c, key, list);
	for (i = 0; i < list->count; i++) {
		bad = list->v[i] + (strncmp(list->v[i], "*.", 2) == 0 ? 2 : 0);
		if (bad[0] == '\0' || strpbrk(bad, "/*@ ") != NULL)
			compile_error(c, key, "expected \"host\", \"*.host\" "
			    "or \"host:port\", found \"%.100s\"",
			    list->v[i]);
	}
}

static void
compile_top(struct compile *c)
{
	const char *base = compile_text(c, "base");
	const char *own = compile_text(c, "own");
	size_t i = 0;
	int rc = 0;

	compile_words(c, "vars", &c->p->vars);
	for (i = 0; i < c->p->vars.count; i++)
		if (strchr(c->p->vars.v[i], '=') == NULL)
			compile_error(c, "vars", "expected \"name=value\", "
			    "found \"%.100s\"", c->p->vars.v[i]);
	if (base == NULL && c->rc == 0)
		compile_error(c, "base", "expected the API's address such as "
		    "\"https://api.example\", found nothing");
	else if (base != NULL && (rc = compile_base(c, base)) == PO_ENOMEM)
		c->rc = rc;
	else if (rc < 0)
		compile_error(c, "base", "expected an https:// (or http://) "
		    "URL without user, found \"%.100s\"", base);
	compile_headers(c, "header", &c->p->headers);
	compile_hosts(c, "key_hosts", &c->p->key_hosts);
	compile_hosts(c, "hosts", &c->p->hosts);
	if (own != NULL && strcmp(own, "text") != 0 &&
	    strcmp(own, "uuid4") != 0)
		compile_error(c, "own", "expected text or uuid4, found "
		    "\"%.100s\"", own);
}
