/*
 * exec_run.c - starting a local program: folders, its input, its pipes, the
 * guard.
 *
 * Changes struct exec from idle to running, or leaves it clean.
 */
#include "worker/exec.h"

#include <sys/mman.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/artifact.h"

#define EXEC_ENV_MAX	24
#define EXEC_PATH	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:" \
			"/sbin:/bin"

struct exec_env {
	char	*list[EXEC_ENV_MAX + 1];
	size_t	 count;
};

static int	exec_make_folders(struct exec *, const struct msg_assign *);
static int	exec_make_input(struct exec *, const struct msg_assign *,
		    int *ret_fd);
static int	exec_make_env(struct exec *, struct exec_env *);
static int	exec_env_put(struct exec_env *, const char *name,
		    const char *value);
static int	exec_fork(struct exec *, int in, const struct exec_env *);

int
exec_run(struct exec *x, const struct msg_assign *m)
{
	struct exec_env env;
	size_t i = 0;
	int in = -1, rc = 0;

	memset(&env, 0, sizeof(env));
	if ((rc = exec_make_folders(x, m)) == 0 &&
	    (rc = exec_make_input(x, m, &in)) == 0 &&
	    (rc = exec_make_env(x, &env)) == 0)
		rc = exec_fork(x, in, &env);
	fd_close(&in);
	for (i = 0; i < env.count; i++)
		mem_free(env.list[i]);
	return rc;
}

/* What a former run of this attempt left is not this run's output. */
static int
exec_make_folders(struct exec *x, const struct msg_assign *m)
{
	char *inputs = NULL;
	int rc = 0;

	x->output = artifact_dir(x->w->state_dir, x->job.task,
	    x->job.attempt);
	x->work = mem_printf("%s/work/%llu.%llu", x->w->state_dir,
	    (unsigned long long)x->job.task,
	    (unsigned long long)x->job.attempt);
	if (x->output == NULL || x->work == NULL ||
	    (inputs = mem_printf("%s/inputs", x->work)) == NULL)
		return PO_ENOMEM;
	if ((rc = exec_files_remove(x->output)) == 0 &&
	    (rc = exec_files_remove(x->work)) == 0 &&
	    (rc = fd_mkdir_p(x->output, 0750)) == 0 &&
	    (rc = fd_mkdir_p(x->work, 0750)) == 0)
		rc = exec_files_inputs(inputs, m->parents.p, m->parents.len);
	mem_free(inputs);
	return rc;
}

/* {"id","kind","attempt","input","parents"} in a file without a name. */
static int
exec_make_input(struct exec *x, const struct msg_assign *m, int *ret_fd)
{
	struct buf b;
	int fd = -1, rc = PO_ENOMEM;

	buf_init(&b, LIM_BIG);
	/* a kind is a word of the configuration: nothing to escape */
	if (buf_printf(&b, "{\"id\":%llu,\"kind\":\"%s\",\"attempt\":%llu,"
	    "\"input\":", (unsigned long long)x->job.task, x->w->kind,
	    (unsigned long long)x->job.attempt) < 0 ||
	    buf_put(&b, m->input.len > 0 ? m->input.p : "null",
	    m->input.len > 0 ? m->input.len : 4) < 0 ||
	    buf_puts(&b, ",\"parents\":") < 0 ||
	    buf_put(&b, m->parents.len > 0 ? m->parents.p : "[]",
	    m->parents.len > 0 ? m->parents.len : 2) < 0 ||
	    buf_puts(&b, "}\n") < 0)
		goto out;
	rc = PO_EIO;
	fd = memfd_create("task", MFD_CLOEXEC);
	if (fd == -1 || fd_write_all(fd, buf_text(&b), buf_left(&b)) < 0 ||
	    lseek(fd, 0, SEEK_SET) == -1)
		goto out;
	*ret_fd = fd;
	fd = -1;
	rc = 0;
out:
	fd_close(&fd);
	buf_done(&b);
	return rc;
}

/* Only what a program needs: the environment of a service is nobody's. */
static int
exec_make_env(struct exec *x, struct exec_env *env)
{
	static const char *const kept[] = {
		"HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH"
	};
	const char *path = getenv("PATH");
	char task[24], attempt[24];
	char *inputs = mem_printf("%s/inputs", x->work);
	size_t i = 0;
	int rc = 0;

	(void)snprintf(task, sizeof(task), "%llu",
	    (unsigned long long)x->job.task);
	(void)snprintf(attempt, sizeof(attempt), "%llu",
	    (unsigned long long)x->job.attempt);
	if (inputs == NULL)
		return PO_ENOMEM;
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]) && rc == 0; i++) {
		if (getenv(kept[i]) != NULL)
			rc = exec_env_put(env, kept[i], getenv(kept[i]));
	}
	if (rc == 0 &&
	    (rc = exec_env_put(env, "PATH", path != NULL ? path :
	    EXEC_PATH)) == 0 &&
	    (rc = exec_env_put(env, "TMPDIR", x->work)) == 0 &&
	    (rc = exec_env_put(env, "PAYONCE_OUTPUT", x->output)) == 0 &&
	    (rc = exec_env_put(env, "PAYONCE_INPUT_FILES", inputs)) == 0 &&
	    (rc = exec_env_put(env, "PAYONCE_KIND", x->w->kind)) == 0 &&
	    (rc = exec_env_put(env, "PAYONCE_TASK", task)) == 0)
		rc = exec_env_put(env, "PAYONCE_ATTEMPT", attempt);
	mem_free(inputs);
	return rc;
}

static int
exec_env_put(struct exec_env *env, const char *name, const char *value)
{
	if (env->count == EXEC_ENV_MAX)
		return PO_ERANGE;
	env->list[env->count] = mem_printf("%s=%s", name, value);
	if (env->list[env->count] == NULL)
		return PO_ENOMEM;
	env->count++;
	return 0;
}

static int
exec_fork(struct exec *x, int in, const struct exec_env *env)
{
	int pipes[EXEC_STREAM_MAX][2], life[2] = { -1, -1 };
	struct exec_launch l;
	int i = 0, rc = PO_EIO;

	memset(pipes, -1, sizeof(pipes));
	if (pipe2(life, O_CLOEXEC) == -1)
		goto out;
	for (i = 0; i < EXEC_STREAM_MAX; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) == -1 ||
		    fd_set_nonblock(pipes[i][0]) < 0)
			goto out;
	}
	x->guard = fork();
	if (x->guard == -1)
		goto out;
	if (x->guard == 0) {
		l = (struct exec_launch){
			.in = in,
			.out = pipes[EXEC_OUT][1],
			.err = pipes[EXEC_ERR][1],
			.progress = pipes[EXEC_PROGRESS][1],
			.life = life[0],
			.status = pipes[EXEC_STATUS][1],
			.argv = x->w->command,
			.envp = env->list,
			.dir = x->work,
		};
		exec_guard(&l);
	}
	x->life = life[1];
	life[1] = -1;
	for (i = 0; i < EXEC_STREAM_MAX; i++) {
		rc = exec_stream_open(x, (enum exec_stream_name)i, pipes[i][0]);
		pipes[i][0] = -1;
		if (rc < 0)
			break;
	}
	if (rc < 0)
		exec_kill(x, "no_memory");
	rc = 0;
out:
	fd_close(&life[0]);
	fd_close(&life[1]);
	for (i = 0; i < EXEC_STREAM_MAX; i++) {
		fd_close(&pipes[i][0]);
		fd_close(&pipes[i][1]);
	}
	return rc;
}
