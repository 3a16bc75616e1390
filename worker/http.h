/*
 * http.h - requests over libcurl's multi interface on the worker's loop.
 *
 * A paid request and a read differ in one place, http_use: see http_set.c.
 * A call belongs to its caller; http.c owns the libcurl handles.
 */
#ifndef PAYONCE_WORKER_HTTP_H
#define PAYONCE_WORKER_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#include "common/buf.h"
#include "provider/provider.h"

struct event_base;
struct http;
struct http_call;

enum http_use {
	HTTP_PAID,		/* fresh connection, gate, once */
	HTTP_READ,		/* a GET that may be repeated */
	HTTP_DOWNLOAD,		/* a GET of any length, to on_data */
	HTTP_USE_MAX
};

/* The caller fills the first part, all zero otherwise. */
struct http_call {
	/* paid: 0 lets the request leave; called at most once */
	int		(*on_gate)(void *arg);
	/* paid: the last byte of the request is out; at most once */
	void		(*on_out)(void *arg);
	/* download: a piece of a 2xx body; not 0 ends the call */
	int		(*on_data)(void *arg, const void *, size_t);
	/* the end; not called from inside libcurl: may start other calls */
	void		(*on_done)(struct http_call *, void *arg);
	void		*arg;

	/* valid in on_done, until http_call_done() */
	CURLcode	 code;
	int		 status;	/* 0: no answer */
	unsigned int	 gate_count;	/* how often libcurl wanted to send */
	bool		 is_passed;	/* one request was let through */
	bool		 is_out;
	bool		 is_too_big;
	struct buf	 body;
	struct buf	 head;		/* "Name: value\0" ... */
	char		 error[CURL_ERROR_SIZE];	/* see http_error() */

	/* http.c's own */
	struct http	*http;
	CURL		*easy;		/* NULL: not running */
	struct curl_slist *headers;
	struct request	 request;
	enum http_use	 use;
};

/* http.c */

/* http_new() starts libcurl, too; one per process.  0 or PO_ENOMEM. */
int	 http_new(struct event_base *, struct http **ret);
void	 http_free(struct http **);
/*
 * http_start() takes the request over (also on failure).  0, PO_ENOMEM or
 * PO_EINVAL (libcurl refuses an option): then nothing was sent and on_done
 * will not be called.
 */
int	 http_start(struct http *, enum http_use, struct request *,
	    struct http_call *);
/* http_cancel() ends a running call without on_done. */
void	 http_cancel(struct http_call *);
/* http_call_done() frees what the call collected; it may be reused then. */
void	 http_call_done(struct http_call *);
unsigned int http_running(const struct http *);
/* http_answer() borrows the call; mem_free(ret->headers).  0 or PO_ENOMEM. */
int	 http_answer(const struct http_call *, struct answer *ret);
/* http_error() says what failed; libcurl's own words where it has some. */
const char	*http_error(const struct http_call *);
/* http_header() is the value of the last header of that name, or NULL. */
const char *http_header(const struct http_call *, const char *name);

/* http_set.c: the only place that sets libcurl's options.  0 or PO_E* */
int	 http_set(struct http_call *);
/* http_collect_head() and http_collect_body() are libcurl's callbacks. */
size_t	 http_collect_head(char *, size_t, size_t, void *call);
size_t	 http_collect_body(char *, size_t, size_t, void *call);

/* gate.c: libcurl's callbacks around the boundary */
int	 gate_prereq(void *call, char *, char *, int, int);
int	 gate_progress(void *call, curl_off_t, curl_off_t, curl_off_t,
	    curl_off_t);

#endif
