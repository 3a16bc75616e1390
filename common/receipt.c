/*
 * receipt.c - the writing side: a worker's receipt of its one attempt.
 *
 * Owns the open, locked file.  Must not decide whether a request may leave;
 * it refuses where the file speaks against it.
 */
#include "common/receipt.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/receipt_file.h"

#define RECEIPT_FILE_MODE	0640

struct receipt {
	int	 fd;		/* holds the lock */
	int64_t	 task;
	int	 attempt;
	char	*state_dir;
	off_t	 good_len;	/* whole lines that are on the disk */
	bool	 is_dirty;	/* there may be bytes behind good_len */
};

static int	receipt_start(const char *, const struct receipt_facts *,
		    bool may_be_sent, struct receipt **);
static int	receipt_open_locked(const char *state_dir, const char *path,
		    int *ret_fd);
static bool	receipt_is_at(int fd, const char *path);
static int	receipt_take_over(struct receipt *, const char *path,
		    const struct receipt_facts *, bool may_be_sent);
static int	receipt_append(struct receipt *, const struct buf *);

int
receipt_open(const char *state_dir, const struct receipt_facts *intent,
    struct receipt **ret)
{
	return receipt_start(state_dir, intent, false, ret);
}

int
receipt_reopen(const char *state_dir, const struct receipt_facts *intent,
    struct receipt **ret)
{
	return receipt_start(state_dir, intent, true, ret);
}

int
receipt_write_outcome(struct receipt *r, const struct receipt_facts *outcome)
{
	struct buf line;
	int rc = 0;

	buf_init(&line, RECEIPT_FILE_MAX);
	if ((rc = receipt_line_outcome(&line, outcome)) == 0)
		rc = receipt_append(r, &line);
	buf_done(&line);
	return rc;
}

void
receipt_close(struct receipt **r, bool is_stored)
{
	int saved = errno;

	if (*r == NULL)
		return;
	/*
	 * A failed move costs nothing: the next start finds the receipt open,
	 * the database answers that it knows, and it moves then.
	 */
	if (is_stored)
		(void)receipt_move_to_day((*r)->state_dir, (*r)->task,
		    (*r)->attempt);
	fd_close(&(*r)->fd);
	mem_free((*r)->state_dir);
	mem_free(*r);
	*r = NULL;
	errno = saved;
}

static int
receipt_start(const char *state_dir, const struct receipt_facts *intent,
    bool may_be_sent, struct receipt **ret)
{
	struct receipt *r = mem_alloc(sizeof(*r));
	struct buf line;
	char *path = receipt_path_open(state_dir, intent->task,
	    intent->attempt);
	char *folder = receipt_path_folder(state_dir, "open");
	int rc = 0;

	buf_init(&line, RECEIPT_FILE_MAX);
	if (r != NULL) {
		r->fd = -1;
		r->task = intent->task;
		r->attempt = intent->attempt;
		r->state_dir = mem_strdup(state_dir);
	}
	if (r == NULL || r->state_dir == NULL || path == NULL ||
	    folder == NULL) {
		rc = PO_ENOMEM;
		goto out;
	}
	if ((rc = receipt_line_intent(&line, intent)) < 0 ||
	    (rc = receipt_open_locked(state_dir, path, &r->fd)) < 0 ||
	    (rc = receipt_take_over(r, path, intent, may_be_sent)) < 0 ||
	    (rc = receipt_append(r, &line)) < 0 ||
	    (rc = fd_sync_dir(folder)) < 0)
		goto out;
	*ret = r;
	r = NULL;
out:
	receipt_close(&r, false);
	mem_free(folder);
	mem_free(path);
	buf_done(&line);
	return rc;
}

static int
receipt_open_locked(const char *state_dir, const char *path, int *ret_fd)
{
	int fd = -1, rc = 0, tries = 0;

	/*
	 * Between our open and our lock the supervisor may have moved the
	 * file away; then the name is free or stands for another file.
	 */
	for (tries = 0; tries < 3; tries++) {
		fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC |
		    O_NOFOLLOW | O_NONBLOCK, RECEIPT_FILE_MODE);
		if (fd == -1 && errno == ENOENT) {
			if ((rc = receipt_prepare(state_dir, NULL)) < 0)
				return rc;
			continue;
		}
		if (fd == -1)
			return PO_EIO;
		if ((rc = receipt_lock(fd)) < 0) {
			fd_close(&fd);
			return rc;
		}
		if (receipt_is_at(fd, path)) {
			*ret_fd = fd;
			return 0;
		}
		fd_close(&fd);
	}
	return PO_EBUSY;
}

static bool
receipt_is_at(int fd, const char *path)
{
	struct stat ours = { 0 }, named = { 0 };

	return fstat(fd, &ours) == 0 && lstat(path, &named) == 0 &&
	    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/* receipt_take_over() reads what is there and cuts off a torn line. */
static int
receipt_take_over(struct receipt *r, const char *path,
    const struct receipt_facts *intent, bool may_be_sent)
{
	struct receipt_facts facts = { 0 };
	struct receipt_trail trail = { 0 };
	struct stat st = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (fstat(r->fd, &st) == -1)
		return PO_EIO;
	if (!S_ISREG(st.st_mode))
		return PO_EEXIST;
	if (st.st_size == 0)
		return 0;
	rc = fd_read_file(path, RECEIPT_FILE_MAX, &text, &len);
	if (rc == 0)
		rc = receipt_parse(text, len, intent->task, intent->attempt,
		    intent, &facts, &trail);
	mem_free(text);
	if (rc == PO_EINVAL || rc == PO_ERANGE)
		return PO_EEXIST;	/* damaged: who knows what it says */
	if (rc < 0)
		return rc;
	receipt_facts_done(&facts);
	if (trail.has_bought)
		return PO_EEXIST;
	if (!may_be_sent && (trail.has_unknown || trail.has_foreign))
		return PO_EEXIST;
	r->good_len = (off_t)trail.good_len;
	r->is_dirty = st.st_size != r->good_len;
	return 0;
}

/*
 * A failed write or fdatasync may leave any part of the line; and after a
 * failed fdatasync the kernel calls lost pages clean.  So the line is always
 * written anew behind what was known to be good.
 */
static int
receipt_append(struct receipt *r, const struct buf *line)
{
	if (r->is_dirty && ftruncate(r->fd, r->good_len) == -1)
		return PO_EIO;
	r->is_dirty = true;
	if (fd_write_all(r->fd, buf_head(line), buf_left(line)) < 0 ||
	    fdatasync(r->fd) == -1) {
		int saved = errno;

		if (ftruncate(r->fd, r->good_len) == 0)
			r->is_dirty = false;
		errno = saved;
		return PO_EIO;
	}
	r->is_dirty = false;
	r->good_len += (off_t)buf_left(line);
	return 0;
}
