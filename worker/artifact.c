/*
 * artifact.c - an artifact becomes a durable file: temporary name, size
 * limit, SHA-256, fsync, rename, fsync of the folder.
 *
 * Owns one open file per struct.  Knows no URL and no provider.
 */
#include "worker/artifact.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"

#define ARTIFACT_READ	65536

static void	artifact_note(struct artifact_file *, const void *, size_t);
static void	artifact_forget(struct artifact_file *);

char *
artifact_dir(const char *state_dir, uint64_t task, uint64_t attempt)
{
	return mem_printf("%s/artifacts/%llu.%llu", state_dir,
	    (unsigned long long)task, (unsigned long long)attempt);
}

int
artifact_open(struct artifact_file *f, const char *state_dir, uint64_t task,
    uint64_t attempt, size_t number, int64_t max)
{
	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->number = number;
	f->max = max;
	SHA256Init(&f->sha);
	if ((f->dir = artifact_dir(state_dir, task, attempt)) == NULL ||
	    (f->tmp = mem_printf("%s/%zu.part", f->dir, number)) == NULL) {
		artifact_forget(f);
		return PO_ENOMEM;
	}
	if (fd_mkdir_p(f->dir, 0750) < 0)
		goto fail;
	f->fd = open(f->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
	    O_NOFOLLOW, 0640);
	if (f->fd == -1)
		goto fail;
	return 0;
fail:
	artifact_forget(f);
	return PO_EIO;
}

int
artifact_write(struct artifact_file *f, const void *data, size_t len)
{
	if (f->max > 0 && (uint64_t)len > (uint64_t)(f->max - f->bytes))
		return PO_ERANGE;
	if (fd_write_all(f->fd, data, len) < 0)
		return PO_EIO;
	artifact_note(f, data, len);
	return 0;
}

int
artifact_seal(struct artifact_file *f, const char *said,
    struct artifact_facts *ret)
{
	const char *type = artifact_type(said, f->head, f->head_len);

	memset(ret, 0, sizeof(*ret));
	ret->bytes = f->bytes;
	(void)SHA256End(&f->sha, ret->sha256);
	if ((ret->type = mem_strdup(type)) == NULL ||
	    (ret->path = mem_printf("%s/%zu.%s", f->dir, f->number,
	    artifact_extension(type))) == NULL)
		return PO_ENOMEM;
	return 0;
}

int
artifact_sync_fd(const struct artifact_file *f)
{
	return f->fd;
}

int
artifact_synced(struct artifact_file *f, const struct artifact_facts *facts)
{
	if (f->tmp == NULL) {
		artifact_forget(f);
		return 0;
	}
	if (rename(f->tmp, facts->path) == -1)
		return PO_EIO;
	mem_free(f->tmp);
	f->tmp = NULL;
	fd_close(&f->fd);
	f->fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return f->fd == -1 ? PO_EIO : 1;
}

int
artifact_commit(struct artifact_file *f, const char *said,
    struct artifact_facts *ret)
{
	int rc = artifact_seal(f, said, ret);

	if (rc == 0)
		rc = 1;
	while (rc > 0)
		rc = fsync(artifact_sync_fd(f)) == -1 ? PO_EIO :
		    artifact_synced(f, ret);
	if (rc < 0) {
		artifact_facts_done(ret);
		artifact_abort(f);
	}
	return rc;
}

void
artifact_abort(struct artifact_file *f)
{
	int saved = errno;

	if (f->fd != -1 && f->tmp != NULL)
		(void)unlink(f->tmp);	/* a leftover is written anew */
	artifact_forget(f);
	errno = saved;
}

int
artifact_measure(const char *path, struct artifact_facts *ret)
{
	struct artifact_file f;
	uint8_t *data = NULL;
	ssize_t n = 0;
	int fd = -1, rc = PO_ENOMEM;

	memset(&f, 0, sizeof(f));
	memset(ret, 0, sizeof(*ret));
	SHA256Init(&f.sha);
	if ((data = mem_alloc(ARTIFACT_READ)) == NULL)
		goto out;
	rc = PO_EIO;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	if (fd == -1)
		goto out;
	while ((n = read(fd, data, ARTIFACT_READ)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			goto out;
		artifact_note(&f, data, (size_t)n);
	}
	ret->bytes = f.bytes;
	(void)SHA256End(&f.sha, ret->sha256);
	rc = PO_ENOMEM;
	if ((ret->path = mem_strdup(path)) == NULL || (ret->type =
	    mem_strdup(artifact_type(NULL, f.head, f.head_len))) == NULL)
		goto out;
	rc = 0;
out:
	if (rc < 0)
		artifact_facts_done(ret);
	mem_free(data);
	fd_close(&fd);
	return rc;
}

bool
artifact_is_ours(const char *state_dir, uint64_t task, uint64_t attempt,
    const char *path)
{
	char *dir = artifact_dir(state_dir, task, attempt);
	size_t len = dir != NULL ? strlen(dir) : 0;
	bool is_ours = false;

	is_ours = len > 0 && strncmp(path, dir, len) == 0 &&
	    path[len] == '/' && path[len + 1] != '.' &&
	    path[len + 1] != '\0' && strchr(path + len + 1, '/') == NULL;
	mem_free(dir);
	return is_ours;
}

void
artifact_facts_done(struct artifact_facts *a)
{
	mem_free(a->path);
	mem_free(a->type);
	memset(a, 0, sizeof(*a));
}

static void
artifact_note(struct artifact_file *f, const void *data, size_t len)
{
	size_t n = ARTIFACT_HEAD - f->head_len;

	if (n > len)
		n = len;
	memcpy(f->head + f->head_len, data, n);
	f->head_len += n;
	f->bytes += (int64_t)len;
	SHA256Update(&f->sha, data, len);
}

static void
artifact_forget(struct artifact_file *f)
{
	fd_close(&f->fd);
	mem_free(f->dir);
	mem_free(f->tmp);
	f->dir = NULL;
	f->tmp = NULL;
}
