/*
 * compile_rules.c - the sections submit, poll, result and find.
 *
 * Owns nothing; fills the provider that compile.c made.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

#define DAY_S	86400

static void	compile_save(struct compile *);
static void	compile_artifacts(struct compile *);

/* The keys of a section by the class that they lead to. */
struct rule_keys {
	int		 class;
	const char	*plain;
	const char	*predicates;
};

static const struct rule_keys submit_keys[] = {
	{ SUBMIT_ACCEPTED, "submit.accept", "submit.accept_if" },
	{ SUBMIT_DUPLICATE, NULL, "submit.duplicate_if" },
	{ SUBMIT_ACCOUNT, "submit.account", "submit.account_if" },
	{ SUBMIT_THROTTLED, "submit.throttled", "submit.throttled_if" },
	{ SUBMIT_REJECTED, "submit.rejected", "submit.rejected_if" }
};

static const struct rule_keys poll_keys[] = {
	{ POLL_PENDING, "poll.pending", "poll.pending_if" },
	{ POLL_DONE, "poll.done", "poll.done_if" },
	{ POLL_FAILED, "poll.failed", "poll.failed_if" },
	{ POLL_CANCELED, "poll.canceled", "poll.canceled_if" },
	{ POLL_GONE, "poll.gone", "poll.gone_if" },
	{ POLL_PARK, NULL, "poll.park_if" }
};

static void
compile_statuses(struct compile *c, const char *key, struct words *list)
{
	uint64_t status = 0;
	size_t i = 0;

	compile_words(c, key, list);
	for (i = 0; i < list->count; i++)
		if (num_parse_u64(list->v[i], 599, &status) < 0 ||
		    status < 200)
			compile_error(c, key, "expected HTTP statuses from "
			    "200 to 599, found \"%.40s\"", list->v[i]);
}

void
compile_submit(struct compile *c)
{
	struct submit_rules *r = &c->p->submit_rules;
	const size_t count = sizeof(submit_keys) / sizeof(submit_keys[0]);
	const struct rule_keys *k = NULL;
	const char *replay = NULL;
	size_t i = 0;

	c->p->is_sync = compile_bool(c, "submit.sync", false);
	compile_call(c, "submit", &c->p->submit);
	if (c->p->is_sync && compile_item(c, "submit.max_body") == NULL)
		c->p->submit.max_body = PROVIDER_RESULT_MAX;
	for (i = 0; i < count; i++) {
		k = &submit_keys[i];
		compile_predicates(c, k->predicates, &r->preds[k->class]);
		if (k->plain != NULL)
			compile_statuses(c, k->plain, &r->statuses[k->class]);
	}
	compile_selectors(c, "submit.id", &r->id);
	r->is_id_own = compile_bool(c, "submit.id_own", false);
	compile_selectors(c, "submit.trace", &r->trace);
	compile_selectors(c, "submit.retry_after", &r->retry_after);
	compile_selectors(c, "submit.error", &r->error);
	compile_save(c);
	c->p->idem_ttl_s = (int)compile_int(c, "idempotency.ttl", 1,
	    365 * DAY_S, 0);
	replay = compile_text(c, "idempotency.replay");
	if (replay != NULL && strcmp(replay, "same") != 0 &&
	    strcmp(replay, "conflict") != 0)
		compile_error(c, "idempotency.replay", "expected same or "
		    "conflict, found \"%.40s\"", replay);
}

void
compile_poll(struct compile *c)
{
	struct poll_rules *r = &c->p->poll_rules;
	const size_t count = sizeof(poll_keys) / sizeof(poll_keys[0]);
	const struct rule_keys *k = NULL;
	const char *scale = compile_text(c, "poll.progress_scale");
	int64_t min = 0, max = 0;
	size_t i = 0;

	compile_call(c, "poll", &c->p->poll);
	for (i = 0; i < count; i++) {
		k = &poll_keys[i];
		compile_predicates(c, k->predicates, &r->preds[k->class]);
		if (k->plain != NULL)
			compile_words(c, k->plain, &r->words[k->class]);
	}
	compile_selectors(c, "poll.status", &r->status);
	compile_selectors(c, "poll.progress", &r->progress);
	compile_selectors(c, "poll.error", &r->error);
	compile_selectors(c, "poll.retry_after", &r->retry_after);
	if (scale != NULL && num_decimal_check(scale) < 0)
		compile_error(c, "poll.progress_scale", "expected a decimal "
		    "number such as 0.01, found \"%.40s\"", scale);
	else if (scale != NULL &&
	    (r->progress_scale = mem_strdup(scale)) == NULL)
		c->rc = PO_ENOMEM;
	min = compile_ms(c, "poll.interval", 10, 3600 * 1000, 2000);
	max = compile_ms(c, "poll.interval_max", 10, 3600 * 1000,
	    min * 8 > 60 * 1000 ? (min > 60 * 1000 ? min : 60 * 1000) :
	    min * 8);
	if (max < min)
		compile_error(c, "poll.interval_max", "expected at least "
		    "poll.interval (%g s), found %g s", (double)min / 1000,
		    (double)max / 1000);
	c->p->interval_ms = (int)min;
	c->p->interval_max_ms = (int)max;
}

void
compile_result(struct compile *c)
{
	struct result_rules *r = &c->p->result_rules;

	compile_call(c, "result", &c->p->result);
	compile_predicates(c, "result.done_if", &r->preds[POLL_DONE]);
	compile_predicates(c, "result.pending_if", &r->preds[POLL_PENDING]);
	compile_predicates(c, "result.failed_if", &r->preds[POLL_FAILED]);
	compile_predicates(c, "result.gone_if", &r->preds[POLL_GONE]);
	compile_selectors(c, "result.error", &r->error);
	r->is_keyed = compile_bool(c, "result.artifact_key", false);
	r->min = (size_t)compile_int(c, "result.min", 0, 1000, 1);
	r->fetch_within_ms = compile_ms(c, "result.fetch_within", 1000,
	    3650LL * DAY_S * 1000, -1);
	compile_artifacts(c);
}

void
compile_find(struct compile *c)
{
	const char *by = compile_text(c, "find.by");

	if (by == NULL) {
		if (compile_item(c, "find.url") != NULL)
			compile_error(c, "find.by", "expected own or list, "
			    "found nothing");
		return;
	}
	if (strcmp(by, "list") == 0)
		return;		/* read; a lost answer parks as without it */
	if (strcmp(by, "own") != 0) {
		compile_error(c, "find.by", "expected own or list, found "
		    "\"%.40s\"", by);
		return;
	}
	compile_call(c, "find", &c->p->find);
	compile_selectors(c, "find.id", &c->p->find_id);
	c->p->lookup_s = (int)compile_int(c, "find.keep", 1, 365 * DAY_S,
	    DAY_S);
}

static struct selectors *
save_target(struct submit_rules *r, const char *name, size_t len)
{
	static const char *const names[] = {
		"poll_url", "status_url", "result_url", "cancel_url"
	};
	size_t i = 0;

	for (i = 0; i < 4; i++)
		if (strlen(names[i]) == len &&
		    strncmp(names[i], name, len) == 0)
			break;
	if (i == 4)
		return NULL;
	return i < 2 ? &r->poll_url : i == 2 ? &r->result_url :
	    &r->cancel_url;
}

/* save = {'poll_url=/urls/get', ...}; several of one name: the first there */
static void
compile_save(struct compile *c)
{
	const struct desc_item *item = compile_item(c, "submit.save");
	struct selectors *list = NULL;
	struct selector *grown = NULL;
	const char *equals = NULL, *why = NULL;
	size_t i = 0;
	int rc = 0;

	for (i = 0; item != NULL && i < item->nvalues && c->rc == 0; i++) {
		why = "poll_url, result_url or cancel_url, then =selector";
		equals = strchr(item->values[i], '=');
		list = equals == NULL ? NULL : save_target(
		    &c->p->submit_rules, item->values[i],
		    (size_t)(equals - item->values[i]));
		if (list == NULL) {
			compile_error(c, "submit.save", "expected %s, found "
			    "\"%.100s\"", why, item->values[i]);
			continue;
		}
		grown = mem_grow(list->v, list->count + 1, sizeof(*grown));
		if (grown == NULL) {
			c->rc = PO_ENOMEM;
			return;
		}
		list->v = grown;
		rc = selector_parse(equals + 1, strlen(equals + 1),
		    &grown[list->count], &why);
		if (rc == 0)
			list->count++;
		else if (rc == PO_ENOMEM)
			c->rc = rc;
		else
			compile_error(c, "submit.save", "expected %s, found "
			    "\"%.100s\"", why, equals + 1);
	}
}

static int
artifact_parse(const char *text, struct artifact_rule *ret,
    const char **ret_why)
{
	static const char *const encodings[] = {
		"url", "base64", "hex", "text"
	};
	size_t len = strcspn(text, " \t"), i = 0;
	const char *rest = text + len + strspn(text + len, " \t");
	int rc = 0;

	for (i = 0; i < 4; i++)
		if (strlen(encodings[i]) == len &&
		    strncmp(encodings[i], text, len) == 0)
			break;
	*ret_why = "url, base64, hex or text, then a selector (get, body, "
	    "gs and s3 are not supported yet by this version)";
	if (i == 4)
		return PO_EINVAL;
	if ((rc = selector_parse(rest, strlen(rest), &ret->selector,
	    ret_why)) < 0)
		return rc;
	if ((ret->encoding = mem_strdup(encodings[i])) == NULL) {
		selector_done(&ret->selector);
		return PO_ENOMEM;
	}
	return 0;
}

static void
compile_artifacts(struct compile *c)
{
	const struct desc_item *item = compile_item(c, "result.artifact");
	struct result_rules *r = &c->p->result_rules;
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	if (item == NULL || item->nvalues == 0)
		return;
	r->artifacts = mem_array(item->nvalues, sizeof(*r->artifacts));
	if (r->artifacts == NULL) {
		c->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < item->nvalues; i++) {
		rc = artifact_parse(item->values[i],
		    &r->artifacts[r->nartifacts], &why);
		if (rc == 0)
			r->nartifacts++;
		else if (rc == PO_ENOMEM)
			c->rc = rc;
		else
			compile_error(c, "result.artifact", "expected %s, "
			    "found \"%.100s\"", why, item->values[i]);
	}
}
