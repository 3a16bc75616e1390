/*
 * mock_ledger.c - the billing ledger: one row for each POST that came.
 *
 * Owns the rows, the totals and the ledger file.  With a file, a row is on
 * the disk before its answer leaves: the rows that were settled in one turn
 * of the loop share one fdatasync, and their answers wait for it.
 * It must not decide what is charged; mock_submit.c does.
 */
#include <sys/random.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "tests/provider/mock.h"

#define LEDGER_FILE_MAX	((size_t)1 << 31)
#define LEDGER_BATCH_MAX	(256 * 1024 * 1024)

/* What is known about a task, or about one attempt of it. */
struct ledger_count {
	int64_t	posts;
	int64_t	charged;
};

TAILQ_HEAD(row_batch, row);

static struct row	**ledger_rows;
static size_t		  ledger_len, ledger_cap;
static uint64_t		  ledger_last_seq;
static struct table	  ledger_by_id;		/* request id -> row */
static struct table	  ledger_by_task;	/* task, attempt + 1 | 0 */
static struct row_batch	  ledger_batch = TAILQ_HEAD_INITIALIZER(ledger_batch);
static struct buf	  ledger_out;
static int		  ledger_fd = -1;

static int	ledger_load(const char *);
static int	ledger_parse_id(const char *, size_t, uint64_t *, uint64_t *);
static struct ledger_count *ledger_count_of(int64_t, uint64_t);

/* ledger_open() reads what an earlier mock wrote and goes on behind it. */
int
ledger_open(const char *path)
{
	struct stat st;

	buf_init(&ledger_out, LEDGER_BATCH_MAX);
	if (path == NULL)
		return 0;
	if (stat(path, &st) == 0 && ledger_load(path) != 0)
		return PO_EINVAL;
	ledger_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
	    0644);
	if (ledger_fd == -1) {
		log_warn("ledger %s cannot be opened", path);
		return PO_EIO;
	}
	return 0;
}

/* A torn last line comes from a kill in the write: it is cut off. */
static int
ledger_load(const char *path)
{
	char *text = NULL;
	size_t len = 0, good = 0;
	int rc;

	rc = fd_read_file(path, LEDGER_FILE_MAX, &text, &len);
	if (rc == 0)
		rc = record_load(text, len, &good);
	if (rc != 0)
		log_warnx("ledger %s: line behind byte %zu is no row of a "
		    "ledger: %s", path, good, po_strerror(rc));
	else if (good < len && truncate(path, (off_t)good) == -1) {
		log_warn("ledger %s: cutting off a torn line", path);
		rc = PO_EIO;
	}
	mem_free(text);
	return rc;
}

void
ledger_close(void)
{
	size_t i;

	for (i = 0; i < ledger_len; i++)
		ledger_settle(ledger_rows[i]);
	ledger_flush();
	fd_close(&ledger_fd);
	for (i = 0; i < ledger_len; i++) {
		script_free(&ledger_rows[i]->script);
		mem_free(ledger_rows[i]->script_text);
		mem_free(ledger_rows[i]);
	}
	for (i = 0; i < ledger_by_task.cap; i++)
		mem_free(ledger_by_task.slots[i].value);
	mem_free(ledger_rows);
	table_done(&ledger_by_id);
	table_done(&ledger_by_task);
	buf_done(&ledger_out);
}

/*
 * ledger_append() takes the row in; one from the file has its number, in
 * the order in which the rows were settled.
 */
int
ledger_append(struct row *row)
{
	struct row **rows;
	size_t cap = ledger_cap == 0 ? 1024 : ledger_cap * 2;

	if (ledger_len == ledger_cap) {
		rows = mem_grow(ledger_rows, cap, sizeof(struct row *));
		if (rows == NULL)
			return PO_ENOMEM;
		ledger_rows = rows;
		ledger_cap = cap;
	}
	ledger_rows[ledger_len++] = row;
	if (row->seq == 0)
		row->seq = ledger_last_seq + 1;
	if (row->seq > ledger_last_seq)
		ledger_last_seq = row->seq;
	return 0;
}

struct row *
ledger_add(enum shape shape, const struct request *req)
{
	struct timespec now;
	struct row *row = mem_alloc(sizeof(*row));

	if (row == NULL)
		return NULL;
	row->shape = shape;
	row->task = req->task;
	row->attempt = req->attempt;
	row->has_task = req->has_task;
	row->mark = MARK_UNKNOWN;
	/* The real-time clock exists: the call cannot fail. */
	(void)clock_gettime(CLOCK_REALTIME, &now);
	row->at_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	if (ledger_append(row) != 0) {
		mem_free(row);
		return NULL;
	}
	ledger_count_task(row);
	return row;
}

/* ledger_count_task() counts a POST of the row's task. */
void
ledger_count_task(const struct row *row)
{
	struct ledger_count *count;

	mock.stats.posts++;
	mock.is_dirty = true;
	if (!row->has_task)
		return;
	count = ledger_count_of(row->task, 0);
	if (count != NULL && count->posts++ == 0)
		mock.stats.tasks++;
	count = ledger_count_of(row->task, (uint64_t)row->attempt + 1);
	if (count != NULL)
		count->posts++;
}

void
ledger_charge(struct row *row)
{
	struct ledger_count *count;
	char sum[sizeof(mock.stats.spent)];

	row->is_charged = true;
	mock.stats.charged_posts++;
	mock.is_dirty = true;
	if (num_decimal_add(mock.stats.spent, row->price, sum,
	    sizeof(sum)) == 0)
		memcpy(mock.stats.spent, sum, sizeof(sum));
	else
		log_warnx("ledger row %llu: its price %s cannot be added",
		    (unsigned long long)row->seq, row->price);
	if (!row->has_task)
		return;
	count = ledger_count_of(row->task, 0);
	if (count != NULL && ++count->charged == 2)
		mock.stats.tasks_charged_twice++;
	count = ledger_count_of(row->task, (uint64_t)row->attempt + 1);
	if (count != NULL && ++count->charged == 2)
		mock.stats.charged_twice++;
}

static struct ledger_count *
ledger_count_of(int64_t task, uint64_t part)
{
	struct ledger_count *count;

	count = table_get(&ledger_by_task, (uint64_t)task, part);
	if (count != NULL)
		return count;
	count = mem_alloc(sizeof(*count));
	if (count == NULL ||
	    table_put(&ledger_by_task, (uint64_t)task, part, count) != 0) {
		log_warnx("ledger: no memory to count task=%lld",
		    (long long)task);
		mem_free(count);
		return NULL;
	}
	return count;
}

int
ledger_task_count(int64_t task, int64_t *ret_posts, int64_t *ret_charged)
{
	struct ledger_count *count;

	count = table_get(&ledger_by_task, (uint64_t)task, 0);
	if (count == NULL)
		return PO_ENOENT;
	*ret_posts = count->posts;
	*ret_charged = count->charged;
	return 0;
}

/* ledger_accept() starts a generation: an id of its own, never guessed. */
void
ledger_accept(struct row *row)
{
	static uint8_t pool[4096];
	static size_t left;
	const uint8_t *r;

	if (left < 16) {
		if (getrandom(pool, sizeof(pool), 0) != sizeof(pool))
			fatal("getrandom");
		left = sizeof(pool);
	}
	left -= 16;
	r = pool + left;
	/* The width is fixed: the text always fits. */
	(void)snprintf(row->request_id, sizeof(row->request_id),
	    "%02x%02x%02x%02x-%02x%02x-4%01x%02x-%02x%02x-"
	    "%02x%02x%02x%02x%02x%02x", r[0], r[1], r[2], r[3], r[4], r[5],
	    r[6] & 15, r[7], (r[8] & 63) | 128, r[9], r[10], r[11], r[12],
	    r[13], r[14], r[15]);
	row->is_accepted = true;
	if (ledger_index(row) != 0)
		fatalx("out of memory for the ledger's index");
}

int
ledger_index(struct row *row)
{
	uint64_t a, b;

	if (ledger_parse_id(row->request_id, strlen(row->request_id), &a,
	    &b) != 0)
		return PO_EINVAL;
	return table_put(&ledger_by_id, a, b, row);
}

struct row *
ledger_find(const char *request_id, size_t len)
{
	uint64_t a, b;

	if (ledger_parse_id(request_id, len, &a, &b) != 0)
		return NULL;
	return table_get(&ledger_by_id, a, b);
}

/* Only the form that ledger_accept() writes is an id. */
static int
ledger_parse_id(const char *text, size_t len, uint64_t *ret_a,
    uint64_t *ret_b)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t word[2] = { 0, 0 };
	const char *digit;
	size_t i, n = 0;

	if (len != 36)
		return PO_EINVAL;
	for (i = 0; i < len; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text[i] != '-')
				return PO_EINVAL;
			continue;
		}
		digit = memchr(digits, text[i], 16);
		if (digit == NULL)
			return PO_EINVAL;
		word[n / 16] = word[n / 16] << 4 | (uint64_t)(digit - digits);
		n++;
	}
	*ret_a = word[0];
	*ret_b = word[1];
	return 0;
}

/* ledger_settle() is the row's last word; its answer follows ledger_flush() */
void
ledger_settle(struct row *row)
{
	if (row->is_settled)
		return;
	row->is_settled = true;
	if (markdb_is_used()) {
		mock.stats.unmarked += row->mark == MARK_NO;
		mock.stats.mark_unknown += row->mark == MARK_UNKNOWN;
	}
	mock.is_dirty = true;
	if (ledger_fd == -1) {
		submit_go(row);
		return;
	}
	if (record_put(&ledger_out, row, true) != 0)
		fatalx("out of memory for the ledger");
	TAILQ_INSERT_TAIL(&ledger_batch, row, batch_entry);
}

void
ledger_flush(void)
{
	struct row *row;

	if (buf_left(&ledger_out) == 0)
		return;
	if (fd_write_all(ledger_fd, buf_head(&ledger_out),
	    buf_left(&ledger_out)) != 0 || fdatasync(ledger_fd) == -1)
		fatal("the ledger cannot be written: make room on its disk");
	buf_reset(&ledger_out);
	while ((row = TAILQ_FIRST(&ledger_batch)) != NULL) {
		TAILQ_REMOVE(&ledger_batch, row, batch_entry);
		submit_go(row);
	}
}

struct row *
ledger_row(size_t i)
{
	return i < ledger_len ? ledger_rows[i] : NULL;
}
