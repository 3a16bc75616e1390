/*
 * conf.c - the whole configuration: loaded, checked, freed.
 *
 * Owns struct conf.  Must not touch a running configuration: a new one is
 * complete, or there is none.
 */
#include "config/conf.h"

#include <sys/stat.h>

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "config/parse.h"

static void	read_main(struct parse *, struct conf *);
static void	check_programs(struct parse *, const struct conf *);

int
conf_load(const char *path, struct conf **ret, char **ret_error)
{
	struct problems problems;
	struct parse p = { 0 };
	struct conf *conf = NULL;
	int rc = 0;

	*ret_error = NULL;
	problems_init(&problems);
	conf = mem_alloc(sizeof(*conf));
	if (conf == NULL || (conf->path = mem_strdup(path)) == NULL)
		problems.rc = PO_ENOMEM;
	else if (parse_file(path, true, &problems, &p) == 0 &&
	    !p.is_bad) {
		read_main(&p, conf);
		providers_read(&p, conf);
		kinds_read(&p, conf);
		check_programs(&p, conf);
	}
	parse_done(&p);
	rc = problems_end(&problems, ret_error);
	if (rc < 0) {
		conf_free(&conf);
		return rc;
	}
	*ret = conf;
	return 0;
}

void
conf_free(struct conf **cp)
{
	struct conf *c = *cp;
	struct conf_kind *k = NULL;
	size_t i = 0, n = 0;

	if (c == NULL)
		return;
	for (i = 0; i < c->nkinds; i++) {
		k = &c->kinds[i];
		mem_free(k->name);
		mem_free(k->provider);
		mem_free(k->model);
		for (n = 0; k->command != NULL && k->command[n] != NULL; n++)
			mem_free(k->command[n]);
		mem_free(k->command);
		mem_free(k->estimate);
		mem_free(k->currency);
	}
	for (i = 0; i < c->nproviders; i++) {
		desc_free(&c->providers[i].desc);
		provider_free(&c->providers[i].provider);
	}
	mem_free(c->kinds);
	mem_free(c->providers);
	mem_free(c->path);
	mem_free(c->database);
	mem_free(c->state_dir);
	mem_free(c->run_dir);
	mem_free(c->worker_path);
	mem_free(c->secrets_dir);
	mem_free(c->user);
	mem_free(c);
	*cp = NULL;
}

const char *
conf_default_path(const char *option)
{
	const char *path = option;

	if (path == NULL)
		path = getenv("PAYONCE_CONF");
	if (path == NULL || path[0] == '\0')
		path = PAYONCE_SYSCONFDIR "/payonce.conf";
	return path;
}

const struct conf_kind *
conf_find_kind(const struct conf *c, const char *name)
{
	size_t i = 0;

	for (i = 0; i < c->nkinds; i++)
		if (strcmp(c->kinds[i].name, name) == 0)
			return &c->kinds[i];
	return NULL;
}

const struct conf_provider *
conf_find_provider(const struct conf *c, const char *name)
{
	size_t i = 0;

	for (i = 0; i < c->nproviders; i++)
		if (strcmp(c->providers[i].desc->name, name) == 0)
			return &c->providers[i];
	return NULL;
}

char *
conf_secret_path(const struct conf *c, const char *provider)
{
	return mem_printf("%s/%s", c->secrets_dir, provider);
}

static void
read_main(struct parse *p, struct conf *c)
{
	cfg_t *cfg = p->cfg;

	read_text(p, cfg, "database", "dbname=payonce", &c->database);
	read_path(p, cfg, "state_dir", PAYONCE_STATEDIR, &c->state_dir);
	read_path(p, cfg, "run_dir", PAYONCE_RUNDIR, &c->run_dir);
	read_path(p, cfg, "worker_path", PAYONCE_LIBEXECDIR "/payonce-worker",
	    &c->worker_path);
	read_path(p, cfg, "secrets_dir", PAYONCE_SYSCONFDIR "/secrets",
	    &c->secrets_dir);
	read_text(p, cfg, "user", NULL, &c->user);
	c->lease_s = (int)read_int(p, cfg, "lease", 1, 86400, 60);
	c->stop_timeout_s = (int)read_int(p, cfg, "stop_timeout", 0, 86400,
	    120);
	c->receipt_retention_s = (int)read_int(p, cfg, "receipt_retention",
	    0, 3650 * 86400, 86400);
	c->idle_s = (int)read_int(p, cfg, "idle", 1, 86400, 60);
	c->max_artifact = read_bytes(p, cfg, "max_artifact", 1LL << 30);
}

/* What a start would trip over is said here, with its line. */
static void
check_programs(struct parse *p, const struct conf *c)
{
	struct stat st;

	if (c->worker_path != NULL && c->worker_path[0] == '/' &&
	    (stat(c->worker_path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    access(c->worker_path, X_OK) != 0))
		problem_add(p->problems, p->path, parse_line(p,
		    cfg_getopt(p->cfg, "worker_path")), "worker_path: "
		    "expected a program that can be run, found \"%.200s\"",
		    c->worker_path);
	if (c->user != NULL && geteuid() == 0 && getpwnam(c->user) == NULL)
		problem_add(p->problems, p->path, parse_line(p,
		    cfg_getopt(p->cfg, "user")), "user: expected a user of "
		    "this machine, found \"%.60s\"", c->user);
}
