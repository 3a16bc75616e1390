/*
 * exec_io.c - what a local program says: result on stdout, text on stderr,
 * progress on descriptor 3, and its end from the guard.
 *
 * Owns the reading ends.  Everything here is bounded: what comes is from a
 * program that we did not write.
 */
#include "worker/exec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <json.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/text.h"

#define EXEC_CHUNK		16384
#define EXEC_OUT_MAX		(4u << 20)
#define EXEC_LINE_MAX		4096u
#define EXEC_LINES_LOGGED	200u

static void	exec_on_stream(evutil_socket_t, short, void *);
static void	exec_take(struct exec_stream *, const char *, size_t);
static void	exec_take_lines(struct exec_stream *, const char *, size_t,
		    void (*)(struct exec *, char *));
static void	exec_line_stderr(struct exec *, char *);
static void	exec_line_progress(struct exec *, char *);
static void	exec_keep_tail(struct exec *, const char *, size_t);

int
exec_stream_open(struct exec *x, enum exec_stream_name name, int fd)
{
	static const size_t max[EXEC_STREAM_MAX] = {
		[EXEC_OUT] = EXEC_OUT_MAX,
		[EXEC_ERR] = EXEC_LINE_MAX + 1,
		[EXEC_PROGRESS] = EXEC_LINE_MAX + 1,
		[EXEC_STATUS] = sizeof(struct exec_report),
	};
	struct exec_stream *s = &x->streams[name];

	s->x = x;
	s->fd = fd;
	s->is_skipping = false;
	buf_init(&s->buf, max[name]);
	s->ev = event_new(x->w->base, fd, EV_READ | EV_PERSIST,
	    exec_on_stream, s);
	if (s->ev == NULL || event_add(s->ev, NULL) == -1) {
		exec_stream_close(s);
		return PO_ENOMEM;
	}
	return 0;
}

void
exec_stream_close(struct exec_stream *s)
{
	if (s->ev != NULL)
		event_free(s->ev);
	s->ev = NULL;
	fd_close(&s->fd);
}

static void
exec_on_stream(evutil_socket_t fd, short what, void *arg)
{
	struct exec_stream *s = arg;
	char chunk[EXEC_CHUNK];
	ssize_t n = 0;

	(void)what;
	n = read(fd, chunk, sizeof(chunk));
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		exec_take(s, chunk, (size_t)n);
		return;
	}
	if (s == &s->x->streams[EXEC_ERR])
		exec_take_lines(s, "\n", 1, exec_line_stderr);
	exec_stream_close(s);
	exec_closed(s->x);
}

static void
exec_take(struct exec_stream *s, const char *data, size_t len)
{
	switch ((enum exec_stream_name)(s - s->x->streams)) {
	case EXEC_OUT:
		if (buf_put(&s->buf, data, len) < 0)
			exec_kill(s->x, "output_too_big");
		break;
	case EXEC_ERR:
		exec_keep_tail(s->x, data, len);
		exec_take_lines(s, data, len, exec_line_stderr);
		break;
	case EXEC_PROGRESS:
		exec_take_lines(s, data, len, exec_line_progress);
		break;
	case EXEC_STATUS:
		(void)buf_put(&s->buf, data, len);	/* else none */
		break;
	case EXEC_STREAM_MAX:
		break;
	}
}

static void
exec_take_lines(struct exec_stream *s, const char *data, size_t len,
    void (*on_line)(struct exec *, char *))
{
	char line[EXEC_LINE_MAX + 1];
	size_t i = 0, n = 0;

	for (i = 0; i < len; i++) {
		n = buf_left(&s->buf);
		if (data[i] != '\n') {
			if (n < EXEC_LINE_MAX && !s->is_skipping)
				s->is_skipping = buf_putc(&s->buf,
				    data[i]) < 0;
			else
				s->is_skipping = true;
			continue;
		}
		if (n > 0) {
			memcpy(line, buf_head(&s->buf), n);
			line[n] = '\0';
			text_clean(line, n);
			on_line(s->x, line);
		}
		buf_reset(&s->buf);
		s->is_skipping = false;
	}
}

static void
exec_line_stderr(struct exec *x, char *line)
{
	if (x->lines++ < EXEC_LINES_LOGGED)
		log_info("task=%llu program: %.1000s",
		    (unsigned long long)x->job.task, line);
	else if (x->lines == EXEC_LINES_LOGGED + 1)
		log_info("task=%llu program: more lines, not logged",
		    (unsigned long long)x->job.task);
}

/* {"progress":0.4,"note":"..."}; anything else is not ours to judge */
static void
exec_line_progress(struct exec *x, char *line)
{
	struct json_object *root = json_tokener_parse(line), *o = NULL;
	const char *note = NULL;
	double done = -1;
	int permille = -1;

	if (json_object_object_get_ex(root, "progress", &o))
		done = json_object_get_double(o);
	if (json_object_object_get_ex(root, "note", &o))
		note = json_object_get_string(o);
	if (done >= 0 && done <= 1)
		permille = (int)(done * 1000 + 0.5);
	/* a program may write faster than anybody reads */
	if ((note != NULL || (permille >= 0 && permille != x->permille)) &&
	    chan_pending(x->w->chan) == 0) {
		if (permille >= 0)
			x->permille = permille;
		report_progress(x->w, &x->job, permille, note);
	}
	(void)json_object_put(root);
}

static void
exec_keep_tail(struct exec *x, const char *data, size_t len)
{
	const size_t cap = sizeof(x->tail) - 1;
	size_t drop = 0;

	if (len > cap) {
		data += len - cap;
		len = cap;
	}
	if (x->tail_len + len > cap) {
		drop = x->tail_len + len - cap;
		memmove(x->tail, x->tail + drop, x->tail_len - drop);
		x->tail_len -= drop;
	}
	memcpy(x->tail + x->tail_len, data, len);
	x->tail_len += len;
	x->tail[x->tail_len] = '\0';
}
