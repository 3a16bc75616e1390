/*
 * migrations.h - the migrations as the program carries them.
 *
 * The table is made from sql/NNN-name.sql at build time (tools/sql2c); it is
 * ordered, its versions are 1, 2, 3 ... without a gap.
 */
#ifndef PAYONCE_MIGRATIONS_H
#define PAYONCE_MIGRATIONS_H

#include <stddef.h>

struct migration {
	int		 version;
	const char	*name;		/* "001-schema" */
	const char	*text;		/* SQL, many statements */
};

extern const struct migration	migrations[];
extern const size_t		nmigrations;

#endif
