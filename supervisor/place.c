/*
 * place.c - what must be on the disk before anything starts: the lock, the
 * folders, and who we are.
 *
 * Runs once, at start; a failure ends the process with what to do.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "supervisor/supervisor.h"

#define ID_MAX	256

static char *
path_of(const struct super *super, const char *name)
{
	char *path = mem_printf("%s%s%s", super->conf->state_dir,
	    *name != '\0' ? "/" : "", name);

	if (path == NULL)
		fatalx("no memory to start");
	return path;
}

static void
owner_ids(const struct super *super, uid_t *ret_uid, gid_t *ret_gid)
{
	const struct passwd *pw = NULL;

	*ret_uid = (uid_t)-1;
	*ret_gid = (gid_t)-1;
	if (geteuid() != 0 || super->conf->user == NULL)
		return;
	errno = 0;
	pw = getpwnam(super->conf->user);
	if (pw == NULL)
		fatalx("user \"%s\" of the configuration does not exist; make "
		    "it (adduser --system %s) or change \"user\"",
		    super->conf->user, super->conf->user);
	*ret_uid = pw->pw_uid;
	*ret_gid = pw->pw_gid;
}

/*
 * The workers write receipts and artifacts, so these belong to their user;
 * state_dir itself stays ours, they only pass through it.
 */
void
place_make(struct super *super)
{
	static const char *const theirs[] = { "receipts", "receipts/open",
	    "receipts/damaged", "artifacts", "work" };
	uid_t uid = 0;
	gid_t gid = 0;
	size_t i = 0;
	char *path = path_of(super, "");

	owner_ids(super, &uid, &gid);
	if (fd_mkdir_p(path, 0755) != 0)
		fatal("cannot make %s; make it, or set \"state_dir\"", path);
	mem_free(path);
	for (i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		path = path_of(super, theirs[i]);
		if (fd_mkdir_p(path, 0750) != 0)
			fatal("cannot make %s", path);
		if (uid != (uid_t)-1 && chown(path, uid, gid) != 0)
			fatal("cannot give %s to user %s", path,
			    super->conf->user);
		mem_free(path);
	}
}

static void
refuse_second(const char *path, int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fatalx("another payonced (pid %s) works with this state directory: %s "
	    "is locked; stop it, or use another state_dir",
	    text[0] != '\0' ? text : "unknown", path);
}

/* Where an init script looks; the lock is what counts. */
static void
write_run_file(struct super *super, const char *text)
{
	char *path = mem_printf("%s/payonced.pid", super->conf->run_dir);
	int fd = -1;

	if (path == NULL)
		fatalx("no memory to start");
	if (fd_mkdir_p(super->conf->run_dir, 0755) == 0)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0644);
	if (fd == -1 || fd_write_all(fd, text, strlen(text)) != 0)
		log_warn("cannot write %s", path);
	fd_close(&fd);
	mem_free(path);
}

void
place_leave(struct super *super)
{
	char *path = mem_printf("%s/payonced.pid", super->conf->run_dir);

	if (path != NULL)
		(void)unlink(path);	/* a stale one says nothing */
	mem_free(path);
}

/*
 * After daemon() the child holds the same lock by the same open file: it is
 * called again for the number.
 *
 * The lock, not the number in the file, says that somebody runs: it ends
 * with its process, however that dies.
 */
void
place_lock(struct super *super)
{
	char *path = path_of(super, "payonced.pid");
	char text[32];
	int n = 0, err = 0;

	if (super->lock_fd == -1)
		super->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC,
		    0644);
	if (super->lock_fd == -1)
		fatal("cannot open %s", path);
	err = fd_lock(super->lock_fd);
	if (err == PO_EBUSY)
		refuse_second(path, super->lock_fd);
	if (err != 0)
		fatal("cannot lock %s", path);
	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(super->lock_fd, 0) != 0 ||
	    pwrite(super->lock_fd, text, (size_t)n, 0) != n)
		fatal("cannot write %s", path);
	write_run_file(super, text);
	mem_free(path);
}

static char *
host_name(void)
{
	char name[256];
	char *copy = NULL;
	size_t i = 0;

	if (gethostname(name, sizeof(name)) != 0)
		fatal("cannot tell the name of this host");
	name[sizeof(name) - 1] = '\0';
	for (i = 0; name[i] != '\0'; i++)
		if ((unsigned char)name[i] <= ' ' || name[i] == '/' ||
		    (unsigned char)name[i] > '~')
			name[i] = '_';
	copy = mem_strdup(name[0] != '\0' ? name : "localhost");
	if (copy == NULL)
		fatalx("no memory to start");
	return copy;
}

static char *
make_id(const struct super *super, const char *path)
{
	char *id = mem_printf("%s/%08x\n", super->hostname,
	    (unsigned int)arc4random());
	char *temporary = mem_printf("%s.new", path);
	int fd = -1;

	if (id == NULL || temporary == NULL)
		fatalx("no memory to start");
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd == -1 || fd_write_all(fd, id, strlen(id)) != 0 ||
	    fsync(fd) != 0 || close(fd) != 0 || rename(temporary, path) != 0 ||
	    fd_sync_dir(super->conf->state_dir) != 0)
		fatal("cannot write %s", path);
	mem_free(temporary);
	return id;
}

/*
 * Our name in the database, made once: a restarted supervisor finds its own
 * leases by it, and two state directories on one host are two owners.
 */
void
place_owner(struct super *super)
{
	char *path = path_of(super, "host_id"), *id = NULL;
	size_t len = 0;

	super->hostname = host_name();
	if (fd_read_file(path, ID_MAX, &id, &len) != 0) {
		if (errno != ENOENT)
			fatal("cannot read %s", path);
		id = make_id(super, path);
	}
	id[strcspn(id, "\r\n")] = '\0';
	if (id[0] == '\0')
		fatalx("%s is empty; remove it to get a new identity (leases "
		    "of the old one then run out by themselves)", path);
	super->owner = id;
	mem_free(path);
}
