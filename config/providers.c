/*
 * providers.c - provider files, and what payonce.conf changes in them.
 *
 * Owns conf's providers.  Each section is read apart into a flat description
 * that holds only the keys that were set; merging those changes single keys
 * and keeps the rest, which libconfuse alone would reset.
 */
#include <glob.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "config/parse.h"

static void	read_pattern(struct parse *, const char *, int,
		    struct conf *);
static void	read_file(struct parse *, const char *, struct conf *);
static void	read_section(struct parse *, cfg_t *, struct conf *,
		    bool is_override);
static void	fill_desc(struct parse *, cfg_t *, const char *,
		    struct desc *);
static void	compile_all(struct parse *, struct conf *);

void
providers_read(struct parse *main, struct conf *conf)
{
	static const char usual[] = PAYONCE_SYSCONFDIR "/providers.d/*.conf";
	cfg_opt_t *opt = cfg_getopt(main->cfg, "providers");
	unsigned int i = 0, count = cfg_opt_size(opt);

	if (count == 0)
		read_pattern(main, usual, 0, conf);
	for (i = 0; i < count; i++)
		read_pattern(main, cfg_opt_getnstr(opt, i),
		    parse_line(main, opt), conf);
	for (i = 0; i < cfg_size(main->cfg, "provider"); i++)
		read_section(main, cfg_getnsec(main->cfg, "provider", i),
		    conf, true);
	compile_all(main, conf);
}

/* A relative pattern starts at the folder of payonce.conf. */
static void
read_pattern(struct parse *main, const char *pattern, int line,
    struct conf *conf)
{
	const char *slash = strrchr(main->path, '/');
	char *path = NULL;
	glob_t found = { 0 };
	size_t i = 0;
	int rc = 0;

	if (pattern[0] == '/' || slash == NULL)
		path = mem_strdup(pattern);
	else
		path = mem_printf("%.*s/%s", (int)(slash - main->path),
		    main->path, pattern);
	if (path == NULL) {
		main->problems->rc = PO_ENOMEM;
		return;
	}
	rc = glob(path, 0, NULL, &found);
	if (rc == 0)
		for (i = 0; i < found.gl_pathc; i++)
			read_file(main, found.gl_pathv[i], conf);
	else if (rc == GLOB_NOSPACE)
		main->problems->rc = PO_ENOMEM;
	else if (rc != GLOB_NOMATCH || strpbrk(path, "*?[") == NULL)
		problem_add(main->problems, main->path, line, "providers: "
		    "expected readable files, found none at \"%.200s\"",
		    path);
	globfree(&found);
	mem_free(path);
}

static void
read_file(struct parse *main, const char *path, struct conf *conf)
{
	struct parse p = { 0 };
	unsigned int i = 0;

	if (parse_file(path, false, main->problems, &p) < 0)
		return;
	for (i = 0; !p.is_bad && i < cfg_size(p.cfg, "provider"); i++)
		read_section(&p, cfg_getnsec(p.cfg, "provider", i), conf,
		    false);
	parse_done(&p);
}

static struct conf_provider *
find_provider(struct conf *conf, const char *name)
{
	return (struct conf_provider *)conf_find_provider(conf, name);
}

static void
read_section(struct parse *p, cfg_t *sec, struct conf *conf, bool is_override)
{
	const char *name = cfg_title(sec);
	struct conf_provider *old = find_provider(conf, name), *list = NULL;
	struct desc *d = NULL;
	const struct desc_item *item = NULL;
	int line = parse_first_line(p, sec);

	if (!name_is_good(name)) {
		problem_add(p->problems, p->path, line, "provider: expected "
		    "a name of letters, digits, _ and -, found \"%.60s\"",
		    name);
		return;
	}
	if (desc_new(name, &d) < 0) {
		p->problems->rc = PO_ENOMEM;
		return;
	}
	fill_desc(p, sec, "", d);
	if (old != NULL && !is_override) {
		item = old->desc->count > 0 ? &old->desc->items[0] : NULL;
		problem_add(p->problems, p->path, line, "provider %s: "
		    "expected in one file, found in %s too", name,
		    item != NULL ? item->file : "another");
		desc_free(&d);
	} else if (old != NULL) {
		if (desc_merge(old->desc, d) < 0)
			p->problems->rc = PO_ENOMEM;
		desc_free(&d);
	} else {
		list = mem_grow(conf->providers, conf->nproviders + 1,
		    sizeof(*list));
		if (list == NULL) {
			p->problems->rc = PO_ENOMEM;
			desc_free(&d);
			return;
		}
		conf->providers = list;
		list[conf->nproviders++] = (struct conf_provider){
			.desc = d
		};
	}
}

/* fill_value() copies one option; of repeated sections the values add up. */
static void
fill_value(struct parse *p, cfg_t *sec, cfg_opt_t *opt, const char *key,
    struct desc *d)
{
	const struct desc_item *old = desc_find(d, key);
	size_t had = old != NULL ? old->nvalues : 0;
	const char **values = NULL;
	size_t count = cfg_opt_size(opt), i = 0;
	int line = parse_line(p, opt);

	if (line == 0)
		line = parse_first_line(p, sec);	/* an empty list */
	values = mem_array(had + count + 1, sizeof(*values));
	if (values == NULL) {
		p->problems->rc = PO_ENOMEM;
		return;
	}
	for (i = 0; i < had; i++)
		values[i] = old->values[i];
	for (i = 0; i < count; i++)
		values[had + i] = cfg_opt_getnstr(opt, (unsigned int)i);
	if (desc_set(d, key, values, had + count, p->path, line) < 0)
		p->problems->rc = PO_ENOMEM;
	mem_free(values);
}

/*
 * The depth of the calls is that of our own schema (provider, section, hop).
 * A list that was set to {} is set: it empties the shipped one.
 */
static void
fill_desc(struct parse *p, cfg_t *sec, const char *prefix, struct desc *d)
{
	cfg_opt_t *opt = NULL;
	char *key = NULL;
	unsigned int i = 0;

	for (opt = sec->opts; opt->name != NULL; opt++) {
		if (opt->type != CFGT_SEC && (opt->flags & CFGF_MODIFIED) == 0)
			continue;
		key = mem_printf("%s%s%s", prefix, prefix[0] != '\0' ? "." :
		    "", opt->name);
		if (key == NULL) {
			p->problems->rc = PO_ENOMEM;
			return;
		}
		if (opt->type != CFGT_SEC)
			fill_value(p, sec, opt, key, d);
		else
			for (i = 0; i < cfg_opt_size(opt); i++)
				fill_desc(p, cfg_opt_getnsec(opt, i), key, d);
		mem_free(key);
	}
}

static void
compile_all(struct parse *main, struct conf *conf)
{
	struct conf_provider *cp = NULL;
	char *error = NULL;
	size_t i = 0;
	int rc = 0;

	for (i = 0; i < conf->nproviders; i++) {
		cp = &conf->providers[i];
		rc = provider_compile(cp->desc, &cp->provider, &error);
		if (rc == PO_ENOMEM)
			main->problems->rc = rc;
		else if (rc < 0)
			problem_add_text(main->problems, error);
		mem_free(error);
	}
}
