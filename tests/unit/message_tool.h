/*
 * message_tool.h - every message of messages.def as data: its fields, and
 * pack and unpack behind one type, for tests and fuzz targets that walk them
 * all.  Also an encoder of its own, so that the wire is known twice.
 */
#ifndef PAYONCE_TESTS_MESSAGE_TOOL_H
#define PAYONCE_TESTS_MESSAGE_TOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "proto/proto.h"

enum field_kind { FIELD_U64, FIELD_I64, FIELD_BOOL, FIELD_STR, FIELD_BIN };

struct tool_field {
	const char	*name;
	enum field_kind	 kind;
	size_t		 max;		/* STR and BIN */
	size_t		 offset;
};

enum {
	TOOL_MESSAGES = 0
#define MSG(NAME, name, num, dir, roles, states, max)	+ 1
#include "proto/messages.def"
};

/* Large enough and aligned for each struct msg_*. */
union tool_struct {
#define MSG(NAME, name, num, dir, roles, states, max) struct msg_##name name;
#include "proto/messages.def"
};

struct tool_message {
	const char		*name;
	unsigned int		 type;
	enum msg_direction	 direction;
	unsigned int		 roles;
	unsigned int		 states;
	size_t			 max;
	size_t			 nfields;
	const struct tool_field	*(*fields)(void);
	int	(*pack)(struct buf *, const union tool_struct *);
	int	(*unpack)(const void *, size_t, union tool_struct *);
};

/* message_tool.c */
extern const struct tool_message	tool_messages[TOOL_MESSAGES];

/* NULL: no such type */
const struct tool_message	*tool_find(unsigned int type);
/*
 * tool_fill() makes each text and bytes field len long (or its limit, if that
 * is less) and each number large (len > 0) or 0.  filler has the bytes.
 */
void	tool_fill(const struct tool_message *, const char *filler, size_t len,
	    union tool_struct *ret);
/* tool_is_equal() compares field by field. */
bool	tool_is_equal(const struct tool_message *, const union tool_struct *,
	    const union tool_struct *);
struct mp_bytes	*tool_bytes(const struct tool_field *, union tool_struct *);
/* The encoder: shortest forms, as libmsgpack's. */
void	tool_encode_body(const struct tool_message *, union tool_struct *,
	    struct buf *);
void	tool_encode_array(struct buf *, size_t count);
void	tool_encode_field(const struct tool_field *, union tool_struct *,
	    struct buf *);
void	tool_encode_header(struct buf *, size_t len, unsigned int type);

#endif
