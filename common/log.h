/*
 * log.h - one line per event: subject, event, reason.
 *
 * Lines go to stderr (foreground) or to syslog(3).  Ids are key=value:
 * "task=42 worker=image/submit/3#17 ...".  Secrets and bodies are never
 * logged; lengths are.  common/, proto/ and provider/ log nothing above debug.
 */
#ifndef PAYONCE_LOG_H
#define PAYONCE_LOG_H

#include <stdbool.h>

/*
 * log_init() names the program and chooses the sink.  Lines on stderr look
 * like "2026-01-31T12:00:00.123Z payonced[4711] warning: text".
 */
void	log_init(const char *name, bool to_stderr, bool debug);
void	log_set_debug(bool debug);
bool	log_is_debug(void);

void	log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void	log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* log_warn() appends ": strerror(errno)"; log_warnx() does not. */
void	log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void	log_warnx(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * fatal(): the process cannot keep its promise because of its environment;
 * the text says what the operator does.  Exits with EXIT_CODE_FATAL.
 * panic(): our own code reached what it must not reach; aborts (core).
 */
void	fatal(const char *fmt, ...)
	    __attribute__((format(printf, 1, 2), noreturn));
void	fatalx(const char *fmt, ...)
	    __attribute__((format(printf, 1, 2), noreturn));
void	panic(const char *fmt, ...)
	    __attribute__((format(printf, 1, 2), noreturn));

#endif
