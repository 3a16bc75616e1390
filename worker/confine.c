/*
 * confine.c - what a worker gives up before it reads its first message.
 *
 * The order matters: the secret needs the rights of the start, the ids go
 * before no_new_privs, and nothing is read before all of it is done.
 */
#include "worker/worker.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/priv.h"

#define SECRET_MAX	16384

static int	confine_check_secret(int fd, const char *path);

int
confine_read_secret(const char *path, char **ret, size_t *ret_len)
{
	char *data = NULL;
	ssize_t n = 0;
	size_t len = 0;
	int fd = -1, rc = PO_EIO;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd == -1) {
		log_warn("secret file %s: cannot open", path);
		return PO_EIO;
	}
	if ((rc = confine_check_secret(fd, path)) < 0)
		goto out;
	rc = PO_ENOMEM;
	if ((data = mem_alloc(SECRET_MAX + 1)) == NULL)
		goto out;
	rc = PO_EIO;
	while (len < SECRET_MAX) {
		n = read(fd, data + len, SECRET_MAX - len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			log_warn("secret file %s: cannot read", path);
			goto out;
		}
		if (n == 0)
			break;
		len += (size_t)n;
	}
	while (len > 0 && (data[len - 1] == '\n' || data[len - 1] == '\r'))
		data[--len] = '\0';
	if (len == 0 || strlen(data) != len || strchr(data, '\n') != NULL) {
		log_warnx("secret file %s: expected one line with the key",
		    path);
		rc = PO_EINVAL;
		goto out;
	}
	if ((*ret = mem_strndup(data, len)) == NULL) {
		rc = PO_ENOMEM;
		goto out;
	}
	*ret_len = len;
	rc = 0;
out:
	mem_free_secret(data, data != NULL ? SECRET_MAX + 1 : 0);
	fd_close(&fd);
	return rc;
}

static int
confine_check_secret(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) == -1) {
		log_warn("secret file %s: cannot stat", path);
		return PO_EIO;
	}
	if (!S_ISREG(st.st_mode)) {
		log_warnx("secret file %s: not a regular file", path);
		return PO_EINVAL;
	}
	if ((st.st_mode & 0007) != 0) {
		log_warnx("secret file %s: others can read it (mode %03o), "
		    "chmod it to 0600", path, st.st_mode & 0777);
		return PO_EPERM;
	}
	if (st.st_size > SECRET_MAX) {
		log_warnx("secret file %s: longer than %d bytes", path,
		    SECRET_MAX);
		return PO_ERANGE;
	}
	return 0;
}

void
confine_process(const char *user)
{
	const struct rlimit none = { 0, 0 };
	int rc = 0;

	if ((rc = priv_drop(user)) == PO_ENOENT)
		fatalx("user \"%s\" does not exist: create it or set user in "
		    "payonce.conf", user);
	if (rc < 0)
		fatal("cannot become user \"%s\"", user);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("no_new_privs");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1)
		fatal("dumpable off");
	if (setrlimit(RLIMIT_CORE, &none) == -1)
		fatal("core limit");
	closefrom(PROTO_FD + 1);
}
