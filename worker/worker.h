/*
 * worker.h - what the files of worker/ share: the process, its channel and
 * the table of what a role does with a message.
 */
#ifndef PAYONCE_WORKER_H
#define PAYONCE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/mono.h"
#include "proto/proto.h"
#include "provider/provider.h"

struct event;
struct event_base;
struct flush;
struct worker;

/*
 * What a role does.  No handler keeps a pointer into its message.  marked and
 * refused exist for submit alone (proto/ refuses them to the others).
 */
struct role_ops {
	int	 (*start)(struct worker *);	/* SETUP is known; 0 or PO_E* */
	void	 (*assign)(struct worker *, const struct msg_assign *);
	void	 (*marked)(struct worker *, const struct msg_marked *);
	void	 (*refused)(struct worker *, const struct msg_mark_refused *);
	void	 (*renewed)(struct worker *, const struct msg_renewed *);
	void	 (*stored)(struct worker *, const struct msg_stored *);
	void	 (*cancel)(struct worker *, const struct msg_cancel *);
	void	 (*drain)(struct worker *, int64_t stop_ms);
	void	 (*orphan)(struct worker *);	/* the supervisor is gone */
	uint64_t (*count)(const struct worker *);
	void	 (*stop)(struct worker *);	/* free; the loop has ended */
};

struct worker {
	enum worker_role	  role;
	const struct role_ops	 *ops;
	void			 *state;	/* the role's own, or NULL */
	char			 *kind;		/* of the command line */
	char			 *secret;	/* NULL: none */
	size_t			  secret_len;

	/* SETUP; the strings are ours */
	char			 *state_dir;
	char			 *host;
	char			 *system_id;
	char			 *provider_name;
	struct provider		 *provider;	/* NULL for exec */
	char			**command;	/* exec: NULL-terminated */
	int64_t			  timeline;
	int64_t			  lease_ms;
	int64_t			  timeout_ms;
	int64_t			  max_artifact;
	unsigned int		  max_requests;

	struct chan		 *chan;
	struct event_base	 *base;
	struct flush		 *flush;	/* NULL until it is needed */
	struct event		 *ev_read;
	struct event		 *ev_write;
	struct event		 *ev_beat;
	struct mono		  beat_at;	/* the next beat is due */
	bool			  is_ready;	/* HELLO is out */
	bool			  is_draining;
	bool			  is_orphan;
	bool			  is_leaving;
	int			  exit_code;
};

/* One assigned task: a copy of ASSIGN that the worker may keep. */
struct job {
	uint64_t	 task;
	uint64_t	 attempt;
	uint64_t	 token;
	enum assign_mode mode;
	struct mono	 lease_end;	/* CLOCK_BOOTTIME */
	char		*model;		/* all NULL when empty */
	char		*own_id;
	char		*idem_key;
	char		*request_id;
	char		*poll_url;
	char		*result_url;
	char		*cancel_url;
	char		*input;
	size_t		 input_len;
};

extern const struct role_ops submit_ops;
extern const struct role_ops poll_ops;
extern const struct role_ops exec_ops;

/* confine.c */

/*
 * confine_read_secret() reads a file that others may not read, follows no
 * link and cuts the newline off.  0 or PO_E* with the reason logged.
 */
int	confine_read_secret(const char *path, char **ret, size_t *ret_len);
/* confine_process() gives up what a worker does not need; or fatal() */
void	confine_process(const char *user);

/* setup.c */

/* setup_take() fills the worker from SETUP: 0, PO_EVERSION, PO_EINVAL, ... */
int	setup_take(struct worker *, const struct msg_setup *);
void	setup_done(struct worker *);

/* loop.c */

int	loop_run(struct worker *);		/* the exit code */
void	loop_leave(struct worker *, int exit_code);
/* loop_flush() sends what is packed; what does not fit waits for the loop. */
void	loop_flush(struct worker *);
/* loop_dispatch_all() hands out every whole frame that has been read. */
void	loop_dispatch_all(struct worker *);
/*
 * loop_wait_frame() blocks until a frame was dispatched or until is over, and
 * beats meanwhile.  Only for the gate, inside libcurl's callback.
 */
void	loop_wait_frame(struct worker *, struct mono until);
void	loop_set_title(struct worker *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

/* job.c */

int	job_init(struct job *, const struct msg_assign *);
void	job_done(struct job *);
bool	job_is(const struct job *, uint64_t task, uint64_t attempt);
void	job_context(const struct job *, const struct worker *,
	    struct task_context *ret);

/* report.c: a report that cannot be packed ends the worker; the row decides */

void	report_mark(struct worker *, const struct job *);
void	report_submitted(struct worker *, const struct job *,
	    const struct submit_verdict *);
void	report_progress(struct worker *, const struct job *, int permille,
	    const char *note);
/* report_account() is a note that also holds the kind. */
void	report_account(struct worker *, const struct job *, const char *note);
void	report_result(struct worker *, const struct job *, const char *result,
	    size_t len, const char *cost, const char *currency,
	    int64_t fetch_within_ms);
void	report_done(struct worker *, const struct job *, const char *result,
	    size_t len, const char *cost, const char *currency);
void	report_rejected(struct worker *, const struct job *,
	    enum reject_class, const char *reason, const char *detail,
	    int64_t retry_after_ms);
void	report_failed(struct worker *, const struct job *, const char *reason,
	    const char *detail, const char *cost, const char *currency);
void	report_unknown(struct worker *, const struct job *, const char *reason,
	    const char *detail, bool is_provider);
void	report_unsent(struct worker *, const struct job *, const char *reason,
	    const char *detail);

/* deadman.c */

/*
 * The kernel kills this process at a time of CLOCK_BOOTTIME, stopped or not.
 * 0 or PO_EIO: then nothing may be sent.
 */
int	deadman_arm(struct mono at);
int	deadman_disarm(void);

#endif
