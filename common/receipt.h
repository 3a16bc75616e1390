/*
 * receipt.h - the local, fsynced file that says what one attempt sent and got.
 *
 * One file per attempt, JSON lines that a person can read:
 *
 *   {"v":1,"event":"intent","task":42,"attempt":1,"token":7,"own_id":"...",
 *    "kind":"image","provider":"fal","system":"7312...","timeline":1,
 *    "host":"...","at":"2026-01-31T12:00:00.123Z"}
 *   {"v":1,"event":"outcome","class":"submitted","request_id":"...",...}
 *
 * Open attempts live in <state_dir>/receipts/open/<task>.<attempt>; once the
 * database has acknowledged the outcome the file moves to
 * <state_dir>/receipts/<YYYY-MM-DD>/, so a start reads only what is open.
 * The worker holds a lock (fcntl F_OFD_SETLK, which unlike flock(2) can be
 * tested without being taken) on the file for as long as it lives.
 * A torn last line is normal (the process died in the write) and is ignored;
 * a file that is foreign or damaged otherwise is reported and set aside as
 * <state_dir>/receipts/damaged/<name>, never guessed at.
 */
#ifndef PAYONCE_RECEIPT_H
#define PAYONCE_RECEIPT_H

#include <stdbool.h>
#include <stdint.h>

enum receipt_class {
	RECEIPT_INTENT,		/* no outcome in the file */
	RECEIPT_UNSENT,		/* proof that no byte of the request left */
	RECEIPT_SUBMITTED,	/* request_id is set */
	RECEIPT_RESULT,		/* a sync provider's answer: result is set */
	RECEIPT_REJECTED,	/* the provider refused: nothing is billed */
	RECEIPT_THROTTLED,
	RECEIPT_ACCOUNT,
	RECEIPT_UNKNOWN,	/* sent, no usable answer */
	RECEIPT_CLASS_MAX
};

/* All strings may be NULL; receipt_facts_done() frees them. */
struct receipt_facts {
	int64_t			 task;
	int			 attempt;
	int64_t			 token;
	char			*own_id;
	char			*kind;
	char			*provider;
	char			*system_id;	/* the database's */
	int64_t			 timeline;
	char			*host;
	enum receipt_class	 class;
	char			*request_id;
	char			*poll_url;
	char			*result_url;
	char			*cancel_url;
	char			*result;	/* JSON text */
	char			*cost;		/* decimal text */
	char			*currency;
	char			*reason;
	char			*detail;
	int			 http_status;	/* 0: none */
};

struct receipt;		/* an open, locked file of a living worker */

/* receipt_dir.c */

/*
 * receipt_prepare() makes the folders below state_dir and, when called by
 * root with a user, hands them to that user: a dropped worker writes there.
 * 0, PO_ENOENT (no such user) or PO_EIO.
 */
int	receipt_prepare(const char *state_dir, const char *user);

/* receipt.c (writing side: worker) */

/*
 * receipt_open() makes the file with its intent line; file and folder are
 * fsynced and the lock is held when it returns 0.  A file that an earlier,
 * unmarked try of the same attempt left (only intents, unsent, rejected,
 * throttled or account lines) is taken over and gets one more intent line.
 * PO_EEXIST: the file holds evidence of a request that left (submitted,
 * result, unknown, or an intent under another database that no outcome
 * follows), or it is damaged and might: do not send.  PO_EBUSY: another living
 * worker holds it: do not send.  PO_EIO: the disk refused, errno says why: do
 * not send.  PO_ENOMEM.
 */
int	receipt_open(const char *state_dir, const struct receipt_facts *intent,
	    struct receipt **ret);
/*
 * receipt_reopen() is for a row that allows a resend with the same key, or a
 * look-up: a lone intent or an unknown outcome is no obstacle there.
 */
int	receipt_reopen(const char *state_dir,
	    const struct receipt_facts *intent, struct receipt **ret);
/*
 * receipt_write_outcome() appends the outcome and fdatasyncs.  PO_EIO: keep
 * the answer in memory and call again later; nothing half-written stays.
 * PO_EINVAL: the class lacks what it needs (submitted: request_id, result:
 * result), or is RECEIPT_INTENT.
 */
int	receipt_write_outcome(struct receipt *, const struct receipt_facts *);
/*
 * receipt_close() unlocks and closes.  With is_stored the file moves to its
 * day folder: the database has the outcome.
 */
void	receipt_close(struct receipt **, bool is_stored);

/* receipt_read.c (reading side: supervisor) */

/*
 * receipt_read() fills facts from <state_dir>/receipts/open.  0, PO_ENOENT
 * (also: a file without one whole line, whose worker died before it could
 * ask for a mark), PO_EBUSY (its worker is alive), PO_EINVAL (damaged; set
 * aside), PO_EIO, PO_ENOMEM.
 */
int	receipt_read(const char *state_dir, int64_t task, int attempt,
	    struct receipt_facts *ret);
/*
 * receipt_scan() calls fn for each open receipt by task and attempt, PO_EBUSY
 * ones with is_locked and only task and attempt filled.  fn returns non-zero
 * to stop, which receipt_scan() then returns.  Damaged files are set aside.
 * fn may acknowledge.
 */
int	receipt_scan(const char *state_dir,
	    int (*fn)(const struct receipt_facts *, bool is_locked, void *),
	    void *arg);
/*
 * receipt_scan_all() does the same for what was acknowledged too, within its
 * retention: for a database that may have forgotten (DESIGN, 7).  Of several
 * files of one attempt it takes the newest.
 */
int	receipt_scan_all(const char *state_dir,
	    int (*fn)(const struct receipt_facts *, bool is_locked, void *),
	    void *arg);
/* receipt_scan_damaged() calls fn with each path that was set aside. */
int	receipt_scan_damaged(const char *state_dir,
	    int (*fn)(const char *path, void *), void *arg);
/*
 * receipt_acknowledge() moves an open file to today's folder (UTC).  0,
 * PO_ENOENT, PO_EBUSY (a living worker holds it, and moves it itself) or
 * PO_EIO.
 */
int	receipt_acknowledge(const char *state_dir, int64_t task, int attempt);
/* receipt_clean() removes day folders older than retention_s. */
int	receipt_clean(const char *state_dir, int64_t retention_s);

/* receipt_line.c */
void	receipt_facts_done(struct receipt_facts *);
const char	*receipt_class_name(enum receipt_class);

#endif
