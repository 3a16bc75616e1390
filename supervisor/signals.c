/*
 * signals.c - signals become flags; the loop does the rest.
 */
#include <signal.h>

#include "common/err.h"
#include "supervisor/supervisor.h"

static void
on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct super *super = arg;

	(void)what;
	switch (sig) {
	case SIGCHLD:
		super->got_child = true;
		break;
	case SIGHUP:
		super->got_reload = true;
		break;
	case SIGUSR1:
		super->got_state = true;
		break;
	default:
		super->got_stop++;
		break;
	}
}

int
signals_init(struct super *super)
{
	static const int list[] = { SIGCHLD, SIGHUP, SIGUSR1, SIGTERM,
	    SIGINT };
	struct sigaction sa = { .sa_handler = SIG_IGN };
	size_t i = 0;

	/* A worker that is gone is an error of write, not our end. */
	if (sigaction(SIGPIPE, &sa, NULL) != 0)
		return PO_EIO;
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		super->ev_signals[i] = evsignal_new(super->base, list[i],
		    on_signal, super);
		if (super->ev_signals[i] == NULL ||
		    event_add(super->ev_signals[i], NULL) != 0)
			return PO_ENOMEM;
	}
	return 0;
}

void
signals_done(struct super *super)
{
	size_t i = 0;

	for (i = 0; i < sizeof(super->ev_signals) /
	    sizeof(super->ev_signals[0]); i++) {
		if (super->ev_signals[i] != NULL)
			event_free(super->ev_signals[i]);
		super->ev_signals[i] = NULL;
	}
}
