/*
 * exec.c - an exec worker: one local program at a time, killed as a tree.
 *
 * Owns the task and its state.  Nothing here is paid for: a death requeues.
 */
#include "worker/exec.h"

#include <sys/prctl.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/text.h"

#define EXEC_KILL_MS	8000

static int	exec_start(struct worker *);
static void	exec_assign(struct worker *, const struct msg_assign *);
static void	exec_renewed(struct worker *, const struct msg_renewed *);
static void	exec_stored(struct worker *, const struct msg_stored *);
static void	exec_cancel(struct worker *, const struct msg_cancel *);
static void	exec_drain(struct worker *, int64_t);
static void	exec_orphan(struct worker *);
static uint64_t	exec_count(const struct worker *);
static void	exec_stop(struct worker *);
static void	exec_on_timer(evutil_socket_t, short, void *);
static void	exec_ended(struct exec *);
static void	exec_end(struct exec *);
static int	exec_arm(struct exec *, int64_t ms);

const struct role_ops exec_ops = {
	.start = exec_start,
	.assign = exec_assign,
	.renewed = exec_renewed,
	.stored = exec_stored,
	.cancel = exec_cancel,
	.drain = exec_drain,
	.orphan = exec_orphan,
	.count = exec_count,
	.stop = exec_stop,
};

static int
exec_start(struct worker *w)
{
	struct exec *x = NULL;
	sigset_t child;
	int i = 0;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	/* a dead guard's orphans come to us; exec_tree_kill() waits */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1 ||
	    sigprocmask(SIG_BLOCK, &child, NULL) == -1)
		return PO_EIO;
	if ((x = mem_alloc(sizeof(*x))) == NULL)
		return PO_ENOMEM;
	x->w = w;
	x->guard = -1;
	x->life = -1;
	for (i = 0; i < EXEC_STREAM_MAX; i++)
		x->streams[i].fd = -1;
	if ((x->ev_timer = event_new(w->base, -1, 0, exec_on_timer, x)) ==
	    NULL) {
		mem_free(x);
		return PO_ENOMEM;
	}
	w->state = x;
	return 0;
}

static void
exec_stop(struct worker *w)
{
	struct exec *x = w->state;
	int i = 0;

	fd_close(&x->life);
	(void)exec_tree_kill(EXEC_KILL_MS, -1, NULL, NULL);
	for (i = 0; i < EXEC_STREAM_MAX; i++)
		exec_stream_close(&x->streams[i]);
	exec_end(x);
	event_free(x->ev_timer);
	mem_free(x);
	w->state = NULL;
}

static void
exec_assign(struct worker *w, const struct msg_assign *m)
{
	struct exec *x = w->state;
	int rc = 0;

	if (x->state == EXEC_STATE_REPORTED)
		exec_end(x);	/* its STORED will not come */
	if (w->is_leaving)
		return;
	if (x->state != EXEC_STATE_IDLE || m->mode != ASSIGN_EXEC ||
	    job_init(&x->job, m) < 0) {
		log_warnx("task=%llu assigned out of turn, leaving",
		    (unsigned long long)m->task);
		loop_leave(w, EXIT_CODE_PROTO);
		return;
	}
	x->state = EXEC_STATE_RUNNING;
	x->permille = -1;
	loop_set_title(w, "task %llu", (unsigned long long)m->task);
	if ((rc = exec_run(x, m)) < 0) {
		log_warn("task=%llu cannot start its program: %s",
		    (unsigned long long)m->task, po_strerror(rc));
		x->state = EXEC_STATE_REPORTED;
		report_unsent(w, &x->job, "tempfail", po_strerror(rc));
		return;
	}
	INJECT("exec.started");
	if (x->state == EXEC_STATE_RUNNING && w->timeout_ms > 0 &&
	    exec_arm(x, w->timeout_ms) < 0)
		exec_kill(x, "no_memory");
}

void
exec_kill(struct exec *x, const char *why)
{
	if (x->state != EXEC_STATE_RUNNING)
		return;
	x->state = EXEC_STATE_KILLING;
	(void)snprintf(x->why, sizeof(x->why), "%s", why);
	fd_close(&x->life);
	if (exec_arm(x, EXEC_KILL_MS) < 0)
		loop_leave(x->w, EXIT_CODE_FATAL);
}

void
exec_closed(struct exec *x)
{
	struct exec_report r;
	int i = 0;

	if (x->streams[EXEC_STATUS].fd == -1 && x->guard != -1) {
		/* the guard has ended; what it left is ours */
		(void)exec_tree_kill(EXEC_KILL_MS, -1, NULL, NULL);
		x->guard = -1;
		if (buf_left(&x->streams[EXEC_STATUS].buf) == sizeof(r)) {
			memcpy(&r, buf_head(&x->streams[EXEC_STATUS].buf),
			    sizeof(r));
			x->status = r.status;
			x->has_status = r.has_status != 0;
		}
	}
	for (i = 0; i < EXEC_STREAM_MAX; i++) {
		if (x->streams[i].fd != -1)
			return;
	}
	if (x->state == EXEC_STATE_RUNNING || x->state == EXEC_STATE_KILLING)
		exec_ended(x);
}

/* The tree is gone and all that it said is here. */
static void
exec_ended(struct exec *x)
{
	(void)event_del(x->ev_timer);
	text_clean(x->tail, x->tail_len);
	if (x->w->is_orphan) {
		loop_leave(x->w, EXIT_CODE_ORPHAN);
		return;
	}
	x->state = EXEC_STATE_REPORTED;
	exec_judge(x);
	if (x->work != NULL && exec_files_remove(x->work) < 0)
		log_warn("cannot remove %s", x->work);
}

static void
exec_end(struct exec *x)
{
	int i = 0;

	(void)event_del(x->ev_timer);
	for (i = 0; i < EXEC_STREAM_MAX; i++)
		buf_done(&x->streams[i].buf);
	mem_free(x->output);
	mem_free(x->work);
	x->output = x->work = NULL;
	x->why[0] = x->tail[0] = '\0';
	x->tail_len = 0;
	x->lines = 0;
	x->has_status = false;
	job_done(&x->job);
	x->state = EXEC_STATE_IDLE;
	loop_set_title(x->w, "idle");
	if (x->w->is_draining)
		loop_leave(x->w, EXIT_CODE_OK);
}

static void
exec_renewed(struct worker *w, const struct msg_renewed *m)
{
	(void)w;	/* nothing here ends by the lease: CANCEL says so */
	(void)m;
}

static void
exec_stored(struct worker *w, const struct msg_stored *m)
{
	struct exec *x = w->state;

	if (job_is(&x->job, m->task, m->attempt) &&
	    x->state == EXEC_STATE_REPORTED)
		exec_end(x);
}

static void
exec_cancel(struct worker *w, const struct msg_cancel *m)
{
	struct exec *x = w->state;
	char why[LIM_WORD + 1];

	if (!job_is(&x->job, m->task, m->attempt))
		return;
	(void)snprintf(why, sizeof(why), "%.*s", (int)m->reason.len,
	    m->reason.p);
	exec_kill(x, why[0] != '\0' ? why : "canceled");
}

/* A program that runs may end by itself until the time is over. */
static void
exec_drain(struct worker *w, int64_t stop_ms)
{
	struct exec *x = w->state;

	if (x->state == EXEC_STATE_IDLE)
		loop_leave(w, EXIT_CODE_OK);
	else if (x->state == EXEC_STATE_RUNNING && exec_arm(x, stop_ms) < 0)
		exec_kill(x, "drain");
}

static void
exec_orphan(struct worker *w)
{
	struct exec *x = w->state;

	if (x->state == EXEC_STATE_RUNNING)
		exec_kill(x, "orphaned");
	else if (x->state != EXEC_STATE_KILLING)
		loop_leave(w, w->is_draining ? EXIT_CODE_OK : EXIT_CODE_ORPHAN);
}

static uint64_t
exec_count(const struct worker *w)
{
	const struct exec *x = w->state;

	return x->state != EXEC_STATE_IDLE;
}

static void
exec_on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct exec *x = arg;

	(void)fd;
	(void)what;
	if (x->state == EXEC_STATE_RUNNING) {
		exec_kill(x, x->w->is_draining ? "drain" : "timeout");
		return;
	}
	if (x->state != EXEC_STATE_KILLING)
		return;
	log_warnx("task=%llu its guard does not end, killing the tree",
	    (unsigned long long)x->job.task);
	if (exec_tree_kill(EXEC_KILL_MS, -1, NULL, NULL) < 0)
		loop_leave(x->w, EXIT_CODE_FATAL);
}

static int
exec_arm(struct exec *x, int64_t ms)
{
	const struct timeval tv = ms_to_timeval(ms);

	return event_add(x->ev_timer, &tv) == -1 ? PO_ENOMEM : 0;
}
