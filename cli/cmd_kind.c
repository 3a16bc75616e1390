/*
 * cmd_kind.c - payonce cancel, hold and release: what a person may stop.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/exitcodes.h"

/* Who sits at the terminal: behind sudo, the person who called it. */
static const char *
who_am_i(void)
{
	const char		*sudo = getenv("SUDO_USER");
	const struct passwd	*pw;

	if (sudo != NULL && sudo[0] != '\0')
		return sudo;
	pw = getpwuid(getuid());
	return pw != NULL ? pw->pw_name : "unknown";
}

/* True as well when the database does not say. */
bool
kind_is_served(struct cli *cli, const char *kind)
{
	const char	*params[] = { kind };
	PGresult	*res = db_try(cli,
	    "SELECT 1 FROM payonce.host WHERE seen_at > now() - "
	    "interval '150 seconds' AND kinds ? $1", 1, params);
	bool		 is_served = PQresultStatus(res) != PGRES_TUPLES_OK ||
	    PQntuples(res) > 0;

	PQclear(res);
	return is_served;
}

int
cmd_cancel(struct cli *cli, int argc, char **argv)
{
	PGresult	*res;
	const char	*answer;
	char		 next[64];
	int64_t		 id;
	int		 rc;

	if ((rc = opts_parse(cli, argc, argv, NULL, 0, 1, 1)) < 0)
		return opts_status(rc);
	if (!opts_i64(cli, "the task's id", argv[0], 1, &id))
		return EXIT_CODE_USAGE;
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, "SELECT $1::bigint AS id, "
	    "payonce.cancel($1::bigint) AS answer", 1,
	    (const char *const *)argv)) == NULL)
		return EXIT_CODE_FAILED;
	answer = db_text(res, 0, "answer");
	if (answer == NULL)
		answer = "unknown";
	rc = strcmp(answer, "canceled") == 0 ||
	    strcmp(answer, "requested") == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
	if (cli->is_json) {
		if (rows_print_lines(res) != EXIT_CODE_OK)
			rc = EXIT_CODE_FAILED;
	} else if (strcmp(answer, "canceled") == 0) {
		(void)printf("task %s is canceled\n", argv[0]);
	} else if (strcmp(answer, "requested") == 0) {
		(void)printf("task %s is being canceled: it runs, and stops "
		    "if it was not sent yet\n", argv[0]);
	} else if (strcmp(answer, "too_late") == 0) {
		cli_fail(cli, "let it end; its result is kept",
		    "task %s was sent already and will be billed", argv[0]);
	} else if (strcmp(answer, "ended") == 0) {
		(void)snprintf(next, sizeof(next), "`payonce show %s` tells "
		    "how", argv[0]);
		cli_fail(cli, next, "task %s has ended already", argv[0]);
	} else {
		cli_fail(cli, "`payonce list` shows the tasks", "task %s: %s",
		    argv[0], answer);
	}
	PQclear(res);
	return rc;
}

int
cmd_hold(struct cli *cli, int argc, char **argv)
{
	const char	*params[3] = { NULL, who_am_i(), NULL };
	const struct opt opts[] = {
		{ "actor", &params[1], NULL }, { "note", &params[2], NULL },
	};
	PGresult	*res;
	int		 rc;

	if ((rc = opts_parse(cli, argc, argv, opts, 2, 1, 1)) < 0)
		return opts_status(rc);
	if (params[2] == NULL || params[2][0] == '\0')
		return cli_usage(cli, "--note is missing: why is it held?");
	params[0] = argv[0];
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, "SELECT payonce.hold($1::text, $2::text, "
	    "$3::text)", 3, params)) == NULL)
		return EXIT_CODE_FAILED;
	PQclear(res);
	if (!kind_is_served(cli, argv[0]))
		(void)fprintf(stderr, "payonce: note: no living host serves "
		    "the kind %s: see that it is spelled right\n", argv[0]);
	if (!cli->is_json)
		(void)printf("%s is held: nothing new is claimed; what is in "
		    "flight goes on\n  back: payonce release %s\n", argv[0],
		    argv[0]);
	else
		(void)printf("{\"held\":true}\n");
	return EXIT_CODE_OK;
}

int
cmd_release(struct cli *cli, int argc, char **argv)
{
	const char	*params[2] = { NULL, who_am_i() };
	const struct opt opts[] = { { "actor", &params[1], NULL } };
	PGresult	*res;
	bool		 was_held;
	int		 rc;

	if ((rc = opts_parse(cli, argc, argv, opts, 1, 1, 1)) < 0)
		return opts_status(rc);
	params[0] = argv[0];
	if ((rc = db_open(cli)) != 0)
		return rc;
	if ((res = db_query(cli, "SELECT payonce.release_kind($1::text, "
	    "$2::text) AS was_held", 2, params)) == NULL)
		return EXIT_CODE_FAILED;
	was_held = db_bool(res, 0, "was_held");
	PQclear(res);
	if (cli->is_json)
		(void)printf("{\"was_held\":%s}\n", was_held ? "true" :
		    "false");
	else
		(void)printf("%s %s\n", argv[0], was_held ?
		    "is claimed again" : "was not held");
	return EXIT_CODE_OK;
}
