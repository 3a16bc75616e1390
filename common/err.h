/*
 * err.h - the one list of error codes that payonce's own functions return.
 *
 * A function that can fail returns 0 or one of these, always negative.
 */
#ifndef PAYONCE_ERR_H
#define PAYONCE_ERR_H

enum po_err {
	PO_OK = 0,
	PO_ENOMEM = -1,		/* allocation failed, or a cap was reached */
	PO_EINVAL = -2,		/* bytes from outside are malformed */
	PO_ERANGE = -3,		/* a number or length is out of its bounds */
	PO_EIO = -4,		/* a system call failed; errno says why */
	PO_EAGAIN = -5,		/* not now: wait for readiness */
	PO_EOF = -6,		/* the other side closed */
	PO_ENOENT = -7,		/* there is no such thing */
	PO_EEXIST = -8,		/* it is there already */
	PO_EPERM = -9,		/* not allowed in this state */
	PO_EBUSY = -10,		/* somebody else holds it */
	PO_EVERSION = -11	/* the other side speaks another version */
};

/* err.c */

/* po_strerror() names a code in a person's words; never NULL. */
const char	*po_strerror(int err);

#endif
