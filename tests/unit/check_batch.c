/*
 * check_batch.c - natural batching without a database: order, limits, lost
 * connections, refused batches; and the text of arrays.
 */
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "supervisor/db.h"
#include "tests/unit/suite.h"

#define MANY	1200

static struct db_queues	 queues;
static struct task	*tasks[MANY];
static char		 told[512];

static void
make(size_t n)
{
	size_t i = 0;

	db_queues_init(&queues);
	told[0] = '\0';
	for (i = 0; i < n; i++)
		ck_assert_int_eq(task_new((int64_t)i + 1, &tasks[i]), 0);
}

static void
on_told(struct task *t, enum tevent ev, void *arg)
{
	char text[32];

	ck_assert_ptr_eq(arg, &queues);
	ck_assert_int_eq(t->op, OP_NONE);
	(void)snprintf(text, sizeof(text), "%s%lld%c",
	    told[0] != '\0' ? " " : "", (long long)t->id,
	    ev == TE_D_WON ? 'w' : ev == TE_D_LOST ? 'l' : 'e');
	ck_assert_uint_lt(strlcat(told, text, sizeof(told)), sizeof(told));
}

static void
ids_of(const struct db_batch *b, char *to, size_t cap)
{
	const struct task *t = NULL;
	char text[32];

	to[0] = '\0';
	TAILQ_FOREACH(t, &b->tasks, op_link) {
		(void)snprintf(text, sizeof(text), "%s%lld",
		    to[0] != '\0' ? " " : "", (long long)t->id);
		(void)strlcat(to, text, cap);
	}
}

START_TEST(next_batch_gathers)
{
	struct db_batch a, b;
	char text[256];

	make(5);
	db_push(&queues, OP_MARK, tasks[0]);
	ck_assert_int_eq(db_pick(&queues, mono_now()), OP_MARK);
	db_take(&queues, OP_MARK, &a);
	/* one batch of an op at a time: the next ones wait for it */
	db_push(&queues, OP_MARK, tasks[1]);
	db_push(&queues, OP_MARK, tasks[2]);
	ck_assert_int_eq(db_pick(&queues, mono_now()), OP_NONE);
	db_push(&queues, OP_FAIL, tasks[3]);
	ck_assert_int_eq(db_pick(&queues, mono_now()), OP_FAIL);
	db_answer(&queues, &a, (int64_t[]){ 1 }, 1, on_told, &queues);
	ck_assert_int_eq(db_pick(&queues, mono_now()), OP_MARK);
	db_take(&queues, OP_MARK, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "2 3");
	ck_assert_str_eq(told, "1w");
}
END_TEST

START_TEST(answer_tells_each)
{
	struct db_batch b;
	int64_t won[] = { 9, 4, 2 };	/* any order; 9 was not asked */
	size_t i = 0;

	make(4);
	for (i = 0; i < 4; i++)
		db_push(&queues, OP_COMPLETE, tasks[i]);
	db_take(&queues, OP_COMPLETE, &b);
	db_answer(&queues, &b, won, 3, on_told, &queues);
	ck_assert_str_eq(told, "1l 2w 3l 4w");
	ck_assert_uint_eq(b.count, 0);
}
END_TEST

START_TEST(answer_without_ids_loses_all)
{
	struct db_batch b;

	make(2);
	db_push(&queues, OP_MARK, tasks[0]);
	db_push(&queues, OP_MARK, tasks[1]);
	db_take(&queues, OP_MARK, &b);
	db_answer(&queues, &b, NULL, 0, on_told, &queues);
	ck_assert_str_eq(told, "1l 2l");
}
END_TEST

START_TEST(lost_connection_keeps_order)
{
	struct db_batch b;
	char text[256];
	size_t i = 0;

	make(5);
	for (i = 0; i < 3; i++)
		db_push(&queues, OP_RECORD, tasks[i]);
	db_take(&queues, OP_RECORD, &b);
	db_push(&queues, OP_RECORD, tasks[3]);
	db_push(&queues, OP_RECORD, tasks[4]);
	db_give_back(&queues, &b);
	ck_assert_int_eq(tasks[0]->op, OP_RECORD);
	db_take(&queues, OP_RECORD, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "1 2 3 4 5");
	ck_assert_str_eq(told, "");
}
END_TEST

START_TEST(refused_batch_goes_one_by_one)
{
	struct db_batch b;
	char text[256];
	size_t i = 0;

	make(4);
	for (i = 0; i < 3; i++)
		db_push(&queues, OP_RESULT, tasks[i]);
	db_take(&queues, OP_RESULT, &b);
	db_push(&queues, OP_RESULT, tasks[3]);
	db_split(&queues, &b);
	db_take(&queues, OP_RESULT, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "1");
	/* a lost connection in between does not join them again */
	db_give_back(&queues, &b);
	db_take(&queues, OP_RESULT, &b);
	ck_assert_uint_eq(b.count, 1);
	db_answer(&queues, &b, (int64_t[]){ 1 }, 1, on_told, &queues);
	db_take(&queues, OP_RESULT, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "2");
	db_refuse(&queues, &b, on_told, &queues);
	db_take(&queues, OP_RESULT, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "3");
	db_answer(&queues, &b, (int64_t[]){ 3 }, 1, on_told, &queues);
	db_take(&queues, OP_RESULT, &b);
	ids_of(&b, text, sizeof(text));
	ck_assert_str_eq(text, "4");
	ck_assert_str_eq(told, "1w 2e 3w");
}
END_TEST

START_TEST(last_one_given_back_alone_stays_alone)
{
	struct db_batch b;

	make(3);
	db_push(&queues, OP_RESULT, tasks[0]);
	db_push(&queues, OP_RESULT, tasks[1]);
	db_take(&queues, OP_RESULT, &b);
	db_split(&queues, &b);
	db_take(&queues, OP_RESULT, &b);
	db_answer(&queues, &b, (int64_t[]){ 1 }, 1, on_told, &queues);
	db_push(&queues, OP_RESULT, tasks[2]);
	db_take(&queues, OP_RESULT, &b);
	db_give_back(&queues, &b);
	db_take(&queues, OP_RESULT, &b);
	ck_assert_uint_eq(b.count, 1);
	ck_assert_int_eq(TAILQ_FIRST(&b.tasks)->id, 2);
}
END_TEST

START_TEST(batch_has_limits)
{
	struct db_batch b;
	size_t i = 0, got = 0;

	make(MANY);
	for (i = 0; i < MANY; i++)
		db_push(&queues, OP_EXPIRE, tasks[i]);
	while (queues.q[OP_EXPIRE].count > 0) {
		db_take(&queues, OP_EXPIRE, &b);
		ck_assert_uint_le(b.count, DB_BATCH_MAX);
		ck_assert_int_eq(TAILQ_FIRST(&b.tasks)->id, (int64_t)got + 1);
		got += b.count;
	}
	ck_assert_uint_eq(got, MANY);
}
END_TEST

START_TEST(batch_has_a_byte_limit)
{
	struct db_batch b;
	size_t i = 0, len = (size_t)3 << 20;

	make(4);
	for (i = 0; i < 4; i++) {
		tasks[i]->report.result = mem_alloc(len + 1);
		memset(tasks[i]->report.result, 'x', len);
		db_push(&queues, OP_RESULT, tasks[i]);
	}
	db_take(&queues, OP_RESULT, &b);
	ck_assert_uint_eq(b.count, 2);	/* of 3 MB each */
	db_give_back(&queues, &b);
	/* one that is over the limit alone still goes */
	mem_free(tasks[0]->report.result);
	tasks[0]->report.result = mem_alloc((size_t)DB_BATCH_BYTES + 2);
	memset(tasks[0]->report.result, 'x', (size_t)DB_BATCH_BYTES + 1);
	db_take(&queues, OP_RESULT, &b);
	ck_assert_uint_eq(b.count, 1);
	ck_assert_int_eq(TAILQ_FIRST(&b.tasks)->id, 1);
}
END_TEST

START_TEST(mark_goes_first_but_starves_nobody)
{
	struct mono now = mono_now();

	make(2);
	db_push(&queues, OP_PARK, tasks[0]);
	db_push(&queues, OP_MARK, tasks[1]);
	queues.q[OP_PARK].since = queues.q[OP_MARK].since = now;
	ck_assert_int_eq(db_pick(&queues, now), OP_MARK);
	queues.q[OP_MARK].since = mono_add_ms(now, 100);
	ck_assert_int_eq(db_pick(&queues, mono_add_ms(now, 100)), OP_PARK);
	queues.q[OP_PARK].not_before = mono_add_ms(now, 200);
	ck_assert_int_eq(db_pick(&queues, mono_add_ms(now, 100)), OP_MARK);
}
END_TEST

START_TEST(server_that_cannot_now_gets_time)
{
	struct db_batch b;
	struct mono now = mono_now();
	int64_t want = 200;
	int i = 0;

	make(1);
	db_push(&queues, OP_MARK, tasks[0]);
	for (i = 0; i < 7; i++) {
		db_take(&queues, OP_MARK, &b);
		db_later(&queues, &b, now);
		ck_assert_int_eq(db_pick(&queues, mono_add_ms(now, want - 1)),
		    OP_NONE);
		now = mono_add_ms(now, want);
		ck_assert_int_eq(db_pick(&queues, now), OP_MARK);
		want = want * 2 > 5000 ? 5000 : want * 2;
	}
	db_take(&queues, OP_MARK, &b);
	db_answer(&queues, &b, (int64_t[]){ 1 }, 1, on_told, &queues);
	db_push(&queues, OP_MARK, tasks[0]);
	db_take(&queues, OP_MARK, &b);
	db_later(&queues, &b, now);
	ck_assert_int_eq(db_pick(&queues, mono_add_ms(now, 200)), OP_MARK);
}
END_TEST

START_TEST(few_tasks_wait_for_company)
{
	struct mono now = mono_now();
	int i = 0;

	make(DB_GATHER_MAX);
	db_push(&queues, OP_MARK, tasks[0]);
	queues.q[OP_MARK].since = now;
	ck_assert(!db_is_ripe(&queues, OP_MARK, now));
	ck_assert(!db_is_ripe(&queues, OP_MARK,
	    mono_add_ms(now, DB_GATHER_MS - 1)));
	ck_assert(db_is_ripe(&queues, OP_MARK,
	    mono_add_ms(now, DB_GATHER_MS)));
	for (i = 1; i < DB_GATHER_MAX; i++) {
		ck_assert(!db_is_ripe(&queues, OP_MARK, now));
		db_push(&queues, OP_MARK, tasks[i]);
	}
	ck_assert(db_is_ripe(&queues, OP_MARK, now));
}
END_TEST

START_TEST(second_write_is_a_bug)
{
	make(1);
	db_push(&queues, OP_MARK, tasks[0]);
	db_push(&queues, OP_PARK, tasks[0]);
}
END_TEST

START_TEST(arrays)
{
	struct buf b;

	buf_init(&b, 4096);
	ck_assert_int_eq(array_open(&b), 0);
	ck_assert_int_eq(array_put_text(&b, "a\"b\\c,{}"), 0);
	ck_assert_int_eq(array_put_text(&b, NULL), 0);
	ck_assert_int_eq(array_put_text(&b, ""), 0);
	ck_assert_int_eq(array_put_text(&b, "NULL"), 0);
	ck_assert_int_eq(array_put_i64(&b, INT64_MIN), 0);
	ck_assert_int_eq(array_put_bool(&b, true), 0);
	ck_assert_int_eq(array_put_bool(&b, false), 0);
	ck_assert_int_eq(array_put_null(&b), 0);
	ck_assert_int_eq(array_close(&b), 0);
	ck_assert_str_eq(buf_text(&b), "{\"a\\\"b\\\\c,{}\",NULL,\"\",\"NULL\","
	    "-9223372036854775808,t,f,NULL}");
	buf_done(&b);
}
END_TEST

START_TEST(full_buffer_is_an_error)
{
	struct buf b;

	buf_init(&b, 8);
	ck_assert_int_eq(array_open(&b), 0);
	ck_assert_int_lt(array_put_text(&b, "much too long"), 0);
	buf_done(&b);
}
END_TEST

START_TEST(words_become_utf8)
{
	char *s = array_clean("a\xff" "b\0c\xc3\xa4", 7);

	ck_assert_str_eq(s, "a?b?c\xc3\xa4");
	mem_free(s);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("batch");
	TCase *tc = tcase_create("batch");

	tcase_add_test(tc, next_batch_gathers);
	tcase_add_test(tc, answer_tells_each);
	tcase_add_test(tc, answer_without_ids_loses_all);
	tcase_add_test(tc, lost_connection_keeps_order);
	tcase_add_test(tc, refused_batch_goes_one_by_one);
	tcase_add_test(tc, last_one_given_back_alone_stays_alone);
	tcase_add_test(tc, batch_has_limits);
	tcase_add_test(tc, batch_has_a_byte_limit);
	tcase_add_test(tc, mark_goes_first_but_starves_nobody);
	tcase_add_test(tc, server_that_cannot_now_gets_time);
	tcase_add_test(tc, few_tasks_wait_for_company);
	tcase_add_test_raise_signal(tc, second_write_is_a_bug, 6);
	tcase_add_test(tc, arrays);
	tcase_add_test(tc, full_buffer_is_an_error);
	tcase_add_test(tc, words_become_utf8);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
