/*
 * check_mock.h - the parts of check_mock, and what they share.
 */
#ifndef PAYONCE_CHECK_MOCK_H
#define PAYONCE_CHECK_MOCK_H

#include <check.h>

#include "tests/lib/mock.h"

struct json_object;

/* check_mock.c */

/* submit() posts an input with a script for a task; "{}" is no script. */
void	 submit(const struct test_mock *, const char *shape, int task,
	    const char *script, struct test_answer *ret);
/* accept_one() submits and returns the request id (caller frees). */
char	*accept_one(const struct test_mock *, const char *shape, int task,
	    const char *script);
/* text_of() is a member's text or "" ; member may be "a.b". */
const char *text_of(struct json_object *, const char *member);
struct json_object *parse_body(const struct test_answer *);
/* row_of() is the n-th ledger row (0 the first); caller puts it. */
struct json_object *row_of(const struct test_mock *, int n);

/* check_mock_submit.c, check_mock_life.c, check_mock_file.c, ..._ledger.c */
TCase	*submit_tcase(void);
TCase	*life_tcase(void);
TCase	*file_tcase(void);
TCase	*ledger_tcase(void);

#endif
