/*
 * conf.h - payonce.conf and the provider files, parsed and checked as a whole.
 *
 * conf_load() either returns a complete, checked configuration or an error
 * that names file, line and what was expected; the running configuration is
 * never half-changed.  Start, -t and SIGHUP use the same function.
 */
#ifndef PAYONCE_CONF_H
#define PAYONCE_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/provider.h"

struct conf_kind {
	char	 *name;
	char	 *provider;		/* NULL for a local kind */
	char	 *model;		/* default model, or NULL */
	char	**command;		/* NULL-terminated; NULL: paid */
	int	  concurrency;		/* RUNNING + SUBMITTED on this host */
	int	  submit_workers;	/* submit processes at most */
	int	  poll_deadline_s;	/* 3600 */
	int	  timeout_s;		/* exec: 3600 */
	int	  breaker;		/* 3 */
	int	  max_requeues;		/* 3 */
	char	 *estimate;		/* decimal text per task, or NULL */
	char	 *currency;		/* "USD" */
	int	  line;
};

struct conf_provider {
	struct desc	*desc;		/* the file with the overrides merged */
	struct provider	*provider;	/* compiled */
};

struct conf {
	char			*path;
	char			*database;	/* libpq connection string */
	char			*state_dir;
	char			*run_dir;
	char			*worker_path;	/* payonce-worker, absolute */
	char			*secrets_dir;	/* one file per provider name */
	char			*user;		/* of workers, if root */
	int			 lease_s;		/* 60 */
	int			 stop_timeout_s;	/* 120 */
	int			 receipt_retention_s;	/* 86400 */
	int			 idle_s;		/* idle workers: 60 */
	int64_t			 max_artifact;		/* bytes: 1 GiB */
	struct conf_kind	*kinds;
	size_t			 nkinds;
	struct conf_provider	*providers;
	size_t			 nproviders;
};

/* conf.c */

/*
 * conf_load() returns 0, PO_EINVAL or PO_ENOMEM; *ret_error (mem_free) holds
 * every problem found, one per line, each "file:line: ...".
 */
int	conf_load(const char *path, struct conf **ret, char **ret_error);
void	conf_free(struct conf **);
/* conf_default_path(): option, else PAYONCE_CONF, else the installed file. */
const char	*conf_default_path(const char *option);
const struct conf_kind		*conf_find_kind(const struct conf *,
				    const char *);
const struct conf_provider	*conf_find_provider(const struct conf *,
				    const char *);
/* conf_secret_path() is secrets_dir/<provider>; caller frees. */
char	*conf_secret_path(const struct conf *, const char *provider);

#endif
