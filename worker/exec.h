/*
 * exec.h - what the exec_*.c files share: one local program at a time.
 *
 *   payonce-worker (subreaper, this process)
 *     `- guard (its own session, subreaper, reads the life pipe)
 *          `- program (PDEATHSIG: dies with the guard)
 *               `- whatever it starts
 *
 * The worker's death, however it comes, closes the life pipe: the guard kills
 * everything below itself.  The guard's death makes the worker do the same.
 */
#ifndef PAYONCE_WORKER_EXEC_H
#define PAYONCE_WORKER_EXEC_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "worker/worker.h"

struct event;
struct exec;

enum exec_state {
	EXEC_STATE_IDLE,
	EXEC_STATE_RUNNING,	/* ends by the program or the kind's timeout */
	EXEC_STATE_KILLING,	/* ends by the guard, or EXEC_KILL_MS */
	EXEC_STATE_REPORTED	/* STORED is awaited */
};

enum exec_stream_name {
	EXEC_OUT,
	EXEC_ERR,
	EXEC_PROGRESS,
	EXEC_STATUS,
	EXEC_STREAM_MAX
};

struct exec_stream {
	struct exec	*x;
	int		 fd;		/* our end; -1: closed */
	struct event	*ev;
	struct buf	 buf;
	bool		 is_skipping;	/* the rest of an overlong line */
};

struct exec {
	struct worker	*w;
	enum exec_state	 state;
	struct job	 job;
	pid_t		 guard;		/* -1: none */
	int		 life;		/* write end; closing it kills */
	struct exec_stream streams[EXEC_STREAM_MAX];
	struct event	*ev_timer;
	char		*output;	/* folder: PAYONCE_OUTPUT */
	char		*work;		/* folder: where it runs; removed */
	char		 why[LIM_WORD + 1];	/* we ended it: "timeout" ... */
	char		 tail[2049];	/* of stderr */
	size_t		 tail_len;
	unsigned int	 lines;		/* of stderr logged */
	int		 permille;	/* last reported */
	int		 status;	/* of waitpid(2) */
	bool		 has_status;
};

/* What the guard writes when it is done. */
struct exec_report {
	int32_t		 status;	/* of the program, waitpid(2) */
	int32_t		 has_status;
};

/* What exec_guard() needs; all descriptors are its to use. */
struct exec_launch {
	int		 in, out, err, progress, life, status;
	char *const	*argv;
	char *const	*envp;
	const char	*dir;
};

/* exec.c */
/* exec_kill() ends the program's tree; why "" keeps the first reason. */
void	exec_kill(struct exec *, const char *why);
/* exec_closed() is called when a stream has ended. */
void	exec_closed(struct exec *);

/* exec_judge.c */
void	exec_judge(struct exec *);

/* exec_run.c */
int	exec_run(struct exec *, const struct msg_assign *);

/* exec_io.c */
int	exec_stream_open(struct exec *, enum exec_stream_name, int fd);
void	exec_stream_close(struct exec_stream *);

/* exec_guard.c: never returns; runs in the forked child */
void	exec_guard(const struct exec_launch *) __attribute__((noreturn));

/* exec_tree.c */
/*
 * exec_tree_kill() kills and reaps every descendant of this process, at most
 * timeout_ms long.  watch/ret_status: the status of that child if it was
 * reaped here.  0, or PO_EAGAIN when some still live.
 */
int	exec_tree_kill(int timeout_ms, pid_t watch, int *ret_status,
	    bool *ret_has_status);

/* exec_files.c */
/* exec_files_remove() removes a folder with all that is in it. */
int	exec_files_remove(const char *path);
/* exec_files_list() makes the JSON array of a folder's files, all synced. */
int	exec_files_list(const char *path, char **ret);
/* exec_files_inputs() writes "type<TAB>path" per artifact of the parents. */
int	exec_files_inputs(const char *path, const char *parents, size_t len);

#endif
