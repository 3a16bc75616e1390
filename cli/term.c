/*
 * term.c - text on a terminal: its width, its colours, nothing dangerous.
 *
 * What a provider or a person wrote may hold escape sequences; nothing
 * reaches the terminal that did not go through term_clean().
 */
#include <string.h>
#include <wchar.h>

#include "cli/cli.h"
#include "common/mem.h"

/*
 * The next character: its bytes, its columns.  A byte that is no UTF-8 is
 * one column.
 */
static size_t
next_char(const char *s, size_t *ret_columns, bool *ret_is_control)
{
	mbstate_t	 state;
	wchar_t		 wc;
	size_t		 n;
	int		 w;

	memset(&state, 0, sizeof(state));
	*ret_columns = 1;
	*ret_is_control = false;
	n = mbrtowc(&wc, s, strlen(s), &state);
	if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
		*ret_is_control = true;
		return 1;
	}
	w = wcwidth(wc);
	/* C1 controls (U+0080..9F) and direction overrides too */
	if (w < 0 || wc < 0x20 || wc == 0x7f ||
	    (wc >= 0x202a && wc <= 0x202e) || (wc >= 0x2066 && wc <= 0x2069))
		*ret_is_control = true;
	else
		*ret_columns = (size_t)w;
	return n;
}

size_t
term_width(const char *s)
{
	size_t	 columns, width = 0;
	bool	 is_control;

	while (*s != '\0') {
		s += next_char(s, &columns, &is_control);
		width += columns;
	}
	return width;
}

char *
term_clean(const char *s)
{
	char	*ret, *to;
	size_t	 n, columns;
	bool	 is_control;

	if ((ret = to = mem_alloc(strlen(s) + 1)) == NULL)
		return NULL;
	while (*s != '\0') {
		n = next_char(s, &columns, &is_control);
		if (is_control) {
			/* a line end or tab parts words; the rest is shown */
			*to++ = *s == '\n' || *s == '\t' || *s == '\r' ?
			    ' ' : '?';
		} else {
			memcpy(to, s, n);
			to += n;
		}
		s += n;
	}
	*to = '\0';
	return ret;
}

char *
term_fit(const char *s, size_t width, bool has_utf8)
{
	const char	*dots = has_utf8 ? "\xe2\x80\xa6" : "..";
	size_t		 dots_width = has_utf8 ? 1 : 2;
	size_t		 used = 0, off = 0, n, columns;
	bool		 is_control;

	if (term_width(s) <= width)
		return mem_strdup(s);
	if (width <= dots_width)
		return mem_strndup(dots, has_utf8 ? strlen(dots) : width);
	while (s[off] != '\0') {
		n = next_char(s + off, &columns, &is_control);
		if (used + columns > width - dots_width)
			break;
		used += columns;
		off += n;
	}
	while (off > 0 && s[off - 1] == ' ')
		off--;
	return mem_printf("%.*s%s", (int)off, s, dots);
}

const char *
colour_on(const struct cli *cli, enum colour colour)
{
	static const char *const	 codes[COLOUR_MAX] = {
		[COLOUR_NONE] = "",
		[COLOUR_DIM] = "\033[2m",
		[COLOUR_BOLD] = "\033[1m",
		[COLOUR_RED] = "\033[31m",
		[COLOUR_GREEN] = "\033[32m",
		[COLOUR_YELLOW] = "\033[1;33m",
		[COLOUR_CYAN] = "\033[36m",
	};

	return cli->has_colour ? codes[colour] : "";
}

const char *
colour_off(const struct cli *cli, enum colour colour)
{
	return cli->has_colour && colour != COLOUR_NONE ? "\033[0m" : "";
}

void
term_wrap(const struct cli *cli, FILE *out, const char *first,
    const char *rest, const char *text)
{
	size_t	 width = cli->width > 0 ? (size_t)cli->width : 0;
	size_t	 used = term_width(first), n, columns;
	char	*clean = term_clean(text), *word, *next;
	bool	 is_fresh = true;

	if (clean == NULL)
		return;
	(void)fputs(first, out);
	for (word = clean; *word != '\0'; word = next) {
		n = strcspn(word, " ");
		next = word + n;
		while (*next == ' ')
			*next++ = '\0';
		columns = term_width(word);
		if (n == 0)
			continue;
		if (!is_fresh && width > 0 && used + 1 + columns > width) {
			(void)fprintf(out, "\n%s", rest);
			used = term_width(rest);
			is_fresh = true;
		}
		(void)fprintf(out, "%s%s", is_fresh ? "" : " ", word);
		used += columns + (is_fresh ? 0 : 1);
		is_fresh = false;
	}
	(void)fputc('\n', out);
	mem_free(clean);
}
