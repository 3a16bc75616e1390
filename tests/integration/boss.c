/*
 * boss.c - a test that plays the supervisor of one real payonce-worker.
 *
 * Owns the process, its channel and a folder.
 */
#include "tests/integration/boss.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/mono.h"
#include "provider/provider.h"

#define BOSS_WAIT_MS	20000

static void	boss_exec(const struct boss *, int fd);
static void	boss_note(struct boss *, const struct frame *);
static int	boss_remove(const char *, const struct stat *, int,
		    struct FTW *);

void
boss_init(struct boss *b, enum worker_role role)
{
	memset(b, 0, sizeof(*b));
	b->role = role;
	b->lease_ms = 60000;
	b->max_artifact = 1u << 20;
	b->permille = -1;
	(void)snprintf(b->dir, sizeof(b->dir), "/tmp/payonce-boss.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(b->dir));
	(void)snprintf(b->state_dir, sizeof(b->state_dir), "%s/state", b->dir);
	(void)snprintf(b->secret, sizeof(b->secret), "%s/secret", b->dir);
	(void)snprintf(b->log, sizeof(b->log), "%s/log", b->dir);
	ck_assert_int_eq(mkdir(b->state_dir, 0700), 0);
	int fd = open(b->secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fd_write_all(fd, BOSS_SECRET "\n",
	    strlen(BOSS_SECRET) + 1), 0);
	fd_close(&fd);
	/* what a killed worker leaves comes to us */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
}

void
boss_done(struct boss *b)
{
	if (b->pid > 0) {
		(void)kill(b->pid, SIGKILL);
		(void)waitpid(b->pid, NULL, 0);
	}
	chan_free(&b->chan);
	(void)nftw(b->dir, boss_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static int
boss_remove(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

void
boss_start(struct boss *b)
{
	int fds[2];

	ck_assert_int_eq(fd_pair(fds), 0);
	b->pid = fork();
	ck_assert_int_ge(b->pid, 0);
	if (b->pid == 0)
		boss_exec(b, fds[1]);
	(void)close(fds[1]);
	ck_assert_int_eq(chan_new(fds[0], W2S, &b->chan), 0);
}

static void
boss_exec(const struct boss *b, int fd)
{
	const char *path = getenv("PAYONCE_WORKER");
	int log = open(b->log, O_WRONLY | O_CREAT | O_APPEND, 0600);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (path == NULL)
		path = "./payonce-worker";
	if (log == -1 || dup2(log, STDERR_FILENO) == -1)
		_exit(90);
	if (fd == PROTO_FD)
		(void)fd_set_cloexec(fd, 0);
	else if (dup2(fd, PROTO_FD) == -1)
		_exit(91);
	(void)execl(path, path, "-r", role_name(b->role), "-k", BOSS_KIND,
	    "-e", "-d", b->role == ROLE_EXEC ? NULL : "-s", b->secret, NULL);
	_exit(92);
}

void
boss_desc(int port, struct buf *out)
{
	static const char *const rows[][4] = {
		{ "header", "Authorization: Key {key}",
		    "X-Payonce-Task: {task}.{attempt}", NULL },
		{ "submit.url", "/{+model}", NULL },
		{ "submit.body", "\"{input}\"", NULL },
		{ "submit.accept", "200", NULL },
		{ "submit.timeout", "3", NULL },
		{ "submit.id", "/request_id", NULL },
		{ "submit.save", "poll_url=/status_url",
		    "result_url=/response_url", NULL },
		{ "submit.rejected", "404", "422", NULL },
		{ "submit.account", "401", "403", NULL },
		{ "submit.throttled", "429", NULL },
		{ "submit.retry_after", "header:retry-after", NULL },
		{ "poll.url", "{saved:poll_url}", NULL },
		{ "poll.interval", "0.02", NULL },
		{ "poll.interval_max", "0.05", NULL },
		{ "poll.status", "/status", NULL },
		{ "poll.pending", "IN_QUEUE", "IN_PROGRESS", NULL },
		{ "poll.done", "COMPLETED", NULL },
		{ "poll.failed_if", "/status=COMPLETED /error", NULL },
		{ "poll.error", "/error", NULL },
		{ "result.url", "{saved:result_url}", NULL },
		{ "result.done_if", "200", NULL },
		{ "result.pending_if", "400 /detail~\"still in progress\"",
		    NULL },
		{ "result.failed_if", "422 header:x-fal-request-id", NULL },
		{ "result.artifact", "url /images/*/url", "url /video/url",
		    NULL },
		{ "result.error", "/detail", NULL },
		{ "cost.at", "result", NULL },
		{ "cost.value", "header:x-fal-billable-units", NULL },
	};
	char base[64], host[64];
	const char *one[1];
	struct desc *d = NULL;
	size_t i = 0, n = 0;

	ck_assert_int_eq(desc_new("fal", &d), 0);
	(void)snprintf(base, sizeof(base), "http://127.0.0.1:%d/fal", port);
	(void)snprintf(host, sizeof(host), "127.0.0.1:%d", port);
	one[0] = base;
	ck_assert_int_eq(desc_set(d, "base", one, 1, NULL, 0), 0);
	one[0] = host;
	ck_assert_int_eq(desc_set(d, "key_hosts", one, 1, NULL, 0), 0);
	ck_assert_int_eq(desc_set(d, "hosts", one, 1, NULL, 0), 0);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (n = 0; rows[i][n + 1] != NULL; n++)
			continue;
		ck_assert_int_eq(desc_set(d, rows[i][0], rows[i] + 1, n, NULL,
		    0), 0);
	}
	ck_assert_int_eq(desc_serialize(d, out), 0);
	desc_free(&d);
}

void
boss_setup(struct boss *b, int port)
{
	struct msg_setup m = {
		.version = PROTO_VERSION,
		.role = b->role,
		.kind = mp_str(BOSS_KIND),
		.slot = 7,
		.generation = 9,
		.lease_ms = b->lease_ms,
		.state_dir = mp_str(b->state_dir),
		.host = mp_str("testhost"),
		.system_id = mp_str("4711"),
		.timeline = 1,
		.provider = mp_str("fal"),
		.timeout_ms = b->timeout_ms,
		.max_artifact = b->max_artifact,
		.max_requests = 8,
	};
	struct msg_hello h;
	struct frame f;
	struct buf desc, words;

	buf_init(&desc, LIM_DESC);
	buf_init(&words, LIM_SMALL);
	if (b->role == ROLE_EXEC) {
		ck_assert_int_eq(buf_put(&words, "/bin/sh\0-c", 11), 0);
		ck_assert_int_eq(buf_put(&words, b->script,
		    strlen(b->script) + 1), 0);
		m.command = mp_bytes(buf_head(&words), buf_left(&words));
	} else {
		boss_desc(port, &desc);
		m.desc = mp_bytes(buf_head(&desc), buf_left(&desc));
	}
	ck_assert_int_eq(msg_pack_setup(chan_out(b->chan), &m), 0);
	boss_flush(b);
	boss_expect(b, MSG_HELLO, &f);
	ck_assert_int_eq(msg_unpack_hello(f.body, f.len, &h), 0);
	ck_assert_uint_eq(h.version, PROTO_VERSION);
	ck_assert_uint_eq(h.pid, (uint64_t)b->pid);
	ck_assert_uint_eq(h.slot, 7);
	ck_assert_uint_eq(h.generation, 9);
	buf_done(&desc);
	buf_done(&words);
}

void
boss_begin(struct boss *b, enum worker_role role, int port)
{
	boss_init(b, role);
	boss_start(b);
	boss_setup(b, port);
}

void
boss_flush(struct boss *b)
{
	int rc = 0;

	while ((rc = chan_flush(b->chan)) == PO_EAGAIN)
		(void)chan_wait(b->chan, 10);
	ck_assert_int_eq(rc, 0);
}

void
boss_expect(struct boss *b, enum msg_type type, struct frame *ret)
{
	const struct mono until = mono_add_ms(mono_now(), BOSS_WAIT_MS);
	int rc = 0;

	for (;;) {
		if ((rc = chan_next(b->chan, ret)) == 0) {
			if (ret->type == (unsigned int)type)
				return;
			if (ret->type == MSG_BEAT || ret->type == MSG_PROGRESS)
				boss_note(b, ret);
			else
				ck_abort_msg("want %s, got %s",
				    msg_name(type), msg_name(ret->type));
			continue;
		}
		ck_assert_int_eq(rc, PO_EAGAIN);
		if (mono_left_ms(until) == 0)
			ck_abort_msg("no %s came", msg_name(type));
		if (chan_wait(b->chan, 200) == PO_EAGAIN)
			continue;
		if ((rc = chan_read(b->chan)) == PO_EOF)
			ck_abort_msg("want %s, the worker has ended",
			    msg_name(type));
	}
}

static void
boss_note(struct boss *b, const struct frame *f)
{
	struct msg_progress m;

	if (f->type == MSG_BEAT) {
		b->beats++;
		return;
	}
	ck_assert_int_eq(msg_unpack_progress(f->body, f->len, &m), 0);
	if (m.permille >= 0)
		b->permille = m.permille;
	if (m.note.len > 0) {
		b->notes++;
		(void)snprintf(b->note, sizeof(b->note), "%.*s",
		    (int)m.note.len, m.note.p);
	}
}

void
boss_expect_beat(struct boss *b)
{
	struct frame f;

	boss_expect(b, MSG_BEAT, &f);
	b->beats++;
}

void
boss_die(struct boss *b)
{
	chan_free(&b->chan);
}

int
boss_wait(struct boss *b)
{
	const struct mono until = mono_add_ms(mono_now(), BOSS_WAIT_MS);
	const struct timespec pause = { .tv_nsec = 5000000 };
	sigset_t child;
	int status = 0;
	pid_t pid = 0;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	while ((pid = waitpid(b->pid, &status, WNOHANG)) == 0) {
		if (mono_left_ms(until) == 0)
			ck_abort_msg("the worker does not end");
		(void)sigtimedwait(&child, NULL, &pause);
	}
	ck_assert_int_eq(pid, b->pid);
	b->pid = 0;
	return status;
}

void
boss_expect_exit(struct boss *b, int code)
{
	const int status = boss_wait(b);

	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == code,
	    "status %#x instead of exit %d", status, code);
}

void
boss_assign(struct boss *b, uint64_t task, enum assign_mode mode,
    const char *input)
{
	const struct msg_assign m = {
		.task = task,
		.attempt = 1,
		.token = 5,
		.mode = mode,
		.deadline_ns = (uint64_t)mono_add_ms(mono_now(),
		    (int64_t)b->lease_ms).ns,
		.model = mp_str("fal-ai/flux/dev"),
		.own_id = mp_str("own-1"),
		.poll_left_ms = -1,
		.fetch_left_ms = -1,
		.input = mp_str(input),
	};

	ck_assert_int_eq(msg_pack_assign(chan_out(b->chan), &m), 0);
	boss_flush(b);
}

void
boss_marked(struct boss *b, uint64_t task)
{
	const struct msg_marked m = { .task = task, .attempt = 1 };
	struct frame f;

	boss_expect(b, MSG_MARK, &f);
	ck_assert_int_eq(msg_pack_marked(chan_out(b->chan), &m), 0);
	boss_flush(b);
}

void
boss_stored(struct boss *b, uint64_t task, enum msg_type what, bool is_final)
{
	const struct msg_stored m = { .task = task, .attempt = 1,
	    .what = what, .is_final = is_final };

	ck_assert_int_eq(msg_pack_stored(chan_out(b->chan), &m), 0);
	boss_flush(b);
}

void
boss_cancel(struct boss *b, uint64_t task, const char *reason)
{
	const struct msg_cancel m = { .task = task, .attempt = 1,
	    .reason = mp_str(reason) };

	ck_assert_int_eq(msg_pack_cancel(chan_out(b->chan), &m), 0);
	boss_flush(b);
}

void
boss_drain(struct boss *b, uint64_t stop_ms)
{
	const struct msg_drain m = { .stop_ms = stop_ms };

	ck_assert_int_eq(msg_pack_drain(chan_out(b->chan), &m), 0);
	boss_flush(b);
}

void
boss_receipt(struct boss *b, int64_t task, struct receipt_facts *ret)
{
	ck_assert_int_eq(receipt_read(b->state_dir, task, 1, ret), 0);
}

bool
boss_has_receipt(struct boss *b, int64_t task)
{
	char path[160];

	(void)snprintf(path, sizeof(path), "%s/receipts/open/%lld.1",
	    b->state_dir, (long long)task);
	return access(path, F_OK) == 0;
}

bool
boss_log_has(struct boss *b, const char *text)
{
	char *data = NULL;
	size_t len = 0;
	bool has = false;

	ck_assert_int_eq(fd_read_file(b->log, 1u << 20, &data, &len), 0);
	has = memmem(data, len, text, strlen(text)) != NULL;
	mem_free(data);
	return has;
}

bool
boss_is(struct mp_bytes got, const char *want)
{
	if (got.len == strlen(want) && memcmp(got.p, want, got.len) == 0)
		return true;
	(void)fprintf(stderr, "got \"%.*s\", want \"%s\"\n", (int)got.len,
	    got.p, want);
	return false;
}
