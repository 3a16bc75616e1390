/*
 * receipt_file.h - what the receipt_*.c files share: names of files, lines.
 */
#ifndef PAYONCE_RECEIPT_FILE_H
#define PAYONCE_RECEIPT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/buf.h"
#include "common/receipt.h"

#define RECEIPT_VERSION		1
#define RECEIPT_FILE_MAX	(64u << 20)
#define RECEIPT_DAY_MAX		16	/* "2026-01-31" */

/* What the lines of a file say together, beside the facts. */
struct receipt_trail {
	size_t	good_len;	/* end of the last whole line */
	bool	has_bought;	/* a submitted or result line */
	bool	has_unknown;	/* an unknown line */
	bool	has_foreign;	/* an open intent under another database */
};

/* receipt_line.c */

int	receipt_line_intent(struct buf *, const struct receipt_facts *);
int	receipt_line_outcome(struct buf *, const struct receipt_facts *);
/*
 * receipt_parse() reads a whole file.  here: the database that open intents
 * are compared with, or NULL.  0, PO_EINVAL (damaged or foreign), PO_ENOMEM;
 * *ret is to be freed only after 0.  Without a whole line (good_len 0) it has
 * task and attempt alone.
 */
int	receipt_parse(const char *text, size_t len, int64_t task, int attempt,
	    const struct receipt_facts *here, struct receipt_facts *ret,
	    struct receipt_trail *ret_trail);

/* receipt_dir.c */

/* The paths are the caller's to free; NULL: no memory. */
char	*receipt_path_open(const char *state_dir, int64_t task, int attempt);
char	*receipt_path_folder(const char *state_dir, const char *folder);
int	receipt_parse_name(const char *name, int64_t *ret_task,
	    int *ret_attempt);
/* receipt_parse_day() gives the first second after that day (UTC). */
int	receipt_parse_day(const char *name, time_t *ret_end);
/* receipt_move_to_day() moves an open file without looking at its lock. */
int	receipt_move_to_day(const char *state_dir, int64_t task, int attempt);
/* receipt_set_aside() moves <folder>/<name> to damaged/<name>. */
int	receipt_set_aside(const char *state_dir, const char *folder,
	    const char *name);
/* receipt_lock() takes the lock: 0, PO_EBUSY, PO_EIO. */
int	receipt_lock(int fd);
/*
 * receipt_check_lock() only looks: 0 and a descriptor for reading, PO_EBUSY,
 * PO_ENOENT, PO_EINVAL (no regular file) or PO_EIO.
 */
int	receipt_check_lock(const char *path, int *ret_fd);

#endif
