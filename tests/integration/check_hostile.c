/*
 * check_hostile.c - what a broken or hostile provider may answer to a paid
 * request, byte by byte: one POST each, and what is no proof of a refusal
 * parks with a reason and the answer's words.
 *
 * All rows of a table run at once against one payonce.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/integration/hostile.h"

#define PARKED	"OUTCOME_UNKNOWN"
#define NO_ID	"accepted_without_id"
#define BARE(line)							\
	"HTTP/1.1 " line "\r\nContent-Length: 2\r\n"			\
	"Connection: close\r\n\r\n{}"
/* to itself: who follows makes a second POST */
#define MOVED(word, code)						\
	{ .name = word, .head = "HTTP/1.1 " code " Over There\r\n"	\
	    "Location: /s/" word "\r\nContent-Length: 0\r\n"		\
	    "Connection: close\r\n\r\n",				\
	    .status = PARKED, .reason = "http_" code }
#define UNLISTED(code)	{ .name = code, .head = BARE(code " No"),	\
			.status = PARKED, .reason = "http_" code,	\
			.told = "http " code }
#define REFUSED(code)	{ .name = code, .head = RAW_JSON(code " No",	\
			"{\"error\":\"you may not " code "\"}"),	\
			.status = "FAILED", .reason = "http_" code,	\
			.told = "you may not " code }
#define TEN	"0123456789"
#define KILO	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN			\
		TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static struct rawd	rawd;

/* ---- the transport ----------------------------------------------------- */

static const struct hostile_row transport[] = {
	{ .name = "reset_unread", .head = "", .end = RAWD_UNREAD,
	    .status = PARKED, .reason = "no_answer" },
	{ .name = "closed_after_reading", .head = "", .status = PARKED,
	    .reason = "no_answer" },
	{ .name = "reset_after_reading", .head = "", .end = RAWD_RESET,
	    .status = PARKED, .reason = "no_answer" },
	{ .name = "closed_mid_status", .head = "HTTP/1.1 20",
	    .status = PARKED, .reason = "*" },
	{ .name = "closed_mid_header", .head = "HTTP/1.1 200 OK\r\nContent-",
	    .status = PARKED, .reason = "*" },
	{ .name = "reset_mid_header", .head = "HTTP/1.1 200 OK\r\nConte",
	    .end = RAWD_RESET, .status = PARKED, .reason = "broken_answer" },
	{ .name = "closed_mid_body", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 500\r\n\r\n{\"id\":\"half-", .status = PARKED,
	    .reason = "broken_answer", .told = "half-" },
	{ .name = "closed_mid_chunk", .head = "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n40\r\n{\"id\":\"half-",
	    .status = PARKED, .reason = "broken_answer", .told = "half-" },
	{ .name = "hang_mid_body", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 500\r\n\r\n{\"id\":\"half-", .end = RAWD_HANG,
	    .status = PARKED, .reason = "timeout", .told = "half-" },
	{ .name = "silence", .head = "", .end = RAWD_HANG, .status = PARKED,
	    .reason = "timeout" },
	{ .name = "not_http", .head = "220 mail.example ESMTP\r\n",
	    .status = PARKED, .reason = "*" },
	{ .name = "http_9", .head = "HTTP/9.9 200 OK\r\n\r\n{\"id\":\"x\"}",
	    .status = PARKED, .reason = "*" },
	{ .name = "no_status", .head = "HTTP/1.1\r\n\r\n{\"id\":\"x\"}",
	    .status = PARKED, .reason = "*" },
	{ .name = "status_999", .head = BARE("999 Huh"), .status = PARKED,
	    .reason = "http_999" },
	{ .name = "upgrade", .head = "HTTP/1.1 101 Switching Protocols\r\n"
	    "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n", .end = RAWD_HANG,
	    .status = PARKED, .reason = "*" },
	{ .name = "continue_then_silence",
	    .head = "HTTP/1.1 100 Continue\r\n\r\n", .end = RAWD_HANG,
	    .status = PARKED, .reason = "timeout" },
	{ .name = "hints_for_ever", .head = "", .piece = "HTTP/1.1 103 Early "
	    "Hints\r\nLink: <a>\r\n\r\n", .times = -1, .piece_ms = 1,
	    .status = PARKED, .reason = "*" },
	{ .name = "continue_flood", .head = "",
	    .piece = "HTTP/1.1 100 Continue\r\n\r\n", .times = 2000,
	    .tail = RAW_ID("after-1xx"), .status = "SUCCEEDED",
	    .id = "after-1xx" },
	{ .name = "header_flood", .head = "HTTP/1.1 200 OK\r\n",
	    .piece = "X-Junk: " KILO "\r\n", .times = -1, .status = PARKED,
	    .reason = "answer_too_big" },
	{ .name = "header_line_endless", .head = "HTTP/1.1 200 OK\r\nX: ",
	    .piece = KILO, .times = -1, .status = PARKED, .reason = "*" },
	{ .name = "kept_alive_then_dropped", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 14\r\n\r\n{\"id\":\"keep\"}\n",
	    .end = RAWD_SECOND, .status = "SUCCEEDED", .id = "keep" },
	/* five seconds of drops, more than two leases: one claim, one POST */
	{ .name = "drip_beyond_the_lease", .head = "HTTP/1.1 200 OK\r\n"
	    "Connection: close\r\n\r\n{\"id\":\"slow\"", .piece = " ",
	    .times = 20, .piece_ms = 210, .tail = "}", .status = "SUCCEEDED",
	    .id = "slow" },
};

/* ---- statuses ---------------------------------------------------------- */

static const struct hostile_row statuses[] = {
	MOVED("to_300", "300"), MOVED("to_301", "301"),
	MOVED("to_302", "302"), MOVED("to_303", "303"),
	MOVED("to_304", "304"), MOVED("to_305", "305"),
	MOVED("to_307", "307"), MOVED("to_308", "308"),
	REFUSED("400"), REFUSED("404"), REFUSED("413"), REFUSED("422"),
	UNLISTED("405"), UNLISTED("406"), UNLISTED("408"), UNLISTED("409"),
	UNLISTED("410"), UNLISTED("411"), UNLISTED("414"), UNLISTED("415"),
	UNLISTED("417"), UNLISTED("418"), UNLISTED("421"), UNLISTED("423"),
	UNLISTED("425"), UNLISTED("426"), UNLISTED("428"), UNLISTED("431"),
	UNLISTED("451"), UNLISTED("499"), UNLISTED("500"), UNLISTED("501"),
	UNLISTED("502"), UNLISTED("504"), UNLISTED("520"), UNLISTED("521"),
	UNLISTED("522"), UNLISTED("523"), UNLISTED("524"), UNLISTED("599"),
	UNLISTED("204"), UNLISTED("206"),
	{ .name = "503_later", .head = "HTTP/1.1 503 Busy\r\nRetry-After: 1"
	    "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
	    .status = PARKED, .reason = "http_503" },
	{ .name = "503_date", .head = "HTTP/1.1 503 Busy\r\nRetry-After: "
	    "Tue, 01 Dec 2026 06:00:00 GMT\r\nContent-Length: 2\r\n"
	    "Connection: close\r\n\r\n{}", .status = PARKED,
	    .reason = "http_503" },
	{ .name = "503_absurd", .head = "HTTP/1.1 503 Busy\r\nRetry-After: "
	    "99999999999999999999999999\r\nContent-Length: 2\r\n"
	    "Connection: close\r\n\r\n{}", .status = PARKED,
	    .reason = "http_503" },
	/* a refusal in a status alone; the file says no more */
	{ .name = "error_with_id", .head = RAW_JSON("500 Oops",
	    "{\"id\":\"hidden-in-a-500\"}"), .status = PARKED,
	    .reason = "http_500", .told = "hidden-in-a-500" },
};

/* ---- bodies ------------------------------------------------------------ */

static const struct hostile_row bodies[] = {
	{ .name = "error_listed", .head = RAW_OK("{\"code\":400,\"error\":"
	    "\"bad prompt\"}"), .status = "FAILED", .reason = "http_200",
	    .told = "bad prompt" },
	{ .name = "error_unlisted", .head = RAW_OK("{\"error\":\"busy, or "
	    "not\"}"), .status = PARKED, .reason = NO_ID,
	    .told = "busy, or not" },
	{ .name = "html", .head = RAW_OK("<html><body>Welcome to nginx"),
	    .status = PARKED, .reason = NO_ID, .told = "Welcome to nginx" },
	{ .name = "empty", .head = RAW_OK(""), .status = PARKED,
	    .reason = NO_ID },
	{ .name = "bad_utf8", .head = RAW_OK("{\"id\":\"utf\",\"note\":"
	    "\"\xff\xfe\xc3\x28\xed\xa0\x80\"}"), .status = "SUCCEEDED",
	    .id = "utf" },
	{ .name = "not_even_json", .head = RAW_OK("\xff\xfe\x01\x1b[2J"),
	    .status = PARKED, .reason = NO_ID, .told = "http 200" },
	{ .name = "nested", .head = RAW_OK("{\"id\":\"deep\",\"a\":"),
	    .piece = "[", .times = 10000, .status = PARKED,
	    .reason = NO_ID, .told = "deep" },
	{ .name = "endless", .head = RAW_OK("{\"id\":\"long\",\"a\":\""),
	    .piece = KILO, .times = -1, .status = PARKED,
	    .reason = "answer_too_big", .told = "long" },
	{ .name = "announced_1g", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 1073741824\r\n\r\n{\"id\":\"big\",\"a\":\"",
	    .piece = KILO, .times = -1, .status = PARKED,
	    .reason = "answer_too_big", .told = "big" },
	{ .name = "length_too_small", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 8\r\n\r\n{\"id\":\"cut-off\"}",
	    .status = PARKED, .reason = NO_ID },
	{ .name = "length_too_large", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 99\r\n\r\n{\"id\":\"whole\"}",
	    .status = PARKED, .reason = "broken_answer", .told = "whole" },
	{ .name = "length_twice", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: 4\r\nContent-Length: 15\r\n\r\n"
	    "{\"id\":\"twice\"}\n", .end = RAWD_CLOSE, .status = "SUCCEEDED",
	    .id = "twice" },
	{ .name = "length_negative", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Length: -5\r\n\r\n{\"id\":\"minus\"}",
	    .status = PARKED, .reason = "broken_answer" },
	{ .name = "chunks_with_junk", .head = "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\nd\r\n{\"id\":\"junk\"}\r\n"
	    "0\r\n\r\n\x01\x02HTTP/1.1 500 Smuggled\r\n\r\n",
	    .status = "SUCCEEDED", .id = "junk" },
	{ .name = "chunks_broken", .head = "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\nxyz\r\n{\"id\":\"no\"}\r\n",
	    .status = PARKED, .reason = "broken_answer" },
	{ .name = "chunk_of_2_64", .head = "HTTP/1.1 200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff0\r\n{",
	    .status = PARKED, .reason = "broken_answer" },
	/* nobody asked for it, so nobody unpacks it: a bomb stays small */
	{ .name = "compressed", .head = "HTTP/1.1 200 OK\r\n"
	    "Content-Encoding: gzip\r\nConnection: close\r\n\r\n"
	    "\x1f\x8b\x08\x01\x01\x01\x01\x01\x02\x03", .piece = KILO,
	    .times = 40, .status = PARKED, .reason = NO_ID },
	{ .name = "two_values", .head = RAW_OK("{\"id\":\"a\"}"
	    "{\"id\":\"b\"}"), .status = PARKED, .reason = NO_ID },
	{ .name = "a_list", .head = RAW_OK("[{\"id\":\"a\"}]"),
	    .status = PARKED, .reason = NO_ID },
};

static const struct hostile_row ids[] = {
	{ .name = "id_missing", .head = RAW_OK("{\"status\":\"queued\"}"),
	    .status = PARKED, .reason = NO_ID, .told = "queued" },
	{ .name = "id_null", .head = RAW_OK("{\"id\":null}"),
	    .status = PARKED, .reason = NO_ID },
	{ .name = "id_empty", .head = RAW_ID(""), .status = PARKED,
	    .reason = NO_ID },
	{ .name = "id_number", .head = RAW_OK("{\"id\":12345}"),
	    .status = "SUCCEEDED", .id = "12345" },
	{ .name = "id_object", .head = RAW_OK("{\"id\":{\"a\":1}}"),
	    .status = PARKED, .reason = NO_ID },
	{ .name = "id_10k", .head = RAW_OK("{\"id\":\""), .piece = KILO,
	    .times = 50, .tail = "\"}", .status = PARKED, .reason = NO_ID,
	    .told = TEN },
	{ .name = "id_path", .head = RAW_ID("../../../s/id_path?a=1#b%2f"),
	    .status = "SUCCEEDED", .id = "../../../s/id_path?a=1#b%2f" },
	{ .name = "id_crlf", .head = RAW_ID("x\\r\\nHost: evil\\r\\n\\r\\n"),
	    .status = PARKED, .reason = NO_ID, .told = "Host: evil" },
	{ .name = "id_nul", .head = RAW_ID("x\\u0000y"),
	    .status = "SUCCEEDED" },
	{ .name = "id_quotes", .head = RAW_ID("a'; DROP TABLE x; --\\\""),
	    .status = "SUCCEEDED", .id = "a'; DROP TABLE x; --\"" },
	{ .name = "id_same_1", .head = RAW_ID("the-same"),
	    .status = "SUCCEEDED", .id = "the-same" },
	{ .name = "id_same_2", .head = RAW_ID("the-same"),
	    .status = "SUCCEEDED", .id = "the-same" },
};

#define RUN(rows)							\
	do {								\
		hostile_run(&rawd, rows, SUITE_COUNT(rows), NULL, 0);	\
		hostile_done(&rawd);					\
	} while (0)

START_TEST(test_transport)
{
	RUN(transport);
}
END_TEST

START_TEST(test_statuses)
{
	RUN(statuses);
}
END_TEST

START_TEST(test_bodies)
{
	RUN(bodies);
}
END_TEST

START_TEST(test_ids)
{
	RUN(ids);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *tests[] = {
		test_transport, test_statuses, test_bodies, test_ids,
	};

	return suite_run(argc, argv, "hostile", tests, SUITE_COUNT(tests),
	    60);
}
