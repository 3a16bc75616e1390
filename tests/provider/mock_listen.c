/*
 * mock_listen.c - the two listening sockets and the port they share.
 *
 * 127.0.0.1 is the provider.  MOCK_FOREIGN, the same port, is a host that a
 * client must not follow to; what arrives there is counted.  While the
 * provider refuses connections only the second one listens, so that the
 * administration stays reachable.
 */
#include <sys/socket.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "tests/provider/mock.h"

#define LISTEN_BACKLOG	4096
#define LISTEN_TURN_MAX	256	/* connections taken in one turn */

struct listener {
	const char	*host;
	bool		 is_foreign;
	bool		 is_watched;
	int		 fd;
	struct event	 event;
};

static struct listener	listen_own = { .host = "127.0.0.1", .fd = -1 };
static struct listener	listen_foreign = {
	.host = MOCK_FOREIGN, .is_foreign = true, .fd = -1
};
/* Bound and never listening: keeps the port ours while we refuse. */
static int		listen_keeper = -1;

static int
listen_bind(const char *host, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd, on = 1;

	sin.sin_port = htons(port);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd == -1)
		return -1;
	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1)
		fd_close(&fd);
	return fd;
}

static void
listen_on_ready(evutil_socket_t listener_fd, short what, void *arg)
{
	struct listener *listener = arg;
	int i, fd;

	(void)what;
	for (i = 0; i < LISTEN_TURN_MAX; i++) {
		fd = accept4(listener_fd, NULL, NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd != -1) {
			conn_new(fd, listener->is_foreign);
			continue;
		}
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			log_warn("accept on %s", listener->host);
		return;
	}
}

static int
listen_start(struct listener *listener)
{
	listener->fd = listen_bind(listener->host, mock.port);
	if (listener->fd == -1)
		return PO_EIO;
	if (listen(listener->fd, LISTEN_BACKLOG) == -1 ||
	    event_assign(&listener->event, mock.base, listener->fd,
	    EV_READ | EV_PERSIST, listen_on_ready, listener) == -1 ||
	    event_add(&listener->event, NULL) == -1) {
		fd_close(&listener->fd);
		return PO_EIO;
	}
	listener->is_watched = true;
	return 0;
}

static void
listen_stop(struct listener *listener)
{
	if (listener->is_watched)
		(void)event_del(&listener->event);	/* assigned */
	listener->is_watched = false;
	fd_close(&listener->fd);
}

int
listen_open(uint16_t port)
{
	struct sockaddr_in sin;
	socklen_t len = sizeof(sin);

	listen_keeper = listen_bind(listen_own.host, port);
	if (listen_keeper == -1 || getsockname(listen_keeper,
	    (struct sockaddr *)&sin, &len) == -1)
		return PO_EIO;
	mock.port = ntohs(sin.sin_port);
	if (listen_start(&listen_own) != 0)
		return PO_EIO;
	return listen_start(&listen_foreign);
}

void
listen_close(void)
{
	listen_stop(&listen_own);
	listen_stop(&listen_foreign);
	fd_close(&listen_keeper);
}

int
listen_set_refusing(bool is_refusing)
{
	if (!is_refusing && listen_own.fd == -1)
		return listen_start(&listen_own);
	if (is_refusing)
		listen_stop(&listen_own);
	return 0;
}
