/*
 * db.c - the connections together, and who hears an answer.
 *
 * Owns the connections, the queues and the calls; db_send.c sends them.  A
 * batch whose connection broke goes back to the front and is sent again:
 * every transition is safe to repeat under the same token.  The mark is too,
 * with one difference: the repetition may find the row marked by the first
 * sending and lose; then the worker is told MARK_REFUSED and proves that
 * nothing left.
 */
#include "supervisor/db.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/db_conn.h"
#include "supervisor/supervisor.h"

/* Every event is followed by a turn, which sends. */
static void
on_gather(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;	/* a timer has none */
	(void)what;
	(void)arg;
}

int
db_new(struct super *super, struct db **ret)
{
	struct db *db = mem_alloc(sizeof(*db));
	int i = 0, err = 0;

	if (db == NULL)
		return PO_ENOMEM;
	db->super = super;
	db_queues_init(&db->queues);
	TAILQ_INIT(&db->calls);
	db->ev_gather = evtimer_new(super->base, on_gather, db);
	if (db->ev_gather == NULL)
		err = PO_ENOMEM;
	for (i = 0; i <= DB_CONNS && err == 0; i++)
		err = conn_init(&db->conns[i], db, i);
	if (err != 0) {
		db_free(&db);
		return err;
	}
	*ret = db;
	return 0;
}

void
db_free(struct db **dbp)
{
	struct db *db = *dbp;
	struct db_call *c = NULL;
	int i = 0;

	if (db == NULL)
		return;
	for (i = 0; i <= DB_CONNS; i++) {
		db_call_free(&db->conns[i].call);
		conn_done(&db->conns[i]);
	}
	while ((c = TAILQ_FIRST(&db->calls)) != NULL) {
		TAILQ_REMOVE(&db->calls, c, link);
		db_call_free(&c);
	}
	if (db->ev_gather != NULL)
		event_free(db->ev_gather);
	mem_free(db);
	*dbp = NULL;
}

void
db_start(struct db *db)
{
	int i = 0;

	for (i = 0; i <= DB_CONNS; i++)
		conn_connect(&db->conns[i]);
}

struct db_queues *
db_queues(struct db *db)
{
	return &db->queues;
}

static void
task_told(struct task *t, enum tevent ev, void *arg)
{
	struct super *super = arg;

	if (ev == TE_D_WON && t->state == TS_MARKING)
		t->row.is_marked = true;
	task_event(&super->env, t, ev);
}

/* The connection is given up for a silence; nobody knows what happened. */
void
db_check(struct db *db)
{
	struct mono now = mono_now();
	int i = 0;

	for (i = 0; i <= DB_CONNS; i++) {
		struct db_conn *c = &db->conns[i];

		if ((c->state == CONN_BUSY || c->state == CONN_CONNECTING) &&
		    mono_is_before(c->deadline, now))
			conn_lose(c, "no answer in time");
	}
}

bool
db_is_up(const struct db *db)
{
	int i = 0;

	for (i = 0; i < DB_CONNS; i++)
		if (db->conns[i].state == CONN_IDLE ||
		    db->conns[i].state == CONN_BUSY)
			return true;
	return false;
}

bool
db_is_quiet(const struct db *db)
{
	int i = 0;

	if (!TAILQ_EMPTY(&db->calls))
		return false;
	for (i = 0; i < OP_MAX; i++)
		if (db->queues.q[i].count > 0 || db->queues.q[i].is_in_flight)
			return false;
	for (i = 0; i < DB_CONNS; i++)
		if (db->conns[i].state == CONN_BUSY)
			return false;
	return true;
}

void
db_on_ready(struct db_conn *c)
{
	struct db *db = c->db;

	if (c->is_listener) {
		(void)conn_send(c, "listen payonce_new", 0, NULL);
		return;		/* lost: the tick polls */
	}
	if (!db->was_up)
		log_info("database connected");
	db->was_up = true;
	/* Another server may answer now: look at it before the next claim. */
	db->super->is_checked = false;
}

/* The ids that won are the first column of every transition's answer. */
static int
read_ids(const PGresult *res, int64_t **ret, size_t *ret_n)
{
	size_t i = 0, n = (size_t)PQntuples(res);
	int64_t *ids = mem_array(n > 0 ? n : 1, sizeof(*ids));

	if (ids == NULL)
		return PO_ENOMEM;
	for (i = 0; i < n; i++) {
		if (num_parse_i64(PQgetvalue(res, (int)i, 0), 1, INT64_MAX,
		    &ids[i]) != 0) {
			mem_free(ids);
			return PO_EINVAL;
		}
	}
	*ret = ids;
	*ret_n = n;
	return 0;
}

static void
batch_answered(struct db_conn *c, PGresult *res)
{
	struct db *db = c->db;
	struct super *super = db->super;
	enum db_op op = c->batch.op;
	int64_t *ids = NULL;
	size_t n = 0;

	db_call_clear(&c->statement);
	switch (db_classify(res)) {
	case DB_OK:
		if (read_ids(res, &ids, &n) != 0)
			break;
		if (op == OP_MARK)
			INJECT("super.marked");
		else if (op == OP_RECORD)
			INJECT("super.recorded");
		else if (op == OP_RESULT)
			INJECT("super.result");
		else if (op == OP_COMPLETE)
			INJECT("super.completed");
		if (op == OP_RELEASE || op == OP_EXPIRE)
			claim_want(super, NULL, op == OP_EXPIRE);
		db_answer(&db->queues, &c->batch, ids, n, task_told, super);
		mem_free(ids);
		return;
	case DB_REFUSED:
		if (c->batch.count > 1) {
			log_debug("database: %s of %zu refused, one by one: %s",
			    db_op_name(op), c->batch.count,
			    PQresultErrorMessage(res));
			db_split(&db->queues, &c->batch);
			return;
		}
		log_warnx("task=%lld %s refused by the database: %s",
		    (long long)TAILQ_FIRST(&c->batch.tasks)->id,
		    db_op_name(op), PQresultErrorMessage(res));
		db_refuse(&db->queues, &c->batch, task_told, super);
		return;
	case DB_LATER:
	case DB_GONE:
	default:
		break;
	}
	log_warnx("database cannot %s now, tries again: %s", db_op_name(op),
	    res != NULL ? PQresultErrorMessage(res) : "no answer");
	db_later(&db->queues, &c->batch, mono_now());
}

static void
note_error(struct db *db, const struct db_call *call, const PGresult *res)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);

	(void)strlcpy(db->sqlstate, state != NULL ? state : "",
	    sizeof(db->sqlstate));	/* five characters */
	log_warnx("database: %s failed: %s", call->name,
	    PQresultErrorMessage(res));
}

const char *
db_sqlstate(const struct db *db)
{
	return db->sqlstate;
}

/* One statement at a time: the extended protocol takes no list. */
static void
listener_answered(struct db_conn *c, PGresult *res)
{
	if (db_classify(res) != DB_OK) {
		log_warnx("database: cannot LISTEN, polls instead: %s",
		    PQresultErrorMessage(res));
		return;
	}
	if (c->nlistens++ == 0)
		(void)conn_send(c, "listen payonce_cancel", 0, NULL);
	else
		c->is_listening = true;
}

void
db_on_answer(struct db_conn *c, PGresult *res)
{
	struct db_call *call = c->call;
	enum db_outcome outcome = DB_OK;

	if (c->is_listener) {
		listener_answered(c, res);
		return;
	}
	if (call == NULL) {
		batch_answered(c, res);
		return;
	}
	c->call = NULL;
	outcome = db_classify(res);
	if (outcome != DB_OK)
		note_error(c->db, call, res);
	call->fn(c->db->super, outcome, outcome == DB_OK ? res : NULL,
	    call->arg);
	db_call_free(&call);
}

void
db_on_lost(struct db_conn *c)
{
	struct db *db = c->db;
	struct db_call *call = c->call;

	db_call_clear(&c->statement);
	if (c->batch.op != OP_NONE)
		db_give_back(&db->queues, &c->batch);
	if (!db_is_up(db))
		db->was_up = false;
	if (call == NULL)
		return;
	c->call = NULL;
	call->fn(db->super, DB_GONE, NULL, call->arg);
	db_call_free(&call);
}

void
db_on_notify(struct db_conn *c, const char *channel, const char *payload)
{
	struct super *super = c->db->super;
	int64_t id = 0;

	if (strcmp(channel, "payonce_new") == 0)
		claim_want(super, payload, false);
	else if (strcmp(channel, "payonce_cancel") == 0 &&
	    num_parse_i64(payload, 1, INT64_MAX, &id) == 0)
		renew_cancel(super, id);
}

size_t
db_describe(struct db *db, char *buf, size_t cap)
{
	static const char *const names[] = {
		[CONN_DOWN] = "down", [CONN_CONNECTING] = "connecting",
		[CONN_IDLE] = "idle", [CONN_BUSY] = "busy",
	};
	int n = snprintf(buf, cap, "connections %s, %s; listener %s",
	    names[db->conns[0].state], names[db->conns[1].state],
	    db->conns[DB_CONNS].is_listening ? "listens" : "does not listen");

	return n < 0 ? 0 : (size_t)n;
}
