/*
 * mock.c - a payonce-mock for a test: started, asked, stopped.
 *
 * Owns the process and its folder.  A test that dies takes its mock along.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/num.h"
#include "tests/lib/mock.h"

#define MOCK_ARGS_MAX	24
#define MOCK_READ_MS	10000

static void	mock_fork(struct test_mock *, va_list);
static void	mock_await_port(struct test_mock *);
static void	mock_exec(char *const *, const char *);
static int	mock_read_port(const char *);
static bool	mock_read_some(int, char **, size_t *, size_t, bool *);

void
mock_start(struct test_mock *m, ...)
{
	va_list ap;

	memset(m, 0, sizeof(*m));
	memcpy(m->dir, "/tmp/payonce-mock.XXXXXX", 25);
	ck_assert_ptr_nonnull(mkdtemp(m->dir));
	ck_assert_int_lt(snprintf(m->ledger, sizeof(m->ledger), "%s/ledger",
	    m->dir), (int)sizeof(m->ledger));
	va_start(ap, m);
	mock_fork(m, ap);
	va_end(ap);
	mock_await_port(m);
}

void
mock_again(struct test_mock *m, ...)
{
	va_list ap;

	ck_assert_int_eq(m->pid, 0);
	va_start(ap, m);
	mock_fork(m, ap);
	va_end(ap);
	mock_await_port(m);
}

int
mock_try(struct test_mock *m, ...)
{
	va_list ap;
	int status = 0;

	va_start(ap, m);
	mock_fork(m, ap);
	va_end(ap);
	ck_assert_int_eq(waitpid(m->pid, &status, 0), m->pid);
	m->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
mock_fork(struct test_mock *m, va_list ap)
{
	char port_file[96], log_file[96], port[16];
	const char *program = getenv("PAYONCE_MOCK");
	char *argv[MOCK_ARGS_MAX];
	int argc = 0;

	if (program == NULL)
		program = "./payonce-mock";
	(void)snprintf(port_file, sizeof(port_file), "%s/port", m->dir);
	(void)snprintf(log_file, sizeof(log_file), "%s/log", m->dir);
	(void)snprintf(port, sizeof(port), "%d", m->port);
	(void)unlink(port_file);	/* of an earlier start */
	argv[argc++] = (char *)(uintptr_t)program;
	argv[argc++] = (char *)(uintptr_t)"-p";
	argv[argc++] = port;
	argv[argc++] = (char *)(uintptr_t)"-P";
	argv[argc++] = port_file;
	argv[argc++] = (char *)(uintptr_t)"-l";
	argv[argc++] = m->ledger;
	while ((argv[argc] = va_arg(ap, char *)) != NULL)
		ck_assert_int_lt(++argc, MOCK_ARGS_MAX);
	m->pid = fork();
	ck_assert_int_ne(m->pid, -1);
	if (m->pid == 0)
		mock_exec(argv, log_file);
}

static void
mock_await_port(struct test_mock *m)
{
	char port_file[96];
	int tries;

	(void)snprintf(port_file, sizeof(port_file), "%s/port", m->dir);
	for (tries = 0; (m->port = mock_read_port(port_file)) == 0; tries++) {
		ck_assert_msg(tries < 5000 &&
		    waitpid(m->pid, NULL, WNOHANG) == 0,
		    "payonce-mock does not start, see %s/log", m->dir);
		(void)poll(NULL, 0, 2);	/* the port file is the event */
	}
}

static void
mock_exec(char *const *argv, const char *log_file)
{
	int fd = open(log_file, O_WRONLY | O_CREAT | O_APPEND, 0644);

	if (fd == -1 || dup2(fd, STDERR_FILENO) == -1 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		_exit(127);
	execv(argv[0], argv);
	_exit(127);
}

static int
mock_read_port(const char *path)
{
	char text[16] = "";
	int64_t port;
	ssize_t len;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	ck_assert_int_gt(len, 1);
	text[len - 1] = '\0';
	ck_assert_int_eq(num_parse_i64(text, 1, 65535, &port), 0);
	return (int)port;
}

int
mock_stop(struct test_mock *m)
{
	int status = 0;

	if (m->pid == 0)
		return 0;
	ck_assert_int_eq(kill(m->pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(m->pid, &status, 0), m->pid);
	m->pid = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void
mock_done(struct test_mock *m)
{
	static const char *const names[] = { "port", "port.tmp", "ledger",
		"log" };
	char path[128];
	size_t i;

	ck_assert_int_eq(mock_stop(m), 0);	/* not 0: it leaks, or died */
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", m->dir, names[i]);
		(void)unlink(path);	/* not all of them are there */
	}
	ck_assert_int_eq(rmdir(m->dir), 0);
}

/* mock_connect() returns -1 when it is refused. */
int
mock_connect(const struct test_mock *m, const char *host)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd;

	sin.sin_port = htons((uint16_t)m->port);
	ck_assert_int_eq(inet_pton(AF_INET, host, &sin.sin_addr), 1);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ne(fd, -1);
	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1) {
		ck_assert_int_eq(errno, ECONNREFUSED);
		ck_assert_int_eq(close(fd), 0);
		return -1;
	}
	return fd;
}

void
mock_send(int fd, const char *text)
{
	size_t len = strlen(text);
	ssize_t n;

	while (len > 0) {
		n = send(fd, text, len, MSG_NOSIGNAL);
		ck_assert_int_gt(n, 0);
		text += n;
		len -= (size_t)n;
	}
}

/* mock_read_some() appends at most want bytes; false: it is the end. */
static bool
mock_read_some(int fd, char **text, size_t *len, size_t want, bool *ret_reset)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t n;

	*text = realloc(*text, *len + want + 1);
	ck_assert_ptr_nonnull(*text);
	ck_assert_msg(poll(&ready, 1, MOCK_READ_MS) == 1,
	    "no answer within %d ms", MOCK_READ_MS);
	n = recv(fd, *text + *len, want, 0);
	if (n > 0)
		*len += (size_t)n;
	(*text)[*len] = '\0';
	if (n == -1) {
		ck_assert_int_eq(errno, ECONNRESET);
		*ret_reset = true;
	}
	return n > 0;
}

void
mock_read(int fd, struct test_answer *ret)
{
	char *text = NULL, *field;
	size_t len = 0, body_len = SIZE_MAX;
	char digits[4] = "";
	uint64_t number;

	memset(ret, 0, sizeof(*ret));
	/* Byte by byte, so that a second answer stays in the socket. */
	while (mock_read_some(fd, &text, &len, 1, &ret->is_reset))
		if (len >= 4 && memcmp(text + len - 4, "\r\n\r\n", 4) == 0)
			break;
	ret->head = text;
	if (len < 16 || memcmp(text + len - 4, "\r\n\r\n", 4) != 0)
		return;
	memcpy(digits, text + 9, 3);
	ck_assert_int_eq(num_parse_u64(digits, 999, &number), 0);
	ret->status = (int)number;
	field = strstr(text, "Content-Length: ");
	if (field != NULL) {
		field = strndup(field + 16, strcspn(field + 16, "\r"));
		ck_assert_int_eq(num_parse_u64(field, SIZE_MAX, &number), 0);
		free(field);
		body_len = number;
	}
	while (ret->body_len < body_len && ret->status != 100 &&
	    mock_read_some(fd, &ret->body, &ret->body_len,
	    body_len - ret->body_len < 65536 ? body_len - ret->body_len :
	    65536, &ret->is_reset))
		;
}

bool
mock_is_ended(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&ready, 1, MOCK_READ_MS) == 1 && recv(fd, &c, 1, 0) <= 0;
}

void
mock_answer_done(struct test_answer *answer)
{
	free(answer->head);
	free(answer->body);
	memset(answer, 0, sizeof(*answer));
}

void
mock_call(const struct test_mock *m, const char *method, const char *path,
    const char *headers, const char *body, struct test_answer *ret)
{
	char *text = NULL;
	int fd = mock_connect(m, "127.0.0.1");

	/* While it refuses, its other address is the way in. */
	if (fd == -1)
		fd = mock_connect(m, "127.0.0.2");
	ck_assert_int_ne(fd, -1);
	ck_assert_int_gt(asprintf(&text, "%s %s HTTP/1.1\r\n"
	    "Host: 127.0.0.1:%d\r\nConnection: close\r\n%s"
	    "Content-Length: %zu\r\n\r\n%s", method, path, m->port,
	    headers != NULL ? headers : "", body != NULL ? strlen(body) : 0,
	    body != NULL ? body : ""), 0);
	mock_send(fd, text);
	free(text);
	mock_read(fd, ret);
	ck_assert_int_eq(close(fd), 0);
}

int
mock_get(const struct test_mock *m, const char *path, struct json_object **ret)
{
	struct test_answer answer;
	int status;

	mock_call(m, "GET", path, NULL, NULL, &answer);
	status = answer.status;
	*ret = answer.body != NULL ? json_tokener_parse(answer.body) : NULL;
	mock_answer_done(&answer);
	return status;
}

int64_t
mock_summary(const struct test_mock *m, const char *member)
{
	struct json_object *summary, *value;
	int64_t number;

	ck_assert_int_eq(mock_get(m, "/_mock/summary", &summary), 200);
	ck_assert_msg(json_object_object_get_ex(summary, member, &value),
	    "the summary has no %s", member);
	number = json_object_get_int64(value);
	json_object_put(summary);
	return number;
}

/* mock_wait() waits for numbers, e.g. "posts=3&open=1". */
void
mock_wait(const struct test_mock *m, const char *query)
{
	struct json_object *summary;
	char path[256];

	ck_assert_int_lt(snprintf(path, sizeof(path),
	    "/_mock/wait?%s&timeout_ms=%d", query, MOCK_READ_MS - 1000),
	    (int)sizeof(path));
	ck_assert_msg(mock_get(m, path, &summary) == 200,
	    "the mock never reached %s", query);
	json_object_put(summary);
}

void
mock_wait_posts(const struct test_mock *m, int count)
{
	char query[32];

	(void)snprintf(query, sizeof(query), "posts=%d", count);
	mock_wait(m, query);
}

/* mock_set() posts to the administration, e.g. "outage/503". */
void
mock_set(const struct test_mock *m, const char *what)
{
	struct test_answer answer;
	char path[128];

	(void)snprintf(path, sizeof(path), "/_mock/%s", what);
	mock_call(m, "POST", path, NULL, "", &answer);
	ck_assert_int_eq(answer.status, 200);
	mock_answer_done(&answer);
}
