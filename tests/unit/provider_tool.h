/*
 * provider_tool.h - providers for tests, from text or from the shipped files.
 */
#ifndef PAYONCE_TESTS_PROVIDER_TOOL_H
#define PAYONCE_TESTS_PROVIDER_TOOL_H

#include "config/conf.h"

/* tool_load() writes text to a file, loads it and removes it. */
int	tool_load(const char *text, struct conf **ret, char **ret_error);
/* tool_conf() is the shipped files with more text; it must be good. */
struct conf	*tool_conf(const char *more);
/* tool_provider() is a provider of a conf; it must be there. */
const struct provider	*tool_provider(const struct conf *,
			    const char *name);
/* tool_fault() loads text that must be refused; true: the error has want. */
bool	tool_fault(const char *text, const char *want);

#endif
