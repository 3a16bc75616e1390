/*
 * rig_mock.c - the mock provider of a rig, and its billing ledger.
 *
 * The ledger file is what a provider's invoice would be: it is read here
 * without asking payonce anything.
 */
#include <sys/socket.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "common/num.h"
#include "tests/lib/rig.h"

static int	 mock_connect(struct rig *);
static int	 mock_read_port(const char *path);
static void	 bill_parse(struct rig *, const char *line, struct rig_bill *);
static const char *bill_text(struct json_object *, const char *key);

void
rig_mock_start(struct rig *r)
{
	char *port_path = rig_printf("%s/mock.port", r->dir);
	char *latency = rig_printf("%d", r->latency_ms);
	char *log = rig_printf("%s/mock.log", r->dir);
	char *program = rig_printf("%s/payonce-mock",
	    rig_builddir());
	char *port = rig_printf("%d", r->mock_port);	/* the same one again */
	int64_t end = rig_now_ms() + 10000;
	int fd;

	(void)unlink(port_path);	/* of an earlier start */
	r->mock_pid = fork();
	if (r->mock_pid == -1)
		RIG_FAIL(r, "fork: %s", strerror(errno));
	if (r->mock_pid == 0) {
		fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (fd == -1 || dup2(fd, STDOUT_FILENO) == -1 ||
		    dup2(fd, STDERR_FILENO) == -1)
			_exit(127);
		execl(program, program, "-p", port, "-P", port_path, "-l",
		    r->ledger, "-d", r->conninfo, "-k", "mock-key", "-n",
		    latency, (char *)NULL);
		_exit(127);
	}
	while ((r->mock_port = mock_read_port(port_path)) == 0) {
		if (waitpid(r->mock_pid, NULL, WNOHANG) != 0 ||
		    rig_now_ms() >= end)
			RIG_FAIL(r, "the mock provider does not listen, see "
			    "%s", log);
		rig_pause_ms(3);
	}
}

void
rig_mock_stop(struct rig *r)
{
	if (r->mock_pid == 0)
		return;
	(void)kill(r->mock_pid, SIGTERM);
	while (waitpid(r->mock_pid, NULL, 0) == -1 && errno == EINTR)
		;
	r->mock_pid = 0;
}

int
rig_http(struct rig *r, const char *method, const char *path, char **ret_body)
{
	char *text, *body, *answer = NULL;
	size_t cap = 0, len = 0, off = 0, want;
	ssize_t n;
	int64_t status = -1;
	int fd;

	fd = mock_connect(r);
	if (fd == -1)
		return -1;
	text = rig_printf("%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
	    "Content-Length: 0\r\nConnection: close\r\n\r\n", method, path,
	    r->mock_port);
	for (want = strlen(text); off < want; off += (size_t)n) {
		n = send(fd, text + off, want - off, MSG_NOSIGNAL);
		if (n <= 0)
			goto out;
	}
	for (;;) {
		if (cap - len < 2) {
			cap = cap == 0 ? 65536 : cap * 2;
			answer = realloc(answer, cap);
			if (answer == NULL)
				RIG_FAIL(r, "out of memory");
		}
		n = read(fd, answer + len, cap - len - 1);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	answer[len] = '\0';
	body = strstr(answer, "\r\n\r\n");
	if (len < 12 || body == NULL)
		goto out;
	answer[12] = '\0';
	if (num_parse_i64(answer + 9, 100, 599, &status) != 0)
		status = -1;
	if (ret_body != NULL)
		*ret_body = rig_printf("%s", body + 4);
out:
	free(answer);
	(void)close(fd);
	return (int)status;
}

size_t
rig_ledger(struct rig *r, struct rig_bill **ret)
{
	struct rig_bill *rows = NULL;
	char *line = NULL;
	size_t cap = 0, n = 0, room = 0;
	ssize_t len;
	FILE *f;

	*ret = NULL;
	f = fopen(r->ledger, "re");
	if (f == NULL)
		return 0;		/* nobody ever paid */
	while ((len = getline(&line, &cap, f)) > 0) {
		if (line[len - 1] != '\n')
			break;		/* being written */
		if (n == room) {
			room = room == 0 ? 64 : room * 2;
			rows = realloc(rows, room * sizeof(*rows));
			if (rows == NULL)
				RIG_FAIL(r, "out of memory");
		}
		bill_parse(r, line, &rows[n]);
		n++;
	}
	free(line);
	(void)fclose(f);
	*ret = rows;
	return n;
}

int
rig_count_posts(struct rig *r, int64_t task)
{
	struct rig_bill *rows;
	size_t i, n;
	int count = 0;

	n = rig_ledger(r, &rows);
	for (i = 0; i < n; i++)
		if (task == 0 || rows[i].task == task)
			count++;
	free(rows);
	return count;
}

int
rig_count_charges(struct rig *r, int64_t task)
{
	struct rig_bill *rows;
	size_t i, n;
	int count = 0;

	n = rig_ledger(r, &rows);
	for (i = 0; i < n; i++)
		if (rows[i].is_charged && (task == 0 || rows[i].task == task))
			count++;
	free(rows);
	return count;
}

void
rig_wait_posts(struct rig *r, int64_t task, int count, int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	int now;

	while ((now = rig_count_posts(r, task)) < count) {
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "%d of %d posts of task %lld after %d ms",
			    now, count, (long long)task, timeout_ms);
		rig_pause_ms(5);
	}
}

static int
mock_connect(struct rig *r)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	int fd;

	sin.sin_port = htons((uint16_t)r->mock_port);
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int
mock_read_port(const char *path)
{
	char text[32] = "";
	int64_t port;
	FILE *f;

	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(text, sizeof(text), f) == NULL)
		text[0] = '\0';
	(void)fclose(f);
	text[strcspn(text, "\r\n")] = '\0';
	return num_parse_i64(text, 1, 65535, &port) == 0 ? (int)port : 0;
}

static void
bill_parse(struct rig *r, const char *line, struct rig_bill *ret)
{
	struct json_object *row, *mark = NULL, *accepted = NULL;
	int64_t attempt = 0;

	*ret = (struct rig_bill){ .mark = -1 };
	row = json_tokener_parse(line);
	if (row == NULL || !json_object_is_type(row, json_type_object))
		RIG_FAIL(r, "the ledger holds no JSON: %s", line);
	/* a POST without the header has task null: nobody's */
	(void)num_parse_i64(bill_text(row, "task"), 1, INT64_MAX, &ret->task);
	(void)num_parse_i64(bill_text(row, "attempt"), 1, INT32_MAX, &attempt);
	ret->attempt = (int)attempt;
	(void)snprintf(ret->charged, sizeof(ret->charged), "%s",
	    bill_text(row, "charged"));
	(void)snprintf(ret->behaviour, sizeof(ret->behaviour), "%s",
	    bill_text(row, "behaviour"));
	(void)snprintf(ret->request_id, sizeof(ret->request_id), "%s",
	    bill_text(row, "request_id"));
	ret->is_charged = strpbrk(ret->charged, "123456789") != NULL;
	if (json_object_object_get_ex(row, "accepted", &accepted))
		ret->is_accepted = json_object_get_boolean(accepted);
	if (json_object_object_get_ex(row, "mark", &mark) && mark != NULL)
		ret->mark = json_object_get_boolean(mark) ? 1 : 0;
	(void)json_object_put(row);
}

static const char *
bill_text(struct json_object *row, const char *key)
{
	struct json_object *value = NULL;

	if (!json_object_object_get_ex(row, key, &value) || value == NULL)
		return "";
	return json_object_get_string(value);
}
