/*
 * child_io.c - the channel of a worker in the event loop.
 *
 * Reads a bounded number of messages per turn; collects what is to be
 * written and sends it at the end of the turn.  A message that is malformed
 * or out of turn ends its sender, and the log says which row it broke.
 */
#include "supervisor/child.h"

#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "supervisor/supervisor.h"

#define FRAMES_PER_TURN	64
#define OUT_MAX		((size_t)256 << 20)

static void	child_on_event(evutil_socket_t, short, void *);

int
child_open(struct child *c, int fd)
{
	int err = chan_new(fd, W2S, &c->chan);

	if (err != 0) {
		(void)close(fd);	/* chan_new() did not take it */
		return err;
	}
	c->ev_read = event_new(c->super->base, fd, EV_READ | EV_PERSIST,
	    child_on_event, c);
	c->ev_write = event_new(c->super->base, fd, EV_WRITE,
	    child_on_event, c);
	if (c->ev_read == NULL || c->ev_write == NULL ||
	    event_add(c->ev_read, NULL) != 0)
		return PO_ENOMEM;
	return 0;
}

void
child_close(struct child *c)
{
	if (c->ev_read != NULL)
		event_free(c->ev_read);
	if (c->ev_write != NULL)
		event_free(c->ev_write);
	c->ev_read = c->ev_write = NULL;
	chan_free(&c->chan);
}

void
child_dirty(struct child *c)
{
	if (c->is_dirty)
		return;
	c->is_dirty = true;
	TAILQ_INSERT_TAIL(&c->super->flush, c, flush_link);
}

static void
child_flush(struct child *c)
{
	int err = 0;

	if (c->chan == NULL || c->state == CS_DYING || c->state == CS_GONE)
		return;
	err = chan_flush(c->chan);
	switch (err) {
	case 0:
		return;
	case PO_EAGAIN:
		if (chan_pending(c->chan) > OUT_MAX)
			child_kill(c, "it does not read");
		else if (event_add(c->ev_write, NULL) != 0)
			child_kill(c, "no memory for its channel");
		return;
	default:
		/* It closed; SIGCHLD or end-of-file says the rest. */
		return;
	}
}

void
child_flush_all(struct super *super)
{
	struct child *c = NULL;

	while ((c = TAILQ_FIRST(&super->flush)) != NULL) {
		TAILQ_REMOVE(&super->flush, c, flush_link);
		c->is_dirty = false;
		child_flush(c);
	}
}

/* One frame: 0, or a negative code when its sender must go. */
static int
child_frame(struct child *c, const struct frame *f)
{
	unsigned int bits = c->talk;
	int err = 0;

	/* A poll that was canceled may still speak: the two have crossed. */
	if (c->pool->role == ROLE_POLL && bits == C_IDLE)
		bits |= C_BUSY;
	err = msg_check(f->type, W2S, 1u << c->pool->role, bits, f->len);
	if (err == 0)
		err = on_worker(c, f);
	if (err == 0)
		return 0;
	log_warnx("worker=%s broke the rules of %s while %s: %s", c->name,
	    msg_name(f->type), child_state_name(c->state),
	    po_strerror(err));
	return err;
}

/* Returns 0 (no more now), PO_EAGAIN (limit reached) or a reason to kill. */
static int
child_frames(struct child *c, int max)
{
	struct frame f;
	int err = 0;

	for (; max > 0; max--) {
		err = chan_next(c->chan, &f);
		if (err == PO_EAGAIN)
			return 0;
		if (err != 0) {
			log_warnx("worker=%s sent a bad frame: %s", c->name,
			    po_strerror(err));
			return err;
		}
		err = child_frame(c, &f);
		if (err != 0)
			return err;
	}
	return PO_EAGAIN;
}

static void
child_on_event(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	int err = 0, got = 0;

	(void)fd;	/* the channel knows it */
	if (c->state == CS_GONE || c->chan == NULL)
		return;
	if (what & EV_WRITE)
		child_dirty(c);
	if ((what & (EV_READ | EV_TIMEOUT)) == 0 || c->state == CS_DYING)
		return;
	got = chan_read(c->chan);
	err = child_frames(c, FRAMES_PER_TURN);
	if (err == PO_EAGAIN) {
		/* More is here; let the others have their turn first. */
		event_active(c->ev_read, EV_READ, 1);
		loop_soon(c->super);
		return;
	}
	if (err != 0) {
		c->is_refused = true;
		child_kill(c, "it sent nonsense");
		return;
	}
	if (got == PO_EOF || got == PO_EIO || got == PO_ENOMEM) {
		/* No more events of it; the reaper reads what is left. */
		(void)event_del(c->ev_read);	/* it was added */
		c->is_asked = c->is_asked || c->state == CS_DRAINING;
		if (c->state != CS_DRAINING)
			child_event(c, CE_EOF);
	}
}

/*
 * The last words of a dead worker are still in the channel: an id among
 * them is money.  One that was killed for nonsense is not listened to.
 */
void
child_drain_last(struct child *c)
{
	int got = 0, err = 0;

	if (c->chan == NULL || c->is_refused)
		return;
	do {
		got = chan_read(c->chan);
		do {
			err = child_frames(c, FRAMES_PER_TURN);
		} while (err == PO_EAGAIN);
	} while (got == 0 && err == 0);
}
