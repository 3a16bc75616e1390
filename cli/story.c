/*
 * story.c - what happened to a task, event by event.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/story.h"
#include "common/exitcodes.h"
#include "common/mem.h"

enum { WHO_MAX = 30 };

const char	story_sql[] =
    "SELECT e.attempt, e.from_status::text AS from_status, "
    "e.to_status::text AS to_status, e.reason, e.detail, e.actor, e.host, "
    "e.at, to_char(extract(epoch FROM e.at - t.created_at), "
    "'FM999999990.0') AS after_s FROM payonce.task_event e "
    "JOIN payonce.generation_task t ON t.id = e.task_id "
    "WHERE e.task_id = $1::bigint ORDER BY e.id";

static const char *
who_did(const PGresult *events, int row)
{
	const char	*who = db_text(events, row, "host");

	if (who == NULL)
		who = db_text(events, row, "actor");
	return who != NULL ? who : "";
}

/* "  1.2 s  host  sentence (reason): detail", wrapped under the sentence. */
static int
story_line(const struct cli *cli, const PGresult *events, int row, int wide)
{
	const char	*from = db_text(events, row, "from_status");
	const char	*to = db_text(events, row, "to_status");
	const char	*reason = db_text(events, row, "reason");
	const char	*detail = db_text(events, row, "detail");
	enum colour	 colour = COLOUR_NONE;
	char		*text, *first, *rest, *who;
	int		 rc = EXIT_CODE_FAILED;

	if (from == NULL || to == NULL || strcmp(from, to) != 0)
		colour = words_status_colour(to);
	if (!story_is_worth_saying(reason))
		reason = NULL;
	text = mem_printf("%s%s%s%s%s%s", story_sentence(from, to,
	    db_text(events, row, "reason")), reason != NULL ? " (" : "",
	    reason != NULL ? reason : "", reason != NULL ? ")" : "",
	    detail != NULL ? ": " : "", detail != NULL ? detail : "");
	who = term_clean(who_did(events, row));
	first = who == NULL ? NULL : mem_printf("%9s s  %-*s  ",
	    db_text(events, row, "after_s"), wide, who);
	rest = mem_printf("%*s", 9 + 2 + 2 + wide + 2, "");
	if (text != NULL && first != NULL && rest != NULL) {
		(void)fputs(colour_on(cli, colour), stdout);
		term_wrap(cli, stdout, first, rest, text);
		(void)fputs(colour_off(cli, colour), stdout);
		rc = EXIT_CODE_OK;
	}
	mem_free(text);
	mem_free(who);
	mem_free(first);
	mem_free(rest);
	return rc;
}

int
story_print(const struct cli *cli, const PGresult *events)
{
	size_t	 wide = 0, n;
	int	 i, rc = EXIT_CODE_OK;

	for (i = 0; i < PQntuples(events); i++) {
		n = term_width(who_did(events, i));
		if (n > wide)
			wide = n;
	}
	if (wide > WHO_MAX)
		wide = WHO_MAX;
	for (i = 0; i < PQntuples(events) && rc == EXIT_CODE_OK; i++)
		rc = story_line(cli, events, i, (int)wide);
	return rc;
}
