/*
 * pooler.c - starts pgbouncer for one test, on a unix socket of its own.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integration/pooler.h"

#define POOLER	"/usr/sbin/pgbouncer"
#define INI								\
	"[databases]\n* = host=%s user=postgres\n"			\
	"[pgbouncer]\nlisten_addr =\nlisten_port = 6432\n"		\
	"unix_socket_dir = %s\nauth_type = any\npool_mode = transaction\n" \
	"max_client_conn = 50\ndefault_pool_size = 4\n"			\
	"ignore_startup_parameters = extra_float_digits\n"		\
	"logfile = %s/log\n"

static void	pooler_exec(const char *ini, const struct passwd *)
		    __attribute__((noreturn));

int
pooler_start(struct rig *r, struct pooler *ret)
{
	const char *server = getenv("PGHOST");
	char *dir = rig_printf("%s/pooler", r->dir);
	char *ini = rig_printf("%s/ini", dir);
	const struct passwd *pw = NULL;
	int64_t end = rig_now_ms() + 10000;
	PGconn *db;

	if (access(POOLER, X_OK) == -1)
		return -1;
	RIG_CHECK(r, server != NULL);
	RIG_CHECK(r, mkdir(dir, 0755) == 0);
	if (geteuid() == 0) {		/* it refuses to run as root */
		pw = getpwnam("postgres");
		RIG_CHECK(r, pw != NULL);
		RIG_CHECK(r, chown(dir, pw->pw_uid, pw->pw_gid) == 0);
	}
	rig_write_file(r, ini, rig_printf(INI, server, dir, dir), 0644);
	ret->conninfo = rig_printf("host=%s port=6432 user=postgres "
	    "dbname=%s", dir, PQdb(r->db));
	ret->pid = fork();
	RIG_CHECK(r, ret->pid != -1);
	if (ret->pid == 0)
		pooler_exec(ini, pw);
	for (;;) {
		db = PQconnectdb(ret->conninfo);
		if (PQstatus(db) == CONNECTION_OK)
			break;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "pgbouncer: %s", PQerrorMessage(db));
		PQfinish(db);
		rig_pause_ms(10);
	}
	PQfinish(db);
	return 0;
}

void
pooler_stop(struct pooler *p)
{
	(void)kill(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) == -1 && errno == EINTR)
		;
}

static void
pooler_exec(const char *ini, const struct passwd *pw)
{
	int fd = open("/dev/null", O_WRONLY);

	if (fd == -1 || dup2(fd, STDERR_FILENO) == -1)
		_exit(127);
	if (pw != NULL && (setgid(pw->pw_gid) == -1 ||
	    setuid(pw->pw_uid) == -1))
		_exit(127);
	execl(POOLER, POOLER, ini, (char *)NULL);
	_exit(127);
}
