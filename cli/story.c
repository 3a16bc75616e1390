/*
 * story.c - what happened to a task, event by event.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/story.h"
#include "common/exitcodes.h"
#include "common/mem.h"

const char	story_sql[] =
    "SELECT e.attempt, e.from_status::text AS from_status, "
    "e.to_status::text AS to_status, e.reason, e.detail, e.actor, e.host, "
    "e.at, to_char(extract(epoch FROM e.at - t.created_at), "
    "'FM999999990.0') AS after_s FROM payonce.task_event e "
    "JOIN payonce.generation_task t ON t.id = e.task_id "
    "WHERE e.task_id = $1::bigint ORDER BY e.id";

int
story_print(const struct cli *cli, const PGresult *events)
{
	struct table	*t = table_new();
	const char	*from, *to, *reason, *detail, *who, *words;
	char		*text;
	int		 i, rc;

	table_column(t, "AFTER", COLUMN_RIGHT);
	table_column(t, "WHO", 0);
	table_column(t, "WHAT HAPPENED", COLUMN_SHRINK);
	for (i = 0; i < PQntuples(events); i++) {
		from = db_text(events, i, "from_status");
		to = db_text(events, i, "to_status");
		reason = db_text(events, i, "reason");
		detail = db_text(events, i, "detail");
		who = db_text(events, i, "host");
		words = story_sentence(from, to, reason);
		if (!story_is_worth_saying(reason))
			reason = NULL;
		text = mem_printf("%s%s%s%s%s%s", words,
		    reason != NULL ? " (" : "", reason != NULL ? reason : "",
		    reason != NULL ? ")" : "",
		    detail != NULL ? ": " : "", detail != NULL ? detail : "");
		table_cellf(t, COLOUR_DIM, "%s s",
		    db_text(events, i, "after_s"));
		table_cell(t, COLOUR_NONE, who != NULL ? who :
		    db_text(events, i, "actor"));
		table_cell(t, from == NULL || to == NULL || strcmp(from, to)
		    != 0 ? words_status_colour(to) : COLOUR_NONE, text);
		mem_free(text);
	}
	rc = table_print(t, cli, stdout);
	table_free(&t);
	return rc == 0 ? EXIT_CODE_OK : EXIT_CODE_FAILED;
}
