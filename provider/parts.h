/*
 * parts.h - what a compiled provider is made of; for provider/ alone.
 */
#ifndef PAYONCE_PARTS_H
#define PAYONCE_PARTS_H

#include "provider/jtext.h"
#include "provider/provider.h"

#define SELECTOR_DEPTH	16
#define PROVIDER_ID_MAX		1024
#define PROVIDER_URL_MAX	4096
#define PROVIDER_TEXT_MAX	1000	/* a provider's words, for people */
#define PROVIDER_RESULT_MAX	(7u << 20)

/* What selectors look at: an answer with its body as clean JSON, or none. */
struct view {
	const struct answer	*answer;	/* NULL: a saved body alone */
	struct jtext		 body;
};

struct selector {
	char	*header;		/* "header:Name", else NULL */
	char	*segments[SELECTOR_DEPTH];
	size_t	 count;
};

struct selectors {
	struct selector	*v;
	size_t		 count;
};

enum part_op { PART_THERE, PART_EQUALS, PART_CONTAINS, PART_ABOVE };

struct predicate_part {
	struct selector	 selector;
	enum part_op	 op;
	char		*text;
};

struct predicate {
	int			 status;	/* 0: any 2xx */
	struct predicate_part	*parts;
	size_t			 count;
};

struct predicates {
	struct predicate	*v;
	size_t			 count;
};

struct words {
	char	**v;
	size_t	  count;
};

enum place {
	PLACE_TEXT,		/* as it is */
	PLACE_KEY, PLACE_MODEL, PLACE_ID, PLACE_OWN, PLACE_IDEM,
	PLACE_TASK, PLACE_ATTEMPT, PLACE_INPUT, PLACE_SAVED, PLACE_VAR,
	PLACE_HOOK, PLACE_AFTER, PLACE_LAST_ID	/* known, not built */
};

struct template_part {
	enum place	 place;
	char		*text;		/* literal, or the argument */
	bool		 has_slashes;	/* {+x} */
	bool		 is_optional;	/* {?x} */
	struct selector	 selector;	/* of {input:/ptr} */
};

struct template {
	struct template_part	*parts;
	size_t			 count;
};

struct templates {
	struct template	*v;
	size_t		 count;
};

struct header {
	char		*name;
	struct template	 value;
};

struct headers {
	struct header	*v;
	size_t		 count;
};

/* How one request is built. */
struct call {
	char			*method;
	struct templates	 urls;		/* the first that works */
	struct headers		 headers;	/* beside the provider's */
	char			*body;		/* clean JSON with templates */
	int64_t			 timeout_ms;
	size_t			 max_body;
};

enum { SUBMIT_RULES = SUBMIT_UNKNOWN, POLL_RULES = POLL_MISSED };

struct submit_rules {
	struct predicates	 preds[SUBMIT_RULES];
	struct words		 statuses[SUBMIT_RULES];
	struct selectors	 id, trace, retry_after, error;
	struct selectors	 poll_url, result_url, cancel_url;
	bool			 is_id_own;
};

struct poll_rules {
	struct predicates	 preds[POLL_RULES];
	struct words		 words[POLL_RULES];
	struct selectors	 status, progress, error, retry_after;
	char			*progress_scale;	/* NULL: 1 */
};

struct artifact_rule {
	char		*encoding;
	struct selector	 selector;
};

struct result_rules {
	struct predicates	 preds[POLL_RULES];
	struct artifact_rule	*artifacts;
	size_t			 nartifacts;
	size_t			 min;
	bool			 is_keyed;	/* downloads get the key */
	int64_t			 fetch_within_ms;
	struct selectors	 error;
};

enum cost_at { COST_NEVER, COST_SUBMIT, COST_POLL, COST_RESULT };

struct cost_term {
	struct selector	 selector;
	bool		 is_input;	/* of the task's input */
	char		*factor;	/* decimal, or NULL */
};

/* A price for one model, or for all when model is NULL. */
struct unit_price {
	char	*model;
	char	*price;
};

struct cost_rules {
	enum cost_at		 at;
	bool			 is_units;
	struct cost_term	*values;	/* the first that is there */
	size_t			 nvalues;
	struct cost_term	*parts;		/* the sum of all */
	size_t			 nparts;
	char			*scale;
	struct unit_price	*prices;
	size_t			 nprices;
	char			*currency;
	struct selector		 currency_selector;
	bool			 is_currency_selected;
};

struct provider {
	char			*name;
	char			*base;
	struct headers		 headers;
	struct words		 key_hosts;
	struct words		 hosts;
	struct words		 vars;		/* "name=value" */
	bool			 is_sync;
	int			 idem_ttl_s;
	int			 lookup_s;
	int			 interval_ms;
	int			 interval_max_ms;
	struct call		 submit, poll, result, find;
	struct selectors	 find_id;
	struct submit_rules	 submit_rules;
	struct poll_rules	 poll_rules;
	struct result_rules	 result_rules;
	struct cost_rules	 cost;
};

/* ---- selector.c: 0, PO_EINVAL with a reason, or PO_ENOMEM -------------- */

struct selector_walk {
	const struct selector	*selector;
	const char		*header;	/* still to be given */
	struct jtext		 body;
	struct jtext_iter	 iters[SELECTOR_DEPTH];
	size_t			 stars[SELECTOR_DEPTH];
	size_t			 depth;
	bool			 is_started;
};

int	selector_parse(const char *, size_t, struct selector *ret,
	    const char **ret_why);
void	selector_done(struct selector *);
void	selectors_done(struct selectors *);
void	selector_walk_init(struct selector_walk *, const struct selector *,
	    const struct view *);
/* a header's value comes back with is_header set, else JSON */
bool	selector_next(struct selector_walk *, struct jtext *ret,
	    bool *ret_is_header);
/* selector_text() is the first that is there and not null, as text. */
int	selector_text(const struct selector *, const struct view *,
	    char **ret);
int	selectors_text(const struct selectors *, const struct view *,
	    char **ret);
/* answer_header() is a header's value or NULL. */
const char	*answer_header(const struct answer *, const char *name);

/* ---- predicate.c -------------------------------------------------------- */

int	predicate_parse(const char *, struct predicate *ret,
	    const char **ret_why);
void	predicate_done(struct predicate *);
void	predicates_done(struct predicates *);
bool	predicate_holds(const struct predicate *, const struct view *);
bool	predicates_any(const struct predicates *, const struct view *);
bool	words_have(const struct words *, const char *);
void	words_done(struct words *);

/* ---- template.c --------------------------------------------------------- */

enum template_mode { TEMPLATE_PLAIN, TEMPLATE_URL, TEMPLATE_HEADER };

struct scope {
	const struct provider		*provider;
	const struct task_context	*task;
	struct jtext			 input;		/* clean */
	bool				 is_secret;	/* has {key} */
	char				*error;		/* for people */
};

int	template_parse(const char *, struct template *ret,
	    const char **ret_why);
void	template_done(struct template *);
void	templates_done(struct templates *);
bool	template_uses(const struct template *, enum place);
/* PO_ENOENT: a value is absent (scope->error says which) */
int	template_expand(const struct template *, enum template_mode,
	    struct scope *, struct buf *out);
/* place_value() appends a value's text. */
int	place_value(const struct template_part *, struct scope *,
	    struct buf *out);

/* ---- body.c ------------------------------------------------------------- */

int	body_compile(const char *, char **ret_clean, const char **ret_why);
bool	body_uses(const char *clean, enum place);
int	body_expand(const char *clean, struct scope *, struct buf *out);

/* ---- url.c -------------------------------------------------------------- */

struct url_parts {
	const char	*scheme, *host, *port, *rest;
	size_t		 scheme_len, host_len, port_len;
	bool		 has_user;
};

int	url_split(const char *, struct url_parts *ret);

/* ---- money.c, retry.c --------------------------------------------------- */

/* cost_read() leaves *ret NULL when the answer does not say. */
int	cost_read(const struct provider *, const struct task_context *,
	    const struct view *, char **ret, char **ret_currency);
/* decimal_to_i64() is text * factor, cut; PO_EINVAL or PO_ERANGE. */
int	decimal_to_i64(const char *, const char *factor, int64_t *ret);
bool	decimal_is_above(const char *, const char *);
/* retry_after_ms() reads seconds, "30s" or an HTTP date; < 0: neither */
int64_t	retry_after_ms(const char *, const struct answer *);

/* ---- view.c: an answer made ready --------------------------------------- */

int	view_open(struct view *, const struct answer *, struct buf *clean);
int	view_error(const struct selectors *, const struct view *, char **ret);
int64_t	view_retry_after(const struct selectors *, const struct view *);

/* ---- result.c ----------------------------------------------------------- */

int	result_fill(const struct provider *, const struct view *,
	    struct poll_verdict *);

/* ---- compile.c ---------------------------------------------------------- */

struct compile {
	const struct desc	*desc;
	struct provider		*p;
	struct buf		 errors;
	int			 rc;		/* PO_ENOMEM sticks */
};

void	compile_error(struct compile *, const char *key, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
const struct desc_item	*compile_item(struct compile *, const char *key);
const char	*compile_text(struct compile *, const char *key);
bool	compile_bool(struct compile *, const char *key, bool def);
int64_t	compile_int(struct compile *, const char *key, int64_t min,
	    int64_t max, int64_t def);
int64_t	compile_ms(struct compile *, const char *key, int64_t min_ms,
	    int64_t max_ms, int64_t def_ms);
void	compile_selectors(struct compile *, const char *key,
	    struct selectors *);
void	compile_predicates(struct compile *, const char *key,
	    struct predicates *);
void	compile_words(struct compile *, const char *key, struct words *);
void	compile_call(struct compile *, const char *section, struct call *);
void	compile_headers(struct compile *, const char *key, struct headers *);
/* compile_rules.c, compile_cost.c, compile_check.c */
void	compile_submit(struct compile *);
void	compile_poll(struct compile *);
void	compile_result(struct compile *);
void	compile_cost(struct compile *);
void	compile_find(struct compile *);
void	compile_check(struct compile *);

#endif
