/*
 * mock_record.c - a ledger row as a line of JSON, and back again.
 *
 * The file's lines carry three members more than the administration shows:
 * when the generation is ready, its price and its script, so that a mock
 * that was started again goes on with the same generations.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/num.h"
#include "tests/provider/mock.h"

static int	record_read(struct json_object *, struct row *);
static int	record_set_script(struct json_object *, struct row *);
static int	record_get_text(struct json_object *, const char *, char *,
		    size_t);
static int	record_put_at(struct buf *, int64_t);
static int	record_put_extra(struct buf *, const struct row *);

static int64_t
record_wall_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);	/* cannot fail */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All text in a row is free of quotes, backslashes and control bytes. */
int
record_put(struct buf *out, const struct row *row, bool is_file)
{
	static const char *const marks[] = { "null", "false", "true" };
	int rc;

	rc = buf_printf(out, "{\"seq\":%llu,\"at\":\"",
	    (unsigned long long)row->seq);
	if (rc == 0)
		rc = record_put_at(out, row->at_ms);
	if (rc == 0 && row->has_task)
		rc = buf_printf(out, "\",\"shape\":\"%s\",\"task\":%lld,"
		    "\"attempt\":%d", row->shape == SHAPE_FAL ? "fal" :
		    "replicate", (long long)row->task, row->attempt);
	else if (rc == 0)
		rc = buf_printf(out, "\",\"shape\":\"%s\",\"task\":null,"
		    "\"attempt\":null", row->shape == SHAPE_FAL ? "fal" :
		    "replicate");
	if (rc == 0)
		rc = buf_printf(out, ",\"model\":\"%s\",\"request_id\":",
		    row->model);
	if (rc == 0 && row->is_accepted)
		rc = buf_printf(out, "\"%s\"", row->request_id);
	else if (rc == 0)
		rc = buf_puts(out, "null");
	if (rc == 0)
		rc = buf_printf(out, ",\"charged\":\"%s\",\"accepted\":%s,"
		    "\"behaviour\":\"%s\",\"mark\":%s",
		    row->is_charged ? row->price : "0",
		    row->is_accepted ? "true" : "false", row->behaviour,
		    marks[row->mark + 1]);
	if (rc == 0 && is_file)
		rc = record_put_extra(out, row);
	if (rc == 0)
		rc = buf_puts(out, is_file ? "}\n" : "}");
	return rc;
}

static int
record_put_at(struct buf *out, int64_t at_ms)
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm;
	char text[32];

	if (gmtime_r(&at, &tm) == NULL || strftime(text, sizeof(text),
	    "%Y-%m-%dT%H:%M:%S", &tm) == 0)
		return PO_ERANGE;
	return buf_printf(out, "%s.%03dZ", text, (int)(at_ms % 1000));
}

static int
record_put_extra(struct buf *out, const struct row *row)
{
	int64_t ready_ms = 0;

	if (row->is_accepted)
		ready_ms = record_wall_ms() +
		    mono_diff_ms(row->ready_at, mono_now());
	return buf_printf(out, ",\"at_ms\":%lld,\"ready_ms\":%lld,"
	    "\"price\":\"%s\",\"canceled\":%s,\"mock\":%s",
	    (long long)row->at_ms, (long long)ready_ms, row->price,
	    row->is_canceled ? "true" : "false",
	    row->script_text != NULL ? row->script_text : "null");
}

int
record_put_all(struct buf *out, bool has_task, int64_t task, int64_t since)
{
	const struct row *row;
	const char *comma = "";
	size_t i;
	int rc;

	rc = buf_putc(out, '[');
	for (i = 0; rc == 0 && (row = ledger_row(i)) != NULL; i++) {
		if (row->seq <= (uint64_t)since ||
		    (has_task && (!row->has_task || row->task != task)))
			continue;
		rc = buf_puts(out, comma);
		if (rc == 0)
			rc = record_put(out, row, false);
		comma = ",\n";
	}
	if (rc == 0)
		rc = buf_puts(out, "]\n");
	return rc;
}

/*
 * record_load() takes in all whole lines; *ret_good is where they end.  A
 * last line without its newline is left out.
 */
int
record_load(const char *text, size_t len, size_t *ret_good)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *line;
	struct row *row;
	const char *eol;
	int rc = 0;

	*ret_good = 0;
	if (tok == NULL)
		return PO_ENOMEM;
	while (rc == 0 && *ret_good < len && (eol = memchr(text + *ret_good,
	    '\n', len - *ret_good)) != NULL) {
		json_tokener_reset(tok);
		line = json_tokener_parse_ex(tok, text + *ret_good,
		    (int)(eol - text - (ptrdiff_t)*ret_good));
		row = mem_alloc(sizeof(*row));
		if (row == NULL)
			rc = PO_ENOMEM;
		else if (line == NULL || record_read(line, row) != 0)
			rc = PO_EINVAL;
		else
			rc = ledger_append(row);
		if (rc != 0) {
			mem_free(row);
		} else {
			ledger_count_task(row);
			if (row->is_charged)
				ledger_charge(row);
			if (row->is_accepted)
				rc = ledger_index(row);
			*ret_good = (size_t)(eol - text) + 1;
		}
		json_object_put(line);
	}
	json_tokener_free(tok);
	return rc;
}

static int
record_read(struct json_object *line, struct row *row)
{
	struct json_object *value;
	char shape[16], charged[32], model[sizeof(row->model)];

	if (record_get_text(line, "shape", shape, sizeof(shape)) != 0 ||
	    record_get_text(line, "model", model, sizeof(model)) != 0 ||
	    record_get_text(line, "charged", charged, sizeof(charged)) != 0 ||
	    record_get_text(line, "price", row->price,
	    sizeof(row->price)) != 0 ||
	    record_get_text(line, "behaviour", row->behaviour,
	    sizeof(row->behaviour)) != 0)
		return PO_EINVAL;
	memcpy(row->model, model, sizeof(model));
	row->shape = strcmp(shape, "fal") == 0 ? SHAPE_FAL : SHAPE_REPLICATE;
	row->is_charged = strcmp(charged, "0") != 0;
	row->is_accepted = record_get_text(line, "request_id",
	    row->request_id, sizeof(row->request_id)) == 0;
	if (json_object_object_get_ex(line, "task", &value) &&
	    json_object_is_type(value, json_type_int)) {
		row->has_task = true;
		row->task = json_object_get_int64(value);
		if (json_object_object_get_ex(line, "attempt", &value))
			row->attempt = json_object_get_int(value);
	}
	if (!json_object_object_get_ex(line, "seq", &value) ||
	    json_object_get_int64(value) <= 0)
		return PO_EINVAL;
	row->seq = (uint64_t)json_object_get_int64(value);
	row->mark = MARK_UNKNOWN;
	if (json_object_object_get_ex(line, "mark", &value) &&
	    json_object_is_type(value, json_type_boolean))
		row->mark = json_object_get_boolean(value) ? MARK_YES :
		    MARK_NO;
	mock.stats.unmarked += row->mark == MARK_NO;
	if (json_object_object_get_ex(line, "at_ms", &value))
		row->at_ms = json_object_get_int64(value);
	if (json_object_object_get_ex(line, "canceled", &value))
		row->is_canceled = json_object_get_boolean(value);
	if (json_object_object_get_ex(line, "ready_ms", &value))
		row->ready_at = mono_add_ms(mono_now(),
		    json_object_get_int64(value) - record_wall_ms());
	row->accepted_at = row->ready_at;
	row->is_settled = row->has_body = row->has_mark = true;
	return record_set_script(line, row);
}

static int
record_set_script(struct json_object *line, struct row *row)
{
	struct json_object *value;
	char error[128];

	if (!json_object_object_get_ex(line, "mock", &value) || value == NULL)
		return 0;
	row->script_text = mem_strdup(json_object_to_json_string_ext(value,
	    JSON_C_TO_STRING_PLAIN));
	row->script = script_parse(value, error, sizeof(error));
	if (row->script_text == NULL)
		return PO_ENOMEM;
	/* A script that was refused then is refused now: no generation. */
	if (row->script == NULL && row->is_accepted)
		return PO_EINVAL;
	return 0;
}

static int
record_get_text(struct json_object *line, const char *name, char *ret,
    size_t cap)
{
	struct json_object *value;
	size_t len;

	if (!json_object_object_get_ex(line, name, &value) ||
	    !json_object_is_type(value, json_type_string))
		return PO_EINVAL;
	len = (size_t)json_object_get_string_len(value);
	if (len >= cap)
		return PO_ERANGE;
	memcpy(ret, json_object_get_string(value), len + 1);
	return 0;
}
