/*
 * exec_files.c - the folders of a local program: what its parents made, what
 * it made itself.
 *
 * Owns nothing.  Follows no symbolic link.
 */
#include "worker/exec.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "worker/artifact.h"
#include "worker/result.h"

#define FILES_OPEN	16	/* descriptors that nftw(3) may hold */
#define FILES_MAX	1000
#define FILES_LIST_MAX	(900u << 10)

/* nftw(3) hands no argument to its callback. */
static struct {
	struct buf	 list;
	unsigned int	 count;
	int		 rc;
} files_walk;

static int	files_remove_one(const char *, const struct stat *, int,
		    struct FTW *);
static int	files_list_one(const char *, const struct stat *, int,
		    struct FTW *);
static int	files_sync(const char *path, int flags);
static int	files_put_inputs(struct buf *, struct json_object *);

int
exec_files_remove(const char *path)
{
	if (nftw(path, files_remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS) ==
	    0 || errno == ENOENT)
		return 0;
	return PO_EIO;
}

static int
files_remove_one(const char *path, const struct stat *st, int type,
    struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int
exec_files_list(const char *path, char **ret)
{
	int rc = 0;

	memset(&files_walk, 0, sizeof(files_walk));
	buf_init(&files_walk.list, FILES_LIST_MAX);
	if (buf_putc(&files_walk.list, '[') < 0)
		return PO_ENOMEM;
	/* depth first: a folder is synced behind its files */
	if (nftw(path, files_list_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS) != 0)
		rc = files_walk.rc < 0 ? files_walk.rc : PO_EIO;
	if (rc == 0 && buf_putc(&files_walk.list, ']') < 0)
		rc = PO_ENOMEM;
	if (rc == 0 &&
	    (*ret = buf_steal(&files_walk.list, NULL)) == NULL)
		rc = PO_ENOMEM;
	buf_done(&files_walk.list);
	return rc;
}

static int
files_list_one(const char *path, const struct stat *st, int type,
    struct FTW *at)
{
	struct artifact_facts facts;
	int rc = 0;

	(void)at;
	if (type == FTW_DP)
		rc = files_sync(path, O_DIRECTORY);
	else if (type == FTW_F && S_ISREG(st->st_mode)) {
		if (++files_walk.count > FILES_MAX)
			rc = PO_ERANGE;
		if (rc == 0)
			rc = files_sync(path, O_NOFOLLOW);
		if (rc == 0)
			rc = artifact_measure(path, &facts);
		if (rc == 0) {
			rc = result_put_entry(&files_walk.list, &facts, NULL,
			    NULL);
			artifact_facts_done(&facts);
		}
	}
	files_walk.rc = rc;
	return rc;
}

static int
files_sync(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags), rc = 0;

	if (fd == -1)
		return PO_EIO;
	if (fsync(fd) == -1)
		rc = PO_EIO;
	fd_close(&fd);
	return rc;
}

int
exec_files_inputs(const char *path, const char *parents, size_t len)
{
	struct json_object *root = NULL, *result = NULL, *list = NULL;
	char *copy = NULL;
	struct buf b;
	size_t i = 0;
	int fd = -1, rc = 0;

	buf_init(&b, LIM_JSON);
	if (len > 0) {
		if ((copy = mem_strndup(parents, len)) == NULL)
			return PO_ENOMEM;
		root = json_tokener_parse(copy);
		mem_free(copy);
	}
	for (i = 0; rc == 0 && json_object_is_type(root, json_type_array) &&
	    i < json_object_array_length(root); i++) {
		if (json_object_object_get_ex(json_object_array_get_idx(root,
		    i), "result", &result) &&
		    json_object_object_get_ex(result, "artifacts", &list))
			rc = files_put_inputs(&b, list);
	}
	(void)json_object_put(root);
	if (rc == 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
		rc = fd == -1 ? PO_EIO :
		    fd_write_all(fd, buf_text(&b), buf_left(&b));
		fd_close(&fd);
	}
	buf_done(&b);
	return rc;
}

static int
files_put_inputs(struct buf *b, struct json_object *list)
{
	struct json_object *o = NULL, *path = NULL, *type = NULL;
	const char *text = NULL, *word = NULL;
	size_t i = 0;

	for (i = 0; json_object_is_type(list, json_type_array) &&
	    i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		if (!json_object_object_get_ex(o, "path", &path))
			continue;	/* lost: only its URL is known */
		text = json_object_get_string(path);
		word = "application/octet-stream";
		if (json_object_object_get_ex(o, "type", &type))
			word = json_object_get_string(type);
		if (text == NULL || word == NULL || strpbrk(text, "\n\t") !=
		    NULL || strpbrk(word, "\n\t") != NULL)
			continue;	/* the list has no way to say it */
		if (buf_printf(b, "%s\t%s\n", word, text) < 0)
			return PO_ENOMEM;
	}
	return 0;
}
