/*
 * migrate.h - bring a database to the version that this program knows.
 */
#ifndef PAYONCE_MIGRATE_H
#define PAYONCE_MIGRATE_H

#include <libpq-fe.h>

/* migrate.c */

/*
 * migrate_run() applies every migration that payonce.migration does not name,
 * each in a transaction of its own under an advisory lock: safe to repeat and
 * safe beside another one.  0, PO_EVERSION (the database is newer than this
 * program, or is not ours), PO_EIO (the server refused) or PO_ENOMEM.
 * ret_applied counts what was applied, also on failure.  ret_error is NULL or
 * a sentence for the operator; the caller frees it with mem_free().
 */
int	migrate_run(PGconn *, int *ret_applied, char **ret_error);

#endif
