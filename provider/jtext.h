/*
 * jtext.h - JSON as checked text, looked into without building a tree.
 *
 * jtext_clean() checks a text once and makes it safe; every other function
 * takes only values of such a text.  Numbers keep their digits (an id of 20
 * digits is an id, not a double), memory is bounded by the text's length, and
 * the clean text is what PostgreSQL's jsonb takes.
 * Of a member that is there twice, the last one counts, as in jsonb.
 */
#ifndef PAYONCE_JTEXT_H
#define PAYONCE_JTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

#define JTEXT_DEPTH	64

/* A value: its text, borrowed from the clean text.  at NULL: not there. */
struct jtext {
	const char	*at;
	size_t		 len;
};

enum jtext_type {
	JTEXT_ABSENT,
	JTEXT_NULL,
	JTEXT_BOOL,
	JTEXT_NUMBER,
	JTEXT_STRING,
	JTEXT_ARRAY,
	JTEXT_OBJECT
};

struct jtext_iter {
	const char	*at;
	const char	*end;
	bool		 is_object;
};

/* jtext_clean.c */

/*
 * jtext_clean() appends the value in s[0..len) to out: without blanks, with
 * U+FFFD for broken UTF-8, NUL and lone surrogates, and with numbers that
 * no decimal type holds as strings.  0, PO_EINVAL (no JSON, or deeper than
 * JTEXT_DEPTH) or PO_ENOMEM (also: more than out's cap).
 */
int	jtext_clean(const char *s, size_t len, struct buf *out);
/* jtext_clean_saved() takes one level more: our own around an answer. */
int	jtext_clean_saved(const char *s, size_t len, struct buf *out);

/* jtext.c */

struct jtext	jtext_of(const struct buf *clean);
enum jtext_type	jtext_type(struct jtext);
/* jtext_is_empty(): absent, null, "", [] or {} */
bool		jtext_is_empty(struct jtext);
void		jtext_iter_init(struct jtext_iter *, struct jtext);
/* ret_key may be NULL; of an array's elements it is absent. */
bool		jtext_iter_next(struct jtext_iter *, struct jtext *ret_key,
		    struct jtext *ret);
/* jtext_child() is the member of that name, or the element of that index. */
struct jtext	jtext_child(struct jtext, const char *name);
bool		jtext_has(struct jtext object, struct jtext key);
/* jtext_put_text() appends a string's characters, else the JSON itself. */
int		jtext_put_text(struct jtext, struct buf *out);
/* jtext_put_string() appends s as a JSON string with its quotes. */
int		jtext_put_string(const char *s, size_t len, struct buf *out);

#endif
