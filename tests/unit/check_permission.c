/*
 * check_permission.c - msg_check() walked over everything, and the table of
 * doc/PROTOCOL.md compared with messages.def.
 */
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "tests/unit/message_tool.h"
#include "tests/unit/suite.h"

#define STATES	(C_STARTING | C_IDLE | C_BUSY | C_DRAINING)

START_TEST(test_rows)
{
	const struct msg_row *row = NULL;
	const struct tool_message *msg = NULL;
	unsigned int type = 0, known = 0;

	for (type = 0; type < 70000; type++) {
		row = msg_row(type);
		msg = tool_find(type);
		ck_assert((row == NULL) == (msg == NULL));
		if (row == NULL) {
			ck_assert_str_eq(msg_name(type), "?");
			continue;
		}
		known++;
		ck_assert_uint_eq(row->type, type);
		ck_assert_str_eq(row->name, msg->name);
		ck_assert_str_eq(msg_name(type), msg->name);
		ck_assert_int_eq(row->direction, msg->direction);
		ck_assert_uint_eq(row->roles, msg->roles);
		ck_assert_uint_eq(row->states, msg->states);
		ck_assert_uint_eq(row->max, msg->max);
		ck_assert_uint_eq(row->arity, msg->nfields);
		/* the ranges of the two directions */
		if (row->direction == S2W)
			ck_assert(type >= 1 && type <= 99);
		else
			ck_assert(type >= 101 && type <= 199);
	}
	ck_assert_uint_eq(known, TOOL_MESSAGES);
	ck_assert_ptr_null(msg_row((unsigned int)-1));
}
END_TEST

static void
walk(unsigned int type, enum msg_direction dir, unsigned int role,
    unsigned int state)
{
	const struct tool_message *msg = tool_find(type);
	int want = 0;

	if (msg == NULL) {
		ck_assert_int_eq(msg_check(type, dir, role, state, 0),
		    PO_EINVAL);
		return;
	}
	if (dir != msg->direction)
		want = PO_EINVAL;
	else if (!(msg->roles & role) || !(msg->states & state))
		want = PO_EPERM;
	ck_assert_int_eq(msg_check(type, dir, role, state, 0), want);
	ck_assert_int_eq(msg_check(type, dir, role, state, msg->max), want);
	ck_assert_int_eq(msg_check(type, dir, role, state, msg->max + 1),
	    PO_EINVAL);
}

START_TEST(test_walk)
{
	unsigned int type = 0, role = 0, state = 0;

	for (type = 0; type < 300; type++) {
		for (role = R_SUBMIT; role <= R_EXEC; role <<= 1) {
			for (state = C_STARTING; state <= C_DRAINING;
			    state <<= 1) {
				walk(type, S2W, role, state);
				walk(type, W2S, role, state);
			}
		}
		/* no role and no state may do nothing */
		ck_assert_int_ne(msg_check(type, W2S, 0, STATES, 0), 0);
		ck_assert_int_ne(msg_check(type, W2S, R_ALL, 0, 0), 0);
	}
}
END_TEST

/* What the money hangs on, by hand. */
START_TEST(test_pins)
{
	/* only a submit worker with a task asks for a mark or has an id */
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_SUBMIT, C_BUSY, 5), 0);
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_SUBMIT, C_DRAINING, 5), 0);
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_SUBMIT, C_IDLE, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_SUBMIT, C_STARTING, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_POLL, C_BUSY, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_MARK, W2S, R_EXEC, C_BUSY, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_SUBMITTED, W2S, R_POLL, C_BUSY, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_UNSENT, W2S, R_POLL, C_BUSY, 5),
	    PO_EPERM);
	/* a worker cannot permit itself to send */
	ck_assert_int_eq(msg_check(MSG_MARKED, W2S, R_SUBMIT, C_BUSY, 5),
	    PO_EINVAL);
	/* hello comes once */
	ck_assert_int_eq(msg_check(MSG_HELLO, W2S, R_ALL, C_STARTING, 5), 0);
	ck_assert_int_eq(msg_check(MSG_HELLO, W2S, R_ALL, C_IDLE, 5),
	    PO_EPERM);
	ck_assert_int_eq(msg_check(MSG_BEAT, W2S, R_ALL, C_STARTING, 5),
	    PO_EPERM);
	ck_assert_str_eq(role_name(ROLE_SUBMIT), "submit");
	ck_assert_str_eq(role_name(ROLE_POLL), "poll");
	ck_assert_str_eq(role_name(ROLE_EXEC), "exec");
	ck_assert_str_eq(role_name(ROLE_MAX), "?");
}
END_TEST

static void
put_limit(struct buf *b, size_t len)
{
	int rc = 0;

	if (len % (1u << 20) == 0)
		rc = buf_printf(b, "%zu MiB", len >> 20);
	else if (len % 1024 == 0)
		rc = buf_printf(b, "%zu KiB", len >> 10);
	else
		rc = buf_printf(b, "%zu", len);
	ck_assert_int_eq(rc, 0);
}

static void
put_bits(struct buf *b, unsigned int bits, const char *const *names)
{
	const char *comma = "";

	for (; *names != NULL; names++, bits >>= 1) {
		if ((bits & 1) == 0)
			continue;
		ck_assert_int_eq(buf_printf(b, "%s%s", comma, *names), 0);
		comma = ", ";
	}
	ck_assert_int_eq(buf_puts(b, " | "), 0);
}

/* One row as doc/PROTOCOL.md has it. */
static void
put_row(struct buf *b, const struct tool_message *msg)
{
	static const char *const roles[] = { "submit", "poll", "exec", NULL };
	static const char *const states[] = { "starting", "idle", "busy",
	    "draining", NULL };
	static const char *const kinds[] = { "u64", "i64", "bool", "str",
	    "bin" };
	const struct tool_field *f = NULL;
	size_t i = 0;

	ck_assert_int_eq(buf_printf(b, "| %u | %s | %s | ", msg->type,
	    msg->name, msg->direction == S2W ? "to worker" : "from worker"),
	    0);
	put_bits(b, msg->roles, roles);
	put_bits(b, msg->states, states);
	put_limit(b, msg->max);
	for (i = 0; i < msg->nfields; i++) {
		f = &msg->fields()[i];
		ck_assert_int_eq(buf_printf(b, "%s%s %s", i == 0 ? " | " :
		    ", ", f->name, kinds[f->kind]), 0);
		if (f->max == 0)
			continue;
		ck_assert_int_eq(buf_puts(b, " <= "), 0);
		put_limit(b, f->max);
	}
	ck_assert_int_eq(buf_puts(b, " |\n"), 0);
}

/* The rows between the head of the table and its end, literally. */
START_TEST(test_document)
{
	const char *srcdir = getenv("srcdir");
	char *path = mem_printf("%s/doc/PROTOCOL.md", srcdir != NULL ? srcdir :
	    "."), *text = NULL, *table = NULL, *end = NULL;
	struct buf want;
	size_t i = 0;

	buf_init(&want, 1 << 20);
	for (i = 0; i < TOOL_MESSAGES; i++)
		put_row(&want, &tool_messages[i]);
	ck_assert_msg(fd_read_file(path, 1 << 20, &text, NULL) == 0,
	    "cannot read %s", path);
	table = strstr(text, "\n| --- | --- | --- | --- | --- | --- | --- |\n");
	ck_assert_ptr_nonnull(table);
	table = strchr(table + 1, '\n') + 1;
	end = strstr(table, "\n\n");
	ck_assert_ptr_nonnull(end);
	end[1] = '\0';
	ck_assert_str_eq(table, buf_text(&want));
	/* each message has its paragraph */
	for (i = 0; i < TOOL_MESSAGES; i++) {
		char head[64];

		(void)snprintf(head, sizeof(head), "\n**%s** ",
		    tool_messages[i].name);
		ck_assert_msg(strstr(end + 2, head) != NULL,
		    "%s has no paragraph for %s", path,
		    tool_messages[i].name);
	}
	buf_done(&want);
	mem_free(text);
	mem_free(path);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("permission");
	TCase *tc = tcase_create("permission");

	tcase_add_test(tc, test_rows);
	tcase_add_test(tc, test_walk);
	tcase_add_test(tc, test_pins);
	tcase_add_test(tc, test_document);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
