/*
 * flush.h - fsync without waiting: the event loop goes on meanwhile, and the
 * disk may serve many of them with one flush of its cache.
 */
#ifndef PAYONCE_WORKER_FLUSH_H
#define PAYONCE_WORKER_FLUSH_H

#include <event2/event.h>

struct flush;
struct flush_job;

/* flush.c */

/* 0 or PO_ENOMEM; where the kernel has no such thing, flush_start() waits */
int	 flush_new(struct event_base *, struct flush **ret);
void	 flush_free(struct flush **);	/* waits for those under way */
/*
 * flush_start(): 0 with *ret set: fn(arg, 0 or PO_EIO) comes later, never
 * from inside; 0 with *ret NULL: done already; PO_EIO or PO_ENOMEM.  The
 * descriptor may be closed meanwhile.
 */
int	 flush_start(struct flush *, int fd, void (*fn)(void *, int err),
	    void *arg, struct flush_job **ret);
void	 flush_forget(struct flush_job **);	/* fn will not be called */

#endif
