/*
 * mem.h - allocation that is checked, counted against overflow, and that a
 * test can make fail.
 *
 * Every allocation of payonce's own code goes through here, so that a test
 * build may fail the n-th one.  All return NULL on failure with errno set.
 */
#ifndef PAYONCE_MEM_H
#define PAYONCE_MEM_H

#include <stddef.h>

/* mem.c */
void	*mem_alloc(size_t len);			/* zeroed */
void	*mem_array(size_t count, size_t len);	/* zeroed, count * len */
void	*mem_grow(void *old, size_t count, size_t len);	/* not zeroed */
char	*mem_strdup(const char *s);
char	*mem_strndup(const char *s, size_t len);
/* mem_printf() allocates; the caller frees. */
char	*mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* mem_free() accepts NULL and keeps errno. */
void	 mem_free(void *p);
/* mem_free_secret() zeroes len bytes (explicit_bzero) before it frees. */
void	 mem_free_secret(void *p, size_t len);

/*
 * mem_fail_after() makes the n-th allocation from now fail (1 = the next);
 * 0 switches it off.  Only for tests.
 */
void	 mem_fail_after(unsigned long n);
/*
 * mem_asked_bytes() counts all bytes ever asked for: what a test compares
 * with the bytes that a peer sent.  Only for tests.
 */
unsigned long	 mem_asked_bytes(void);

#endif
