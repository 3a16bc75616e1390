/*
 * receipts.c - the receipts of workers that are gone, applied as evidence.
 *
 * No lease is needed: apply_receipts() looks at task and attempt.  A receipt
 * leaves the open folder once the database has answered for it.  What is
 * locked belongs to a living worker and is left for a later round.
 */
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/supervisor.h"

#define ROUND_MAX	500

struct round {
	struct super	*super;
	void		(*fn)(struct super *, bool is_ok);
	struct db_call	*call;
	struct buf	 columns[13];
	size_t		 count;
	size_t		 locked;
	int		 err;

};

/* As is_proof() in recover.c, without the row. */
static bool
is_outcome(const struct super *super, const struct receipt_facts *f)
{
	const struct conf_provider *p = NULL;

	switch (f->class) {
	case RECEIPT_SUBMITTED:
	case RECEIPT_RESULT:
		return true;
	case RECEIPT_REJECTED:
	case RECEIPT_THROTTLED:
	case RECEIPT_ACCOUNT:
		if (f->provider != NULL)
			p = conf_find_provider(super->conf, f->provider);
		return p != NULL && !provider_has_find(p->provider) &&
		    provider_idempotency_ttl_s(p->provider) == 0;
	default:
		return false;
	}
}

static int
poll_deadline(const struct super *super, const char *kind)
{
	const struct conf_kind *k = kind != NULL ?
	    conf_find_kind(super->conf, kind) : NULL;

	return k != NULL ? k->poll_deadline_s : 3600;
}

static int
put_words(struct buf *b, const char *s)
{
	char *clean = NULL;
	int err = 0;

	if (s == NULL)
		return array_put_null(b);
	clean = array_clean(s, strlen(s));
	if (clean == NULL)
		return PO_ENOMEM;
	err = array_put_text(b, clean);
	mem_free(clean);
	return err;
}

static int
put_facts(struct round *r, const struct receipt_facts *f)
{
	const char *const exact[] = { receipt_class_name(f->class),
	    f->request_id, f->poll_url, f->result_url, f->cancel_url,
	    f->result, f->cost, f->currency };
	struct buf *col = r->columns;
	size_t i = 0;
	int err = array_put_i64(col++, f->task);

	if (err == 0)
		err = array_put_i64(col++, f->attempt);
	for (i = 0; i < sizeof(exact) / sizeof(exact[0]) && err == 0; i++)
		err = array_put_text(col++, exact[i]);
	if (err == 0)
		err = put_words(col++, f->reason);
	if (err == 0)
		err = put_words(col++, f->detail);
	if (err == 0)
		err = array_put_i64(col++, poll_deadline(r->super, f->kind));
	return err;
}

static int
on_receipt(const struct receipt_facts *f, bool is_locked, void *arg)
{
	struct round *r = arg;

	if (is_locked) {
		r->locked++;
		return 0;
	}
	/* Ours while we hold the task: its own claim reads the receipt. */
	if (!is_outcome(r->super, f) ||
	    task_find(&r->super->tasks, f->task) != NULL)
		return 0;
	r->err = put_facts(r, f);
	if (r->err != 0)
		return 1;
	return ++r->count >= ROUND_MAX;
}

static void
file_receipts(struct super *super, PGresult *res)
{
	const char *verdict = NULL;
	int64_t task = 0, attempt = 0;
	int i = 0, err = 0;

	for (i = 0; i < PQntuples(res); i++) {
		if (num_parse_i64(PQgetvalue(res, i, 0), 1, INT64_MAX,
		    &task) != 0 ||
		    num_parse_i64(PQgetvalue(res, i, 1), 1, INT32_MAX,
		    &attempt) != 0)
			continue;
		verdict = PQgetvalue(res, i, 2);
		log_info("task=%lld.%lld receipt: %s", (long long)task,
		    (long long)attempt, verdict);
		err = receipt_acknowledge(super->conf->state_dir, task,
		    (int)attempt);
		if (err != 0 && err != PO_ENOENT)
			log_warnx("task=%lld.%lld: its receipt cannot be "
			    "filed: %s", (long long)task, (long long)attempt,
			    po_strerror(err));
	}
}

static void
on_applied(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	struct round *r = arg;
	bool is_full = r->count >= ROUND_MAX;

	super->is_applying = false;
	if (outcome == DB_OK) {
		file_receipts(super, res);
		claim_want(super, NULL, true);
	}
	if (outcome == DB_OK && is_full)
		receipts_apply(super, r->fn);
	else
		r->fn(super, outcome == DB_OK);
	mem_free(r);
}

static int
send_round(struct round *r)
{
	struct super *super = r->super;
	size_t i = 0;

	r->call = db_call_new("apply receipts", "select * from "
	    "payonce.apply_receipts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
	    "$11, $12, $13, $14)");
	if (r->call == NULL)
		return PO_ENOMEM;
	if (db_call_add_text(r->call, super->owner) != 0)
		return PO_ENOMEM;
	for (i = 0; i < 13; i++) {
		if (db_call_add_array(r->call, &r->columns[i]) != 0)
			return PO_ENOMEM;
	}
	super->is_applying = true;
	db_call_send(super->db, &r->call, on_applied, r);
	return 0;
}

void
receipts_apply(struct super *super, void (*fn)(struct super *, bool is_ok))
{
	struct round *r = mem_alloc(sizeof(*r));
	size_t i = 0;
	int err = 0;

	super->want_receipts = false;
	if (r == NULL) {
		fn(super, false);
		return;
	}
	r->super = super;
	r->fn = fn;
	for (i = 0; i < 13; i++) {
		buf_init(&r->columns[i], (size_t)256 << 20);
		if (err == 0)
			err = array_open(&r->columns[i]);
	}
	if (err == 0)
		err = receipt_scan(super->conf->state_dir, on_receipt, r);
	if (err == 0)
		err = r->err;
	if (err == 0 && r->count > 0)
		err = send_round(r);
	for (i = 0; i < 13; i++)
		buf_done(&r->columns[i]);
	if (err == 0 && r->count > 0)
		return;
	if (err != 0)
		log_warnx("receipts in %s cannot be applied: %s",
		    super->conf->state_dir, po_strerror(err));
	db_call_free(&r->call);
	mem_free(r);
	fn(super, err == 0);
}

struct damage {
	char	*first;		/* path, or NULL */
	size_t	 count;
};

static int
on_damaged(const char *path, void *arg)
{
	struct damage *d = arg;

	if (d->first == NULL && (d->first = mem_strdup(path)) == NULL)
		return PO_ENOMEM;
	d->count++;
	return 0;
}

/* What is set aside is never applied: only a person can read it. */
void
receipts_report_damaged(struct super *super)
{
	struct damage d = { .first = NULL };
	int err = receipt_scan_damaged(super->conf->state_dir, on_damaged, &d);

	if (err != 0)
		log_warnx("damaged receipts in %s cannot be listed: %s",
		    super->conf->state_dir, po_strerror(err));
	if (d.count > 0)
		log_warnx("%zu damaged receipts were set aside, the first is "
		    "%s: each may name a paid request; look what it says of "
		    "its task, settle that, then remove the file",
		    d.count, d.first);
	mem_free(d.first);
}
