/*
 * result.h - a provider's result as the row can hold it.
 */
#ifndef PAYONCE_WORKER_RESULT_H
#define PAYONCE_WORKER_RESULT_H

#include <stddef.h>

#include "worker/artifact.h"
#include "worker/worker.h"

#define RESULT_MAX	(7u << 20)	/* more goes into a file */

/* result.c */

/*
 * result_prepare() makes verdict->result small enough for the row: long
 * inline artifacts become files and leave a mark ("payonce-file:PATH"), and
 * what is still over RESULT_MAX becomes result.json.  0 or PO_E*.
 */
int	result_prepare(struct worker *, const struct job *,
	    struct poll_verdict *);
/*
 * result_read_saved() lists the artifacts of what result_prepare() left on
 * the row.  0, PO_EINVAL (not readable), PO_EIO, PO_ENOMEM.
 */
int	result_read_saved(struct worker *, const struct job *,
	    const char *text, size_t len, struct poll_verdict *);
/* result_compose() is {"output":saved,"artifacts":entries}; caller frees. */
int	result_compose(const char *saved, size_t len, const char *entries,
	    char **ret, size_t *ret_len);
/*
 * result_finish() adds "artifacts":entries to a saved result, an object with
 * at least one member: what result_prepare() left.  Caller frees.
 */
int	result_finish(const char *saved, size_t len, const char *entries,
	    char **ret, size_t *ret_len);
/*
 * result_put_entry() appends one artifact to the entries of a list that
 * began with "[".  facts or lost is NULL; url may be.
 */
struct buf;
int	result_put_entry(struct buf *, const struct artifact_facts *,
	    const char *url, const char *lost);

#endif
