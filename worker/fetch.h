/*
 * fetch.h - the artifacts of one saved result, one after another, to disk.
 */
#ifndef PAYONCE_WORKER_FETCH_H
#define PAYONCE_WORKER_FETCH_H

#include <stdint.h>

#include "worker/http.h"
#include "worker/worker.h"

struct fetch;

enum fetch_event {
	FETCH_BUSY,		/* a download runs, on_step will be called */
	FETCH_MORE,		/* call fetch_step() for the next one */
	FETCH_LATER,		/* call fetch_step() after fetch_delay_ms() */
	FETCH_REMINT,		/* a URL has expired: fetch_remint() first */
	FETCH_DONE		/* fetch_entries() is complete */
};

/* fetch.c */

/*
 * fetch_new() takes the artifacts out of the verdict.  The worker, http and
 * job must outlive it.  on_step is not called from inside fetch_step().
 * 0 or PO_ENOMEM.
 */
int	fetch_new(struct worker *, struct http *, const struct job *,
	    struct poll_verdict *, void (*on_step)(void *, enum fetch_event),
	    void *arg, struct fetch **ret);
void	fetch_free(struct fetch **);	/* ends a download that runs */
enum fetch_event fetch_step(struct fetch *);
/* fetch_remint() brings new URLs (taken), or NULL when there are none. */
void	fetch_remint(struct fetch *, struct poll_verdict *);
int64_t	fetch_delay_ms(const struct fetch *);
/* fetch_entries() is a JSON array, borrowed until the next step. */
const char *fetch_entries(const struct fetch *);

#endif
