/*
 * poll.c - what the answer to a poll means, and that to the result's GET.
 *
 * Owns nothing.  A failed GET is a missed poll, never an outcome, unless a
 * predicate of the file shows why it is one.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "provider/parts.h"

static int	read_words(const struct provider *, const struct view *,
		    struct poll_verdict *);
static int	read_progress(const struct poll_rules *, const struct view *,
		    struct poll_verdict *);
static int	poll_finish(const struct provider *,
		    const struct task_context *, const struct view *,
		    struct poll_verdict *, bool);
static int	set_reason(struct poll_verdict *, const char *);

/* by_predicates() gives POLL_CLASS_MAX when none holds. */
static enum poll_class
by_predicates(const struct predicates *preds, const struct view *view)
{
	static const enum poll_class order[] = {
		POLL_PENDING, POLL_FAILED, POLL_CANCELED, POLL_GONE,
		POLL_DONE, POLL_PARK
	};
	size_t i = 0;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (predicates_any(&preds[order[i]], view))
			return order[i];
	return POLL_CLASS_MAX;
}

static int
not_an_answer(const struct view *view, struct poll_verdict *v)
{
	int status = view->answer->status;

	v->class = status == 401 || status == 402 || status == 403 ?
	    POLL_ACCOUNT : POLL_MISSED;
	v->reason = mem_printf("http_%d", status);
	return v->reason != NULL ? 0 : PO_ENOMEM;
}

int
provider_read_poll(const struct provider *p, const struct task_context *task,
    const struct answer *answer, struct poll_verdict *ret)
{
	const struct poll_rules *rules = &p->poll_rules;
	struct poll_verdict v = {
		.class = POLL_MISSED, .progress = -1, .retry_after_ms = -1
	};
	struct view view;
	struct buf clean;
	int rc = 0;

	rc = view_open(&view, answer, &clean);
	if (rc == 0) {
		v.class = by_predicates(rules->preds, &view);
		if (v.class == POLL_CLASS_MAX)
			rc = read_words(p, &view, &v);
	}
	if (rc == 0)
		rc = read_progress(rules, &view, &v);
	if (rc == 0)
		rc = poll_finish(p, task, &view, &v, false);
	buf_done(&clean);
	if (rc < 0) {
		poll_verdict_done(&v);
		return rc;
	}
	*ret = v;
	return 0;
}

int
provider_read_result(const struct provider *p,
    const struct task_context *task, const struct answer *answer,
    struct poll_verdict *ret)
{
	const struct result_rules *rules = &p->result_rules;
	struct poll_verdict v = {
		.class = POLL_MISSED, .progress = -1, .retry_after_ms = -1
	};
	struct view view;
	struct buf clean;
	int rc = 0;

	rc = view_open(&view, answer, &clean);
	if (rc == 0) {
		v.class = by_predicates(rules->preds, &view);
		if (v.class != POLL_CLASS_MAX)
			;
		else if (answer->status / 100 != 2)
			rc = not_an_answer(&view, &v);
		else
			v.class = rules->preds[POLL_DONE].count > 0 ?
			    POLL_PENDING : POLL_DONE;
	}
	if (rc == 0)
		rc = poll_finish(p, task, &view, &v, true);
	buf_done(&clean);
	if (rc < 0) {
		poll_verdict_done(&v);
		return rc;
	}
	*ret = v;
	return 0;
}

void
poll_verdict_done(struct poll_verdict *v)
{
	size_t i = 0;

	for (i = 0; i < v->nartifacts; i++) {
		mem_free(v->artifacts[i].encoding);
		mem_free(v->artifacts[i].value);
	}
	mem_free(v->artifacts);
	mem_free(v->unlisted);
	mem_free(v->cost);
	mem_free(v->currency);
	mem_free(v->error);
	mem_free(v->reason);
	mem_free(v->result);
	*v = (struct poll_verdict){
		.class = POLL_MISSED, .progress = -1, .retry_after_ms = -1
	};
}

/* Without a status selector the words are HTTP statuses. */
static int
status_word(const struct poll_rules *rules, const struct view *view,
    char **ret)
{
	if (rules->status.count > 0)
		return selectors_text(&rules->status, view, ret);
	*ret = mem_printf("%d", view->answer->status);
	return *ret != NULL ? 0 : PO_ENOMEM;
}

static int
read_words(const struct provider *p, const struct view *view,
    struct poll_verdict *v)
{
	static const enum poll_class order[] = {
		POLL_PENDING, POLL_FAILED, POLL_CANCELED, POLL_GONE, POLL_DONE
	};
	const struct poll_rules *rules = &p->poll_rules;
	char *word = NULL;
	size_t i = 0;
	int rc = 0;

	if (rules->status.count > 0 && view->answer->status / 100 != 2)
		return not_an_answer(view, v);
	rc = status_word(rules, view, &word);
	if (rc == PO_ENOENT) {
		v->class = POLL_MISSED;
		return set_reason(v, view->body.at == NULL ? "not_json" :
		    "no_status");
	}
	if (rc < 0)
		return rc;
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (words_have(&rules->words[order[i]], word)) {
			v->class = order[i];
			mem_free(word);
			return 0;
		}
	if (rules->status.count == 0 && view->answer->status / 100 != 2) {
		mem_free(word);
		return not_an_answer(view, v);
	}
	v->class = POLL_PENDING;
	v->unlisted = word;
	if (strlen(word) > 64)
		word[64] = '\0';	/* a word; whole ones are shorter */
	return 0;
}

static int
read_progress(const struct poll_rules *rules, const struct view *view,
    struct poll_verdict *v)
{
	char scaled[64] = "";
	char *text = NULL;
	int64_t permille = 0;
	int rc = 0;

	rc = selectors_text(&rules->progress, view, &text);
	if (rc == PO_ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	if (num_decimal_mul(text, rules->progress_scale != NULL ?
	    rules->progress_scale : "1", scaled, sizeof(scaled)) == 0 &&
	    decimal_to_i64(scaled, "1000", &permille) == 0 && permille >= 0)
		v->progress = permille > 1000 ? 1000 : (int)permille;
	mem_free(text);
	return 0;
}

/* poll_finish() adds what a class needs beside its name. */
static int
poll_finish(const struct provider *p, const struct task_context *task,
    const struct view *view, struct poll_verdict *v, bool is_result)
{
	const struct selectors *errors = is_result ? &p->result_rules.error :
	    &p->poll_rules.error;
	bool has_hop = p->result.urls.count > 0;
	bool is_last = is_result || !has_hop;
	int rc = 0;

	v->retry_after_ms = view_retry_after(&p->poll_rules.retry_after, view);
	if (v->class == POLL_PENDING)
		return 0;
	if (v->class == POLL_DONE && is_last)
		rc = result_fill(p, view, v);
	if (rc == 0 && (is_result ? p->cost.at == COST_RESULT :
	    p->cost.at == COST_POLL || (!has_hop && p->cost.at ==
	    COST_RESULT)) && v->class != POLL_MISSED &&
	    v->class != POLL_ACCOUNT)
		rc = cost_read(p, task, view, &v->cost, &v->currency);
	if (rc == 0 && v->class != POLL_DONE && v->error == NULL)
		rc = view_error(errors, view, &v->error);
	if (rc < 0 || v->reason != NULL)
		return rc;
	switch (v->class) {
	case POLL_FAILED:
		return set_reason(v, "provider_failed");
	case POLL_CANCELED:
		return set_reason(v, "provider_canceled");
	case POLL_GONE:
		return set_reason(v, "provider_gone");
	case POLL_PARK:
		return set_reason(v, "ended_with_nothing");
	default:
		return 0;
	}
}

static int
set_reason(struct poll_verdict *v, const char *reason)
{
	v->reason = mem_strdup(reason);
	return v->reason != NULL ? 0 : PO_ENOMEM;
}
