/*
 * problems.c - collects what is wrong with a configuration, line by line.
 *
 * Owns struct problems.
 */
#include <stdarg.h>
#include <stdio.h>

#include "common/err.h"
#include "common/mem.h"
#include "config/parse.h"

#define PROBLEMS_MAX	(256u << 10)

static void
problem_put(struct problems *p, const char *text)
{
	int rc = 0;

	if (buf_left(&p->text) > 0)
		rc = buf_putc(&p->text, '\n');
	if (rc == 0)
		rc = buf_puts(&p->text, text);
	if (rc < 0)
		p->rc = PO_ENOMEM;
}

void
problems_init(struct problems *p)
{
	*p = (struct problems){ .rc = 0 };
	buf_init(&p->text, PROBLEMS_MAX);
}

void
problem_add(struct problems *p, const char *file, int line, const char *fmt,
    ...)
{
	char text[1024] = "";
	char *whole = NULL;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut is fine */
	va_end(ap);
	whole = line > 0 ? mem_printf("%s:%d: %s", file, line, text) :
	    mem_printf("%s: %s", file, text);
	if (whole == NULL)
		p->rc = PO_ENOMEM;
	else
		problem_put(p, whole);
	mem_free(whole);
}

void
problem_add_text(struct problems *p, const char *lines)
{
	problem_put(p, lines);
}

int
problems_end(struct problems *p, char **ret_error)
{
	int rc = p->rc;

	*ret_error = NULL;
	if (rc == 0 && buf_left(&p->text) > 0) {
		*ret_error = buf_steal(&p->text, NULL);
		rc = *ret_error != NULL ? PO_EINVAL : PO_ENOMEM;
	}
	buf_done(&p->text);
	return rc;
}
