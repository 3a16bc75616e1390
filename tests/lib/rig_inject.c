/*
 * rig_inject.c - arming fault points (common/inject.h) and waiting for them.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "common/num.h"
#include "tests/lib/rig.h"

static pid_t	inject_find_taken(struct rig *, const char *point);

bool
rig_has_inject(void)
{
#ifdef PAYONCE_INJECT
	return true;
#else
	return false;
#endif
}

void
rig_inject(struct rig *r, const char *point, const char *action)
{
	rig_write_file(r, rig_printf("%s/%s", r->inject_dir, point), action,
	    0666);
}

pid_t
rig_wait_taken(struct rig *r, const char *point, int timeout_ms)
{
	int64_t end = rig_now_ms() + timeout_ms;
	pid_t pid;

	for (;;) {
		pid = inject_find_taken(r, point);
		if (pid != 0)
			return pid;
		if (rig_now_ms() >= end)
			RIG_FAIL(r, "nobody passed %s within %d ms", point,
			    timeout_ms);
		rig_pause_ms(5);
	}
}

static pid_t
inject_find_taken(struct rig *r, const char *point)
{
	struct dirent *de;
	DIR *dir;
	size_t len = strlen(point);
	int64_t pid = 0;

	dir = opendir(r->inject_dir);
	if (dir == NULL)
		RIG_FAIL(r, "%s cannot be read", r->inject_dir);
	while (pid == 0 && (de = readdir(dir)) != NULL) {
		if (strncmp(de->d_name, point, len) != 0 ||
		    strncmp(de->d_name + len, ".taken.", 7) != 0)
			continue;
		if (num_parse_i64(de->d_name + len + 7, 1, INT32_MAX,
		    &pid) != 0)
			pid = 0;
	}
	(void)closedir(dir);
	return (pid_t)pid;
}
