/*
 * start.c - the order of a start, and of every return of the database:
 * settings, receipts, the leases of a former life, and only then claims.
 *
 * Refuses to run where a mark would not be durable.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "sql/migrations.h"
#include "supervisor/supervisor.h"

#define RETRY_MS	1000
#define RECEIPTS_MS	60000
#define CLEAN_MS	3600000

/*
 * At the start the operator reads the sentence and acts; later the database
 * may be on its way to health, and what was sent must still be answered.
 */
static void
refuse(struct super *super, const char *what)
{
	if (super->system_id == NULL)
		fatalx("refuses to start: %s", what);
	log_warnx("claims nothing: %s", what);
	super->next_check = mono_add_ms(mono_now(), RETRY_MS);
}

static void
refuse_schema(struct super *super, int64_t version)
{
	int64_t known = migrations[nmigrations - 1].version;
	char text[160];

	if (version < known)
		(void)snprintf(text, sizeof(text), "the database has schema "
		    "version %lld, this program needs %lld; run \"payonce "
		    "migrate\"", (long long)version, (long long)known);
	else
		(void)snprintf(text, sizeof(text), "the database has schema "
		    "version %lld, newer than this program (%lld); install "
		    "the newer payonced", (long long)version,
		    (long long)known);	/* both fit */
	refuse(super, text);
}

/* Another server, or the same one with another history: receipts again. */
static int
note_identity(struct super *super, const char *system_id, int64_t timeline)
{
	char *copy = NULL;

	if (super->system_id != NULL &&
	    strcmp(super->system_id, system_id) == 0 &&
	    super->timeline == timeline)
		return 0;
	copy = mem_strdup(system_id);
	if (copy == NULL)
		return PO_ENOMEM;
	if (super->system_id != NULL)
		log_warnx("database is now system %s timeline %lld (was %s, "
		    "%lld): applies all receipts before it claims",
		    system_id, (long long)timeline, super->system_id,
		    (long long)super->timeline);
	mem_free(super->system_id);
	super->system_id = copy;
	super->timeline = timeline;
	super->is_applied = false;
	return 0;
}

static void
on_settings(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	const char *state = db_sqlstate(super->db);
	int64_t version = 0, timeline = 0;

	(void)arg;
	super->is_checking = false;
	if (outcome == DB_GONE)
		return;
	if (outcome != DB_OK) {
		super->next_check = mono_add_ms(mono_now(), RETRY_MS);
		if (strcmp(state, "3F000") == 0 || strcmp(state, "42883") == 0)
			refuse(super, "the database has no payonce schema of "
			    "this version; run \"payonce migrate\"");
		else if (strcmp(state, "42501") == 0)
			refuse(super, "this database role may not run the "
			    "supervisor; GRANT payonce_supervisor to it");
		return;
	}
	if (PQntuples(res) != 1 || num_parse_i64(PQgetvalue(res, 0, 1), 0,
	    INT64_MAX, &timeline) != 0 || num_parse_i64(PQgetvalue(res, 0, 2),
	    0, INT32_MAX, &version) != 0) {
		refuse(super, "the database describes itself in no known way; "
		    "run \"payonce migrate\"");
		return;
	}
	if (version != migrations[nmigrations - 1].version) {
		refuse_schema(super, version);
		return;
	}
	if (!PQgetisnull(res, 0, 3)) {
		refuse(super, PQgetvalue(res, 0, 3));
		return;
	}
	if (note_identity(super, PQgetvalue(res, 0, 0), timeline) == 0)
		super->is_checked = true;
}

static void
check_settings(struct super *super)
{
	struct db_call *c = NULL;

	if (mono_is_before(mono_now(), super->next_check))
		return;
	c = db_call_new("settings", "select system_id, timeline, "
	    "schema_version, problem from payonce.settings()");
	if (c == NULL)
		return;
	super->is_checking = true;
	db_call_send(super->db, &c, on_settings, NULL);
}

static void
on_first_receipts(struct super *super, bool is_ok)
{
	/* Without receipts the answer comes within the same turn. */
	loop_soon(super);
	if (is_ok) {
		super->is_applied = true;
		receipts_report_damaged(super);
	} else {
		super->next_check = mono_add_ms(mono_now(), RETRY_MS);
	}
}

static void
on_more_receipts(struct super *super, bool is_ok)
{
	if (!is_ok)
		super->next_receipts = mono_add_ms(mono_now(), RETRY_MS);
}

static void
on_expired(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	(void)arg;
	super->is_expiring = false;
	if (outcome != DB_OK) {
		super->next_check = mono_add_ms(mono_now(), RETRY_MS);
		return;
	}
	super->want_expire = false;
	if (PQntuples(res) > 0)
		log_info("takes over %d tasks of its former life",
		    PQntuples(res));
	claim_want(super, NULL, true);
	if (super->state == SUPER_STARTING) {
		super->state = SUPER_READY;
		log_info("ready, owner %s, system %s timeline %lld",
		    super->owner, super->system_id,
		    (long long)super->timeline);
	}
}

/* Leases under our name that we know nothing of: nobody works there. */
static void
expire_unknown(struct super *super)
{
	struct db_call *c = NULL;
	struct task *t = NULL;
	struct buf ids;
	int err = 0;

	if (mono_is_before(mono_now(), super->next_check))
		return;
	c = db_call_new("expire_owner",
	    "select * from payonce.expire_owner($1, $2)");
	if (c == NULL)
		return;
	buf_init(&ids, (size_t)64 << 20);
	err = array_open(&ids);
	RB_FOREACH(t, task_tree, &super->tasks) {
		if (err == 0)
			err = array_put_i64(&ids, t->id);
	}
	if (err == 0)
		err = db_call_add_text(c, super->owner);
	if (err == 0)
		err = db_call_add_array(c, &ids);
	buf_done(&ids);
	if (err != 0) {
		db_call_free(&c);
		return;
	}
	super->is_expiring = true;
	db_call_send(super->db, &c, on_expired, NULL);
}

static void
more_receipts(struct super *super)
{
	struct mono now = mono_now();

	if (!super->want_receipts &&
	    mono_is_before(now, super->next_receipts))
		return;
	super->next_receipts = mono_add_ms(now, RECEIPTS_MS);
	receipts_apply(super, on_more_receipts);
	if (mono_is_before(now, super->next_clean))
		return;
	super->next_clean = mono_add_ms(now, CLEAN_MS);
	if (receipt_clean(super->conf->state_dir,
	    super->conf->receipt_retention_s) != 0)
		log_warn("cannot remove old receipts in %s",
		    super->conf->state_dir);
}

void
start_run(struct super *super)
{
	if (!db_is_up(super->db) || super->state >= SUPER_LEAVING)
		return;
	if (!super->is_checked) {
		if (!super->is_checking)
			check_settings(super);
		return;
	}
	if (!super->is_applied) {
		if (!super->is_applying &&
		    !mono_is_before(mono_now(), super->next_check))
			receipts_apply(super, on_first_receipts);
		return;
	}
	if (super->want_expire) {
		if (!super->is_expiring && !super->is_claiming)
			expire_unknown(super);
		return;
	}
	if (!super->is_applying)
		more_receipts(super);
	start_seen(super);
}

static void
on_seen(struct super *super, enum db_outcome outcome, PGresult *res, void *arg)
{
	(void)res;	/* void function */
	(void)arg;
	if (outcome != DB_OK)
		super->next_seen = mono_add_ms(mono_now(), RETRY_MS);
}

/* payonce status shows the hosts and what each one serves. */
void
start_seen(struct super *super)
{
	struct db_call *c = NULL;
	struct kind *k = NULL;
	struct buf b;
	size_t len = 0;
	char *text = NULL;
	int err = 0;
	bool is_first = true;

	if (mono_is_before(mono_now(), super->next_seen))
		return;
	super->next_seen = mono_add_ms(mono_now(),
	    (int64_t)super->conf->lease_s * 1000);
	c = db_call_new("host_seen",
	    "select payonce.host_seen($1, $2, $3, $4, $5)");
	if (c == NULL)
		return;
	buf_init(&b, (size_t)1 << 20);
	err = buf_putc(&b, '{');
	TAILQ_FOREACH(k, &super->kinds, link) {
		/* A kind's name is a plain word: conf_load() saw to it. */
		if (err == 0 && k->conf != NULL) {
			err = buf_printf(&b, "%s\"%s\":%u",
			    is_first ? "" : ",", k->name, kind_limit(k));
			is_first = false;
		}
	}
	if (err == 0)
		err = buf_putc(&b, '}');
	if (err == 0)
		err = db_call_add_text(c, super->owner);
	if (err == 0)
		err = db_call_add_text(c, super->hostname);
	if (err == 0)
		err = db_call_add_i64(c, getpid());
	if (err == 0)
		err = db_call_add_text(c, PACKAGE_VERSION);
	if (err == 0)
		text = buf_steal(&b, &len);
	buf_done(&b);
	if (text == NULL) {
		db_call_free(&c);
		return;
	}
	db_call_add(c, text);
	db_call_send(super->db, &c, on_seen, NULL);
}
