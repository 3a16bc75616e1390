/*
 * parse.c - one configuration file through libconfuse.
 *
 * Owns the schema and struct parse.  All values are read as text and checked
 * by our own code, so that every fault is told in the same words.
 * libconfuse reports through a function without an argument: the parse that
 * is under way is kept in a variable of this file.  Not reentrant.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "config/parse.h"
#include "provider/keys.h"

#define FILE_MAX	(1u << 20)
#define SECTIONS_MAX	16
#define SECTION_KEYS_MAX	48

#define NO_SUCH	"no such option '"	/* libconfuse's words */

/* An options array that libconfuse copies in cfg_init(). */
struct section {
	char		 path[32];
	cfg_opt_t	 opts[SECTION_KEYS_MAX + 1];
	size_t		 count;
};

static struct section	 sections[SECTIONS_MAX];	/* of a provider */
static size_t		 section_count;
static struct parse	*parsing;

static int	on_value(cfg_t *, cfg_opt_t *);
static void	on_error(cfg_t *, const char *, va_list)
		    __attribute__((format(printf, 2, 0)));

#define KEY_ONE(key)	{ .name = key, .type = CFGT_STR,		\
	.flags = CFGF_NODEFAULT, .validcb = on_value }
#define KEY_LIST(key)	{ .name = key, .type = CFGT_STR,		\
	.flags = CFGF_LIST | CFGF_NODEFAULT, .validcb = on_value }
#define SECTIONS(key, keys) { .name = key, .type = CFGT_SEC,	\
	.flags = CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES,		\
	.subopts = keys }
#define KEYS_END	{ .name = NULL, .type = CFGT_NONE }

static cfg_opt_t kind_keys[] = {
	KEY_ONE("provider"), KEY_ONE("model"), KEY_LIST("command"),
	KEY_ONE("concurrency"), KEY_ONE("submit_workers"),
	KEY_ONE("poll_deadline"), KEY_ONE("timeout"), KEY_ONE("breaker"),
	KEY_ONE("max_requeues"), KEY_ONE("estimate"), KEY_ONE("currency"),
	KEYS_END
};

static cfg_opt_t main_keys[] = {
	KEY_ONE("database"), KEY_ONE("state_dir"), KEY_ONE("run_dir"),
	KEY_ONE("worker_path"), KEY_ONE("secrets_dir"), KEY_ONE("user"),
	KEY_ONE("lease"), KEY_ONE("stop_timeout"),
	KEY_ONE("receipt_retention"), KEY_ONE("idle"),
	KEY_ONE("max_artifact"), KEY_LIST("providers"),
	SECTIONS("kind", kind_keys),
	SECTIONS("provider", sections[0].opts),
	KEYS_END
};

static cfg_opt_t provider_file_keys[] = {
	SECTIONS("provider", sections[0].opts),
	KEYS_END
};

static struct section *
section_find(const char *path, size_t len)
{
	size_t i = 0;

	for (i = 0; i < section_count; i++)
		if (strlen(sections[i].path) == len &&
		    strncmp(sections[i].path, path, len) == 0)
			return &sections[i];
	return NULL;
}

static cfg_opt_t *
section_add_opt(struct section *s)
{
	/* our own table: too small an array is our mistake */
	if (s->count == SECTION_KEYS_MAX)
		abort();
	return &s->opts[s->count++];
}

/* section_make() adds a section "a.b" to its parent "a". */
static struct section *
section_make(const char *path, size_t len)
{
	const char *dot = memrchr(path, '.', len);
	struct section *parent = NULL, *s = NULL;
	bool is_hop = false;

	if ((s = section_find(path, len)) != NULL)
		return s;
	if (section_count == SECTIONS_MAX || len >= sizeof(s->path))
		abort();
	s = &sections[section_count++];
	memcpy(s->path, path, len);
	if (len == 0)
		return s;
	parent = section_find(path, dot != NULL ? (size_t)(dot - path) : 0);
	is_hop = dot != NULL;		/* only those come several times */
	*section_add_opt(parent) = (cfg_opt_t){
		.name = dot != NULL ? s->path + (dot - path) + 1 : s->path,
		.type = CFGT_SEC, .flags = is_hop ? CFGF_MULTI : CFGF_NONE,
		.subopts = s->opts, .validcb = is_hop ? NULL : on_value
	};
	return s;
}

/* The schema of a provider is made from the list in provider/keys.c. */
static void
schema_make(void)
{
	const struct provider_key *key = NULL;
	const char *dot = NULL;
	struct section *s = NULL;
	size_t i = 0;

	if (section_count > 0)
		return;
	(void)section_make("", 0);
	for (i = 0; i < provider_keys_count; i++) {
		key = &provider_keys[i];
		dot = strrchr(key->name, '.');
		s = section_make(key->name, dot != NULL ?
		    (size_t)(dot - key->name) : 0);
		*section_add_opt(s) = (cfg_opt_t){
			.name = dot != NULL ? dot + 1 : key->name,
			.type = CFGT_STR, .validcb = on_value,
			.flags = CFGF_NODEFAULT |
			    (key->is_list ? CFGF_LIST : CFGF_NONE)
		};
	}
}

/*
 * open_text() is the whole file as a stream from memory: libconfuse's scanner
 * ends the process when a read fails, as it does for a folder.
 */
static FILE *
open_text(const char *path, struct problems *problems, char **ret_text)
{
	FILE *fp = NULL;
	size_t len = 0;
	int rc = fd_read_file(path, FILE_MAX, ret_text, &len);

	if (rc == PO_ERANGE)
		problem_add(problems, path, 0, "expected at most %u bytes",
		    FILE_MAX);
	else if (rc == PO_EIO)
		problem_add(problems, path, 0, "cannot be read: %s",
		    strerror(errno));
	else if (rc < 0)
		problems->rc = PO_ENOMEM;
	if (rc < 0)
		return NULL;
	fp = len > 0 ? fmemopen(*ret_text, len, "r") :
	    fopen("/dev/null", "re");
	if (fp == NULL)
		problems->rc = PO_ENOMEM;
	return fp;
}

int
parse_file(const char *path, bool is_main, struct problems *problems,
    struct parse *ret)
{
	struct parse p = { .problems = problems };
	char *text = NULL;
	FILE *fp = open_text(path, problems, &text);
	int rc = 0;

	schema_make();
	if (fp == NULL) {
		mem_free(text);
		return PO_EINVAL;
	}
	p.path = mem_strdup(path);
	p.cfg = cfg_init(is_main ? main_keys : provider_file_keys, CFGF_NONE);
	/* cfg_free() frees the name */
	if (p.path == NULL || p.cfg == NULL ||
	    (p.cfg->filename = strdup(path)) == NULL) {
		problems->rc = PO_ENOMEM;
		(void)fclose(fp);	/* only read */
		mem_free(text);
		parse_done(&p);
		return PO_ENOMEM;
	}
	(void)cfg_set_error_function(p.cfg, on_error);	/* the old one */
	parsing = &p;
	rc = cfg_parse_fp(p.cfg, fp);
	parsing = NULL;
	(void)fclose(fp);		/* only read */
	mem_free(text);
	if (rc != CFG_SUCCESS && !p.is_bad) {
		p.is_bad = true;
		problem_add(problems, path, p.cfg->line, "syntax error");
	}
	*ret = p;
	return 0;
}

void
parse_done(struct parse *p)
{
	size_t i = 0;

	if (p->cfg != NULL)
		(void)cfg_free(p->cfg);		/* cannot fail */
	for (i = 0; i < p->nlines; i++)
		mem_free(p->lines[i].first);
	mem_free(p->path);
	mem_free(p->lines);
	*p = (struct parse){ 0 };
}

int
parse_line(const struct parse *p, const cfg_opt_t *opt)
{
	size_t i = 0;

	for (i = 0; i < p->nlines; i++)
		if (p->lines[i].opt == opt)
			return p->lines[i].line;
	return 0;
}

int
parse_first_line(const struct parse *p, cfg_t *sec)
{
	cfg_opt_t *opt = NULL;
	int line = 0, first = 0;

	for (opt = sec->opts; opt->name != NULL; opt++) {
		line = parse_line(p, opt);
		if (line > 0 && (first == 0 || line < first))
			first = line;
	}
	return first > 0 ? first : sec->line;
}

const char *
parse_text(cfg_t *sec, const char *key)
{
	return cfg_size(sec, key) > 0 ? cfg_getstr(sec, key) : NULL;
}

/*
 * list_is_new() says whether libconfuse has begun a list again.  It calls
 * back for each value, and once more at the closing brace.
 */
static bool
list_is_new(const struct parse_line *l, cfg_opt_t *opt)
{
	unsigned int count = cfg_opt_size(opt);

	if (count == 0 || count < l->nvalues || (count == 1 && l->calls > 1))
		return true;
	return count == 1 && l->first != NULL &&
	    strcmp(l->first, cfg_opt_getnstr(opt, 0)) != 0;
}

static int
on_first_value(cfg_t *cfg, cfg_opt_t *opt)
{
	struct parse_line *lines = NULL, *l = NULL;

	lines = mem_grow(parsing->lines, parsing->nlines + 1, sizeof(*lines));
	if (lines == NULL) {
		parsing->problems->rc = PO_ENOMEM;
		return -1;
	}
	parsing->lines = lines;
	l = &lines[parsing->nlines++];
	*l = (struct parse_line){ .opt = opt, .line = cfg->line };
	if (opt->type == CFGT_STR && cfg_opt_size(opt) > 0 &&
	    (l->first = mem_strdup(cfg_opt_getnstr(opt, 0))) == NULL) {
		parsing->problems->rc = PO_ENOMEM;
		return -1;
	}
	l->nvalues = cfg_opt_size(opt);
	l->calls = 1;
	return 0;
}

/*
 * A second value would silently take the place of the first: libconfuse
 * replaces even a whole section.
 */
static int
on_value(cfg_t *cfg, cfg_opt_t *opt)
{
	struct parse_line *l = NULL;
	size_t i = 0;

	for (i = 0; i < parsing->nlines && l == NULL; i++)
		if (parsing->lines[i].opt == opt)
			l = &parsing->lines[i];
	if (l == NULL)
		return on_first_value(cfg, opt);
	if ((opt->flags & CFGF_LIST) == 0 || list_is_new(l, opt)) {
		problem_add(parsing->problems, parsing->path, cfg->line,
		    "%s: expected once, found a second time (first: line %d)",
		    opt->name, l->line);
		l->calls = 0;
	}
	l->nvalues = cfg_opt_size(opt);
	l->calls++;
	return 0;
}

static void
on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	const char *names[SECTION_KEYS_MAX];
	const char *near = NULL;
	char text[512] = "";
	char *wrong = text + strlen(NO_SUCH);
	size_t count = 0;
	cfg_opt_t *opt = NULL;

	(void)vsnprintf(text, sizeof(text), fmt, ap);	/* cut is fine */
	parsing->is_bad = true;
	if (strncmp(text, NO_SUCH, strlen(NO_SUCH)) == 0) {
		wrong[strcspn(wrong, "'")] = '\0';
		for (opt = cfg->opts; opt->name != NULL &&
		    count < SECTION_KEYS_MAX; opt++)
			names[count++] = opt->name;
		near = key_nearest(wrong, names, count);
		problem_add(parsing->problems, parsing->path, cfg->line,
		    "%.64s: there is no such key in %s%s%s", wrong,
		    strcmp(cfg->name, "root") == 0 ? "this file" : cfg->name,
		    near != NULL ? "; the nearest one is " : "",
		    near != NULL ? near : "");
		return;
	}
	problem_add(parsing->problems, parsing->path, cfg->line, "%s", text);
}
