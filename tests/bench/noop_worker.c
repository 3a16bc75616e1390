/*
 * noop_worker.c - a worker that does nothing at once, in every role: what is
 * left is the supervisor's own work, its messages and its transitions.
 *
 * It speaks the real protocol on the real descriptor, so payonced runs it as
 * its worker_path.  Nothing is confined, sent or written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mono.h"
#include "proto/proto.h"

struct noop {
	struct chan	*chan;
	int64_t		 beat_ms;
	struct mono	 next_beat;
};

static int	noop_turn(struct noop *);
static int	noop_handle(struct noop *, const struct frame *);
static int	noop_hello(struct noop *, const struct frame *);
static int	noop_assign(struct noop *, const struct frame *);
static int	noop_marked(struct noop *, const struct frame *);
static int	noop_stored(struct noop *, const struct frame *);
static int	noop_done(struct noop *, uint64_t task, uint64_t attempt);
static int	noop_beat(struct noop *);

int
main(void)
{
	struct noop n = { .beat_ms = 1000 };

	if (chan_new(PROTO_FD, S2W, &n.chan) != 0)
		return 1;
	n.next_beat = mono_add_ms(mono_now(), n.beat_ms);
	while (noop_turn(&n) == 0)
		;
	chan_free(&n.chan);
	return 0;
}

static int
noop_turn(struct noop *n)
{
	struct frame frame;
	int rc;

	rc = chan_wait(n->chan, (int)mono_left_ms(n->next_beat) + 1);
	if (rc == 0)
		rc = chan_read(n->chan);
	if (rc != 0 && rc != PO_EAGAIN)
		return rc;
	while ((rc = chan_next(n->chan, &frame)) == 0)
		if ((rc = noop_handle(n, &frame)) != 0)
			return rc;
	if (rc != PO_EAGAIN)
		return rc;
	if (mono_left_ms(n->next_beat) == 0 && noop_beat(n) != 0)
		return PO_ENOMEM;
	while ((rc = chan_flush(n->chan)) == PO_EAGAIN)
		(void)chan_wait(n->chan, 1);	/* it reads while we wait */
	return rc;
}

static int
noop_handle(struct noop *n, const struct frame *frame)
{
	switch (frame->type) {
	case MSG_SETUP:
		return noop_hello(n, frame);
	case MSG_ASSIGN:
		return noop_assign(n, frame);
	case MSG_MARKED:
		return noop_marked(n, frame);
	case MSG_STORED:
		return noop_stored(n, frame);
	case MSG_DRAIN:
		return PO_EOF;
	default:
		return 0;
	}
}

static int
noop_hello(struct noop *n, const struct frame *frame)
{
	struct msg_hello hello = { .version = PROTO_VERSION };
	struct msg_setup setup;

	if (msg_unpack_setup(frame->body, frame->len, &setup) != 0)
		return PO_EINVAL;
	n->beat_ms = (int64_t)setup.lease_ms / 3;
	n->next_beat = mono_add_ms(mono_now(), n->beat_ms);
	hello.pid = (uint64_t)getpid();
	hello.role = setup.role;
	hello.slot = setup.slot;
	hello.generation = setup.generation;
	return msg_pack_hello(chan_out(n->chan), &hello);
}

static int
noop_assign(struct noop *n, const struct frame *frame)
{
	struct msg_result result;
	struct msg_assign assign;
	struct msg_mark mark;

	if (msg_unpack_assign(frame->body, frame->len, &assign) != 0)
		return PO_EINVAL;
	switch (assign.mode) {
	case ASSIGN_SUBMIT:
		mark = (struct msg_mark){ assign.task, assign.attempt };
		return msg_pack_mark(chan_out(n->chan), &mark);
	case ASSIGN_POLL:
		result = (struct msg_result){ assign.task, assign.attempt,
		    mp_str("{}"), mp_str("0.01"), mp_str("USD"), -1 };
		return msg_pack_result(chan_out(n->chan), &result);
	case ASSIGN_FETCH:
	case ASSIGN_EXEC:
		return noop_done(n, assign.task, assign.attempt);
	default:
		return PO_EINVAL;
	}
}

static int
noop_marked(struct noop *n, const struct frame *frame)
{
	struct msg_submitted submitted;
	struct msg_marked marked;
	char id[32];

	if (msg_unpack_marked(frame->body, frame->len, &marked) != 0)
		return PO_EINVAL;
	(void)snprintf(id, sizeof(id), "noop-%llu",
	    (unsigned long long)marked.task);
	submitted = (struct msg_submitted){
		.task = marked.task, .attempt = marked.attempt,
		.request_id = mp_str(id),
		.poll_url = mp_str("http://127.0.0.1:1/poll"),
		.result_url = mp_str(""), .cancel_url = mp_str(""),
		.cost = mp_str(""), .currency = mp_str(""),
		.trace = mp_str(""),
	};
	return msg_pack_submitted(chan_out(n->chan), &submitted);
}

static int
noop_stored(struct noop *n, const struct frame *frame)
{
	struct msg_stored stored;

	if (msg_unpack_stored(frame->body, frame->len, &stored) != 0)
		return PO_EINVAL;
	if (stored.what != MSG_RESULT)
		return 0;
	return noop_done(n, stored.task, stored.attempt);
}

static int
noop_done(struct noop *n, uint64_t task, uint64_t attempt)
{
	struct msg_done done = { task, attempt, mp_str("{}"), mp_str(""),
	    mp_str("") };

	return msg_pack_done(chan_out(n->chan), &done);
}

static int
noop_beat(struct noop *n)
{
	struct msg_beat beat = { 1 };

	n->next_beat = mono_add_ms(mono_now(), n->beat_ms);
	return msg_pack_beat(chan_out(n->chan), &beat);
}
