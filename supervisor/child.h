/*
 * child.h - worker processes as their supervisor sees them.
 *
 * child.c owns struct child and the slots and is the only writer of a state;
 * the table is in child_fsm.c.  A child is named kind/role/slot#generation;
 * the pid is only for
 * kill(2) and waitpid(2).
 */
#ifndef PAYONCE_SUPERVISOR_CHILD_H
#define PAYONCE_SUPERVISOR_CHILD_H

#include <sys/queue.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"
#include "proto/proto.h"
#include "supervisor/restart.h"
#include "supervisor/task.h"

enum cstate {
	CS_STARTING,		/* SETUP is sent; killed 30 s without HELLO */
	CS_IDLE,		/* retired after idle_s */
	CS_BUSY,		/* lasts as long as it beats */
	CS_DRAINING,		/* as BUSY; takes nothing new, then exits */
	CS_DYING,		/* killed, or its channel closed */
	CS_GONE,		/* reaped; freed at the end of the turn */
	CS_MAX
};

enum cevent {
	CE_HELLO,
	CE_ASSIGNED,		/* it was given a task */
	CE_EMPTIED,		/* its last task is over */
	CE_DRAIN,		/* finish and go */
	CE_KILL,		/* SIGKILL: silence, or nonsense */
	CE_EOF,			/* it closed the channel */
	CE_REAPED,
	CE_MAX
};

struct event;
struct pool;
struct super;

struct child {
	TAILQ_ENTRY(child)	 pool_link;
	TAILQ_ENTRY(child)	 all_link;
	TAILQ_ENTRY(child)	 flush_link;
	struct super		*super;
	struct pool		*pool;
	unsigned int		 slot;
	uint64_t		 generation;
	pid_t			 pid;
	enum cstate		 state;
	unsigned int		 talk;	/* C_*: the last state that may talk */
	struct chan		*chan;
	struct event		*ev_read;
	struct event		*ev_write;
	struct task_list	 tasks;
	unsigned int		 ntasks;
	unsigned long		 ndone;		/* tasks ended by it */
	uint64_t		 stamp;		/* of its configuration */
	struct mono		 since;		/* in this state */
	struct mono		 beat;		/* last sign of life */
	bool			 has_beaten;	/* since the last renewal */
	bool			 is_dirty;	/* in the flush list */
	bool			 is_asked;	/* its end was our wish */
	bool			 is_refused;	/* it spoke nonsense */
	char			 name[96];
};

TAILQ_HEAD(child_list, child);

/* child_fsm.c */
/* child_next() is the table; CS_MAX: cannot happen, the state itself: keep. */
enum cstate	 child_next(enum cstate, enum cevent);
const char	*child_state_name(enum cstate);
unsigned int	 child_state_bit(enum cstate);

/* child.c */
void		 child_event(struct child *, enum cevent);
int		 child_new(struct pool *, struct child **ret);
void		 child_free(struct child **);
void		 child_take_task(struct child *, struct task *);
void		 child_drop_task(struct child *, struct task *);
struct child	*child_by_pid(struct super *, pid_t);
void		 child_drain(struct child *);
void		 child_kill(struct child *, const char *why);
void		 child_check_all(struct super *);	/* beats, idleness */
void		 child_forgive_all(struct super *);	/* we did not listen */
void		 child_free_gone(struct super *);

/* child_spawn.c */
int		 child_spawn(struct pool *);

/* child_io.c */
int		 child_open(struct child *, int fd);
void		 child_close(struct child *);
void		 child_dirty(struct child *);	/* something is to be written */
void		 child_flush_all(struct super *);
void		 child_drain_last(struct child *);

/* child_reap.c */
void		 child_reap_all(struct super *);
const char	*child_status_text(int status, char *buf, size_t cap);

/* child_send.c: the worker side of the ports */
void		 child_send_setup(struct child *);
void		 child_send_renewed(struct child *, const struct task *);

/* on_worker.c */
int		 on_worker(struct child *, const struct frame *);

#endif
