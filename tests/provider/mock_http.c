/*
 * mock_http.c - reading the head of an HTTP/1.1 request, strictly.
 *
 * Pure: it looks at bytes and fills a struct request.  It must not touch a
 * connection.  What it refuses comes back as the HTTP status to answer with.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/num.h"
#include "tests/provider/mock.h"

static int	http_parse_line(const char *, size_t, struct request *);
static int	http_parse_field(const char *, size_t, struct request *);
static int	http_set_field(const char *, size_t, const char *, size_t,
		    struct request *);
static int	http_set_task(const char *, size_t, struct request *);
static int	http_copy(char *, size_t, const char *, size_t);

/* http_head_len() counts the head with its empty line. */
size_t
http_head_len(const struct buf *in)
{
	const char *head = (const char *)buf_head(in);
	const char *end;
	size_t len = buf_left(in);

	if (len < 4)
		return 0;
	end = memmem(head, len, "\r\n\r\n", 4);
	return end == NULL ? 0 : (size_t)(end - head) + 4;
}

/* http_parse() returns 0 or the status of the refusal. */
int
http_parse(const char *head, size_t len, struct request *ret)
{
	const char *line = head;
	const char *end = head + len - 2;	/* the empty line is left out */
	const char *eol;
	bool is_first = true;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (memchr(head, '\0', len) != NULL)
		return 400;
	while (line < end) {
		eol = memmem(line, (size_t)(end - line), "\r\n", 2);
		if (eol == NULL)
			return 400;
		if (is_first)
			rc = http_parse_line(line, (size_t)(eol - line), ret);
		else
			rc = http_parse_field(line, (size_t)(eol - line), ret);
		if (rc != 0)
			return rc;
		is_first = false;
		line = eol + 2;
	}
	if (is_first || ret->host[0] == '\0')
		return 400;
	if (strcmp(ret->method, "POST") == 0 && !ret->has_len)
		return 411;
	return 0;
}

/* METHOD SP target SP HTTP/1.x */
static int
http_parse_line(const char *line, size_t len, struct request *ret)
{
	const char *sp1 = memchr(line, ' ', len);
	const char *sp2 = memrchr(line, ' ', len);
	const char *target, *query;
	size_t target_len;

	if (sp1 == NULL || sp2 == sp1)
		return 400;
	if ((size_t)(line + len - sp2) != 9 ||
	    memcmp(sp2 + 1, "HTTP/1.", 7) != 0)
		return 505;
	ret->is_kept = sp2[8] == '1';
	if (http_copy(ret->method, sizeof(ret->method), line,
	    (size_t)(sp1 - line)) != 0)
		return 400;
	target = sp1 + 1;
	target_len = (size_t)(sp2 - target);
	if (target_len == 0 || target[0] != '/')
		return 400;
	query = memchr(target, '?', target_len);
	if (query != NULL) {
		target_len = (size_t)(query - target);
		if ((size_t)(sp2 - query) > sizeof(ret->query))
			return 414;
		if (http_copy(ret->query, sizeof(ret->query), query + 1,
		    (size_t)(sp2 - query - 1)) != 0)
			return 400;
	}
	if (target_len >= sizeof(ret->path))
		return 414;
	return http_copy(ret->path, sizeof(ret->path), target, target_len);
}

static int
http_parse_field(const char *line, size_t len, struct request *ret)
{
	const char *colon = memchr(line, ':', len);
	const char *value;
	size_t value_len;

	/* A folded line begins with a blank: nobody sends that any more. */
	if (colon == NULL || colon == line || line[0] == ' ' ||
	    line[0] == '\t' || colon[-1] == ' ')
		return 400;
	value = colon + 1;
	value_len = (size_t)(line + len - value);
	while (value_len > 0 && (*value == ' ' || *value == '\t')) {
		value++;
		value_len--;
	}
	while (value_len > 0 && (value[value_len - 1] == ' ' ||
	    value[value_len - 1] == '\t'))
		value_len--;
	return http_set_field(line, (size_t)(colon - line), value, value_len,
	    ret);
}

static bool
http_is_name(const char *name, size_t len, const char *wanted)
{
	return strlen(wanted) == len && strncasecmp(name, wanted, len) == 0;
}

static int
http_set_field(const char *name, size_t name_len, const char *value,
    size_t len, struct request *ret)
{
	char text[32];
	uint64_t number;

	if (http_is_name(name, name_len, "Host"))
		return http_copy(ret->host, sizeof(ret->host), value, len);
	if (http_is_name(name, name_len, "Authorization")) {
		ret->has_auth = true;
		return http_copy(ret->auth, sizeof(ret->auth), value, len);
	}
	if (http_is_name(name, name_len, "X-Payonce-Task"))
		return http_set_task(value, len, ret);
	if (http_is_name(name, name_len, "Transfer-Encoding"))
		return 411;
	if (http_is_name(name, name_len, "Content-Length")) {
		if (ret->has_len ||
		    http_copy(text, sizeof(text), value, len) != 0 ||
		    num_parse_u64(text, UINT64_MAX, &number) != 0)
			return 400;
		if (number > MOCK_BODY_MAX)
			return 413;
		ret->has_len = true;
		ret->body_len = (size_t)number;
		return 0;
	}
	if (http_is_name(name, name_len, "Connection")) {
		if (len == 5 && strncasecmp(value, "close", 5) == 0)
			ret->is_kept = false;
		return 0;
	}
	if (http_is_name(name, name_len, "Expect"))
		ret->is_expecting = true;
	return 0;
}

/* <task>.<attempt>; anything else is refused, a test must not go on blind. */
static int
http_set_task(const char *value, size_t len, struct request *ret)
{
	char text[48];
	char *dot;
	int64_t task, attempt;

	if (ret->has_task || http_copy(text, sizeof(text), value, len) != 0)
		return 400;
	dot = strchr(text, '.');
	if (dot == NULL)
		return 400;
	*dot = '\0';
	if (num_parse_i64(text, 0, INT64_MAX, &task) != 0 ||
	    num_parse_i64(dot + 1, 0, INT32_MAX, &attempt) != 0)
		return 400;
	ret->task = task;
	ret->attempt = (int)attempt;
	ret->has_task = true;
	return 0;
}

/*
 * http_copy() copies a word of printable bytes without the two that would
 * need escaping in the ledger.
 */
static int
http_copy(char *ret, size_t cap, const char *text, size_t len)
{
	size_t i;

	if (len >= cap)
		return 400;
	for (i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f ||
		    text[i] == '"' || text[i] == '\\')
			return 400;
		ret[i] = text[i];
	}
	ret[len] = '\0';
	return 0;
}

/* http_query_i64() returns 0, 1 (not there) or -1 (no number). */
int
http_query_i64(const struct request *req, const char *name, int64_t *ret)
{
	const char *at = req->query;
	const char *end;
	char text[32];
	size_t name_len = strlen(name);

	while (*at != '\0') {
		end = strchrnul(at, '&');
		if ((size_t)(end - at) > name_len && at[name_len] == '=' &&
		    strncmp(at, name, name_len) == 0) {
			at += name_len + 1;
			if (http_copy(text, sizeof(text), at,
			    (size_t)(end - at)) != 0)
				return -1;
			return num_parse_i64(text, 0, INT64_MAX, ret) == 0 ?
			    0 : -1;
		}
		at = *end == '&' ? end + 1 : end;
	}
	return 1;
}

const char *
http_reason(int status)
{
	static const struct {
		int		 status;
		const char	*reason;
	} reasons[] = {
		{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" },
		{ 204, "No Content" }, { 301, "Moved Permanently" },
		{ 302, "Found" }, { 303, "See Other" },
		{ 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
		{ 400, "Bad Request" }, { 401, "Unauthorized" },
		{ 402, "Payment Required" }, { 403, "Forbidden" },
		{ 404, "Not Found" }, { 405, "Method Not Allowed" },
		{ 408, "Request Timeout" }, { 409, "Conflict" },
		{ 411, "Length Required" }, { 413, "Content Too Large" },
		{ 414, "URI Too Long" }, { 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" }, { 502, "Bad Gateway" },
		{ 503, "Service Unavailable" }, { 504, "Gateway Timeout" },
		{ 505, "HTTP Version Not Supported" }
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Scripted";
}
