/*
 * cmd_sandbox.c - payonce sandbox: everything under one folder, in the
 * foreground.
 *
 * Starts the database, the mock provider and the supervisor in this order,
 * keeps them alive, and stops them the other way round.
 */
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sandbox.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "sql/migrate.h"

enum { READY_MS = 30000, FORMER_MS = 30000, TICK_MS = 50, DEFAULT_TASKS = 24 };

static int
fail_start(struct sandbox *sb, enum child_index i)
{
	const char	*name = sb->children[i].name;

	cli_fail(sb->cli, NULL, "%s did not start", name);
	child_log_tail(sb, name);
	return EXIT_CODE_FAILED;
}

static int
start_mock(struct sandbox *sb)
{
	struct mono	 deadline = mono_add_ms(mono_now(), READY_MS);
	char		*port_path = files_path(sb, "mock.port");
	char		**a = mem_array(16, sizeof(*a));
	int		 known = 0, rc;
	size_t		 n = 0;

	if (a == NULL || port_path == NULL)
		return EXIT_CODE_FAILED;
	/* tasks on their way hold URLs with the old port: keep it */
	(void)files_read_port(sb, &known);
	if (sb->port == 0)
		sb->port = known;
	(void)unlink(port_path);
	a[n++] = mem_strdup(sb->place.mock);
	a[n++] = mem_strdup("-p");
	a[n++] = mem_printf("%d", sb->port);
	a[n++] = mem_strdup("-P");
	a[n++] = port_path;
	a[n++] = mem_strdup("-l");
	a[n++] = files_path(sb, "ledger.jsonl");
	a[n++] = mem_strdup("-d");
	a[n++] = mem_strdup(sb->conninfo);
	a[n++] = mem_strdup("-k");
	a[n++] = mem_strdup("sandbox");
	a[n++] = mem_strdup("-n");
	a[n++] = mem_printf("%d", sb->latency_ms);
	if ((rc = child_start(sb, CHILD_MOCK, a)) != 0)
		return rc;
	while (files_read_port(sb, &sb->port) != 0) {
		if (sb->children[CHILD_MOCK].restarts > 0 ||
		    mono_left_ms(deadline) == 0)
			return fail_start(sb, CHILD_MOCK);
		if (!child_wait(sb, TICK_MS, NULL))
			return EXIT_CODE_FAILED;
	}
	/* should it die, it comes back on the same port */
	mem_free(a[2]);
	a[2] = mem_printf("%d", sb->port);
	return a[2] == NULL ? EXIT_CODE_FAILED : 0;
}

/* True once the supervisor has said in the database that it lives. */
static bool
is_seen(struct sandbox *sb)
{
	PGresult	*res = db_try(sb->cli, "SELECT 1 FROM payonce.host "
	    "WHERE seen_at > now() - interval '1 minute'", 0, NULL);
	bool		 is_alive = PQresultStatus(res) == PGRES_TUPLES_OK &&
	    PQntuples(res) > 0;

	PQclear(res);
	return is_alive;
}

/*
 * After a SIGKILL of the sandbox its payonced may still be waiting for the
 * answers of requests that it has sent; it holds its lock until then.
 */
static int
wait_former(struct sandbox *sb)
{
	struct mono	 deadline = mono_add_ms(mono_now(), FORMER_MS);
	char		*path = files_path(sb, "state/payonced.pid");
	bool		 is_said = false;
	int		 fd = -1, rc = EXIT_CODE_FAILED;

	if (path == NULL)
		return rc;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT)
		rc = 0;
	while (fd != -1 && (rc = fd_lock(fd)) == PO_EBUSY) {
		if (!is_said)
			(void)puts("waiting for the payonced of the last run "
			    "to end");
		is_said = true;
		(void)fflush(stdout);
		if (mono_left_ms(deadline) == 0 ||
		    !child_wait(sb, TICK_MS, NULL))
			break;
	}
	if (rc != 0) {
		cli_fail(sb->cli, "end that process and start again", "the "
		    "payonced of the last run still holds %s", path);
		rc = EXIT_CODE_FAILED;
	}
	fd_close(&fd);		/* and with it the lock */
	mem_free(path);
	return rc;
}

static int
start_supervisor(struct sandbox *sb)
{
	struct mono	 deadline = mono_add_ms(mono_now(), READY_MS);
	char		**a = mem_array(6, sizeof(*a));
	PGresult	*res;
	int		 rc;

	if (a == NULL)
		return EXIT_CODE_FAILED;
	/* a host of the last run must not be taken for this one */
	res = db_try(sb->cli, "UPDATE payonce.host SET seen_at = "
	    "now() - interval '1 hour'", 0, NULL);
	PQclear(res);
	a[0] = mem_strdup(sb->place.payonced);
	a[1] = mem_strdup("-f");
	a[2] = mem_strdup("-c");
	a[3] = mem_strdup(sb->conf);
	if ((rc = child_start(sb, CHILD_SUPERVISOR, a)) != 0)
		return rc;
	while (!is_seen(sb)) {
		if (sb->children[CHILD_SUPERVISOR].restarts > 0 ||
		    mono_left_ms(deadline) == 0)
			return fail_start(sb, CHILD_SUPERVISOR);
		if (!child_wait(sb, TICK_MS, NULL))
			return EXIT_CODE_FAILED;
	}
	return 0;
}

static int
migrate(struct sandbox *sb)
{
	struct cli	*cli = sb->cli;
	char		*error = NULL;
	int		 applied = 0, rc;

	cli->conf_path = NULL;
	cli->conninfo = sb->conninfo;
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((rc = migrate_run(cli->db, &applied, &error)) != 0)
		cli_fail(cli, NULL, "the schema: %s", error != NULL ? error :
		    "out of memory");
	mem_free(error);
	return rc == 0 ? 0 : EXIT_CODE_FAILED;
}

static int
start_all(struct sandbox *sb, const char *dir)
{
	int	 rc;

	if ((rc = files_prepare(sb, dir)) != 0 ||
	    (rc = child_signals(sb)) != 0 ||
	    (rc = place_find(sb->cli, &sb->place)) != 0 ||
	    (rc = pg_make_cluster(sb)) != 0 || (rc = pg_start(sb)) != 0 ||
	    (rc = migrate(sb)) != 0 || (rc = start_mock(sb)) != 0 ||
	    (rc = files_write_conf(sb)) != 0)
		return rc;
	return (rc = wait_former(sb)) != 0 ? rc : start_supervisor(sb);
}

static void
say_ready(const struct sandbox *sb)
{
	(void)printf("ready\n\n"
	    "In another terminal%s%s:\n\n"
	    "  export PAYONCE_CONF=%s\n"
	    "  alias payonce=%s\n"
	    "  payonce enqueue image '{\"prompt\": \"a red fox\"}' --wait\n"
	    "  payonce list;  payonce status;  payonce show 1\n"
	    "  tail -f %s/ledger.jsonl      # what the provider charged\n"
	    "  psql '%s'\n\n"
	    "Kill what you like: payonced comes back, and pays nothing "
	    "twice.  Ctrl-C stops all.\n", sb->user != NULL ? ", as root or "
	    : "", sb->user != NULL ? sb->user : "", sb->conf,
	    sb->place.command, sb->dir, sb->conninfo);
	(void)fflush(stdout);
}

/* The demo is a process of its own: the loop here keeps things alive. */
static int
run_demo(struct sandbox *sb, int64_t tasks)
{
	struct child_end	 end = { .pid = 0 };
	pid_t			 pid;

	(void)fflush(stdout);
	if ((pid = fork()) == 0) {
		sb->cli->db = NULL;	/* the parent's connection */
		_exit(demo_run(sb, tasks));
	}
	if (pid == -1)
		return EXIT_CODE_FAILED;
	while (end.pid != pid)
		if (!child_wait(sb, -1, &end)) {
			(void)kill(pid, SIGTERM);
			(void)waitpid(pid, NULL, 0);
			return EXIT_CODE_FAILED;
		}
	return WIFEXITED(end.status) ? WEXITSTATUS(end.status) :
	    EXIT_CODE_FAILED;
}

static void
sandbox_done(struct sandbox *sb)
{
	size_t	 i;

	for (i = 0; i < CHILD_MAX; i++)
		child_done(&sb->children[i]);
	place_done(&sb->place);
	fd_close(&sb->lock_fd);
	fd_close(&sb->signal_fd);
	sb->cli->conninfo = NULL;
	mem_free(sb->user);
	mem_free(sb->dir);
	mem_free(sb->conf);
	mem_free(sb->conninfo);
}

int
cmd_sandbox(struct cli *cli, int argc, char **argv)
{
	struct sandbox	 sb = { .cli = cli, .lock_fd = -1, .signal_fd = -1,
	    .latency_ms = 2000,
	    .children = {
		[CHILD_POSTGRES] = { .name = "postgres",
		    .stop_signal = SIGINT },
		[CHILD_MOCK] = { .name = "mock", .stop_signal = SIGTERM },
		[CHILD_SUPERVISOR] = { .name = "payonced",
		    .stop_signal = SIGTERM },
	    } };
	const char	*tasks_text = NULL, *port_text = NULL;
	const struct opt opts[] = {
		{ "tasks", &tasks_text, NULL }, { "port", &port_text, NULL },
		{ "demo", NULL, &sb.is_quiet },
	};
	int64_t		 tasks = DEFAULT_TASKS, port = 0;
	int		 rc;

	if ((rc = opts_parse(cli, argc, argv, opts, 3, 1, 1)) < 0)
		return opts_status(rc);
	if ((tasks_text != NULL &&
	    !opts_i64(cli, "--tasks", tasks_text, 1, &tasks)) ||
	    (port_text != NULL &&
	    !opts_i64(cli, "--port", port_text, 1, &port)))
		return EXIT_CODE_USAGE;
	if (port > 65535 || tasks > 10000)
		return cli_usage(cli, "--port is at most 65535, --tasks at "
		    "most 10000");
	sb.port = (int)port;
	if ((rc = start_all(&sb, argv[0])) == 0) {
		if (sb.is_quiet) {
			rc = run_demo(&sb, tasks);
		} else {
			say_ready(&sb);
			while (child_wait(&sb, -1, NULL))
				continue;
		}
	}
	db_close(cli);	/* or PostgreSQL would wait for it */
	child_stop_all(&sb);
	sandbox_done(&sb);
	return rc;
}
