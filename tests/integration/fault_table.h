/*
 * fault_table.h - doc/FAULTPOINTS.md as data: the written verdicts are what
 * the tests expect, so the page cannot say anything else than the code does.
 */
#ifndef PAYONCE_TEST_FAULT_TABLE_H
#define PAYONCE_TEST_FAULT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define FAULT_MAX	80

struct fault {
	char	 action[32];	/* "kill", "orphan": of the table's title */
	char	 point[40];
	bool	 may_requeue;
	bool	 may_park;
	bool	 may_poll;
	bool	 may_be_done;
	int	 charges_min;	/* -1: nothing is paid */
	int	 charges_max;
};

/*
 * fault_table_read() reads all tables of the page: a line "## `action`"
 * names the action of the rows below it.  Returns the number of rows; exits
 * with a message on a row that it does not understand.
 */
size_t	 fault_table_read(const char *path, struct fault *, size_t max);

#endif
