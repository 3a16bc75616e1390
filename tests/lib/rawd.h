/*
 * rawd.h - a server that answers with exactly the bytes that a test writes
 * down, however wrong they are, and counts who came.
 *
 * It listens on 127.0.0.1 and, with the same port, on 127.0.0.2: the host
 * where nobody should follow and where no key should arrive.  It runs as a
 * child of the test, with one process per connection, so that a connection
 * which hangs hinders no other one.
 */
#ifndef PAYONCE_TEST_RAWD_H
#define PAYONCE_TEST_RAWD_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/rig.h"

enum rawd_end {
	RAWD_CLOSE,		/* after the last byte */
	RAWD_RESET,		/* the same, with RST instead of FIN */
	RAWD_HANG,		/* nothing more, until the peer goes */
	RAWD_UNREAD,		/* reset without having read the request */
	RAWD_SECOND,		/* kept alive; the next request is dropped */
};

/*
 * What one path gets: head, then the piece again and again, then the tail.
 * "{port}" in them is this server's port.  A path that ends in "*" stands for
 * all that begin so.  The first script that fits and is not used up counts.
 */
struct rawd_script {
	const char	*path;
	const char	*head;
	const char	*piece;		/* NULL: none */
	long		 times;		/* of the piece; -1: without end */
	int		 piece_ms;	/* before each */
	const char	*tail;		/* NULL: none */
	enum rawd_end	 end;
	int		 uses;		/* 0: any number */
};

struct rawd {
	pid_t				 pid;
	int				 port;
	int				 fds[2];
	const struct rawd_script	*scripts;
	size_t				 count;
	struct rawd_seen		*seen;	/* shared with the child */
};

/* rawd.c */

/* rawd_listen() chooses the port; rawd_serve() starts to answer. */
void	rawd_listen(struct rig *, struct rawd *);
void	rawd_serve(struct rig *, struct rawd *, const struct rawd_script *,
	    size_t count);
void	rawd_stop(struct rig *, struct rawd *);
/* rawd_count() counts requests for a path, as it stands in the scripts. */
int	rawd_count(const struct rawd *, const char *path);
/* rawd_foreign() counts connections to 127.0.0.2. */
int	rawd_foreign(const struct rawd *);

#endif
