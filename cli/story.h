/*
 * story.h - a task's events as a story in a person's words.
 */
#ifndef PAYONCE_STORY_H
#define PAYONCE_STORY_H

#include <stdbool.h>

#include <libpq-fe.h>

struct cli;

/* story.c */

/* The events of task $1, in their order, as story_print() wants them. */
extern const char	story_sql[];
int	story_print(const struct cli *, const PGresult *events);

/* reasons.c: pure */

/* story_sentence() is what one event means; never NULL. */
const char	*story_sentence(const char *from, const char *to,
		    const char *reason);
/* story_is_worth_saying(): the sentence does not say that word already. */
bool	story_is_worth_saying(const char *reason);

#endif
