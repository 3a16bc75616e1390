/*
 * inject.h - named fault points, compiled in by --enable-inject only.
 *
 * PAYONCE_INJECT_DIR names a folder.  When a process passes INJECT("x.y")
 * and the folder holds a file "x.y", the process takes the file away (the
 * one whose rename succeeds acts, so a point fires once, in one process) and
 * does what the first word in it says:
 *
 *   kill          raise SIGKILL
 *   stop          raise SIGSTOP
 *   exit          _exit(99)
 *   delay MS      sleep that long
 *   fail          INJECT_FAIL("x.y") is true
 *   killparent    SIGKILL to the parent process (from a worker: payonced)
 *
 * The taken file stays as "x.y.taken.<pid>", so a test waits for it.
 * Every gap between two durable steps has a point; doc/FAULTPOINTS.md lists
 * them with the verdict that a death there must lead to.
 */
#ifndef PAYONCE_INJECT_H
#define PAYONCE_INJECT_H

#ifdef PAYONCE_INJECT
#define INJECT(point)		((void)inject_point(point))
#define INJECT_FAIL(point)	(inject_point(point))
/* inject.c */
int	inject_point(const char *point);	/* 1: fail here */
#else
#define INJECT(point)		((void)0)
#define INJECT_FAIL(point)	(0)
#endif

#endif
