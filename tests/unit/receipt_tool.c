/*
 * receipt_tool.c - a state folder of its own and receipts written by hand:
 * the format is spelled out here a second time.
 */
#include "tests/unit/receipt_tool.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#include "common/buf.h"
#include "common/fdutil.h"

char	tool_dir[64];

static int
tool_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void
tool_setup(void)
{
	(void)strlcpy(tool_dir, "/tmp/check_receipt.XXXXXX", sizeof(tool_dir));
	ck_assert_ptr_nonnull(mkdtemp(tool_dir));
	ck_assert_int_eq(receipt_prepare(tool_dir, NULL), 0);
}

void
tool_teardown(void)
{
	ck_assert_int_eq(nftw(tool_dir, tool_remove, 16,
	    FTW_DEPTH | FTW_PHYS), 0);
}

struct receipt_facts
tool_intent(int64_t task, int attempt)
{
	static char own_id[32];
	struct receipt_facts f = {
		.task = task, .attempt = attempt, .token = 7,
		.own_id = own_id, .kind = lent("image"),
		.provider = lent("fal"), .system_id = lent("7312"),
		.timeline = 1, .host = lent("host-a"),
	};

	(void)snprintf(own_id, sizeof(own_id), "own-%lld", (long long)task);
	return f;
}

const char *
tool_path(const char *folder, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/receipts/%s/%s", tool_dir,
	    folder, name);
	return path;
}

const char *
tool_path2(const char *folder, const char *name)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/receipts/%s/%s", tool_dir,
	    folder, name);
	return path;
}

const char *
tool_today(void)
{
	static char day[16];
	time_t now = time(NULL);
	struct tm tm = { 0 };

	ck_assert_ptr_nonnull(gmtime_r(&now, &tm));
	ck_assert_uint_eq(strftime(day, sizeof(day), "%Y-%m-%d", &tm), 10);
	return day;
}

void
tool_write(const char *name, const char *text, size_t len)
{
	int fd = open(tool_path("open", name),
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(fd_write_all(fd, text, len), 0);
	fd_close(&fd);
}

static const char *
tool_class(char letter)
{
	static const struct {
		char		 letter;
		const char	*class;
	} classes[] = {
		{ 'u', "unsent" }, { 'j', "rejected" }, { 't', "throttled" },
		{ 'a', "account" }, { 's', "submitted" }, { 'r', "result" },
		{ '?', "unknown" }, { 'c', "surprise" }, { 'R', "result" },
	};
	size_t i = 0;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].letter == letter)
			return classes[i].class;
	ck_abort_msg("no class for %c", letter);
	return NULL;
}

static void
tool_put_line(struct buf *b, const char *name, char letter)
{
	int rc = 0;

	switch (letter) {
	case 'i':
	case 'I':
	case 'y':
	case 'v':
		rc = buf_printf(b, "{\"v\":%d,\"event\":\"intent\","
		    "\"task\":%.*s,\"attempt\":%s,\"token\":3,"
		    "\"own_id\":\"o\",\"system\":\"%s\",\"timeline\":%d,"
		    "\"later\":[1,{}]}\n", letter == 'v' ? 2 : 1,
		    (int)strcspn(name, "."), name, strchr(name, '.') + 1,
		    letter == 'y' ? "9999" : "7312", letter == 'I' ? 2 : 1);
		break;
	case 'f':
		rc = buf_puts(b, "{\"v\":1,\n");
		break;
	case 'z':
		rc = buf_puts(b, "{\"v\":1,\"event\":\"outcome\","
		    "\"class\":\"unsent\"} x\n");
		break;
	default:
		rc = buf_printf(b, "{\"v\":1,\"event\":\"outcome\","
		    "\"class\":\"%s\",\"http_status\":200%s%s}\n",
		    tool_class(letter),
		    letter == 's' ? ",\"request_id\":\"id\"" : "",
		    letter == 'r' ? ",\"result\":\"{}\"" : "");
		break;
	}
	ck_assert_int_eq(rc, 0);
}

void
tool_write_lines(const char *name, const char *letters)
{
	struct buf b;

	buf_init(&b, 65536);
	for (; *letters != '\0'; letters++)
		tool_put_line(&b, name, *letters);
	tool_write(name, buf_text(&b), buf_left(&b));
	buf_done(&b);
}
