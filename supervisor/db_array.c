/*
 * db_array.c - PostgreSQL array literals, as text.
 *
 * Values only travel as parameters; this is the input syntax of an array
 * type, not SQL.  An element is always quoted, so no word can turn into
 * NULL and no comma into two elements.
 */
#include "supervisor/db.h"

#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/text.h"

static int
array_comma(struct buf *b)
{
	return b->len > 1 ? buf_putc(b, ',') : 0;
}

int
array_open(struct buf *b)
{
	return buf_putc(b, '{');
}

int
array_put_text(struct buf *b, const char *s)
{
	size_t n = 0;
	int err = 0;

	if (s == NULL)
		return array_put_null(b);
	err = array_comma(b);
	if (err == 0)
		err = buf_putc(b, '"');
	while (err == 0 && *s != '\0') {
		n = strcspn(s, "\"\\");
		err = buf_put(b, s, n);
		s += n;
		if (err == 0 && *s != '\0') {
			err = buf_putc(b, '\\');
			if (err == 0)
				err = buf_putc(b, *s);
			s++;
		}
	}
	if (err == 0)
		err = buf_putc(b, '"');
	return err;
}

int
array_put_i64(struct buf *b, int64_t v)
{
	int err = array_comma(b);

	return err != 0 ? err : buf_printf(b, "%lld", (long long)v);
}

int
array_put_bool(struct buf *b, bool v)
{
	int err = array_comma(b);

	return err != 0 ? err : buf_putc(b, v ? 't' : 'f');
}

int
array_put_null(struct buf *b)
{
	int err = array_comma(b);

	return err != 0 ? err : buf_puts(b, "NULL");
}

int
array_close(struct buf *b)
{
	return buf_putc(b, '}');
}

char *
array_clean(const char *s, size_t len)
{
	char *copy = mem_alloc(len + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, s, len);
	text_clean(copy, len);
	return copy;
}
