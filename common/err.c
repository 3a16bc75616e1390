/*
 * err.c - error codes in a person's words.  Owns nothing; changes no state.
 */
#include "common/err.h"

const char *
po_strerror(int err)
{
	switch ((enum po_err)err) {
	case PO_OK:
		return "no error";
	case PO_ENOMEM:
		return "out of memory, or over a size limit";
	case PO_EINVAL:
		return "malformed";
	case PO_ERANGE:
		return "out of range";
	case PO_EIO:
		return "system call failed";
	case PO_EAGAIN:
		return "not ready yet";
	case PO_EOF:
		return "closed by the other side";
	case PO_ENOENT:
		return "no such thing";
	case PO_EEXIST:
		return "exists already";
	case PO_EPERM:
		return "not allowed now";
	case PO_EBUSY:
		return "held by somebody else";
	case PO_EVERSION:
		return "another version";
	}
	return "unknown error";
}
