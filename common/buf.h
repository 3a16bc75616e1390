/*
 * buf.h - a growing byte buffer with a cap that it gets at birth.
 *
 * The caller owns the struct; buf_done() zeroes and frees the bytes.  There
 * is always a terminating NUL behind the last byte, outside of len, so text
 * may be used as a C string.
 */
#ifndef PAYONCE_BUF_H
#define PAYONCE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct buf {
	uint8_t	*data;		/* NULL until the first byte */
	size_t	 off;		/* bytes already consumed from the front */
	size_t	 len;		/* end of the bytes in use */
	size_t	 cap;		/* allocated */
	size_t	 max;		/* never allocate more than this */
};

/* buf.c */
void	 buf_init(struct buf *, size_t max);
void	 buf_done(struct buf *);
/* The put functions return 0 or PO_ENOMEM (also: the cap was reached). */
int	 buf_put(struct buf *, const void *, size_t);
int	 buf_puts(struct buf *, const char *);
int	 buf_putc(struct buf *, char);
int	 buf_printf(struct buf *, const char *, ...)
	    __attribute__((format(printf, 2, 3)));
/*
 * buf_reserve() makes room for n bytes behind len and returns it, or NULL.
 * The caller fills it and adds what it used to len.
 */
uint8_t	*buf_reserve(struct buf *, size_t n);
/* buf_head() and buf_left() are what was put and not yet consumed. */
const uint8_t	*buf_head(const struct buf *);
size_t	 buf_left(const struct buf *);
void	 buf_consume(struct buf *, size_t);
void	 buf_reset(struct buf *);
/* buf_truncate() keeps the first n unconsumed bytes and zeroes the others. */
void	 buf_truncate(struct buf *, size_t n);
/* buf_text() is the unconsumed text, "" when empty; valid until the next put */
const char	*buf_text(const struct buf *);
/* buf_steal() hands the bytes to the caller (mem_free) and empties the buf. */
char	*buf_steal(struct buf *, size_t *ret_len);

#endif
