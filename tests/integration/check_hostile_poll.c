/*
 * check_hostile_poll.c - what a broken or hostile provider may do once it
 * has given an id: polls, URLs, results, artifacts.  Nobody polls for ever,
 * no failed GET is an outcome, no key and no GET leaves the listed hosts.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/integration/hostile.h"

#define PARKED		"OUTCOME_UNKNOWN"
#define DONE(more)	RAW_OK("{\"status\":\"done\"" more "}")
#define WORD(word)	RAW_OK("{\"status\":\"" word "\"}")
#define ROW(word, ...)	{ .name = word, .head = RAW_ID(word), __VA_ARGS__ }
#define FINE(word)	ROW(word, .status = "SUCCEEDED", .id = word)
/* its poll is answered n times so, and then by "done" */
#define POLL(word, n, answer)	{ .path = "/p/" word, .head = answer,	\
				.uses = n }
/* an URL that is not kept; the second form of poll.url finds the result */
#define FOREIGN(word, url)						\
	{ .name = word, .head = RAW_OK("{\"id\":\"" word "\",\"poll\":\"" \
	    url "\"}"), .status = "SUCCEEDED", .id = word }
#define HOP(word, url)	{ .path = "/a/" word, .head = "HTTP/1.1 302 Go\r\n" \
			"Location: " url "\r\nContent-Length: 0\r\n"	\
			"Connection: close\r\n\r\n" }
#define ARTIFACT(word)	{ .path = "/p/" word, .head = DONE(",\"url\":\"" \
			"http://127.0.0.1:{port}/a/" word "\"") }
#define KILO	"0123456789012345678901234567890123456789"		\
		"0123456789012345678901234567890123456789"

static struct rawd	rawd;

static int64_t	poll_task(const char *row);
static char	*poll_lost(const char *row);

static const struct hostile_row polls[] = {
	FINE("404_first"), FINE("500_often"), FINE("garbage"), FINE("html"),
	FINE("empty"), FINE("a_list"), FINE("status_list"), FINE("too_long"),
	FINE("dropped"), FINE("nested"), FINE("redirected"),
	FINE("no_status"), FINE("upper"), FINE("retry_absurd"),
	ROW("unlisted", .status = "SUCCEEDED", .told = "MEDITATING"),
	ROW("unlisted_long", .status = "SUCCEEDED"),
	ROW("404_for_ever", .kind = "brief", .status = PARKED,
	    .reason = "poll_deadline", .told = "polls in a row missed",
	    .id = "404_for_ever"),
	ROW("pending_for_ever", .kind = "brief", .status = PARKED,
	    .reason = "poll_deadline", .id = "pending_for_ever"),
	ROW("unlisted_for_ever", .kind = "brief", .status = PARKED,
	    .reason = "poll_deadline", .told = "HUM", .id =
	    "unlisted_for_ever"),
	ROW("junk_for_ever", .kind = "brief", .status = PARKED,
	    .reason = "poll_deadline", .id = "junk_for_ever"),
	ROW("expired", .status = PARKED, .reason = "gone", .id = "expired"),
	ROW("moderated", .status = "FAILED", .reason =
	    "failed_by_provider", .told = "nudity", .id = "moderated"),
	ROW("upper_failed", .status = "FAILED", .reason =
	    "failed_by_provider"),
	ROW("canceled", .status = "FAILED", .reason =
	    "canceled_by_provider"),
	ROW("code_400", .status = "FAILED", .reason = "failed_by_provider",
	    .told = "late no"),
	ROW("done_with_nothing", .status = PARKED, .reason =
	    "ended_with_nothing", .id = "done_with_nothing"),
	ROW("done_with_empty", .status = PARKED, .reason =
	    "ended_with_nothing", .id = "done_with_empty"),
	FOREIGN("at_foreign", "http://127.0.0.2:{port}/p/x"),
	FOREIGN("at_other_port", "http://127.0.0.1:1/p/x"),
	FOREIGN("at_localhost", "http://localhost:{port}/p/x"),
	FOREIGN("at_link_local", "http://169.254.169.254/latest/meta-data/"),
	FOREIGN("at_file", "file:///etc/passwd"),
	FOREIGN("at_gopher", "gopher://127.0.0.1:{port}/_x"),
	FOREIGN("at_user", "http://127.0.0.1:{port}@127.0.0.2:{port}/p/x"),
	FOREIGN("at_user_2", "http://a:b@127.0.0.1:{port}/p/x"),
	FOREIGN("at_backslash", "http://127.0.0.2:{port}\\\\@127.0.0.1/"),
	FOREIGN("at_blank", "http://127.0.0.1:{port}/ HTTP/1.1\\r\\nX: y"),
	FOREIGN("at_slashes", "//127.0.0.2:{port}/p/x"),
	FOREIGN("at_decimal", "http://2130706434:{port}/p/x"),
	FOREIGN("at_nothing", ""),
	FINE("artifact_hop"), FINE("artifact_hop_file"),
	FINE("artifact_loop"), FINE("artifact_endless"),
	FINE("artifact_gone"), FINE("artifact_later"),
	FINE("artifact_foreign"),
};

static const struct rawd_script answers[] = {
	POLL("404_first", 3, RAW_JSON("404 Not Found", "{}")),
	POLL("500_often", 12, RAW_JSON("500 Oops", "{}")),
	POLL("garbage", 3, RAW_OK("\x01\xff{{{")),
	POLL("html", 3, RAW_OK("<html>")),
	POLL("empty", 3, RAW_OK("")),
	POLL("a_list", 3, RAW_OK("[{\"status\":\"failed\"}]")),
	POLL("status_list", 3, RAW_OK("{\"status\":[\"failed\"]}")),
	{ .path = "/p/too_long", .head = RAW_OK("{\"a\":\""), .piece = KILO,
	    .times = -1, .uses = 2 },
	{ .path = "/p/dropped", .head = "HTTP/1.1 200 OK\r\nContent-Le",
	    .end = RAWD_RESET, .uses = 3 },
	{ .path = "/p/nested", .head = RAW_OK(""), .piece = "[",
	    .times = 10000, .uses = 2 },
	POLL("redirected", 3, "HTTP/1.1 302 Go\r\nLocation: "
	    "http://127.0.0.2:{port}/p/x\r\nContent-Length: 0\r\n"
	    "Connection: close\r\n\r\n"),
	POLL("no_status", 3, RAW_OK("{}")),
	POLL("upper", 2, WORD("RuNNing")),
	{ .path = "/p/upper", .head = RAW_OK("{\"status\":\"DONE\","
	    "\"output\":\"fine\"}") },
	POLL("retry_absurd", 2, "HTTP/1.1 503 Busy\r\nRetry-After: -17 years"
	    "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
	POLL("unlisted", 3, WORD("MEDITATING")),
	{ .path = "/p/unlisted_long", .head = RAW_OK("{\"status\":\""),
	    .piece = KILO, .times = 100, .tail = "\"}", .uses = 2 },
	POLL("404_for_ever", 0, RAW_JSON("404 Not Found", "{}")),
	POLL("pending_for_ever", 0, WORD("queued")),
	POLL("unlisted_for_ever", 0, WORD("HUM")),
	POLL("junk_for_ever", 0, RAW_OK("\x02\x03")),
	POLL("expired", 0, WORD("expired")),
	POLL("moderated", 0, RAW_OK("{\"status\":\"rejected\",\"error\":"
	    "\"nudity\"}")),
	POLL("upper_failed", 0, WORD("FAILED")),
	POLL("canceled", 0, WORD("Canceled")),
	POLL("code_400", 0, RAW_OK("{\"code\":400,\"error\":\"late no\"}")),
	POLL("done_with_nothing", 0, DONE("")),
	POLL("done_with_empty", 0, DONE(",\"output\":\"\"")),
	ARTIFACT("artifact_hop"), ARTIFACT("artifact_hop_file"),
	ARTIFACT("artifact_loop"), ARTIFACT("artifact_endless"),
	ARTIFACT("artifact_gone"), ARTIFACT("artifact_later"),
	{ .path = "/p/artifact_foreign", .head = DONE(",\"url\":\"http://"
	    "127.0.0.2:{port}/a/x\"") },
	HOP("artifact_hop", "http://127.0.0.2:{port}/a/x"),
	HOP("artifact_hop_file", "file:///etc/passwd"),
	HOP("artifact_loop", "/a/artifact_loop"),
	{ .path = "/a/artifact_endless", .head = "HTTP/1.1 200 OK\r\n\r\n",
	    .piece = KILO, .times = -1 },
	{ .path = "/a/artifact_gone", .head = RAW_JSON("410 Gone", "") },
	{ .path = "/a/artifact_later", .head = RAW_JSON("503 Busy", ""),
	    .uses = 1 },
	{ .path = "/a/artifact_later", .head = RAW_OK("bytes") },
};

static const struct {
	const char	*row;
	const char	*lost;		/* NULL: it is on the disk */
	int		 gets;
} artifacts[] = {
	{ "artifact_hop", "host not allowed", 1 },
	{ "artifact_hop_file", "host not allowed", 1 },
	{ "artifact_loop", "too many redirects", 6 },
	{ "artifact_endless", "too big", 1 },
	{ "artifact_gone", "http 410", 2 },
	{ "artifact_later", NULL, 2 },
	{ "artifact_foreign", "host not allowed", 0 },
};

START_TEST(test_polls)
{
	size_t i;

	rig->kinds = "kind brief { provider = raw model = \"m\" concurrency "
	    "= 8 breaker = 1000 poll_deadline = 2 }\n";
	hostile_run(&rawd, polls, SUITE_COUNT(polls), answers,
	    SUITE_COUNT(answers));
	for (i = 0; i < SUITE_COUNT(artifacts); i++) {
		ck_assert_str_eq(poll_lost(artifacts[i].row),
		    artifacts[i].lost != NULL ? artifacts[i].lost : "");
		ck_assert_msg(rawd_count(&rawd, rig_printf("/a/%s",
		    artifacts[i].row)) == artifacts[i].gets, "%s: %d GETs",
		    artifacts[i].row, rawd_count(&rawd, rig_printf("/a/%s",
		    artifacts[i].row)));
	}
	/* a word is reported once, however often it comes */
	ck_assert_int_eq(rig_sql_int(rig, "SELECT count(*) FROM "
	    "payonce.task_event WHERE task_id = %lld AND detail LIKE "
	    "'%%HUM%%' AND from_status = to_status", (long long)
	    poll_task("unlisted_for_ever")), 1);
	/* missed polls back off, and the log counts them */
	ck_assert_int_ge(rig_count_log(rig, "task=[0-9]+ 4 polls in a row "
	    "missed"), 1);
	ck_assert_int_le(rawd_count(&rawd, "/p/404_for_ever"), 60);
	hostile_done(&rawd);
}
END_TEST

/* The same with the shipped files: URLs at the mock's foreign host. */
START_TEST(test_shipped_files_stay_home)
{
	static const char *const mocks[] = {
		"\"submit\": \"foreign_url\"",
		"\"poll\": [\"foreign_url\", \"foreign_url\"]",
		"\"artifact\": \"foreign\"",
		"\"artifact\": \"redirect_foreign\"",
	};
	char *summary = NULL;
	size_t i;

	rig->lenient_log = true;
	rig_start(rig);
	for (i = 0; i < SUITE_COUNT(mocks); i++) {
		(void)rig_enqueue(rig, "image", rig_printf("{\"mock\": {%s}}",
		    mocks[i]));
		(void)rig_enqueue(rig, "pred", rig_printf("{\"mock\": {%s}}",
		    mocks[i]));
	}
	rig_wait_sql(rig, 30000, "SELECT count(*) = 8 FROM "
	    "payonce.generation_task WHERE status = 'SUCCEEDED'");
	ck_assert_int_eq(rig_count_posts(rig, 0), 8);
	ck_assert_int_eq(rig_count_charges(rig, 0), 8);
	ck_assert_int_eq(rig_http(rig, "GET", "/_mock/summary", &summary),
	    200);
	ck_assert_msg(strstr(summary, "\"foreign\":0") != NULL &&
	    strstr(summary, "\"foreign_keyed\":0") != NULL, "%s", summary);
}
END_TEST

static int64_t
poll_task(const char *row)
{
	return rig_sql_int(rig, "SELECT id FROM payonce.generation_task "
	    "WHERE input->>'row' = '%s'", row);
}

static char *
poll_lost(const char *row)
{
	return rig_sql(rig, "SELECT result->'artifacts'->0->>'lost' FROM "
	    "payonce.generation_task WHERE input->>'row' = '%s'", row);
}

int
main(int argc, char **argv)
{
	const TTest *tests[] = { test_polls, test_shipped_files_stay_home };

	return suite_run(argc, argv, "hostile_poll", tests,
	    SUITE_COUNT(tests), 60);
}
