/*
 * fetch_parts.h - what fetch.c and fetch_url.c share.
 */
#ifndef PAYONCE_WORKER_FETCH_PARTS_H
#define PAYONCE_WORKER_FETCH_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "worker/artifact.h"
#include "worker/fetch.h"
#include "worker/flush.h"

#define FETCH_TRIES	8u

struct fetch {
	struct worker		*w;
	struct http		*http;
	const struct job	*job;
	void			(*on_step)(void *, enum fetch_event);
	void			*arg;
	struct artifact		*list;
	size_t			 count;
	size_t			 at;		/* the one in work */
	unsigned int		 tries;
	unsigned int		 redirects;
	bool			 is_reminted;
	char			*url;		/* of the request that runs */
	int			 write_error;	/* PO_E* of the file */
	struct artifact_file	 file;
	struct artifact_facts	 facts;		/* of file, once it is whole */
	struct flush_job	*flush;		/* NULL: none under way */
	struct http_call	 call;
	struct buf		 entries;	/* "[...", without the end */
	char			*text;		/* the list with its end */
};

/* fetch.c */
/* fetch_keep() takes the facts over and goes on to the next artifact. */
enum fetch_event fetch_keep(struct fetch *, const struct artifact_facts *,
	    const char *url, const char *lost);
enum fetch_event fetch_lost(struct fetch *, const char *url, const char *why);
enum fetch_event fetch_later(struct fetch *, const char *why);

/* fetch_url.c */
enum fetch_event fetch_url(struct fetch *, const char *url);

#endif
