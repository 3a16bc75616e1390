/*
 * progress.c - how far the tasks are: once a second at most, in one
 * statement, and forgotten when it fails.  Nothing depends on it.  Notes for
 * people, rare by themselves, go at once.
 */
#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

#define PROGRESS_MS	1000
#define ROUND_MAX	500

void
progress_note(struct super *super, struct task *t)
{
	/* a word for people waits for nothing: the task may end before */
	if (t->note != NULL)
		super->next_progress = mono_now();
	if (t->is_progress)
		return;
	t->is_progress = true;
	TAILQ_INSERT_TAIL(&super->progress, t, progress_link);
}

static void
on_progressed(struct super *super, enum db_outcome outcome, PGresult *res,
    void *arg)
{
	(void)super;	/* a lost one is replaced by the next */
	(void)outcome;
	(void)res;
	(void)arg;
}

static int
progress_put(struct buf *b, struct task *t)
{
	int err = array_put_i64(&b[0], t->id);

	if (err == 0)
		err = array_put_i64(&b[1], t->token);
	if (err == 0)
		err = t->permille >= 0 ? array_put_i64(&b[2], t->permille) :
		    array_put_null(&b[2]);
	if (err == 0)
		err = array_put_text(&b[3], t->note);
	return err;
}

void
progress_run(struct super *super)
{
	struct db_call *c = NULL;
	struct task *t = NULL;
	struct buf b[4];
	struct mono now = mono_now();
	size_t n = 0, i = 0;
	int err = 0;

	if (TAILQ_EMPTY(&super->progress) || !db_is_up(super->db) ||
	    mono_is_before(now, super->next_progress))
		return;
	super->next_progress = mono_add_ms(now, PROGRESS_MS);
	c = db_call_new("progress", "select * from payonce.record_progress($1, "
	    "$2, $3, $4, $5)");
	if (c == NULL)
		return;
	err = db_call_add_text(c, super->owner);
	for (i = 0; i < 4; i++) {
		buf_init(&b[i], (size_t)64 << 20);
		if (err == 0)
			err = array_open(&b[i]);
	}
	while (err == 0 && n < ROUND_MAX &&
	    (t = TAILQ_FIRST(&super->progress)) != NULL) {
		TAILQ_REMOVE(&super->progress, t, progress_link);
		t->is_progress = false;
		err = progress_put(b, t);
		mem_free(t->note);
		t->note = NULL;
		n++;
	}
	for (i = 0; i < 4; i++) {
		if (err == 0)
			err = db_call_add_array(c, &b[i]);
		buf_done(&b[i]);
	}
	if (err == 0)
		db_call_send(super->db, &c, on_progressed, NULL);
	db_call_free(&c);
}
