/*
 * flush.c - fsync through the kernel's asynchronous I/O (io_submit(2) with
 * IOCB_CMD_FSYNC, Linux 4.18), its answers through an eventfd.
 *
 * Owns the context, the eventfd and one struct per fsync under way.  Where
 * the kernel or a filter of system calls says no, it waits in fsync(2): slow,
 * not wrong.
 */
#include "worker/flush.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"

#define FLUSH_MAX	256u	/* under way; the next one waits */
#define FLUSH_EVENTS	32

struct flush_job {
	void	(*fn)(void *, int);	/* NULL: forgotten */
	void	 *arg;
};

struct flush {
	aio_context_t	 ctx;
	int		 fd;		/* eventfd; -1: all of them wait */
	struct event	*ev;
	unsigned int	 count;
};

static void	flush_on_ready(evutil_socket_t, short, void *);
static bool	flush_reap(struct flush *, long min);

int
flush_new(struct event_base *base, struct flush **ret)
{
	struct flush *f = mem_alloc(sizeof(*f));

	if (f == NULL)
		return PO_ENOMEM;
	f->fd = -1;
	if (syscall(SYS_io_setup, FLUSH_MAX, &f->ctx) == 0)
		f->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->fd != -1) {
		f->ev = event_new(base, f->fd, EV_READ | EV_PERSIST,
		    flush_on_ready, f);
		if (f->ev == NULL || event_add(f->ev, NULL) == -1) {
			flush_free(&f);
			return PO_ENOMEM;
		}
	}
	*ret = f;
	return 0;
}

void
flush_free(struct flush **fp)
{
	struct flush *f = *fp;

	if (f == NULL)
		return;
	while (f->count > 0 && flush_reap(f, 1))
		;
	if (f->ev != NULL)
		event_free(f->ev);
	fd_close(&f->fd);
	if (f->ctx != 0)
		(void)syscall(SYS_io_destroy, f->ctx);
	mem_free(f);
	*fp = NULL;
}

int
flush_start(struct flush *f, int fd, void (*fn)(void *, int), void *arg,
    struct flush_job **ret)
{
	struct flush_job *job = NULL;
	struct iocb cb, *list = &cb;

	*ret = NULL;
	if (f->fd != -1 && f->count < FLUSH_MAX) {
		if ((job = mem_alloc(sizeof(*job))) == NULL)
			return PO_ENOMEM;
		job->fn = fn;
		job->arg = arg;
		memset(&cb, 0, sizeof(cb));
		cb.aio_data = (uint64_t)(uintptr_t)job;
		cb.aio_lio_opcode = IOCB_CMD_FSYNC;
		cb.aio_fildes = (uint32_t)fd;
		cb.aio_flags = IOCB_FLAG_RESFD;
		cb.aio_resfd = (uint32_t)f->fd;
		if (syscall(SYS_io_submit, f->ctx, 1L, &list) == 1) {
			f->count++;
			*ret = job;
			return 0;
		}
		mem_free(job);
	}
	return fsync(fd) == 0 ? 0 : PO_EIO;
}

void
flush_forget(struct flush_job **jobp)
{
	if (*jobp != NULL)
		(*jobp)->fn = NULL;	/* freed when the kernel is done */
	*jobp = NULL;
}

static void
flush_on_ready(evutil_socket_t fd, short what, void *arg)
{
	uint64_t count = 0;

	(void)what;
	/* only to make it unreadable again; what is done is asked below */
	if (read(fd, &count, sizeof(count)) == -1 && errno != EAGAIN &&
	    errno != EINTR)
		return;
	while (flush_reap(arg, 0))
		;
}

/* Tells some of those that are done; false: there is none. */
static bool
flush_reap(struct flush *f, long min)
{
	struct io_event events[FLUSH_EVENTS];
	struct timespec none = { 0, 0 };
	struct flush_job *job = NULL;
	long i = 0, n = 0;

	do {
		n = syscall(SYS_io_getevents, f->ctx, min,
		    (long)FLUSH_EVENTS, events, min > 0 ? NULL : &none);
	} while (n == -1 && errno == EINTR);
	for (i = 0; i < n; i++) {
		job = (struct flush_job *)(uintptr_t)events[i].data;
		f->count--;
		if (job->fn != NULL)
			job->fn(job->arg, events[i].res == 0 ? 0 : PO_EIO);
		mem_free(job);
	}
	return n > 0;
}
