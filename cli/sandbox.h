/*
 * sandbox.h - payonce sandbox: a database, a provider and a supervisor under
 * one folder.
 *
 * What lies in the folder:
 *
 *   payonce.conf      for -c, written anew at each start
 *   pg/               the PostgreSQL cluster, made once
 *   run/              its socket, payonced's pid file and socket
 *   state/            receipts and artifacts
 *   secrets/          the mock provider's key
 *   log/              one file per program
 *   ledger.jsonl      what the mock provider charged
 *   mock.port         its port: the same at the next start
 */
#ifndef PAYONCE_SANDBOX_H
#define PAYONCE_SANDBOX_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/mono.h"

struct cli;

/* Where the programs are; sandbox_place.c owns the strings. */
struct place {
	char	*command;	/* this program, as a person calls it */
	char	*payonced;
	char	*worker;
	char	*mock;
	char	*providers;	/* folder of fal.conf, replicate.conf */
	char	*render;	/* the example program; NULL: not found */
	char	*pg_bin;	/* folder of initdb and postgres */
};

enum child_index {
	CHILD_POSTGRES,
	CHILD_MOCK,
	CHILD_SUPERVISOR,
	CHILD_MAX
};

struct child {
	const char	*name;		/* for people, and its log file */
	int		 stop_signal;
	char		**argv;		/* owned; NULL-terminated */
	pid_t		 pid;		/* 0: does not run */
	struct mono	 started_at;
	struct mono	 start_at;	/* when it starts again; unset: not */
	int		 backoff_ms;
	unsigned int	 restarts;
};

struct sandbox {
	struct cli	*cli;
	char		*dir;		/* absolute */
	char		*conf;		/* DIR/payonce.conf */
	char		*conninfo;
	char		*user;		/* what root became, or NULL */
	int		 lock_fd;
	int		 signal_fd;
	int		 port;		/* of the mock; 0: any */
	int		 latency_ms;	/* of a generation */
	bool		 is_quiet;	/* the demo speaks instead */
	struct place	 place;
	struct child	 children[CHILD_MAX];
};

/* sandbox_place.c: 0, or an exit code after saying what is missing */
int	place_find(const struct cli *, struct place *);
void	place_done(struct place *);

/* sandbox_child.c */
int	child_signals(struct sandbox *);	/* block, signal_fd */
/* child_start() takes argv, which child_done() frees. */
int	child_start(struct sandbox *, enum child_index, char **argv);
void	child_done(struct child *);
/* child_run() runs a program to its end; its wait status, or -1. */
int	child_run(const struct sandbox *, const char *log_name, char **argv);
/*
 * child_wait() sleeps at most timeout_ms, reaps, and starts again what is
 * due.  False: SIGINT or SIGTERM came.  *ret_other gets a foreign child's pid
 * and wait status (the demo) when ret_other is not NULL.
 */
struct child_end {
	pid_t	pid;		/* 0: none */
	int	status;
};
bool	child_wait(struct sandbox *, int timeout_ms, struct child_end *);
void	child_stop_all(struct sandbox *);
/* child_log_tail() prints the last lines of a program's log to stderr. */
void	child_log_tail(const struct sandbox *, const char *log_name);

/* sandbox_files.c: 0 or an exit code */
int	files_prepare(struct sandbox *, const char *dir);
int	files_write_conf(struct sandbox *);
int	files_read_port(const struct sandbox *, int *ret);
char	*files_path(const struct sandbox *, const char *name);

/* sandbox_pg.c: 0 or an exit code */
int	pg_make_cluster(struct sandbox *);
int	pg_start(struct sandbox *);

/* demo.c */

/* demo_run() is the demo's process; its exit code. */
int	demo_run(struct sandbox *, int64_t tasks);

#endif
