/*
 * pgtest.h - fresh payonce databases for tests and benches.
 *
 * Everything here fails loudly: what went wrong goes to stderr and the
 * process exits with 1 (a failed test, in Check's fork mode).
 */
#ifndef PAYONCE_PGTEST_H
#define PAYONCE_PGTEST_H

#include <libpq-fe.h>

/* pgtest.c */

/*
 * pgtest_start() comes first in main().  Without PAYONCE_TEST_PG it execs the
 * program again below tests/lib/with-pg; with it, it makes the template
 * database payonce_tmpl by migrate_run() once per cluster.
 */
void	 pgtest_start(int argc, char **argv);
/*
 * pgtest_new_db() makes a migrated database of its own name and connects; the
 * caller ends the connection with PQfinish().
 */
PGconn	*pgtest_new_db(void);
/* pgtest_connect() connects once more to the database of another one. */
PGconn	*pgtest_connect(PGconn *other);
/* pgtest_connect_as() does so as another role of the cluster. */
PGconn	*pgtest_connect_as(PGconn *other, const char *user);
/* pgtest_conninfo() tells a program where that is; the caller frees. */
char	*pgtest_conninfo(PGconn *);

void	 pgtest_exec(PGconn *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* pgtest_value() is the first column of the only row; the caller frees. */
char	*pgtest_value(PGconn *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* pgtest_int() is that as a number. */
long	 pgtest_int(PGconn *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/*
 * pgtest_list() joins all rows: columns by ",", rows by ";", NULL as "".  The
 * caller frees.
 */
char	*pgtest_list(PGconn *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* pgtest_error() is the SQLSTATE of a statement that must fail; static. */
const char	*pgtest_error(PGconn *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

#endif
