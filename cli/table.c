/*
 * table.c - aligned tables that fit the terminal.
 *
 * A pipe has no width: nothing is cut there.  On a terminal the columns that
 * may shrink give way, the widest first.
 */
#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"
#include "common/err.h"
#include "common/mem.h"

enum { COLUMNS_MAX = 16, GAP = 2, SHRINK_MIN = 8 };

struct cell {
	char		*text;		/* clean; never NULL */
	enum colour	 colour;
};

struct table {
	const char	*titles[COLUMNS_MAX];
	int		 flags[COLUMNS_MAX];
	size_t		 ncolumns;
	struct cell	*cells;
	size_t		 ncells;
	size_t		 cap;
	bool		 is_broken;	/* memory ran out */
};

struct table *
table_new(void)
{
	return mem_alloc(sizeof(struct table));
}

void
table_column(struct table *t, const char *title, int flags)
{
	if (t == NULL || t->ncolumns == COLUMNS_MAX)
		return;
	t->titles[t->ncolumns] = title;
	t->flags[t->ncolumns++] = flags;
}

void
table_cell(struct table *t, enum colour colour, const char *text)
{
	struct cell	*grown;
	char		*clean;
	size_t		 cap;

	if (t == NULL || t->is_broken)
		return;
	if (t->ncells == t->cap) {
		cap = t->cap == 0 ? 64 : t->cap * 2;
		grown = mem_grow(t->cells, cap, sizeof(*grown));
		if (grown == NULL) {
			t->is_broken = true;
			return;
		}
		t->cells = grown;
		t->cap = cap;
	}
	if ((clean = term_clean(text != NULL ? text : "")) == NULL) {
		t->is_broken = true;
		return;
	}
	t->cells[t->ncells].text = clean;
	t->cells[t->ncells++].colour = colour;
}

void
table_cellf(struct table *t, enum colour colour, const char *fmt, ...)
{
	va_list	 ap;
	char	 text[1024];

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	table_cell(t, colour, text);
}

size_t
table_rows(const struct table *t)
{
	return t == NULL || t->ncolumns == 0 ? 0 : t->ncells / t->ncolumns;
}

static void
measure(const struct table *t, size_t *widths)
{
	size_t	 i, w;

	for (i = 0; i < t->ncolumns; i++)
		widths[i] = term_width(t->titles[i]);
	for (i = 0; i < t->ncells; i++) {
		w = term_width(t->cells[i].text);
		if (w > widths[i % t->ncolumns])
			widths[i % t->ncolumns] = w;
	}
}

/* Takes columns from the widest that may shrink until all fits. */
static void
shrink(const struct table *t, size_t *widths, size_t limit)
{
	size_t	 i, total, widest;

	for (;;) {
		total = t->ncolumns > 0 ? GAP * (t->ncolumns - 1) : 0;
		widest = COLUMNS_MAX;
		for (i = 0; i < t->ncolumns; i++) {
			total += widths[i];
			if ((t->flags[i] & COLUMN_SHRINK) == 0 ||
			    widths[i] <= SHRINK_MIN)
				continue;
			if (widest == COLUMNS_MAX || widths[i] > widths[widest])
				widest = i;
		}
		if (total <= limit || widest == COLUMNS_MAX)
			return;
		widths[widest]--;
	}
}

/*
 * *gap is the blanks that stand before the next text: they are printed only
 * when there is one, so no line ends in blanks.
 */
static int
print_cell(const struct table *t, const struct cli *cli, FILE *out,
    size_t column, size_t width, enum colour colour, const char *text,
    size_t *gap)
{
	char	*fit = term_fit(text, width, cli->has_utf8);
	size_t	 pad;

	if (fit == NULL)
		return PO_ENOMEM;
	pad = width - term_width(fit);
	if (t->flags[column] & COLUMN_RIGHT) {
		*gap += pad;
		pad = 0;
	}
	if (fit[0] != '\0') {
		(void)fprintf(out, "%*s%s%s%s", (int)*gap, "",
		    colour_on(cli, colour), fit, colour_off(cli, colour));
		*gap = 0;
	}
	*gap += pad + GAP;
	if (column + 1 == t->ncolumns) {
		(void)fputc('\n', out);
		*gap = 0;
	}
	mem_free(fit);
	return 0;
}

int
table_print(const struct table *t, const struct cli *cli, FILE *out)
{
	size_t	 widths[COLUMNS_MAX], i, column, gap = 0;
	int	 rc = 0;

	if (t == NULL || t->is_broken) {
		cli_fail(cli, NULL, "out of memory");
		return PO_ENOMEM;
	}
	measure(t, widths);
	if (cli->width > 0)
		shrink(t, widths, (size_t)cli->width);
	for (i = 0; i < t->ncolumns && rc == 0; i++)
		rc = print_cell(t, cli, out, i, widths[i], COLOUR_DIM,
		    t->titles[i], &gap);
	for (i = 0; i < t->ncells && rc == 0; i++) {
		column = i % t->ncolumns;
		rc = print_cell(t, cli, out, column, widths[column],
		    t->cells[i].colour, t->cells[i].text, &gap);
	}
	return rc;
}

void
table_free(struct table **t)
{
	size_t	 i;

	if (*t == NULL)
		return;
	for (i = 0; i < (*t)->ncells; i++)
		mem_free((*t)->cells[i].text);
	mem_free((*t)->cells);
	mem_free(*t);
	*t = NULL;
}
