/*
 * driver.c - a small fuzzer for where libFuzzer is not: runs every seed, then
 * mutations of seeds for FUZZ_SECONDS, from a generator with a known start
 * (FUZZ_SEED).  An input with a new outcome becomes a seed.
 *
 *	fuzz_x [FILE...]	files are seeds too: a crash is replayed by it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/mono.h"
#include "common/num.h"
#include "tests/fuzz/fuzz.h"

#define DRIVER_SECONDS	3
#define DRIVER_STEPS	8	/* mutations on top of each other, at most */

struct driver_input {
	uint8_t	data[FUZZ_INPUT_MAX];
	size_t	len;
};

static uint64_t			driver_state;
static struct driver_input	driver_in;

static uint64_t
driver_env(const char *name, uint64_t max, uint64_t preset)
{
	const char *text = getenv(name);
	uint64_t ret = preset;

	if (text != NULL && num_parse_u64(text, max, &ret) < 0)
		fatalx("%s: a number up to %llu expected, found \"%s\"", name,
		    (unsigned long long)max, text);
	return ret;
}

/* xorshift64*: fast, and the same everywhere */
static uint64_t
driver_random(void)
{
	driver_state ^= driver_state >> 12;
	driver_state ^= driver_state << 25;
	driver_state ^= driver_state >> 27;
	return driver_state * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t
driver_below(size_t n)
{
	return n == 0 ? 0 : (size_t)(driver_random() % n);
}

/* driver_resize() makes n bytes at at into m; the new ones are undefined. */
static bool
driver_resize(size_t at, size_t n, size_t m)
{
	struct driver_input *in = &driver_in;

	if (in->len - n + m > sizeof(in->data))
		return false;
	memmove(in->data + at + m, in->data + at + n, in->len - at - n);
	in->len = in->len - n + m;
	return true;
}

static void
driver_put_number(void)
{
	static const uint64_t numbers[] = { 0, 1, 0x7f, 0x80, 0xff, 0x100,
	    0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
	    0xffffffff, INT64_MAX, UINT64_MAX };
	uint64_t value = numbers[driver_below(sizeof(numbers) /
	    sizeof(numbers[0]))] + driver_below(3) - 1;
	size_t width = (size_t)1 << driver_below(4), i = 0;
	size_t at = driver_below(driver_in.len);

	for (i = 0; i < width && at + i < driver_in.len; i++)
		driver_in.data[at + i] = (uint8_t)(value >>
		    (8 * (width - 1 - i)));
}

/* A piece of another seed, over or into this one. */
static void
driver_splice(void)
{
	size_t len = 0, from = 0, n = 0, at = driver_below(driver_in.len + 1);
	const uint8_t *other = fuzz_seed_at(driver_below(fuzz_seed_count()),
	    &len);

	from = driver_below(len);
	n = driver_below(len - from + 1);
	if (driver_below(2) == 0) {
		if (n > driver_in.len - at)
			n = driver_in.len - at;
	} else if (!driver_resize(at, 0, n))
		return;
	memcpy(driver_in.data + at, other + from, n);
}

static void
driver_mutate(void)
{
	struct driver_input *in = &driver_in;
	size_t at = driver_below(in->len), n = 0, i = 0;

	switch (in->len == 0 ? 3 : driver_below(8)) {
	case 0:
		in->data[at] ^= (uint8_t)(1u << driver_below(8));
		break;
	case 1:
		in->data[at] = (uint8_t)driver_random();
		break;
	case 2:		/* cut out */
		n = driver_below(in->len - at) + 1;
		(void)driver_resize(at, n, 0);
		break;
	case 3:		/* put noise in */
		n = driver_below(16) + 1;
		if (!driver_resize(at, 0, n))
			break;
		for (i = 0; i < n; i++)
			in->data[at + i] = (uint8_t)driver_random();
		break;
	case 4:
		driver_put_number();
		break;
	case 5:
		driver_splice();
		break;
	case 6:		/* cut off */
		in->len = at;
		break;
	case 7:		/* say it twice */
		n = driver_below(in->len - at) + 1;
		if (n <= 4096 && driver_resize(at, 0, n))
			memmove(in->data + at, in->data + at + n, n);
		break;
	}
}

static void
driver_take_file(const char *path)
{
	char *text = NULL;
	size_t len = 0;

	if (fd_read_file(path, FUZZ_INPUT_MAX, &text, &len) < 0)
		fatal("%s: cannot read it, or over %d bytes", path,
		    FUZZ_INPUT_MAX);
	fuzz_add(text, len);
	mem_free(text);
}

static unsigned long
driver_fuzz(struct mono deadline)
{
	const uint8_t *seed = NULL;
	unsigned long done = 0;
	size_t i = 0, steps = 0;

	while (done % 32 != 0 || mono_left_ms(deadline) > 0) {
		seed = fuzz_seed_at(driver_below(fuzz_seed_count()),
		    &driver_in.len);
		memcpy(driver_in.data, seed, driver_in.len);
		steps = driver_below(DRIVER_STEPS) + 1;
		for (i = 0; i < steps; i++)
			driver_mutate();
		fuzz_run(driver_in.data, driver_in.len);
		done++;
		if (fuzz_is_new())
			fuzz_add(driver_in.data, driver_in.len);
	}
	return done;
}

int
main(int argc, char **argv)
{
	uint64_t seconds = driver_env("FUZZ_SECONDS", 86400, DRIVER_SECONDS);
	const uint8_t *seed = NULL;
	unsigned long done = 0;
	size_t i = 0, count = 0, len = 0;
	int missing = 0, n = 0;

	driver_state = driver_env("FUZZ_SEED", UINT64_MAX, 4711);
	if (driver_state == 0)
		driver_state = 1;	/* xorshift stays at 0 */
	fuzz_catch_crash();
	fuzz_seed();
	for (n = 1; n < argc; n++)
		driver_take_file(argv[n]);
	count = fuzz_seed_count();
	if (count == 0)
		fatalx("%s: a target needs a seed", fuzz_name);
	for (i = 0; i < count; i++) {
		seed = fuzz_seed_at(i, &len);
		fuzz_run(seed, len);
		done++;
	}
	(void)fuzz_is_new();
	done += driver_fuzz(mono_add_ms(mono_now(), (int64_t)seconds * 1000));
	missing = fuzz_report(done);
	return missing == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
