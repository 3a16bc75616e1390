/*
 * read.c - single values of payonce.conf, each with its check.
 *
 * Owns nothing.
 */
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "config/parse.h"

#define NAME_MAX_LEN	60

static int
line_of(const struct parse *p, cfg_t *sec, const char *key)
{
	return parse_line(p, cfg_getopt(sec, key));
}

void
read_text(struct parse *p, cfg_t *sec, const char *key, const char *def,
    char **ret)
{
	const char *text = parse_text(sec, key);

	if (text == NULL)
		text = def;
	if (text != NULL && text[0] == '\0') {
		problem_add(p->problems, p->path, line_of(p, sec, key),
		    "%s: expected a text, found \"\"", key);
		return;
	}
	if (text != NULL && (*ret = mem_strdup(text)) == NULL)
		p->problems->rc = PO_ENOMEM;
}

void
read_path(struct parse *p, cfg_t *sec, const char *key, const char *def,
    char **ret)
{
	read_text(p, sec, key, def, ret);
	if (*ret != NULL && (*ret)[0] != '/')
		problem_add(p->problems, p->path, line_of(p, sec, key),
		    "%s: expected an absolute path, found \"%.200s\"", key,
		    *ret);
}

int64_t
read_int(struct parse *p, cfg_t *sec, const char *key, int64_t min,
    int64_t max, int64_t def)
{
	const char *text = parse_text(sec, key);
	int64_t value = def;

	if (text != NULL && num_parse_i64(text, min, max, &value) < 0)
		problem_add(p->problems, p->path, line_of(p, sec, key),
		    "%s: expected a whole number from %lld to %lld, found "
		    "\"%.100s\"", key, (long long)min, (long long)max, text);
	return value;
}

/* 1048576, 1024K, 1M, 2G */
int64_t
read_bytes(struct parse *p, cfg_t *sec, const char *key, int64_t def)
{
	static const char units[] = "KMG";
	const char *text = parse_text(sec, key);
	const char *unit = NULL;
	char digits[24] = "";
	size_t len = 0;
	int64_t value = 0;

	if (text == NULL)
		return def;
	len = strlen(text);
	if (len > 1)
		unit = strchr(units, text[len - 1]);
	if (unit != NULL)
		len--;
	if (len < sizeof(digits)) {
		memcpy(digits, text, len);
		if (num_parse_i64(digits, 1, 1LL << 40, &value) == 0) {
			if (unit != NULL)
				value <<= 10 * (unit - units + 1);
			if (value >= 1 && value <= 1LL << 40)
				return value;
		}
	}
	problem_add(p->problems, p->path, line_of(p, sec, key),
	    "%s: expected bytes from 1 to 1024G, such as 512M, found "
	    "\"%.100s\"", key, text);
	return def;
}

/* Names become files, words of the command line and columns. */
bool
name_is_good(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return len > 0 && len <= NAME_MAX_LEN && name[len] == '\0' &&
	    name[0] != '-';
}
