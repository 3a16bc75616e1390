/*
 * poll.pml - one task from the moment its id is on the row until it ends: two
 * hosts (supervisor and poll worker as one: a crash of the worker costs
 * nothing, so the two differ in nothing here), leases, the provider's job,
 * the poll deadline, a person who adopts.
 *
 * The requests for "how far is it" may fail for as long as they like: what
 * ends the wait is the deadline.  So this one needs fairness, and an LTL
 * formula instead of a look at the last state.
 */
#include "row.inc"

/* host */
#define H_IDLE		0
#define H_CLAIMED	1	/* super.claimed */
#define H_ASSIGNED	2	/* poll.assigned */
#define H_POLLING	3	/* poll.polling */
#define H_DONE		4	/* poll.done */
#define H_SAVED		5	/* poll.saved */
#define H_FETCHED	6	/* poll.fetched, super.completing */
#define H_SUBMIT	7	/* only when law 6 is broken */

/* statement in flight, then its answer */
#define Q_NONE		0
#define Q_RESULT	1	/* record_result */
#define Q_COMPLETE	2
#define Q_FAIL		3
#define Q_PARK		4
#define Q_RELEASE	5
#define Q_WON		6
#define Q_LOST		7
#define Q_GONE		8

#define GOING		0
#define DONE		1
#define BROKEN		2

byte s[2], st[2], q[2], qop[2], g[2], gt[2];
byte job = GOING;		/* at the provider */
bool late;			/* the poll deadline is over */
bool row_result, artifacts;	/* on the row, on the disk */

#define PENDING_Q(h)	(q[h] >= Q_RESULT && q[h] <= Q_RELEASE)
#define IN_FLIGHT	(row_st == SUBMITTED || row_st == RUNNING)
#define TOKEN(t)	(row_tok == (t))
#define ENDED		(row_st == SUCCEEDED || row_st == FAILED ||	\
	row_st == UNKNOWN)

#define poll_ended	(ENDED)
ltl ends { <> [] poll_ended }

inline fresh_token()
{
	row_tok = 1;
	do
	:: row_tok == st[0] || row_tok == st[1] || row_tok == gt[0] ||
	    row_tok == gt[1] -> row_tok++
	:: else -> break
	od
}

inline host_idle(h)
{
	s[h] = H_IDLE; st[h] = 0; qop[h] = Q_NONE
}

inline execute(op, t, ret)
{
	if
	:: op == Q_RESULT && TOKEN(t) && IN_FLIGHT ->
		row_result = true; ret = Q_WON
	:: op == Q_COMPLETE && TOKEN(t) && IN_FLIGHT ->
		row_st = SUCCEEDED; ret = Q_WON;
		/* what was paid for is kept */
		assert(row_result && artifacts)
	:: op == Q_FAIL && TOKEN(t) && IN_FLIGHT ->
		row_st = FAILED; ret = Q_WON;
		/* FAILED is written only on proof */
		assert(job == BROKEN)
	:: op == Q_PARK && TOKEN(t) && IN_FLIGHT ->
		row_st = UNKNOWN; ret = Q_WON
	/* PENDING has no id: the database refuses */
	:: else -> ret = Q_LOST
	fi
}

proctype Database(byte h)
{
	byte x;
end:	do
	:: d_step { PENDING_Q(h) -> execute(q[h], st[h], x); q[h] = x; x = 0 }
	:: d_step { PENDING_Q(h) && losses > 0 -> losses--;
		execute(q[h], st[h], x); q[h] = Q_GONE; x = 0 }
	:: d_step { PENDING_Q(h) && losses > 0 && g[h] == Q_NONE -> losses--;
		g[h] = q[h]; gt[h] = st[h]; q[h] = Q_GONE }
	:: d_step { g[h] != Q_NONE -> execute(g[h], gt[h], x);
		g[h] = Q_NONE; gt[h] = 0; x = 0 }
	od
}

inline statement(h, op)
{
	q[h] = op; qop[h] = op
}

proctype Host(byte h)
{
end:	do
	:: d_step { s[h] == H_IDLE && q[h] == Q_NONE && IN_FLIGHT &&
	    !row_live && (row_tok != 0 || h == 0) ->
		printf("super.claimed host %d\n", h);
		fresh_token();
#ifdef NO_LAW6
		row_st = RUNNING;
#endif
		row_live = true; row_owner = h; st[h] = row_tok;
		s[h] = H_CLAIMED }
	:: d_step { s[h] == H_CLAIMED && row_st == RUNNING ->
		s[h] = H_SUBMIT }
	:: d_step { s[h] == H_CLAIMED && row_st != RUNNING ->
		printf("poll.assigned host %d\n", h);
		s[h] = (row_result -> H_SAVED : H_ASSIGNED) }
	/* RUNNING is a submit worker's: its mark is refused, its release too */
	:: d_step { s[h] == H_SUBMIT && q[h] == Q_NONE ->
		statement(h, Q_RELEASE) }
	:: d_step { s[h] == H_SUBMIT && q[h] == Q_LOST ->
		q[h] = Q_NONE;
		if
		:: row_tok == st[h] -> row_live = false
		:: else
		fi;
		host_idle(h) }

	:: d_step { s[h] == H_ASSIGNED && q[h] == Q_NONE && !late ->
		printf("poll.polling host %d\n", h);
		s[h] = H_POLLING }
	/* missed, or still going */
	:: d_step { s[h] == H_POLLING -> s[h] = H_ASSIGNED }
	:: d_step { s[h] == H_POLLING && job == DONE ->
		printf("poll.done host %d\n", h);
		s[h] = H_DONE }
	:: d_step { s[h] == H_POLLING && job == BROKEN ->
		s[h] = H_ASSIGNED; statement(h, Q_FAIL) }
	/* patience is over */
	:: d_step { s[h] == H_ASSIGNED && q[h] == Q_NONE && late ->
#ifdef NO_LAW5
		statement(h, Q_FAIL) }
#else
		statement(h, Q_PARK) }
#endif

#ifdef NO_LAW7
	/* success first, its result and the download later */
	:: d_step { s[h] == H_DONE && q[h] == Q_NONE ->
		statement(h, Q_COMPLETE) }
#else
	:: d_step { s[h] == H_DONE && q[h] == Q_NONE ->
		statement(h, Q_RESULT) }
#endif
	:: d_step { s[h] == H_DONE && qop[h] == Q_RESULT && q[h] == Q_WON ->
		printf("super.result, poll.saved host %d\n", h);
		q[h] = Q_NONE; qop[h] = Q_NONE; s[h] = H_SAVED }
	:: d_step { s[h] == H_SAVED ->
		printf("poll.fetched host %d\n", h);
		artifacts = true; s[h] = H_FETCHED }
	:: d_step { s[h] == H_FETCHED && q[h] == Q_NONE ->
		printf("super.completing host %d\n", h);
		statement(h, Q_COMPLETE) }

	/* the ends of the other statements */
	:: d_step { q[h] == Q_WON && qop[h] != Q_RESULT ->
		printf("super.completed host %d\n", h);
		q[h] = Q_NONE; host_idle(h) }
	:: d_step { q[h] == Q_LOST && s[h] != H_SUBMIT ->
		q[h] = Q_NONE; host_idle(h) }
	:: d_step { q[h] == Q_GONE -> q[h] = qop[h] }

	/* no renewal came back */
	:: d_step { st[h] != 0 && !PENDING_Q(h) && q[h] == Q_NONE &&
	    (row_tok != st[h] || !row_live || !IN_FLIGHT) -> host_idle(h) }
	od
}

proctype Provider()
{
	/* or it goes on for ever */
	if
	:: job = DONE
	:: job = BROKEN
	:: skip
	fi
}

proctype Deadline()
{
end:	do
	:: d_step { !late && IN_FLIGHT -> late = true }
	od
}

proctype Person()
{
end:	do
	:: d_step { row_st == UNKNOWN && humans > 0 ->
		printf("person: adopt\n");
		fresh_token();
		humans--; row_st = SUBMITTED; row_live = false; late = false }
	od
}

inline crash(h)
{
	d_step { crashes > 0 && s[h] != H_IDLE &&
	    (!PENDING_Q(h) || g[h] == Q_NONE) -> crashes--;
		printf("host %d dies\n", h);
		if
		:: PENDING_Q(h) -> g[h] = q[h]; gt[h] = st[h]
		:: else
		fi;
		q[h] = Q_NONE; host_idle(h) }
}

/* Nobody knows that it holds, or the holder is paused or cut off. */
proctype Trouble()
{
end:	do
	:: crash(0)
	:: crash(1)
	:: d_step { IN_FLIGHT && row_live && (st[row_owner] != row_tok ||
	    pauses > 0) ->
		if
		:: st[row_owner] == row_tok -> pauses--
		:: else
		fi;
		row_live = false }
	od
}

init
{
	d_step { row_st = SUBMITTED; row_mark = true; row_id = true };
	atomic {
		run Host(0); run Host(1);
		run Database(0); run Database(1);
		run Trouble(); run Person();
		run Provider(); run Deadline()
	}
}
