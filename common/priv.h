/*
 * priv.h - giving root away for good.
 */
#ifndef PAYONCE_PRIV_H
#define PAYONCE_PRIV_H

/* priv.c */

/*
 * priv_drop() becomes user with that user's groups only, and proves that
 * there is no way back.  Without root, or with user NULL or "", it does
 * nothing.  0, PO_ENOENT (no such user) or PO_EIO (errno says why); after a
 * failure the process must exit: it may be half dropped.
 */
int	priv_drop(const char *user);

#endif
