/*
 * buf.c - a growing byte buffer with a cap; see buf.h for its rules.
 *
 * Owns struct buf's fields.  Growing copies into new memory and zeroes the
 * old: a request in a buffer may hold a provider's key.
 * Invariant: off <= len <= cap, len - off <= max, and when data is set it has
 * cap + 1 bytes, the one at len being NUL.
 */
#include "common/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/mem.h"

#define BUF_FIRST	256

static void	buf_check(const struct buf *);
static int	buf_grow(struct buf *, size_t);

void
buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void
buf_done(struct buf *b)
{
	if (b->data != NULL)
		mem_free_secret(b->data, b->cap + 1);
	*b = (struct buf){ .max = b->max };
}

int
buf_put(struct buf *b, const void *data, size_t len)
{
	uint8_t *at = NULL;

	if (len == 0)
		return 0;
	if ((at = buf_reserve(b, len)) == NULL)
		return PO_ENOMEM;
	memcpy(at, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int
buf_puts(struct buf *b, const char *s)
{
	return buf_put(b, s, strlen(s));
}

int
buf_putc(struct buf *b, char c)
{
	return buf_put(b, &c, 1);
}

int
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int len = 0;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || buf_reserve(b, (size_t)len) == NULL)
		return PO_ENOMEM;
	va_start(ap, fmt);
	/* the byte behind the reserve takes vsnprintf's NUL */
	(void)vsnprintf((char *)b->data + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
	return 0;
}

uint8_t *
buf_reserve(struct buf *b, size_t n)
{
	size_t used = b->len - b->off;

	buf_check(b);
	if (n > b->max - used)
		return NULL;
	if (b->data != NULL && n <= b->cap - b->len)
		return b->data + b->len;
	/*
	 * Moving the rest down pays when at least as much was consumed as is
	 * left: then each byte is moved once on average.
	 */
	if (b->data != NULL && b->off >= used && n <= b->cap - used) {
		memmove(b->data, b->data + b->off, used);
		b->off = 0;
		b->len = used;
		b->data[used] = '\0';
		return b->data + b->len;
	}
	if (buf_grow(b, n) < 0)
		return NULL;
	return b->data + b->len;
}

const uint8_t *
buf_head(const struct buf *b)
{
	return b->data != NULL ? b->data + b->off : (const uint8_t *)"";
}

size_t
buf_left(const struct buf *b)
{
	return b->len - b->off;
}

void
buf_consume(struct buf *b, size_t n)
{
	if (n > b->len - b->off)
		panic("buf_consume: %zu of %zu bytes", n, b->len - b->off);
	b->off += n;
	if (b->off == b->len)
		buf_reset(b);
}

void
buf_reset(struct buf *b)
{
	b->off = 0;
	b->len = 0;
	if (b->data != NULL)
		b->data[0] = '\0';
}

void
buf_truncate(struct buf *b, size_t n)
{
	if (n > b->len - b->off)
		panic("buf_truncate: %zu of %zu bytes", n, b->len - b->off);
	if (b->data == NULL)
		return;
	explicit_bzero(b->data + b->off + n, b->len - b->off - n);
	b->len = b->off + n;
}

const char *
buf_text(const struct buf *b)
{
	return (const char *)buf_head(b);
}

char *
buf_steal(struct buf *b, size_t *ret_len)
{
	char *ret = NULL;
	size_t used = b->len - b->off;

	if (b->data == NULL) {
		if ((ret = mem_alloc(1)) == NULL)
			return NULL;
	} else {
		ret = (char *)b->data;
		memmove(ret, ret + b->off, used);
		ret[used] = '\0';
	}
	*b = (struct buf){ .max = b->max };
	if (ret_len != NULL)
		*ret_len = used;
	return ret;
}

static void
buf_check(const struct buf *b)
{
	if (b->off > b->len || b->len > b->cap || b->len - b->off > b->max)
		panic("buf: off=%zu len=%zu cap=%zu max=%zu", b->off, b->len,
		    b->cap, b->max);
}

static int
buf_grow(struct buf *b, size_t n)
{
	uint8_t *data = NULL;
	size_t used = b->len - b->off, cap = b->cap;

	/* n <= max - used was checked, so used + n does not overflow */
	if (cap < BUF_FIRST)
		cap = BUF_FIRST;
	while (cap < used + n)
		cap = cap > b->max / 2 ? b->max : cap * 2;
	if (cap > b->max)
		cap = b->max;
	if (cap == SIZE_MAX || (data = mem_alloc(cap + 1)) == NULL)
		return PO_ENOMEM;
	if (b->data != NULL) {
		memcpy(data, b->data + b->off, used);
		mem_free_secret(b->data, b->cap + 1);
	}
	b->data = data;
	b->off = 0;
	b->len = used;
	b->cap = cap;
	return 0;
}
