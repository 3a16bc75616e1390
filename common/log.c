/*
 * log.c - lines to stderr or syslog(3), and the two ways to give up.
 *
 * Owns the program's name and the sink.  Must not allocate: it is called
 * when memory is out.  A line is one write(2), so lines of several processes
 * on one stderr do not mix.
 */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "common/exitcodes.h"

#define LOG_LINE_MAX	4096

static const char	*log_name = "payonce";
static bool		 log_to_stderr = true;
static bool		 log_with_debug;

static void	log_line(int level, const char *word, int err,
		    const char *fmt, va_list ap)
		    __attribute__((format(printf, 4, 0)));

void
log_init(const char *name, bool to_stderr, bool debug)
{
	log_name = name;
	log_to_stderr = to_stderr;
	log_with_debug = debug;
	if (!to_stderr)
		openlog(name, LOG_PID | LOG_NDELAY, LOG_DAEMON);
}

void
log_set_debug(bool debug)
{
	log_with_debug = debug;
}

bool
log_is_debug(void)
{
	return log_with_debug;
}

void
log_debug(const char *fmt, ...)
{
	va_list ap;

	if (!log_with_debug)
		return;
	va_start(ap, fmt);
	log_line(LOG_DEBUG, "debug", 0, fmt, ap);
	va_end(ap);
}

void
log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_INFO, "info", 0, fmt, ap);
	va_end(ap);
}

void
log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_WARNING, "warning", errno, fmt, ap);
	va_end(ap);
}

void
log_warnx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_WARNING, "warning", 0, fmt, ap);
	va_end(ap);
}

void
fatal(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_CRIT, "fatal", errno, fmt, ap);
	va_end(ap);
	exit(EXIT_CODE_FATAL);
}

void
fatalx(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_CRIT, "fatal", 0, fmt, ap);
	va_end(ap);
	exit(EXIT_CODE_FATAL);
}

void
panic(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(LOG_CRIT, "panic", 0, fmt, ap);
	va_end(ap);
	abort();
}

/* log_clean() keeps foreign text from forging a second line. */
static void
log_clean(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

static int
log_stamp(char *ret, size_t cap, const char *word)
{
	struct timespec now = { 0 };
	struct tm tm = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);	/* cannot fail here */
	(void)gmtime_r(&now.tv_sec, &tm);
	return snprintf(ret, cap,
	    "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %s[%ld] %s: ",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
	    tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000, log_name,
	    (long)getpid(), word);
}

/* All callers' errno is the same after as before. */
static void
log_line(int level, const char *word, int err, const char *fmt, va_list ap)
{
	int saved = errno, n = 0;
	size_t at = 0, len = 0;
	char line[LOG_LINE_MAX];

	if (log_to_stderr) {
		n = log_stamp(line, sizeof(line), word);
		at = n > 0 && (size_t)n < sizeof(line) / 2 ? (size_t)n : 0;
	}
	n = vsnprintf(line + at, sizeof(line) - at - 1, fmt, ap);
	if (n < 0)
		line[at] = '\0';
	len = at + strlen(line + at);
	if (err != 0)
		(void)snprintf(line + len, sizeof(line) - len - 1, ": %s",
		    strerror(err));
	log_clean(line);
	if (!log_to_stderr) {
		if (level == LOG_CRIT)
			syslog(level, "%s: %s", word, line);
		else
			syslog(level, "%s", line);
		errno = saved;
		return;
	}
	len = strlen(line);
	line[len++] = '\n';
	/* Nobody could be told that stderr is gone. */
	if (write(STDERR_FILENO, line, len) == -1)
		errno = saved;
	errno = saved;
}
