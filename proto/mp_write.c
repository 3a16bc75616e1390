/*
 * mp_write.c - one frame: header and a msgpack array, by libmsgpack's packer
 * into a capped buffer.
 *
 * Owns the writer's error: the first failure makes all later calls no-ops,
 * and mp_write_end() leaves the buffer as it was before the frame.
 */
#include "proto/mp.h"

#include <msgpack.h>

#include <string.h>

#include "common/err.h"
#include "common/text.h"

static int	mp_put(void *, const char *, size_t);
static void	mp_put_raw(struct mp_writer *, const char *, size_t);
static void	mp_packer_init(msgpack_packer *, struct mp_writer *);

void
mp_write_start(struct mp_writer *w, struct buf *buf, unsigned int type,
    unsigned int arity)
{
	const uint8_t header[PROTO_HEADER] = {
		[4] = (uint8_t)(type >> 8),
		[5] = (uint8_t)type,
	};
	msgpack_packer pk;

	*w = (struct mp_writer){ .buf = buf, .start = buf_left(buf) };
	mp_put_raw(w, (const char *)header, sizeof(header));
	mp_packer_init(&pk, w);
	/* The packer's result is that of mp_put(), which keeps it in err. */
	(void)msgpack_pack_array(&pk, arity);
}

void
mp_write_u64(struct mp_writer *w, uint64_t value)
{
	msgpack_packer pk;

	mp_packer_init(&pk, w);
	(void)msgpack_pack_uint64(&pk, value);
}

void
mp_write_i64(struct mp_writer *w, int64_t value)
{
	msgpack_packer pk;

	mp_packer_init(&pk, w);
	(void)msgpack_pack_int64(&pk, value);
}

void
mp_write_bool(struct mp_writer *w, bool value)
{
	msgpack_packer pk;

	mp_packer_init(&pk, w);
	(void)(value ? msgpack_pack_true(&pk) : msgpack_pack_false(&pk));
}

void
mp_write_str(struct mp_writer *w, struct mp_bytes s, size_t max)
{
	msgpack_packer pk;
	size_t good = 0;

	if (s.len > max && w->err == 0)
		w->err = PO_ERANGE;
	mp_packer_init(&pk, w);
	(void)msgpack_pack_str(&pk, s.len);
	while (w->err == 0 && s.len > 0) {
		good = text_valid_len(s.p, s.len);
		mp_put_raw(w, s.p, good);
		if (good < s.len) {
			mp_put_raw(w, "?", 1);
			good++;
		}
		s.p += good;
		s.len -= good;
	}
}

void
mp_write_bin(struct mp_writer *w, struct mp_bytes s, size_t max)
{
	msgpack_packer pk;

	if (s.len > max && w->err == 0)
		w->err = PO_ERANGE;
	mp_packer_init(&pk, w);
	(void)msgpack_pack_bin(&pk, s.len);
	mp_put_raw(w, s.p, s.len);
}

int
mp_write_end(struct mp_writer *w, size_t max_body)
{
	size_t len = 0, at = 0;
	uint8_t *header = NULL;

	if (w->err == 0) {
		len = buf_left(w->buf) - w->start - PROTO_HEADER;
		if (len > max_body)
			w->err = PO_ERANGE;
	}
	if (w->err < 0) {
		if (buf_left(w->buf) > w->start)
			buf_truncate(w->buf, w->start);
		return w->err;
	}
	at = w->buf->off + w->start;
	header = w->buf->data + at;
	header[0] = (uint8_t)(len >> 24);
	header[1] = (uint8_t)(len >> 16);
	header[2] = (uint8_t)(len >> 8);
	header[3] = (uint8_t)len;
	return 0;
}

/* What libmsgpack calls with each piece. */
static int
mp_put(void *data, const char *p, size_t len)
{
	struct mp_writer *w = data;

	mp_put_raw(w, p, len);
	return w->err < 0 ? -1 : 0;
}

static void
mp_put_raw(struct mp_writer *w, const char *p, size_t len)
{
	if (w->err == 0)
		w->err = buf_put(w->buf, p, len);
}

static void
mp_packer_init(msgpack_packer *pk, struct mp_writer *w)
{
	msgpack_packer_init(pk, w, mp_put);
}
