/*
 * exitcodes.h - how our processes end, as a contract between them.
 */
#ifndef PAYONCE_EXITCODES_H
#define PAYONCE_EXITCODES_H

enum exit_code {
	EXIT_CODE_OK = 0,	/* done, drained or retired */
	EXIT_CODE_FAILED = 1,	/* command line: it did not work */
	EXIT_CODE_USAGE = 2,	/* command line: wrong words */
	EXIT_CODE_FATAL = 10,	/* environment; the log says what to do */
	EXIT_CODE_PROTO = 11,	/* worker: the supervisor spoke nonsense */
	EXIT_CODE_ORPHAN = 12,	/* worker: the supervisor went away */
	EXIT_CODE_CONFIG = 13,	/* configuration refused */
	EXIT_CODE_SECRET = 14	/* worker: no usable key of its provider */
};

#endif
