/*
 * mock.h - a payonce-mock for a test: started, asked, stopped.
 *
 * All functions fail the test (ck_abort_msg) where they say nothing else.
 * The program is $PAYONCE_MOCK, or ./payonce-mock (make check runs in the
 * top of the build tree).
 */
#ifndef PAYONCE_TESTS_LIB_MOCK_H
#define PAYONCE_TESTS_LIB_MOCK_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

struct test_mock {
	char	 dir[64];		/* holds port, ledger and log */
	char	 ledger[96];
	pid_t	 pid;			/* 0: not running */
	int	 port;
};

/* What came back: status 0 when the connection ended without a whole head. */
struct test_answer {
	int	 status;
	char	*head;			/* with its empty line */
	char	*body;
	size_t	 body_len;
	bool	 is_reset;		/* the end was a reset */
};

/* mock.c */

/*
 * mock_start() makes a folder, with a ledger in it; more arguments for the
 * program may follow, NULL ends them.
 */
void	 mock_start(struct test_mock *, ...);
/* mock_again() starts it once more, on the same port and ledger. */
void	 mock_again(struct test_mock *, ...);
/* mock_try() starts one that ends by itself: its exit status. */
int	 mock_try(struct test_mock *, ...);
/* mock_stop() returns the exit status (SIGTERM), and leaves the folder. */
int	 mock_stop(struct test_mock *);
void	 mock_done(struct test_mock *);		/* stop, remove the folder */

int	 mock_connect(const struct test_mock *, const char *host);
void	 mock_send(int fd, const char *text);
/* mock_read() reads one answer by its Content-Length, or until the end. */
void	 mock_read(int fd, struct test_answer *ret);
bool	 mock_is_ended(int fd);			/* waits for the peer's end */
void	 mock_answer_done(struct test_answer *);

/*
 * mock_call() is one request on a fresh connection.  headers are whole lines
 * with CRLF, or NULL; body NULL sends none.
 */
void	 mock_call(const struct test_mock *, const char *method,
	    const char *path, const char *headers, const char *body,
	    struct test_answer *ret);
/* mock_get() parses the answer; the status is returned. */
int	 mock_get(const struct test_mock *, const char *path,
	    struct json_object **ret);
int64_t	 mock_summary(const struct test_mock *, const char *member);
void	 mock_wait(const struct test_mock *, const char *query);
void	 mock_wait_posts(const struct test_mock *, int count);
void	 mock_set(const struct test_mock *, const char *what);

#endif
