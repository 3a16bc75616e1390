/*
 * gate.c - the boundary: libcurl asks here before any request leaves.
 *
 * Changes only its call's counters.  The latch is one-shot: libcurl may want
 * to send a request again by itself (a connection that died before an
 * answer); whatever the reason, THE SECOND TIME IS REFUSED, and the count
 * tells the outcome that the first one is uncertain.
 */
#include "worker/http.h"

int
gate_prereq(void *arg, char *remote, char *local, int remote_port,
    int local_port)
{
	struct http_call *c = arg;

	(void)remote;
	(void)local;
	(void)remote_port;
	(void)local_port;
	c->gate_count++;
	if (c->use != HTTP_PAID) {
		c->is_passed = true;	/* a read: only counted */
		return CURL_PREREQFUNC_OK;
	}
	if (c->gate_count > 1 || c->on_gate == NULL)
		return CURL_PREREQFUNC_ABORT;
	if (c->on_gate(c->arg) != 0)
		return CURL_PREREQFUNC_ABORT;
	c->is_passed = true;
	return CURL_PREREQFUNC_OK;
}

/*
 * The request is out when libcurl has written headers and body to the socket,
 * or when a byte of the answer is here.  Before the gate the counters are 0
 * and mean nothing.
 */
int
gate_progress(void *arg, curl_off_t dl_total, curl_off_t dl_now,
    curl_off_t ul_total, curl_off_t ul_now)
{
	struct http_call *c = arg;
	long sent = 0;

	(void)dl_total;
	(void)ul_total;
	if (!c->is_passed || c->is_out || c->use != HTTP_PAID)
		return 0;
	if (curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &sent) !=
	    CURLE_OK)
		return 0;
	if (dl_now > 0 ||
	    (sent > 0 && ul_now >= (curl_off_t)c->request.body_len)) {
		c->is_out = true;
		if (c->on_out != NULL)
			c->on_out(c->arg);
	}
	return 0;
}
