/*
 * result.c - a provider's result as the row can hold it; see result.h.
 *
 * Owns nothing.  What it moves out of the JSON is durable in a file before
 * the JSON loses it.
 */
#include "worker/result.h"

#include <string.h>

#include <json.h>
#include <json_visit.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"

#define RESULT_INLINE_MAX	(64u << 10)
#define RESULT_FILE_KEY		"payonce_file"
#define RESULT_FILE_MAX		(256u << 20)
#define RESULT_NUMBER		9999	/* of the file result.json */

static int	result_move_inline(struct worker *, const struct job *,
		    struct json_object *, struct artifact *, size_t number);
static int	result_replace(json_object *, int, json_object *, const char *,
		    size_t *, void *);
static int	result_move_all(struct worker *, const struct job *,
		    struct poll_verdict *);
static char	*result_file_of(struct worker *, const struct job *,
		    const char *text, size_t len);

struct result_swap {
	const char	*from;
	size_t		 from_len;
	const char	*to;
};

int
result_prepare(struct worker *w, const struct job *j, struct poll_verdict *v)
{
	struct json_object *root = NULL;
	const char *text = NULL;
	char *copy = NULL;
	size_t i = 0;
	int rc = 0, moved = 0;

	for (i = 0; i < v->nartifacts; i++)
		moved += strlen(v->artifacts[i].value) > RESULT_INLINE_MAX;
	if (moved > 0 && (root = json_tokener_parse(v->result)) != NULL) {
		for (i = 0; i < v->nartifacts && rc == 0; i++)
			rc = result_move_inline(w, j, root, &v->artifacts[i],
			    i);
		if (rc == 0) {
			text = json_object_to_json_string_ext(root,
			    JSON_C_TO_STRING_PLAIN |
			    JSON_C_TO_STRING_NOSLASHESCAPE);
			copy = text != NULL ? mem_strdup(text) : NULL;
			if (copy == NULL)
				rc = PO_ENOMEM;
			else {
				mem_free(v->result);
				v->result = copy;
			}
		}
		(void)json_object_put(root);
	}
	if (rc == 0 && strlen(v->result) > RESULT_MAX)
		rc = result_move_all(w, j, v);
	return rc;
}

int
result_read_saved(struct worker *w, const struct job *j, const char *text,
    size_t len, struct poll_verdict *ret)
{
	char *path = result_file_of(w, j, text, len), *data = NULL;
	size_t data_len = 0;
	int rc = 0;

	if (path == NULL)
		return provider_read_saved(w->provider, text, len, ret);
	rc = fd_read_file(path, RESULT_FILE_MAX, &data, &data_len);
	if (rc == 0)
		rc = provider_read_saved(w->provider, data, data_len, ret);
	mem_free(data);
	mem_free(path);
	return rc;
}

int
result_compose(const char *saved, size_t len, const char *entries, char **ret,
    size_t *ret_len)
{
	struct buf b;
	int rc = PO_ENOMEM;

	buf_init(&b, LIM_JSON);
	if (buf_puts(&b, "{\"output\":") == 0 &&
	    buf_put(&b, len > 0 ? saved : "null", len > 0 ? len : 4) == 0 &&
	    buf_puts(&b, ",\"artifacts\":") == 0 &&
	    buf_puts(&b, entries) == 0 && buf_putc(&b, '}') == 0 &&
	    (*ret = buf_steal(&b, ret_len)) != NULL)
		rc = 0;
	buf_done(&b);
	return rc;
}

/* Nothing but blanks may stand behind the brace that is opened again. */
int
result_finish(const char *saved, size_t len, const char *entries, char **ret,
    size_t *ret_len)
{
	struct buf b;
	int rc = PO_ENOMEM;

	while (len > 0 && strchr(" \t\r\n", saved[len - 1]) != NULL)
		len--;
	if (len < 3 || saved[0] != '{' || saved[len - 1] != '}')
		return PO_EINVAL;
	buf_init(&b, LIM_JSON);
	if (buf_put(&b, saved, len - 1) == 0 &&
	    buf_puts(&b, ",\"artifacts\":") == 0 &&
	    buf_puts(&b, entries) == 0 && buf_putc(&b, '}') == 0 &&
	    (*ret = buf_steal(&b, ret_len)) != NULL)
		rc = 0;
	buf_done(&b);
	return rc;
}

int
result_put_entry(struct buf *b, const struct artifact_facts *a,
    const char *url, const char *lost)
{
	struct json_object *o = json_object_new_object();
	const char *text = NULL;
	int rc = PO_ENOMEM;

	if (o == NULL)
		return PO_ENOMEM;
	if (a != NULL && (json_object_object_add(o, "path",
	    json_object_new_string(a->path)) != 0 ||
	    json_object_object_add(o, "sha256",
	    json_object_new_string(a->sha256)) != 0 ||
	    json_object_object_add(o, "bytes",
	    json_object_new_int64(a->bytes)) != 0 ||
	    json_object_object_add(o, "type",
	    json_object_new_string(a->type)) != 0))
		goto out;
	if (url != NULL && json_object_object_add(o, "url",
	    json_object_new_string(url)) != 0)
		goto out;
	if (lost != NULL && json_object_object_add(o, "lost",
	    json_object_new_string(lost)) != 0)
		goto out;
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
	    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL && (buf_left(b) <= 1 || buf_putc(b, ',') == 0) &&
	    buf_puts(b, text) == 0)
		rc = 0;
out:
	(void)json_object_put(o);
	return rc;
}

/* One long inline artifact: to a file, then its text out of the JSON. */
static int
result_move_inline(struct worker *w, const struct job *j,
    struct json_object *root, struct artifact *a, size_t number)
{
	struct artifact_file f;
	struct artifact_facts facts;
	struct result_swap swap;
	enum artifact_code code = ARTIFACT_BASE64;
	char *mark = NULL;
	int rc = 0;

	if (strlen(a->value) <= RESULT_INLINE_MAX)
		return 0;
	if (strcmp(a->encoding, "hex") == 0)
		code = ARTIFACT_HEX;
	else if (strcmp(a->encoding, "base64") != 0)
		return 0;
	rc = artifact_open(&f, w->state_dir, j->task, j->attempt, number,
	    w->max_artifact);
	if (rc < 0)
		return rc;
	if ((rc = artifact_decode(&f, code, a->value, strlen(a->value))) < 0) {
		artifact_abort(&f);
		/* not what it says it is: it stays in the text */
		return rc == PO_EINVAL || rc == PO_ERANGE ? 0 : rc;
	}
	if ((rc = artifact_commit(&f, NULL, &facts)) < 0)
		return rc;
	mark = mem_printf("%s%s", ARTIFACT_MARK, facts.path);
	artifact_facts_done(&facts);
	if (mark == NULL)
		return PO_ENOMEM;
	swap.from = a->value;
	swap.from_len = strlen(a->value);
	swap.to = mark;
	/* json-c walks by recursion, but never deeper than its parser went */
	(void)json_c_visit(root, 0, result_replace, &swap);
	mem_free(a->value);
	a->value = mark;
	return 0;
}

static int
result_replace(json_object *o, int flags, json_object *parent,
    const char *key, size_t *index, void *arg)
{
	const struct result_swap *swap = arg;

	(void)parent;
	(void)key;
	(void)index;
	if ((flags & JSON_C_VISIT_SECOND) == 0 &&
	    json_object_is_type(o, json_type_string) &&
	    (size_t)json_object_get_string_len(o) == swap->from_len &&
	    memcmp(json_object_get_string(o), swap->from,
	    swap->from_len) == 0 &&
	    json_object_set_string(o, swap->to) == 0)
		return JSON_C_VISIT_RETURN_ERROR;
	return JSON_C_VISIT_RETURN_CONTINUE;
}

/* The whole result is too long: it becomes a file of its own. */
static int
result_move_all(struct worker *w, const struct job *j, struct poll_verdict *v)
{
	struct artifact_file f;
	struct artifact_facts facts;
	struct json_object *o = NULL;
	const char *text = NULL;
	char *copy = NULL;
	int rc = 0;

	rc = artifact_open(&f, w->state_dir, j->task, j->attempt,
	    RESULT_NUMBER, RESULT_FILE_MAX);
	if (rc < 0)
		return rc;
	if ((rc = artifact_write(&f, v->result, strlen(v->result))) < 0) {
		artifact_abort(&f);
		return rc;
	}
	if ((rc = artifact_commit(&f, "application/json", &facts)) < 0)
		return rc;
	rc = PO_ENOMEM;
	if ((o = json_object_new_object()) != NULL &&
	    json_object_object_add(o, RESULT_FILE_KEY,
	    json_object_new_string(facts.path)) == 0 &&
	    (text = json_object_to_json_string_ext(o,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE)) !=
	    NULL && (copy = mem_strdup(text)) != NULL) {
		mem_free(v->result);
		v->result = copy;
		rc = 0;
	}
	(void)json_object_put(o);
	artifact_facts_done(&facts);
	return rc;
}

/*
 * result_file_of() is the path when the saved text is only the name of a file
 * of this attempt; a provider that writes the same words gets nothing by it.
 */
static char *
result_file_of(struct worker *w, const struct job *j, const char *text,
    size_t len)
{
	struct json_object *o = NULL, *path = NULL;
	char *copy = NULL, *ret = NULL;

	if (len > LIM_URL || (copy = mem_strndup(text, len)) == NULL)
		return NULL;
	o = json_tokener_parse(copy);
	if (o != NULL && json_object_is_type(o, json_type_object) &&
	    json_object_object_length(o) == 1 &&
	    json_object_object_get_ex(o, RESULT_FILE_KEY, &path) &&
	    json_object_is_type(path, json_type_string) &&
	    artifact_is_ours(w->state_dir, j->task, j->attempt,
	    json_object_get_string(path)))
		ret = mem_strdup(json_object_get_string(path));
	(void)json_object_put(o);
	mem_free(copy);
	return ret;
}
