/*
 * fuzz.h - what a fuzz target gives and gets.
 *
 * A target is one file that defines fuzz_name, fuzz_outcomes, fuzz_seed() and
 * LLVMFuzzerTestOneInput().  It is linked with driver.c, which runs seeds,
 * their mutations and the files of its arguments for FUZZ_SECONDS (3), or with
 * libFuzzer (--enable-fuzz) by libfuzzer.c.
 *
 * A target that sees nothing but its error path shows nothing.  So it counts
 * what comes out of each run, and the run fails when an outcome that is marked
 * as needed never came.
 */
#ifndef PAYONCE_TESTS_FUZZ_H
#define PAYONCE_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_OUTCOMES_MAX	256
#define FUZZ_INPUT_MAX		65536

struct fuzz_outcome {
	const char	*name;		/* NULL ends the list */
	bool		 is_needed;
};

/* the target's */
extern const char			*const fuzz_name;
extern const struct fuzz_outcome	 fuzz_outcomes[];
void	fuzz_seed(void);		/* calls fuzz_add() */
int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* fuzz.c */

/* fuzz_add() takes a copy of one seed. */
void	fuzz_add(const void *, size_t);
/* fuzz_count() notes an outcome by its place in fuzz_outcomes. */
void	fuzz_count(size_t outcome);
/* fuzz_expect() is an assertion of a target: says what and aborts. */
void	fuzz_expect(bool is_true, const char *what);
/* fuzz_is_new() tells whether an outcome came for the first time since. */
bool	fuzz_is_new(void);
/* fuzz_report() prints the counts; the number of needed ones that lack. */
int	fuzz_report(unsigned long executions);
size_t	fuzz_seed_count(void);
const uint8_t	*fuzz_seed_at(size_t, size_t *ret_len);
/* fuzz_run() is LLVMFuzzerTestOneInput() with the input kept for a crash. */
void	fuzz_run(const uint8_t *, size_t);
/* fuzz_catch_crash() makes a crash leave its input in <fuzz_name>.crash. */
void	fuzz_catch_crash(void);

#endif
