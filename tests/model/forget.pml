/*
 * forget.pml - one task under a database that forgets: a standby that lags is
 * promoted, the last commits are gone, tokens are given out again.  Two hosts
 * with their receipts, the failover barrier, a host that is dead for good, a
 * person who requeues and who waives a host.
 *
 * A host's supervisor and worker take fewer steps here than in submit.pml;
 * SUBMITTED is an end.
 */
#include "row.inc"

#define W_NONE		0
#define W_ASSIGNED	1	/* submit.assigned */
#define W_INTENT	2	/* submit.intent, submit.before_mark */
#define W_MARKED	3	/* submit.marked */
#define W_SENT		4	/* submit.sent */
#define W_ANSWERED	5	/* submit.answered */
#define W_RECEIPT	6	/* submit.receipt */

#define N_NONE		0
#define N_OUT		1
#define N_ID		2

byte s_st, s_att = 1, s_tok, s_owner, s_next;	/* the standby's copy */
bool s_live, s_mark, s_id;
byte next_tok;			/* the sequence: the database's too */
byte epoch = 1;			/* timeline */
byte failovers = 1;

byte applied[2];		/* the timeline a host has applied itself to */
bool up[2], gone[2], waived[2];
byte st[2];			/* token of the lease that it holds */
byte w[2], wt[2], wa[2], net[2];
bool conn[2];
byte rc[4], re[4];		/* receipt, and the timeline of its intent */
byte wire[2];
bool held[2], gave_up[2];	/* by attempt */

#define I(h, a)		((h) * 2 + (a) - 1)
#define RC(h, a)	rc[I(h, a)]
#define LOCKED(h, a)	(w[h] >= W_INTENT && wa[h] == (a))
#define READY(h)	(up[h] && applied[h] == epoch)
#define PASSED(h)	(applied[h] == epoch || waived[h])
#ifdef NO_BARRIER
#define BARRIER		true
#else
#define BARRIER		(PASSED(0) && PASSED(1))
#endif
#define HOLDS(h)	(st[h] != 0 && st[h] == row_tok && row_st == RUNNING)
#define RUNS(h)		(net[h] == N_OUT && wa[h] == row_att)
#ifdef HASTY_WAIVE
#define WAIVABLE	true
#else
#define WAIVABLE	(wire[0] == 0 && wire[1] == 0)
#endif
#define MAY_DECIDE	(wire[row_att - 1] == 0 && !RUNS(0) && !RUNS(1))

inline worker_gone(h)
{
	if
	:: net[h] == N_OUT -> wire[wa[h] - 1]++
	:: else
	fi;
	w[h] = W_NONE; wt[h] = 0; wa[h] = 0; net[h] = N_NONE; conn[h] = false
}

inline dead_man(h)
{
	if
	:: w[h] != W_NONE && w[h] <= W_MARKED -> worker_gone(h)
	:: else
	fi
}

/*
 * One receipt as evidence.  The newest attempt stands: a row that is behind
 * has forgotten a person's decision.  An intent of an older timeline counts
 * as sent.
 */
#ifdef SAME_ATTEMPT
#define REACHES(a)	((a) == row_att)
#else
#define REACHES(a)	((a) >= row_att)
#endif
#ifdef INTENT_IS_NOTHING
#define COUNTS(h, a)	(RC(h, a) == R_UNKNOWN)
#else
#define COUNTS(h, a)	(RC(h, a) == R_UNKNOWN || (RC(h, a) == R_INTENT &&	\
	re[I(h, a)] < epoch))
#endif
#ifdef SKIP_LOCKED
#define READS(h, a)	(!LOCKED(h, a))
#else
#define READS(h, a)	true
#endif

inline apply_one(h, a)
{
	if
	:: READS(h, a) && REACHES(a) && RC(h, a) == R_ID &&
	    !(row_id && row_att == a) ->
		printf("receipt applied: id of attempt %d\n", a);
		row_att = a; row_st = SUBMITTED; row_mark = true;
		row_id = true; row_live = false
	:: READS(h, a) && REACHES(a) && COUNTS(h, a) && (a > row_att ||
	    row_st == PENDING || (row_st == RUNNING && !row_mark)) ->
		printf("receipt applied: attempt %d counts as sent\n", a);
		row_att = a; row_st = RUNNING; row_mark = true;
		row_id = false; row_live = false; row_tok = 0
	:: else
	fi
}

proctype Host(byte h)
{
end:	do
	/* a start, or a new timeline: receipts before claims */
	:: d_step { !up[h] && !gone[h] -> up[h] = true }
	:: d_step { up[h] && applied[h] != epoch ->
		printf("host %d: receipts for timeline %d\n", h, epoch);
		/* a lease of the old timeline is none; who has sent goes on */
		dead_man(h);
#ifndef LEASES_KEPT
		st[h] = 0; conn[h] = false;
#endif
		apply_one(h, 1); apply_one(h, 2);
		applied[h] = epoch }
	:: d_step { READY(h) && !LOCKED(h, row_att) &&
	    RC(h, row_att) == R_ID && !row_id ->
		apply_one(h, row_att) }

	:: d_step { READY(h) && BARRIER && st[h] == 0 && w[h] == W_NONE &&
	    row_st == PENDING ->
		printf("super.claimed host %d attempt %d\n", h, row_att);
		next_tok++; row_tok = next_tok; row_st = RUNNING;
		row_live = true; row_owner = h;
		st[h] = row_tok; w[h] = W_ASSIGNED; wt[h] = row_tok;
		wa[h] = row_att; conn[h] = true }
	/* the row decides; of our own receipts the lock and the id count */
	:: d_step { READY(h) && BARRIER && row_st == RUNNING && !row_live &&
	    !row_mark ->
		printf("host %d requeues\n", h);
		row_st = PENDING; row_tok = 0 }
	:: d_step { READY(h) && BARRIER && row_st == RUNNING && !row_live &&
	    row_mark && !LOCKED(h, row_att) && RC(h, row_att) != R_ID ->
		printf("host %d parks\n", h);
		row_st = UNKNOWN; row_tok = 0 }

	/* the lease is lost, or its worker is dead */
	:: d_step { READY(h) && st[h] != 0 && (!HOLDS(h) || !row_live) ->
		dead_man(h); st[h] = 0; conn[h] = false }
	:: d_step { READY(h) && HOLDS(h) && row_live && w[h] == W_NONE ->
		row_live = false; st[h] = 0 }
	od
}

#ifdef NO_OWN_CHECK
#define OPENS(h)	true
#else
/* a receipt that holds evidence is not opened again */
#define OPENS(h)	(RC(h, wa[h]) <= R_UNSENT &&			\
	!(RC(h, wa[h]) == R_INTENT && re[I(h, wa[h])] < epoch))
#endif

proctype Worker(byte h)
{
end:	do
	:: d_step { w[h] == W_ASSIGNED && OPENS(h) ->
		printf("submit.intent host %d\n", h);
		RC(h, wa[h]) = R_INTENT; re[I(h, wa[h])] = epoch;
		w[h] = W_INTENT }
	/* then the row is told so, and decides */
	:: d_step { w[h] == W_ASSIGNED && !OPENS(h) ->
		if
		:: READY(h) && HOLDS(h) -> row_mark = true; row_live = false
		:: else
		fi;
		worker_gone(h) }
	:: d_step { w[h] == W_INTENT && conn[h] && READY(h) ->
		if
		:: row_st == RUNNING && row_tok == wt[h] && row_live &&
		    !row_mark ->
			printf("submit.marked host %d\n", h);
			row_mark = true; w[h] = W_MARKED
		:: else -> RC(h, wa[h]) = R_UNSENT; worker_gone(h)
		fi }
	:: d_step { w[h] == W_INTENT && !conn[h] ->
		RC(h, wa[h]) = R_UNSENT; worker_gone(h) }
	:: d_step { w[h] == W_MARKED ->
		printf("submit.sent host %d attempt %d\n", h, wa[h]);
		net[h] = N_OUT; w[h] = W_SENT }
	:: d_step { w[h] == W_SENT && net[h] == N_ID ->
		printf("submit.answered host %d\n", h);
		net[h] = N_NONE; w[h] = W_ANSWERED }
	:: d_step { w[h] == W_ANSWERED ->
		printf("submit.receipt host %d\n", h);
		RC(h, wa[h]) = R_ID; held[wa[h] - 1] = true; w[h] = W_RECEIPT }
	/* record_submitted by its token, if its supervisor still holds it */
	:: d_step { w[h] == W_RECEIPT && conn[h] && READY(h) && HOLDS(h) &&
	    row_mark ->
		printf("super.recorded host %d\n", h);
		row_st = SUBMITTED; row_id = true; row_live = false; st[h] = 0;
#ifdef NO_RETENTION
		RC(h, wa[h]) = R_NONE;
#endif
		worker_gone(h) }
	:: d_step { w[h] == W_RECEIPT && (!conn[h] || (READY(h) &&
	    !HOLDS(h))) -> worker_gone(h) }
	od
}

inline charge(a)
{
	printf("charge for attempt %d\n", a);
	since++;
	billed[(a) - 1] = true;
	assert(since <= 1)
}

proctype Provider(byte h)
{
end:	do
	:: d_step { net[h] == N_OUT -> net[h] = N_ID; charge(wa[h]) }
	/* h is the attempt here: a dead worker's request still arrives */
	:: d_step { wire[h] > 0 -> wire[h]--; charge(h + 1) }
	:: d_step { wire[h] > 0 -> wire[h]-- }
	od
}

proctype Person()
{
end:	do
	:: d_step { row_st == UNKNOWN && humans > 0 && row_att == 1 &&
	    MAY_DECIDE ->
		printf("person: requeue of attempt %d\n", row_att);
		if
		:: wa[0] == row_att -> dead_man(0)
		:: else
		fi;
		if
		:: wa[1] == row_att -> dead_man(1)
		:: else
		fi;
		humans--; gave_up[row_att - 1] = true; row_att++;
		row_st = PENDING; row_mark = false; row_id = false;
		row_tok = 0; since = 0 }
	/* a host that is gone: by name, knowing what it may have bought */
	:: d_step { gone[0] && !waived[0] && applied[0] != epoch && WAIVABLE ->
		printf("person: waives host 0\n");
		waived[0] = true; since = 0 }
	od
}

proctype Standby()
{
end:	do
	:: d_step { failovers > 0 && (s_st != row_st || s_att != row_att ||
	    s_tok != row_tok || s_mark != row_mark || s_id != row_id ||
	    s_live != row_live) ->
		s_st = row_st; s_att = row_att; s_tok = row_tok;
		s_owner = row_owner; s_live = row_live; s_mark = row_mark;
		s_id = row_id; s_next = next_tok }
	/* promoted as it is: what came after its last copy is forgotten */
	:: d_step { failovers > 0 ->
		printf("failover\n");
		failovers--;
#ifndef NOT_DURABLE
		epoch++;
#endif
		row_st = s_st; row_att = s_att; row_tok = s_tok;
		row_owner = s_owner; row_live = s_live; row_mark = s_mark;
		row_id = s_id; next_tok = s_next;
		s_st = 0; s_att = 0; s_tok = 0; s_owner = 0; s_live = false;
		s_mark = false; s_id = false; s_next = 0 }
	od
}

proctype Trouble(byte h)
{
end:	do
	:: d_step { crashes > 0 && up[h] -> crashes--;
		printf("supervisor of host %d dies\n", h);
		up[h] = false; applied[h] = 0; st[h] = 0; conn[h] = false }
	:: d_step { crashes > 0 && w[h] != W_NONE -> crashes--;
		printf("worker of host %d dies\n", h);
		worker_gone(h) }
	/* for good, with its disk */
	:: d_step { h == 0 && crashes > 0 && !gone[0] -> crashes--;
		printf("host 0 is gone\n");
		up[0] = false; gone[0] = true; applied[0] = 0; st[0] = 0;
		if
		:: w[0] != W_NONE -> worker_gone(0)
		:: else
		fi }
	:: d_step { row_owner == h && row_st == RUNNING && row_live &&
	    (st[h] != row_tok || pauses > 0) ->
		if
		:: st[h] == row_tok -> pauses--
		:: else
		fi;
		if
		:: wt[h] == row_tok -> dead_man(h)
		:: else
		fi;
		row_live = false }
	od
}

#define KEPT(a)		(!held[(a) - 1] || gave_up[(a) - 1] || gone[0] ||	\
	(row_id && row_att == (a)))

proctype End()
{
	timeout ->
#ifndef ONLY_MONEY
	/* the task ended */
	assert(row_st == SUBMITTED || (row_st == UNKNOWN && (humans == 0 ||
	    row_att == 2)));
	/* an id that a receipt holds is on the row */
	assert(KEPT(1) && KEPT(2));
#endif
	skip
}

init
{
	d_step { up[0] = true; up[1] = true; applied[0] = 1; applied[1] = 1 };
	atomic {
		run Host(0); run Host(1);
		run Worker(0); run Worker(1);
		run Provider(0); run Provider(1);
		run Trouble(0); run Trouble(1);
		run Person(); run Standby(); run End()
	}
}
