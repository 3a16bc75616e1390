/*
 * check_hostile_hold.c - what a provider's trouble does to a whole kind: not
 * reached, throttled, refused, down; each seen by the operator, each with its
 * way back.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/num.h"
#include "tests/integration/hostile.h"

#define AT(name, base)							\
	"provider " name " { base = \"" base "\"\n"			\
	"submit { url = '/s/x' body = '\"{input}\"' accept = {200} "	\
	"id = {\"/id\"} }\n"						\
	"poll { url = '/p/{id}' status = {\"/status\"} done = {done} "	\
	"}\n"								\
	"result { artifact = {'text /output'} } }\n"			\
	"kind " name " { provider = " name " model = \"m\" "		\
	"concurrency = 1 }\n"
#define KIND(name)							\
	"kind " name " { provider = raw model = \"m\" concurrency = 1 }\n"

static struct rawd	rawd;

static pid_t	hold_tls(const char *name, const char *from, const char *to,
		    int *ret_port);
static char	*hold_cli(const char *a, const char *b, const char *c);
static void	hold_wait_held(const char *kind, const char *reason,
		    const char *told);

/*
 * Never reached, or reached as somebody who is not the provider: no mark, no
 * park, nothing to decide.  The throw-away certificates are signed by nobody,
 * so each of them is refused for that as well as for its name or its age.
 */
START_TEST(test_not_reached)
{
	static const struct {
		const char *kind, *reason, *told;
	} rows[] = {
		{ "refused", "connect_failed", "port 1" },
		{ "dns", "resolve_failed", "no-such-host.invalid" },
		{ "tls_plain", "tls_failed", "wrong version number" },
		{ "tls_host", "tls_failed", "self-signed certificate" },
		{ "tls_old", "tls_failed", "self-signed certificate" },
	};
	int64_t tasks[SUITE_COUNT(rows)];
	int host = 0, old = 0;
	pid_t a, b;
	size_t i;

	rawd_listen(rig, &rawd);
	rawd_serve(rig, &rawd, NULL, 0);
	a = hold_tls("elsewhere.example", "20250101000000Z", "20990101000000Z",
	    &host);
	b = hold_tls("127.0.0.1", "20200101000000Z", "20200102000000Z", &old);
	rig->lenient_log = true;
	rig->kinds = rig_printf(AT("refused", "http://127.0.0.1:1")
	    AT("dns", "http://no-such-host.invalid")
	    AT("tls_plain", "https://127.0.0.1:%d")
	    AT("tls_host", "https://127.0.0.1:%d")
	    AT("tls_old", "https://127.0.0.1:%d"), rawd.port, host, old);
	for (i = 0; i < SUITE_COUNT(rows); i++)
		rig_write_file(rig, rig_printf("%s/secrets/%s", rig->dir,
		    rows[i].kind), "some-key\n", 0600);
	rig_start(rig);
	for (i = 0; i < SUITE_COUNT(rows); i++)
		tasks[i] = rig_enqueue(rig, rows[i].kind, NULL);
	for (i = 0; i < SUITE_COUNT(rows); i++) {
		rig_wait_sql(rig, 20000, "SELECT EXISTS (SELECT FROM "
		    "payonce.task_event WHERE task_id = %lld AND from_status "
		    "= 'RUNNING' AND to_status = 'PENDING' AND reason = '%s' "
		    "AND position('%s' in detail) > 0)", (long long)tasks[i],
		    rows[i].reason, rows[i].told);
		ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS "
		    "NULL AND status IN ('PENDING', 'RUNNING') AND requeues "
		    "= 0)::text FROM payonce.generation_task WHERE id = %lld",
		    (long long)tasks[i]), "true");
		/* the kind waits longer each time, and says so */
		rig_wait_log(rig, 5000, rig_printf("kind=%s pauses",
		    rows[i].kind));
		(void)rig_sql(rig, "SELECT payonce.cancel(%lld)",
		    (long long)tasks[i]);
		rig_wait_status(rig, tasks[i], "CANCELED", 10000);
	}
	(void)kill(a, SIGKILL);
	(void)kill(b, SIGKILL);
	rig_wait_gone(rig, a, 5000);
	rig_wait_gone(rig, b, 5000);
	rig_stop(rig);
	rawd_stop(rig, &rawd);
}
END_TEST

#define BUSY(word, more)						\
	{ .path = "/s/" word, .head = "HTTP/1.1 429 Slow\r\n" more	\
	    "Content-Length: 22\r\nConnection: close\r\n\r\n"		\
	    "{\"error\":\"slow down\"}\n", .uses = 1 }
#define DATE	"Date: Tue, 01 Dec 2026 05:00:00 GMT\r\n"

/* Throttled: the kind waits as long as it is asked to, an hour at most. */
START_TEST(test_throttled)
{
	static const struct rawd_script busy[] = {
		BUSY("second", "Retry-After: 1\r\n"), BUSY("silent", ""),
		BUSY("date", DATE "Retry-After: Tue, 01 Dec 2026 05:10:00 "
		    "GMT\r\n"),
		BUSY("past", DATE "Retry-After: Mon, 30 Nov 2026 05:10:00 "
		    "GMT\r\n"),
		BUSY("absurd", "Retry-After: 99999999999999999999999999\r\n"),
		BUSY("words", "Retry-After: some time\r\n"),
	};
	static const struct hostile_row rows[] = {
		{ .name = "second", .kind = "second", .head = RAW_ID("a") },
		{ .name = "silent", .kind = "silent", .head = RAW_ID("b") },
		{ .name = "past", .kind = "past", .head = RAW_ID("c") },
		{ .name = "words", .kind = "words", .head = RAW_ID("d") },
		{ .name = "date", .kind = "date", .head = RAW_ID("e") },
		{ .name = "absurd", .kind = "absurd", .head = RAW_ID("f") },
	};
	static const int least_s[] = { -1, -1, -1, -1, 590, 3590 };
	static const int most_s[] = { 2, 5, 2, 5, 601, 3601 };
	int64_t tasks[SUITE_COUNT(rows)], second;
	size_t i;

	rig->kinds = KIND("second") KIND("silent") KIND("date") KIND("past")
	    KIND("absurd") KIND("words");
	hostile_start(&rawd, rows, SUITE_COUNT(rows), busy,
	    SUITE_COUNT(busy));
	for (i = 0; i < SUITE_COUNT(rows); i++)
		tasks[i] = hostile_enqueue(&rows[i]);
	for (i = 0; i < SUITE_COUNT(rows); i++) {
		rig_wait_sql(rig, 10000, "SELECT EXISTS (SELECT FROM "
		    "payonce.task_event WHERE task_id = %lld AND to_status = "
		    "'PENDING' AND detail = 'slow down')",
		    (long long)tasks[i]);
		ck_assert_msg(strcmp(rig_sql(rig, "SELECT (t.run_at - e.at "
		    "BETWEEN interval '%d s' AND interval '%d s')::text FROM "
		    "payonce.generation_task t, payonce.task_event e WHERE "
		    "t.id = %lld AND e.task_id = t.id AND e.detail = 'slow "
		    "down'", least_s[i], most_s[i], (long long)tasks[i]),
		    "true") == 0, "%s waits %s", rows[i].name, rig_sql(rig,
		    "SELECT run_at - now() FROM payonce.generation_task "
		    "WHERE id = %lld", (long long)tasks[i]));
	}
	/* the others of the kind wait with it */
	second = rig_enqueue(rig, "date", "{\"row\": \"second\"}");
	for (i = 0; i < 4; i++)
		rig_wait_status(rig, tasks[i], "SUCCEEDED", 10000);
	ck_assert_str_eq(rig_status(rig, tasks[4]), "PENDING");
	ck_assert_str_eq(rig_sql(rig, "SELECT (submit_started_at IS NULL)"
	    "::text FROM payonce.generation_task WHERE id = %lld",
	    (long long)second), "true");
	ck_assert_int_eq(rawd_count(&rawd, "/s/second"), 2);
	hostile_done(&rawd);
}
END_TEST

/* No key: nothing is sent, and the kind says what is missing and where. */
START_TEST(test_no_key)
{
	static const struct hostile_row row =
	    { .name = "nokey", .kind = "nokey", .head = RAW_ID("a") };
	char path[256];
	int64_t task = 0;

	rig->kinds = KIND("nokey");
	hostile_start(&rawd, &row, 1, NULL, 0);
	(void)snprintf(path, sizeof(path), "%s/secrets/raw", rig->dir);
	ck_assert_int_eq(unlink(path), 0);
	task = hostile_enqueue(&row);
	hold_wait_held("nokey", "account", path);
	rig_wait_sql(rig, 5000, "SELECT status = 'PENDING' AND "
	    "submit_started_at IS NULL FROM payonce.generation_task WHERE "
	    "id = %lld", (long long)task);
	ck_assert_int_eq(rawd_count(&rawd, "/s/nokey"), 0);
	rig_write_file(rig, path, "mock-key\n", 0600);
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGHUP), 0);
	rig_wait_status(rig, task, "SUCCEEDED", 10000);
	hostile_done(&rawd);
}
END_TEST

#define NO_MONEY(word, code)						\
	{ .path = "/s/" word, .head = RAW_JSON(code " No",		\
	    "{\"error\":\"balance exhausted\"}"), .uses = 1 }

/* The account: one task finds out, none is burnt, a person goes on. */
START_TEST(test_account)
{
	static const struct rawd_script no[] = {
		NO_MONEY("k401", "401"), NO_MONEY("k402", "402"),
		NO_MONEY("k403", "403"),
	};
	static const struct hostile_row rows[] = {
		{ .name = "k401", .kind = "k401", .head = RAW_ID("a") },
		{ .name = "k402", .kind = "k402", .head = RAW_ID("b") },
		{ .name = "k403", .kind = "k403", .head = RAW_ID("c") },
	};
	size_t i, j;

	rig->kinds = KIND("k401") KIND("k402") KIND("k403");
	hostile_start(&rawd, rows, 3, no, 3);
	for (i = 0; i < 3; i++)
		for (j = 0; j < 4; j++)
			(void)hostile_enqueue(&rows[i]);
	for (i = 0; i < 3; i++) {
		hold_wait_held(rows[i].kind, "account", "balance exhausted");
		rig_wait_sql(rig, 5000, "SELECT count(*) = 4 FROM "
		    "payonce.generation_task WHERE kind = '%s' AND status = "
		    "'PENDING' AND submit_started_at IS NULL", rows[i].kind);
		ck_assert_int_eq(rawd_count(&rawd, rig_printf("/s/%s",
		    rows[i].name)), 1);
	}
	(void)hold_cli("release", "k401", NULL);
	rig_wait_sql(rig, 10000, "SELECT count(*) = 4 FROM "
	    "payonce.generation_task WHERE kind = 'k401' AND status = "
	    "'SUCCEEDED'");
	/* a reload says that the account is in order again */
	ck_assert_int_eq(kill(rig->hosts[0].pid, SIGHUP), 0);
	rig_wait_sql(rig, 10000, "SELECT count(*) = 12 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rawd_count(&rawd, "/s/k402"), 5);
	hostile_done(&rawd);
}
END_TEST

/* A key that dies between submit and result holds the kind, too. */
START_TEST(test_key_refused_at_the_poll)
{
	static const struct rawd_script no[] = {
		{ .path = "/p/a", .head = RAW_JSON("401 No", "{\"error\":"
		    "\"key revoked\"}"), .uses = 3 },
	};
	static const struct hostile_row rows[] = {
		{ .name = "k", .kind = "k", .head = RAW_ID("a") },
	};
	int64_t first, second;

	rig->kinds = KIND("k");
	hostile_start(&rawd, rows, 1, no, 1);
	first = hostile_enqueue(&rows[0]);
	second = hostile_enqueue(&rows[0]);
	hold_wait_held("k", "account", "key revoked");
	rig_wait_status(rig, first, "SUCCEEDED", 10000);
	ck_assert_str_eq(rig_status(rig, second), "PENDING");
	ck_assert_int_eq(rawd_count(&rawd, "/s/k"), 1);
	(void)hold_cli("release", "k", NULL);
	rig_wait_status(rig, second, "SUCCEEDED", 10000);
	ck_assert_int_eq(rawd_count(&rawd, "/s/k"), 2);
	hostile_done(&rawd);
}
END_TEST

/* Down with sixty waiting: breaker + concurrency are parked, at most. */
START_TEST(test_outage)
{
	int64_t parked, again;
	int i;

	rig->lenient_log = true;
	rig->kinds = "kind image { provider = fal model = \"fal-ai/flux/dev\""
	    " concurrency = 4 breaker = 3 }\n";
	for (i = 0; i < 60; i++)
		(void)rig_enqueue(rig, "image", NULL);
	ck_assert_int_eq(rig_http(rig, "POST", "/_mock/outage/503", NULL),
	    200);
	rig_start(rig);
	hold_wait_held("image", "breaker", NULL);
	rig_wait_sql(rig, 5000, "SELECT count(*) = 0 FROM "
	    "payonce.generation_task WHERE status = 'RUNNING'");
	parked = rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'OUTCOME_UNKNOWN'");
	ck_assert_int_ge(parked, 3);
	ck_assert_int_le(parked, 3 + 4);
	ck_assert_int_eq(rig_count_posts(rig, 0), parked);
	/* released too early: one more finds out */
	(void)hold_cli("release", "image", NULL);
	rig_wait_posts(rig, 0, (int)parked + 1, 10000);
	hold_wait_held("image", "breaker", NULL);
	again = rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.generation_task WHERE status = 'OUTCOME_UNKNOWN'");
	ck_assert_int_eq(again, parked + 1);
	ck_assert_int_eq(rig_http(rig, "POST", "/_mock/outage/off", NULL),
	    200);
	(void)hold_cli("release", "image", NULL);
	rig_wait_sql(rig, 20000, "SELECT count(*) = %lld FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'",
	    (long long)(60 - again));
	/* what is parked may have been bought, and here it was: once each */
	ck_assert_int_eq(rig_count_charges(rig, 0), 60);
}
END_TEST

#define CERTIFICATE							\
	"set -e; d=$1; mkdir $d; : >$d/index; echo 01 >$d/serial\n"	\
	"cat >$d/conf <<EOF\n"						\
	"[ca]\ndefault_ca = d\n[d]\ndatabase = $d/index\n"		\
	"serial = $d/serial\nnew_certs_dir = $d\ndefault_md = sha256\n"	\
	"policy = p\n[p]\ncommonName = supplied\nEOF\n"		\
	"openssl req -new -newkey rsa:2048 -nodes -keyout $d/key "	\
	"-out $d/csr -subj /CN=$2\n"					\
	"openssl ca -selfsign -batch -notext -config $d/conf "		\
	"-keyfile $d/key -in $d/csr -startdate $3 -enddate $4 -out $d/crt"

/* hold_tls() starts a TLS server with a certificate of its own. */
static pid_t
hold_tls(const char *name, const char *from, const char *to, int *ret_port)
{
	char *stem = rig_printf("%s/tls-%s", rig->dir, name);
	const char *argv[] = { "/bin/sh", "-c", "exec 2>$5; " CERTIFICATE,
	    "sh", stem, name, from, to, rig_printf("%s.err", stem), NULL };
	char line[64] = "";
	int64_t port = 0, end = rig_now_ms() + 10000;
	const char *colon;
	pid_t pid;
	FILE *f;
	int fd;

	ck_assert_int_eq(rig_run(rig, argv, NULL), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		fd = open(rig_printf("%s.out", stem), O_WRONLY | O_CREAT,
		    0600);
		if (fd == -1 || dup2(fd, STDOUT_FILENO) == -1 ||
		    dup2(fd, STDERR_FILENO) == -1)
			_exit(127);
		execlp("openssl", "openssl", "s_server", "-accept",
		    "127.0.0.1:0", "-www", "-key", rig_printf("%s/key", stem),
		    "-cert", rig_printf("%s/crt", stem), (char *)NULL);
		_exit(127);
	}
	while (port == 0) {
		ck_assert_int_lt(rig_now_ms(), end);
		f = fopen(rig_printf("%s.out", stem), "re");
		while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
			colon = strrchr(line, ':');
			line[strcspn(line, "\n")] = '\0';
			if (strncmp(line, "ACCEPT ", 7) == 0 && colon != NULL)
				(void)num_parse_i64(colon + 1, 1, 65535,
				    &port);
		}
		if (f != NULL)
			(void)fclose(f);
		rig_pause_ms(5);
	}
	*ret_port = (int)port;
	return pid;
}

static char *
hold_cli(const char *a, const char *b, const char *c)
{
	const char *argv[] = { rig_printf("%s/payonce", rig_builddir()),
	    "-d", rig->conninfo, a, b, c, NULL };
	char *out = NULL, *kept;

	ck_assert_int_eq(rig_run(rig, argv, &out), 0);
	kept = rig_printf("%s", out != NULL ? out : "");
	free(out);
	return kept;
}

/* Seen in the table, in the events and by "payonce status". */
static void
hold_wait_held(const char *kind, const char *reason, const char *told)
{
	char *out;

	rig_wait_sql(rig, 15000, "SELECT EXISTS (SELECT FROM "
	    "payonce.kind_hold h JOIN payonce.kind_event e USING (kind) WHERE "
	    "kind = '%s' AND h.reason = '%s' AND e.action = 'held' AND "
	    "position('%s' in coalesce(h.detail, '')) > 0)", kind, reason,
	    told != NULL ? told : "");
	out = hold_cli("status", NULL, NULL);
	ck_assert_msg(strstr(out, "HELD") != NULL &&
	    strstr(out, reason) != NULL, "payonce status: %s", out);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_not_reached, test_throttled, test_no_key, test_account,
		test_key_refused_at_the_poll, test_outage,
	};

	return suite_run(argc, argv, "hostile_hold", tests,
	    SUITE_COUNT(tests), 60);
}
