/*
 * messages.c - the table of messages and, for each, pack and unpack: all
 * made from messages.def.
 *
 * Owns nothing.  Must not decide anything: msg_check() says what the table
 * says, and the caller acts.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "proto/mp.h"
#include "proto/proto.h"

#define COUNT_PLAIN(f)		+ 1
#define COUNT_LIMITED(f, max)	+ 1
#define ARITY(NAME)							\
	(0 MSG_FIELDS_##NAME(COUNT_PLAIN, COUNT_PLAIN, COUNT_PLAIN,	\
	    COUNT_LIMITED, COUNT_LIMITED))

static const struct msg_row msg_rows[MSG_TYPE_MAX] = {
#define MSG(NAME, lower, num, dir, role_bits, state_bits, limit)	\
	[num] = {							\
		.type = MSG_##NAME, .name = #NAME, .direction = dir,	\
		.roles = role_bits, .states = state_bits,		\
		.max = limit, .arity = ARITY(NAME),			\
	},
#include "proto/messages.def"
};

/* A body whose fields are all at their limits fits into its row's limit. */
#define WIDTH_INT(f)		+ 9
#define WIDTH_BOOL(f)		+ 1
#define WIDTH_LIMITED(f, max)	+ 5 + (max)
#define MSG(NAME, lower, num, dir, role_bits, state_bits, limit)	\
	_Static_assert(3 MSG_FIELDS_##NAME(WIDTH_INT, WIDTH_INT,	\
	    WIDTH_BOOL, WIDTH_LIMITED, WIDTH_LIMITED) <= (limit),	\
	    #NAME ": the fields together are larger than the row's limit");
#include "proto/messages.def"

static const char *const role_names[ROLE_MAX] = {
	[ROLE_SUBMIT] = "submit",
	[ROLE_POLL] = "poll",
	[ROLE_EXEC] = "exec",
};

#define PACK_U64(f)		mp_write_u64(&w, m->f);
#define PACK_I64(f)		mp_write_i64(&w, m->f);
#define PACK_BOOL(f)		mp_write_bool(&w, m->f);
#define PACK_STR(f, max)	mp_write_str(&w, m->f, max);
#define PACK_BIN(f, max)	mp_write_bin(&w, m->f, max);
#define READ_U64(f)		m.f = mp_read_u64(&r);
#define READ_I64(f)		m.f = mp_read_i64(&r);
#define READ_BOOL(f)		m.f = mp_read_bool(&r);
#define READ_STR(f, max)	m.f = mp_read_str(&r, max);
#define READ_BIN(f, max)	m.f = mp_read_bin(&r, max);
#define MSG(NAME, lower, num, dir, role_bits, state_bits, limit)	\
	int								\
	msg_pack_##lower(struct buf *buf, const struct msg_##lower *m)	\
	{								\
		struct mp_writer w;					\
									\
		mp_write_start(&w, buf, num, ARITY(NAME));		\
		MSG_FIELDS_##NAME(PACK_U64, PACK_I64, PACK_BOOL,	\
		    PACK_STR, PACK_BIN)					\
		return mp_write_end(&w, limit);				\
	}								\
									\
	int								\
	msg_unpack_##lower(const void *body, size_t len,		\
	    struct msg_##lower *ret)					\
	{								\
		struct mp_reader r;					\
		struct msg_##lower m;					\
		int rc = 0;						\
									\
		if (len > (limit))					\
			return PO_EINVAL;				\
		mp_read_start(&r, body, len);				\
		mp_read_array(&r, ARITY(NAME));				\
		MSG_FIELDS_##NAME(READ_U64, READ_I64, READ_BOOL,	\
		    READ_STR, READ_BIN)					\
		if ((rc = mp_read_end(&r)) < 0)				\
			return rc;					\
		*ret = m;						\
		return 0;						\
	}
#include "proto/messages.def"

const struct msg_row *
msg_row(unsigned int type)
{
	if (type >= MSG_TYPE_MAX || msg_rows[type].name == NULL)
		return NULL;
	return &msg_rows[type];
}

const char *
msg_name(unsigned int type)
{
	const struct msg_row *row = msg_row(type);

	return row != NULL ? row->name : "?";
}

const char *
role_name(enum worker_role role)
{
	return (unsigned int)role < ROLE_MAX ? role_names[role] : "?";
}

int
msg_check(unsigned int type, enum msg_direction direction,
    unsigned int role_bit, unsigned int state_bit, size_t body_len)
{
	const struct msg_row *row = msg_row(type);

	if (row == NULL || row->direction != direction || body_len > row->max)
		return PO_EINVAL;
	if ((row->roles & role_bit) == 0 || (row->states & state_bit) == 0)
		return PO_EPERM;
	return 0;
}

struct mp_bytes
mp_str(const char *s)
{
	return s != NULL ? mp_bytes(s, strlen(s)) : mp_bytes("", 0);
}

struct mp_bytes
mp_bytes(const void *p, size_t len)
{
	struct mp_bytes ret = { .p = p != NULL ? p : "", .len = len };

	return ret;
}

char *
mp_dup(struct mp_bytes s)
{
	char *ret = mem_array(1, s.len + 1);

	if (ret != NULL)
		memcpy(ret, s.p, s.len);
	return ret;
}

int
mp_dup_opt(struct mp_bytes s, char **ret)
{
	char *copy = NULL;

	if (s.len > 0 && (copy = mp_dup(s)) == NULL)
		return PO_ENOMEM;
	*ret = copy;
	return 0;
}
