/*
 * receipt_dir.c - the folders of the receipts: names, moves, locks, ages.
 *
 *	<state_dir>/receipts/open/<task>.<attempt>
 *	<state_dir>/receipts/<YYYY-MM-DD>/<task>.<attempt>
 *	<state_dir>/receipts/damaged/<name>
 *
 * Owns the names.  Must not read a line.
 */
#include <sys/stat.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/mem.h"
#include "common/num.h"
#include "common/receipt_file.h"

#define RECEIPT_MODE	0750
#define DAY_S		86400

static int	receipt_make_folder(const char *parent, const char *path,
		    uid_t uid, gid_t gid);
static int	receipt_move(const char *from, const char *state_dir,
		    const char *folder, const char *name);
static int	receipt_remove_day(const char *path);

char *
receipt_path_open(const char *state_dir, int64_t task, int attempt)
{
	return mem_printf("%s/receipts/open/%lld.%d", state_dir,
	    (long long)task, attempt);
}

char *
receipt_path_folder(const char *state_dir, const char *folder)
{
	return mem_printf("%s/receipts/%s", state_dir, folder);
}

int
receipt_prepare(const char *state_dir, const char *user)
{
	static const char *const folders[] = { "open", "damaged" };
	const struct passwd *pw = NULL;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	char *top = NULL, *path = NULL;
	size_t i = 0;
	int rc = 0;

	if (user != NULL && *user != '\0' && geteuid() == 0) {
		errno = 0;
		if ((pw = getpwnam(user)) == NULL)
			return errno != 0 ? PO_EIO : PO_ENOENT;
		uid = pw->pw_uid;
		gid = pw->pw_gid;
	}
	if ((top = mem_printf("%s/receipts", state_dir)) == NULL)
		return PO_ENOMEM;
	if ((rc = fd_mkdir_p(state_dir, RECEIPT_MODE)) < 0 ||
	    (rc = receipt_make_folder(state_dir, top, uid, gid)) < 0)
		goto out;
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		mem_free(path);
		path = receipt_path_folder(state_dir, folders[i]);
		rc = path == NULL ? PO_ENOMEM :
		    receipt_make_folder(top, path, uid, gid);
		if (rc < 0)
			goto out;
	}
out:
	mem_free(path);
	mem_free(top);
	return rc;
}

int
receipt_parse_name(const char *name, int64_t *ret_task, int *ret_attempt)
{
	char digits[24];
	const char *dot = strchr(name, '.');
	int64_t task = 0, attempt = 0;
	size_t len = 0;

	if (dot == NULL || (len = (size_t)(dot - name)) >= sizeof(digits))
		return PO_EINVAL;
	memcpy(digits, name, len);
	digits[len] = '\0';
	/* one name per attempt: no leading zeros */
	if (*name == '0' || dot[1] == '0' ||
	    num_parse_i64(digits, 0, INT64_MAX, &task) < 0 ||
	    num_parse_i64(dot + 1, 0, INT_MAX, &attempt) < 0)
		return PO_EINVAL;
	*ret_task = task;
	*ret_attempt = (int)attempt;
	return 0;
}

int
receipt_parse_day(const char *name, time_t *ret_end)
{
	char check[RECEIPT_DAY_MAX];
	struct tm tm = { 0 };
	const char *end = NULL;
	time_t t = 0;

	if (strlen(name) != 10 || (end = strptime(name, "%Y-%m-%d", &tm)) ==
	    NULL || *end != '\0' || (t = timegm(&tm)) == (time_t)-1)
		return PO_EINVAL;
	if (gmtime_r(&t, &tm) == NULL ||
	    strftime(check, sizeof(check), "%Y-%m-%d", &tm) == 0 ||
	    strcmp(check, name) != 0)
		return PO_EINVAL;
	*ret_end = t + DAY_S;
	return 0;
}

int
receipt_set_aside(const char *state_dir, const char *folder, const char *name)
{
	char *from = mem_printf("%s/receipts/%s/%s", state_dir, folder, name);
	int rc = 0;

	rc = from == NULL ? PO_ENOMEM :
	    receipt_move(from, state_dir, "damaged", name);
	mem_free(from);
	return rc;
}

int
receipt_acknowledge(const char *state_dir, int64_t task, int attempt)
{
	char *path = receipt_path_open(state_dir, task, attempt);
	int fd = -1, rc = 0;

	/*
	 * Were it moved from under a worker that took it over, nobody would
	 * look there for what it writes.
	 */
	rc = path == NULL ? PO_ENOMEM : receipt_check_lock(path, &fd);
	fd_close(&fd);
	mem_free(path);
	return rc < 0 ? rc : receipt_move_to_day(state_dir, task, attempt);
}

int
receipt_move_to_day(const char *state_dir, int64_t task, int attempt)
{
	char day[RECEIPT_DAY_MAX] = "", name[48];
	char *from = receipt_path_open(state_dir, task, attempt);
	time_t now = time(NULL);
	struct tm tm = { 0 };
	int rc = PO_ENOMEM;

	if (from == NULL)
		goto out;
	(void)snprintf(name, sizeof(name), "%lld.%d", (long long)task,
	    attempt);
	if (gmtime_r(&now, &tm) == NULL ||
	    strftime(day, sizeof(day), "%Y-%m-%d", &tm) == 0) {
		errno = EOVERFLOW;
		rc = PO_EIO;
		goto out;
	}
	rc = receipt_move(from, state_dir, day, name);
out:
	mem_free(from);
	return rc;
}

int
receipt_clean(const char *state_dir, int64_t retention_s)
{
	char *top = mem_printf("%s/receipts", state_dir), *path = NULL;
	struct dirent *entry = NULL;
	DIR *dir = NULL;
	time_t end = 0, now = time(NULL);
	int rc = 0;

	if (top == NULL)
		return PO_ENOMEM;
	if ((dir = opendir(top)) == NULL) {
		rc = errno == ENOENT ? 0 : PO_EIO;
		goto out;
	}
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (receipt_parse_day(entry->d_name, &end) < 0 ||
		    now - retention_s < end)
			continue;
		mem_free(path);
		path = receipt_path_folder(state_dir, entry->d_name);
		rc = path == NULL ? PO_ENOMEM : receipt_remove_day(path);
		if (rc < 0)
			goto out;
	}
	if (errno != 0)
		rc = PO_EIO;
out:
	if (dir != NULL)
		(void)closedir(dir);	/* read-only */
	mem_free(path);
	mem_free(top);
	return rc;
}

int
receipt_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	while (fcntl(fd, F_OFD_SETLK, &lock) == -1) {
		if (errno == EAGAIN || errno == EACCES)
			return PO_EBUSY;
		if (errno != EINTR)
			return PO_EIO;
	}
	return 0;
}

int
receipt_check_lock(const char *path, int *ret_fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct stat st = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int rc = 0;

	if (fd == -1) {
		if (errno == ENOENT)
			return PO_ENOENT;
		return errno == ELOOP ? PO_EINVAL : PO_EIO;
	}
	if (fstat(fd, &st) == -1)
		rc = PO_EIO;
	else if (!S_ISREG(st.st_mode))
		rc = PO_EINVAL;
	else if (fcntl(fd, F_OFD_GETLK, &lock) == -1)
		rc = PO_EIO;
	else if (lock.l_type != F_UNLCK)
		rc = PO_EBUSY;
	if (rc < 0)
		fd_close(&fd);
	else
		*ret_fd = fd;
	return rc;
}

/* uid -1: ours.  The new name is on the disk when this returns 0. */
static int
receipt_make_folder(const char *parent, const char *path, uid_t uid,
    gid_t gid)
{
	struct stat st = { 0 };

	if (mkdir(path, RECEIPT_MODE) == 0) {
		if (fd_sync_dir(parent) < 0)
			return PO_EIO;
	} else if (errno != EEXIST)
		return PO_EIO;
	if (lstat(path, &st) == -1)
		return PO_EIO;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return PO_EIO;
	}
	if (uid != (uid_t)-1 && (st.st_uid != uid || st.st_gid != gid) &&
	    lchown(path, uid, gid) == -1)
		return PO_EIO;
	return 0;
}

/*
 * The target folder is made when it is missing, and belongs to whom the
 * folder above belongs: root and a dropped worker both move files there.
 */
static int
receipt_move(const char *from, const char *state_dir, const char *folder,
    const char *name)
{
	char *top = mem_printf("%s/receipts", state_dir);
	char *path = receipt_path_folder(state_dir, folder);
	char *to = mem_printf("%s/receipts/%s/%s", state_dir, folder, name);
	struct stat st = { 0 };
	bool is_root = geteuid() == 0;
	int rc = 0;

	if (top == NULL || path == NULL || to == NULL) {
		rc = PO_ENOMEM;
		goto out;
	}
	if (rename(from, to) == 0)
		goto out;
	rc = PO_EIO;
	if (errno != ENOENT)
		goto out;
	if (access(from, F_OK) == -1) {
		rc = errno == ENOENT ? PO_ENOENT : PO_EIO;
		goto out;
	}
	if (stat(top, &st) == -1 || receipt_make_folder(top, path,
	    is_root ? st.st_uid : (uid_t)-1,
	    is_root ? st.st_gid : (gid_t)-1) < 0)
		goto out;
	if (rename(from, to) == 0)
		rc = 0;
	else if (errno == ENOENT)
		rc = PO_ENOENT;
out:
	mem_free(to);
	mem_free(path);
	mem_free(top);
	return rc;
}

static int
receipt_remove_day(const char *path)
{
	struct dirent *entry = NULL;
	DIR *dir = opendir(path);
	int rc = 0;

	if (dir == NULL)
		return PO_EIO;
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(dirfd(dir), entry->d_name, 0) == -1 &&
		    errno != ENOENT) {
			rc = PO_EIO;
			goto out;
		}
	}
	if (errno != 0 || rmdir(path) == -1)
		rc = PO_EIO;
out:
	(void)closedir(dir);	/* read-only */
	return rc;
}
