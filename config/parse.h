/*
 * parse.h - what the files of config/ share: problems, files, sections.
 */
#ifndef PAYONCE_PARSE_H
#define PAYONCE_PARSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <confuse.h>

#include "common/buf.h"
#include "config/conf.h"

/* Everything that is wrong, one line each; PO_ENOMEM sticks. */
struct problems {
	struct buf	text;
	int		rc;
};

/* Where each option stood: libconfuse keeps only the last line. */
struct parse_line {
	const cfg_opt_t	*opt;
	int		 line;
	unsigned int	 nvalues;	/* when last heard of */
	unsigned int	 calls;
	char		*first;		/* a list's first value */
};

/* One parsed file. */
struct parse {
	char			*path;
	cfg_t			*cfg;
	struct parse_line	*lines;
	size_t			 nlines;
	bool			 is_bad;	/* a syntax error ended it */
	struct problems		*problems;
};

/* problems.c */
void	problems_init(struct problems *);
void	problem_add(struct problems *, const char *file, int line,
	    const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void	problem_add_text(struct problems *, const char *lines);
/* problems_end() gives the text (NULL: none) and 0, PO_EINVAL, PO_ENOMEM. */
int	problems_end(struct problems *, char **ret_error);

/* parse.c */
/* parse_file() tells the problems; what was read so far may be NULL. */
int	parse_file(const char *path, bool is_main, struct problems *,
	    struct parse *ret);
void	parse_done(struct parse *);
int	parse_line(const struct parse *, const cfg_opt_t *);
/* parse_first_line() is the first line of anything in a section. */
int	parse_first_line(const struct parse *, cfg_t *sec);
/* parse_text() is a single value, or NULL when the key was not set. */
const char	*parse_text(cfg_t *sec, const char *key);

/* read.c: single values of payonce.conf, checked */
void	read_text(struct parse *, cfg_t *, const char *key, const char *def,
	    char **ret);
void	read_path(struct parse *, cfg_t *, const char *key, const char *def,
	    char **ret);
int64_t	read_int(struct parse *, cfg_t *, const char *key, int64_t min,
	    int64_t max, int64_t def);
int64_t	read_bytes(struct parse *, cfg_t *, const char *key, int64_t def);
bool	name_is_good(const char *);

/* providers.c */
/* providers_read() reads the files that payonce.conf names, and itself. */
void	providers_read(struct parse *main, struct conf *);

/* kinds.c */
void	kinds_read(struct parse *main, struct conf *);

#endif
