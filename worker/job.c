/*
 * job.c - one assigned task, copied out of its frame.
 *
 * Owns its strings.  Knows nothing of what is done with them.
 */
#include "worker/worker.h"

#include <limits.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"

int
job_init(struct job *j, const struct msg_assign *a)
{
	memset(j, 0, sizeof(*j));
	if (a->task > INT64_MAX || a->attempt > INT_MAX ||
	    a->token > INT64_MAX || a->mode >= ASSIGN_MODE_MAX ||
	    a->deadline_ns > INT64_MAX)
		return PO_EINVAL;
	j->task = a->task;
	j->attempt = a->attempt;
	j->token = a->token;
	j->mode = (enum assign_mode)a->mode;
	j->lease_end.ns = (int64_t)a->deadline_ns;
	if (mp_dup_opt(a->model, &j->model) < 0 ||
	    mp_dup_opt(a->own_id, &j->own_id) < 0 ||
	    mp_dup_opt(a->idem_key, &j->idem_key) < 0 ||
	    mp_dup_opt(a->request_id, &j->request_id) < 0 ||
	    mp_dup_opt(a->poll_url, &j->poll_url) < 0 ||
	    mp_dup_opt(a->result_url, &j->result_url) < 0 ||
	    mp_dup_opt(a->cancel_url, &j->cancel_url) < 0 ||
	    mp_dup_opt(a->input, &j->input) < 0) {
		job_done(j);
		return PO_ENOMEM;
	}
	j->input_len = a->input.len;
	return 0;
}

void
job_done(struct job *j)
{
	mem_free(j->model);
	mem_free(j->own_id);
	mem_free(j->idem_key);
	mem_free(j->request_id);
	mem_free(j->poll_url);
	mem_free(j->result_url);
	mem_free(j->cancel_url);
	mem_free(j->input);
	memset(j, 0, sizeof(*j));
}

bool
job_is(const struct job *j, uint64_t task, uint64_t attempt)
{
	return j->task == task && j->attempt == attempt;
}

void
job_context(const struct job *j, const struct worker *w,
    struct task_context *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->task = (int64_t)j->task;
	ret->attempt = (int)j->attempt;
	ret->key = w->secret;
	ret->model = j->model;
	ret->own_id = j->own_id;
	ret->idem_key = j->idem_key;
	ret->request_id = j->request_id;
	ret->poll_url = j->poll_url;
	ret->result_url = j->result_url;
	ret->cancel_url = j->cancel_url;
	ret->input = j->input;
	ret->input_len = j->input_len;
}
