/*
 * rig.h - one whole payonce for one test: a fresh migrated database, a mock
 * provider with a billing ledger, payonced and its workers, under one
 * temporary folder.
 *
 * A rig fails its test by a message, the end of payonced's log and exit(1),
 * so it serves Check programs (fork mode) and plain programs alike.  Closing
 * a rig checks what must hold after every test: the laws of the ledger, no
 * process left behind, no warning that the test did not expect, no report of
 * a sanitizer.
 *
 * The process that opens a rig becomes a child subreaper, so whatever the
 * supervisor leaves when it is killed is found again.
 */
#ifndef PAYONCE_TEST_RIG_H
#define PAYONCE_TEST_RIG_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#define RIG_HOSTS_MAX	3	/* supervisors beside each other */
#define RIG_ALLOW_MAX	24

/* One supervisor: its own state folder, log and configuration file. */
struct rig_host {
	pid_t	 pid;		/* 0: not running */
	int	 starts;
	char	*conf;
	char	*log;
	char	*state_dir;
	char	*run_dir;
};

struct rig {
	char		*dir;
	char		*conninfo;	/* as an operator of the test's */
	PGconn		*db;
	char		*inject_dir;
	char		*work_dir;	/* programs of tests may write here */
	char		*ledger;	/* file */
	pid_t		 mock_pid;
	int		 mock_port;
	struct rig_host	 hosts[RIG_HOSTS_MAX];

	/* what the configuration says; set before rig_start() */
	int		 lease_s;
	int		 stop_timeout_s;
	const char	*database;	/* NULL: conninfo */
	const char	*worker;	/* NULL: the one that was built */
	const char	*kinds;		/* NULL: the default kinds */
	const char	*fal_base;	/* NULL: the mock itself */
	const char	*fal_poll;	/* NULL: quick polls */
	const char	*fal_more;	/* more overrides of provider fal */
	int		 latency_ms;	/* of a generation, by default */
	bool		 lenient_log;	/* warnings are expected, any number */
	const char	*allow[RIG_ALLOW_MAX];
	size_t		 nallow;
};

/* rig.c: life */

/* main() calls pgtest_start() (pgtest.h) before the first rig. */
struct rig	*rig_open(void);
/* rig_close() stops everything, checks everything, frees everything. */
void		 rig_close(struct rig **);
/* rig_fail() ends the test; use RIG_FAIL. */
void		 rig_fail(struct rig *, const char *file, int line,
		    const char *fmt, ...)
		    __attribute__((format(printf, 4, 5), noreturn));
#define RIG_FAIL(r, ...)	rig_fail(r, __FILE__, __LINE__, __VA_ARGS__)
#define RIG_CHECK(r, cond)						\
	do {								\
		if (!(cond))						\
			RIG_FAIL(r, "not true: %s", #cond);		\
	} while (0)
/* rig_printf() is text that lives as long as the test process. */
char		*rig_printf(const char *fmt, ...)
		    __attribute__((format(printf, 1, 2)));
const char	*rig_srcdir(void);
const char	*rig_builddir(void);

/* rig_conf.c */

/* rig_write_conf() writes the configuration of one host anew. */
void		 rig_write_conf(struct rig *, int host);
/* rig_write_file() replaces a file (temporary name, then rename). */
void		 rig_write_file(struct rig *, const char *path,
		    const char *text, mode_t mode);

/* rig_super.c: payonced */

/* rig_start() starts host 0 and waits until it serves. */
void		 rig_start(struct rig *);
void		 rig_start_host(struct rig *, int host);
/* rig_spawn_host() only starts; rig_wait_ready() waits. */
void		 rig_spawn_host(struct rig *, int host);
void		 rig_wait_ready(struct rig *, int host, int timeout_ms);
/* rig_stop() sends SIGTERM and demands exit 0 in time. */
void		 rig_stop(struct rig *);
void		 rig_stop_host(struct rig *, int host, int timeout_ms);
/* rig_kill() is SIGKILL; workers live on as long as they like. */
void		 rig_kill(struct rig *);
/* rig_wait_exit() returns the wait status of a supervisor that ends. */
int		 rig_wait_exit(struct rig *, int host, int timeout_ms);
/* rig_has_exited() reaps without waiting. */
bool		 rig_has_exited(struct rig *, int host, int *ret_status);
void		 rig_allow(struct rig *, const char *regex);
void		 rig_wait_log(struct rig *, int timeout_ms, const char *regex);
int		 rig_count_log(struct rig *, const char *regex);
void		 rig_print_log(struct rig *, int host, int lines);
/* rig_check_log() fails on a line that no test expected. */
void		 rig_check_log(struct rig *);

/* rig_proc.c: processes */

struct rig_proc {
	pid_t	 pid;
	pid_t	 ppid;
	char	 state;		/* 'R', 'S', 'T', 'Z' ... */
	char	 title[160];	/* command line, blanks between */
};

/* rig_list_tree() lists all that descend from a process, without it. */
size_t		 rig_list_tree(pid_t root, struct rig_proc *, size_t max);
/* rig_list_workers() lists living workers whose title matches a word. */
size_t		 rig_list_workers(struct rig *, const char *word, pid_t *,
		    size_t max);
/* rig_wait_worker() waits for one such worker and returns it. */
pid_t		 rig_wait_worker(struct rig *, const char *word,
		    int timeout_ms);
void		 rig_wait_gone(struct rig *, pid_t, int timeout_ms);
/* rig_kill_all() kills and reaps every descendant of this process. */
void		 rig_kill_all(void);
/* rig_reap() reaps orphans that came to us; never waits. */
void		 rig_reap(struct rig *);
/* rig_run() runs a program to its end; *ret_out is its stdout, or NULL. */
int		 rig_run(struct rig *, const char *const *argv,
		    char **ret_out);
/* rig_pg_ctl() stops, starts, restarts or crashes the test's server. */
void		 rig_pg_ctl(struct rig *, const char *verb);
/* rig_pss_kb() is the process's own share of memory, or -1. */
long		 rig_pss_kb(pid_t);

/* rig_db.c */

/* rig_sql() gives the first field of the answer, "" for none or NULL. */
char		*rig_sql(struct rig *, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
int64_t		 rig_sql_int(struct rig *, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));
/* rig_wait_sql() waits until a query's first field is "t". */
void		 rig_wait_sql(struct rig *, int timeout_ms, const char *fmt,
		    ...) __attribute__((format(printf, 3, 4)));
/* rig_enqueue() enqueues one task; input NULL = {}. */
int64_t		 rig_enqueue(struct rig *, const char *kind,
		    const char *input);
void		 rig_wait_status(struct rig *, int64_t task,
		    const char *status, int timeout_ms);
const char	*rig_status(struct rig *, int64_t task);
const char	*rig_reason(struct rig *, int64_t task);
/* rig_print_task() prints a row and its events to stderr. */
void		 rig_print_task(struct rig *, int64_t task);

/* rig_mock.c: the provider and its ledger */

struct rig_bill {
	int64_t	 task;
	int	 attempt;
	int	 mark;		/* 1, 0, -1: not looked up */
	bool	 is_charged;
	bool	 is_accepted;
	char	 charged[24];
	char	 behaviour[40];
	char	 request_id[96];
};

void		 rig_mock_start(struct rig *);
void		 rig_mock_stop(struct rig *);
/* rig_http() talks to the mock: HTTP status, or -1; *ret_body or NULL. */
int		 rig_http(struct rig *, const char *method, const char *path,
		    char **ret_body);
/* rig_ledger() reads the ledger file; the caller frees. */
size_t		 rig_ledger(struct rig *, struct rig_bill **ret);
int		 rig_count_posts(struct rig *, int64_t task);
int		 rig_count_charges(struct rig *, int64_t task);
void		 rig_wait_posts(struct rig *, int64_t task, int count,
		    int timeout_ms);
/* rig_check_laws() holds ledger, rows and receipts against each other. */
void		 rig_check_laws(struct rig *);
/* rig_has_receipt() looks for a receipt of that attempt holding a text. */
bool		 rig_has_receipt(struct rig *, int64_t task, int attempt,
		    const char *text);

/* rig_inject.c: fault points */

/* rig_inject() arms a point once: "kill", "stop", "delay 5000" ... */
void		 rig_inject(struct rig *, const char *point,
		    const char *action);
/* rig_wait_taken() waits until a process took it, and says which. */
pid_t		 rig_wait_taken(struct rig *, const char *point,
		    int timeout_ms);
bool		 rig_has_inject(void);

/* time */
int64_t		 rig_now_ms(void);
void		 rig_pause_ms(int ms);	/* between two looks, never as a sync */

#endif
