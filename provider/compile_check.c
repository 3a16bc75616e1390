/*
 * compile_check.c - what a provider file must not say, because a call would
 * be wrong or money would be lost.
 *
 * Owns nothing.  Runs once all keys have been read without a fault.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

static bool
urls_use(const struct templates *list, enum place place)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		if (template_uses(&list->v[i], place))
			return true;
	return false;
}

static bool
headers_use(const struct headers *list, enum place place)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++)
		if (template_uses(&list->v[i].value, place))
			return true;
	return false;
}

static bool
submit_uses(const struct provider *p, enum place place)
{
	return urls_use(&p->submit.urls, place) ||
	    headers_use(&p->headers, place) ||
	    headers_use(&p->submit.headers, place) ||
	    body_uses(p->submit.body, place);
}

/* A redirect, 408, 409 and every 5xx may hide a job that was accepted. */
static bool
is_ambiguous(const char *status)
{
	return status[0] == '3' || status[0] == '5' ||
	    strcmp(status, "408") == 0 || strcmp(status, "409") == 0;
}

static void
check_statuses(struct compile *c)
{
	static const struct {
		enum submit_class	 class;
		const char		*key;
	} lists[] = {
		{ SUBMIT_ACCEPTED, "submit.accept" },
		{ SUBMIT_ACCOUNT, "submit.account" },
		{ SUBMIT_THROTTLED, "submit.throttled" },
		{ SUBMIT_REJECTED, "submit.rejected" }
	};
	const struct words *words = c->p->submit_rules.statuses;
	const char *word = NULL;
	size_t i = 0, k = 0, n = 0;

	for (i = 0; i < 4; i++)
		for (n = 0; n < words[lists[i].class].count; n++) {
			word = words[lists[i].class].v[n];
			if (i > 0 && word[0] == '2')
				compile_error(c, lists[i].key, "%s is a "
				    "success; a refusal in it needs a "
				    "predicate (%s_if)", word, lists[i].key);
			if (i > 0 && is_ambiguous(word))
				compile_error(c, lists[i].key, "%s may hide "
				    "an accepted job; a predicate (%s_if) "
				    "must show that it does not", word,
				    lists[i].key);
			if (i == 0 && word[0] != '2')
				compile_error(c, lists[i].key, "expected 2xx "
				    "statuses, found %s", word);
			for (k = 0; k < i; k++)
				if (words_have(&words[lists[k].class], word))
					compile_error(c, lists[i].key, "%s is "
					    "in %s too", word, lists[k].key);
		}
}

/* An _if on 3xx, 408, 409 or 5xx needs more than the status. */
static void
check_predicates(struct compile *c)
{
	static const struct {
		enum submit_class	 class;
		const char		*key;
	} lists[] = {
		{ SUBMIT_ACCOUNT, "submit.account_if" },
		{ SUBMIT_THROTTLED, "submit.throttled_if" },
		{ SUBMIT_REJECTED, "submit.rejected_if" }
	};
	const struct predicates *preds = c->p->submit_rules.preds;
	const struct predicate *p = NULL;
	size_t i = 0, n = 0;

	for (i = 0; i < 3; i++)
		for (n = 0; n < preds[lists[i].class].count; n++) {
			p = &preds[lists[i].class].v[n];
			if (p->count == 0 && (p->status / 100 != 4 ||
			    p->status == 408 || p->status == 409))
				compile_error(c, lists[i].key, "a bare %d "
				    "proves nothing; add a selector that "
				    "shows the refusal", p->status);
		}
}

/* Hosts that stand in the file itself must be allowed by it. */
static void
check_literal_hosts(struct compile *c, const char *key,
    const struct templates *list)
{
	const char *text = NULL;
	char *url = NULL;
	bool has_key = false;
	size_t i = 0;

	for (i = 0; i < list->count; i++) {
		text = list->v[i].count > 0 ? list->v[i].parts[0].text : NULL;
		if (text == NULL || list->v[i].parts[0].place != PLACE_TEXT ||
		    strstr(text, "://") == NULL)
			continue;
		url = mem_strndup(text, strcspn(text, "?"));
		if (url == NULL)
			c->rc = PO_ENOMEM;
		else if (provider_check_url(c->p, url, &has_key) < 0)
			compile_error(c, key, "key_hosts does not name the "
			    "host of \"%.100s\"", text);
		mem_free(url);
	}
}

static void
check_submit(struct compile *c)
{
	const struct provider *p = c->p;
	const struct submit_rules *r = &p->submit_rules;
	bool has_id = r->id.count > 0 || r->is_id_own;

	if (p->submit.urls.count == 0)
		compile_error(c, "submit.url", "expected a URL, found "
		    "nothing");
	if (r->statuses[SUBMIT_ACCEPTED].count == 0 &&
	    r->preds[SUBMIT_ACCEPTED].count == 0)
		compile_error(c, "submit.accept", "expected the statuses of "
		    "an accepted job, found nothing");
	if (p->is_sync && (has_id || p->poll.urls.count > 0))
		compile_error(c, "submit.sync", "expected neither submit.id "
		    "nor poll.url: the answer is the result");
	if (p->is_sync)
		return;
	if (!has_id)
		compile_error(c, "submit.id", "expected a selector of the "
		    "request id (or submit.sync = yes), found nothing");
	if (r->is_id_own && !submit_uses(p, PLACE_OWN))
		compile_error(c, "submit.id_own", "expected {own} somewhere "
		    "in the submit, found it nowhere");
	if (p->poll.urls.count == 0)
		compile_error(c, "poll.url", "expected a URL, found nothing");
	else if (!urls_use(&p->poll.urls, PLACE_ID) &&
	    !urls_use(&p->poll.urls, PLACE_OWN) &&
	    !urls_use(&p->poll.urls, PLACE_SAVED) &&
	    !body_uses(p->poll.body, PLACE_ID) &&
	    !body_uses(p->poll.body, PLACE_OWN))
		compile_error(c, "poll.url", "expected {id}, {own} or "
		    "{saved:poll_url} in it, or every task would poll the "
		    "same");
	if (p->poll_rules.words[POLL_DONE].count == 0 &&
	    p->poll_rules.preds[POLL_DONE].count == 0)
		compile_error(c, "poll.done", "expected the words of a "
		    "finished job, found nothing");
}

void
compile_check(struct compile *c)
{
	const struct provider *p = c->p;

	check_statuses(c);
	check_predicates(c);
	check_submit(c);
	check_literal_hosts(c, "submit.url", &p->submit.urls);
	check_literal_hosts(c, "poll.url", &p->poll.urls);
	check_literal_hosts(c, "result.url", &p->result.urls);
	check_literal_hosts(c, "find.url", &p->find.urls);
	if (p->idem_ttl_s > 0 && !submit_uses(p, PLACE_OWN) &&
	    !submit_uses(p, PLACE_IDEM))
		compile_error(c, "idempotency.ttl", "expected {idem} or {own} "
		    "somewhere in the submit, found neither: a resend would "
		    "be a second job");
	if (p->find.urls.count > 0 && !submit_uses(p, PLACE_OWN))
		compile_error(c, "find.by", "own expects {own} somewhere in "
		    "the submit, found it nowhere");
	if (p->find.urls.count > 0 && p->find_id.count == 0)
		compile_error(c, "find.id", "expected a selector of the "
		    "request id, found nothing");
	if (p->cost.is_units && p->cost.nparts > 0)
		compile_error(c, "cost.part", "expected cost.in = money with "
		    "it: each part has its own price");
}
