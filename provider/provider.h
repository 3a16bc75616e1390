/*
 * provider.h - what a provider's declarative file means, compiled.
 *
 * A file is read by config/ into a flat struct desc (key, values, where it
 * stood).  provider_compile() checks all of it and makes the parts that the
 * workers run: templates, selectors, predicates.  Everything here is pure:
 * no file, no socket, no clock.  The format: doc/provider.conf.5.
 *
 * Selector   JSON pointer (RFC 6901) where a segment "*" is every element,
 *            or "header:Name".
 * Predicate  [HTTP status] [selector[=text|~substring|>number]] ...; all
 *            parts must hold; a selector alone: there, not null, not empty.
 *            Texts are compared without case.  Without a status it holds for
 *            2xx answers alone.
 * Template   {key} {model} {id} {own} {idem} {task} {attempt} {hook} {after}
 *            {input} {input:/ptr} {saved:name} {var:name}; {+x} keeps
 *            slashes; {?x} drops the JSON member when absent.
 */
#ifndef PAYONCE_PROVIDER_H
#define PAYONCE_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/* ---- desc.c: the flat description ------------------------------------ */

struct desc_item {
	char	 *key;		/* "submit.url", "base" */
	char	**values;	/* NULL-terminated */
	size_t	  nvalues;
	char	 *file;		/* where it stood; NULL = not from a file */
	int	  line;
};

struct desc {
	char			*name;
	struct desc_item	*items;
	size_t			 count;
};

int	 desc_new(const char *name, struct desc **ret);
void	 desc_free(struct desc **);
/* desc_set() replaces a key's values. */
int	 desc_set(struct desc *, const char *key, const char *const *values,
	    size_t nvalues, const char *file, int line);
const struct desc_item	*desc_find(const struct desc *, const char *key);
/* desc_merge() copies every key that over sets; keeps the rest. */
int	 desc_merge(struct desc *, const struct desc *over);
/* desc_copy() is a deep copy. */
int	 desc_copy(const struct desc *, struct desc **ret);
/* desc_serialize() and desc_deserialize() carry it to a worker. */
int	 desc_serialize(const struct desc *, struct buf *);
int	 desc_deserialize(const void *, size_t, struct desc **ret);

/* ---- compile ----------------------------------------------------------- */

struct provider;

/*
 * provider_compile() returns 0 or PO_EINVAL/PO_ENOMEM with *ret_error (the
 * caller mem_free()s) as "file:line: key: what was expected, what was found".
 */
int	 provider_compile(const struct desc *, struct provider **ret,
	    char **ret_error);
void	 provider_free(struct provider **);

const char	*provider_name(const struct provider *);
bool		 provider_is_sync(const struct provider *);
bool		 provider_has_result_fetch(const struct provider *);
bool		 provider_has_find(const struct provider *);	/* by own id */
bool		 provider_has_cancel(const struct provider *);
/* seconds for which a resend with the same key is safe; 0: no such key */
int		 provider_idempotency_ttl_s(const struct provider *);
/* seconds for which a look-up by own id may hit; 0: no look-up */
int		 provider_lookup_window_s(const struct provider *);
int		 provider_poll_interval_ms(const struct provider *);
int		 provider_poll_interval_max_ms(const struct provider *);
/* < 0: not said */
int64_t		 provider_fetch_within_ms(const struct provider *);

/* ---- requests ------------------------------------------------------------ */

/* What templates may name.  Borrowed by the call. */
struct task_context {
	int64_t		 task;
	int		 attempt;
	const char	*key;		/* the provider's secret */
	const char	*model;
	const char	*own_id;
	const char	*idem_key;
	const char	*request_id;	/* NULL before it exists */
	const char	*poll_url;	/* saved:poll_url, or NULL */
	const char	*result_url;
	const char	*cancel_url;
	const char	*input;		/* JSON text */
	size_t		 input_len;
};

struct request {
	char	 *method;
	char	 *url;
	char	**headers;	/* "Name: value", NULL-terminated */
	char	 *body;		/* NULL: none */
	size_t	  body_len;
	int64_t	  timeout_ms;
	size_t	  max_body;	/* of the answer */
	bool	  has_secret;	/* a header carries the key: never log */
};

void	 request_done(struct request *);

/* All: 0, PO_ENOMEM, or PO_EINVAL with *ret_error for people. */
int	 provider_build_submit(const struct provider *,
	    const struct task_context *, struct request *ret, char **ret_error);
int	 provider_build_poll(const struct provider *,
	    const struct task_context *, struct request *ret, char **ret_error);
int	 provider_build_result(const struct provider *,
	    const struct task_context *, struct request *ret, char **ret_error);
int	 provider_build_find(const struct provider *,
	    const struct task_context *, struct request *ret, char **ret_error);
/* provider_build_download() is a GET; the key goes only to key_hosts. */
int	 provider_build_download(const struct provider *,
	    const struct task_context *, const char *url, struct request *ret,
	    char **ret_error);

/* ---- answers --------------------------------------------------------- */

struct answer {
	int		  status;	/* HTTP status */
	const char	**headers;	/* "Name: value", NULL-terminated */
	const char	 *body;
	size_t		  body_len;
};

enum submit_class {
	SUBMIT_ACCEPTED,	/* request_id is set */
	SUBMIT_RESULT,		/* sync: the answer is the result */
	SUBMIT_REJECTED,
	SUBMIT_THROTTLED,
	SUBMIT_ACCOUNT,
	SUBMIT_DUPLICATE,	/* our own id was accepted before */
	SUBMIT_UNKNOWN,		/* nothing listed matched: ambiguous */
	SUBMIT_CLASS_MAX
};

/* Strings are mem_free()d by verdict_done(); NULL = absent. */
struct submit_verdict {
	enum submit_class class;
	char	*request_id;
	char	*poll_url;
	char	*result_url;
	char	*cancel_url;
	char	*trace;
	char	*cost;
	char	*currency;
	char	*error;		/* the provider's own words */
	char	*reason;	/* machine word: http_503 */
	int64_t	 retry_after_ms;	/* < 0: not said */
};

enum poll_class {
	POLL_PENDING,
	POLL_DONE,		/* finished: go and see the result */
	POLL_FAILED,
	POLL_CANCELED,
	POLL_GONE,		/* the provider no longer knows it */
	POLL_PARK,		/* ended with nothing */
	POLL_MISSED,		/* not an answer: try again later */
	POLL_ACCOUNT,		/* 401 and the like: the kind is to be held */
	POLL_CLASS_MAX
};

struct artifact {
	char	*encoding;	/* "url", "base64", "hex", "get", "text" */
	char	*value;		/* the URL, or the encoded bytes */
};

struct poll_verdict {
	enum poll_class	 class;
	char		*unlisted;	/* a word the file does not list */
	int		 progress;	/* permille, < 0: not said */
	char		*cost;
	char		*currency;
	char		*error;
	char		*reason;
	int64_t		 retry_after_ms;
	/* filled by provider_read_result(), and by poll when there is no hop */
	char		*result;	/* JSON text, safe for jsonb */
	struct artifact	*artifacts;
	size_t		 nartifacts;
};

/*
 * The readers return 0 with a verdict whatever the answer holds, or
 * PO_ENOMEM: after a submit that means "sent, no usable answer".
 *
 * submit: an accepted answer whose poll URL leads to a host that the file
 * does not allow stays SUBMIT_ACCEPTED, since its id is paid for; poll_url is
 * NULL, reason "foreign_poll_url", error says so.  poll.url may have a second
 * form that needs no saved URL (the shipped files do); without one
 * provider_build_poll() fails with PO_EINVAL, for good: park, with the id.
 *
 * poll, result: poll_verdict.result is {"output": <the provider's body>},
 * clean JSON that jsonb takes.  A task may get members beside "output";
 * provider_read_saved() looks at "output" alone.  Artifacts are all that
 * result.artifact finds; "text" ones count only where there is no other, and
 * need no download.  Reasons: provider_failed, provider_canceled,
 * provider_gone, ended_with_nothing, result_too_large, not_json, no_status,
 * http_NNN.
 */
int	 provider_read_submit(const struct provider *,
	    const struct task_context *, const struct answer *,
	    struct submit_verdict *ret);
int	 provider_read_poll(const struct provider *,
	    const struct task_context *, const struct answer *,
	    struct poll_verdict *ret);
int	 provider_read_result(const struct provider *,
	    const struct task_context *, const struct answer *,
	    struct poll_verdict *ret);
/* a hit fills verdict like an accepted submit; a miss is SUBMIT_UNKNOWN */
int	 provider_read_find(const struct provider *,
	    const struct task_context *, const struct answer *,
	    struct submit_verdict *ret);
/*
 * provider_read_saved() lists the artifacts of a result that was saved on
 * the row earlier (the text that poll_verdict.result held).
 */
int	 provider_read_saved(const struct provider *, const char *result,
	    size_t len, struct poll_verdict *ret);
void	 submit_verdict_done(struct submit_verdict *);
void	 poll_verdict_done(struct poll_verdict *);

/* ---- url.c ----------------------------------------------------------- */

/*
 * provider_check_url() says whether a URL may be fetched: https (http only
 * where base is http), no user part, host in hosts or key_hosts or that of
 * base.  A pattern is "host", "*.host" or "host:port"; a URL with a port that
 * is not the scheme's own needs a pattern with that port (base's port counts).
 * Returns 0 with *ret_with_key, or PO_EPERM.
 */
int	 provider_check_url(const struct provider *, const char *url,
	    bool *ret_with_key);
/* url_resolve() makes a relative URL absolute (RFC 3986, 5.2, path only). */
int	 url_resolve(const char *base, const char *ref, char **ret);

#endif
