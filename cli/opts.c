/*
 * opts.c - a verb's options and words, and help for a mistyped one.
 *
 * Long options only ("--limit 5", "--limit=5"), anywhere between the words;
 * "--" ends them.  Knows no verb.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/num.h"

enum { WORD_MAX = 32, OPTS_MAX = 32 };

/* The edit distance, two letters exchanged counting as one edit. */
static unsigned int
distance(const char *a, const char *b)
{
	unsigned int	 d[WORD_MAX + 1][WORD_MAX + 1];
	size_t		 i, j, la = strlen(a), lb = strlen(b);
	unsigned int	 best;

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (i = 0; i <= la; i++)
		d[i][0] = (unsigned int)i;
	for (j = 0; j <= lb; j++)
		d[0][j] = (unsigned int)j;
	for (i = 1; i <= la; i++) {
		for (j = 1; j <= lb; j++) {
			best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[la][lb];
}

const char *
opts_nearest(const char *word, const char *const *names, size_t count)
{
	const char	*near = NULL;
	unsigned int	 n, best = WORD_MAX;
	size_t		 i, len = strlen(word);

	for (i = 0; i < count; i++) {
		n = distance(word, names[i]);
		/* a beginning of the right word is a good guess too */
		if (len >= 3 && strncmp(word, names[i], len) == 0)
			n = 1;
		if (n < best) {
			best = n;
			near = names[i];
		}
	}
	return best <= 1 + len / 3 ? near : NULL;
}

static const struct opt *
opt_find(const struct opt *opts, size_t nopts, const char *name, size_t len)
{
	size_t	 i;

	for (i = 0; i < nopts; i++)
		if (strlen(opts[i].name) == len &&
		    strncmp(opts[i].name, name, len) == 0)
			return &opts[i];
	return NULL;
}

static int
opt_unknown(const struct cli *cli, const struct opt *opts, size_t nopts,
    const char *name, size_t len)
{
	const char	*names[OPTS_MAX + 2], *near = NULL;
	char		 word[WORD_MAX + 1];
	size_t		 i;

	for (i = 0; i < nopts && i < OPTS_MAX; i++)
		names[i] = opts[i].name;
	names[i++] = "json";
	names[i++] = "help";
	if (len > 0 && len <= WORD_MAX) {
		memcpy(word, name, len);
		word[len] = '\0';
		near = opts_nearest(word, names, i);
	}
	if (near != NULL)
		(void)cli_usage(cli, "there is no option --%.*s; "
		    "did you mean --%s?", (int)len, name, near);
	else
		(void)cli_usage(cli, "there is no option --%.*s", (int)len,
		    name);
	return -1;
}

/* One option at argv[*i]; 0, -1 wrong, -2 help. */
static int
opt_take(struct cli *cli, int argc, char **argv, int *i,
    const struct opt *opts, size_t nopts)
{
	const struct opt	*o;
	const char		*name = argv[*i] + 2, *eq = strchr(name, '=');
	size_t			 len = eq != NULL ? (size_t)(eq - name) :
	    strlen(name);

	if (strcmp(name, "json") == 0) {
		cli->is_json = true;
		return 0;
	}
	if (strcmp(name, "help") == 0) {
		(void)printf("usage: payonce %s %s\n  %s\n", cli->verb->name,
		    cli->verb->args, cli->verb->help);
		return -2;
	}
	if ((o = opt_find(opts, nopts, name, len)) == NULL)
		return opt_unknown(cli, opts, nopts, name, len);
	if (o->flag != NULL) {
		if (eq != NULL) {
			(void)cli_usage(cli, "--%s takes no value", o->name);
			return -1;
		}
		*o->flag = true;
		return 0;
	}
	if (eq != NULL) {
		*o->value = eq + 1;
		return 0;
	}
	if (*i + 1 >= argc) {
		(void)cli_usage(cli, "--%s needs a value", o->name);
		return -1;
	}
	*o->value = argv[++*i];
	return 0;
}

int
opts_parse(struct cli *cli, int argc, char **argv, const struct opt *opts,
    size_t nopts, int min_words, int max_words)
{
	int	 i, n = 0, rc;
	bool	 is_over = false;

	for (i = 0; i < argc; i++) {
		if (is_over || argv[i][0] != '-' || argv[i][1] == '\0') {
			argv[n++] = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			is_over = true;
		} else if (strcmp(argv[i], "-h") == 0) {
			argv[i--] = (char *)(uintptr_t)"--help";
		} else if (argv[i][1] != '-') {
			(void)cli_usage(cli, "there is no option %s "
			    "(-c and -d stand before the verb)", argv[i]);
			return -1;
		} else if ((rc = opt_take(cli, argc, argv, &i, opts,
		    nopts)) != 0) {
			return rc;
		}
	}
	if (n < min_words) {
		(void)cli_usage(cli, "a word is missing");
		return -1;
	}
	if (max_words >= 0 && n > max_words) {
		(void)cli_usage(cli, "\"%s\" is one word too many",
		    argv[max_words]);
		return -1;
	}
	return n;
}

int
opts_status(int answer)
{
	return answer == -2 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

bool
opts_i64(const struct cli *cli, const char *what, const char *text,
    int64_t min, int64_t *ret)
{
	int	 rc = num_parse_i64(text, min, INT64_MAX, ret);

	if (rc == 0)
		return true;
	if (rc == PO_ERANGE && text[0] != '0' && strlen(text) > 18)
		(void)cli_usage(cli, "%s is too large: %s", what, text);
	else if (rc == PO_ERANGE)
		(void)cli_usage(cli, "%s is %s, but the least is %lld", what,
		    text, (long long)min);
	else
		(void)cli_usage(cli, "%s must be a number, not \"%s\"", what,
		    text);
	return false;
}
