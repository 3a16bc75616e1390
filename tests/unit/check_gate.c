/*
 * check_gate.c - the one-shot latch before a paid request, alone and inside
 * libcurl against a server that answers nothing.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string.h>
#include <unistd.h>

#include <curl/curl.h>
#include <event2/event.h>

#include "common/mem.h"
#include "tests/unit/suite.h"
#include "worker/http.h"

struct fixture {
	struct event_base	*base;
	struct http_call	 call;
	int			 listener;
	int			 conn;
	int			 asked;		/* calls of on_gate */
	int			 verdict;	/* what it answers */
	int			 outs;
	int			 dones;
	size_t			 heard;		/* bytes that the server saw */
	struct event		*accept;
	struct event		*read;
};

static int
on_gate(void *arg)
{
	struct fixture *f = arg;

	f->asked++;
	return f->verdict;
}

static void
on_out(void *arg)
{
	struct fixture *f = arg;

	f->outs++;
}

static void
on_done(struct http_call *c, void *arg)
{
	struct fixture *f = arg;

	(void)c;
	f->dones++;
	(void)event_base_loopbreak(f->base);
}

START_TEST(test_latch)
{
	struct fixture f = { .verdict = 0 };
	struct http_call *c = &f.call;

	c->use = HTTP_PAID;
	c->on_gate = on_gate;
	c->arg = &f;
	ck_assert_int_eq(gate_prereq(c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_OK);
	ck_assert(c->is_passed);
	ck_assert_int_eq(gate_prereq(c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_ABORT);
	ck_assert_int_eq(gate_prereq(c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_ABORT);
	ck_assert_uint_eq(c->gate_count, 3);
	ck_assert_int_eq(f.asked, 1);
}
END_TEST

START_TEST(test_latch_refused_stays_refused)
{
	struct fixture f = { .verdict = -1 };
	struct http_call *c = &f.call;

	c->use = HTTP_PAID;
	c->on_gate = on_gate;
	c->arg = &f;
	ck_assert_int_eq(gate_prereq(c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_ABORT);
	f.verdict = 0;
	ck_assert_int_eq(gate_prereq(c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_ABORT);
	ck_assert(!c->is_passed);
	ck_assert_int_eq(f.asked, 1);
}
END_TEST

START_TEST(test_latch_without_gate)
{
	struct http_call c;

	memset(&c, 0, sizeof(c));
	c.use = HTTP_PAID;
	ck_assert_int_eq(gate_prereq(&c, NULL, NULL, 0, 0),
	    CURL_PREREQFUNC_ABORT);
	ck_assert(!c.is_passed);
}
END_TEST

static void
on_server_read(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;
	char data[4096];
	ssize_t n = read(fd, data, sizeof(data));

	(void)what;
	if (n > 0) {
		f->heard += (size_t)n;
		/* the whole request is here: end without an answer */
		(void)shutdown(fd, SHUT_RDWR);
	}
}

static void
on_server_accept(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)what;
	f->conn = accept(fd, NULL, NULL);
	ck_assert_int_ge(f->conn, 0);
	f->read = event_new(f->base, f->conn, EV_READ | EV_PERSIST,
	    on_server_read, f);
	ck_assert_int_eq(event_add(f->read, NULL), 0);
}

/* run_paid() sends one POST to a server that reads it and hangs up. */
static void
run_paid(struct fixture *f)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	struct http *http = NULL;
	struct request r;

	memset(&r, 0, sizeof(r));
	f->conn = -1;
	f->base = event_base_new();
	ck_assert_int_eq(http_new(f->base, &http), 0);
	f->listener = socket(AF_INET, SOCK_STREAM, 0);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(f->listener, (struct sockaddr *)&sin,
	    sizeof(sin)), 0);
	ck_assert_int_eq(listen(f->listener, 4), 0);
	ck_assert_int_eq(getsockname(f->listener, (struct sockaddr *)&sin,
	    &len), 0);
	f->accept = event_new(f->base, f->listener, EV_READ | EV_PERSIST,
	    on_server_accept, f);
	ck_assert_int_eq(event_add(f->accept, NULL), 0);
	r.method = mem_strdup("POST");
	r.url = mem_printf("http://127.0.0.1:%u/x", ntohs(sin.sin_port));
	r.body = mem_strdup("{\"a\":1}");
	r.body_len = 7;
	r.timeout_ms = 5000;
	r.max_body = 1000;
	f->call.on_gate = on_gate;
	f->call.on_out = on_out;
	f->call.on_done = on_done;
	f->call.arg = f;
	ck_assert_int_eq(http_start(http, HTTP_PAID, &r, &f->call), 0);
	ck_assert_int_eq(event_base_dispatch(f->base), 0);
	ck_assert_int_eq(f->dones, 1);
	ck_assert_ptr_null(f->call.easy);
	if (f->read != NULL)
		event_free(f->read);
	event_free(f->accept);
	if (f->conn != -1)
		(void)close(f->conn);
	(void)close(f->listener);
	http_free(&http);
	event_base_free(f->base);
}

START_TEST(test_sent_once)
{
	struct fixture f = { .verdict = 0 };

	run_paid(&f);
	ck_assert_int_eq(f.asked, 1);
	ck_assert_uint_eq(f.call.gate_count, 1);
	ck_assert(f.call.is_passed);
	ck_assert(f.call.is_out);
	ck_assert_int_eq(f.outs, 1);
	ck_assert_uint_gt(f.heard, 7);
	ck_assert_int_ne(f.call.code, CURLE_OK);
	http_call_done(&f.call);
}
END_TEST

START_TEST(test_refused_sends_nothing)
{
	struct fixture f = { .verdict = -1 };

	run_paid(&f);
	ck_assert_int_eq(f.asked, 1);
	ck_assert_int_eq(f.call.code, CURLE_ABORTED_BY_CALLBACK);
	ck_assert(!f.call.is_passed);
	ck_assert_int_eq(f.outs, 0);
	ck_assert_uint_eq(f.heard, 0);
	http_call_done(&f.call);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("gate");
	TCase *tc = tcase_create("gate");

	tcase_add_test(tc, test_latch);
	tcase_add_test(tc, test_latch_refused_stays_refused);
	tcase_add_test(tc, test_latch_without_gate);
	tcase_add_test(tc, test_sent_once);
	tcase_add_test(tc, test_refused_sends_nothing);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
