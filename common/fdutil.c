/*
 * fdutil.c - descriptors and files; see fdutil.h.
 *
 * Owns no descriptor longer than a call.  errno is kept for the caller on
 * every PO_EIO.
 */
#include "common/fdutil.h"

#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"

#define FD_READ_STEP	65536

int
fd_pair(int fds[2])
{
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0, fds) == -1 ? PO_EIO : 0;
}

int
fd_set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == -1)
		return PO_EIO;
	return 0;
}

int
fd_set_cloexec(int fd, int on)
{
	int flags = fcntl(fd, F_GETFD);

	if (flags == -1)
		return PO_EIO;
	flags = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
	return fcntl(fd, F_SETFD, flags) == -1 ? PO_EIO : 0;
}

int
fd_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n = 0;

	while (len > 0) {
		if ((n = write(fd, at, len)) == -1) {
			if (errno == EINTR)
				continue;
			return PO_EIO;
		}
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int
fd_read_file(const char *path, size_t max, char **ret, size_t *ret_len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc = 0;

	if (fd == -1)
		return PO_EIO;
	rc = fd_read_all(fd, max, ret, ret_len);
	fd_close(&fd);
	return rc;
}

int
fd_read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	struct buf b;
	uint8_t *at = NULL;
	ssize_t n = 0;
	size_t want = 0, len = 0;
	char *data = NULL;
	int rc = 0;
	uint8_t more = 0;	/* where a byte too many goes */

	buf_init(&b, max);
	for (;;) {
		want = max - buf_left(&b);
		if (want > FD_READ_STEP)
			want = FD_READ_STEP;
		at = &more;
		if (want > 0 && (at = buf_reserve(&b, want)) == NULL) {
			rc = PO_ENOMEM;
			goto out;
		}
		while ((n = read(fd, at, want > 0 ? want : 1)) == -1 &&
		    errno == EINTR)
			continue;
		if (n == 0)
			break;
		if (n == -1 || want == 0) {
			rc = n == -1 ? PO_EIO : PO_ERANGE;
			goto out;
		}
		b.len += (size_t)n;
		b.data[b.len] = '\0';
	}
	if ((data = buf_steal(&b, &len)) == NULL) {
		rc = PO_ENOMEM;
		goto out;
	}
	*ret = data;
	if (ret_len != NULL)
		*ret_len = len;
out:
	buf_done(&b);
	return rc;
}

int
fd_sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

	if (fd == -1)
		return PO_EIO;
	if (fsync(fd) == -1)
		rc = PO_EIO;
	fd_close(&fd);
	return rc;
}

int
fd_mkdir_p(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	struct stat st = { 0 };
	size_t len = strlen(path), i = 0;

	if (len == 0 || len >= sizeof(part)) {
		errno = len == 0 ? ENOENT : ENAMETOOLONG;
		return PO_EIO;
	}
	/* Mostly the folders above are there. */
	if (mkdir(path, mode) == 0)
		return 0;
	for (i = errno == ENOENT ? 1 : len; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, mode) == 0)
			continue;
		/*
		 * EROFS and EACCES come before EEXIST on some parents, so
		 * what counts is whether a folder is there.
		 */
		if (stat(part, &st) == -1)
			return PO_EIO;
		if (!S_ISDIR(st.st_mode)) {
			errno = ENOTDIR;
			return PO_EIO;
		}
	}
	return 0;
}

int
fd_lock(int fd)
{
	while (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		if (errno == EWOULDBLOCK)
			return PO_EBUSY;
		if (errno != EINTR)
			return PO_EIO;
	}
	return 0;
}

void
fd_close(int *fd)
{
	int saved = errno;

	if (*fd != -1)
		(void)close(*fd);	/* fsync reported what matters */
	*fd = -1;
	errno = saved;
}
