/*
 * mem.c - the one place where payonce's own code allocates.
 *
 * Owns the countdown by which a test makes the n-th allocation fail, and the
 * count of bytes asked for.  Must not log: its callers know what failed.
 */
#include "common/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long	mem_countdown;		/* 0: off */
static unsigned long	mem_asked;

static bool	mem_is_refused(size_t count, size_t len);

void *
mem_alloc(size_t len)
{
	return mem_array(1, len);
}

void *
mem_array(size_t count, size_t len)
{
	if (mem_is_refused(count, len))
		return NULL;
	/* calloc(0) may be NULL, which our callers would take for failure. */
	return calloc(count != 0 ? count : 1, len != 0 ? len : 1);
}

void *
mem_grow(void *old, size_t count, size_t len)
{
	if (mem_is_refused(count, len))
		return NULL;
	return reallocarray(old, count != 0 ? count : 1, len != 0 ? len : 1);
}

char *
mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *
mem_strndup(const char *s, size_t len)
{
	char *ret = NULL;
	size_t used = strnlen(s, len);

	if ((ret = mem_array(used + 1, 1)) != NULL)
		memcpy(ret, s, used);
	return ret;
}

char *
mem_printf(const char *fmt, ...)
{
	va_list ap;
	char *ret = NULL;
	int len = 0;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || (ret = mem_array((size_t)len + 1, 1)) == NULL)
		return NULL;
	va_start(ap, fmt);
	(void)vsnprintf(ret, (size_t)len + 1, fmt, ap);	/* measured above */
	va_end(ap);
	return ret;
}

void
mem_free(void *p)
{
	int saved = errno;

	free(p);
	errno = saved;
}

void
mem_free_secret(void *p, size_t len)
{
	if (p == NULL)
		return;
	explicit_bzero(p, len);
	mem_free(p);
}

void
mem_fail_after(unsigned long n)
{
	mem_countdown = n;
}

unsigned long
mem_asked_bytes(void)
{
	return mem_asked;
}

static bool
mem_is_refused(size_t count, size_t len)
{
	size_t bytes = 0;

	if (__builtin_mul_overflow(count, len, &bytes)) {
		errno = ENOMEM;
		return true;
	}
	if (mem_countdown > 0 && --mem_countdown == 0) {
		errno = ENOMEM;
		return true;
	}
	mem_asked += bytes;
	return false;
}
