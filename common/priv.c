/*
 * priv.c - giving root away for good; see priv.h.
 *
 * Order: groups while still root, then group id, then user id.  Must run
 * before the process reads anything from outside.
 */
#include "common/priv.h"

#include <sys/types.h>

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "common/err.h"

static int	priv_check_dropped(uid_t, gid_t);

int
priv_drop(const char *user)
{
	const struct passwd *pw = NULL;
	uid_t uid = 0;
	gid_t gid = 0;

	if (user == NULL || *user == '\0' || geteuid() != 0)
		return 0;
	errno = 0;
	if ((pw = getpwnam(user)) == NULL)
		return errno != 0 ? PO_EIO : PO_ENOENT;
	uid = pw->pw_uid;
	gid = pw->pw_gid;
	if (initgroups(user, gid) == -1 || setresgid(gid, gid, gid) == -1 ||
	    setresuid(uid, uid, uid) == -1)
		return PO_EIO;
	return priv_check_dropped(uid, gid);
}

static int
priv_check_dropped(uid_t uid, gid_t gid)
{
	uid_t ruid = 0, euid = 0, suid = 0;
	gid_t rgid = 0, egid = 0, sgid = 0;

	if (getresuid(&ruid, &euid, &suid) == -1 ||
	    getresgid(&rgid, &egid, &sgid) == -1)
		return PO_EIO;
	if (ruid != uid || euid != uid || suid != uid || rgid != gid ||
	    egid != gid || sgid != gid) {
		errno = EPERM;
		return PO_EIO;
	}
	/* A configuration may name root; then there is nothing to prove. */
	if (uid != 0 && (setuid(0) == 0 || seteuid(0) == 0)) {
		errno = EPERM;
		return PO_EIO;
	}
	return 0;
}
