/*
 * request.c - whole requests, ready to be sent.
 *
 * Owns struct request's contents.  Everything that can fail fails here,
 * before anything is marked.  Whatever holds {key} goes only to hosts that
 * the file names for it.
 */
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

#define HEADERS_MAX	64
#define HEADER_MAX	(16u << 10)
#define BODY_MAX	(32u << 20)
#define DOWNLOAD_TIMEOUT_MS	(600 * 1000)

static int	build(const struct provider *, const struct call *,
		    struct scope *, struct request *);
static int	build_url(const struct provider *, const struct call *,
		    struct scope *, char **);
static int	build_headers(const struct provider *, const struct call *,
		    bool, bool, struct scope *, struct request *);
static int	build_call(const struct provider *, const struct call *,
		    const struct task_context *, struct request *, char **);

int
provider_build_submit(const struct provider *p,
    const struct task_context *task, struct request *ret, char **ret_error)
{
	return build_call(p, &p->submit, task, ret, ret_error);
}

int
provider_build_poll(const struct provider *p,
    const struct task_context *task, struct request *ret, char **ret_error)
{
	return build_call(p, &p->poll, task, ret, ret_error);
}

int
provider_build_result(const struct provider *p,
    const struct task_context *task, struct request *ret, char **ret_error)
{
	return build_call(p, &p->result, task, ret, ret_error);
}

int
provider_build_find(const struct provider *p,
    const struct task_context *task, struct request *ret, char **ret_error)
{
	return build_call(p, &p->find, task, ret, ret_error);
}

int
provider_build_download(const struct provider *p,
    const struct task_context *task, const char *url, struct request *ret,
    char **ret_error)
{
	const struct call get = { .timeout_ms = DOWNLOAD_TIMEOUT_MS };
	struct scope scope = { .provider = p, .task = task };
	struct request r = { .timeout_ms = DOWNLOAD_TIMEOUT_MS };
	bool is_keyed = false;
	int rc = 0;

	*ret_error = NULL;
	if (provider_check_url(p, url, &is_keyed) < 0) {
		*ret_error = mem_printf("%s: hosts names no such host: "
		    "%.200s", p->name, url);
		return PO_EINVAL;
	}
	r.method = mem_strdup("GET");
	r.url = mem_strdup(url);
	r.headers = mem_array(HEADERS_MAX + 1, sizeof(*r.headers));
	if (r.method == NULL || r.url == NULL || r.headers == NULL)
		rc = PO_ENOMEM;
	if (rc == 0 && is_keyed && p->result_rules.is_keyed)
		rc = build_headers(p, &get, true, true, &scope, &r);
	if (rc < 0) {
		request_done(&r);
		*ret_error = scope.error;
		return rc == PO_ENOENT ? PO_EINVAL : rc;
	}
	mem_free(scope.error);
	*ret = r;
	return 0;
}

void
request_done(struct request *r)
{
	size_t i = 0;

	for (i = 0; r->headers != NULL && r->headers[i] != NULL; i++)
		mem_free_secret(r->headers[i], strlen(r->headers[i]));
	mem_free(r->headers);
	mem_free(r->method);
	mem_free(r->url);
	if (r->body != NULL)
		mem_free_secret(r->body, r->body_len);
	*r = (struct request){ 0 };
}

static int
build_call(const struct provider *p, const struct call *call,
    const struct task_context *task, struct request *ret, char **ret_error)
{
	struct scope scope = { .provider = p, .task = task };
	struct request r = { 0 };
	struct buf input;
	int rc = 0;

	*ret_error = NULL;
	if (call->urls.count == 0) {
		*ret_error = mem_printf("%s: the provider file has no such "
		    "request", p->name);
		return PO_EINVAL;
	}
	buf_init(&input, 6 * task->input_len + 64);
	if (task->input != NULL && task->input_len > 0) {
		rc = jtext_clean(task->input, task->input_len, &input);
		scope.input = jtext_of(&input);
		if (rc == PO_EINVAL)
			scope.error = mem_strdup("the input is no JSON");
	} else
		scope.input = (struct jtext){ .at = "null", .len = 4 };
	if (rc == 0)
		rc = build(p, call, &scope, &r);
	buf_done(&input);
	if (rc < 0) {
		request_done(&r);
		*ret_error = scope.error;
		return rc == PO_ENOENT ? PO_EINVAL : rc;
	}
	mem_free(scope.error);
	*ret = r;
	return 0;
}

static int
build(const struct provider *p, const struct call *call, struct scope *scope,
    struct request *r)
{
	struct buf body;
	bool is_keyed = false;
	int rc = 0;

	r->timeout_ms = call->timeout_ms;
	r->max_body = call->max_body;
	if ((r->method = mem_strdup(call->method)) == NULL)
		return PO_ENOMEM;
	if ((rc = build_url(p, call, scope, &r->url)) < 0)
		return rc;
	if (provider_check_url(p, r->url, &is_keyed) < 0) {
		mem_free(scope->error);
		scope->error = mem_printf("%s: neither hosts nor key_hosts "
		    "names the host of %.200s", p->name, r->url);
		return PO_EINVAL;
	}
	if (call->body != NULL) {
		buf_init(&body, BODY_MAX);
		rc = body_expand(call->body, scope, &body);
		if (rc == 0 &&
		    (r->body = buf_steal(&body, &r->body_len)) == NULL)
			rc = PO_ENOMEM;
		buf_done(&body);
		if (rc == 0 && scope->is_secret && !is_keyed) {
			scope->error = mem_printf("%s: the body has {key}, and "
			    "key_hosts does not name the host", p->name);
			rc = PO_EINVAL;
		}
	}
	if (rc < 0)
		return rc;
	r->headers = mem_array(HEADERS_MAX + 1, sizeof(*r->headers));
	if (r->headers == NULL)
		return PO_ENOMEM;
	return build_headers(p, call, is_keyed, false, scope, r);
}

/* The first form whose values are all there; the others' errors are moot. */
static int
build_url(const struct provider *p, const struct call *call,
    struct scope *scope, char **ret)
{
	const char *text = NULL;
	struct buf b, whole;
	size_t i = 0;
	int rc = PO_ENOENT;

	buf_init(&b, 2 * PROVIDER_URL_MAX);
	buf_init(&whole, 3 * PROVIDER_URL_MAX);
	for (i = 0; rc == PO_ENOENT && i < call->urls.count; i++) {
		buf_reset(&b);
		rc = template_expand(&call->urls.v[i], TEMPLATE_URL, scope,
		    &b);
	}
	text = buf_text(&b);
	if (rc == 0 && strstr(text, "://") == NULL)
		rc = buf_puts(&whole, p->base);
	if (rc == 0)
		rc = buf_puts(&whole, text);
	if (rc == 0 && (*ret = buf_steal(&whole, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&b);
	buf_done(&whole);
	return rc;
}

static bool
headers_have(const struct headers *list, const char *name)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		if (strcasecmp(list->v[i].name, name) == 0)
			return true;
	return false;
}

static int
add_header(struct request *r, const struct header *h, struct scope *scope)
{
	struct buf b;
	size_t n = 0;
	int rc = 0;

	for (n = 0; r->headers[n] != NULL; n++)
		;
	if (n == HEADERS_MAX)
		return PO_ERANGE;
	buf_init(&b, HEADER_MAX);
	rc = buf_printf(&b, "%s: ", h->name);
	if (rc == 0)
		rc = template_expand(&h->value, TEMPLATE_HEADER, scope, &b);
	if (rc == 0 && (r->headers[n] = buf_steal(&b, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&b);
	return rc;
}

static int
add_list(struct request *r, const struct headers *list,
    const struct headers *over, bool is_keyed, bool only_key,
    struct scope *scope)
{
	const struct header *h = NULL;
	size_t i = 0;
	bool has_key = false;
	int rc = 0;

	for (i = 0; rc == 0 && i < list->count; i++) {
		h = &list->v[i];
		has_key = template_uses(&h->value, PLACE_KEY);
		if ((has_key && !is_keyed) || (only_key && !has_key))
			continue;
		if (over != NULL && headers_have(over, h->name))
			continue;
		rc = add_header(r, h, scope);
		if (has_key)
			r->has_secret = true;
	}
	return rc;
}

static int
add_usual(struct request *r, const struct provider *p,
    const struct call *call, const char *name, const char *value)
{
	struct template_part text = {
		.place = PLACE_TEXT, .text = (char *)value
	};
	const struct header h = {
		.name = (char *)name, .value = { .parts = &text, .count = 1 }
	};

	if (headers_have(&p->headers, name) ||
	    headers_have(&call->headers, name))
		return 0;
	return add_header(r, &h, NULL);
}

/* A request's own headers win over the provider's of the same name. */
static int
build_headers(const struct provider *p, const struct call *call,
    bool is_keyed, bool only_key, struct scope *scope, struct request *r)
{
	int rc = 0;

	rc = add_list(r, &p->headers, &call->headers, is_keyed, only_key,
	    scope);
	if (rc == 0)
		rc = add_list(r, &call->headers, NULL, is_keyed, only_key,
		    scope);
	if (rc == 0 && !only_key)
		rc = add_usual(r, p, call, "Accept", "application/json");
	if (rc == 0 && !only_key && r->body != NULL)
		rc = add_usual(r, p, call, "Content-Type",
		    "application/json");
	if (scope->is_secret)
		r->has_secret = true;
	return rc;
}
