/*
 * fdutil.h - descriptors that are close-on-exec and non-blocking from birth,
 * and files that are really on the disk.
 */
#ifndef PAYONCE_FDUTIL_H
#define PAYONCE_FDUTIL_H

#include <stddef.h>
#include <sys/types.h>

/* fdutil.c: 0 or PO_EIO unless said otherwise */
int	fd_pair(int fds[2]);		/* stream, CLOEXEC | NONBLOCK */
int	fd_set_nonblock(int fd);
int	fd_set_cloexec(int fd, int on);
int	fd_write_all(int fd, const void *data, size_t len);
/*
 * fd_read_file() reads a whole file of at most max bytes, fd_read_all() to
 * the end.  *ret has a NUL behind its ret_len (may be NULL) bytes; the caller
 * frees.  PO_EIO, PO_ENOMEM, or PO_ERANGE: there are more bytes than max.
 */
int	fd_read_file(const char *path, size_t max, char **ret, size_t *ret_len);
int	fd_read_all(int fd, size_t max, char **ret, size_t *ret_len);
int	fd_sync_dir(const char *path);		/* fsync of a folder */
int	fd_mkdir_p(const char *path, mode_t mode);	/* missing parts */
/* fd_lock() takes flock(LOCK_EX | LOCK_NB): 0, PO_EBUSY or PO_EIO. */
int	fd_lock(int fd);
/* fd_close() accepts -1, sets the variable to -1 and keeps errno. */
void	fd_close(int *fd);

#endif
