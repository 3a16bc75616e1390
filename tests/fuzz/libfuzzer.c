/*
 * libfuzzer.c - the same targets under libFuzzer (--enable-fuzz).
 *
 * Without arguments, as make check calls it, a target runs FUZZ_SECONDS on
 * its own seeds in a folder <name>.corpus; with arguments libFuzzer's apply.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/fdutil.h"
#include "common/log.h"
#include "tests/fuzz/fuzz.h"

int	LLVMFuzzerInitialize(int *, char ***);

static void
libfuzzer_write_seeds(const char *folder)
{
	char path[256];
	const uint8_t *seed = NULL;
	size_t i = 0, len = 0;
	int fd = -1;

	if (mkdir(folder, 0700) == -1 && errno != EEXIST)
		fatal("%s", folder);
	for (i = 0; i < fuzz_seed_count(); i++) {
		seed = fuzz_seed_at(i, &len);
		(void)snprintf(path, sizeof(path), "%s/seed-%zu", folder, i);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
		if (fd == -1 || fd_write_all(fd, seed, len) < 0)
			fatal("%s", path);
		fd_close(&fd);
	}
}

static void
libfuzzer_report(void)
{
	if (fuzz_report(0) > 0)
		_exit(EXIT_FAILURE);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char folder[256], limit[64];
	static char stats[] = "-print_final_stats=1";
	static char *ours[5];
	const char *seconds = getenv("FUZZ_SECONDS");

	if (*argc != 1)
		return 0;
	fuzz_seed();
	(void)snprintf(folder, sizeof(folder), "%s.corpus", fuzz_name);
	(void)snprintf(limit, sizeof(limit), "-max_total_time=%s",
	    seconds != NULL ? seconds : "3");
	libfuzzer_write_seeds(folder);
	ours[0] = (*argv)[0];
	ours[1] = limit;
	ours[2] = stats;
	ours[3] = folder;
	*argc = 4;
	*argv = ours;
	if (atexit(libfuzzer_report) != 0)
		fatalx("atexit");
	return 0;
}
