/*
 * artifact.h - one file under state_dir/artifacts/<task>.<attempt>/.
 */
#ifndef PAYONCE_WORKER_ARTIFACT_H
#define PAYONCE_WORKER_ARTIFACT_H

#include <sys/types.h>

#include <sha2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARTIFACT_HEAD	32	/* bytes that tell the type */
#define ARTIFACT_MARK	"payonce-file:"	/* stands for bytes put into a file */

struct artifact_file {
	int	 fd;		/* -1: not open */
	char	*dir;
	char	*tmp;		/* NULL: renamed, fd is the folder's */
	size_t	 number;
	int64_t	 bytes;
	int64_t	 max;		/* 0: no limit */
	SHA2_CTX sha;
	uint8_t	 head[ARTIFACT_HEAD];
	size_t	 head_len;
};

/* What was written; artifact_facts_done() frees it. */
struct artifact_facts {
	char		*path;
	char		 sha256[SHA256_DIGEST_STRING_LENGTH];
	int64_t		 bytes;
	char		*type;		/* "image/png" */
};

/* artifact.c */

char	*artifact_dir(const char *state_dir, uint64_t task, uint64_t attempt);
/* 0, PO_EIO or PO_ENOMEM; a file that a former try left is written anew */
int	 artifact_open(struct artifact_file *, const char *state_dir,
	    uint64_t task, uint64_t attempt, size_t number, int64_t max);
/* 0, PO_ERANGE (over max) or PO_EIO */
int	 artifact_write(struct artifact_file *, const void *, size_t);
/*
 * artifact_seal() ends the writing and fills the facts.  Then, until
 * artifact_synced() returns 0: fsync of artifact_sync_fd(), and tell it here.
 * It renames in between: 1 (the folder is next), 0 (durable under its last
 * name) or PO_EIO.  On an error the caller aborts and frees the facts.
 * type: what the sender said, or NULL.
 */
int	 artifact_seal(struct artifact_file *, const char *type,
	    struct artifact_facts *ret);
int	 artifact_sync_fd(const struct artifact_file *);
int	 artifact_synced(struct artifact_file *, const struct artifact_facts *);
/* artifact_commit() is all of it, and waits. */
int	 artifact_commit(struct artifact_file *, const char *type,
	    struct artifact_facts *ret);
void	 artifact_abort(struct artifact_file *);
/* artifact_measure() reads a file that is there already. */
int	 artifact_measure(const char *path, struct artifact_facts *ret);
/* artifact_is_ours(): the path names a file of this attempt's folder. */
bool	 artifact_is_ours(const char *state_dir, uint64_t task,
	    uint64_t attempt, const char *path);
void	 artifact_facts_done(struct artifact_facts *);

/* artifact_type.c: pure */

/* artifact_type() is a MIME type; said may be NULL. */
const char *artifact_type(const char *said, const uint8_t *head, size_t len);
const char *artifact_extension(const char *type);	/* "png"; "bin" */

/* artifact_decode.c */

/* base64 (both alphabets, blanks, with or without padding) and hex */
enum artifact_code { ARTIFACT_BASE64, ARTIFACT_HEX };
/* artifact_decode() writes a text's bytes: 0, PO_EINVAL, PO_ERANGE, PO_EIO */
int	 artifact_decode(struct artifact_file *, enum artifact_code,
	    const char *text, size_t len);

#endif
