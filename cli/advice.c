/*
 * advice.c - what a person can do about a parked task, ready to paste.
 *
 * Says only what the row knows: the request id where there is one, the own
 * id to look for at the provider where there is none.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/buf.h"
#include "common/mem.h"

enum { COMMAND_MAX = 8192 };

char *
advice_command(const struct cli *cli)
{
	const char	*value = cli->conf_path != NULL ? cli->conf_path :
	    cli->conninfo;
	char		*quoted, *s;

	if (value == NULL)
		return mem_strdup("payonce");
	/* a password does not belong on the screen */
	if (cli->conninfo != NULL && cli->where != NULL)
		value = cli->where;
	if ((quoted = words_quote(value)) == NULL)
		return NULL;
	s = mem_printf("payonce %s %s", cli->conf_path != NULL ? "-c" : "-d",
	    quoted);
	mem_free(quoted);
	return s;
}

static void
advise(const struct cli *cli, FILE *out, const char *indent,
    const char *when, const char *command, const char *id, const char *words)
{
	(void)fprintf(out, "%s%s\n%s  %s%s resolve %s %s%s\n", indent, when,
	    indent, colour_on(cli, COLOUR_BOLD), command, id, words,
	    colour_off(cli, COLOUR_BOLD));
}

/* Nobody knows an id: it must be looked for at the provider. */
static void
advise_search(const struct cli *cli, FILE *out, const PGresult *res, int row,
    const char *indent, const char *command, const char *id)
{
	const char	*provider = db_text(res, row, "provider");
	const char	*at = db_text(res, row, "marked_text");
	const char	*own = db_text(res, row, "own_id");
	char		*text;

	text = mem_printf("Look at %s for a request made at %s%s%s%s.",
	    provider != NULL ? provider : "the provider",
	    at != NULL ? at : "that time", own != NULL ?
	    " (our id, if it keeps one: " : "", own != NULL ? own : "",
	    own != NULL ? ")" : "");
	if (text != NULL)
		term_wrap(cli, out, indent, indent, text);
	mem_free(text);
	advise(cli, out, indent, "It is there? Take its result, which is "
	    "paid already:", command, id, "adopt --request-id ID --actor YOU "
	    "--note 'found it'");
	advise(cli, out, indent, "It is surely not there? Send it again (pays "
	    "twice if you are wrong):", command, id,
	    "requeue --actor YOU --note 'not there'");
}

static void
advise_request(const struct cli *cli, FILE *out, const PGresult *res,
    int row, const char *indent, const char *command, const char *id,
    const char *request)
{
	const char	*url = db_text(res, row, "poll_url");
	char		*quoted = words_quote(request);
	char		*words = quoted == NULL ? NULL : mem_printf("adopt "
	    "--request-id %s --actor YOU --note 'ask again'", quoted);

	if (url != NULL)
		(void)fprintf(out, "%sThe provider knows it: %s\n", indent,
		    url);
	if (words != NULL)
		advise(cli, out, indent, "It is done or still runs there? "
		    "Ask for it again, which costs nothing:", command,
		    id, words);
	advise(cli, out, indent, "It failed there? Pay for a new one:",
	    command, id, "requeue --actor YOU --note 'failed there'");
	mem_free(words);
	mem_free(quoted);
}

void
advice_print(const struct cli *cli, FILE *out, const PGresult *res, int row,
    const char *indent)
{
	const char	*id = db_text(res, row, "id");
	const char	*request = db_text(res, row, "request_id");
	char		*command = advice_command(cli);

	if (command != NULL && id != NULL) {
		if (db_bool(res, row, "has_result"))
			advise(cli, out, indent, "The result is on the row "
			    "already (payonce show). Is it good?", command,
			    id, "succeeded --actor YOU --note 'it is good'");
		if (request != NULL)
			advise_request(cli, out, res, row, indent, command,
			    id, request);
		else
			advise_search(cli, out, res, row, indent, command,
			    id);
		advise(cli, out, indent, "Not worth it? Give it up:", command,
		    id, "failed --actor YOU --note 'why'");
	}
	mem_free(command);
}
