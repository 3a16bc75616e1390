/*
 * suite.h - a Check program whose tests each get their own rig.
 */
#ifndef PAYONCE_TEST_SUITE_H
#define PAYONCE_TEST_SUITE_H

#include <check.h>

#include "tests/lib/rig.h"

extern struct rig	*rig;	/* of the running test */

/*
 * suite_run() runs the tests and returns the exit code of main().  By hand,
 * an argument chooses the tests whose names hold it.
 */
int	suite_run(int argc, char **argv, const char *name,
	    const TTest *const *, size_t count, int timeout_s);

#define SUITE_COUNT(tests)	(sizeof(tests) / sizeof((tests)[0]))

/* Kinds whose breaker does not trip over scripted trouble. */
#define KIND_FAL(name, concurrency, more)				\
	"kind " name " { provider = fal model = \"fal-ai/flux/dev\" "	\
	"concurrency = " #concurrency " breaker = 1000 " more " }\n"

#endif
