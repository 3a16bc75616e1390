/*
 * main.c - payonce: options, verbs, and how it speaks when something is wrong.
 *
 * Owns the list of verbs.  Must not know SQL.
 */
#include <sys/ioctl.h>

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/exitcodes.h"
#include "common/num.h"

static int	cmd_help(struct cli *, int, char **);
static int	cmd_version(struct cli *, int, char **);

static const struct verb verbs[] = {
	{ "enqueue", cmd_enqueue,
	    "KIND [JSON | @FILE | -] [--model M] [--dedupe KEY]\n"
	    "        [--priority N] [--at TIME] [--job N] [--after ID,ID] "
	    "[--wait]",
	    "put a task into the table" },
	{ "list", cmd_list,
	    "[--kind K] [--status S] [--job N] [--limit N]",
	    "the tasks, newest first" },
	{ "show", cmd_show, "ID",
	    "a task's story, and what to do about it" },
	{ "watch", cmd_watch, "[ID...] [--job N]",
	    "follow tasks until they end" },
	{ "parked", cmd_parked, "",
	    "tasks that wait for a person, and what to do" },
	{ "resolve", cmd_resolve,
	    "ID adopt|requeue|failed|succeeded --actor A --note N\n"
	    "        [--request-id R] [--result JSON] [--cost C] "
	    "[--currency C]",
	    "decide about a parked task" },
	{ "cancel", cmd_cancel, "ID",
	    "cancel a task that has not been sent" },
	{ "status", cmd_status, "",
	    "queues, holds, hosts and money at a glance" },
	{ "cost", cmd_cost, "[--job N]",
	    "money spent, by kind and model" },
	{ "hold", cmd_hold, "KIND [--actor A] --note N",
	    "stop claiming a kind" },
	{ "release", cmd_release, "KIND [--actor A]",
	    "claim a held kind again" },
	{ "migrate", cmd_migrate, "",
	    "create or update the schema in the database" },
	{ "sandbox", cmd_sandbox, "DIR [--tasks N] [--port P] [--demo]",
	    "a private database, a mock provider and a supervisor" },
	{ "version", cmd_version, "", "print the version" },
	{ "help", cmd_help, "[VERB]", "this page, or one verb's usage" },
	{ NULL, NULL, NULL, NULL }
};

const struct verb *
cli_verbs(void)
{
	return verbs;
}

void
cli_fail(const struct cli *cli, const char *next, const char *fmt, ...)
{
	va_list	 ap;

	(void)fflush(stdout);	/* keep the order on a terminal */
	(void)fprintf(stderr, "payonce%s%s: ", cli->verb == NULL ? "" : " ",
	    cli->verb == NULL ? "" : cli->verb->name);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
	if (next != NULL)
		(void)fprintf(stderr, "  next: %s\n", next);
}

int
cli_usage(const struct cli *cli, const char *fmt, ...)
{
	va_list	 ap;

	(void)fflush(stdout);
	(void)fprintf(stderr, "payonce%s%s: ", cli->verb == NULL ? "" : " ",
	    cli->verb == NULL ? "" : cli->verb->name);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	if (cli->verb == NULL)
		(void)fputs("\n  next: `payonce help` lists the verbs\n",
		    stderr);
	else
		(void)fprintf(stderr, "\n  usage: payonce %s%s%s\n",
		    cli->verb->name, cli->verb->args[0] == '\0' ? "" : " ",
		    cli->verb->args);
	return EXIT_CODE_USAGE;
}

static const struct verb *
verb_find(const char *name)
{
	const struct verb	*v;

	for (v = verbs; v->name != NULL; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

static int
verb_unknown(const struct cli *cli, const char *word)
{
	const char	*names[sizeof(verbs) / sizeof(verbs[0])];
	const char	*near;
	size_t		 n;

	for (n = 0; verbs[n].name != NULL; n++)
		names[n] = verbs[n].name;
	near = opts_nearest(word, names, n);
	if (near != NULL)
		return cli_usage(cli, "there is no verb \"%s\"; "
		    "did you mean \"%s\"?", word, near);
	return cli_usage(cli, "there is no verb \"%s\"", word);
}

static int
cmd_version(struct cli *cli, int argc, char **argv)
{
	int	 n = opts_parse(cli, argc, argv, NULL, 0, 0, 0);

	if (n < 0)
		return opts_status(n);
	(void)printf("payonce %s\n", PACKAGE_VERSION);
	return EXIT_CODE_OK;
}

static void
help_print(FILE *out)
{
	const struct verb	*v;

	(void)fputs("payonce: paid calls run once, from a durable PostgreSQL "
	    "task table\n\n"
	    "usage: payonce [-c FILE | -d CONNINFO] VERB ... [--json]\n\n",
	    out);
	for (v = verbs; v->name != NULL; v++)
		(void)fprintf(out, "  %-9s %s\n", v->name, v->help);
	(void)fputs("\n"
	    "The database comes from -d, else from the configuration: -c, "
	    "else\nPAYONCE_CONF, else the installed payonce.conf.\n"
	    "`payonce help VERB` prints a verb's usage; `payonce sandbox DIR`"
	    "\ngives you everything to try it.  Exit: 0 done, 1 failed, "
	    "2 usage.\n",
	    out);
}

static int
cmd_help(struct cli *cli, int argc, char **argv)
{
	const struct verb	*v;
	int			 n;

	n = opts_parse(cli, argc, argv, NULL, 0, 0, 1);
	if (n < 0)
		return opts_status(n);
	if (n == 0) {
		help_print(stdout);
		return EXIT_CODE_OK;
	}
	if ((v = verb_find(argv[0])) == NULL)
		return verb_unknown(cli, argv[0]);
	(void)printf("usage: payonce %s%s%s\n  %s\n", v->name,
	    v->args[0] == '\0' ? "" : " ", v->args, v->help);
	return EXIT_CODE_OK;
}

/* What the terminal can show; a pipe gets everything, plain and uncut. */
static void
look_at_terminal(struct cli *cli)
{
	struct winsize	 ws;
	const char	*columns = getenv("COLUMNS"), *term = getenv("TERM");
	int64_t		 n;

	cli->has_utf8 = setlocale(LC_CTYPE, "") != NULL &&
	    strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* widths need a UTF-8 locale even where the person has none */
	if (!cli->has_utf8)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
	cli->is_tty = isatty(STDOUT_FILENO) == 1;
	if (!cli->is_tty)
		return;
	cli->has_colour = getenv("NO_COLOR") == NULL &&
	    (term == NULL || strcmp(term, "dumb") != 0);
	cli->width = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0)
		cli->width = ws.ws_col;
	else if (columns != NULL && num_parse_i64(columns, 20, 10000, &n) == 0)
		cli->width = (int)n;
	if (cli->width < 40)
		cli->width = 40;
}

/* The options before the verb; returns the verb's place, or < 0. */
static int
global_options(struct cli *cli, int argc, char **argv)
{
	int	 i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "-d") == 0) {
			if (i + 1 >= argc)
				return -cli_usage(cli, "%s needs a value",
				    argv[i]);
			if (argv[i][1] == 'c')
				cli->conf_path = argv[++i];
			else
				cli->conninfo = argv[++i];
		} else if (strcmp(argv[i], "--json") == 0) {
			cli->is_json = true;
		} else if (strcmp(argv[i], "-h") == 0 ||
		    strcmp(argv[i], "--help") == 0) {
			argv[i] = (char *)(uintptr_t)"help";
			return i;
		} else if (strcmp(argv[i], "-V") == 0 ||
		    strcmp(argv[i], "--version") == 0) {
			argv[i] = (char *)(uintptr_t)"version";
			return i;
		} else if (argv[i][0] == '-') {
			return -cli_usage(cli, "there is no option %s",
			    argv[i]);
		} else {
			return i;
		}
	}
	help_print(stderr);
	return -EXIT_CODE_USAGE;
}

int
main(int argc, char **argv)
{
	struct cli		 cli = { .db = NULL };
	const struct verb	*v;
	int			 at, status;

	look_at_terminal(&cli);
	at = global_options(&cli, argc, argv);
	if (at < 0)
		return -at;
	if (cli.conf_path != NULL && cli.conninfo != NULL)
		return cli_usage(&cli, "-c and -d both name a database; "
		    "give one");
	if ((v = verb_find(argv[at])) == NULL)
		return verb_unknown(&cli, argv[at]);
	cli.verb = v;
	status = v->run(&cli, argc - at - 1, argv + at + 1);
	db_close(&cli);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* a full disk or a closed pipe must not look like success */
		if (status == EXIT_CODE_OK)
			status = EXIT_CODE_FAILED;
	}
	return status;
}
