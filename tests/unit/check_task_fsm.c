/*
 * check_task_fsm.c - the states of a task: the exact calls of each story, and
 * the whole table against doc/STATES.md.
 *
 * The ports record; nothing else of the supervisor is linked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "supervisor/task.h"
#include "tests/unit/suite.h"
#include "tests/unit/task_stories.h"

static char	calls[1024];

static void
called(const char *name)
{
	if (calls[0] != '\0')
		(void)strlcat(calls, " ", sizeof(calls));
	ck_assert_uint_lt(strlcat(calls, name, sizeof(calls)), sizeof(calls));
}

#define RECORD_OP(name, kind)						\
static void								\
rec_##name(void *arg, struct task *t)					\
{									\
	(void)arg;							\
	ck_assert_int_eq(t->op, OP_NONE);				\
	t->op = kind;							\
	called(#name);							\
}
#define RECORD(name)							\
static void								\
rec_##name(void *arg, struct task *t)					\
{									\
	(void)arg;							\
	(void)t;							\
	called(#name);							\
}

RECORD_OP(mark, OP_MARK)
RECORD_OP(record, OP_RECORD)
RECORD_OP(save_result, OP_RESULT)
RECORD_OP(complete, OP_COMPLETE)
RECORD_OP(reject, OP_REJECT)
RECORD_OP(fail, OP_FAIL)
RECORD_OP(park, OP_PARK)
RECORD_OP(evidence, OP_EVIDENCE)
RECORD_OP(expire, OP_EXPIRE)
RECORD(progress)
RECORD(unqueue)
RECORD(submit)
RECORD(poll)
RECORD(exec)
RECORD(tell_marked)
RECORD(tell_refused)
RECORD(kill)
RECORD(watch)
RECORD(closed)

static void
rec_release(void *arg, struct task *t)
{
	char text[80];

	(void)arg;
	ck_assert_int_eq(t->op, OP_NONE);
	t->op = OP_RELEASE;
	(void)snprintf(text, sizeof(text), "release%s%s",
	    t->report.is_unmark ? "+unmark" : "",
	    t->report.is_counted ? "+count" : "");
	called(text);
}

static void
rec_queue(void *arg, struct task *t, enum worker_role role)
{
	static const char *const names[ROLE_MAX] = {
		[ROLE_SUBMIT] = "queue:submit", [ROLE_POLL] = "queue:poll",
		[ROLE_EXEC] = "queue:exec",
	};

	(void)arg;
	(void)t;
	called(names[role]);
}

static void
rec_tell_stored(void *arg, struct task *t, bool is_final)
{
	(void)arg;
	(void)t;
	called(is_final ? "tell_stored:final" : "tell_stored");
}

static void
rec_cancel(void *arg, struct task *t, const char *why)
{
	char text[80];

	(void)arg;
	(void)t;
	(void)snprintf(text, sizeof(text), "cancel:%s", why);
	called(text);
}

static const struct task_ports ports = {
	.mark = rec_mark, .record = rec_record,
	.save_result = rec_save_result, .progress = rec_progress,
	.complete = rec_complete, .release = rec_release,
	.reject = rec_reject, .fail = rec_fail, .park = rec_park,
	.evidence = rec_evidence, .expire = rec_expire,
	.queue = rec_queue, .unqueue = rec_unqueue, .submit = rec_submit,
	.poll = rec_poll, .exec = rec_exec, .tell_marked = rec_tell_marked,
	.tell_refused = rec_tell_refused, .tell_stored = rec_tell_stored,
	.cancel = rec_cancel, .kill = rec_kill, .watch = rec_watch,
	.closed = rec_closed,
};

/* A worker that is attached, as far as the actions can see. */
static struct child *const some_child = (struct child *)(uintptr_t)16;

static enum tevent
event_named(const char *name)
{
	unsigned int i = 0;

	for (i = 0; i < TE_MAX; i++)
		if (strcmp(task_event_name((enum tevent)i), name) == 0)
			return (enum tevent)i;
	ck_abort_msg("no event %s", name);
}

/* What the supervisor around the table does at these events. */
static void
surround(struct task *t, enum tevent ev, const struct story *s)
{
	switch (ev) {
	case TE_WORKER:
		t->child = some_child;
		break;
	case TE_DEAD:
		t->child = NULL;
		break;
	case TE_D_WON:
		if (t->state == TS_MARKING)
			t->row.is_marked = true;
		t->op = OP_NONE;
		break;
	case TE_D_LOST:
	case TE_D_ERROR:
		t->op = OP_NONE;
		break;
	case TE_W_REJECTED:
	case TE_W_UNSENT:
	case TE_W_SUBMITTED:
	case TE_W_RESULT:
		report_done(&t->report);
		t->report.reject = s->reject;
		t->report.class = s->class;
		break;
	default:
		break;
	}
}

static void
tell(const struct story *s)
{
	struct task_env env = { .ports = &ports };
	struct task *t = NULL;
	char *copy = mem_strdup(s->events), *rest = copy, *word = NULL;

	calls[0] = '\0';
	ck_assert_int_eq(task_new(7, &t), 0);
	t->attempt = 1;
	t->row.is_local = s->is_local;
	task_born(&env, t);
	while ((word = strsep(&rest, " ")) != NULL) {
		enum tevent ev = event_named(word);

		ck_assert_msg(task_permits(t, ev) == CELL_DO ||
		    task_permits(t, ev) == CELL_IGNORE,
		    "%s: %s is not allowed in %s", s->name, word,
		    task_state_name(t->state));
		surround(t, ev, s);
		task_event(&env, t, ev);
	}
	ck_assert_msg(strcmp(calls, s->calls) == 0,
	    "%s:\n  called   %s\n  expected %s", s->name, calls, s->calls);
	ck_assert_msg(t->state == s->end, "%s: ends in %s", s->name,
	    task_state_name(t->state));
	ck_assert_uint_eq(env.count[s->end], 1);
	t->child = NULL;
	t->op = OP_NONE;
	task_free(&t);
	mem_free(copy);
}

START_TEST(story)
{
	tell(&stories[_i]);
}
END_TEST

/* The submit of a restored row is not called, whatever the worker says. */
START_TEST(restored_row_never_submits)
{
	struct task *t = NULL;

	ck_assert_int_eq(task_new(7, &t), 0);
	t->state = TS_POLL;
	ck_assert_int_eq(task_permits(t, TE_W_MARK), CELL_VIOLATION);
	ck_assert_int_eq(task_permits(t, TE_W_SUBMITTED), CELL_VIOLATION);
	ck_assert_int_eq(task_permits(t, TE_ROW_SUBMIT), CELL_BUG);
	task_free(&t);
}
END_TEST

/* Law 2: permission is told from one cell only, and a mark asked from one. */
START_TEST(one_way_to_the_mark)
{
	unsigned int s = 0, e = 0, marks = 0, permits = 0;
	enum tstate next = TS_MAX;
	const char *act = NULL;

	for (s = 0; s < TS_MAX; s++) {
		for (e = 0; e < TE_MAX; e++) {
			if (task_cell_look((enum tstate)s, (enum tevent)e,
			    &next, &act) != CELL_DO)
				continue;
			if (strcmp(act, "mark") == 0) {
				marks++;
				ck_assert_int_eq(s, TS_SUBMIT);
				ck_assert_int_eq(e, TE_W_MARK);
			}
			if (strcmp(act, "permit") == 0) {
				permits++;
				ck_assert_int_eq(s, TS_MARKING);
				ck_assert_int_eq(e, TE_D_WON);
			}
			ck_assert_msg(next != TS_SENT ||
			    s == TS_MARKING, "%s reaches SENT",
			    task_state_name((enum tstate)s));
		}
	}
	ck_assert_uint_eq(marks, 1);
	ck_assert_uint_eq(permits, 1);
}
END_TEST

/* Every pair is spelled, and a closed task does nothing more. */
START_TEST(table_is_full)
{
	unsigned int s = 0, e = 0;
	enum tstate next = TS_MAX;
	const char *act = NULL;

	for (s = 0; s < TS_MAX; s++) {
		for (e = 0; e < TE_MAX; e++) {
			(void)task_cell_look((enum tstate)s, (enum tevent)e,
			    &next, &act);
			ck_assert_msg(act != NULL, "%s %s is not spelled",
			    task_state_name((enum tstate)s),
			    task_event_name((enum tevent)e));
			if (s == TS_CLOSED)
				ck_assert(task_cell_look((enum tstate)s,
				    (enum tevent)e, &next, &act) != CELL_DO);
		}
	}
}
END_TEST

/* The rows "| STATE | EVENT | NEXT | action |" of the page, all of them. */
START_TEST(table_is_as_written)
{
	const char *dir = getenv("srcdir");
	char path[1024], line[256], s[32], e[32], n[32], a[32];
	enum tstate next = TS_MAX;
	const char *act = NULL;
	unsigned int i = 0, k = 0, want = 0, got = 0;
	FILE *f = NULL;

	(void)snprintf(path, sizeof(path), "%s/doc/STATES.md",
	    dir != NULL ? dir : ".");
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	for (i = 0; i < TS_MAX; i++)
		for (k = 0; k < TE_MAX; k++)
			want += task_cell_look((enum tstate)i,
			    (enum tevent)k, &next, &act) == CELL_DO;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (sscanf(line, "| `%31[A-Z_]` | `%31[A-Z_]` | "
		    "`%31[A-Z_]` | `%31[a-z_]` |", s, e, n, a) != 4)
			continue;
		for (i = 0; i < TS_MAX && strcmp(s,
		    task_state_name((enum tstate)i)) != 0; i++)
			;
		ck_assert_msg(i < TS_MAX, "no state %s", s);
		ck_assert_msg(task_cell_look((enum tstate)i, event_named(e),
		    &next, &act) == CELL_DO, "%s %s does nothing", s, e);
		ck_assert_msg(strcmp(task_state_name(next), n) == 0 &&
		    strcmp(act, a) == 0, "%s %s is %s %s, the page says %s %s",
		    s, e, task_state_name(next), act, n, a);
		got++;
	}
	(void)fclose(f);
	ck_assert_uint_eq(got, want);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("task_fsm");
	TCase *tc = tcase_create("task_fsm");

	if (getenv("PRINT_STATES") != NULL) {
		enum tstate next = TS_MAX;
		const char *act = NULL;
		int i = 0, k = 0;

		for (i = 0; i < TS_MAX; i++)
			for (k = 0; k < TE_MAX; k++)
				if (task_cell_look((enum tstate)i,
				    (enum tevent)k, &next, &act) == CELL_DO)
					(void)printf("| `%s` | `%s` | `%s` | "
					    "`%s` |\n", task_state_name(
					    (enum tstate)i), task_event_name(
					    (enum tevent)k),
					    task_state_name(next), act);
		return 0;
	}
	tcase_add_loop_test(tc, story, 0,
	    (int)(sizeof(stories) / sizeof(stories[0])));
	tcase_add_test(tc, restored_row_never_submits);
	tcase_add_test(tc, one_way_to_the_mark);
	tcase_add_test(tc, table_is_full);
	tcase_add_test(tc, table_is_as_written);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
