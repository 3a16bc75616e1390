/*
 * kinds.c - the kinds of payonce.conf.
 *
 * Owns conf's kinds.
 */
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "config/parse.h"
#include "provider/keys.h"

#define CONCURRENCY_MAX	100000
#define WORKERS_USUAL	16

static void	read_kind(struct parse *, cfg_t *, const struct conf *,
		    struct conf_kind *);
static void	read_command(struct parse *, cfg_t *, struct conf_kind *);
static void	check_provider(struct parse *, cfg_t *, const struct conf *,
		    const struct conf_kind *);

void
kinds_read(struct parse *main, struct conf *conf)
{
	unsigned int count = cfg_size(main->cfg, "kind"), i = 0;

	conf->kinds = mem_array(count, sizeof(*conf->kinds));
	if (conf->kinds == NULL) {
		main->problems->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < count; i++)
		read_kind(main, cfg_getnsec(main->cfg, "kind", i), conf,
		    &conf->kinds[conf->nkinds++]);
}

static void
read_kind(struct parse *p, cfg_t *sec, const struct conf *conf,
    struct conf_kind *k)
{
	const char *name = cfg_title(sec);
	int usual = 0;

	k->line = parse_first_line(p, sec);
	if (!name_is_good(name))
		problem_add(p->problems, p->path, k->line, "kind: expected a "
		    "name of letters, digits, _ and -, found \"%.60s\"",
		    name);
	if ((k->name = mem_strdup(name)) == NULL)
		p->problems->rc = PO_ENOMEM;
	read_text(p, sec, "provider", NULL, &k->provider);
	read_text(p, sec, "model", NULL, &k->model);
	read_command(p, sec, k);
	k->concurrency = (int)read_int(p, sec, "concurrency", 1,
	    CONCURRENCY_MAX, 1);
	usual = k->concurrency < WORKERS_USUAL ? k->concurrency :
	    WORKERS_USUAL;
	k->submit_workers = (int)read_int(p, sec, "submit_workers", 1,
	    CONCURRENCY_MAX, usual);
	k->poll_deadline_s = (int)read_int(p, sec, "poll_deadline", 1,
	    365 * 86400, 3600);
	k->timeout_s = (int)read_int(p, sec, "timeout", 1, 365 * 86400, 3600);
	k->breaker = (int)read_int(p, sec, "breaker", 1, 1000000, 3);
	k->max_requeues = (int)read_int(p, sec, "max_requeues", 0, 1000000,
	    3);
	read_text(p, sec, "estimate", NULL, &k->estimate);
	if (k->estimate != NULL && (num_decimal_check(k->estimate) < 0 ||
	    k->estimate[0] == '-'))
		problem_add(p->problems, p->path, parse_line(p,
		    cfg_getopt(sec, "estimate")), "estimate: expected a price "
		    "per task such as \"0.025\", found \"%.60s\"",
		    k->estimate);
	read_text(p, sec, "currency", "USD", &k->currency);
	if (k->currency != NULL && (strlen(k->currency) != 3 ||
	    strspn(k->currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 3))
		problem_add(p->problems, p->path, parse_line(p,
		    cfg_getopt(sec, "currency")), "currency: expected three "
		    "capital letters, found \"%.60s\"", k->currency);
	if ((k->provider != NULL) == (k->command != NULL))
		problem_add(p->problems, p->path, k->line, "kind %s: "
		    "expected exactly one of provider and command, found %s",
		    name, k->provider != NULL ? "both" : "neither");
	check_provider(p, sec, conf, k);
}

static void
check_provider(struct parse *p, cfg_t *sec, const struct conf *conf,
    const struct conf_kind *k)
{
	const char *names[64];
	const char *near = NULL;
	size_t i = 0;

	if (k->provider == NULL ||
	    conf_find_provider(conf, k->provider) != NULL)
		return;
	for (i = 0; i < conf->nproviders && i < 64; i++)
		names[i] = conf->providers[i].desc->name;
	near = key_nearest(k->provider, names, i);
	problem_add(p->problems, p->path, parse_line(p,
	    cfg_getopt(sec, "provider")), "provider: expected one that a file "
	    "of providers describes, found \"%.60s\"%s%s", k->provider,
	    near != NULL ? "; the nearest one is " : "",
	    near != NULL ? near : "");
}

static void
read_command(struct parse *p, cfg_t *sec, struct conf_kind *k)
{
	cfg_opt_t *opt = cfg_getopt(sec, "command");
	unsigned int count = cfg_opt_size(opt), i = 0;
	const char *program = NULL;

	if (count == 0)
		return;
	if ((k->command = mem_array(count + 1, sizeof(*k->command))) == NULL) {
		p->problems->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < count; i++)
		if ((k->command[i] = mem_strdup(cfg_opt_getnstr(opt,
		    i))) == NULL) {
			p->problems->rc = PO_ENOMEM;
			return;
		}
	program = k->command[0];
	if (program[0] != '/')
		problem_add(p->problems, p->path, parse_line(p, opt),
		    "command: expected an absolute path, found \"%.200s\"",
		    program);
	else if (access(program, X_OK) != 0)
		problem_add(p->problems, p->path, parse_line(p, opt),
		    "command: expected a program that can be run, found "
		    "\"%.200s\"", program);
}
