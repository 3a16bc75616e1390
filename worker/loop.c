/*
 * loop.c - the event loop of a worker: its channel, its beats, its end.
 *
 * Owns the event base and the channel.  Reads frames, checks that they are
 * allowed for this role, and hands structs to the role; what the role does
 * with them is not known here.
 */
#include "worker/worker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/log.h"
#include "worker/flush.h"

#define LOOP_TITLE_MAX	128

static void	loop_on_read(evutil_socket_t, short, void *);
static void	loop_on_write(evutil_socket_t, short, void *);
static void	loop_on_beat(evutil_socket_t, short, void *);
static void	loop_beat(struct worker *);
static void	loop_take(struct worker *, int rc);
static int	loop_dispatch(struct worker *, const struct frame *);
static int	loop_dispatch_setup(struct worker *, const struct frame *);
static void	loop_orphan(struct worker *);
static void	loop_bad(struct worker *, const char *what, int rc);

int
loop_run(struct worker *w)
{
	w->exit_code = EXIT_CODE_FATAL;
	if ((w->base = event_base_new()) == NULL)
		fatalx("event loop: out of memory");
	if (chan_new(PROTO_FD, S2W, &w->chan) < 0)
		fatal("descriptor %d is no channel: payonced starts this "
		    "program", PROTO_FD);
	w->ev_read = event_new(w->base, PROTO_FD, EV_READ | EV_PERSIST,
	    loop_on_read, w);
	w->ev_write = event_new(w->base, PROTO_FD, EV_WRITE, loop_on_write, w);
	w->ev_beat = event_new(w->base, -1, EV_PERSIST, loop_on_beat, w);
	if (w->ev_read == NULL || w->ev_write == NULL || w->ev_beat == NULL ||
	    event_add(w->ev_read, NULL) == -1)
		fatalx("event loop: out of memory");
	if (event_base_dispatch(w->base) == -1)
		log_warnx("event loop failed");
	if (w->is_ready)
		w->ops->stop(w);
	flush_free(&w->flush);
	event_free(w->ev_read);
	event_free(w->ev_write);
	event_free(w->ev_beat);
	(void)chan_flush(w->chan);	/* a last word; the row decides */
	chan_free(&w->chan);
	event_base_free(w->base);
	return w->exit_code;
}

void
loop_leave(struct worker *w, int exit_code)
{
	if (w->is_leaving)
		return;
	w->is_leaving = true;
	w->exit_code = exit_code;
	(void)event_base_loopbreak(w->base);
}

void
loop_flush(struct worker *w)
{
	int rc = 0;

	if (w->is_orphan)
		return;
	rc = chan_flush(w->chan);
	if (rc == PO_EAGAIN) {
		if (event_add(w->ev_write, NULL) == -1)
			loop_bad(w, "cannot wait for the channel", PO_ENOMEM);
	} else if (rc < 0)
		loop_orphan(w);
}

void
loop_dispatch_all(struct worker *w)
{
	struct frame f;
	int rc = 0;

	while (!w->is_leaving) {
		if ((rc = chan_next(w->chan, &f)) == PO_EAGAIN)
			return;
		if (rc < 0) {
			loop_bad(w, "bad frame from the supervisor", rc);
			return;
		}
		if ((rc = loop_dispatch(w, &f)) < 0) {
			loop_bad(w, msg_name(f.type), rc);
			return;
		}
	}
}

void
loop_wait_frame(struct worker *w, struct mono until)
{
	struct mono wake = until;
	int rc = 0;

	/* what is here already must be seen; nobody wakes us for it */
	event_active(w->ev_read, EV_READ, 0);
	if (mono_is_before(w->beat_at, wake))
		wake = w->beat_at;
	rc = chan_wait(w->chan, (int)(mono_left_ms(wake) > 30000 ? 30000 :
	    mono_left_ms(wake)));
	if (!mono_is_before(mono_now(), w->beat_at))
		loop_beat(w);
	if (rc == PO_EAGAIN)
		return;
	loop_take(w, rc < 0 ? rc : chan_read(w->chan));
}

void
loop_set_title(struct worker *w, const char *fmt, ...)
{
	char text[LOOP_TITLE_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut is fine */
	va_end(ap);
	setproctitle("%s %s %s", w->kind, role_name(w->role), text);
}

static void
loop_on_read(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd;
	(void)what;
	if (!w->is_orphan)
		loop_take(w, chan_read(w->chan));
}

/* loop_take() goes on after a chan_read(). */
static void
loop_take(struct worker *w, int rc)
{
	loop_dispatch_all(w);
	if (rc == PO_ENOMEM)
		loop_bad(w, "cannot read a frame", rc);
	else if (rc < 0 && rc != PO_EAGAIN)
		loop_orphan(w);
}

static void
loop_on_write(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	loop_flush(arg);
}

static void
loop_on_beat(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	loop_beat(arg);
}

static void
loop_beat(struct worker *w)
{
	const struct msg_beat m = { .tasks = w->ops->count(w) };
	int rc = 0;

	w->beat_at = mono_add_ms(mono_now(), w->lease_ms / 3);
	/* a supervisor that reads nothing must not fill our memory */
	if (w->is_orphan || chan_pending(w->chan) > 0)
		return;
	if ((rc = msg_pack_beat(chan_out(w->chan), &m)) < 0) {
		log_warnx("cannot beat: %s", po_strerror(rc));
		return;
	}
	loop_flush(w);
}

#define DISPATCH(NAME, name, call)					\
	case MSG_##NAME: {						\
		struct msg_##name m;					\
		if ((rc = msg_unpack_##name(f->body, f->len, &m)) < 0)	\
			return rc;					\
		call;							\
		return 0;						\
	}

static int
loop_dispatch(struct worker *w, const struct frame *f)
{
	const unsigned int state = w->is_ready ?
	    C_IDLE | C_BUSY | C_DRAINING : C_STARTING;
	int rc = 0;

	if ((rc = msg_check(f->type, S2W, 1u << w->role, state, f->len)) < 0)
		return rc;
	switch (f->type) {
	case MSG_SETUP:
		return loop_dispatch_setup(w, f);
	DISPATCH(ASSIGN, assign, w->ops->assign(w, &m))
	DISPATCH(MARKED, marked, w->ops->marked(w, &m))
	DISPATCH(MARK_REFUSED, mark_refused, w->ops->refused(w, &m))
	DISPATCH(RENEWED, renewed, w->ops->renewed(w, &m))
	DISPATCH(STORED, stored, w->ops->stored(w, &m))
	DISPATCH(CANCEL, cancel, w->ops->cancel(w, &m))
	case MSG_DRAIN: {
		struct msg_drain m;

		if ((rc = msg_unpack_drain(f->body, f->len, &m)) < 0)
			return rc;
		w->is_draining = true;
		if (w->is_ready)
			w->ops->drain(w, m.stop_ms > INT32_MAX ? INT32_MAX :
			    (int64_t)m.stop_ms);
		else
			loop_leave(w, EXIT_CODE_OK);
		return 0;
	}
	default:
		return PO_EINVAL;
	}
}

static int
loop_dispatch_setup(struct worker *w, const struct frame *f)
{
	struct msg_setup m;
	struct msg_hello h;
	struct timeval tv;
	int rc = 0;

	if ((rc = msg_unpack_setup(f->body, f->len, &m)) < 0)
		return rc;
	if ((rc = setup_take(w, &m)) < 0 || (rc = w->ops->start(w)) < 0)
		return rc;
	h = (struct msg_hello){
		.version = PROTO_VERSION,
		.pid = (uint64_t)getpid(),
		.role = w->role,
		.slot = m.slot,
		.generation = m.generation,
	};
	if ((rc = msg_pack_hello(chan_out(w->chan), &h)) < 0)
		return rc;
	w->is_ready = true;
	w->beat_at = mono_add_ms(mono_now(), w->lease_ms / 3);
	tv = ms_to_timeval(w->lease_ms / 3 > 0 ? w->lease_ms / 3 : 1);
	if (event_add(w->ev_beat, &tv) == -1)
		return PO_ENOMEM;
	loop_set_title(w, "idle");
	loop_flush(w);
	return 0;
}

static void
loop_orphan(struct worker *w)
{
	if (w->is_orphan || w->is_leaving)
		return;
	w->is_orphan = true;
	(void)event_del(w->ev_read);
	(void)event_del(w->ev_write);
	if (w->is_draining || !w->is_ready)
		log_debug("the supervisor closed the channel");
	if (w->is_ready)
		w->ops->orphan(w);
	else
		loop_leave(w, EXIT_CODE_ORPHAN);
}

static void
loop_bad(struct worker *w, const char *what, int rc)
{
	if (rc == PO_EVERSION)
		log_warnx("payonced speaks another protocol version than %d: "
		    "install both programs from one release", PROTO_VERSION);
	else
		log_warnx("channel: %s: %s, leaving", what, po_strerror(rc));
	loop_leave(w, rc == PO_ENOMEM ? EXIT_CODE_FATAL : EXIT_CODE_PROTO);
}
