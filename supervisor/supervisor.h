/*
 * supervisor.h - what the rooms of payonced share.
 *
 * One process, one event loop, one struct super.  Each struct has one owner
 * file; the prototypes stand under the name of their file.
 */
#ifndef PAYONCE_SUPERVISOR_H
#define PAYONCE_SUPERVISOR_H

#include <sys/queue.h>

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/mono.h"
#include "config/conf.h"
#include "supervisor/child.h"
#include "supervisor/db.h"
#include "supervisor/hold.h"
#include "supervisor/restart.h"
#include "supervisor/task.h"

#define SUPER_TICK_MS	1000
#define CLAIM_EXPIRED_MIN	16

/* A class of tasks at run time; kind.c owns it, it lives until the end. */
struct kind {
	TAILQ_ENTRY(kind)	 link;
	char			*name;
	const struct conf_kind	*conf;		/* NULL: no longer configured */
	struct hold		 hold;
	unsigned int		 inflight;	/* tasks that we hold */
	unsigned int		 asked;		/* by the claim in flight */
	bool			 has_more;	/* a claim may find more */
	bool			 is_holding;	/* hold_kind is under way */
};

/* The processes of one kind, provider and role; kind.c owns it. */
struct pool {
	TAILQ_ENTRY(pool)	 link;
	struct super		*super;
	struct kind		*kind;
	char			*provider;	/* NULL: local */
	enum worker_role	 role;
	uint64_t		 stamp;		/* of the configuration */
	struct task_list	 waiting;
	unsigned int		 nwaiting;
	struct child_list	 children;
	unsigned int		 nchildren;	/* all but GONE */
	struct restart		 restart;
	bool			 is_warned;	/* provider is not defined */
};

enum super_state {
	SUPER_STARTING,		/* not claiming: settings, receipts */
	SUPER_READY,
	SUPER_STOPPING,		/* SIGTERM: no claims, wait for what is sent */
	SUPER_LEAVING,		/* wait for the workers to exit */
	SUPER_DONE
};

struct super_stats {
	unsigned long	 round_trips;
	unsigned long	 batches[OP_MAX];
	unsigned long	 items[OP_MAX];
	unsigned long	 claims;
	unsigned long	 claimed;
	unsigned long	 spawned;
	unsigned long	 died;
	unsigned long	 reconnects;
};

struct super {
	struct event_base	*base;
	struct event		*ev_tick;
	struct mono		 last_tick;
	bool			 is_soon;	/* the next turn is at once */
	struct event		*ev_signals[6];
	struct conf		*conf;
	const char		*conf_path;
	char			*owner;		/* hostname/random */
	char			*hostname;
	int			 lock_fd;
	bool			 is_foreground;
	bool			 is_debug;
	enum super_state	 state;
	struct mono		 stop_deadline;
	int			 exit_code;
	/* flags of signals.c */
	bool			 got_child;
	bool			 got_reload;
	bool			 got_state;
	unsigned int		 got_stop;

	struct db		*db;
	struct task_env		 env;
	struct task_tree	 tasks;
	struct task_list	 closed;	/* freed after the turn */
	struct task_list	 orphans;
	struct task_list	 progress;
	TAILQ_HEAD(, kind)	 kinds;
	TAILQ_HEAD(, pool)	 pools;
	struct child_list	 children;
	struct child_list	 flush;
	uint64_t		 next_generation;

	/* claim.c */
	bool			 is_claiming;	/* one at a time */
	bool			 want_claim;
	bool			 want_expired;	/* with expired leases */
	unsigned int		 expired_cap;	/* of the next such claim */
	bool			 has_due;	/* next_due is asked or armed */
	struct mono		 claim_sent;
	struct mono		 next_expired;
	struct event		*ev_due;
	struct event		*ev_wake;	/* loop_wake() */
	struct mono		 wake_at;	/* unset: not armed */
	/* renew.c */
	bool			 is_renewing;
	struct mono		 renew_sent;
	struct mono		 next_renew;
	struct mono		 next_progress;
	/* start.c */
	char			*system_id;
	int64_t			 timeline;
	bool			 is_checking;	/* settings are under way */
	struct mono		 next_check;
	bool			 want_expire;	/* leases of a former life */
	bool			 is_expiring;
	struct mono		 next_clean;
	bool			 is_checked;	/* since the last connect */
	bool			 is_applied;	/* receipts, for it */
	bool			 is_applying;
	bool			 want_receipts;
	struct mono		 next_receipts;
	struct mono		 next_seen;

	struct super_stats	 stats;
};

/* super.c */
int	 super_init(struct super *, struct conf *, const char *conf_path);
void	 super_done(struct super *);

/* loop.c */
int	 loop_run(struct super *);
void	 loop_soon(struct super *);	/* one more turn without waiting */
void	 loop_wake(struct super *, int64_t ms);	/* a turn by then */

/* signals.c */
int	 signals_init(struct super *);
void	 signals_done(struct super *);

/* kind.c */
int	 kind_update(struct super *);	/* from super->conf */
struct kind	*kind_find(struct super *, const char *name);
unsigned int	 kind_limit(const struct kind *);	/* concurrency */
unsigned int	 kind_submit_room(struct super *, const struct kind *);
void	 kind_done(struct super *);
struct pool	*pool_get(struct super *, struct kind *, const char *provider,
		    enum worker_role);
unsigned int	 pool_limit(const struct pool *);
uint64_t	 pool_stamp(const struct pool *);
void	 pool_push(struct pool *, struct task *);
void	 pool_remove(struct task *);

/* hold_kind.c */
void	 hold_kind_note(struct super *, struct kind *, enum hold_note,
	    int64_t asked_ms, int64_t *ret_delay_ms, const char *detail);
void	 hold_kind_set(struct super *, struct kind *, const char *reason,
	    const char *detail);
void	 hold_kind_release_account(struct super *);

/* ports.c */
extern const struct task_ports	super_ports;

/* sched.c */
void	 sched_run(struct super *);
void	 sched_close_tasks(struct super *);	/* end of the turn */

/* claim.c */
void	 claim_want(struct super *, const char *kind, bool is_expired);
void	 claim_run(struct super *);
/* claim_read.c */
int	 claim_read_row(struct super *, PGresult *, int row, struct task **ret);

/* recover.c */
void	 recover_decide(struct super *, struct task *, bool was_expired);
void	 recover_watch(struct super *);		/* orphans' locks */
void	 recover_take_receipt(struct task *, struct receipt_facts *);
void	 recover_keep_report(struct task *);
void	 recover_acknowledge(struct super *, const struct task *);

/* receipts.c */
void	 receipts_apply(struct super *,
	    void (*fn)(struct super *, bool is_ok));
void	 receipts_report_damaged(struct super *);

/* renew.c */
void	 renew_run(struct super *);
void	 renew_cancel(struct super *, int64_t id);
/* progress.c */
void	 progress_note(struct super *, struct task *);
void	 progress_run(struct super *);

/* start.c */
void	 start_run(struct super *);
void	 start_seen(struct super *);

/* stop.c */
void	 stop_run(struct super *);

/* reload.c */
void	 reload_run(struct super *);

/* status.c */
void	 status_log(struct super *);
void	 status_title(struct super *);

/* place.c: what must be on the disk before anything starts */
void	 place_make(struct super *);	/* folders, their owner */
void	 place_lock(struct super *);	/* the pid file; again after a fork */
void	 place_leave(struct super *);	/* the file of the init script */
void	 place_owner(struct super *);	/* host_id */

#endif
