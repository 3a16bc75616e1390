/*
 * submit.c - what the answer to a submit means.
 *
 * Owns nothing.  Default-deny: only what the file lists leaves
 * SUBMIT_UNKNOWN, and "accepted" needs an id that can be kept.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "provider/parts.h"

static enum submit_class	submit_class_of(const struct submit_rules *,
				    const struct view *);
static int	read_id(const struct provider *, const struct task_context *,
		    const struct selectors *, const struct view *,
		    struct submit_verdict *);
static int	read_urls(const struct provider *, const struct view *,
		    struct submit_verdict *);

int
provider_read_submit(const struct provider *p,
    const struct task_context *task, const struct answer *answer,
    struct submit_verdict *ret)
{
	const struct submit_rules *rules = &p->submit_rules;
	struct submit_verdict v = { .retry_after_ms = -1 };
	struct view view;
	struct buf clean;
	int rc = 0;

	rc = view_open(&view, answer, &clean);
	if (rc < 0)
		goto out;
	v.class = submit_class_of(rules, &view);
	if (v.class == SUBMIT_ACCEPTED && p->is_sync)
		v.class = SUBMIT_RESULT;
	else if (v.class == SUBMIT_ACCEPTED)
		rc = read_id(p, task, &rules->id, &view, &v);
	if (rc == 0 && v.class == SUBMIT_ACCEPTED)
		rc = read_urls(p, &view, &v);
	if (rc == 0 && (v.class == SUBMIT_ACCEPTED ||
	    v.class == SUBMIT_RESULT)) {
		if (p->cost.at == COST_SUBMIT)
			rc = cost_read(p, task, &view, &v.cost, &v.currency);
	} else if (rc == 0) {
		v.retry_after_ms = view_retry_after(&rules->retry_after,
		    &view);
		if (v.error == NULL)
			rc = view_error(&rules->error, &view, &v.error);
		if (rc == 0 && v.reason == NULL &&
		    (v.reason = mem_printf("http_%d", answer->status)) == NULL)
			rc = PO_ENOMEM;
	}
	if (rc == 0) {
		rc = selectors_text(&rules->trace, &view, &v.trace);
		rc = rc == PO_ENOENT ? 0 : rc;
	}
	if (v.trace != NULL && strlen(v.trace) > PROVIDER_ID_MAX) {
		mem_free(v.trace);
		v.trace = NULL;
	}
out:
	buf_done(&clean);
	if (rc < 0) {
		submit_verdict_done(&v);
		return rc;
	}
	*ret = v;
	return 0;
}

/* A hit by our own id is an accepted submit; anything else says nothing. */
int
provider_read_find(const struct provider *p, const struct task_context *task,
    const struct answer *answer, struct submit_verdict *ret)
{
	struct submit_verdict v = {
		.class = SUBMIT_UNKNOWN, .retry_after_ms = -1
	};
	struct view view;
	struct buf clean;
	int rc = 0;

	rc = view_open(&view, answer, &clean);
	if (rc == 0 && answer->status / 100 == 2 && view.body.at != NULL) {
		v.class = SUBMIT_ACCEPTED;
		rc = read_id(p, task, &p->find_id, &view, &v);
	}
	if (rc == 0 && v.class == SUBMIT_ACCEPTED)
		rc = read_urls(p, &view, &v);
	else if (rc == 0) {
		mem_free(v.reason);
		v.reason = mem_strdup("not_found");
		v.retry_after_ms = view_retry_after(
		    &p->submit_rules.retry_after, &view);
		rc = v.reason == NULL ? PO_ENOMEM : 0;
	}
	buf_done(&clean);
	if (rc < 0) {
		submit_verdict_done(&v);
		return rc;
	}
	*ret = v;
	return 0;
}

void
submit_verdict_done(struct submit_verdict *v)
{
	mem_free(v->request_id);
	mem_free(v->poll_url);
	mem_free(v->result_url);
	mem_free(v->cancel_url);
	mem_free(v->trace);
	mem_free(v->cost);
	mem_free(v->currency);
	mem_free(v->error);
	mem_free(v->reason);
	*v = (struct submit_verdict){
		.class = SUBMIT_UNKNOWN, .retry_after_ms = -1
	};
}

/*
 * The predicates come first, because they know more than a status; then the
 * plain statuses; refusals before acceptance.
 */
static enum submit_class
submit_class_of(const struct submit_rules *rules, const struct view *view)
{
	static const enum submit_class order[] = {
		SUBMIT_DUPLICATE, SUBMIT_ACCOUNT, SUBMIT_THROTTLED,
		SUBMIT_REJECTED
	};
	const size_t count = sizeof(order) / sizeof(order[0]);
	char status[16] = "";
	struct buf b;
	size_t i = 0;

	buf_init(&b, sizeof(status));
	if (buf_printf(&b, "%d", view->answer->status) == 0)
		memcpy(status, buf_text(&b), buf_left(&b));
	buf_done(&b);
	for (i = 0; i < count; i++)
		if (predicates_any(&rules->preds[order[i]], view))
			return order[i];
	for (i = 0; i < count; i++)
		if (words_have(&rules->statuses[order[i]], status))
			return order[i];
	if (predicates_any(&rules->preds[SUBMIT_ACCEPTED], view) ||
	    words_have(&rules->statuses[SUBMIT_ACCEPTED], status))
		return SUBMIT_ACCEPTED;
	return SUBMIT_UNKNOWN;
}

/* id_fault() says why an id cannot be kept, NULL when it can. */
static const char *
id_fault(const struct view *view, const char *id)
{
	const char *at = NULL;

	if (id == NULL)
		return view->body.at == NULL ?
		    "accepted, but the body is no JSON" :
		    "accepted, but the answer has no id";
	if (id[0] == '\0')
		return "accepted, but the id is empty";
	if (strlen(id) > PROVIDER_ID_MAX)
		return "accepted, but the id is longer than 1024 bytes";
	if (id[0] == '{' || id[0] == '[')
		return "accepted, but the id is neither a string nor a number";
	for (at = id; *at != '\0'; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return "accepted, but the id has control characters";
	return NULL;
}

static int
read_id(const struct provider *p, const struct task_context *task,
    const struct selectors *ids, const struct view *view,
    struct submit_verdict *v)
{
	const char *fault = NULL;
	char *id = NULL;
	int rc = 0;

	if (p->submit_rules.is_id_own && ids == &p->submit_rules.id) {
		if (task->own_id != NULL &&
		    (id = mem_strdup(task->own_id)) == NULL)
			return PO_ENOMEM;
	} else {
		rc = selectors_text(ids, view, &id);
		if (rc < 0 && rc != PO_ENOENT)
			return rc;
	}
	if ((fault = id_fault(view, id)) == NULL) {
		v->request_id = id;
		return 0;
	}
	mem_free(id);
	v->class = SUBMIT_UNKNOWN;
	v->reason = mem_strdup("accepted_without_id");
	v->error = mem_strdup(fault);
	return v->reason == NULL || v->error == NULL ? PO_ENOMEM : 0;
}

/*
 * A URL that leads where the file allows nothing is dropped, the id is kept:
 * it was paid for.  poll.url may have a second form that does without; if it
 * has none, provider_build_poll() fails and the task parks with its id.
 */
static int
read_url(const struct provider *p, const struct selectors *list,
    const struct view *view, char **ret, bool *ret_is_foreign)
{
	char *ref = NULL, *url = NULL;
	bool has_key = false;
	int rc = 0;

	rc = selectors_text(list, view, &ref);
	if (rc == PO_ENOENT)
		return 0;
	/* an empty one is none; resolved, it would be the base itself */
	if (rc == 0 && *ref == '\0') {
		mem_free(ref);
		return 0;
	}
	if (rc == 0)
		rc = url_resolve(p->base, ref, &url);
	if (rc == 0 && provider_check_url(p, url, &has_key) < 0)
		rc = PO_EINVAL;
	mem_free(ref);
	if (rc == 0) {
		*ret = url;
		return 0;
	}
	mem_free(url);
	*ret_is_foreign = rc == PO_EINVAL;
	return rc == PO_EINVAL ? 0 : rc;
}

static int
read_urls(const struct provider *p, const struct view *view,
    struct submit_verdict *v)
{
	const struct submit_rules *rules = &p->submit_rules;
	bool is_foreign = false, is_poll_foreign = false;
	int rc = 0;

	rc = read_url(p, &rules->poll_url, view, &v->poll_url,
	    &is_poll_foreign);
	if (rc == 0)
		rc = read_url(p, &rules->result_url, view, &v->result_url,
		    &is_foreign);
	if (rc == 0)
		rc = read_url(p, &rules->cancel_url, view, &v->cancel_url,
		    &is_foreign);
	if (rc < 0 || (!is_foreign && !is_poll_foreign))
		return rc;
	v->reason = mem_strdup(is_poll_foreign ? "foreign_poll_url" :
	    "foreign_url");
	v->error = mem_strdup("the answer has a URL at a host that neither "
	    "hosts nor key_hosts names; it was not kept");
	return v->reason == NULL || v->error == NULL ? PO_ENOMEM : 0;
}
