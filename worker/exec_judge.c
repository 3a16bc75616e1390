/*
 * exec_judge.c - what a local program's end means.
 *
 * Decides and reports; changes no state.  Exit 0 is done, 75 (EX_TEMPFAIL)
 * asks for another run, anything else failed; an end that we made is none of
 * the program's.
 */
#include "worker/exec.h"

#include <sys/wait.h>

#include <stdio.h>
#include <string.h>

#include <json.h>

#include "common/err.h"
#include "common/inject.h"
#include "common/log.h"
#include "common/mem.h"
#include "worker/result.h"

#define EXEC_TEMPFAIL	75

static void	exec_done(struct exec *);
static struct json_object	*exec_parse(const char *, size_t);

void
exec_judge(struct exec *x)
{
	const char *detail = x->tail_len > 0 ? x->tail : NULL;
	char reason[LIM_WORD];

	if (strcmp(x->why, "timeout") == 0 ||
	    strcmp(x->why, "output_too_big") == 0) {
		report_failed(x->w, &x->job, x->why, detail, NULL, NULL);
		return;
	}
	if (x->why[0] != '\0') {
		report_unsent(x->w, &x->job, x->why, detail);
		return;
	}
	if (!x->has_status) {
		report_unsent(x->w, &x->job, "guard_died", detail);
		return;
	}
	if (WIFEXITED(x->status) && WEXITSTATUS(x->status) == 0) {
		exec_done(x);
		return;
	}
	if (WIFEXITED(x->status) && WEXITSTATUS(x->status) == EXEC_TEMPFAIL) {
		report_unsent(x->w, &x->job, "tempfail", detail);
		return;
	}
	if (WIFEXITED(x->status))
		(void)snprintf(reason, sizeof(reason), "exit_%d",
		    WEXITSTATUS(x->status));
	else
		(void)snprintf(reason, sizeof(reason), "signal_%d",
		    WTERMSIG(x->status));
	report_failed(x->w, &x->job, reason, detail, NULL, NULL);
}

static void
exec_done(struct exec *x)
{
	struct buf *out = &x->streams[EXEC_OUT].buf;
	struct json_object *root = NULL;
	const char *text = buf_text(out);
	char *entries = NULL, *result = NULL;
	size_t len = 0;
	int rc = 0;

	if (text[strspn(text, " \t\r\n")] != '\0') {
		if ((root = exec_parse(text, buf_left(out))) == NULL) {
			report_failed(x->w, &x->job, "bad_output",
			    "stdout is not one JSON value", NULL, NULL);
			return;
		}
		/* written anew: the parser forgives what jsonb does not */
		text = json_object_to_json_string_ext(root,
		    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	} else
		text = NULL;
	rc = exec_files_list(x->output, &entries);
	if (rc == 0)
		rc = result_compose(text, text != NULL ? strlen(text) : 0,
		    entries, &result, &len);
	if (rc < 0) {
		log_warn("task=%llu its files in %s cannot be kept: %s",
		    (unsigned long long)x->job.task, x->output,
		    po_strerror(rc));
		if (rc == PO_ERANGE)
			report_failed(x->w, &x->job, "too_many_files", NULL,
			    NULL, NULL);
		else
			report_unsent(x->w, &x->job, "tempfail",
			    po_strerror(rc));
	} else {
		INJECT("exec.finished");
		report_done(x->w, &x->job, result, len, NULL, NULL);
	}
	mem_free(entries);
	mem_free(result);
	(void)json_object_put(root);
}

/* exec_parse() takes one JSON value and blanks, nothing else. */
static struct json_object *
exec_parse(const char *text, size_t len)
{
	struct json_tokener *parser = json_tokener_new();
	struct json_object *root = NULL;
	size_t end = 0;

	if (parser == NULL)
		return NULL;
	json_tokener_set_flags(parser, JSON_TOKENER_STRICT |
	    JSON_TOKENER_ALLOW_TRAILING_CHARS);
	root = json_tokener_parse_ex(parser, text, (int)len + 1);
	end = json_tokener_get_parse_end(parser);
	if (root != NULL && end + strspn(text + end, " \t\r\n") != len) {
		(void)json_object_put(root);
		root = NULL;
	}
	json_tokener_free(parser);
	return root;
}
