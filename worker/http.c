/*
 * http.c - libcurl's multi interface on libevent: sockets, one timer, the
 * draining of what has finished.
 *
 * Owns the multi handle, a small pool of easy handles for reads, and one
 * event per socket.  Sets no option of a request (http_set.c) and knows no
 * task.  Handles are removed only after libcurl has returned, never from its
 * callbacks.
 */
#include "worker/http.h"

#include <string.h>
#include <strings.h>

#include <event2/event.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "common/text.h"

#define HTTP_POOL		64u	/* easy handles kept for reads */
#define HTTP_CONNECTIONS	64L	/* kept alive */

struct http {
	struct event_base	*base;
	struct event		*ev_timer;
	CURLM			*multi;
	CURL			*pool[HTTP_POOL];
	unsigned int		 npool;
	unsigned int		 running;
};


static int	http_on_socket(CURL *, curl_socket_t, int, void *, void *);
static int	http_on_timer(CURLM *, long, void *);
static void	http_on_ready(evutil_socket_t, short, void *);
static void	http_on_timeout(evutil_socket_t, short, void *);
static void	http_act(struct http *, curl_socket_t, int mask);
static void	http_drain(struct http *);
static void	http_release(struct http_call *);

int
http_new(struct event_base *base, struct http **ret)
{
	struct http *h = NULL;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return PO_ENOMEM;
	if ((h = mem_alloc(sizeof(*h))) == NULL)
		return PO_ENOMEM;
	h->base = base;
	h->multi = curl_multi_init();
	h->ev_timer = event_new(base, -1, 0, http_on_timeout, h);
	if (h->multi == NULL || h->ev_timer == NULL ||
	    curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION,
	    http_on_socket) != CURLM_OK ||
	    curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h) != CURLM_OK ||
	    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION,
	    http_on_timer) != CURLM_OK ||
	    curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h) != CURLM_OK ||
	    curl_multi_setopt(h->multi, CURLMOPT_PIPELINING,
	    (long)CURLPIPE_NOTHING) != CURLM_OK ||
	    curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS,
	    HTTP_CONNECTIONS) != CURLM_OK) {
		http_free(&h);
		return PO_ENOMEM;
	}
	*ret = h;
	return 0;
}

void
http_free(struct http **hp)
{
	struct http *h = *hp;

	if (h == NULL)
		return;
	while (h->npool > 0)
		curl_easy_cleanup(h->pool[--h->npool]);
	if (h->multi != NULL)
		(void)curl_multi_cleanup(h->multi);	/* nothing is left */
	if (h->ev_timer != NULL)
		event_free(h->ev_timer);
	mem_free(h);
	*hp = NULL;
	curl_global_cleanup();
}

int
http_start(struct http *h, enum http_use use, struct request *request,
    struct http_call *c)
{
	int rc = 0;

	c->http = h;
	c->use = use;
	c->request = *request;
	memset(request, 0, sizeof(*request));
	c->easy = use != HTTP_PAID && h->npool > 0 ? h->pool[--h->npool] :
	    curl_easy_init();
	if (c->easy == NULL) {
		http_call_done(c);
		return PO_ENOMEM;
	}
	if ((rc = http_set(c)) < 0)
		goto fail;
	if (curl_multi_add_handle(h->multi, c->easy) != CURLM_OK) {
		rc = PO_ENOMEM;
		goto fail;
	}
	h->running++;
	return 0;
fail:
	curl_easy_cleanup(c->easy);
	c->easy = NULL;
	http_call_done(c);
	return rc;
}

void
http_cancel(struct http_call *c)
{
	if (c->easy == NULL)
		return;
	http_release(c);
	http_call_done(c);
}

void
http_call_done(struct http_call *c)
{
	curl_slist_free_all(c->headers);
	c->headers = NULL;
	request_done(&c->request);
	memset(&c->request, 0, sizeof(c->request));
	buf_done(&c->body);
	buf_done(&c->head);
	c->body.max = 0;
	c->head.max = 0;
	c->gate_count = 0;
	c->is_passed = false;
	c->is_out = false;
	c->is_too_big = false;
	c->status = 0;
}

unsigned int
http_running(const struct http *h)
{
	return h->running;
}

int
http_answer(const struct http_call *c, struct answer *ret)
{
	const char **list = NULL;
	const char *text = (const char *)buf_head(&c->head);
	size_t left = buf_left(&c->head), count = 0, i = 0, at = 0;

	for (i = 0; i < left; i++)
		count += text[i] == '\0';
	if ((list = mem_array(count + 1, sizeof(*list))) == NULL)
		return PO_ENOMEM;
	for (i = 0; i < count; i++) {
		list[i] = text + at;
		at += strlen(text + at) + 1;
	}
	ret->status = c->status;
	ret->headers = list;
	ret->body = buf_left(&c->body) > 0 ?
	    (const char *)buf_head(&c->body) : "";
	ret->body_len = buf_left(&c->body);
	return 0;
}

const char *
http_error(const struct http_call *c)
{
	return c->error[0] != '\0' ? c->error : curl_easy_strerror(c->code);
}

const char *
http_header(const struct http_call *c, const char *name)
{
	const char *text = (const char *)buf_head(&c->head), *found = NULL;
	size_t left = buf_left(&c->head), at = 0, len = strlen(name);

	while (at < left) {
		if (strncasecmp(text + at, name, len) == 0 &&
		    text[at + len] == ':') {
			found = text + at + len + 1;
			found += strspn(found, " \t");
		}
		at += strlen(text + at) + 1;
	}
	return found;
}

static int
http_on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
    void *socket_arg)
{
	struct http *h = arg;
	struct event *ev = socket_arg;
	short want = EV_PERSIST;

	(void)easy;
	if (ev != NULL)
		event_free(ev);
	if (what == CURL_POLL_REMOVE) {
		(void)curl_multi_assign(h->multi, fd, NULL);
		return 0;
	}
	if (what & CURL_POLL_IN)
		want |= EV_READ;
	if (what & CURL_POLL_OUT)
		want |= EV_WRITE;
	ev = event_new(h->base, fd, want, http_on_ready, h);
	/* without an event the call ends by its timeout: uncertain, not lost */
	if (ev == NULL || event_add(ev, NULL) == -1)
		log_warnx("cannot wait for a socket: out of memory");
	(void)curl_multi_assign(h->multi, fd, ev);
	return 0;
}

/* Only (re)arms the timer: libcurl must not be called from here. */
static int
http_on_timer(CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;
	struct timeval tv;

	(void)multi;
	if (ms < 0)
		return event_del(h->ev_timer);
	tv = ms_to_timeval(ms);
	return event_add(h->ev_timer, &tv);
}

static void
http_on_ready(evutil_socket_t fd, short what, void *arg)
{
	int mask = 0;

	if (what & EV_READ)
		mask |= CURL_CSELECT_IN;
	if (what & EV_WRITE)
		mask |= CURL_CSELECT_OUT;
	http_act(arg, fd, mask);
}

static void
http_on_timeout(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	http_act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static void
http_act(struct http *h, curl_socket_t fd, int mask)
{
	CURLMcode rc = CURLM_OK;
	int running = 0;

	if ((rc = curl_multi_socket_action(h->multi, fd, mask, &running)) !=
	    CURLM_OK)
		log_warnx("libcurl: %s", curl_multi_strerror(rc));
	http_drain(h);
}

static void
http_drain(struct http *h)
{
	struct http_call *c = NULL;
	CURLMsg *msg = NULL;
	void *private = NULL;
	long status = 0;
	int left = 0;

	while ((msg = curl_multi_info_read(h->multi, &left)) != NULL) {
		if (msg->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE,
		    &private) != CURLE_OK)
			continue;
		c = private;
		c->code = msg->data.result;
		status = 0;
		if (curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE,
		    &status) == CURLE_OK)
			c->status = (int)status;
		text_clean(c->error, strlen(c->error));
		http_release(c);	/* msg is gone from here */
		c->on_done(c, c->arg);
	}
}

/* Handles of reads go back to the pool, stripped of everything that was set. */
static void
http_release(struct http_call *c)
{
	struct http *h = c->http;

	(void)curl_multi_remove_handle(h->multi, c->easy);
	h->running--;
	if (c->use != HTTP_PAID && h->npool < HTTP_POOL) {
		curl_easy_reset(c->easy);
		h->pool[h->npool++] = c->easy;
	} else
		curl_easy_cleanup(c->easy);
	c->easy = NULL;
}
