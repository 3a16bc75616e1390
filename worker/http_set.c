/*
 * http_set.c - THE place where libcurl's options are set, and the collecting
 * callbacks that they name.
 *
 * A paid request: fresh connection, never kept; HTTP/1.1; no redirect, no
 * Expect, no authentication that needs a second round, no proxy: nothing that
 * makes libcurl send twice.  The gate catches what is left.
 */
#include "worker/http.h"

#include <string.h>
#include <strings.h>

#include "common/err.h"

#define HTTP_CONNECT_MS		15000L
#define HTTP_HEAD_MAX		(64u << 10)
#define HTTP_LOW_SPEED_S	60L
#define HTTP_LOW_SPEED_BYTES	1L

static int	http_set_common(struct http_call *);
static int	http_set_paid(struct http_call *);
static int	http_set_method(struct http_call *);
static int	http_set_headers(struct http_call *);

#define SET(e, option, value)						\
	do {								\
		if (curl_easy_setopt((e), (option), (value)) != CURLE_OK) \
			return PO_EINVAL;				\
	} while (0)

int
http_set(struct http_call *c)
{
	int rc = 0;

	if ((rc = http_set_common(c)) < 0 || (rc = http_set_method(c)) < 0 ||
	    (rc = http_set_headers(c)) < 0)
		return rc;
	if (c->use == HTTP_PAID)
		return http_set_paid(c);
	if (c->use == HTTP_DOWNLOAD) {
		SET(c->easy, CURLOPT_LOW_SPEED_TIME, HTTP_LOW_SPEED_S);
		SET(c->easy, CURLOPT_LOW_SPEED_LIMIT, HTTP_LOW_SPEED_BYTES);
	} else
		SET(c->easy, CURLOPT_TIMEOUT_MS, (long)c->request.timeout_ms);
	return 0;
}

static int
http_set_common(struct http_call *c)
{
	CURL *e = c->easy;

#if LIBCURL_VERSION_NUM >= 0x075500
	SET(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	SET(e, CURLOPT_URL, c->request.url);
	SET(e, CURLOPT_NOSIGNAL, 1L);
	SET(e, CURLOPT_PROXY, "");	/* not even one of the environment */
	SET(e, CURLOPT_FOLLOWLOCATION, 0L);
	SET(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(e, CURLOPT_HTTPAUTH, (long)CURLAUTH_NONE);
	SET(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(e, CURLOPT_CONNECTTIMEOUT_MS, HTTP_CONNECT_MS);
	SET(e, CURLOPT_PRIVATE, (void *)c);
	c->error[0] = '\0';
	SET(e, CURLOPT_ERRORBUFFER, c->error);
	SET(e, CURLOPT_WRITEFUNCTION, http_collect_body);
	SET(e, CURLOPT_WRITEDATA, (void *)c);
	SET(e, CURLOPT_HEADERFUNCTION, http_collect_head);
	SET(e, CURLOPT_HEADERDATA, (void *)c);
	SET(e, CURLOPT_PREREQFUNCTION, gate_prereq);
	SET(e, CURLOPT_PREREQDATA, (void *)c);
	return 0;
}

static int
http_set_paid(struct http_call *c)
{
	SET(c->easy, CURLOPT_FRESH_CONNECT, 1L);
	SET(c->easy, CURLOPT_FORBID_REUSE, 1L);
	SET(c->easy, CURLOPT_TIMEOUT_MS, (long)c->request.timeout_ms);
	SET(c->easy, CURLOPT_NOPROGRESS, 0L);
	SET(c->easy, CURLOPT_XFERINFOFUNCTION, gate_progress);
	SET(c->easy, CURLOPT_XFERINFODATA, (void *)c);
	return 0;
}

static int
http_set_method(struct http_call *c)
{
	const struct request *r = &c->request;

	if (r->method == NULL || strcmp(r->method, "GET") == 0) {
		if (r->body == NULL) {
			SET(c->easy, CURLOPT_HTTPGET, 1L);
			return 0;
		}
		SET(c->easy, CURLOPT_CUSTOMREQUEST, "GET");
	} else if (strcmp(r->method, "POST") != 0)
		SET(c->easy, CURLOPT_CUSTOMREQUEST, r->method);
	/* libcurl reads our bytes in place; they live as long as the call */
	SET(c->easy, CURLOPT_POST, 1L);
	SET(c->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
	SET(c->easy, CURLOPT_POSTFIELDS, r->body != NULL ? r->body : "");
	return 0;
}

static int
http_set_headers(struct http_call *c)
{
	struct curl_slist *list = NULL;
	bool has_type = false;
	size_t i = 0;

	/* an empty Expect: no 100-continue, no 417 and no second POST */
	if ((c->headers = curl_slist_append(NULL, "Expect:")) == NULL)
		return PO_ENOMEM;
	for (i = 0; c->request.headers != NULL && c->request.headers[i] !=
	    NULL; i++) {
		if (strncasecmp(c->request.headers[i], "expect:", 7) == 0)
			continue;
		if (strncasecmp(c->request.headers[i], "content-type:",
		    13) == 0)
			has_type = true;
		list = curl_slist_append(c->headers, c->request.headers[i]);
		if (list == NULL)
			return PO_ENOMEM;
	}
	/* else libcurl would call a body without a type a form */
	if (!has_type &&
	    curl_slist_append(c->headers, "Content-Type:") == NULL)
		return PO_ENOMEM;
	SET(c->easy, CURLOPT_HTTPHEADER, c->headers);
	return 0;
}

size_t
http_collect_head(char *data, size_t one, size_t count, void *arg)
{
	struct http_call *c = arg;
	size_t len = one * count;	/* libcurl: one is always 1 */
	size_t keep = len;

	if (len >= 5 && memcmp(data, "HTTP/", 5) == 0) {
		buf_reset(&c->head);	/* a 1xx came before */
		return len;
	}
	while (keep > 0 && (data[keep - 1] == '\n' || data[keep - 1] == '\r'))
		keep--;
	if (keep == 0)
		return len;
	if (memchr(data, '\0', keep) != NULL)
		return 0;
	if (c->head.max == 0)
		buf_init(&c->head, HTTP_HEAD_MAX);
	if (buf_put(&c->head, data, keep) < 0 || buf_putc(&c->head, '\0') < 0) {
		c->is_too_big = true;
		return 0;
	}
	return len;
}

size_t
http_collect_body(char *data, size_t one, size_t count, void *arg)
{
	struct http_call *c = arg;
	size_t len = one * count;
	long status = 0;

	if (c->use == HTTP_DOWNLOAD) {
		if (curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE,
		    &status) != CURLE_OK)
			return 0;
		if (status < 200 || status > 299)
			return len;	/* an error's text is no artifact */
		return c->on_data(c->arg, data, len) == 0 ? len : 0;
	}
	if (len > c->request.max_body - buf_left(&c->body)) {
		c->is_too_big = true;
		return 0;
	}
	if (c->body.max == 0)
		buf_init(&c->body, c->request.max_body);
	return buf_put(&c->body, data, len) < 0 ? 0 : len;
}
