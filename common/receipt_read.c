/*
 * receipt_read.c - the reading side: what a supervisor finds after a death.
 *
 * Owns nothing.  Must not lock a file: a worker that starts meanwhile would
 * be turned away.
 */
#include "common/receipt.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/receipt_file.h"

#define RECEIPT_SCAN_MAX	(1u << 22)	/* files in one scan */

/* One file that a scan found. */
struct receipt_entry {
	int64_t	task;
	int	attempt;
	char	folder[RECEIPT_DAY_MAX];	/* "open" or a day */
};

struct receipt_list {
	struct receipt_entry	*entries;
	size_t			 count;
	size_t			 cap;
};

static int	receipt_read_in(const char *state_dir, const char *folder,
		    int64_t task, int attempt, struct receipt_facts *);
static int	receipt_load(const char *path, int64_t task, int attempt,
		    struct receipt_facts *);
static int	receipt_list_open(struct receipt_list *, const char *);
static int	receipt_list_days(struct receipt_list *, const char *);
static int	receipt_list_folder(struct receipt_list *,
		    const char *state_dir, const char *folder);
static int	receipt_list_add(struct receipt_list *, int64_t task,
		    int attempt, const char *folder);
static int	receipt_compare(const void *, const void *);
static int	receipt_visit(struct receipt_list *, const char *state_dir,
		    int (*)(const struct receipt_facts *, bool, void *),
		    void *);

int
receipt_read(const char *state_dir, int64_t task, int attempt,
    struct receipt_facts *ret)
{
	return receipt_read_in(state_dir, "open", task, attempt, ret);
}

int
receipt_scan(const char *state_dir,
    int (*fn)(const struct receipt_facts *, bool, void *), void *arg)
{
	struct receipt_list list = { 0 };
	int rc = receipt_list_open(&list, state_dir);

	if (rc == 0)
		rc = receipt_visit(&list, state_dir, fn, arg);
	mem_free(list.entries);
	return rc;
}

int
receipt_scan_all(const char *state_dir,
    int (*fn)(const struct receipt_facts *, bool, void *), void *arg)
{
	struct receipt_list list = { 0 };
	int rc = 0;

	/*
	 * Files move from open to a day: read in this order, one that moves
	 * meanwhile is seen twice, not never.
	 */
	if ((rc = receipt_list_open(&list, state_dir)) == 0 &&
	    (rc = receipt_list_days(&list, state_dir)) == 0)
		rc = receipt_visit(&list, state_dir, fn, arg);
	mem_free(list.entries);
	return rc;
}

int
receipt_scan_damaged(const char *state_dir, int (*fn)(const char *, void *),
    void *arg)
{
	char *folder = receipt_path_folder(state_dir, "damaged");
	char *path = NULL;
	struct dirent *entry = NULL;
	DIR *dir = NULL;
	int rc = 0;

	if (folder == NULL)
		return PO_ENOMEM;
	if ((dir = opendir(folder)) == NULL) {
		rc = errno == ENOENT ? 0 : PO_EIO;
		goto out;
	}
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		mem_free(path);
		path = mem_printf("%s/%s", folder, entry->d_name);
		if (path == NULL) {
			rc = PO_ENOMEM;
			goto out;
		}
		if ((rc = fn(path, arg)) != 0)
			goto out;
	}
	if (errno != 0)
		rc = PO_EIO;
out:
	if (dir != NULL)
		(void)closedir(dir);	/* read-only */
	mem_free(path);
	mem_free(folder);
	return rc;
}

static int
receipt_read_in(const char *state_dir, const char *folder, int64_t task,
    int attempt, struct receipt_facts *ret)
{
	char *name = mem_printf("%lld.%d", (long long)task, attempt);
	char *path = NULL;
	int rc = PO_ENOMEM;

	if (name == NULL)
		return PO_ENOMEM;
	path = mem_printf("%s/receipts/%s/%s", state_dir, folder, name);
	if (path != NULL)
		rc = receipt_load(path, task, attempt, ret);
	if (rc == PO_EINVAL &&
	    (rc = receipt_set_aside(state_dir, folder, name)) == 0)
		rc = PO_EINVAL;
	mem_free(path);
	mem_free(name);
	return rc;
}

static int
receipt_load(const char *path, int64_t task, int attempt,
    struct receipt_facts *ret)
{
	struct receipt_facts facts = { 0 };
	struct receipt_trail trail = { 0 };
	char *text = NULL;
	size_t len = 0;
	int fd = -1, rc = 0;

	if ((rc = receipt_check_lock(path, &fd)) < 0)
		return rc;
	rc = fd_read_all(fd, RECEIPT_FILE_MAX, &text, &len);
	if (rc == 0)
		rc = receipt_parse(text, len, task, attempt, NULL, &facts,
		    &trail);
	else if (rc == PO_ERANGE)
		rc = PO_EINVAL;
	if (rc < 0)
		goto out;
	if (trail.good_len == 0) {
		receipt_facts_done(&facts);
		rc = PO_ENOENT;
		goto out;
	}
	*ret = facts;
out:
	mem_free(text);
	fd_close(&fd);
	return rc;
}

static int
receipt_list_open(struct receipt_list *list, const char *state_dir)
{
	return receipt_list_folder(list, state_dir, "open");
}

static int
receipt_list_days(struct receipt_list *list, const char *state_dir)
{
	char *top = mem_printf("%s/receipts", state_dir);
	struct dirent *entry = NULL;
	DIR *dir = NULL;
	time_t end = 0;
	int rc = 0;

	if (top == NULL)
		return PO_ENOMEM;
	if ((dir = opendir(top)) == NULL) {
		rc = errno == ENOENT ? 0 : PO_EIO;
		goto out;
	}
	while (rc == 0 && (errno = 0, (entry = readdir(dir)) != NULL))
		if (receipt_parse_day(entry->d_name, &end) == 0)
			rc = receipt_list_folder(list, state_dir,
			    entry->d_name);
	if (rc == 0 && errno != 0)
		rc = PO_EIO;
out:
	if (dir != NULL)
		(void)closedir(dir);	/* read-only */
	mem_free(top);
	return rc;
}

static int
receipt_list_folder(struct receipt_list *list, const char *state_dir,
    const char *folder)
{
	char *path = receipt_path_folder(state_dir, folder);
	struct dirent *entry = NULL;
	DIR *dir = NULL;
	int64_t task = 0;
	int attempt = 0, rc = 0;

	if (path == NULL)
		return PO_ENOMEM;
	if ((dir = opendir(path)) == NULL) {
		rc = errno == ENOENT ? 0 : PO_EIO;
		goto out;
	}
	while (rc == 0 && (errno = 0, (entry = readdir(dir)) != NULL)) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (receipt_parse_name(entry->d_name, &task, &attempt) == 0)
			rc = receipt_list_add(list, task, attempt, folder);
		else
			rc = receipt_set_aside(state_dir, folder,
			    entry->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = PO_EIO;
out:
	if (dir != NULL)
		(void)closedir(dir);	/* read-only */
	mem_free(path);
	return rc;
}

static int
receipt_list_add(struct receipt_list *list, int64_t task, int attempt,
    const char *folder)
{
	struct receipt_entry *entries = NULL, *e = NULL;
	size_t cap = list->cap != 0 ? list->cap * 2 : 64;

	if (list->count == RECEIPT_SCAN_MAX)
		return PO_ENOMEM;
	if (list->count == list->cap) {
		if ((entries = mem_grow(list->entries, cap,
		    sizeof(*entries))) == NULL)
			return PO_ENOMEM;
		list->entries = entries;
		list->cap = cap;
	}
	e = &list->entries[list->count++];
	*e = (struct receipt_entry){ .task = task, .attempt = attempt };
	(void)strlcpy(e->folder, folder, sizeof(e->folder));	/* 10 bytes */
	return 0;
}

/* By task and attempt; of one attempt the newest first: "open" > any digit. */
static int
receipt_compare(const void *pa, const void *pb)
{
	const struct receipt_entry *a = pa, *b = pb;

	if (a->task != b->task)
		return a->task < b->task ? -1 : 1;
	if (a->attempt != b->attempt)
		return a->attempt < b->attempt ? -1 : 1;
	return strcmp(b->folder, a->folder);
}

static int
receipt_visit(struct receipt_list *list, const char *state_dir,
    int (*fn)(const struct receipt_facts *, bool, void *), void *arg)
{
	const struct receipt_entry *e = NULL;
	struct receipt_facts facts = { 0 };
	bool is_done = false;	/* this attempt was given to fn */
	size_t i = 0;
	int rc = 0;

	if (list->count > 0)
		qsort(list->entries, list->count, sizeof(*list->entries),
		    receipt_compare);
	for (i = 0; i < list->count; i++) {
		e = &list->entries[i];
		if (i > 0 && is_done && e->task == e[-1].task &&
		    e->attempt == e[-1].attempt)
			continue;
		is_done = false;
		facts = (struct receipt_facts){ 0 };
		rc = receipt_read_in(state_dir, e->folder, e->task,
		    e->attempt, &facts);
		if (rc == PO_EBUSY) {
			facts.task = e->task;
			facts.attempt = e->attempt;
		} else if (rc == PO_EINVAL || rc == PO_ENOENT)
			continue;	/* set aside, or moved meanwhile */
		else if (rc < 0)
			return rc;
		is_done = true;
		rc = fn(&facts, rc == PO_EBUSY, arg);
		receipt_facts_done(&facts);
		if (rc != 0)
			return rc;
	}
	return 0;
}
