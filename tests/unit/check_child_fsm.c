/*
 * check_child_fsm.c - the states of a worker process: every pair.
 */
#include "supervisor/child.h"
#include "tests/unit/suite.h"

#define BUG	CS_MAX

static const struct {
	enum cstate	from;
	enum cstate	to[CE_MAX];	/* HELLO ASSIGNED EMPTIED DRAIN KILL
					   EOF REAPED */
} want[CS_MAX] = {
	{ CS_STARTING, { CS_IDLE, BUG, BUG, CS_DYING, CS_DYING, CS_DYING,
	    CS_GONE } },
	{ CS_IDLE, { BUG, CS_BUSY, BUG, CS_DRAINING, CS_DYING, CS_DYING,
	    CS_GONE } },
	{ CS_BUSY, { BUG, CS_BUSY, CS_IDLE, CS_DRAINING, CS_DYING, CS_DYING,
	    CS_GONE } },
	{ CS_DRAINING, { BUG, BUG, CS_DRAINING, CS_DRAINING, CS_DYING,
	    CS_DYING, CS_GONE } },
	{ CS_DYING, { CS_DYING, BUG, CS_DYING, CS_DYING, CS_DYING, CS_DYING,
	    CS_GONE } },
	{ CS_GONE, { BUG, BUG, CS_GONE, CS_GONE, CS_GONE, CS_GONE, BUG } },
};

START_TEST(every_pair)
{
	int e = 0;

	ck_assert_int_eq((int)want[_i].from, _i);
	for (e = 0; e < CE_MAX; e++)
		ck_assert_msg(child_next(want[_i].from, (enum cevent)e) ==
		    want[_i].to[e], "%s, event %d: %d",
		    child_state_name(want[_i].from), e,
		    (int)child_next(want[_i].from, (enum cevent)e));
}
END_TEST

/* A task is given only to a worker that said it is ready. */
START_TEST(only_the_ready_get_tasks)
{
	int s = 0;

	for (s = 0; s < CS_MAX; s++)
		if (child_next((enum cstate)s, CE_ASSIGNED) != CS_MAX)
			ck_assert(s == CS_IDLE || s == CS_BUSY);
}
END_TEST

START_TEST(bits_of_the_messages)
{
	ck_assert_uint_eq(child_state_bit(CS_STARTING), C_STARTING);
	ck_assert_uint_eq(child_state_bit(CS_IDLE), C_IDLE);
	ck_assert_uint_eq(child_state_bit(CS_BUSY), C_BUSY);
	ck_assert_uint_eq(child_state_bit(CS_DRAINING), C_DRAINING);
	ck_assert_uint_eq(child_state_bit(CS_DYING), 0);
	ck_assert_uint_eq(child_state_bit(CS_GONE), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("child_fsm");
	TCase *tc = tcase_create("child_fsm");

	tcase_add_loop_test(tc, every_pair, 0, CS_MAX);
	tcase_add_test(tc, only_the_ready_get_tasks);
	tcase_add_test(tc, bits_of_the_messages);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
