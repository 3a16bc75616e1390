/*
 * fuzz.c - seeds, outcomes and crashes of a fuzz target; see fuzz.h.
 *
 * Owns the pool of seeds and the counts.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define FUZZ_SEEDS_MAX	4096

struct fuzz_input {
	uint8_t	*data;
	size_t	 len;
};

static struct fuzz_input	fuzz_seeds[FUZZ_SEEDS_MAX];
static size_t			fuzz_nseeds;
static unsigned long		fuzz_counts[FUZZ_OUTCOMES_MAX];
static bool			fuzz_has_new;
static struct fuzz_input	fuzz_now;

/* of the sanitizers' runtime, when it is there */
void	__sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

void
fuzz_add(const void *data, size_t len)
{
	struct fuzz_input *seed = &fuzz_seeds[fuzz_nseeds];

	if (fuzz_nseeds == FUZZ_SEEDS_MAX || len > FUZZ_INPUT_MAX)
		return;
	if ((seed->data = malloc(len + 1)) == NULL)
		fatalx("fuzz: no memory");
	memcpy(seed->data, data, len);
	seed->len = len;
	fuzz_nseeds++;
}

void
fuzz_count(size_t outcome)
{
	fuzz_expect(outcome < FUZZ_OUTCOMES_MAX, "outcome is in the list");
	if (fuzz_counts[outcome]++ == 0)
		fuzz_has_new = true;
}

void
fuzz_expect(bool is_true, const char *what)
{
	if (!is_true)
		panic("%s: not true: %s", fuzz_name, what);
}

bool
fuzz_is_new(void)
{
	bool ret = fuzz_has_new;

	fuzz_has_new = false;
	return ret;
}

int
fuzz_report(unsigned long executions)
{
	size_t i = 0, seen = 0;
	int missing = 0;

	for (i = 0; fuzz_outcomes[i].name != NULL; i++) {
		seen += fuzz_counts[i] > 0;
		if (fuzz_counts[i] == 0 && fuzz_outcomes[i].is_needed) {
			printf("%s: never reached: %s\n", fuzz_name,
			    fuzz_outcomes[i].name);
			missing++;
		}
	}
	printf("%s: ", fuzz_name);
	if (executions > 0)	/* libFuzzer counts for itself */
		printf("%lu executions, ", executions);
	printf("%zu of %zu outcomes:", seen, i);
	for (i = 0; fuzz_outcomes[i].name != NULL; i++)
		if (fuzz_counts[i] > 0)
			printf(" %s=%lu", fuzz_outcomes[i].name,
			    fuzz_counts[i]);
	printf("\n");
	if (fflush(stdout) == EOF)
		missing++;
	return missing;
}

size_t
fuzz_seed_count(void)
{
	return fuzz_nseeds;
}

const uint8_t *
fuzz_seed_at(size_t i, size_t *ret_len)
{
	*ret_len = fuzz_seeds[i].len;
	return fuzz_seeds[i].data;
}

/* The target gets memory that ends where the input ends. */
void
fuzz_run(const uint8_t *data, size_t len)
{
	if ((fuzz_now.data = malloc(len > 0 ? len : 1)) == NULL)
		fatalx("fuzz: no memory");
	memcpy(fuzz_now.data, data, len);
	fuzz_now.len = len;
	(void)LLVMFuzzerTestOneInput(fuzz_now.data, len);
	free(fuzz_now.data);
	fuzz_now = (struct fuzz_input){ 0 };
}

/* Only calls that a signal handler may make. */
static void
fuzz_save_crash(void)
{
	char path[256] = "";
	int fd = -1;

	(void)strlcpy(path, fuzz_name, sizeof(path));
	(void)strlcat(path, ".crash", sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1 || write(fd, fuzz_now.data, fuzz_now.len) == -1)
		return;
	(void)close(fd);
}

static void
fuzz_on_signal(int signo)
{
	fuzz_save_crash();
	(void)signal(signo, SIG_DFL);
	(void)raise(signo);
}

void
fuzz_catch_crash(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
	    SIGABRT };
	size_t i = 0;

	if (__sanitizer_set_death_callback != NULL) {
		__sanitizer_set_death_callback(fuzz_save_crash);
		return;
	}
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (signal(signals[i], fuzz_on_signal) == SIG_ERR)
			fatal("fuzz: signal");
}
