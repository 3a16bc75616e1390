/*
 * keys.h - the one list of the keys of a provider file.
 *
 * config/ makes its parser from it, compile.c checks descriptions with it,
 * and doc/provider.conf.5 explains each key.
 */
#ifndef PAYONCE_KEYS_H
#define PAYONCE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum key_use {
	KEY_USED,		/* works */
	KEY_LATER,		/* read and checked, no effect yet, no harm */
	KEY_REFUSED		/* without it a call would be wrong: refused */
};

struct provider_key {
	const char	*name;		/* "submit.url" */
	bool		 is_list;
	enum key_use	 use;
};

/* keys.c */
extern const struct provider_key	provider_keys[];
extern const size_t			provider_keys_count;

const struct provider_key	*provider_key_find(const char *name);
/*
 * key_nearest() gives the name among names that looks most like a wrong one,
 * or NULL when none does.
 */
const char	*key_nearest(const char *wrong, const char *const *names,
		    size_t count);

#endif
