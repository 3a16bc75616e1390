/*
 * hostile.h - a provider "raw" whose every answer a test writes down as
 * bytes, and rows that say what each of them must lead to.
 */
#ifndef PAYONCE_TEST_HOSTILE_H
#define PAYONCE_TEST_HOSTILE_H

#include "tests/integration/suite.h"
#include "tests/lib/rawd.h"

/* Answers as they are written; {} is a body that says nothing. */
#define RAW_JSON(status, body)						\
	"HTTP/1.1 " status "\r\nContent-Type: application/json\r\n"	\
	"Connection: close\r\n\r\n" body
#define RAW_OK(body)	RAW_JSON("200 OK", body)
#define RAW_ID(id)	RAW_OK("{\"id\":\"" id "\"}")

struct hostile_row {
	const char	*name;		/* its path: /s/NAME */
	const char	*kind;		/* NULL: raw */
	/* the answer to the submit */
	const char	*head;
	const char	*piece;
	long		 times;
	int		 piece_ms;
	const char	*tail;
	enum rawd_end	 end;
	/* what comes of it */
	const char	*status;
	const char	*reason;	/* NULL: none; "*": any */
	const char	*told;		/* in detail or an event; NULL: any */
	const char	*id;		/* NULL: any */
};

#define HOSTILE_MAX	120

/* hostile.c */

/*
 * hostile_run() starts all, enqueues one task per row, waits until none is
 * under way and checks each row; more are answers to other paths.  The
 * server still runs: the caller ends with hostile_done().
 */
void	hostile_run(struct rawd *, const struct hostile_row *, size_t count,
	    const struct rawd_script *more, size_t nmore);
void	hostile_done(struct rawd *);
/* hostile_start() does the first part alone. */
void	hostile_start(struct rawd *, const struct hostile_row *, size_t count,
	    const struct rawd_script *more, size_t nmore);
int64_t	hostile_enqueue(const struct hostile_row *);

#endif
