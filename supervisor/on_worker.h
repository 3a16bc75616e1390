/*
 * on_worker.h - shared by on_worker.c and on_ending.c.
 */
#ifndef PAYONCE_SUPERVISOR_ON_WORKER_H
#define PAYONCE_SUPERVISOR_ON_WORKER_H

#include "supervisor/supervisor.h"

/* on_worker.c */
int	on_find_task(struct child *, uint64_t id, uint64_t attempt,
	    enum tevent, struct task **ret);
int	on_take_words(char **to, struct mp_bytes from);
int	on_take_reason(struct task *, struct mp_bytes reason,
	    struct mp_bytes detail, const char *other);
int	on_take_cost(struct task *, struct mp_bytes cost,
	    struct mp_bytes currency);
void	on_begin(struct task *, unsigned int what);
void	on_note(struct task *, enum hold_note, int64_t asked_ms,
	    int64_t *ret_delay_ms, const char *detail);

/* on_ending.c */
int	on_rejected(struct child *, const struct frame *);
int	on_failed(struct child *, const struct frame *);
int	on_unknown(struct child *, const struct frame *);
int	on_unsent(struct child *, const struct frame *);

#endif
