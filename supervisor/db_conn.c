/*
 * db_conn.c - one non-blocking connection: connect, send, read, lose.
 *
 * Owns the PGconn and its events.  Knows nothing of tasks.  No session state
 * but LISTEN on the listener, so a transaction-mode pooler may sit between.
 */
#include "supervisor/db_conn.h"

#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "supervisor/supervisor.h"

#define BACKOFF_MIN_MS	100
#define BACKOFF_MAX_MS	5000
#define CONNECT_MS	10000

static void	conn_io(evutil_socket_t, short, void *);
static void	conn_retry(evutil_socket_t, short, void *);
static void	conn_poll(struct db_conn *);
static void	conn_read(struct db_conn *);

int
conn_init(struct db_conn *c, struct db *db, int index)
{
	memset(c, 0, sizeof(*c));
	c->db = db;
	c->index = index;
	c->is_listener = index == DB_CONNS;
	c->backoff_ms = BACKOFF_MIN_MS;
	TAILQ_INIT(&c->batch.tasks);
	c->ev_retry = evtimer_new(db->super->base, conn_retry, c);
	return c->ev_retry == NULL ? PO_ENOMEM : 0;
}

static void
conn_drop(struct db_conn *c)
{
	if (c->ev_io != NULL)
		event_free(c->ev_io);
	c->ev_io = NULL;
	c->what = 0;
	if (c->res != NULL)
		PQclear(c->res);
	c->res = NULL;
	if (c->pg != NULL)
		PQfinish(c->pg);
	c->pg = NULL;
	c->is_listening = false;
	c->nlistens = 0;
	c->state = CONN_DOWN;
}

void
conn_done(struct db_conn *c)
{
	conn_drop(c);
	db_call_clear(&c->statement);
	if (c->ev_retry != NULL)
		event_free(c->ev_retry);
	c->ev_retry = NULL;
}

/* The socket may change between two polls of a connect: always ask anew. */
static void
conn_watch(struct db_conn *c, short what)
{
	int fd = PQsocket(c->pg);

	if (c->ev_io != NULL && event_get_fd(c->ev_io) == fd &&
	    c->what == what)
		return;
	if (c->ev_io != NULL)
		event_free(c->ev_io);
	c->what = what;
	c->ev_io = event_new(c->db->super->base, fd,
	    (short)(what | EV_PERSIST), conn_io, c);
	if (c->ev_io == NULL || event_add(c->ev_io, NULL) != 0)
		fatalx("cannot watch a database socket: out of memory");
}

static void
conn_notice(void *arg, const PGresult *res)
{
	const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	struct db_conn *c = arg;

	log_debug("database=%d notice: %s", c->index,
	    text != NULL ? text : "?");
}

void
conn_connect(struct db_conn *c)
{
	const char *const keys[] = { "dbname", "fallback_application_name",
	    "client_encoding", "keepalives_idle", NULL };
	const char *const values[] = { c->db->super->conf->database,
	    "payonced", "UTF8", "30", NULL };

	c->pg = PQconnectStartParams(keys, values, 1);
	if (c->pg == NULL)
		fatalx("cannot make a database connection: out of memory");
	c->state = CONN_CONNECTING;
	c->deadline = mono_add_ms(mono_now(), CONNECT_MS);
	if (PQstatus(c->pg) == CONNECTION_BAD) {
		conn_lose(c, PQerrorMessage(c->pg));
		return;
	}
	/* it returns the one before */
	(void)PQsetNoticeReceiver(c->pg, conn_notice, c);
	conn_watch(c, EV_WRITE);
}

static void
conn_poll(struct db_conn *c)
{
	switch (PQconnectPoll(c->pg)) {
	case PGRES_POLLING_READING:
		conn_watch(c, EV_READ);
		return;
	case PGRES_POLLING_WRITING:
		conn_watch(c, EV_WRITE);
		return;
	case PGRES_POLLING_OK:
		break;
	default:
		conn_lose(c, PQerrorMessage(c->pg));
		return;
	}
	if (PQsetnonblocking(c->pg, 1) != 0) {
		conn_lose(c, PQerrorMessage(c->pg));
		return;
	}
	c->state = CONN_IDLE;
	c->backoff_ms = BACKOFF_MIN_MS;
	conn_watch(c, EV_READ);
	log_debug("database=%d connected", c->index);
	db_on_ready(c);
}

int
conn_send(struct db_conn *c, const char *sql, int nparams, char *const *params)
{
	int rc = 0;

	if (PQsendQueryParams(c->pg, sql, nparams, NULL,
	    (const char *const *)params, NULL, NULL, 0) == 0) {
		conn_lose(c, PQerrorMessage(c->pg));
		return PO_EIO;
	}
	c->state = CONN_BUSY;
	c->deadline = mono_add_ms(mono_now(), DB_ANSWER_MS);
	c->db->super->stats.round_trips++;
	rc = PQflush(c->pg);
	if (rc < 0) {
		conn_lose(c, PQerrorMessage(c->pg));
		return PO_EIO;
	}
	conn_watch(c, rc > 0 ? EV_READ | EV_WRITE : EV_READ);
	return 0;
}

static void
conn_io(evutil_socket_t fd, short what, void *arg)
{
	struct db_conn *c = arg;
	int rc = 0;

	(void)fd;	/* libpq knows its socket */
	if (c->state == CONN_CONNECTING) {
		conn_poll(c);
		return;
	}
	/* Read first: a full pipe may be full because nobody reads. */
	conn_read(c);
	if (c->pg == NULL || (what & EV_WRITE) == 0)
		return;
	rc = PQflush(c->pg);
	if (rc < 0)
		conn_lose(c, PQerrorMessage(c->pg));
	else if (rc == 0)
		conn_watch(c, EV_READ);
}

/*
 * A statement is over at the NULL after its results, that is after
 * ReadyForQuery: an autocommit statement is committed by then, and only then
 * is its answer told to anybody.
 */
static void
conn_read(struct db_conn *c)
{
	PGresult *res = NULL;
	PGnotify *note = NULL;

	if (PQconsumeInput(c->pg) == 0) {
		conn_lose(c, PQerrorMessage(c->pg));
		return;
	}
	while ((note = PQnotifies(c->pg)) != NULL) {
		db_on_notify(c, note->relname, note->extra);
		PQfreemem(note);
	}
	while (c->state == CONN_BUSY && PQisBusy(c->pg) == 0) {
		res = PQgetResult(c->pg);
		if (res != NULL) {
			if (c->res != NULL)
				PQclear(c->res);
			c->res = res;
			continue;
		}
		if (PQstatus(c->pg) == CONNECTION_BAD) {
			conn_lose(c, PQerrorMessage(c->pg));
			return;
		}
		res = c->res;
		c->res = NULL;
		c->state = CONN_IDLE;
		db_on_answer(c, res);
		PQclear(res);
		return;
	}
}

static void
chomp(char *to, size_t cap, const char *from)
{
	size_t n = strcspn(from, "\n");

	if (n >= cap)
		n = cap - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

void
conn_lose(struct db_conn *c, const char *why)
{
	char text[256];
	struct timeval tv;
	int64_t ms = 0;

	chomp(text, sizeof(text), why);
	if (c->backoff_ms == BACKOFF_MIN_MS || c->state != CONN_CONNECTING)
		log_warnx("database=%d connection lost, connects again: %s",
		    c->index, text);
	else
		log_debug("database=%d: %s", c->index, text);
	conn_drop(c);
	/* A crowd that was cut off together must not come back together. */
	ms = c->backoff_ms / 2 +
	    (int64_t)arc4random_uniform((unsigned int)c->backoff_ms);
	c->backoff_ms *= 2;
	if (c->backoff_ms > BACKOFF_MAX_MS)
		c->backoff_ms = BACKOFF_MAX_MS;
	tv = ms_to_timeval(ms);
	if (event_add(c->ev_retry, &tv) != 0)
		fatalx("cannot arm a timer: out of memory");
	db_on_lost(c);
}

static void
conn_retry(evutil_socket_t fd, short what, void *arg)
{
	struct db_conn *c = arg;

	(void)fd;	/* a timer has none */
	(void)what;
	if (c->state != CONN_DOWN)
		return;
	c->db->super->stats.reconnects++;
	conn_connect(c);
}
