/*
 * pooler.h - a pgbouncer in transaction mode in front of a rig's database.
 */
#ifndef PAYONCE_TEST_POOLER_H
#define PAYONCE_TEST_POOLER_H

#include <sys/types.h>

#include "tests/lib/rig.h"

struct pooler {
	pid_t	 pid;
	char	*conninfo;
};

/* pooler.c */
/* pooler_start() returns 0, or -1 where there is no pgbouncer. */
int	 pooler_start(struct rig *, struct pooler *ret);
void	 pooler_stop(struct pooler *);

#endif
