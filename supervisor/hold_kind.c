/*
 * hold_kind.c - what hold.c decides, written where people see it.
 *
 * A held kind is a row of payonce.kind_hold; claim() skips it.  Until that
 * row is committed we claim nothing of the kind ourselves.
 */
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

static void
on_held(struct super *super, enum db_outcome outcome, PGresult *res, void *arg)
{
	struct kind *k = arg;

	(void)super;
	(void)res;	/* void function */
	k->is_holding = false;
	if (outcome != DB_OK)
		log_warnx("kind=%s could not be held, the next such answer "
		    "tries again", k->name);
}

void
hold_kind_set(struct super *super, struct kind *k, const char *reason,
    const char *detail)
{
	struct db_call *c = NULL;
	struct pool *p = NULL;
	struct task *t = NULL, *next = NULL;
	int err = 0;

	if (k->is_holding)
		return;
	log_warnx("kind=%s held, reason: %s%s%s; payonce release %s goes on",
	    k->name, reason, detail != NULL ? ": " : "",
	    detail != NULL ? detail : "", k->name);
	hold_reset(&k->hold);
	/* Once released, the first one sent alone shows whether it is over. */
	if (k->conf != NULL && k->conf->breaker > 0 &&
	    strcmp(reason, "breaker") == 0)
		k->hold.ambiguous = (unsigned int)k->conf->breaker - 1;
	c = db_call_new("hold a kind",
	    "select payonce.hold_kind($1, $2, $3, $4)");
	if (c == NULL)
		return;
	err = db_call_add_text(c, super->owner);
	if (err == 0)
		err = db_call_add_text(c, k->name);
	if (err == 0)
		err = db_call_add_text(c, reason);
	if (err == 0)
		err = db_call_add_text(c, detail);
	if (err != 0) {
		db_call_free(&c);
		return;
	}
	k->is_holding = true;
	db_call_send(super->db, &c, on_held, k);
	/* What is claimed and not begun goes back: nothing may be spent. */
	TAILQ_FOREACH(p, &super->pools, link) {
		if (p->kind != k || p->role != ROLE_SUBMIT)
			continue;
		TAILQ_FOREACH_SAFE(t, &p->waiting, wait_link, next) {
			if (t->state == TS_SUBMIT_WAIT)
				task_event(&super->env, t, TE_STOP);
		}
	}
}

void
hold_kind_note(struct super *super, struct kind *k, enum hold_note what,
    int64_t asked_ms, int64_t *ret_delay_ms, const char *detail)
{
	unsigned int breaker = k->conf != NULL && k->conf->breaker > 0 ?
	    (unsigned int)k->conf->breaker : 0;
	bool was_paused = hold_is_paused(&k->hold, mono_now());

	if (hold_note(&k->hold, what, breaker, asked_ms, mono_now(),
	    ret_delay_ms))
		hold_kind_set(super, k, "breaker", detail);
	else if (!was_paused && hold_is_paused(&k->hold, mono_now()))
		log_warnx("kind=%s pauses %lld ms: %s", k->name,
		    (long long)*ret_delay_ms,
		    detail != NULL ? detail : "the provider asks for it");
}

static void
on_released(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	int i = 0;

	(void)arg;
	if (outcome != DB_OK)
		return;		/* logged; payonce release does the same */
	for (i = 0; i < PQntuples(res); i++)
		log_info("kind=%s released by the reload",
		    PQgetvalue(res, i, 0));
	claim_want(super, NULL, false);
}

/* A reload is how an operator says that the account is in order again. */
void
hold_kind_release_account(struct super *super)
{
	struct db_call *c = db_call_new("release kinds",
	    "select h.kind from payonce.kind_hold h "
	    "where h.reason = 'account' and h.by_host = $1 "
	    "and payonce.release_kind(h.kind, $1 || ' (reload)')");

	if (c == NULL)
		return;
	if (db_call_add_text(c, super->owner) != 0) {
		db_call_free(&c);
		return;
	}
	db_call_send(super->db, &c, on_released, NULL);
}
