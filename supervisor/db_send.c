/*
 * db_send.c - who sends what on which connection, and when.
 *
 * Owns nothing.  Reads no answer: db.c does.
 */
#include "supervisor/db.h"

#include "common/inject.h"
#include "common/log.h"
#include "supervisor/db_conn.h"
#include "supervisor/supervisor.h"

static bool	send_is_any_busy(const struct db *);
static bool	send_next(struct db_conn *, struct mono now);
static void	send_batch(struct db_conn *, enum db_op);

void
db_call_send(struct db *db, struct db_call **cp,
    void (*fn)(struct super *, enum db_outcome, PGresult *, void *), void *arg)
{
	struct db_call *c = *cp;

	*cp = NULL;
	c->fn = fn;
	c->arg = arg;
	c->since = mono_now();
	TAILQ_INSERT_TAIL(&db->calls, c, link);
}

void
db_send_all(struct db *db)
{
	const struct timeval tv = ms_to_timeval(DB_GATHER_MS);
	struct mono now = mono_now();
	bool is_held = false;
	int i = 0;

	for (i = 0; i < DB_CONNS; i++)
		if (db->conns[i].state == CONN_IDLE &&
		    !send_next(&db->conns[i], now))
			is_held = true;
	/* the turn after it sends; the tick would be the second best */
	if (is_held && !evtimer_pending(db->ev_gather, NULL) &&
	    event_add(db->ev_gather, &tv) != 0)
		log_warnx("no memory for a timer of the database");
}

/*
 * A statement costs the server as much as twenty rows of one.  So while one
 * connection works, few tasks wait for more of their kind; a server that is
 * slow or much to write brings the second connection in.  False: something
 * was held back.
 */
static bool
send_next(struct db_conn *c, struct mono now)
{
	struct db *db = c->db;
	struct db_call *call = TAILQ_FIRST(&db->calls);
	enum db_op op = db_pick(&db->queues, now);
	bool is_held = false;

	/* Calls are few; only a mark or a record goes before them. */
	if (op == OP_MARK || op == OP_RECORD)
		call = NULL;
	if (send_is_any_busy(db)) {
		if (call != NULL &&
		    mono_diff_ms(now, call->since) < DB_GATHER_MS) {
			call = NULL;
			is_held = true;
		}
		if (op != OP_NONE && !db_is_ripe(&db->queues, op, now)) {
			op = OP_NONE;
			is_held = true;
		}
	}
	if (call != NULL) {
		c->call = call;
		TAILQ_REMOVE(&db->calls, call, link);
		(void)conn_send(c, call->sql, call->nparams,
		    call->params);	/* lost: db_on_lost() */
	} else if (op != OP_NONE)
		send_batch(c, op);
	return !is_held;
}

static bool
send_is_any_busy(const struct db *db)
{
	int i = 0;

	for (i = 0; i < DB_CONNS; i++)
		if (db->conns[i].state == CONN_BUSY)
			return true;
	return false;
}

static void
send_batch(struct db_conn *c, enum db_op op)
{
	struct db *db = c->db;
	struct super *super = db->super;

	db_take(&db->queues, op, &c->batch);
	if (db_op_build(super, &c->batch, &c->statement) != 0) {
		log_warnx("database: no memory for a batch of %s",
		    db_op_name(op));
		db_call_clear(&c->statement);
		db_later(&db->queues, &c->batch, mono_now());
		return;
	}
	super->stats.batches[op]++;
	super->stats.items[op] += c->batch.count;
	/* A failure has called db_on_lost(), which gives the batch back. */
	if (conn_send(c, c->statement.sql, c->statement.nparams,
	    c->statement.params) == 0) {
		if (op == OP_MARK)
			INJECT("super.marking");
	}
}
