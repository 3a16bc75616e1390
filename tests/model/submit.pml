/*
 * submit.pml - one task from PENDING until its id is on the row, or it is
 * parked or failed: two hosts, their supervisors and submit workers, leases,
 * the dead-man timer, receipts, a provider, a person.  The database keeps
 * what it committed (forget.pml has one that does not); SUBMITTED is an end
 * here (poll.pml goes on from there).
 *
 * POINTS: one death, and its end is what doc/FAULTPOINTS.md says of the point.
 * IDEM: the provider honours an idempotency key for a while.
 * LOOKUP: the provider can be asked for our own id.
 */
#ifdef POINTS
#define ONE_HOST
#define LOSSES		0
#define PAUSES		0
#define HUMANS		0
#endif
#include "row.inc"

/* supervisor */
#define S_DOWN		0
#define S_IDLE		1
#define S_CLAIMED	2	/* super.claimed */
#define S_ORPHAN	3	/* the receipt is locked, wait */
#define S_SUBMIT	4	/* a worker is at it, not marked */
#define S_MARKING	5	/* super.marking */
#define S_MARKED	6	/* super.marked */
#define S_SENT		7	/* MARKED is on its way */
#define S_WRITE		8	/* super.recording, or another ending */

/* submit worker; "armed" is ASSIGNED up to MARKED */
#define W_NONE		0
#define W_ASSIGNED	1	/* submit.assigned */
#define W_INTENT	2	/* submit.intent */
#define W_READY		3	/* submit.before_mark */
#define W_MARKING	4	/* submit.marking */
#define W_MARKED	5	/* submit.marked */
#define W_SENT		6	/* submit.sent */
#define W_ANSWERED	7	/* submit.answered */
#define W_RECEIPT	8	/* submit.receipt */
#define W_REPORTED	9	/* submit.reported */

/* what a statement does, and its answer */
#define Q_NONE		0
#define Q_MARK		1	/* mark_submit_started */
#define Q_RECORD	2	/* record_submitted */
#define Q_RELEASE	3	/* release, of a row that is not marked */
#define Q_UNMARK	4	/* release with proof that nothing left */
#define Q_PARK		5
#define Q_REJECT	6
#define Q_WON		7
#define Q_LOST		8
#define Q_GONE		9	/* the connection broke: committed or not */

/* what the claim's row said */
#define X_FRESH		0
#define X_UNMARKED	1
#define X_MARKED	2
#define X_KEY		3	/* marked, its key is valid */

#define M_MARKED	1
#define M_REFUSED	2

#define N_NONE		0
#define N_OUT		1	/* the request has left */
#define N_ID		2
#define N_REJECTED	3
#define N_NOTHING	4	/* no answer will come */

byte s[2], st[2], sx[2];	/* supervisor: state, token, row as claimed */
byte q[2], qop[2];		/* its statement in flight, and which it was */
byte g[2], gt[2];		/* one that a dead supervisor left behind */
byte w[2], wt[2], wa[2];	/* worker: state, token, attempt */
bool conn[2];			/* its supervisor lives */
bool wresend[2];		/* sends again with the same key */
bool ready[2], may[2];		/* connected; a mark that was not used yet */
byte mbox[2], net[2], wr[2];	/* MARKED/REFUSED; provider's answer; outcome */
byte rc[4];			/* receipt of host and attempt */
byte wire[2];			/* requests of dead workers, by attempt */
bool row_key, prov_key[2];	/* key valid by the row, by the provider */
#ifdef POINTS
byte kw, ko, ks;		/* died there: worker; its supervisor; either */
bool again;			/* it went back to PENDING */
#endif
bool parked;			/* and nobody has moved it since */
bool held[2];			/* by attempt: a receipt had the id */
#ifdef ONE_HOST
bool excuse;			/* not only supervisors died */
#endif

#ifdef IDEM
#define HAS_KEY		true
#else
#define HAS_KEY		false
#endif
#ifdef POINTS
#define AGAIN		again = true
#define PLAIN		false
#else
#define AGAIN		skip
#define PLAIN		true
#endif
#ifdef ONE_HOST
#define EXCUSE		excuse = true
#else
#define EXCUSE		skip
#endif
#define RC(h, a)	rc[(h) * 2 + (a) - 1]
#define ARMED(h)	(w[h] >= W_ASSIGNED && w[h] <= W_MARKED)
#define LOCKED(h, a)	(w[h] >= W_INTENT && wa[h] == (a))
/* the hosts are alike: let host 0 be the one that claims first */
#define CLAIMABLE(h)	((row_st == PENDING && (row_tok != 0 || (h) == 0)) ||	\
	(row_st == RUNNING && !row_live))
#define LOST_LEASE(h)	(row_tok != st[h] || !row_live || row_st != RUNNING)
#define EVIDENCE(h)	(!LOCKED(h, row_att) &&				\
	((RC(h, row_att) == R_ID && !row_id &&				\
	(row_st == RUNNING || row_st == UNKNOWN)) || REFUSED(h)))
#if defined(IDEM) || defined(LOOKUP)
#define REFUSED(h)	false	/* may speak of the second of two sends */
#else
#define REFUSED(h)	(RC(h, row_att) == R_REJECTED && row_mark &&	\
	(row_st == RUNNING || row_st == UNKNOWN))
#endif

/*
 * A person has to wait while a request of this attempt may still run: until
 * the lease and the request's timeout are over.
 */
#ifdef HASTY
#define MAY_DECIDE	true
#else
#define RUNS(h)		(net[h] == N_OUT && wa[h] == row_att)
#define MAY_DECIDE	(wire[row_att - 1] == 0 && !RUNS(0) && !RUNS(1))
#endif
/* The provider keeps a key for as long beyond the time that we use it. */
#ifdef NO_MARGIN
#define MARGIN		true
#else
#define MARGIN		(MAY_DECIDE && sx[0] != X_KEY && sx[1] != X_KEY)
#endif

/* The token only grows; here it is one that nobody holds. */
inline fresh_token()
{
	row_tok = 1;
	do
	:: row_tok == st[0] || row_tok == st[1] || row_tok == wt[0] ||
	    row_tok == wt[1] || row_tok == gt[0] || row_tok == gt[1] ->
		row_tok++
	:: else -> break
	od
}

inline worker_gone(h)
{
	if
	:: net[h] == N_OUT -> wire[wa[h] - 1]++
	:: else
	fi;
	w[h] = W_NONE; wt[h] = 0; wa[h] = 0; conn[h] = false;
	wresend[h] = false; ready[h] = false; may[h] = false;
	mbox[h] = 0; net[h] = N_NONE; wr[h] = 0
}

inline super_idle(h)
{
	s[h] = S_IDLE; st[h] = 0; sx[h] = 0; qop[h] = Q_NONE
}

inline statement(h, op)
{
	q[h] = op; qop[h] = op
}

/*
 * Law 9: the timer is armed before the claim is sent, so it never fires later
 * than the lease ends: who has not sent until then is dead.
 */
inline dead_man(h)
{
#ifndef NO_LAW9
	if
	:: ARMED(h) ->
		printf("dead-man timer host %d\n", h);
		EXCUSE; worker_gone(h)
	:: else
	fi
#else
	skip
#endif
}

inline lease_ends()
{
	if
	:: wt[0] == row_tok -> dead_man(0)
	:: else
	fi;
	if
	:: wt[1] == row_tok -> dead_man(1)
	:: else
	fi;
	row_live = false
}

/* Since the mark a lease and a request's time have passed. */
inline long_wait()
{
#if !defined(HASTY) && !defined(NO_MARGIN)
	if
	:: wa[0] == row_att -> dead_man(0)
	:: else
	fi;
	if
	:: wa[1] == row_att -> dead_man(1)
	:: else
	fi;
#endif
	skip
}

/* A restart, an apply_receipts(): attempt and status, no lease. */
inline apply_receipt(h)
{
	if
	:: EVIDENCE(h) && RC(h, row_att) == R_ID ->
		row_st = SUBMITTED; row_id = true; parked = false
	:: EVIDENCE(h) && RC(h, row_att) != R_ID ->
		row_st = FAILED; row_mark = false; row_key = false;
		parked = false
#ifdef UNSENT_PROVES
	:: !EVIDENCE(h) && RC(h, row_att) == R_UNSENT && row_mark &&
	    !row_id && row_st == RUNNING && !LOCKED(h, row_att) ->
		row_st = PENDING; row_mark = false
#endif
	:: else
	fi
}

/* ---- the database ------------------------------------------------------- */

#ifdef NO_LAW8
#define TOKEN(t)	true
#else
#define TOKEN(t)	(row_tok == (t))
#endif
#ifdef NO_LAW2
#define CAS(t)		(row_st == RUNNING)
#else
#define CAS(t)		(row_st == RUNNING && row_tok == (t) && row_live &&	\
	!row_mark)
#endif

inline execute(op, t, ret, h)
{
	if
	:: op == Q_MARK && CAS(t) ->
		row_mark = true; row_key = HAS_KEY;
		prov_key[row_att - 1] = HAS_KEY;
		may[h] = (wt[h] == t);
		ret = Q_WON
	:: op == Q_RECORD && TOKEN(t) && row_st == RUNNING ->
		row_st = SUBMITTED; row_id = true; row_mark = true;
		ret = Q_WON
	:: op == Q_RELEASE && TOKEN(t) && row_st == RUNNING && !row_mark ->
		row_st = PENDING; row_live = false; AGAIN; ret = Q_WON
	:: op == Q_UNMARK && TOKEN(t) && row_st == RUNNING ->
		row_st = PENDING; row_mark = false; row_key = false;
		row_live = false; AGAIN; ret = Q_WON
	:: op == Q_PARK && TOKEN(t) && row_mark &&
	    (row_st == RUNNING || row_st == SUBMITTED) ->
		row_st = UNKNOWN; parked = true; row_live = false;
		ret = Q_WON;
#ifdef ONE_HOST
		assert(excuse)	/* dead supervisors alone park nothing */
#endif
	:: op == Q_REJECT && TOKEN(t) && row_st == RUNNING ->
		row_st = FAILED; row_mark = false; row_key = false;
		row_live = false; ret = Q_WON
	:: else -> ret = Q_LOST
	fi
}

#define PENDING_Q(h)	(q[h] >= Q_MARK && q[h] <= Q_REJECT)

proctype Database(byte h)
{
	byte x;
end:	do
	:: d_step { PENDING_Q(h) -> execute(q[h], st[h], x, h); q[h] = x; x = 0 }
	/* committed or not, the answer is lost */
	:: d_step { PENDING_Q(h) && losses > 0 -> losses--;
		execute(q[h], st[h], x, h); q[h] = Q_GONE; x = 0; EXCUSE }
	/* or it is committed later than its client thinks */
	:: d_step { PENDING_Q(h) && losses > 0 && g[h] == Q_NONE -> losses--;
		g[h] = q[h]; gt[h] = st[h]; q[h] = Q_GONE; EXCUSE }
	:: d_step { g[h] != Q_NONE -> execute(g[h], gt[h], x, h);
		g[h] = Q_NONE; gt[h] = 0; x = 0 }
	:: d_step { g[h] != Q_NONE -> g[h] = Q_NONE; gt[h] = 0 }
	od
}

/* ---- supervisor --------------------------------------------------------- */

proctype Super(byte h)
{
end:	do
	/* start: receipts, then the leases of the former life, then claims */
	:: d_step { s[h] == S_DOWN ->
		apply_receipt(h);
		if
		:: row_st == RUNNING && row_owner == h -> row_live = false
		:: else
		fi;
		super_idle(h) }
	:: d_step { s[h] == S_IDLE && EVIDENCE(h) ->
		printf("receipt applied\n"); apply_receipt(h) }

	:: d_step { s[h] == S_IDLE && CLAIMABLE(h) ->
		printf("super.claimed host %d\n", h);
		sx[h] = (row_st == PENDING -> X_FRESH : (!row_mark ->
		    X_UNMARKED : (row_key -> X_KEY : X_MARKED)));
		row_st = RUNNING; row_live = true; row_owner = h;
#ifndef ONLY_MONEY
		assert(!parked);	/* only a person or evidence moves it */
#endif
		fresh_token(); st[h] = row_tok; s[h] = S_CLAIMED }
	/* committed, the answer is lost: nobody knows that it is ours */
	:: d_step { s[h] == S_IDLE && CLAIMABLE(h) && losses > 0 -> losses--;
		fresh_token();
		row_st = RUNNING; row_live = true; row_owner = h }
#ifdef NO_LAW4
	/* a job that tries parked tasks again */
	:: d_step { s[h] == S_IDLE && row_st == UNKNOWN && MAY_DECIDE &&
	    row_att == 1 ->
		long_wait(); row_st = PENDING; row_mark = false; row_id = false;
		row_key = false; row_att++ }
#endif

	/* what the claim means: the row decides */
	:: d_step { s[h] == S_CLAIMED && sx[h] == X_FRESH && w[h] == W_NONE ->
		printf("super.assigned host %d\n", h);
		w[h] = W_ASSIGNED; wt[h] = st[h]; wa[h] = row_att;
		conn[h] = true; s[h] = S_SUBMIT }
#ifdef NO_LAW3
	:: d_step { s[h] == S_CLAIMED && sx[h] != X_FRESH ->
		statement(h, Q_UNMARK); s[h] = S_WRITE }
#else
	:: d_step { s[h] == S_CLAIMED && sx[h] == X_UNMARKED ->
		statement(h, Q_RELEASE); s[h] = S_WRITE }
#ifdef NO_LOCK
	:: d_step { (s[h] == S_CLAIMED || s[h] == S_ORPHAN) &&
	    sx[h] >= X_MARKED && RC(h, row_att) != R_ID &&
	    !LOST_LEASE(h) && w[h] != W_REPORTED ->
		statement(h, Q_PARK); s[h] = S_WRITE }
#endif
	:: d_step { s[h] == S_CLAIMED && sx[h] >= X_MARKED &&
	    LOCKED(h, row_att) && row_tok == st[h] -> s[h] = S_ORPHAN }
	/* evidence goes on the row first, then the lease is given back */
	:: d_step { (s[h] == S_CLAIMED || s[h] == S_ORPHAN) &&
	    sx[h] >= X_MARKED && EVIDENCE(h) && row_tok == st[h] ->
		apply_receipt(h); row_live = false; super_idle(h) }
	:: d_step { (s[h] == S_CLAIMED || s[h] == S_ORPHAN) &&
	    !LOCKED(h, row_att) && !EVIDENCE(h) && row_tok == st[h] &&
	    row_st == RUNNING && sx[h] == X_MARKED ->
#ifdef LOOKUP
		s[h] = S_ORPHAN + 100 }	/* asks the provider */
#else
		statement(h, Q_PARK); s[h] = S_WRITE }
#endif
#ifdef LOOKUP
	:: d_step { s[h] == S_ORPHAN + 100 && billed[row_att - 1] &&
	    row_tok == st[h] && row_st == RUNNING ->
		row_st = SUBMITTED; row_id = true; row_live = false;
		super_idle(h) }
	/* a miss is never evidence: it may be listed later */
	:: d_step { s[h] == S_ORPHAN + 100 ->
#ifdef MISS_PROVES
		statement(h, Q_UNMARK); s[h] = S_WRITE }
#else
		statement(h, Q_PARK); s[h] = S_WRITE }
#endif
#endif
	:: d_step { (s[h] == S_CLAIMED || s[h] == S_ORPHAN) &&
	    !LOCKED(h, row_att) && !EVIDENCE(h) && row_tok == st[h] &&
	    row_st == RUNNING && row_live && sx[h] == X_KEY &&
	    w[h] == W_NONE ->
		w[h] = W_ASSIGNED; wt[h] = st[h]; wa[h] = row_att;
		wresend[h] = true; conn[h] = true; s[h] = S_SENT }
#endif

	/* the lease is lost: who has not sent is killed, who has goes on */
	:: d_step { st[h] != 0 && LOST_LEASE(h) && s[h] >= S_CLAIMED &&
	    s[h] <= S_SUBMIT ->
		if
		:: s[h] == S_SUBMIT && w[h] != W_NONE -> worker_gone(h)
		:: else
		fi;
		super_idle(h) }
	:: d_step { s[h] == S_SENT && LOST_LEASE(h) && w[h] >= W_SENT ->
		conn[h] = false; super_idle(h) }
	:: d_step { s[h] == S_SENT && LOST_LEASE(h) && w[h] != W_NONE &&
	    w[h] < W_SENT ->
		worker_gone(h); EXCUSE; super_idle(h) }

	/* the mark */
	:: d_step { s[h] == S_MARKING && q[h] == Q_WON ->
		printf("super.marked host %d\n", h);
		q[h] = Q_NONE; qop[h] = Q_NONE; s[h] = S_MARKED }
	:: d_step { s[h] == S_MARKED && w[h] != W_NONE ->
		mbox[h] = M_MARKED; s[h] = S_SENT }
	/* it died before it was told: nothing can have left */
	:: d_step { s[h] == S_MARKED && w[h] == W_NONE ->
		statement(h, Q_UNMARK); s[h] = S_WRITE }
	:: d_step { s[h] == S_MARKING && (q[h] == Q_LOST || q[h] == Q_GONE) &&
	    w[h] != W_NONE ->
		q[h] = Q_NONE; qop[h] = Q_NONE; mbox[h] = M_REFUSED;
		s[h] = S_SENT }
	:: d_step { s[h] == S_MARKING && (q[h] == Q_LOST || q[h] == Q_GONE) &&
	    w[h] == W_NONE ->
		q[h] = Q_NONE; statement(h, Q_UNMARK); s[h] = S_WRITE }

	/* the worker is dead: its lease ends now */
	:: d_step { (s[h] == S_SUBMIT || s[h] == S_SENT) && w[h] == W_NONE ->
		if
		:: row_tok == st[h] -> row_live = false
		:: else
		fi;
		super_idle(h) }

	/* an ending is written */
	:: d_step { s[h] == S_WRITE && (q[h] == Q_WON || q[h] == Q_LOST) ->
		if
		:: qop[h] == Q_RECORD && q[h] == Q_WON ->
			printf("super.recorded host %d\n", h)
		:: else -> printf("ending written by host %d\n", h)
		fi;
		q[h] = Q_NONE;
		if
		:: w[h] == W_REPORTED && conn[h] ->
			printf("submit.stored host %d\n", h); worker_gone(h)
		:: else
		fi;
		super_idle(h) }
	:: d_step { s[h] == S_WRITE && q[h] == Q_GONE ->
		q[h] = qop[h] }
	od
}

/* ---- submit worker ------------------------------------------------------ */

inline send(h)
{
	printf("submit.sent host %d attempt %d\n", h, wa[h]);
#if !defined(NO_LAW1) && !defined(NO_LAW2) && !defined(NO_LATCH)
	assert(may[h] || wresend[h]);	/* one mark, one send */
#endif
	may[h] = false; net[h] = N_OUT; w[h] = W_SENT
}

inline report(h, op)
{
	if
	:: conn[h] && s[h] == S_SENT || (conn[h] && s[h] == S_SUBMIT) ->
		printf("super.recording host %d\n", h);
		w[h] = W_REPORTED; statement(h, op); s[h] = S_WRITE
	:: else -> worker_gone(h)	/* the receipt is there */
	fi
}

proctype Worker(byte h)
{
end:	do
	/* end-of-file: who has not sent leaves */
	:: d_step { w[h] >= W_ASSIGNED && w[h] <= W_READY && !conn[h] ->
		if
		:: w[h] >= W_INTENT && !wresend[h] -> RC(h, wa[h]) = R_UNSENT
		:: else
		fi;
		worker_gone(h) }
	:: d_step { (w[h] == W_MARKING && !conn[h] && mbox[h] == 0 ||
	    (w[h] == W_MARKED && !conn[h])) ->
		RC(h, wa[h]) = R_UNSENT; EXCUSE; worker_gone(h) }

	:: d_step { w[h] == W_REPORTED && !conn[h] -> worker_gone(h) }

	:: d_step { w[h] == W_ASSIGNED && conn[h] ->
		printf("submit.intent host %d\n", h);
		if
		:: RC(h, wa[h]) == R_ID -> skip	/* stays the evidence */
		:: else -> RC(h, wa[h]) = R_INTENT
		fi;
		w[h] = W_INTENT }
#ifdef NO_READY
	/* asks for the mark first, connects after */
	:: d_step { w[h] == W_INTENT && conn[h] && s[h] == S_SUBMIT ->
		w[h] = W_MARKING; s[h] = S_MARKING; statement(h, Q_MARK);
		assert(ready[h]) }
#endif
	:: d_step { w[h] == W_INTENT && conn[h] ->
		printf("submit.before_mark host %d\n", h);
		ready[h] = true; w[h] = W_READY }
	/* no connection: unsent, never marked */
	:: d_step { w[h] == W_INTENT && conn[h] && losses > 0 -> losses--;
		if
		:: wresend[h] -> worker_gone(h)	/* tried again later */
		:: else -> RC(h, wa[h]) = R_UNSENT;
			report(h, Q_UNMARK)
		fi }
#ifdef NO_LAW1
	/* the mark is written with the id, after the send */
	:: d_step { w[h] == W_READY && conn[h] && s[h] == S_SUBMIT ->
		s[h] = S_SENT; send(h) }
#else
	:: d_step { w[h] == W_READY && conn[h] && s[h] == S_SUBMIT ->
		printf("submit.marking host %d, super.marking\n", h);
		assert(ready[h]);	/* nothing is between mark and send */
		w[h] = W_MARKING; statement(h, Q_MARK); s[h] = S_MARKING }
#endif
	:: d_step { w[h] == W_READY && wresend[h] && conn[h] -> send(h) }
	:: d_step { w[h] == W_MARKING && mbox[h] == M_MARKED ->
		printf("submit.marked host %d\n", h);
		mbox[h] = 0; w[h] = W_MARKED }
	:: d_step { w[h] == W_MARKING && mbox[h] == M_REFUSED ->
		mbox[h] = 0; RC(h, wa[h]) = R_UNSENT; report(h, Q_UNMARK) }
	:: d_step { w[h] == W_MARKED -> send(h) }
#ifdef NO_LATCH
	/* libcurl's second POST, when the connection dies */
	:: d_step { w[h] == W_SENT && net[h] == N_NOTHING -> send(h) }
#endif
	:: d_step { w[h] == W_SENT && net[h] >= N_ID ->
		printf("submit.answered host %d\n", h);
		wr[h] = (net[h] == N_ID -> R_ID : (net[h] == N_REJECTED ->
		    R_REJECTED : R_UNKNOWN));
		net[h] = N_NONE; w[h] = W_ANSWERED }
	:: d_step { w[h] == W_ANSWERED ->
		printf("submit.receipt host %d\n", h);
		if
		:: RC(h, wa[h]) != R_ID ->
			RC(h, wa[h]) = wr[h];
			held[wa[h] - 1] = held[wa[h] - 1] || wr[h] == R_ID
		:: else
		fi;
		w[h] = W_RECEIPT }
	:: d_step { w[h] == W_RECEIPT && wr[h] == R_ID ->
#ifdef NO_LAW7
		/* filed before the row has it */
		if
		:: conn[h] && s[h] == S_SENT -> RC(h, wa[h]) = R_NONE
		:: else
		fi;
#endif
		printf("submit.reported host %d\n", h); report(h, Q_RECORD) }
	:: d_step { w[h] == W_RECEIPT && wr[h] == R_REJECTED && !wresend[h] ->
		report(h, Q_REJECT) }
	/* the refusal of a second send proves nothing about the first */
	:: d_step { w[h] == W_RECEIPT && (wr[h] == R_UNKNOWN ||
	    (wr[h] == R_REJECTED && wresend[h])) -> report(h, Q_PARK) }
	od
}

/* ---- provider, person, and what goes wrong ------------------------------ */

inline charge(a)
{
	if
#ifdef IDEM
	:: billed[(a) - 1] && prov_key[(a) - 1] -> skip	/* the same answer again */
#endif
	:: else ->
		printf("charge for attempt %d\n", a);
		billed[(a) - 1] = true; since++;
		assert(since <= 1)
	fi
}

proctype Provider(byte h)
{
end:	do
	:: d_step { net[h] == N_OUT -> net[h] = N_ID; charge(wa[h]) }
	:: d_step { net[h] == N_OUT && PLAIN -> net[h] = N_REJECTED }
	:: d_step { net[h] == N_OUT && losses > 0 -> losses--;
		net[h] = N_NOTHING; EXCUSE }
	:: d_step { net[h] == N_ID && losses > 0 -> losses--;
		net[h] = N_NOTHING; EXCUSE }
	/* h is the attempt here: a dead worker's request still arrives */
	:: d_step { wire[h] > 0 -> wire[h]--; charge(h + 1) }
	:: d_step { wire[h] > 0 && PLAIN -> wire[h]-- }
	od
}

proctype Person()
{
end:	do
	:: d_step { row_st == UNKNOWN && humans > 0 && MAY_DECIDE ->
		printf("person: requeue\n");
		long_wait(); fresh_token();
		humans--; row_att++; row_st = PENDING; row_mark = false;
		row_id = false; row_key = false; since = 0;
		parked = false }
	:: d_step { row_st == UNKNOWN && humans > 0 && billed[row_att - 1] ->
		printf("person: adopt\n");
		fresh_token(); humans--; row_st = SUBMITTED;
		row_id = true; parked = false }
	od
}

proctype Trouble(byte h)
{
end:	do
	/* (of an idle one it changes nothing) */
	:: d_step { crashes > 0 && s[h] != S_DOWN &&
	    (s[h] != S_IDLE || w[h] != W_NONE) &&
	    (!PENDING_Q(h) || g[h] == Q_NONE) -> crashes--;
		printf("supervisor of host %d dies\n", h);
#ifdef POINTS
		ko = w[h];
		ks = (s[h] == S_SUBMIT && w[h] != W_ASSIGNED -> 0 :
		    (s[h] == S_WRITE && qop[h] != Q_RECORD -> 0 :
		    (s[h] == S_WRITE && q[h] == Q_WON -> S_WRITE + 1 : s[h])));
#endif
		if
		:: PENDING_Q(h) -> g[h] = q[h]; gt[h] = st[h]
		:: else
		fi;
		if
		:: s[h] == S_MARKING || s[h] == S_MARKED ||
		    w[h] == W_MARKING || wresend[h] -> EXCUSE
		:: s[h] == S_WRITE && qop[h] != Q_RECORD -> EXCUSE
		:: else
		fi;
		q[h] = Q_NONE; conn[h] = false; super_idle(h); s[h] = S_DOWN }
	:: d_step { crashes > 0 && w[h] != W_NONE -> crashes--;
		printf("worker of host %d dies\n", h);
#ifdef POINTS
		kw = w[h];
#endif
		EXCUSE; worker_gone(h) }
	/* the holder is paused or cut off, or nobody knows that it holds */
	:: d_step { row_owner == h && row_st == RUNNING && row_live &&
	    (st[h] != row_tok || pauses > 0) ->
		if
		:: st[h] == row_tok -> pauses--; EXCUSE
		:: else
		fi;
		lease_ends() }
#ifdef IDEM
	/* valid a lease and a request longer with the provider than for us */
	:: d_step { h == 0 && row_key -> row_key = false }
	:: d_step { h == 0 && prov_key[row_att - 1] && !row_key && row_mark &&
	    MARGIN -> long_wait(); prov_key[row_att - 1] = false }
#endif
	od
}

#ifdef POINTS
/*
 * A row of the page as a number: 1 requeue, 2 park, 4 poll (the id came from
 * that try), 8 no charge, 16 one charge.
 */
#define ROW(at, v)							\
	assert(!(at) || (since == 0 && ((v) & 8)) ||			\
	    (since == 1 && ((v) & 16)));				\
	assert(!(at) || (row_st == UNKNOWN && ((v) & 2)) ||		\
	    (row_st == SUBMITTED && again && ((v) & 1)) ||		\
	    (row_st == SUBMITTED && !again && ((v) & 4)))

inline points()
{
	ROW(kw == W_ASSIGNED, K_submit_assigned);
	ROW(kw == W_INTENT, K_submit_intent);
	ROW(kw == W_READY, K_submit_before_mark);
	ROW(kw == W_MARKING, K_submit_marking);
	ROW(kw == W_MARKED, K_submit_marked);
	ROW(kw == W_SENT, K_submit_sent);
	ROW(kw == W_ANSWERED, K_submit_answered);
	ROW(kw == W_RECEIPT, K_submit_receipt);
	ROW(kw == W_REPORTED, K_submit_reported);
	ROW(ks == S_CLAIMED, K_super_claimed);
	ROW(ks == S_SUBMIT, K_super_assigned);
	ROW(ks == S_MARKING, K_super_marking);
	ROW(ks == S_MARKED, K_super_marked);
	ROW(ks == S_WRITE, K_super_recording);
	ROW(ks == S_WRITE + 1, K_super_recorded);
	ROW(ko == W_ASSIGNED, O_submit_assigned);
	ROW(ko == W_INTENT, O_submit_intent);
	ROW(ko == W_READY, O_submit_before_mark);
	ROW(ko == W_MARKING, O_submit_marking);
	ROW(ko == W_MARKED, O_submit_marked);
	ROW(ko == W_SENT, O_submit_sent);
	ROW(ko == W_ANSWERED, O_submit_answered);
	ROW(ko == W_RECEIPT, O_submit_receipt);
	ROW(ko == W_REPORTED, O_submit_reported)
}
#endif

/* Whatever happened, when nothing more can: */
proctype End()
{
	timeout ->
#ifdef POINTS
	points();
#endif
	/* the task ended */
	assert(row_st == SUBMITTED || row_st == FAILED ||
	    (row_st == UNKNOWN && humans == 0));
	/* an id that a receipt holds is on the row */
	assert(!held[row_att - 1] || row_id)
}

init
{
	atomic {
		run Super(0); run Worker(0); run Database(0);
		run Trouble(0); run Provider(0); run Provider(1);
#ifndef ONE_HOST
		run Super(1); run Worker(1); run Database(1);
		run Trouble(1);
#endif
		run Person(); run End()
	}
}
