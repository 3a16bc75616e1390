/*
 * child_send.c - what a worker is told: SETUP, ASSIGN, MARKED, STORED, ...
 *
 * The worker side of struct task_ports.  A message for a worker that is gone
 * or dying is dropped: its tasks hear DEAD.
 */
#include "supervisor/child_send.h"

#include <string.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

static bool
can_hear(const struct child *c)
{
	return c != NULL && c->chan != NULL && child_state_bit(c->state) != 0;
}

static void
sent(struct child *c, int err, unsigned int type)
{
	if (err == 0) {
		child_dirty(c);
		return;
	}
	log_warnx("worker=%s cannot be told %s: %s", c->name, msg_name(type),
	    po_strerror(err));
	child_kill(c, "a message was lost");
}

static int
pack_words(struct buf *b, char *const *words)
{
	int err = 0;

	for (; *words != NULL && err == 0; words++)
		err = buf_put(b, *words, strlen(*words) + 1);
	return err;
}

void
child_send_setup(struct child *c)
{
	const struct super *super = c->super;
	const struct conf *conf = super->conf;
	const struct pool *p = c->pool;
	const struct conf_provider *cp = NULL;
	struct msg_setup m = { .version = PROTO_VERSION };
	struct buf desc, command;
	int err = 0;

	buf_init(&desc, LIM_DESC);
	buf_init(&command, LIM_SMALL);
	if (p->provider != NULL)
		cp = conf_find_provider(conf, p->provider);
	if (cp != NULL)
		err = desc_serialize(cp->desc, &desc);
	if (err == 0 && p->kind->conf != NULL &&
	    p->kind->conf->command != NULL)
		err = pack_words(&command, p->kind->conf->command);
	m.role = p->role;
	m.kind = mp_str(p->kind->name);
	m.slot = c->slot;
	m.generation = c->generation;
	m.lease_ms = (uint64_t)conf->lease_s * 1000;
	m.state_dir = mp_str(conf->state_dir);
	m.host = mp_str(super->owner);
	m.system_id = mp_str(super->system_id);
	m.timeline = (uint64_t)super->timeline;
	m.provider = mp_str(p->provider);
	m.desc = mp_bytes(buf_head(&desc), buf_left(&desc));
	m.command = mp_bytes(buf_head(&command), buf_left(&command));
	if (p->kind->conf != NULL) {
		m.timeout_ms = (uint64_t)p->kind->conf->timeout_s * 1000;
		m.max_requests = (uint64_t)p->kind->conf->concurrency;
	}
	m.max_artifact = (uint64_t)conf->max_artifact;
	if (err == 0)
		err = msg_pack_setup(chan_out(c->chan), &m);
	buf_done(&desc);
	buf_done(&command);
	sent(c, err, MSG_SETUP);
}

/* What is left of a span that the claim counted; < 0 stays "none". */
static int64_t
left_of(int64_t ms, struct mono at)
{
	int64_t gone = 0;

	if (ms < 0)
		return -1;
	gone = mono_diff_ms(mono_now(), at);
	return ms > gone ? ms - gone : 0;
}

static void
send_assign(struct task *t)
{
	struct child *c = t->child;
	struct msg_assign m = { .task = (uint64_t)t->id };

	if (!can_hear(c))
		return;
	m.attempt = (uint64_t)t->attempt;
	m.token = (uint64_t)t->token;
	m.mode = t->mode;
	m.deadline_ns = (uint64_t)t->deadline.ns;
	m.model = mp_str(t->model);
	m.own_id = mp_str(t->own_id);
	m.idem_key = mp_str(t->idem_key);
	m.request_id = mp_str(t->request_id);
	m.poll_url = mp_str(t->poll_url);
	m.result_url = mp_str(t->result_url);
	m.cancel_url = mp_str(t->cancel_url);
	m.poll_left_ms = left_of(t->poll_left_ms, t->read_at);
	m.fetch_left_ms = left_of(t->fetch_left_ms, t->read_at);
	m.input = mp_str(t->input);
	m.result = mp_str(t->result);
	m.parents = mp_str(t->parents);
	INJECT("super.assigned");
	sent(c, msg_pack_assign(chan_out(c->chan), &m), MSG_ASSIGN);
}

void
child_send_submit(void *arg, struct task *t)
{
	(void)arg;	/* the task knows its worker */
	send_assign(t);
}

/* Thousands wait here: their texts live in the poll worker now. */
void
child_send_poll(void *arg, struct task *t)
{
	(void)arg;
	t->mode = t->row.has_result ? ASSIGN_FETCH : ASSIGN_POLL;
	send_assign(t);
	mem_free(t->input);
	mem_free(t->result);
	t->input = t->result = NULL;
}

void
child_send_exec(void *arg, struct task *t)
{
	(void)arg;
	t->mode = ASSIGN_EXEC;
	send_assign(t);
	mem_free(t->input);
	mem_free(t->parents);
	t->input = t->parents = NULL;
}

void
child_send_marked(void *arg, struct task *t)
{
	struct msg_marked m = { .task = (uint64_t)t->id,
	    .attempt = (uint64_t)t->attempt };

	(void)arg;
	if (can_hear(t->child))
		sent(t->child, msg_pack_marked(chan_out(t->child->chan), &m),
		    MSG_MARKED);
}

void
child_send_refused(void *arg, struct task *t)
{
	struct msg_mark_refused m = { .task = (uint64_t)t->id,
	    .attempt = (uint64_t)t->attempt, .reason = mp_str("mark_lost") };

	(void)arg;
	if (can_hear(t->child))
		sent(t->child,
		    msg_pack_mark_refused(chan_out(t->child->chan), &m),
		    MSG_MARK_REFUSED);
}

void
child_send_stored(void *arg, struct task *t, bool is_final)
{
	struct msg_stored m = { .task = (uint64_t)t->id,
	    .attempt = (uint64_t)t->attempt, .what = t->report.what,
	    .is_final = is_final };
	struct child *c = t->child;

	if (can_hear(c))
		sent(c, msg_pack_stored(chan_out(c->chan), &m), MSG_STORED);
	if (t->state == TS_POLL_WAIT) {
		/* handed over: what the report brought is the row's now */
		recover_keep_report(t);
	} else if (t->report.what == MSG_RESULT) {
		t->row.has_result = true;
	}
	if (is_final && c == NULL && !t->row.is_local)
		recover_acknowledge(arg, t);
	if (is_final && c != NULL) {
		c->ndone++;
		restart_note_success(&c->pool->restart, true);
		child_drop_task(c, t);
	}
	report_done(&t->report);
}

void
child_send_cancel(void *arg, struct task *t, const char *why)
{
	struct msg_cancel m = { .task = (uint64_t)t->id,
	    .attempt = (uint64_t)t->attempt, .reason = mp_str(why) };
	struct child *c = t->child;

	(void)arg;
	if (can_hear(c) && c->state != CS_IDLE)
		sent(c, msg_pack_cancel(chan_out(c->chan), &m), MSG_CANCEL);
	/* A poll is forgotten without an answer. */
	if (c != NULL && c->pool->role == ROLE_POLL)
		child_drop_task(c, t);
}

void
child_send_renewed(struct child *c, const struct task *t)
{
	struct msg_renewed m = { .task = (uint64_t)t->id,
	    .attempt = (uint64_t)t->attempt,
	    .deadline_ns = (uint64_t)t->deadline.ns };

	if (can_hear(c))
		sent(c, msg_pack_renewed(chan_out(c->chan), &m), MSG_RENEWED);
}

/* Not sent yet, lease lost: the kernel is surer than a message. */
void
child_send_kill(void *arg, struct task *t)
{
	(void)arg;
	if (t->child != NULL)
		child_kill(t->child, "the lease of its unsent task is lost");
}
