/*
 * torture.h - a random run: tasks, a monkey that kills and stops, a checker.
 *
 * The checker reads only the ledger, the database, the receipts and the
 * artifacts; the monkey tells it nothing but how often it struck.
 */
#ifndef PAYONCE_TEST_TORTURE_H
#define PAYONCE_TEST_TORTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/rig.h"

#define STOPPED_MAX	32

struct dice {
	uint64_t	state;
};

/* What the monkey did; the bound of what may be parked comes from it. */
struct monkey {
	struct dice	 dice;
	int		 workers_killed;
	int		 workers_stopped;
	int		 supers_killed;
	int		 supers_stopped;
	int		 supers_ended;		/* SIGTERM */
	int		 backends_ended;
	int		 submit_hits;		/* deaths of submitters */
	pid_t		 stopped[STOPPED_MAX];
	int64_t		 cont_at_ms[STOPPED_MAX];
	int64_t		 super_cont_at_ms;	/* 0: runs */
	int64_t		 super_start_at_ms;	/* 0: runs */
	bool		 is_ending;		/* SIGTERM is on its way */
};

struct verdict {
	int	tasks;
	int	succeeded;
	int	failed;
	int	parked;
	int	posts;
	int	charges;
	int	artifacts;
};

/* monkey.c */
void		 dice_init(struct dice *, uint64_t seed);
int		 dice_roll(struct dice *, int sides);	/* 0 .. sides - 1 */
void		 monkey_strike(struct monkey *, struct rig *);
/* monkey_tend() ends pauses that are over; call it all the time. */
void		 monkey_tend(struct monkey *, struct rig *);
/* monkey_rest() lets everything live again. */
void		 monkey_rest(struct monkey *, struct rig *);

/* verify.c */
/* verify_all() ends the process with a message on the first broken promise */
void		 verify_all(struct rig *, const struct monkey *,
		    struct verdict *ret);

#endif
