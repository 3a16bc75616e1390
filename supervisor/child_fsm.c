/*
 * child_fsm.c - the states of a worker process: the full table.
 *
 * Pure; child_event() in child.c is the one function that changes a state.
 */
#include "supervisor/child.h"

#include <stddef.h>

#define BUG	CS_MAX

static const enum cstate next_state[CS_MAX][CE_MAX] = {
	[CS_STARTING] = {
		[CE_HELLO] = CS_IDLE,
		[CE_ASSIGNED] = BUG,
		[CE_EMPTIED] = BUG,
		[CE_DRAIN] = CS_DYING,	/* it has nothing to finish */
		[CE_KILL] = CS_DYING,
		[CE_EOF] = CS_DYING,
		[CE_REAPED] = CS_GONE,
	},
	[CS_IDLE] = {
		[CE_HELLO] = BUG,
		[CE_ASSIGNED] = CS_BUSY,
		[CE_EMPTIED] = BUG,
		[CE_DRAIN] = CS_DRAINING,
		[CE_KILL] = CS_DYING,
		[CE_EOF] = CS_DYING,
		[CE_REAPED] = CS_GONE,
	},
	[CS_BUSY] = {
		[CE_HELLO] = BUG,
		[CE_ASSIGNED] = CS_BUSY,
		[CE_EMPTIED] = CS_IDLE,
		[CE_DRAIN] = CS_DRAINING,
		[CE_KILL] = CS_DYING,
		[CE_EOF] = CS_DYING,
		[CE_REAPED] = CS_GONE,
	},
	[CS_DRAINING] = {
		[CE_HELLO] = BUG,
		[CE_ASSIGNED] = BUG,
		[CE_EMPTIED] = CS_DRAINING,
		[CE_DRAIN] = CS_DRAINING,
		[CE_KILL] = CS_DYING,
		[CE_EOF] = CS_DYING,
		[CE_REAPED] = CS_GONE,
	},
	[CS_DYING] = {
		[CE_HELLO] = CS_DYING,
		[CE_ASSIGNED] = BUG,
		[CE_EMPTIED] = CS_DYING,
		[CE_DRAIN] = CS_DYING,
		[CE_KILL] = CS_DYING,
		[CE_EOF] = CS_DYING,
		[CE_REAPED] = CS_GONE,
	},
	[CS_GONE] = {
		[CE_HELLO] = BUG,
		[CE_ASSIGNED] = BUG,
		[CE_EMPTIED] = CS_GONE,
		[CE_DRAIN] = CS_GONE,
		[CE_KILL] = CS_GONE,
		[CE_EOF] = CS_GONE,
		[CE_REAPED] = BUG,
	},
};

static const char *const names[CS_MAX] = {
	[CS_STARTING] = "starting",
	[CS_IDLE] = "idle",
	[CS_BUSY] = "busy",
	[CS_DRAINING] = "draining",
	[CS_DYING] = "dying",
	[CS_GONE] = "gone",
};

enum cstate
child_next(enum cstate state, enum cevent ev)
{
	return next_state[state][ev];
}

const char *
child_state_name(enum cstate state)
{
	return (unsigned int)state < CS_MAX ? names[state] : "?";
}

/* The bit of messages.def; 0: this state neither sends nor gets. */
unsigned int
child_state_bit(enum cstate state)
{
	switch (state) {
	case CS_STARTING:
		return C_STARTING;
	case CS_IDLE:
		return C_IDLE;
	case CS_BUSY:
		return C_BUSY;
	case CS_DRAINING:
		return C_DRAINING;
	default:
		return 0;
	}
}
