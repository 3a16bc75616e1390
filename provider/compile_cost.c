/*
 * compile_cost.c - the section cost.
 *
 * Owns nothing; fills the provider that compile.c made.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

static int	term_parse(const char *, bool, struct cost_term *,
		    const char **);
static void	compile_terms(struct compile *, const char *, bool,
		    struct cost_term **, size_t *);
static void	compile_prices(struct compile *);
static void	compile_currency(struct compile *);

void
compile_cost(struct compile *c)
{
	static const char *const places[] = {
		[COST_NEVER] = "", [COST_SUBMIT] = "submit",
		[COST_POLL] = "poll", [COST_RESULT] = "result"
	};
	struct cost_rules *r = &c->p->cost;
	const char *at = compile_text(c, "cost.at");
	const char *in = compile_text(c, "cost.in");
	const char *scale = compile_text(c, "cost.scale");
	int i = 0;

	if (at != NULL) {
		for (i = COST_SUBMIT; i <= COST_RESULT; i++)
			if (strcmp(places[i], at) == 0)
				r->at = (enum cost_at)i;
		if (r->at == COST_NEVER)
			compile_error(c, "cost.at", "expected submit, poll or "
			    "result, found \"%.40s\"", at);
	}
	if (in != NULL && strcmp(in, "money") != 0 && strcmp(in, "units") != 0)
		compile_error(c, "cost.in", "expected money or units, found "
		    "\"%.40s\"", in);
	r->is_units = in != NULL && strcmp(in, "units") == 0;
	if (scale != NULL && num_decimal_check(scale) < 0)
		compile_error(c, "cost.scale", "expected a decimal number, "
		    "found \"%.40s\"", scale);
	else if (scale != NULL && (r->scale = mem_strdup(scale)) == NULL)
		c->rc = PO_ENOMEM;
	compile_terms(c, "cost.value", false, &r->values, &r->nvalues);
	compile_terms(c, "cost.part", true, &r->parts, &r->nparts);
	compile_prices(c);
	compile_currency(c);
	if (r->at != COST_NEVER && r->nvalues + r->nparts == 0)
		compile_error(c, "cost.value", "expected a selector of the "
		    "figure, found nothing");
}

/* selector, '{input:/pointer}', or (in part) selector*price */
static int
term_parse(const char *text, bool has_factor, struct cost_term *ret,
    const char **ret_why)
{
	struct cost_term term = { 0 };
	size_t len = strlen(text);
	const char *star = NULL, *at = NULL;
	int rc = 0;

	/* the price stands behind the last "*"; the others are segments */
	if (has_factor) {
		for (at = text; *at != '\0'; at++)
			if (*at == '*')
				star = at;
		*ret_why = "selector*price";
		if (star == NULL || num_decimal_check(star + 1) < 0)
			return PO_EINVAL;
		len = (size_t)(star - text);
	}
	if (len > 8 && strncmp(text, "{input:", 7) == 0 &&
	    text[len - 1] == '}') {
		term.is_input = true;
		text += 7;
		len -= 8;
	}
	if ((rc = selector_parse(text, len, &term.selector, ret_why)) < 0)
		return rc;
	if (star != NULL && (term.factor = mem_strdup(star + 1)) == NULL) {
		selector_done(&term.selector);
		return PO_ENOMEM;
	}
	*ret = term;
	return 0;
}

static void
compile_terms(struct compile *c, const char *key, bool has_factor,
    struct cost_term **terms, size_t *count)
{
	const struct desc_item *item = compile_item(c, key);
	const char *why = NULL;
	size_t i = 0;
	int rc = 0;

	if (item == NULL || item->nvalues == 0)
		return;
	if ((*terms = mem_array(item->nvalues, sizeof(**terms))) == NULL) {
		c->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < item->nvalues; i++) {
		rc = term_parse(item->values[i], has_factor,
		    &(*terms)[*count], &why);
		if (rc == 0)
			(*count)++;
		else if (rc == PO_ENOMEM)
			c->rc = rc;
		else
			compile_error(c, key, "expected %s, found \"%.100s\"",
			    why, item->values[i]);
	}
}

/* unit_price = {"0.05", 'owner/model=0.20'}: one for all, some for models */
static void
compile_prices(struct compile *c)
{
	const struct desc_item *item = compile_item(c, "cost.unit_price");
	struct cost_rules *r = &c->p->cost;
	struct unit_price *price = NULL;
	const char *text = NULL, *equals = NULL;
	size_t i = 0;

	if (item == NULL || item->nvalues == 0)
		return;
	if ((r->prices = mem_array(item->nvalues,
	    sizeof(*r->prices))) == NULL) {
		c->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < item->nvalues; i++) {
		text = item->values[i];
		equals = strrchr(text, '=');
		price = &r->prices[r->nprices];
		if (num_decimal_check(equals != NULL ? equals + 1 :
		    text) < 0) {
			compile_error(c, "cost.unit_price", "expected a "
			    "decimal number or 'model=number', found "
			    "\"%.100s\"", text);
			continue;
		}
		r->nprices++;
		price->price = mem_strdup(equals != NULL ? equals + 1 : text);
		if (equals != NULL)
			price->model = mem_strndup(text,
			    (size_t)(equals - text));
		if (price->price == NULL ||
		    (equals != NULL && price->model == NULL))
			c->rc = PO_ENOMEM;
	}
}

static void
compile_currency(struct compile *c)
{
	struct cost_rules *r = &c->p->cost;
	const char *text = compile_text(c, "cost.currency");
	const char *why = NULL;
	int rc = 0;

	if (text == NULL)
		return;
	if (strlen(text) == 3 && strspn(text,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3) {
		if ((r->currency = mem_strdup(text)) == NULL)
			c->rc = PO_ENOMEM;
		return;
	}
	rc = selector_parse(text, strlen(text), &r->currency_selector, &why);
	if (rc == 0)
		r->is_currency_selected = true;
	else if (rc == PO_ENOMEM)
		c->rc = rc;
	else
		compile_error(c, "cost.currency", "expected three capital "
		    "letters such as USD, or a selector, found \"%.40s\"",
		    text);
}
