/*
 * mp.h - msgpack inside proto/: writing with a sticky error, reading with a
 * cursor that allocates nothing.
 */
#ifndef PAYONCE_MP_H
#define PAYONCE_MP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "proto/proto.h"

/* One frame on its way into a buf.  err stays at the first failure. */
struct mp_writer {
	struct buf	*buf;
	size_t		 start;		/* buf_left() before the frame */
	int		 err;
};

/* mp_write.c */
void	mp_write_start(struct mp_writer *, struct buf *, unsigned int type,
	    unsigned int arity);
void	mp_write_u64(struct mp_writer *, uint64_t);
void	mp_write_i64(struct mp_writer *, int64_t);
void	mp_write_bool(struct mp_writer *, bool);
void	mp_write_str(struct mp_writer *, struct mp_bytes, size_t max);
void	mp_write_bin(struct mp_writer *, struct mp_bytes, size_t max);
/* mp_write_end() writes the length, or takes the whole frame back. */
int	mp_write_end(struct mp_writer *, size_t max_body);

/*
 * A cursor.  After the first error every read gives 0, false or empty bytes,
 * so a reader checks once, in mp_read_end().
 */
struct mp_reader {
	const uint8_t	*at;
	size_t		 left;
	int		 err;
};

/* mp_read.c */
void		mp_read_start(struct mp_reader *, const void *, size_t);
void		mp_read_array(struct mp_reader *, unsigned int arity);
uint64_t	mp_read_u64(struct mp_reader *);
int64_t		mp_read_i64(struct mp_reader *);
bool		mp_read_bool(struct mp_reader *);
struct mp_bytes	mp_read_str(struct mp_reader *, size_t max);
struct mp_bytes	mp_read_bin(struct mp_reader *, size_t max);
/* mp_read_end() is 0 when all was well and nothing is left over. */
int		mp_read_end(const struct mp_reader *);

#endif
