/*
 * rawd.c - see rawd.h.
 *
 * Owns its listening sockets, the shared counters and, by their process
 * group, all processes that it forked.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rawd.h"

#define RAWD_SCRIPTS	160
#define RAWD_REQUEST	(64u << 10)
#define RAWD_PATH	2048u
#define RAWD_TRIES	50

struct rawd_seen {
	atomic_int	hits[RAWD_SCRIPTS];
	atomic_int	foreign;
};

static int	rawd_bind(const char *address, int port, int *ret_port);
static void	rawd_loop(struct rawd *) __attribute__((noreturn));
static void	rawd_connection(struct rawd *, int fd);
static const struct rawd_script *rawd_find(struct rawd *, const char *path);
static bool	rawd_peek_path(int fd, char *path, size_t cap);
static bool	rawd_read_request(int fd);
static bool	rawd_write(struct rawd *, int fd, const char *text);
static bool	rawd_put(int fd, const char *data, size_t len);
static void	rawd_hang(int fd);
static void	rawd_reset(int fd);

void
rawd_listen(struct rig *r, struct rawd *d)
{
	int i;

	memset(d, 0, sizeof(*d));
	d->seen = mmap(NULL, sizeof(*d->seen), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (d->seen == MAP_FAILED)
		RIG_FAIL(r, "mmap: %s", strerror(errno));
	for (i = 0; i < RAWD_TRIES; i++) {
		d->fds[0] = rawd_bind("127.0.0.1", 0, &d->port);
		d->fds[1] = rawd_bind("127.0.0.2", d->port, NULL);
		if (d->fds[0] != -1 && d->fds[1] != -1)
			return;
		if (d->fds[0] != -1)
			(void)close(d->fds[0]);
	}
	RIG_FAIL(r, "no port is free at 127.0.0.1 and 127.0.0.2");
}

void
rawd_serve(struct rig *r, struct rawd *d, const struct rawd_script *scripts,
    size_t count)
{
	if (count > RAWD_SCRIPTS)
		RIG_FAIL(r, "%zu scripts", count);
	d->scripts = scripts;
	d->count = count;
	d->pid = fork();
	if (d->pid == -1)
		RIG_FAIL(r, "fork: %s", strerror(errno));
	if (d->pid == 0) {
		(void)setpgid(0, 0);
		rawd_loop(d);
	}
	(void)setpgid(d->pid, d->pid);	/* whoever of both is first */
}

void
rawd_stop(struct rig *r, struct rawd *d)
{
	(void)kill(-d->pid, SIGKILL);
	while (waitpid(d->pid, NULL, 0) == -1 && errno == EINTR)
		;
	rig_reap(r);
	(void)close(d->fds[0]);
	(void)close(d->fds[1]);
	(void)munmap(d->seen, sizeof(*d->seen));
}

int
rawd_count(const struct rawd *d, const char *path)
{
	int n = 0;
	size_t i;

	for (i = 0; i < d->count; i++)
		if (strcmp(d->scripts[i].path, path) == 0)
			n += atomic_load(&d->seen->hits[i]);
	return n;
}

int
rawd_foreign(const struct rawd *d)
{
	return atomic_load(&d->seen->foreign);
}

static int
rawd_bind(const char *address, int port, int *ret_port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd, one = 1;

	if (port == 0 && ret_port == NULL)
		return -1;
	sin.sin_port = htons((uint16_t)port);
	(void)inet_pton(AF_INET, address, &sin.sin_addr);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 64) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1) {
		(void)close(fd);
		return -1;
	}
	if (ret_port != NULL)
		*ret_port = ntohs(sin.sin_port);
	return fd;
}

static void
rawd_loop(struct rawd *d)
{
	struct pollfd p[2] = {
		{ .fd = d->fds[0], .events = POLLIN },
		{ .fd = d->fds[1], .events = POLLIN },
	};
	int fd;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);	/* children vanish by themselves */
	for (;;) {
		if (poll(p, 2, -1) == -1)
			continue;
		if (p[1].revents != 0 &&
		    (fd = accept(d->fds[1], NULL, NULL)) != -1) {
			(void)atomic_fetch_add(&d->seen->foreign, 1);
			(void)close(fd);
		}
		if (p[0].revents == 0 ||
		    (fd = accept(d->fds[0], NULL, NULL)) == -1)
			continue;
		if (fork() == 0) {
			rawd_connection(d, fd);
			_exit(0);
		}
		(void)close(fd);
	}
}

static void
rawd_connection(struct rawd *d, int fd)
{
	const struct rawd_script *s;
	char path[RAWD_PATH];
	char first;
	long i;

	if (recv(fd, &first, 1, MSG_PEEK) != 1)
		return;
	if (first < 'A' || first > 'Z') {
		/* a TLS hello, say: answered as plain servers do */
		(void)rawd_write(d, fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
		return;
	}
	if (!rawd_peek_path(fd, path, sizeof(path)) ||
	    (s = rawd_find(d, path)) == NULL)
		return;
	if (s->end == RAWD_UNREAD)
		return;		/* what is unread makes the close a reset */
	if (!rawd_read_request(fd) || !rawd_write(d, fd, s->head))
		return;
	for (i = 0; s->piece != NULL && (s->times < 0 || i < s->times); i++) {
		if (s->piece_ms > 0)
			(void)poll(NULL, 0, s->piece_ms);
		if (!rawd_write(d, fd, s->piece))
			return;
	}
	if (s->tail != NULL && !rawd_write(d, fd, s->tail))
		return;
	switch (s->end) {
	case RAWD_HANG:
		rawd_hang(fd);
		break;
	case RAWD_RESET:
		rawd_reset(fd);
		break;
	case RAWD_SECOND:
		/* also counted, by its own path, and never answered */
		if (rawd_peek_path(fd, path, sizeof(path)))
			(void)rawd_find(d, path);
		break;
	case RAWD_CLOSE:
	case RAWD_UNREAD:
		break;
	}
}

static const struct rawd_script *
rawd_find(struct rawd *d, const char *path)
{
	const struct rawd_script *s;
	size_t i, len;
	int before;

	for (i = 0; i < d->count; i++) {
		s = &d->scripts[i];
		len = strlen(s->path);
		if (s->path[len - 1] == '*' ?
		    strncmp(path, s->path, len - 1) != 0 :
		    strcmp(path, s->path) != 0)
			continue;
		before = atomic_fetch_add(&d->seen->hits[i], 1);
		if (s->uses == 0 || before < s->uses)
			return s;
		(void)atomic_fetch_sub(&d->seen->hits[i], 1);
	}
	return NULL;
}

/* "GET /path HTTP/1.1": looked at, not taken. */
static bool
rawd_peek_path(int fd, char *path, size_t cap)
{
	char data[RAWD_PATH + 64];
	char *at, *end;
	ssize_t n;

	for (;;) {
		n = recv(fd, data, sizeof(data) - 1, MSG_PEEK);
		if (n <= 0)
			return false;
		data[n] = '\0';
		if (strchr(data, '\r') != NULL)
			break;
		(void)poll(NULL, 0, 1);	/* the rest of the line is coming */
	}
	at = strchr(data, ' ');
	end = at != NULL ? strchr(at + 1, ' ') : NULL;
	if (end == NULL || (size_t)(end - at) > cap)
		return false;
	*end = '\0';
	memcpy(path, at + 1, (size_t)(end - at));
	return true;
}

/* The whole request: its head, and the body that Content-Length announces. */
static bool
rawd_read_request(int fd)
{
	static char data[RAWD_REQUEST];
	size_t len = 0, body = 0;
	const char *end, *mark;
	ssize_t n;

	for (;;) {
		n = read(fd, data + len, sizeof(data) - 1 - len);
		if (n <= 0)
			return false;
		len += (size_t)n;
		data[len] = '\0';
		if ((end = strstr(data, "\r\n\r\n")) == NULL)
			continue;
		body = 0;
		mark = strcasestr(data, "\r\nContent-Length: ");
		for (mark = mark != NULL && mark < end ? mark + 18 : "";
		    *mark >= '0' && *mark <= '9'; mark++)
			body = body * 10 + (size_t)(*mark - '0');
		if (len >= (size_t)(end + 4 - data) + body)
			return true;
	}
}

static bool
rawd_write(struct rawd *d, int fd, const char *text)
{
	const char *mark;
	char *port;

	while ((mark = strstr(text, "{port}")) != NULL) {
		port = rig_printf("%d", d->port);
		if (!rawd_put(fd, text, (size_t)(mark - text)) ||
		    !rawd_put(fd, port, strlen(port)))
			return false;
		text = mark + strlen("{port}");
	}
	return rawd_put(fd, text, strlen(text));
}

static bool
rawd_put(int fd, const char *data, size_t len)
{
	ssize_t n;

	for (; len > 0; data += n, len -= (size_t)n)
		if ((n = write(fd, data, len)) <= 0)
			return false;
	return true;
}

static void
rawd_hang(int fd)
{
	char byte;

	while (read(fd, &byte, 1) > 0)
		continue;
}

static void
rawd_reset(int fd)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	(void)close(fd);
}
