/*
 * words.c - times, money, statuses and reasons in a person's words.  Pure.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "common/buf.h"
#include "common/mem.h"
#include "common/task.h"

enum { QUOTE_MAX = 1 << 20 };

void
words_span(int64_t s, char *ret, size_t cap)
{
	long long	 n = s < 0 ? 0 : (long long)s;

	if (n < 120)
		(void)snprintf(ret, cap, "%lld s", n);
	else if (n < 120 * 60)
		(void)snprintf(ret, cap, "%lld min", n / 60);
	else if (n < 48 * 3600)
		(void)snprintf(ret, cap, "%lld h", n / 3600);
	else
		(void)snprintf(ret, cap, "%lld days", n / 86400);
}

void
words_ago(int64_t s, char *ret, size_t cap)
{
	char	 span[32];

	if (s < 0) {
		words_span(-s, span, sizeof(span));
		(void)snprintf(ret, cap, "in %s", span);
	} else if (s == 0) {
		(void)snprintf(ret, cap, "now");
	} else {
		words_span(s, span, sizeof(span));
		(void)snprintf(ret, cap, "%s ago", span);
	}
}

struct status_words {
	const char	*word;
	enum colour	 colour;
	bool		 is_ended;
};

static const struct status_words statuses[TASK_STATUS_MAX] = {
	[TASK_WAITING] = { "waiting", COLOUR_DIM, false },
	[TASK_PENDING] = { "pending", COLOUR_NONE, false },
	[TASK_RUNNING] = { "running", COLOUR_CYAN, false },
	[TASK_SUBMITTED] = { "submitted", COLOUR_CYAN, false },
	[TASK_SUCCEEDED] = { "succeeded", COLOUR_GREEN, true },
	[TASK_FAILED] = { "failed", COLOUR_RED, true },
	[TASK_CANCELED] = { "canceled", COLOUR_DIM, true },
	[TASK_OUTCOME_UNKNOWN] = { "parked", COLOUR_YELLOW, true },
};

static const struct status_words *
status_find(const char *status)
{
	enum task_status	 s;

	if (status == NULL || task_status_parse(status, &s) != 0)
		return NULL;
	return &statuses[s];
}

const char *
words_status(const char *status)
{
	const struct status_words	*w = status_find(status);

	return w != NULL ? w->word : status != NULL ? status : "";
}

enum colour
words_status_colour(const char *status)
{
	const struct status_words	*w = status_find(status);

	return w != NULL ? w->colour : COLOUR_NONE;
}

bool
words_is_ended(const char *status)
{
	const struct status_words	*w = status_find(status);

	return w != NULL && w->is_ended;
}

const char *
words_status_parse(const char *word)
{
	int	 s;

	for (s = 0; s < TASK_STATUS_MAX; s++)
		if (strcasecmp(word, statuses[s].word) == 0 ||
		    strcasecmp(word, task_status_name(s)) == 0)
			return task_status_name(s);
	return NULL;
}

/* "0.03000" -> "0.03", but never fewer than two digits behind the point. */
static int
money_len(const char *amount)
{
	const char	*point = strchr(amount, '.');
	size_t		 len = strlen(amount);

	if (point == NULL)
		return (int)len;
	while (len > (size_t)(point - amount) + 3 && amount[len - 1] == '0')
		len--;
	return (int)len;
}

void
words_money(const char *amount, const char *currency, char *ret, size_t cap)
{
	const char	*pad = "";
	int		 len;

	if (cap > 0)
		ret[0] = '\0';
	if (amount == NULL || amount[0] == '\0')
		return;
	len = money_len(amount);
	if (strchr(amount, '.') == NULL)
		pad = ".00";
	else if (strchr(amount, '.') - amount == len - 2)
		pad = "0";
	if (currency == NULL || strcmp(currency, "USD") == 0)
		(void)snprintf(ret, cap, "$%.*s%s", len, amount, pad);
	else
		(void)snprintf(ret, cap, "%.*s%s %s", len, amount, pad,
		    currency);
}

char *
words_quote(const char *s)
{
	struct buf	 b;
	const char	*p;

	for (p = s; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("._-/:=@,+%", *p) ==
		    NULL)
			break;
	if (*p == '\0' && p != s)
		return mem_strdup(s);
	buf_init(&b, QUOTE_MAX);
	(void)buf_putc(&b, '\'');
	for (p = s; *p != '\0'; p++) {
		if (*p == '\'')
			(void)buf_puts(&b, "'\\''");
		else
			(void)buf_putc(&b, *p);
	}
	if (buf_putc(&b, '\'') != 0) {
		buf_done(&b);
		return NULL;
	}
	return buf_steal(&b, NULL);
}
