/*
 * mock_admin.c - /_mock/: what tests ask and set.
 *
 * Reachable at both hosts, without a key, through every outage.
 */
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/num.h"
#include "tests/provider/mock.h"

#define ADMIN_BODY_MAX	((size_t)1 << 30)
#define ADMIN_WAIT_MS	10000

TAILQ_HEAD(wait_list, conn);

static struct wait_list	admin_waits = TAILQ_HEAD_INITIALIZER(admin_waits);

static void	admin_wait(struct conn *);
static void	admin_on_timeout(struct conn *);
static bool	admin_is_reached(const struct wait_for *);
static void	admin_summary(struct conn *, int);
static void	admin_ledger(struct conn *);
static void	admin_outage(struct conn *, const char *);
static void	admin_latency(struct conn *, const char *);
static void	admin_key(struct conn *, const char *);

void
admin_route(struct conn *conn)
{
	const char *tail = conn->req.path + strlen("/_mock/");
	bool is_post = strcmp(conn->req.method, "POST") == 0;

	if (!is_post && strcmp(tail, "ledger") == 0)
		admin_ledger(conn);
	else if (!is_post && strcmp(tail, "summary") == 0)
		admin_summary(conn, 200);
	else if (!is_post && strcmp(tail, "wait") == 0)
		admin_wait(conn);
	else if (is_post && strncmp(tail, "latency/", 8) == 0)
		admin_latency(conn, tail + 8);
	else if (is_post && strncmp(tail, "outage/", 7) == 0)
		admin_outage(conn, tail + 7);
	else if (is_post && strncmp(tail, "key/", 4) == 0)
		admin_key(conn, tail + 4);
	else
		answer_error(conn, 404, "no such administration");
}

static void
admin_summary(struct conn *conn, int status)
{
	const struct stats *s = &mock.stats;
	char body[1024];

	(void)snprintf(body, sizeof(body), "{\"posts\":%lld,"	/* fits */
	    "\"charged_posts\":%lld,\"tasks\":%lld,\"charged_twice\":%lld,"
	    "\"tasks_charged_twice\":%lld,\"unmarked\":%lld,"
	    "\"mark_unknown\":%lld,\"spent\":\"%s\",\"polls\":%lld,"
	    "\"results\":%lld,\"downloads\":%lld,\"downloads_keyed\":%lld,"
	    "\"foreign\":%lld,\"foreign_keyed\":%lld,\"open\":%lld,"
	    "\"malformed\":%lld,\"connections\":%lld}\n",
	    (long long)s->posts, (long long)s->charged_posts,
	    (long long)s->tasks, (long long)s->charged_twice,
	    (long long)s->tasks_charged_twice, (long long)s->unmarked,
	    (long long)s->mark_unknown, s->spent, (long long)s->polls,
	    (long long)s->results, (long long)s->downloads,
	    (long long)s->downloads_keyed, (long long)s->foreign,
	    (long long)s->foreign_keyed, (long long)s->open,
	    (long long)s->malformed, (long long)s->connections);
	answer_json(conn, status, NULL, body);
}

static void
admin_ledger(struct conn *conn)
{
	struct buf body;
	int64_t task = 0, since = 0;
	int has_task, has_since;

	has_task = http_query_i64(&conn->req, "task", &task);
	has_since = http_query_i64(&conn->req, "since", &since);
	if (has_task == -1 || has_since == -1) {
		answer_error(conn, 400, "task and since are numbers");
		return;
	}
	buf_init(&body, ADMIN_BODY_MAX);
	if (record_put_all(&body, has_task == 0, task, since) != 0)
		conn_drop(conn, true);
	else
		answer_send(conn, 200, "application/json", NULL,
		    buf_head(&body), buf_left(&body));
	answer_start(conn);
	buf_done(&body);
}

static void
admin_wait(struct conn *conn)
{
	struct wait_for *wait = &conn->wait;
	const struct {
		const char	*name;
		int64_t		*value;
	} numbers[] = {
		{ "posts", &wait->posts }, { "charged", &wait->charged },
		{ "polls", &wait->polls }, { "results", &wait->results },
		{ "downloads", &wait->downloads }, { "open", &wait->open }
	};
	int64_t timeout_ms = ADMIN_WAIT_MS;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		*numbers[i].value = -1;
		if (http_query_i64(&conn->req, numbers[i].name,
		    numbers[i].value) == -1) {
			answer_error(conn, 400, "a count is no number");
			return;
		}
	}
	rc = http_query_i64(&conn->req, "task", &wait->task);
	wait->has_task = rc == 0;
	if (rc == -1 || http_query_i64(&conn->req, "timeout_ms",
	    &timeout_ms) == -1 || timeout_ms > 3600 * 1000) {
		answer_error(conn, 400, "task or timeout_ms is no number");
		return;
	}
	if (admin_is_reached(wait)) {
		admin_summary(conn, 200);
		return;
	}
	conn_hold_ms(conn, timeout_ms, admin_on_timeout);
	conn->is_waiting = true;
	TAILQ_INSERT_TAIL(&admin_waits, conn, wait_entry);
}

static bool
admin_is_reached(const struct wait_for *wait)
{
	const struct stats *s = &mock.stats;
	int64_t posts = s->posts, charged = s->charged_posts;

	if (wait->has_task) {
		posts = charged = 0;
		/* A task without a POST has none. */
		(void)ledger_task_count(wait->task, &posts, &charged);
	}
	return posts >= wait->posts && charged >= wait->charged &&
	    s->polls >= wait->polls && s->results >= wait->results &&
	    s->downloads >= wait->downloads && s->open >= wait->open;
}

void
admin_forget(struct conn *conn)
{
	if (!conn->is_waiting)
		return;
	conn->is_waiting = false;
	TAILQ_REMOVE(&admin_waits, conn, wait_entry);
}

static void
admin_on_timeout(struct conn *conn)
{
	admin_forget(conn);
	admin_summary(conn, 504);
}

/* admin_check_waits() runs at the end of a turn in which a number changed. */
void
admin_check_waits(void)
{
	struct conn *conn, *next;

	if (!mock.is_dirty)
		return;
	mock.is_dirty = false;
	for (conn = TAILQ_FIRST(&admin_waits); conn != NULL; conn = next) {
		next = TAILQ_NEXT(conn, wait_entry);
		if (!admin_is_reached(&conn->wait))
			continue;
		admin_forget(conn);
		admin_summary(conn, 200);
	}
}

static void
admin_latency(struct conn *conn, const char *text)
{
	if (num_parse_i64(text, 0, 24 * 3600 * 1000, &mock.latency_ms) != 0)
		answer_error(conn, 400, "latency is in milliseconds");
	else
		answer_json(conn, 200, NULL, "{}");
}

static void
admin_outage(struct conn *conn, const char *word)
{
	static const char *const words[] = {
		[OUTAGE_OFF] = "off", [OUTAGE_REFUSE] = "refuse",
		[OUTAGE_HANG] = "hang", [OUTAGE_503] = "503"
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0)
			break;
	if (i == sizeof(words) / sizeof(words[0])) {
		answer_error(conn, 400, "outage: refuse, hang, 503 or off");
		return;
	}
	mock.outage = (enum outage)i;
	if (listen_set_refusing(mock.outage == OUTAGE_REFUSE) != 0) {
		log_warn("port %d cannot be opened again", (int)mock.port);
		answer_error(conn, 500, "the port cannot be opened again");
		return;
	}
	answer_json(conn, 200, NULL, "{}");
}

static void
admin_key(struct conn *conn, const char *key)
{
	if (strlen(key) >= sizeof(mock.key)) {
		answer_error(conn, 400, "the key is too long");
		return;
	}
	memcpy(mock.key, key, strlen(key) + 1);
	answer_json(conn, 200, NULL, "{}");
}
