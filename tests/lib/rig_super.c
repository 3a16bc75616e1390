/*
 * rig_super.c - payonced under test: start, ready, stop, kill, log.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rig.h"

#define READY_MS	20000
#define STOP_SLACK_MS	10000

static bool	log_line_is_allowed(struct rig *, const char *line);
static void	log_check_host(struct rig *, int host);
static void	log_compile(struct rig *, regex_t *, const char *regex);

void
rig_start(struct rig *r)
{
	rig_start_host(r, 0);
}

void
rig_start_host(struct rig *r, int host)
{
	rig_spawn_host(r, host);
	rig_wait_ready(r, host, READY_MS);
}

void
rig_spawn_host(struct rig *r, int host)
{
	struct rig_host *h = &r->hosts[host];
	char *program = rig_printf("%s/payonced", rig_builddir());
	int fd;

	if (h->pid != 0)
		RIG_FAIL(r, "payonced runs already");
	if (h->starts++ == 0)
		rig_write_conf(r, host);
	h->pid = fork();
	if (h->pid == -1)
		RIG_FAIL(r, "fork: %s", strerror(errno));
	if (h->pid == 0) {
		fd = open(h->log, O_WRONLY | O_CREAT | O_APPEND, 0644);
		if (fd == -1 || dup2(fd, STDOUT_FILENO) == -1 ||
		    dup2(fd, STDERR_FILENO) == -1 ||
		    setenv("PAYONCE_INJECT_DIR", r->inject_dir, 1) == -1)
			_exit(127);
		execl(program, program, "-f", "-c", h->conf, (char *)NULL);
		_exit(127);
	}
}

/* Ready is what the database says: the host has been seen with this pid. */
void
rig_wait_ready(struct rig *r, int host, int timeout_ms)
{
	struct rig_host *h = &r->hosts[host];
	int64_t end = rig_now_ms() + timeout_ms;
	int status;

	while (strcmp(rig_sql(r, "SELECT EXISTS (SELECT FROM payonce.host "
	    "WHERE pid = %d)", (int)h->pid), "t") != 0) {
		if (rig_has_exited(r, host, &status))
			RIG_FAIL(r, "payonced ended at its start, wait status "
			    "0x%x", (unsigned int)status);
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "payonced is not ready after %d ms",
			    timeout_ms);
		rig_pause_ms(5);
	}
}

void
rig_stop(struct rig *r)
{
	rig_stop_host(r, 0, r->stop_timeout_s * 1000 + STOP_SLACK_MS);
}

void
rig_stop_host(struct rig *r, int host, int timeout_ms)
{
	int status;

	if (r->hosts[host].pid <= 0)
		RIG_FAIL(r, "payonced does not run");
	(void)kill(r->hosts[host].pid, SIGTERM);
	status = rig_wait_exit(r, host, timeout_ms);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		RIG_FAIL(r, "payonced ended with wait status 0x%x after "
		    "SIGTERM, not with exit 0", (unsigned int)status);
}

void
rig_kill(struct rig *r)
{
	if (r->hosts[0].pid <= 0)
		RIG_FAIL(r, "payonced does not run");
	(void)kill(r->hosts[0].pid, SIGKILL);
	(void)rig_wait_exit(r, 0, 5000);
}

int
rig_wait_exit(struct rig *r, int host, int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	int status;

	while (!rig_has_exited(r, host, &status)) {
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "payonced still runs after %d ms",
			    timeout_ms);
		rig_pause_ms(3);
	}
	return status;
}

bool
rig_has_exited(struct rig *r, int host, int *ret_status)
{
	struct rig_host *h = &r->hosts[host];

	if (h->pid <= 0)
		RIG_FAIL(r, "payonced does not run");
	if (waitpid(h->pid, ret_status, WNOHANG) != h->pid)
		return false;
	h->pid = 0;
	return true;
}

void
rig_allow(struct rig *r, const char *regex)
{
	if (r->nallow == RIG_ALLOW_MAX)
		RIG_FAIL(r, "too many rig_allow()");
	r->allow[r->nallow++] = regex;
}

int
rig_count_log(struct rig *r, const char *regex)
{
	char *line = NULL;
	size_t cap = 0, h;
	regex_t re;
	int count = 0;
	FILE *f;

	log_compile(r, &re, regex);
	for (h = 0; h < RIG_HOSTS_MAX; h++) {
		f = fopen(r->hosts[h].log, "re");
		if (f == NULL)
			continue;
		while (getline(&line, &cap, f) > 0)
			if (regexec(&re, line, 0, NULL, 0) == 0)
				count++;
		(void)fclose(f);
	}
	free(line);
	regfree(&re);
	return count;
}

void
rig_wait_log(struct rig *r, int timeout_ms, const char *regex)
{
	int64_t end = rig_now_ms() + timeout_ms;

	while (rig_count_log(r, regex) == 0) {
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "the log says no \"%s\" within %d ms",
			    regex, timeout_ms);
		rig_pause_ms(8);
	}
}

void
rig_print_log(struct rig *r, int host, int lines)
{
	char *line = NULL;
	size_t cap = 0;
	int n = 0;
	FILE *f;

	f = fopen(r->hosts[host].log, "re");
	if (f == NULL)
		return;
	while (getline(&line, &cap, f) > 0)
		n++;
	rewind(f);
	fprintf(stderr, "---- %s (last %d of %d lines)\n", r->hosts[host].log,
	    n < lines ? n : lines, n);
	while (getline(&line, &cap, f) > 0)
		if (n-- <= lines)
			fputs(line, stderr);
	free(line);
	(void)fclose(f);
}

void
rig_check_log(struct rig *r)
{
	int h;

	for (h = 0; h < RIG_HOSTS_MAX; h++)
		if (r->hosts[h].starts > 0)
			log_check_host(r, h);
}

static void
log_check_host(struct rig *r, int host)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	f = fopen(r->hosts[host].log, "re");
	if (f == NULL)
		RIG_FAIL(r, "%s: %s", r->hosts[host].log, strerror(errno));
	while (getline(&line, &cap, f) > 0) {
		if (strstr(line, " panic: ") != NULL ||
		    strstr(line, "Sanitizer") != NULL ||
		    strstr(line, "runtime error: ") != NULL)
			RIG_FAIL(r, "our own code is broken: %s", line);
		if (strstr(line, " warning: ") == NULL &&
		    strstr(line, " fatal: ") == NULL)
			continue;
		if (!log_line_is_allowed(r, line))
			RIG_FAIL(r, "a warning that this test does not "
			    "expect: %s", line);
	}
	free(line);
	(void)fclose(f);
}

static bool
log_line_is_allowed(struct rig *r, const char *line)
{
	bool is_allowed = r->lenient_log;
	regex_t re;
	size_t i;

	for (i = 0; i < r->nallow && !is_allowed; i++) {
		log_compile(r, &re, r->allow[i]);
		is_allowed = regexec(&re, line, 0, NULL, 0) == 0;
		regfree(&re);
	}
	return is_allowed;
}

static void
log_compile(struct rig *r, regex_t *re, const char *regex)
{
	if (regcomp(re, regex, REG_EXTENDED | REG_NOSUB) != 0)
		RIG_FAIL(r, "bad regular expression: %s", regex);
}
