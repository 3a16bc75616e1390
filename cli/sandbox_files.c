/*
 * sandbox_files.c - the sandbox's folder and its configuration.
 *
 * payonce.conf is written anew at each start, because ports and the places
 * of programs may have changed; everything else under the folder is kept.
 */
#include <sys/file.h>
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sandbox.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/priv.h"

enum { CONF_MAX = 65536, SOCKET_DIR_MAX = 80, PORT_FILE_MAX = 64 };

char *
files_path(const struct sandbox *sb, const char *name)
{
	return mem_printf("%s/%s", sb->dir, name);
}

static int
fail_errno(const struct sandbox *sb, const char *what)
{
	cli_fail(sb->cli, NULL, "%s: %s", what, strerror(errno));
	return EXIT_CODE_FAILED;
}

/* PostgreSQL refuses to run as root: become payonce, else postgres. */
static int
give_up_root(struct sandbox *sb)
{
	const struct passwd	*pw = getpwnam("payonce");
	int			 rc;

	if (pw == NULL)
		pw = getpwnam("postgres");
	if (pw == NULL) {
		cli_fail(sb->cli, "apt-get install postgresql makes the user "
		    "postgres; or run the sandbox as an ordinary user",
		    "root cannot run a database, and there is neither a user "
		    "payonce nor postgres");
		return EXIT_CODE_FAILED;
	}
	sb->user = pw->pw_uid == 0 ? NULL : mem_strdup(pw->pw_name);
	if (sb->user == NULL)
		return EXIT_CODE_FAILED;
	if (chown(sb->dir, pw->pw_uid, pw->pw_gid) == -1)
		return fail_errno(sb, sb->dir);
	if ((rc = priv_drop(sb->user)) != 0) {
		cli_fail(sb->cli, NULL, "cannot become %s: %s", sb->user,
		    rc == PO_EIO ? strerror(errno) : po_strerror(rc));
		return EXIT_CODE_FAILED;
	}
	/* programs look there for their own files */
	(void)setenv("HOME", sb->dir, 1);
	(void)setenv("USER", sb->user, 1);
	return 0;
}

static int
take_lock(struct sandbox *sb)
{
	char	*path = files_path(sb, "sandbox.lock");
	int	 rc;

	if (path == NULL)
		return EXIT_CODE_FAILED;
	sb->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	rc = sb->lock_fd == -1 ? PO_EIO : fd_lock(sb->lock_fd);
	if (rc == PO_EBUSY)
		cli_fail(sb->cli, "stop it (Ctrl-C there), or take another "
		    "folder", "another sandbox runs in %s", sb->dir);
	else if (rc != 0)
		(void)fail_errno(sb, path);
	mem_free(path);
	return rc == 0 ? 0 : EXIT_CODE_FAILED;
}

static int
is_empty_folder(const char *path, bool *ret)
{
	DIR			*d = opendir(path);
	const struct dirent	*e;

	if (d == NULL)
		return PO_EIO;
	errno = 0;
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			break;
	if (e == NULL && errno != 0) {
		(void)closedir(d);
		return PO_EIO;
	}
	*ret = e == NULL;
	return closedir(d) == -1 ? PO_EIO : 0;
}

/*
 * The folder gets another owner and is closed to everybody else: that must
 * never befall /etc or somebody's home, only a new folder or our own.
 */
static int
check_folder(struct sandbox *sb)
{
	char	*path = files_path(sb, "sandbox.lock");
	bool	 is_ours, is_empty;

	if (path == NULL)
		return EXIT_CODE_FAILED;
	is_ours = access(path, F_OK) == 0;
	mem_free(path);
	if (is_ours)
		return 0;
	if (is_empty_folder(sb->dir, &is_empty) != 0)
		return fail_errno(sb, sb->dir);
	if (is_empty)
		return 0;
	cli_fail(sb->cli, "name a new folder, such as /tmp/payonce", "%s has "
	    "files in it and is no sandbox; nothing was touched", sb->dir);
	return EXIT_CODE_FAILED;
}

/* Two folders up to an existing one may be missing; ours is private. */
static int
make_folder(struct sandbox *sb, const char *dir)
{
	char	*real;

	if (fd_mkdir_p(dir, 0755) != 0)
		return fail_errno(sb, dir);
	if ((real = realpath(dir, NULL)) == NULL)
		return fail_errno(sb, dir);
	sb->dir = mem_strdup(real);
	free(real);
	if (sb->dir == NULL)
		return EXIT_CODE_FAILED;
	if (strchr(sb->dir, '\'') != NULL || strchr(sb->dir, '"') != NULL ||
	    strchr(sb->dir, '\\') != NULL || strchr(sb->dir, ' ') != NULL) {
		cli_fail(sb->cli, "choose a plain name", "the folder's name "
		    "has blanks or quotes: %s", sb->dir);
		return EXIT_CODE_FAILED;
	}
	if (strlen(sb->dir) > SOCKET_DIR_MAX) {
		cli_fail(sb->cli, "choose a shorter one, such as /tmp/payonce",
		    "the folder's name is too long for a socket (%d "
		    "characters at most): %s", SOCKET_DIR_MAX, sb->dir);
		return EXIT_CODE_FAILED;
	}
	return 0;
}

static int
write_file(struct sandbox *sb, const char *name, const void *data, size_t len)
{
	char	*path = files_path(sb, name), *tmp;
	int	 fd, rc = 0;

	tmp = path == NULL ? NULL : mem_printf("%s.new", path);
	if (tmp == NULL) {
		mem_free(path);
		return EXIT_CODE_FAILED;
	}
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1 || fd_write_all(fd, data, len) != 0 ||
	    fsync(fd) == -1 || rename(tmp, path) == -1)
		rc = fail_errno(sb, path);
	fd_close(&fd);
	mem_free(tmp);
	mem_free(path);
	return rc;
}

int
files_prepare(struct sandbox *sb, const char *dir)
{
	static const char *const	 folders[] = { "run", "state", "log",
		    "secrets", NULL };
	char				*path;
	size_t				 i;
	int				 rc;

	if ((rc = make_folder(sb, dir)) != 0 || (rc = check_folder(sb)) != 0)
		return rc;
	if (geteuid() == 0 && (rc = give_up_root(sb)) != 0)
		return rc;
	if (chmod(sb->dir, 0700) == -1 || access(sb->dir, W_OK | X_OK) == -1)
		return fail_errno(sb, sb->dir);
	if ((rc = take_lock(sb)) != 0)
		return rc;
	for (i = 0; folders[i] != NULL; i++) {
		path = files_path(sb, folders[i]);
		if (path == NULL || fd_mkdir_p(path, 0700) != 0) {
			rc = fail_errno(sb, path != NULL ? path : dir);
			mem_free(path);
			return rc;
		}
		mem_free(path);
	}
	if ((rc = write_file(sb, "secrets/fal", "sandbox", 7)) == 0)
		rc = write_file(sb, "secrets/replicate", "sandbox", 7);
	sb->conf = files_path(sb, "payonce.conf");
	sb->conninfo = mem_printf("host=%s/run port=5432 dbname=payonce "
	    "user=payonce", sb->dir);
	return sb->conf == NULL || sb->conninfo == NULL ? EXIT_CODE_FAILED :
	    rc;
}

/* Single keys of the shipped file, so that the mock is the provider. */
static void
conf_provider(struct sandbox *sb, struct buf *b, const char *name,
    const char *path, const char *scheme)
{
	(void)buf_printf(b, "provider %s {\n"
	    "\tbase = \"http://127.0.0.1:%d/%s\"\n"
	    "\theader = {'Authorization: %s {key}', "
	    "'X-Payonce-Task: {task}.{attempt}'}\n"
	    "\tkey_hosts = {\"127.0.0.1:%d\"}\n"
	    "\thosts = {\"127.0.0.1:%d\"}\n"
	    "\tpoll { interval = 0.2  interval_max = 1 }\n"
	    "\tcost { unit_price = \"1\" }\n}\n", name,
	    sb->port, path, scheme, sb->port, sb->port);
}

int
files_write_conf(struct sandbox *sb)
{
	const struct place	*p = &sb->place;
	struct buf		 b;
	int			 rc;

	buf_init(&b, CONF_MAX);
	(void)buf_printf(&b, "# written by `payonce sandbox`, anew at each "
	    "start\n"
	    "database     = \"%s\"\nstate_dir    = \"%s/state\"\n"
	    "run_dir      = \"%s/run\"\nsecrets_dir  = \"%s/secrets\"\n"
	    "worker_path  = \"%s\"\nproviders    = {\"%s/*.conf\"}\n"
	    "lease        = 5\nstop_timeout = 10\n\n", sb->conninfo, sb->dir,
	    sb->dir, sb->dir, p->worker, p->providers);
	conf_provider(sb, &b, "fal", "fal", "Key");
	conf_provider(sb, &b, "replicate", "replicate/v1", "Bearer");
	(void)buf_puts(&b, "\n"
	    "kind image  { provider = fal        "
	    "model = \"fal-ai/flux/dev\"    "
	    "estimate = \"0.03\"   concurrency = 4 }\n"
	    "kind clip   { provider = fal        "
	    "model = \"fal-ai/veo3\"        "
	    "estimate = \"0.50\"   concurrency = 3 }\n"
	    "kind speech { provider = replicate  "
	    "model = \"minimax/speech-02\"  "
	    "estimate = \"0.015\"  concurrency = 2 }\n");
	if (p->render != NULL)
		(void)buf_printf(&b, "kind render { command = {\"%s\"}  "
		    "concurrency = 1  timeout = 600 "
		    "max_requeues = 50 }\n", p->render);
	rc = write_file(sb, "payonce.conf", buf_text(&b), buf_left(&b));
	buf_done(&b);
	return rc;
}

int
files_read_port(const struct sandbox *sb, int *ret)
{
	char	*path = files_path(sb, "mock.port"), *text = NULL;
	size_t	 len;
	int64_t	 port;
	int	 rc = EXIT_CODE_FAILED;

	if (path != NULL &&
	    fd_read_file(path, PORT_FILE_MAX, &text, &len) == 0) {
		text[strcspn(text, "\n")] = '\0';
		if (num_parse_i64(text, 1, 65535, &port) == 0) {
			*ret = (int)port;
			rc = 0;
		}
	}
	mem_free(text);
	mem_free(path);
	return rc;
}
