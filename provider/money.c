/*
 * money.c - what an answer says about its price, in exact decimals.
 *
 * Owns nothing.  A figure that is not there, or that is no number, is
 * unknown: the result stays NULL, never "0".
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

#define DECIMAL_MAX	64

static int	term_value(const struct cost_term *,
		    const struct task_context *, const struct view *,
		    char *, size_t);
static const char	*price_for(const struct cost_rules *, const char *);

int
cost_read(const struct provider *p, const struct task_context *task,
    const struct view *view, char **ret, char **ret_currency)
{
	const struct cost_rules *c = &p->cost;
	const char *price = "1";
	char sum[DECIMAL_MAX] = "0", value[DECIMAL_MAX] = "";
	size_t i = 0;
	bool is_known = false;

	for (i = 0; i < c->nvalues && !is_known; i++)
		is_known = term_value(&c->values[i], task, view, sum,
		    sizeof(sum)) == 0;
	for (i = 0; i < c->nparts; i++) {
		/* a kind of token that was not used is not in the answer */
		if (term_value(&c->parts[i], task, view, value,
		    sizeof(value)) < 0)
			continue;
		is_known = true;
		if (num_decimal_add(sum, value, sum, sizeof(sum)) < 0)
			return 0;
	}
	if (c->is_units && (price = price_for(c, task->model)) == NULL)
		is_known = false;
	if (!is_known || num_decimal_mul(sum, c->scale != NULL ? c->scale :
	    "1", sum, sizeof(sum)) < 0 ||
	    num_decimal_mul(sum, price, sum, sizeof(sum)) < 0 ||
	    num_decimal_check(sum) < 0 || sum[0] == '-')
		return 0;
	if ((*ret = mem_strdup(sum)) == NULL)
		return PO_ENOMEM;
	if (c->is_currency_selected)
		(void)selector_text(&c->currency_selector, view,
		    ret_currency);	/* absent: the caller's default */
	if (*ret_currency != NULL && strlen(*ret_currency) > 16) {
		mem_free(*ret_currency);
		*ret_currency = NULL;
	}
	if (*ret_currency == NULL)
		*ret_currency = mem_strdup(c->currency != NULL ?
		    c->currency : "USD");
	return *ret_currency != NULL ? 0 : PO_ENOMEM;
}

int
decimal_to_i64(const char *text, const char *factor, int64_t *ret)
{
	char value[DECIMAL_MAX] = "";
	int rc = 0;

	if ((rc = num_decimal_mul(text, factor, value, sizeof(value))) < 0)
		return rc;
	value[strcspn(value, ".")] = '\0';
	return num_parse_i64(value, INT64_MIN, INT64_MAX, ret);
}

bool
decimal_is_above(const char *a, const char *b)
{
	char minus[DECIMAL_MAX] = "", diff[DECIMAL_MAX] = "";

	return num_decimal_mul(b, "-1", minus, sizeof(minus)) == 0 &&
	    num_decimal_add(a, minus, diff, sizeof(diff)) == 0 &&
	    diff[0] != '-' && strpbrk(diff, "123456789") != NULL;
}

static int
term_value(const struct cost_term *term, const struct task_context *task,
    const struct view *view, char *ret, size_t cap)
{
	struct view input_view = { 0 };
	struct buf input;
	char *text = NULL;
	int rc = 0;

	buf_init(&input, 2 * task->input_len + 64);
	if (term->is_input) {
		rc = jtext_clean(task->input != NULL ? task->input : "null",
		    task->input != NULL ? task->input_len : 4, &input);
		input_view.body = jtext_of(&input);
	}
	if (rc == 0)
		rc = selector_text(&term->selector, term->is_input ?
		    &input_view : view, &text);
	if (rc == 0)
		rc = num_decimal_mul(text, term->factor != NULL ?
		    term->factor : "1", ret, cap);
	mem_free(text);
	buf_done(&input);
	return rc;
}

static const char *
price_for(const struct cost_rules *c, const char *model)
{
	const char *price = NULL;
	size_t i = 0;

	for (i = 0; i < c->nprices; i++) {
		if (c->prices[i].model == NULL)
			price = c->prices[i].price;
		else if (model != NULL &&
		    strcmp(c->prices[i].model, model) == 0)
			return c->prices[i].price;
	}
	return price;
}
