/*
 * proto.h - messages between payonced and its workers: frames over a stream
 * socket, each a length, a type and one msgpack array of fixed arity.
 *
 *   0        4      6      8                 8 + len
 *   +--------+------+------+---- ... ----+
 *   | len u32| type | zero |    body     |    all big-endian
 *   +--------+------+------+---- ... ----+
 *
 * The header is checked before anything is allocated; memory is bounded by
 * the bytes received, never by an announced count (nothing from a socket
 * goes to libmsgpack's unpacker; it only encodes here).  proto/ does no
 * policy: the receiver checks msg_row() permissions and ends a bad sender.
 */
#ifndef PAYONCE_PROTO_H
#define PAYONCE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

#define PROTO_VERSION	1
#define PROTO_HEADER	8
#define PROTO_FD	3	/* a worker's channel, always this descriptor */

enum worker_role {
	ROLE_SUBMIT,
	ROLE_POLL,
	ROLE_EXEC,
	ROLE_MAX
};

enum child_state_bit {
	C_STARTING = 1,
	C_IDLE = 2,
	C_BUSY = 4,
	C_DRAINING = 8
};

enum role_bit {
	R_SUBMIT = 1 << ROLE_SUBMIT,
	R_POLL = 1 << ROLE_POLL,
	R_EXEC = 1 << ROLE_EXEC,
	R_ALL = R_SUBMIT | R_POLL | R_EXEC
};

enum msg_direction { S2W, W2S };

/* What a worker shall do with an assigned task. */
enum assign_mode {
	ASSIGN_SUBMIT,		/* submit: from the start */
	ASSIGN_RESEND,		/* submit: same request and key; marked */
	ASSIGN_LOOKUP,		/* submit: ask by own id, a read */
	ASSIGN_POLL,		/* poll: the id is on the row */
	ASSIGN_FETCH,		/* poll: the result is saved, fetch artifacts */
	ASSIGN_EXEC,		/* exec: run the local program */
	ASSIGN_MODE_MAX
};

enum reject_class {
	REJECT_TASK,		/* this task's fault: FAILED, cost 0 */
	REJECT_THROTTLED,	/* later again, the kind slows down */
	REJECT_ACCOUNT,		/* later again, the kind is held */
	REJECT_CLASS_MAX
};

enum msg_type {
	MSG_NONE = 0,
#define MSG(NAME, name, num, dir, roles, states, max) MSG_##NAME = num,
#include "proto/messages.def"
	MSG_TYPE_MAX = 200
};

struct msg_row {
	enum msg_type		 type;
	const char		*name;		/* "MARK" */
	enum msg_direction	 direction;
	unsigned int		 roles;		/* R_* */
	unsigned int		 states;	/* C_* */
	size_t			 max;		/* of the body, in bytes */
	unsigned int		 arity;
};

/* Borrowed text or bytes: valid until the frame is released. */
struct mp_bytes {
	const char	*p;	/* not terminated; never NULL after unpack */
	size_t		 len;
};

/* One struct per message: struct msg_setup, struct msg_assign, ... */
#define PROTO_U64(f)		uint64_t f;
#define PROTO_I64(f)		int64_t f;
#define PROTO_BOOL(f)		bool f;
#define PROTO_STR(f, max)	struct mp_bytes f;
#define PROTO_BIN(f, max)	struct mp_bytes f;
#define MSG(NAME, name, num, dir, roles, states, max)			\
	struct msg_##name {						\
		MSG_FIELDS_##NAME(PROTO_U64, PROTO_I64, PROTO_BOOL,	\
		    PROTO_STR, PROTO_BIN)				\
	};
#include "proto/messages.def"

/* messages.c */

const struct msg_row	*msg_row(unsigned int type);	/* NULL: unknown */
const char		*msg_name(unsigned int type);	/* never NULL */
const char		*role_name(enum worker_role);	/* "submit" ... */
/*
 * msg_check() is the permission: 0, PO_EINVAL (unknown type, wrong direction
 * or too long) or PO_EPERM (not in this role or state).
 */
int	msg_check(unsigned int type, enum msg_direction, unsigned int role_bit,
	    unsigned int state_bit, size_t body_len);

/*
 * int msg_pack_<name>(struct buf *, const struct msg_<name> *)
 *	appends one whole frame (header and body); 0, PO_ENOMEM or PO_ERANGE
 *	(a field is over its limit; nothing was appended).  A STR field that
 *	is not UTF-8 travels with '?' for each bad byte: a provider's broken
 *	error text must not cost an answer.
 * int msg_unpack_<name>(const void *body, size_t len, struct msg_<name> *)
 *	0 or PO_EINVAL: wrong arity, type, limit, text that is not UTF-8, or
 *	bytes left over; then *ret is not to be used.
 */
#define MSG(NAME, name, num, dir, roles, states, max)			\
	int msg_pack_##name(struct buf *, const struct msg_##name *);	\
	int msg_unpack_##name(const void *, size_t, struct msg_##name *);
#include "proto/messages.def"

/* mp_str() makes a field of a C string; NULL becomes "". */
struct mp_bytes	mp_str(const char *);
struct mp_bytes	mp_bytes(const void *, size_t);
/* mp_dup() copies a field to a C string (mem_free); NULL on no memory. */
char		*mp_dup(struct mp_bytes);
/* mp_dup_opt() is mp_dup(), but an empty field gives *ret = NULL. */
int		 mp_dup_opt(struct mp_bytes, char **ret);

struct frame {
	unsigned int	 type;
	const void	*body;	/* borrowed until the next chan_next(),
				 * chan_read() or chan_wait() */
	size_t		 len;
};

/* chan.c: a non-blocking channel; knows no event loop */

struct chan;

/*
 * chan_new() takes fd (it closes it, unless it fails); in_dir is what may
 * arrive here.
 */
int	 chan_new(int fd, enum msg_direction in_dir, struct chan **ret);
void	 chan_free(struct chan **);
int	 chan_fd(const struct chan *);
/*
 * chan_read() reads what is there, a bounded amount per call.  0 (something
 * came, or a whole frame waits for chan_next()), PO_EAGAIN, PO_EOF, PO_EIO,
 * PO_ENOMEM.  After PO_EOF chan_next() still gives what had arrived whole.
 */
int	 chan_read(struct chan *);
/*
 * chan_next() cuts the next whole frame.  0, PO_EAGAIN (incomplete), PO_EINVAL
 * (bad header, unknown type, wrong direction, over its row's limit); after
 * PO_EINVAL the channel stays invalid.
 */
int	 chan_next(struct chan *, struct frame *ret);
/* chan_out() is where msg_pack_*() put frames; then chan_flush(). */
struct buf	*chan_out(struct chan *);
/* chan_flush() writes what it can: 0 (all out), PO_EAGAIN, PO_EIO, PO_EOF. */
int	 chan_flush(struct chan *);
/* chan_pending() is the number of bytes still to be written. */
size_t	 chan_pending(const struct chan *);
/*
 * chan_wait() blocks in poll(2) until something can be read, at most
 * timeout_ms, and writes what is pending meanwhile: 0, PO_EAGAIN (time is
 * over), PO_EOF or PO_EIO.  Call chan_next() first: a frame that was read
 * already wakes nobody.  Only for the worker inside libcurl's pre-request
 * callback.
 */
int	 chan_wait(struct chan *, int timeout_ms);

#endif
