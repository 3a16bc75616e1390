/*
 * cli.h - the payonce command: what its files share.
 *
 * The command needs a database and nothing else.  Every value reaches SQL as
 * a parameter.  A verb returns an exit code (common/exitcodes.h) and has
 * said on stderr what went wrong and what to do next.
 */
#ifndef PAYONCE_CLI_H
#define PAYONCE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <libpq-fe.h>

struct json_object;
struct verb;

struct cli {
	const char		*conf_path;	/* -c, or NULL */
	const char		*conninfo;	/* -d, or NULL */
	const struct verb	*verb;		/* what runs */
	bool			 is_json;
	bool			 is_tty;	/* stdout is a terminal */
	bool			 has_colour;
	bool			 has_utf8;
	int			 width;		/* columns; 0: no limit */
	PGconn			*db;		/* db.c; NULL until opened */
	char			*where;		/* host, dbname ...; db.c */
};

struct verb {
	const char	*name;
	int		(*run)(struct cli *, int argc, char **argv);
	const char	*args;		/* behind the name in the usage */
	const char	*help;		/* one line */
};

/* An option of a verb: exactly one of value and flag is set. */
struct opt {
	const char	*name;		/* without the dashes */
	const char	**value;
	bool		*flag;
};

/* main.c */

/* cli_fail() says what went wrong, and what to do next when next is set. */
void	cli_fail(const struct cli *, const char *next, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
/* cli_usage() is cli_fail() with the verb's usage line; EXIT_CODE_USAGE. */
int	cli_usage(const struct cli *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
const struct verb	*cli_verbs(void);	/* ends with a NULL name */

/* opts.c */

/*
 * opts_parse() takes the options out of argv; what is left are the words.
 * Returns their number, or -1 when the usage was wrong (and says so), or -2
 * when help was asked for and given.
 */
int	 opts_parse(struct cli *, int argc, char **argv, const struct opt *,
	    size_t nopts, int min_words, int max_words);
/* opts_status() is the exit code for a negative answer of opts_parse(). */
int	 opts_status(int answer);
/* opts_nearest() is the closest name, or NULL when none is close. */
const char	*opts_nearest(const char *word, const char *const *names,
		    size_t count);
/* opts_i64() checks a number; false after saying what is wrong with it. */
bool	 opts_i64(const struct cli *, const char *what, const char *text,
	    int64_t min, int64_t *ret);

/* db.c */

/* db_open() connects; 0, or EXIT_CODE_FAILED after saying why. */
int	 db_open(struct cli *);
void	 db_close(struct cli *);
/*
 * db_query() returns rows or NULL after saying why; PQclear() them.
 * db_try() says nothing: the caller reads PQresultErrorField().
 */
PGresult	*db_query(struct cli *, const char *sql, int nparams,
		    const char *const *params);
PGresult	*db_try(struct cli *, const char *sql, int nparams,
		    const char *const *params);
/* db_explain() says in a person's words why a result is an error. */
void	 db_explain(struct cli *, const PGresult *);
/* db_text() is a field's text, NULL when the field is NULL or not there. */
const char	*db_text(const PGresult *, int row, const char *column);
int64_t	 db_i64(const PGresult *, int row, const char *column, int64_t none);
bool	 db_bool(const PGresult *, int row, const char *column);
/* db_where() is a conninfo without its secrets; the caller frees. */
char	*db_where(const char *conninfo);

/* wait.c */

/*
 * wait_start() listens for ended tasks; where LISTEN is refused (a pooler)
 * the one-second tick remains.  wait_next() returns at the first
 * notification or tick: 0, or EXIT_CODE_FAILED when the connection is gone.
 */
void	 wait_start(struct cli *);
int	 wait_next(struct cli *, int timeout_ms);
/* wait_is_interrupted() is true after SIGINT or SIGTERM. */
bool	 wait_is_interrupted(void);
void	 wait_catch_signals(void);

/* term.c */

enum colour {
	COLOUR_NONE,
	COLOUR_DIM,
	COLOUR_BOLD,
	COLOUR_RED,
	COLOUR_GREEN,
	COLOUR_YELLOW,
	COLOUR_CYAN,
	COLOUR_MAX
};

/* term_width() is the number of columns that a text takes. */
size_t	 term_width(const char *);
/* term_clean() copies without control characters; the caller frees. */
char	*term_clean(const char *);
/* term_fit() cuts a clean text to at most width columns; caller frees. */
char	*term_fit(const char *, size_t width, bool has_utf8);
const char	*colour_on(const struct cli *, enum colour);
const char	*colour_off(const struct cli *, enum colour);
/* term_wrap() prints a text in lines of the terminal's width. */
void	 term_wrap(const struct cli *, FILE *, const char *first,
	    const char *rest, const char *text);

/* table.c */

struct table;

enum column_flags {
	COLUMN_RIGHT = 1,	/* numbers */
	COLUMN_SHRINK = 2	/* may be cut to fit the terminal */
};

/* All: NULL or PO_ENOMEM when memory ran out; table_print() then says so. */
struct table	*table_new(void);
void	 table_column(struct table *, const char *title, int flags);
/* table_cell() fills the next cell, row by row; NULL is an empty cell. */
void	 table_cell(struct table *, enum colour, const char *text);
void	 table_cellf(struct table *, enum colour, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
size_t	 table_rows(const struct table *);
/* table_print() returns 0 or PO_ENOMEM. */
int	 table_print(const struct table *, const struct cli *, FILE *);
void	 table_free(struct table **);

/* words.c */

/* words_ago() and words_span(): "3 min ago", "3 min". */
void	 words_span(int64_t seconds, char *ret, size_t cap);
void	 words_ago(int64_t seconds, char *ret, size_t cap);
/* words_status() is the person's word for a status ("parked"). */
const char	*words_status(const char *status);
enum colour	 words_status_colour(const char *status);
/* words_status_parse() is the database's word, or NULL. */
const char	*words_status_parse(const char *word);
/* words_money(): "$0.03", "1.20 EUR"; "" for no amount. */
void	 words_money(const char *amount, const char *currency, char *ret,
	    size_t cap);
/* words_reason() is a sentence for a machine word (or NULL), or NULL. */
const char	*words_reason(const char *status, const char *reason);
/* words_is_ended(): nothing will happen by itself any more. */
bool	 words_is_ended(const char *status);
/* words_quote() makes a word safe to paste into a shell; caller frees. */
char	*words_quote(const char *);

/* rows.c */

/* rows_object() is one row as a JSON object; json_object_put() it. */
struct json_object	*rows_object(const PGresult *, int row);
/* rows_print_lines() prints one object per line. */
int	 rows_print_lines(const PGresult *);
/* rows_array() is all rows as a JSON array. */
struct json_object	*rows_array(const PGresult *);
/* rows_print() prints one document and frees it. */
int	 rows_print(struct json_object *);

/* advice.c */

/* advice_print() says what a person can do about a parked task. */
void	 advice_print(const struct cli *, FILE *, const PGresult *, int row,
	    const char *indent);
/* advice_command() is "payonce" with the -c or -d in use; caller frees. */
char	*advice_command(const struct cli *);

/* cmd_*.c */
int	cmd_cancel(struct cli *, int, char **);
int	cmd_cost(struct cli *, int, char **);
int	cmd_enqueue(struct cli *, int, char **);
int	cmd_hold(struct cli *, int, char **);
bool	kind_is_served(struct cli *, const char *kind);	/* by a living host */
int	cmd_list(struct cli *, int, char **);
int	cmd_migrate(struct cli *, int, char **);
int	cmd_parked(struct cli *, int, char **);
int	cmd_release(struct cli *, int, char **);
int	cmd_resolve(struct cli *, int, char **);
int	cmd_sandbox(struct cli *, int, char **);
int	cmd_show(struct cli *, int, char **);
int	cmd_status(struct cli *, int, char **);
int	cmd_watch(struct cli *, int, char **);

#endif
