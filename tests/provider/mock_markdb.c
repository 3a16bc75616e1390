/*
 * mock_markdb.c - was the mark committed before the request came?
 *
 * One connection of its own, non-blocking, in pipeline mode: all questions
 * of a turn go out behind one Sync.  Each is a statement of its own, so at
 * READ COMMITTED it sees what was committed when it ran.  A question that
 * cannot be answered is never asked again later: by then the mark might be
 * there, and the pin would lie.  It is counted as unknown.
 */
#include <sys/queue.h>

#include <errno.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/provider/mock.h"

#define MARKDB_STATEMENT "mark"
#define MARKDB_SQL \
    "SELECT submit_started_at IS NOT NULL FROM payonce.generation_task " \
    "WHERE id = $1::bigint AND attempt = $2::integer"
#define MARKDB_RETRY_MS		200
#define MARKDB_CONNECT_MS	3000
#define MARKDB_ANSWER_MS	5000

enum ask_kind { ASK_PREPARE, ASK_MARK, ASK_SYNC };

struct ask {
	STAILQ_ENTRY(ask) entry;
	enum ask_kind	 kind;
	struct row	*row;
};

STAILQ_HEAD(ask_queue, ask);

enum markdb_state { MARKDB_UNUSED, MARKDB_DOWN, MARKDB_CONNECTING,
	MARKDB_READY };

static struct ask_queue	 markdb_waiting =
    STAILQ_HEAD_INITIALIZER(markdb_waiting);
static struct ask_queue	 markdb_sent =
    STAILQ_HEAD_INITIALIZER(markdb_sent);
static enum markdb_state markdb_state;
static bool		 markdb_is_prepared;
static char		*markdb_conninfo;
static PGconn		*markdb_conn;
static struct event	 markdb_read, markdb_write, markdb_timer;

static void	markdb_connect(void);
static void	markdb_on_connect(void);
static void	markdb_lost(const char *);
static void	markdb_watch(bool, bool);
static void	markdb_on_ready(evutil_socket_t, short, void *);
static void	markdb_on_timer(evutil_socket_t, short, void *);
static void	markdb_take(PGresult *);

bool
markdb_is_used(void)
{
	return markdb_state != MARKDB_UNUSED;
}

static void
markdb_arm(int64_t ms)
{
	struct timeval after = ms_to_timeval(ms);

	if (evtimer_add(&markdb_timer, &after) == -1)
		log_warnx("mark look-up: no timer");
}

int
markdb_open(const char *conninfo)
{
	markdb_conninfo = mem_strdup(conninfo);
	if (markdb_conninfo == NULL || evtimer_assign(&markdb_timer,
	    mock.base, markdb_on_timer, NULL) == -1)
		return PO_ENOMEM;
	markdb_state = MARKDB_DOWN;
	markdb_connect();
	return 0;
}

static void
markdb_ignore_notice(void *arg, const PGresult *result)
{
	(void)arg;
	(void)result;
}

static void
markdb_connect(void)
{
	markdb_conn = PQconnectStart(markdb_conninfo);
	if (markdb_conn == NULL || PQstatus(markdb_conn) == CONNECTION_BAD) {
		markdb_lost("cannot connect");
		return;
	}
	(void)PQsetNoticeReceiver(markdb_conn, markdb_ignore_notice, NULL);
	markdb_state = MARKDB_CONNECTING;
	markdb_watch(false, true);
	markdb_arm(MARKDB_CONNECT_MS);
}

/* The socket may be another one after each step of the connecting. */
static void
markdb_watch(bool reads, bool writes)
{
	static bool is_reading, is_writing;
	int fd = markdb_conn != NULL ? PQsocket(markdb_conn) : -1;

	if (is_reading)
		(void)event_del(&markdb_read);	/* assigned */
	if (is_writing)
		(void)event_del(&markdb_write);
	is_reading = reads && fd != -1;
	is_writing = writes && fd != -1;
	if (is_reading && (event_assign(&markdb_read, mock.base, fd,
	    EV_READ | EV_PERSIST, markdb_on_ready, NULL) == -1 ||
	    event_add(&markdb_read, NULL) == -1))
		fatalx("mark look-up: no event");
	if (is_writing && (event_assign(&markdb_write, mock.base, fd,
	    EV_WRITE | EV_PERSIST, markdb_on_ready, NULL) == -1 ||
	    event_add(&markdb_write, NULL) == -1))
		fatalx("mark look-up: no event");
}

static void
markdb_answer(struct ask_queue *queue, enum mark mark)
{
	struct ask *ask = STAILQ_FIRST(queue);
	struct row *row = ask->row;

	STAILQ_REMOVE_HEAD(queue, entry);
	if (ask->kind == ASK_MARK)
		submit_mark(row, mark);
	mem_free(ask);
}

static void
markdb_lost(const char *why)
{
	const char *text = markdb_conn != NULL ?
	    PQerrorMessage(markdb_conn) : "out of memory";

	log_warnx("mark look-up: %s: %.*s", why, (int)strcspn(text, "\n"),
	    text);
	markdb_watch(false, false);
	PQfinish(markdb_conn);
	markdb_conn = NULL;
	markdb_is_prepared = false;
	markdb_state = MARKDB_DOWN;
	while (!STAILQ_EMPTY(&markdb_sent))
		markdb_answer(&markdb_sent, MARK_UNKNOWN);
	while (!STAILQ_EMPTY(&markdb_waiting))
		markdb_answer(&markdb_waiting, MARK_UNKNOWN);
	markdb_arm(MARKDB_RETRY_MS);
}

void
markdb_close(void)
{
	if (markdb_state == MARKDB_UNUSED)
		return;
	markdb_watch(false, false);
	(void)event_del(&markdb_timer);		/* assigned */
	PQfinish(markdb_conn);
	markdb_conn = NULL;
	while (!STAILQ_EMPTY(&markdb_sent))
		markdb_answer(&markdb_sent, MARK_UNKNOWN);
	while (!STAILQ_EMPTY(&markdb_waiting))
		markdb_answer(&markdb_waiting, MARK_UNKNOWN);
	mem_free(markdb_conninfo);
}

static void
markdb_on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	if (markdb_state == MARKDB_DOWN)
		markdb_connect();
	else if (markdb_state == MARKDB_CONNECTING)
		markdb_lost("connecting takes too long");
	else if (!STAILQ_EMPTY(&markdb_sent))
		markdb_lost("no answer in time");
}

static void
markdb_on_connect(void)
{
	switch (PQconnectPoll(markdb_conn)) {
	case PGRES_POLLING_READING:
		markdb_watch(true, false);
		break;
	case PGRES_POLLING_WRITING:
		markdb_watch(false, true);
		break;
	case PGRES_POLLING_OK:
		if (PQsetnonblocking(markdb_conn, 1) != 0 ||
		    PQenterPipelineMode(markdb_conn) != 1) {
			markdb_lost("no pipeline");
			break;
		}
		(void)event_del(&markdb_timer);	/* assigned */
		markdb_state = MARKDB_READY;
		markdb_watch(true, false);
		break;
	default:
		markdb_lost("cannot connect");
		break;
	}
}

static int
markdb_queue(struct ask_queue *queue, enum ask_kind kind, struct row *row)
{
	struct ask *ask = mem_alloc(sizeof(*ask));

	if (ask == NULL)
		return PO_ENOMEM;
	ask->kind = kind;
	ask->row = row;
	STAILQ_INSERT_TAIL(queue, ask, entry);
	return 0;
}

/* While it is down there is no answer; while it connects there may be. */
void
markdb_ask(struct row *row)
{
	if (markdb_state == MARKDB_DOWN ||
	    markdb_queue(&markdb_waiting, ASK_MARK, row) != 0)
		submit_mark(row, MARK_UNKNOWN);
}

static int
markdb_send(const struct row *row)
{
	char task[24], attempt[12];
	const char *values[2] = { task, attempt };

	(void)snprintf(task, sizeof(task), "%lld", (long long)row->task);
	(void)snprintf(attempt, sizeof(attempt), "%d", row->attempt);
	return PQsendQueryPrepared(markdb_conn, MARKDB_STATEMENT, 2, values,
	    NULL, NULL, 0);
}

/* markdb_flush() sends the questions of this turn. */
void
markdb_flush(void)
{
	struct ask *ask;
	int left;

	if (markdb_state != MARKDB_READY || STAILQ_EMPTY(&markdb_waiting))
		return;
	if (!markdb_is_prepared) {
		if (PQsendPrepare(markdb_conn, MARKDB_STATEMENT, MARKDB_SQL,
		    0, NULL) != 1 ||
		    markdb_queue(&markdb_sent, ASK_PREPARE, NULL) != 0) {
			markdb_lost("cannot send");
			return;
		}
		markdb_is_prepared = true;
	}
	while ((ask = STAILQ_FIRST(&markdb_waiting)) != NULL) {
		if (markdb_send(ask->row) != 1) {
			markdb_lost("cannot send");
			return;
		}
		STAILQ_REMOVE_HEAD(&markdb_waiting, entry);
		STAILQ_INSERT_TAIL(&markdb_sent, ask, entry);
	}
	if (PQpipelineSync(markdb_conn) != 1 ||
	    markdb_queue(&markdb_sent, ASK_SYNC, NULL) != 0 ||
	    (left = PQflush(markdb_conn)) == -1) {
		markdb_lost("cannot send");
		return;
	}
	if (left == 1)
		markdb_watch(true, true);
	if (!evtimer_pending(&markdb_timer, NULL))
		markdb_arm(MARKDB_ANSWER_MS);
}

static void
markdb_on_ready(evutil_socket_t fd, short what, void *arg)
{
	PGresult *result;
	bool was_null = false;
	int left;

	(void)fd;
	(void)arg;
	if (markdb_state == MARKDB_CONNECTING) {
		markdb_on_connect();
		return;
	}
	if (what & EV_WRITE) {
		left = PQflush(markdb_conn);
		if (left == 0)
			markdb_watch(true, false);
	}
	if (PQconsumeInput(markdb_conn) != 1) {
		markdb_lost("connection lost");
		return;
	}
	/* A NULL ends each question; only a Sync has none behind it. */
	while (!STAILQ_EMPTY(&markdb_sent) && !PQisBusy(markdb_conn)) {
		result = PQgetResult(markdb_conn);
		if (result == NULL) {
			if (was_null)	/* nothing comes any more */
				break;
			was_null = true;
			continue;
		}
		was_null = false;
		markdb_take(result);
		PQclear(result);
	}
	if (PQstatus(markdb_conn) == CONNECTION_BAD)
		markdb_lost("connection lost");
	else if (STAILQ_EMPTY(&markdb_sent))
		(void)event_del(&markdb_timer);		/* assigned */
	else
		markdb_arm(MARKDB_ANSWER_MS);		/* there was progress */
}

static void
markdb_take(PGresult *result)
{
	struct ask *ask = STAILQ_FIRST(&markdb_sent);
	ExecStatusType status = PQresultStatus(result);
	const char *text;
	enum mark mark = MARK_UNKNOWN;

	if (ask->kind == ASK_PREPARE && status != PGRES_COMMAND_OK)
		markdb_is_prepared = false;
	if (status == PGRES_FATAL_ERROR) {
		text = PQresultErrorMessage(result);
		log_warnx("mark look-up: %.*s", (int)strcspn(text, "\n"),
		    text);
	}
	if (ask->kind == ASK_MARK && status == PGRES_TUPLES_OK) {
		/* A POST for a row that is not at that attempt: no mark. */
		mark = MARK_NO;
		if (PQntuples(result) == 1 &&
		    PQgetvalue(result, 0, 0)[0] == 't')
			mark = MARK_YES;
	}
	markdb_answer(&markdb_sent, mark);
}
