/*
 * receipt_tool.h - a state folder of its own and receipts written by hand.
 */
#ifndef PAYONCE_TESTS_RECEIPT_TOOL_H
#define PAYONCE_TESTS_RECEIPT_TOOL_H

#include <stddef.h>
#include <stdint.h>

#include "common/receipt.h"

extern char	tool_dir[64];

/* Facts own their text; a test lends them literals, which nobody frees. */
static inline char *
lent(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* receipt_tool.c */
void	tool_setup(void);
void	tool_teardown(void);
struct receipt_facts	tool_intent(int64_t task, int attempt);
/* tool_path() and tool_path2() each have one buffer. */
const char	*tool_path(const char *folder, const char *name);
const char	*tool_path2(const char *folder, const char *name);
const char	*tool_today(void);
void	tool_write(const char *name, const char *text, size_t len);
/*
 * tool_write_lines() writes open/<name>, one line per letter: i intent, I and
 * y intents under another timeline or system, u unsent, j rejected,
 * t throttled, a account, s submitted, r result, ? unknown; broken ones:
 * f no JSON, v version 2, c an unlisted class, z more after the object,
 * R a result without result.
 */
void	tool_write_lines(const char *name, const char *letters);

#endif
