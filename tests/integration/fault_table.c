/*
 * fault_table.c - reads the tables of doc/FAULTPOINTS.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/integration/fault_table.h"

static int	 table_parse_row(char *line, struct fault *);
static int	 table_parse_verdict(char *cell, struct fault *);
static int	 table_parse_charges(const char *cell, struct fault *);
static char	*table_trim(char *);

size_t
fault_table_read(const char *path, struct fault *ret, size_t max)
{
	char line[1024], action[32] = "";
	size_t n = 0;
	int number = 0;
	FILE *f;

	f = fopen(path, "re");
	if (f == NULL) {
		fprintf(stderr, "%s cannot be read\n", path);
		exit(1);
	}
	while (fgets(line, sizeof(line), f) != NULL) {
		number++;
		if (sscanf(line, "## `%31[a-z]`", action) == 1)
			continue;
		if (strncmp(line, "| `", 3) != 0)
			continue;
		if (n == max || action[0] == '\0') {
			fprintf(stderr, "%s:%d: a row outside of a table "
			    "with an action\n", path, number);
			exit(1);
		}
		ret[n] = (struct fault){ .charges_min = 0 };
		memcpy(ret[n].action, action, sizeof(action));
		if (table_parse_row(line, &ret[n]) == -1) {
			fprintf(stderr, "%s:%d: no verdict to test\n", path,
			    number);
			exit(1);
		}
		n++;
	}
	(void)fclose(f);
	return n;
}

/* | `point` | where | verdict, verdict (why) | charges | */
static int
table_parse_row(char *line, struct fault *ret)
{
	char *cells[4], *p = line;
	size_t i;

	for (i = 0; i < 4; i++) {
		p = strchr(p, '|');
		if (p == NULL)
			return -1;
		*p++ = '\0';
		cells[i] = p;
	}
	p = strchr(p, '|');
	if (p == NULL)
		return -1;
	*p = '\0';
	if (sscanf(table_trim(cells[0]), "`%39[a-z._]`", ret->point) != 1)
		return -1;
	if (table_parse_verdict(cells[2], ret) == -1)
		return -1;
	return table_parse_charges(table_trim(cells[3]), ret);
}

static int
table_parse_verdict(char *cell, struct fault *ret)
{
	char *paren, *word, *rest = cell;

	while ((paren = strchr(cell, '(')) != NULL)
		while (*paren != '\0' && *paren != ')')
			*paren++ = ' ';
	while ((word = strsep(&rest, ",)")) != NULL) {
		word = table_trim(word);
		if (strcmp(word, "requeue") == 0)
			ret->may_requeue = true;
		else if (strcmp(word, "park") == 0)
			ret->may_park = true;
		else if (strcmp(word, "poll") == 0)
			ret->may_poll = true;
		else if (strcmp(word, "done") == 0)
			ret->may_be_done = true;
		else if (*word != '\0')
			return -1;
	}
	return ret->may_requeue || ret->may_park || ret->may_poll ||
	    ret->may_be_done ? 0 : -1;
}

static int
table_parse_charges(const char *cell, struct fault *ret)
{
	if (strcmp(cell, "-") == 0)
		ret->charges_min = ret->charges_max = -1;
	else if (strcmp(cell, "0 or 1") == 0)
		ret->charges_max = 1;
	else if (strcmp(cell, "1") == 0)
		ret->charges_min = ret->charges_max = 1;
	else if (strcmp(cell, "0") != 0)
		return -1;
	return 0;
}

static char *
table_trim(char *text)
{
	size_t len;

	text += strspn(text, " \t");
	len = strlen(text);
	while (len > 0 && strchr(" \t\n", text[len - 1]) != NULL)
		text[--len] = '\0';
	return text;
}
