/*
 * cmd_enqueue.c - payonce enqueue: a task from the shell.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/cli.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"

enum { INPUT_MAX = 64 * 1024 * 1024, IDS_MAX = 64 * 1024 };

struct enqueue {
	const char	*kind;
	char		*input;
	const char	*model;
	const char	*dedupe;
	const char	*priority;
	const char	*at;
	const char	*job;
	const char	*after;		/* "1,2" */
	char		*after_array;	/* "{1,2}" */
	bool		 is_wait;
};

static int
read_stdin(char **ret)
{
	struct buf	 b;
	uint8_t		*to;
	ssize_t		 n;
	int		 rc = 0;

	buf_init(&b, INPUT_MAX);
	for (;;) {
		if ((to = buf_reserve(&b, 65536)) == NULL) {
			rc = PO_ENOMEM;
			break;
		}
		n = read(STDIN_FILENO, to, 65536);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n == 0 ? 0 : PO_EIO;
			break;
		}
		b.len += (size_t)n;
		b.data[b.len] = '\0';
	}
	if (rc == 0)
		*ret = mem_strdup(buf_text(&b));
	buf_done(&b);
	return rc == 0 && *ret == NULL ? PO_ENOMEM : rc;
}

/* Says where the JSON is wrong; the database would not know the file. */
static int
check_json(const struct cli *cli, const char *what, const char *text)
{
	struct json_tokener	*tok = json_tokener_new();
	struct json_object	*o;
	enum json_tokener_error	 e;
	size_t			 at, line = 1, i;

	if (tok == NULL) {
		cli_fail(cli, NULL, "out of memory");
		return EXIT_CODE_FAILED;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, text, (int)strlen(text) + 1);
	e = json_tokener_get_error(tok);
	at = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	json_object_put(o);
	if (e == json_tokener_success)
		return 0;
	for (i = 0; i < at && text[i] != '\0'; i++)
		line += text[i] == '\n';
	cli_fail(cli, "the input is JSON, such as '{\"prompt\":\"a red fox\"}'"
	    " (or @FILE, or - for stdin)",
	    "%s is no JSON: %s, line %zu, byte %zu", what,
	    e == json_tokener_continue ? "it ends too early" :
	    json_tokener_error_desc(e), line, at + 1);
	return EXIT_CODE_FAILED;
}

static int
read_input(const struct cli *cli, const char *word, char **ret)
{
	size_t	 len;
	int	 rc;

	if (word == NULL) {
		if ((*ret = mem_strdup("{}")) == NULL)
			cli_fail(cli, NULL, "out of memory");
		return *ret == NULL ? EXIT_CODE_FAILED : 0;
	}
	if (strcmp(word, "-") == 0) {
		if ((rc = read_stdin(ret)) != 0) {
			cli_fail(cli, NULL, "stdin: %s", po_strerror(rc));
			return EXIT_CODE_FAILED;
		}
		return check_json(cli, "stdin", *ret);
	}
	if (word[0] != '@') {
		if ((*ret = mem_strdup(word)) == NULL)
			return EXIT_CODE_FAILED;
		return check_json(cli, "the input", *ret);
	}
	if ((rc = fd_read_file(word + 1, INPUT_MAX, ret, &len)) != 0) {
		cli_fail(cli, NULL, "%s: %s", word + 1, rc == PO_EIO ?
		    strerror(errno) : po_strerror(rc));
		return EXIT_CODE_FAILED;
	}
	return check_json(cli, word + 1, *ret);
}

/* "3,4" -> "{3,4}", each a number. */
static int
read_ids(const struct cli *cli, const char *list, char **ret)
{
	struct buf	 b;
	const char	*p = list;
	char		 word[24];
	size_t		 n;
	int64_t		 id;

	buf_init(&b, IDS_MAX);
	(void)buf_putc(&b, '{');
	for (;;) {
		n = strcspn(p, ",");
		(void)snprintf(word, sizeof(word), "%.*s",
		    (int)(n < sizeof(word) ? n : sizeof(word) - 1), p);
		if (!opts_i64(cli, "--after", word, 1, &id)) {
			buf_done(&b);
			return EXIT_CODE_USAGE;
		}
		(void)buf_printf(&b, "%s%lld", p == list ? "" : ",",
		    (long long)id);
		if (p[n] == '\0')
			break;
		p += n + 1;
	}
	if (buf_putc(&b, '}') != 0) {
		buf_done(&b);
		cli_fail(cli, NULL, "--after names too many tasks");
		return EXIT_CODE_FAILED;
	}
	*ret = buf_steal(&b, NULL);
	return 0;
}

/* A kind that nobody serves is legal, but most often a typing error. */
static void
warn_unserved(struct cli *cli, const char *kind)
{
	if (!kind_is_served(cli, kind))
		(void)fprintf(stderr, "payonce: note: no living host serves "
		    "the kind %s; the task waits until one does\n", kind);
}

static int
wait_for(struct cli *cli, const char *id)
{
	const char	*params[] = { id };
	PGresult	*res;
	const char	*status;
	int		 rc;

	wait_catch_signals();
	wait_start(cli);
	for (;;) {
		res = db_query(cli, "SELECT id, kind, status::text AS status, "
		    "reason, detail, result, cost_actual, cost_estimated, "
		    "currency FROM payonce.generation_task WHERE id = $1", 1,
		    params);
		if (res == NULL)
			return EXIT_CODE_FAILED;
		status = db_text(res, 0, "status");
		if (status == NULL || words_is_ended(status))
			break;
		PQclear(res);
		if (wait_is_interrupted()) {
			cli_fail(cli, "`payonce watch` follows it again",
			    "stopped waiting; task %s goes on", id);
			return EXIT_CODE_FAILED;
		}
		if ((rc = wait_next(cli, 1000)) != 0)
			return rc;
	}
	rc = status != NULL && strcmp(status, "SUCCEEDED") == 0 ?
	    EXIT_CODE_OK : EXIT_CODE_FAILED;
	if (cli->is_json) {
		if (rows_print_lines(res) != EXIT_CODE_OK)
			rc = EXIT_CODE_FAILED;
	} else if (rc == EXIT_CODE_OK) {
		(void)printf("%s\n", db_text(res, 0, "result") != NULL ?
		    db_text(res, 0, "result") : "{}");
	} else {
		cli_fail(cli, "`payonce show` tells its story",
		    "task %s %s", id, words_status(status));
	}
	PQclear(res);
	return rc;
}

static int
enqueue_run(struct cli *cli, const struct enqueue *e)
{
	const char	*params[] = { e->kind, e->input, e->model, e->dedupe,
		    e->priority, e->at, e->job, e->after_array };
	PGresult	*res;
	char		 id[24];
	int		 rc = EXIT_CODE_OK;

	if ((res = db_query(cli,
	    "SELECT payonce.enqueue($1::text, $2::jsonb, model => $3::text, "
	    "dedupe_key => $4::text, priority => coalesce($5::int, 100), "
	    "run_at => $6::timestamptz, job_id => $7::bigint, "
	    "after => $8::bigint[]) AS id", 8, params)) == NULL)
		return EXIT_CODE_FAILED;
	(void)snprintf(id, sizeof(id), "%s", PQgetvalue(res, 0, 0));
	if (cli->is_json && !e->is_wait)
		rc = rows_print_lines(res);
	else if (!e->is_wait)
		(void)printf("%s\n", id);
	PQclear(res);
	warn_unserved(cli, e->kind);
	return e->is_wait ? wait_for(cli, id) : rc;
}

int
cmd_enqueue(struct cli *cli, int argc, char **argv)
{
	struct enqueue	 e = { .kind = NULL };
	const struct opt opts[] = {
		{ "model", &e.model, NULL }, { "dedupe", &e.dedupe, NULL },
		{ "priority", &e.priority, NULL }, { "at", &e.at, NULL },
		{ "job", &e.job, NULL }, { "after", &e.after, NULL },
		{ "wait", NULL, &e.is_wait },
	};
	int64_t		 n;
	int		 nwords, rc;

	nwords = opts_parse(cli, argc, argv, opts,
	    sizeof(opts) / sizeof(opts[0]), 1, 2);
	if (nwords < 0)
		return opts_status(nwords);
	e.kind = argv[0];
	if ((e.priority != NULL &&
	    !opts_i64(cli, "--priority", e.priority, 0, &n)) ||
	    (e.job != NULL && !opts_i64(cli, "--job", e.job, INT64_MIN, &n)))
		return EXIT_CODE_USAGE;
	if (e.after != NULL && (rc = read_ids(cli, e.after,
	    &e.after_array)) != 0)
		return rc;
	rc = read_input(cli, nwords == 2 ? argv[1] : NULL, &e.input);
	if (rc == 0)
		rc = db_open(cli);
	if (rc == 0)
		rc = enqueue_run(cli, &e);
	mem_free(e.input);
	mem_free(e.after_array);
	return rc;
}
