/*
 * free.c - the end of a compiled provider.
 *
 * Owns nothing else.
 */
#include "common/mem.h"
#include "provider/parts.h"

static void
headers_done(struct headers *list)
{
	size_t i = 0;

	for (i = 0; i < list->count; i++) {
		mem_free(list->v[i].name);
		template_done(&list->v[i].value);
	}
	mem_free(list->v);
}

static void
call_done(struct call *call)
{
	mem_free(call->method);
	templates_done(&call->urls);
	headers_done(&call->headers);
	mem_free(call->body);
}

static void
terms_done(struct cost_term *terms, size_t count)
{
	size_t i = 0;

	for (i = 0; i < count; i++) {
		selector_done(&terms[i].selector);
		mem_free(terms[i].factor);
	}
	mem_free(terms);
}

static void
cost_done(struct cost_rules *r)
{
	size_t i = 0;

	terms_done(r->values, r->nvalues);
	terms_done(r->parts, r->nparts);
	for (i = 0; i < r->nprices; i++) {
		mem_free(r->prices[i].model);
		mem_free(r->prices[i].price);
	}
	mem_free(r->prices);
	mem_free(r->scale);
	mem_free(r->currency);
	selector_done(&r->currency_selector);
}

static void
submit_rules_done(struct submit_rules *r)
{
	size_t i = 0;

	for (i = 0; i < SUBMIT_RULES; i++) {
		predicates_done(&r->preds[i]);
		words_done(&r->statuses[i]);
	}
	selectors_done(&r->id);
	selectors_done(&r->trace);
	selectors_done(&r->retry_after);
	selectors_done(&r->error);
	selectors_done(&r->poll_url);
	selectors_done(&r->result_url);
	selectors_done(&r->cancel_url);
}

static void
poll_rules_done(struct poll_rules *r)
{
	size_t i = 0;

	for (i = 0; i < POLL_RULES; i++) {
		predicates_done(&r->preds[i]);
		words_done(&r->words[i]);
	}
	selectors_done(&r->status);
	selectors_done(&r->progress);
	selectors_done(&r->error);
	selectors_done(&r->retry_after);
	mem_free(r->progress_scale);
}

static void
result_rules_done(struct result_rules *r)
{
	size_t i = 0;

	for (i = 0; i < POLL_RULES; i++)
		predicates_done(&r->preds[i]);
	for (i = 0; i < r->nartifacts; i++) {
		mem_free(r->artifacts[i].encoding);
		selector_done(&r->artifacts[i].selector);
	}
	mem_free(r->artifacts);
	selectors_done(&r->error);
}

void
provider_free(struct provider **pp)
{
	struct provider *p = *pp;

	if (p == NULL)
		return;
	mem_free(p->name);
	mem_free(p->base);
	headers_done(&p->headers);
	words_done(&p->key_hosts);
	words_done(&p->hosts);
	words_done(&p->vars);
	call_done(&p->submit);
	call_done(&p->poll);
	call_done(&p->result);
	call_done(&p->find);
	selectors_done(&p->find_id);
	submit_rules_done(&p->submit_rules);
	poll_rules_done(&p->poll_rules);
	result_rules_done(&p->result_rules);
	cost_done(&p->cost);
	mem_free(p);
	*pp = NULL;
}
