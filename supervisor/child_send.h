/*
 * child_send.h - the worker side of struct task_ports.
 */
#ifndef PAYONCE_SUPERVISOR_CHILD_SEND_H
#define PAYONCE_SUPERVISOR_CHILD_SEND_H

#include "supervisor/child.h"

/* child_send.c */
void	child_send_submit(void *, struct task *);
void	child_send_poll(void *, struct task *);
void	child_send_exec(void *, struct task *);
void	child_send_marked(void *, struct task *);
void	child_send_refused(void *, struct task *);
void	child_send_stored(void *, struct task *, bool is_final);
void	child_send_cancel(void *, struct task *, const char *why);
void	child_send_kill(void *, struct task *);

#endif
