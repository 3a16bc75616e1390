/*
 * claim.c - when to claim, and how many of each kind.
 *
 * One claim is in flight at a time.  New work is announced (LISTEN), a freed
 * slot asks for more only when the last claim left some, and the tick asks
 * anyway: where LISTEN cannot work, polling does.
 */
#include <string.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/supervisor.h"

static void	on_claimed(struct super *, enum db_outcome, PGresult *, void *);
static void	due_ask(struct super *);

void
claim_want(struct super *super, const char *kind, bool is_expired)
{
	struct kind *k = NULL;

	TAILQ_FOREACH(k, &super->kinds, link) {
		if (kind == NULL || strcmp(k->name, kind) == 0) {
			k->has_more = true;
			super->want_claim = true;
		}
	}
	if (is_expired)
		super->want_expired = true;
}

/*
 * Expired leases need a place in flight only; a fresh paid task also a submit
 * worker that is free for it soon.
 */
static unsigned int
room_of(struct super *super, const struct kind *k, bool is_expired)
{
	unsigned int limit = kind_limit(k), room = 0, submit = 0;

	if (limit <= k->inflight || k->is_holding)
		return 0;
	room = limit - k->inflight;
	submit = k->conf->provider != NULL ? kind_submit_room(super, k) : room;
	/*
	 * The claim fills up with fresh tasks, which would wait here while
	 * another host is idle: so few at first, more as long as expired
	 * ones are all that comes.
	 */
	if (is_expired && submit < super->expired_cap)
		submit = super->expired_cap;
	if (!is_expired && (!k->has_more ||
	    hold_is_paused(&k->hold, mono_now())))
		return 0;
	return room < submit ? room : submit;
}

struct claim_arrays {
	struct buf	kinds;
	struct buf	providers;
	struct buf	models;
	struct buf	limits;
};

static int
arrays_add(struct claim_arrays *a, const struct kind *k, unsigned int room)
{
	int err = array_put_text(&a->kinds, k->name);

	if (err == 0)
		err = array_put_text(&a->providers, k->conf->provider);
	if (err == 0)
		err = array_put_text(&a->models, k->conf->model);
	if (err == 0)
		err = array_put_i64(&a->limits, room);
	return err;
}

static int
claim_build(struct super *super, struct db_call *c)
{
	struct buf *list[4];
	struct claim_arrays a;
	struct kind *k = NULL;
	unsigned int room = 0;
	size_t i = 0;
	int err = 0;

	list[0] = &a.kinds;
	list[1] = &a.providers;
	list[2] = &a.models;
	list[3] = &a.limits;
	for (i = 0; i < 4; i++) {
		buf_init(list[i], (size_t)1 << 20);
		if (err == 0)
			err = array_open(list[i]);
	}
	TAILQ_FOREACH(k, &super->kinds, link) {
		room = room_of(super, k, super->want_expired);
		k->asked = room;
		if (room == 0)
			continue;
		/* An announcement that comes from now on counts again. */
		k->has_more = false;
		if (err == 0)
			err = arrays_add(&a, k, room);
	}
	if (err == 0)
		err = db_call_add_text(c, super->owner);
	for (i = 0; i < 4; i++) {
		if (err == 0)
			err = db_call_add_array(c, list[i]);
		buf_done(list[i]);
	}
	if (err == 0)
		err = db_call_add_i64(c, super->conf->lease_s);
	if (err == 0)
		err = db_call_add_text(c, super->want_expired ? "t" : "f");
	return err;
}

static bool
has_room(struct super *super)
{
	const struct kind *k = NULL;

	TAILQ_FOREACH(k, &super->kinds, link) {
		if (room_of(super, k, super->want_expired) > 0)
			return true;
	}
	return false;
}

/*
 * After a sleep of our own (stopped, suspended) the rows of our tasks look
 * like anybody's expired ones.  What we hold is settled first, else we would
 * claim it a second time.  A lost lease whose request is out may take long.
 */
static bool
has_lapsed(struct super *super)
{
	struct task *t = NULL;
	struct mono now = mono_now();

	RB_FOREACH(t, task_tree, &super->tasks) {
		if (t->state != TS_LOST && t->state != TS_EVIDENCE &&
		    mono_is_before(t->deadline, now))
			return true;
	}
	return false;
}

void
claim_run(struct super *super)
{
	struct db_call *c = NULL;

	if (super->state != SUPER_READY || super->is_claiming ||
	    !super->is_checked || !super->is_applied || super->want_expire ||
	    (!super->want_claim && !super->want_expired))
		return;
	if (!has_room(super)) {
		super->want_claim = false;
		return;
	}
	if (super->want_expired && has_lapsed(super)) {
		super->next_renew = mono_now();
		return;
	}
	c = db_call_new("claim", "select * from payonce.claim($1, $2, $3, $4, "
	    "$5, $6, $7)");
	if (c == NULL)
		return;
	if (claim_build(super, c) != 0) {
		log_warnx("no memory to claim, tries again at the tick");
		db_call_free(&c);
		return;
	}
	super->is_claiming = true;
	super->want_claim = false;
	/* Law 9: our clock of the lease starts before the claim is sent. */
	super->claim_sent = mono_now();
	super->stats.claims++;
	db_call_send(super->db, &c, on_claimed,
	    (void *)(uintptr_t)super->want_expired);
	super->want_expired = false;
}

/* A kind that got all it asked for may have more. */
static void
note_rest(struct super *super, const PGresult *res, bool was_expired)
{
	struct kind *k = NULL;
	int kind = PQfnumber(res, "kind"), old = PQfnumber(res, "was_expired");
	int i = 0;
	unsigned int got = 0, got_old = 0;
	bool is_full = false;

	TAILQ_FOREACH(k, &super->kinds, link) {
		if (k->asked == 0)
			continue;
		got = got_old = 0;
		for (i = 0; i < PQntuples(res); i++) {
			if (strcmp(PQgetvalue(res, i, kind), k->name) != 0)
				continue;
			got++;
			if (PQgetvalue(res, i, old)[0] == 't')
				got_old++;
		}
		if (got >= k->asked)
			k->has_more = true;
		if (was_expired && got_old >= k->asked)
			is_full = true;
		if (k->has_more)
			super->want_claim = true;
	}
	if (is_full) {
		super->want_expired = true;
		if (super->expired_cap < (1u << 20))
			super->expired_cap *= 2;
	} else if (was_expired)
		super->expired_cap = CLAIM_EXPIRED_MIN;
}

static void
on_claimed(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	bool was_expired = arg != NULL;
	struct task *t = NULL;
	int i = 0, n = 0;

	super->is_claiming = false;
	if (outcome == DB_GONE) {
		/* It may be committed: give back what we do not know. */
		super->want_expire = true;
		super->want_expired = true;
		return;
	}
	if (outcome != DB_OK) {
		super->want_expired = super->want_expired || was_expired;
		return;		/* logged; the tick tries again */
	}
	INJECT("super.claimed");
	n = PQntuples(res);
	log_debug("claimed %d tasks%s", n, was_expired ? ", expired ones too" :
	    "");
	super->stats.claimed += (unsigned long)n;
	for (i = 0; i < n; i++) {
		if (claim_read_row(super, res, i, &t) != 0)
			continue;	/* logged; its lease runs out */
		t->kind->inflight++;
		task_born(&super->env, t);
		recover_decide(super, t,
		    PQgetvalue(res, i, PQfnumber(res, "was_expired"))[0] ==
		    't');
	}
	note_rest(super, res, was_expired);
	if (n == 0)
		due_ask(super);
}

/* ---- tasks that are scheduled for later --------------------------------- */

static void
on_due_timer(evutil_socket_t fd, short what, void *arg)
{
	struct super *super = arg;

	(void)fd;	/* a timer has none */
	(void)what;
	super->has_due = false;
	claim_want(super, NULL, false);
}

static void
on_due(struct super *super, enum db_outcome outcome, PGresult *res, void *arg)
{
	struct timeval tv;
	int64_t ms = 0;

	(void)arg;
	super->has_due = false;
	if (outcome != DB_OK || PQntuples(res) != 1 || PQgetisnull(res, 0, 0))
		return;
	if (num_parse_i64(PQgetvalue(res, 0, 0), 0, INT64_MAX, &ms) != 0 ||
	    ms > SUPER_TICK_MS)
		return;		/* the tick will ask again in time */
	tv = ms_to_timeval(ms + 1);
	if (event_add(super->ev_due, &tv) == 0)
		super->has_due = true;
}

static void
due_ask(struct super *super)
{
	struct db_call *c = NULL;
	struct kind *k = NULL;
	struct buf b;
	int err = 0;

	if (super->has_due)
		return;
	if (super->ev_due == NULL)
		super->ev_due = evtimer_new(super->base, on_due_timer, super);
	if (super->ev_due == NULL)
		return;
	c = db_call_new("next_due", "select payonce.next_due($1)");
	if (c == NULL)
		return;
	buf_init(&b, (size_t)1 << 20);
	err = array_open(&b);
	TAILQ_FOREACH(k, &super->kinds, link) {
		if (err == 0)
			err = array_put_text(&b, k->name);
	}
	if (err == 0)
		err = db_call_add_array(c, &b);
	buf_done(&b);
	if (err != 0) {
		db_call_free(&c);
		return;
	}
	super->has_due = true;
	db_call_send(super->db, &c, on_due, NULL);
}
