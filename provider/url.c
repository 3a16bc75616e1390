/*
 * url.c - which URLs may be fetched, and which of them may see the key.
 *
 * Owns nothing.  A URL from a provider's answer is hostile until it is split
 * here: what this parser does not take is refused, so that it cannot mean one
 * host here and another one in the HTTP library.
 */
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

#define HOST_CHARS	"abcdefghijklmnopqrstuvwxyz" \
			"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"
#define V6_CHARS	"0123456789abcdefABCDEF:."

static int	authority_split(const char *, size_t, struct url_parts *);
static bool	pattern_matches(const char *, const struct url_parts *);
static int	remove_dots(const char *, size_t, struct buf *);

int
url_split(const char *url, struct url_parts *ret)
{
	struct url_parts u = { .scheme = url };
	const char *at = NULL;
	size_t len = 0;

	for (at = url; *at != '\0'; at++)
		if (*at <= 0x20 || *at >= 0x7f || *at == '\\')
			return PO_EINVAL;
	if ((size_t)(at - url) > PROVIDER_URL_MAX)
		return PO_EINVAL;
	u.scheme_len = strcspn(url, ":");
	if (strncmp(url + u.scheme_len, "://", 3) != 0)
		return PO_EINVAL;
	at = url + u.scheme_len + 3;
	len = strcspn(at, "/?#");
	u.rest = at + len;
	if (authority_split(at, len, &u) < 0)
		return PO_EINVAL;
	*ret = u;
	return 0;
}

static int
authority_split(const char *at, size_t len, struct url_parts *u)
{
	const char *mark = memchr(at, '@', len);
	char port[8] = "";
	uint64_t number = 0;

	if (mark != NULL) {
		u->has_user = true;
		len -= (size_t)(mark + 1 - at);
		at = mark + 1;
	}
	u->host = at;
	if (len > 0 && *at == '[') {
		u->host_len = 1 + strspn(at + 1, V6_CHARS);
		if (u->host_len >= len || at[u->host_len] != ']' ||
		    u->host_len == 1)
			return PO_EINVAL;
		u->host_len++;
	} else
		u->host_len = strspn(at, HOST_CHARS);
	if (u->host_len == 0 || u->host_len > len)
		return PO_EINVAL;
	at += u->host_len;
	len -= u->host_len;
	if (len == 0)
		return 0;
	if (*at != ':' || len < 2 || len >= sizeof(port))
		return PO_EINVAL;
	memcpy(port, at + 1, len - 1);
	if (num_parse_u64(port, 65535, &number) < 0 || number == 0 ||
	    port[0] == '0')
		return PO_EINVAL;
	u->port = at + 1;
	u->port_len = len - 1;
	return 0;
}

static bool
scheme_is(const struct url_parts *u, const char *scheme)
{
	return u->scheme_len == strlen(scheme) &&
	    strncasecmp(u->scheme, scheme, u->scheme_len) == 0;
}

static const char *
default_port(const struct url_parts *u)
{
	return scheme_is(u, "https") ? "443" : "80";
}

static bool
port_is(const struct url_parts *u, const char *port, size_t len)
{
	const char *own = u->port != NULL ? u->port : default_port(u);
	size_t own_len = u->port != NULL ? u->port_len : strlen(own);

	return own_len == len && memcmp(own, port, len) == 0;
}

/* An address is never covered by "*.": only its own text names it. */
static bool
is_address(const struct url_parts *u)
{
	const char *last = u->host + u->host_len - 1;

	return *u->host == '[' || (*last >= '0' && *last <= '9');
}

static bool
host_list_has(const struct words *list, const struct url_parts *u)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		if (pattern_matches(list->v[i], u))
			return true;
	return false;
}

int
provider_check_url(const struct provider *p, const char *url,
    bool *ret_with_key)
{
	struct url_parts u, base;
	bool is_base = false, has_key = false;

	if (url_split(url, &u) < 0 || url_split(p->base, &base) < 0 ||
	    u.has_user)
		return PO_EPERM;
	if (!scheme_is(&u, "https") &&
	    !(scheme_is(&u, "http") && scheme_is(&base, "http")))
		return PO_EPERM;
	is_base = base.host_len == u.host_len &&
	    strncasecmp(base.host, u.host, u.host_len) == 0 &&
	    u.scheme_len == base.scheme_len &&
	    (base.port != NULL ? port_is(&u, base.port, base.port_len) :
	    port_is(&u, default_port(&base), strlen(default_port(&base))));
	has_key = is_base || host_list_has(&p->key_hosts, &u);
	if (!has_key && !host_list_has(&p->hosts, &u))
		return PO_EPERM;
	*ret_with_key = has_key;
	return 0;
}

static bool
pattern_matches(const char *pattern, const struct url_parts *u)
{
	const char *colon = NULL;
	size_t len = 0;

	/* behind the bracket of an IPv6 address, or anywhere else */
	colon = strchr(*pattern == '[' ? strchrnul(pattern, ']') : pattern,
	    ':');
	len = colon != NULL ? (size_t)(colon - pattern) : strlen(pattern);
	if (colon != NULL) {
		if (!port_is(u, colon + 1, strlen(colon + 1)))
			return false;
	} else if (!port_is(u, default_port(u), strlen(default_port(u))))
		return false;
	if (strncmp(pattern, "*.", 2) == 0)
		return !is_address(u) && u->host_len > len - 1 &&
		    strncasecmp(u->host + u->host_len - (len - 1),
		    pattern + 1, len - 1) == 0;
	return u->host_len == len &&
	    strncasecmp(u->host, pattern, len) == 0;
}

static bool
has_scheme(const char *ref)
{
	size_t len = strspn(ref, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

	return len > 0 && ref[len] == ':';
}

int
url_resolve(const char *base, const char *ref, char **ret)
{
	struct url_parts u;
	struct buf b, path;
	size_t root = 0, len = 0;
	int rc = 0;

	if (has_scheme(ref)) {
		*ret = mem_strdup(ref);
		return *ret != NULL ? 0 : PO_ENOMEM;
	}
	if (url_split(base, &u) < 0 || strlen(ref) > PROVIDER_URL_MAX)
		return PO_EINVAL;
	buf_init(&b, 3 * PROVIDER_URL_MAX);
	buf_init(&path, 3 * PROVIDER_URL_MAX);
	root = (size_t)(u.rest - base);
	if (strncmp(ref, "//", 2) == 0) {
		rc = buf_put(&b, base, u.scheme_len + 1);
		if (rc == 0)
			rc = buf_puts(&b, ref);
		goto out;
	}
	rc = buf_put(&b, base, root);
	len = strcspn(u.rest, "?#");
	if (ref[0] != '/' && ref[0] != '?' && ref[0] != '\0')
		while (len > 0 && u.rest[len - 1] != '/')
			len--;
	if (rc == 0 && ref[0] != '/')
		rc = len > 0 ? buf_put(&path, u.rest, len) :
		    buf_putc(&path, '/');
	len = strcspn(ref, "?#");
	if (rc == 0)
		rc = buf_put(&path, ref, len);
	if (rc == 0)
		rc = remove_dots(buf_text(&path), buf_left(&path), &b);
	if (rc == 0)
		rc = buf_put(&b, ref + len, strcspn(ref + len, "#"));
out:
	if (rc == 0 && (*ret = buf_steal(&b, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&b);
	buf_done(&path);
	return rc;
}

/* remove_dots() appends a path without "." and ".." (RFC 3986, 5.2.4). */
static int
remove_dots(const char *s, size_t len, struct buf *out)
{
	size_t start = buf_left(out), at = 0, n = 0, end = 0;
	const char *slash = NULL;
	int rc = 0;

	while (rc == 0 && at < len) {
		slash = memchr(s + at + 1, '/', len - at - 1);
		end = slash != NULL ? (size_t)(slash - s) : len;
		n = end - at;			/* "/segment" */
		if (n == 2 && s[at + 1] == '.') {
			if (end == len)
				rc = buf_putc(out, '/');
		} else if (n == 3 && memcmp(s + at + 1, "..", 2) == 0) {
			for (n = buf_left(out); n > start; n--)
				if (buf_head(out)[n - 1] == '/')
					break;
			buf_truncate(out, n > start ? n - 1 : start);
			if (end == len)
				rc = buf_putc(out, '/');
		} else
			rc = buf_put(out, s + at, n);
		at = end;
	}
	return rc;
}
