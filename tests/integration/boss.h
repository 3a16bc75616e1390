/*
 * boss.h - a test that plays the supervisor of one real payonce-worker.
 *
 * All functions fail the test where they say nothing else.  The program is
 * $PAYONCE_WORKER, or ./payonce-worker (make check runs in the top of the
 * build tree).
 */
#ifndef PAYONCE_TESTS_BOSS_H
#define PAYONCE_TESTS_BOSS_H

#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/receipt.h"
#include "proto/proto.h"

#define BOSS_SECRET	"k3y-that-nobody-may-see"
#define BOSS_KIND	"image"

struct boss {
	char		 dir[64];
	char		 state_dir[96];
	char		 secret[96];	/* file */
	char		 log[96];	/* file: the worker's stderr */
	pid_t		 pid;		/* 0: not running */
	struct chan	*chan;		/* NULL: the supervisor is "dead" */
	enum worker_role role;
	uint64_t	 lease_ms;
	uint64_t	 timeout_ms;
	uint64_t	 max_artifact;
	const char	*script;	/* exec: sh -c script */
	unsigned int	 beats;		/* seen so far */
	unsigned int	 notes;		/* PROGRESS seen so far */
	char		 note[256];	/* of the last one */
	int64_t		 permille;	/* of the last one that had it */
};

/* boss.c */

/* boss_init() makes the folders; boss_done() kills what still lives. */
void	boss_init(struct boss *, enum worker_role);
void	boss_done(struct boss *);
void	boss_start(struct boss *);		/* fork and exec */
/* boss_setup() sends SETUP for a provider at 127.0.0.1:port, waits for HELLO */
void	boss_setup(struct boss *, int port);
/* boss_desc() is what boss_setup() sends: fal's shape, fast polls. */
void	boss_desc(int port, struct buf *);
/* boss_begin() is all of init, start and setup. */
void	boss_begin(struct boss *, enum worker_role, int port);

void	boss_flush(struct boss *);
/* boss_expect() waits for that message; beats and progress are only counted. */
void	boss_expect(struct boss *, enum msg_type, struct frame *ret);
void	boss_expect_beat(struct boss *);
/* boss_die() closes the channel: the supervisor is gone. */
void	boss_die(struct boss *);
/* boss_wait() is the exit status of the worker (as of waitpid). */
int	boss_wait(struct boss *);
void	boss_expect_exit(struct boss *, int code);

void	boss_assign(struct boss *, uint64_t task, enum assign_mode,
	    const char *input);
void	boss_marked(struct boss *, uint64_t task);
void	boss_stored(struct boss *, uint64_t task, enum msg_type what,
	    bool is_final);
void	boss_cancel(struct boss *, uint64_t task, const char *reason);
void	boss_drain(struct boss *, uint64_t stop_ms);

/* boss_receipt() reads the open receipt once its worker has let go. */
void	boss_receipt(struct boss *, int64_t task, struct receipt_facts *ret);
bool	boss_has_receipt(struct boss *, int64_t task);
bool	boss_log_has(struct boss *, const char *text);
bool	boss_is(struct mp_bytes, const char *);

#endif
