/*
 * check_deadman.c - the kernel's timer kills at its time, also a process that
 * is stopped; re-armed it waits, disarmed it does nothing.
 */
#include <sys/wait.h>

#include <signal.h>
#include <unistd.h>

#include "common/err.h"
#include "tests/unit/suite.h"
#include "worker/worker.h"

/* wait_ms() is waitpid(2) with an end: 0 when it is still alive. */
static pid_t
wait_ms(pid_t pid, int ms, int *status)
{
	const struct mono until = mono_add_ms(mono_now(), ms);
	const struct timespec pause = { .tv_nsec = 5000000 };
	pid_t got = 0;
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	while ((got = waitpid(pid, status, WNOHANG)) == 0 &&
	    mono_left_ms(until) > 0)
		(void)sigtimedwait(&child, NULL, &pause);
	return got;
}

START_TEST(test_kills_stopped)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (deadman_arm(mono_add_ms(mono_now(), 150)) < 0)
			_exit(3);
		(void)raise(SIGSTOP);
		_exit(4);
	}
	ck_assert_int_eq(wait_ms(pid, 5000, &status), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(test_past_kills_at_once)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		(void)deadman_arm(mono_add_ms(mono_now(), -1));
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(wait_ms(pid, 5000, &status), pid);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(test_rearm_and_disarm)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (deadman_arm(mono_add_ms(mono_now(), 60)) < 0 ||
		    deadman_arm(mono_add_ms(mono_now(), 100000)) < 0 ||
		    deadman_arm(mono_add_ms(mono_now(), 80)) < 0 ||
		    deadman_disarm() < 0)
			_exit(3);
		/* its own end, later than the timers; not Check's handler */
		(void)signal(SIGALRM, SIG_DFL);
		(void)alarm(1);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(wait_ms(pid, 5000, &status), pid);
	ck_assert_int_eq(WTERMSIG(status), SIGALRM);
}
END_TEST

START_TEST(test_never_is_refused)
{
	ck_assert_int_eq(deadman_arm((struct mono){ 0 }), PO_EIO);
	ck_assert_int_eq(deadman_disarm(), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("deadman");
	TCase *tc = tcase_create("deadman");

	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, test_kills_stopped);
	tcase_add_test(tc, test_past_kills_at_once);
	tcase_add_test(tc, test_rearm_and_disarm);
	tcase_add_test(tc, test_never_is_refused);
	suite_add_tcase(s, tc);
	return suite_run(s);
}
