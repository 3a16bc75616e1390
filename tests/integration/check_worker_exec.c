/*
 * check_worker_exec.c - a real exec worker and real programs: what they say
 * becomes the outcome, and nothing of their tree survives.
 */
#include <sys/stat.h>
#include <sys/wait.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/mono.h"
#include "common/num.h"
#include "tests/integration/boss.h"
#include "tests/unit/suite.h"

static struct boss boss;

static void
teardown(void)
{
	boss_done(&boss);
}

static void
begin(const char *script)
{
	boss_init(&boss, ROLE_EXEC);
	boss.script = script;
	boss.timeout_ms = 30000;
	boss_start(&boss);
	boss_setup(&boss, 0);
}

static void
expect_failed(const char *reason, const char *detail)
{
	struct msg_failed m;
	struct frame f;

	boss_expect(&boss, MSG_FAILED, &f);
	ck_assert_int_eq(msg_unpack_failed(f.body, f.len, &m), 0);
	ck_assert(boss_is(m.reason, reason));
	if (detail != NULL)
		ck_assert(boss_is(m.detail, detail));
}

static void
expect_unsent(const char *reason)
{
	struct msg_unsent m;
	struct frame f;

	boss_expect(&boss, MSG_UNSENT, &f);
	ck_assert_int_eq(msg_unpack_unsent(f.body, f.len, &m), 0);
	ck_assert(boss_is(m.reason, reason));
}

static void
expect_done(const char *part)
{
	struct msg_done m;
	struct frame f;
	char *text = NULL;

	boss_expect(&boss, MSG_DONE, &f);
	ck_assert_int_eq(msg_unpack_done(f.body, f.len, &m), 0);
	text = mp_dup(m.result);
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" not in %s", part,
	    text);
	mem_free(text);
}

START_TEST(test_happy)
{
	begin("read -r task; echo '{\"progress\":0.25}' >&3; echo bad >&3; "
	    "echo '{\"progress\":0.5,\"note\":\"half\"}' >&3; "
	    "printf abc > \"$PAYONCE_OUTPUT/a.txt\"; "
	    "printf '{\"got\":%s}' \"$task\"");
	boss_assign(&boss, 5, ASSIGN_EXEC, "{\"x\":[1,\"\xc3\xbc\"]}");
	expect_done("{\"output\":{\"got\":{\"id\":5,\"kind\":\"image\","
	    "\"attempt\":1,\"input\":{\"x\":[1,\"\xc3\xbc\"]},\"parents\":[]}}"
	    ",\"artifacts\":[{\"path\":");
	ck_assert_int_eq(boss.permille, 500);
	ck_assert_str_eq(boss.note, "half");
	boss_stored(&boss, 5, MSG_DONE, true);
	/* again in the same process, without what the first one left */
	boss_assign(&boss, 5, ASSIGN_EXEC, "{}");
	expect_done("\"bytes\":3");
	boss_stored(&boss, 5, MSG_DONE, true);
	boss_drain(&boss, 1000);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

static const struct {
	const char	*script;
	const char	*reason;	/* NULL: done; "?...": unsent */
	const char	*detail;
} ends[] = {
	{ "exit 0", NULL, "{\"output\":null,\"artifacts\":[]}" },
	{ "cat >/dev/null; echo '[1,2]'", NULL, "{\"output\":[1,2]," },
	{ "echo oops >&2; exit 3", "exit_3", "oops\n" },
	{ "exit 75", "?tempfail", NULL },
	{ "kill -9 $$", "signal_9", NULL },
	{ "echo '{\"a\":'", "bad_output", NULL },
	{ "echo 1; echo 2 x", "bad_output", NULL },
	{ "exec /nonexistent/program", "exit_127", NULL },
	{ "head -c 5000000 /dev/zero; exec sleep 60", "output_too_big", NULL },
	{ "test -z \"$(ls /proc/self/fd | grep -v '^[0-3]$' | tail -n +2)\"",
	    NULL, "{\"output\":null" },
	{ "test \"$(sed -n 's/^NoNewPrivs:.//p' /proc/self/status)\" = 1",
	    NULL, "{\"output\":null" },
	{ "test \"$PAYONCE_TASK.$PAYONCE_ATTEMPT\" = 5.1 && "
	    "test -z \"$PAYONCE_TEST_PRIVATE\"", NULL, "{\"output\":null" },
};

START_TEST(test_ends)
{
	ck_assert_int_eq(setenv("PAYONCE_TEST_PRIVATE", "x", 1), 0);
	begin(ends[_i].script);
	boss_assign(&boss, 5, ASSIGN_EXEC, "{}");
	if (ends[_i].reason == NULL)
		expect_done(ends[_i].detail);
	else if (ends[_i].reason[0] == '?')
		expect_unsent(ends[_i].reason + 1);
	else
		expect_failed(ends[_i].reason, ends[_i].detail);
}
END_TEST

START_TEST(test_timeout)
{
	boss_init(&boss, ROLE_EXEC);
	boss.script = "sleep 60 & wait";
	boss.timeout_ms = 200;
	boss_start(&boss);
	boss_setup(&boss, 0);
	boss_assign(&boss, 5, ASSIGN_EXEC, "{}");
	expect_failed("timeout", NULL);
}
END_TEST

/* A program that runs for many leases keeps its worker beating. */
START_TEST(test_long_beats)
{
	int i = 0;

	boss_init(&boss, ROLE_EXEC);
	boss.script = "sleep 60";
	boss.lease_ms = 150;
	boss_start(&boss);
	boss_setup(&boss, 0);
	boss_assign(&boss, 5, ASSIGN_EXEC, "{}");
	for (i = 0; i < 8; i++)
		boss_expect_beat(&boss);
	boss_cancel(&boss, 5, "canceled");
	expect_unsent("canceled");
}
END_TEST

/*
 * A tree that tries to get away: a background child, one in a session of its
 * own, a grandchild whose parent has ended; all ignore TERM.  Each writes its
 * process id, then the program says that all are there.
 */
static const char tree[] =
	"trap '' TERM HUP; cd \"$PAYONCE_OUTPUT\"; "
	"sh -c 'echo $$ > a.tmp; mv a.tmp a; while :; do sleep 9; done' & "
	"setsid sh -c 'echo $$ > b.tmp; mv b.tmp b; "
	"while :; do sleep 9; done' & "
	"sh -c 'setsid sh -c \"echo \\$\\$ > c.tmp; mv c.tmp c; "
	"while :; do sleep 9; done\" & exit 0'; "
	"echo $$ > d.tmp; mv d.tmp d; "
	"until test -f a && test -f b && test -f c; do sleep 0.02; done; "
	"echo '{\"progress\":1,\"note\":\"ready\"}' >&3; ";

static void
begin_tree(const char *end, pid_t pids[4])
{
	char *script = mem_printf("%s%s", tree, end), *text = NULL, path[200];
	struct frame f;
	int64_t pid = 0;
	int i = 0;

	begin(script);
	boss_assign(&boss, 5, ASSIGN_EXEC, "{}");
	boss_expect(&boss, MSG_PROGRESS, &f);
	for (i = 0; i < 4; i++) {
		(void)snprintf(path, sizeof(path), "%s/artifacts/5.1/%c",
		    boss.state_dir, 'a' + i);
		ck_assert_int_eq(fd_read_file(path, 32, &text, NULL), 0);
		text[strcspn(text, "\n")] = '\0';
		ck_assert_int_eq(num_parse_i64(text, 2, INT32_MAX, &pid), 0);
		pids[i] = (pid_t)pid;
		if (strcmp(end, "exit 0") != 0)
			ck_assert_int_eq(kill(pids[i], 0), 0);
		mem_free(text);
	}
	mem_free(script);
}

/* expect_gone() reaps what came to us and waits until none is left. */
static void
expect_gone(const pid_t pids[4])
{
	const struct mono until = mono_add_ms(mono_now(), 10000);
	const struct timespec pause = { .tv_nsec = 5000000 };
	sigset_t child;
	int i = 0, alive = 4;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	while (alive > 0 && mono_left_ms(until) > 0) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		for (i = 0, alive = 0; i < 4; i++)
			alive += kill(pids[i], 0) == 0;
		(void)sigtimedwait(&child, NULL, &pause);
	}
	ck_assert_msg(alive == 0, "%d of the tree live on", alive);
}

START_TEST(test_tree_dies_with_its_program)
{
	pid_t pids[4];

	begin_tree("exit 0", pids);
	expect_done("\"output\":null");
	expect_gone(pids);
}
END_TEST

START_TEST(test_tree_dies_by_cancel)
{
	pid_t pids[4];

	begin_tree("sleep 60", pids);
	boss_cancel(&boss, 5, "canceled");
	expect_unsent("canceled");
	expect_gone(pids);
}
END_TEST

START_TEST(test_tree_dies_by_drain)
{
	pid_t pids[4];

	begin_tree("sleep 60", pids);
	boss_drain(&boss, 100);
	expect_unsent("drain");
	expect_gone(pids);
	boss_stored(&boss, 5, MSG_UNSENT, true);
	boss_expect_exit(&boss, EXIT_CODE_OK);
}
END_TEST

/* SIGKILL: nothing of the worker's own code can run any more. */
START_TEST(test_tree_dies_with_its_worker)
{
	pid_t pids[4];

	begin_tree("sleep 60", pids);
	ck_assert_int_eq(kill(boss.pid, SIGKILL), 0);
	(void)boss_wait(&boss);
	expect_gone(pids);
}
END_TEST

START_TEST(test_tree_dies_with_a_stopped_worker)
{
	pid_t pids[4];

	begin_tree("sleep 60", pids);
	ck_assert_int_eq(kill(boss.pid, SIGSTOP), 0);
	ck_assert_int_eq(kill(boss.pid, SIGKILL), 0);
	(void)boss_wait(&boss);
	expect_gone(pids);
}
END_TEST

/* The supervisor's death is the end of the channel, however it died. */
START_TEST(test_tree_dies_with_the_supervisor)
{
	pid_t pids[4];

	begin_tree("sleep 60", pids);
	boss_die(&boss);
	boss_expect_exit(&boss, EXIT_CODE_ORPHAN);
	expect_gone(pids);
}
END_TEST

/* parent_of() reads /proc/<pid>/stat. */
static pid_t
parent_of(pid_t pid)
{
	char path[64], *text = NULL, *at = NULL;
	int64_t parent = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	ck_assert_int_eq(fd_read_file(path, 4096, &text, NULL), 0);
	at = strrchr(text, ')') + 4;
	at[strcspn(at, " ")] = '\0';
	ck_assert_int_eq(num_parse_i64(at, 1, INT32_MAX, &parent), 0);
	mem_free(text);
	return (pid_t)parent;
}

START_TEST(test_tree_dies_with_its_guard)
{
	pid_t pids[4], guard = 0;

	begin_tree("sleep 60", pids);
	guard = parent_of(pids[3]);
	ck_assert_int_eq(parent_of(guard), boss.pid);
	ck_assert_int_eq(kill(guard, SIGKILL), 0);
	expect_unsent("guard_died");
	expect_gone(pids);
}
END_TEST

#define COUNT(rows)	((int)(sizeof(rows) / sizeof((rows)[0])))

int
main(void)
{
	Suite *s = suite_create("worker exec");
	TCase *tc = tcase_create("program"), *all = tcase_create("tree");

	tcase_set_timeout(tc, 40);
	tcase_set_timeout(all, 40);
	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_checked_fixture(all, NULL, teardown);
	tcase_add_test(tc, test_happy);
	tcase_add_loop_test(tc, test_ends, 0, COUNT(ends));
	tcase_add_test(tc, test_timeout);
	tcase_add_test(tc, test_long_beats);
	tcase_add_test(all, test_tree_dies_with_its_program);
	tcase_add_test(all, test_tree_dies_by_cancel);
	tcase_add_test(all, test_tree_dies_by_drain);
	tcase_add_test(all, test_tree_dies_with_its_worker);
	tcase_add_test(all, test_tree_dies_with_a_stopped_worker);
	tcase_add_test(all, test_tree_dies_with_the_supervisor);
	tcase_add_test(all, test_tree_dies_with_its_guard);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, all);
	return suite_run(s);
}
