/*
 * fuzz_conf.c - any payonce.conf: loaded whole, or refused with words that
 * name the file.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "config/conf.h"
#include "tests/fuzz/fuzz.h"

const char *const fuzz_name = "fuzz_conf";

enum { OUT_LOADED, OUT_KIND, OUT_PROVIDER, OUT_REFUSED };

const struct fuzz_outcome fuzz_outcomes[] = {
	[OUT_LOADED] = { "loaded", true },
	[OUT_KIND] = { "with a kind", true },
	[OUT_PROVIDER] = { "with a provider", true },
	[OUT_REFUSED] = { "refused", true },
	{ NULL, false }
};

#define FUZZ_FD	100	/* known, so that it has a path */

#define MAIN	"worker_path=/bin/true\nproviders={}\n"

void
fuzz_seed(void)
{
	static const char *const seeds[] = {
		"lease = 2 # x\nidle=3\n",
		"kind k { command = {\"/bin/true\", 'a\\'b'} timeout=3 }",
		"provider p { base = 'https://a' header={'A: {key}'} "
		    "submit { url='/x' accept={200} id={'/id'} body='\"{input}"
		    "\"' } poll { url = {'/{id}'} status={'/s'} done={d} } }\n"
		    "kind k { provider = p model = \"${HOME}\" }",
		"kind k { }\nkind k { }", "lese = 3",
		"provider p { result { hop { url = x } hop { } } }",
	};
	size_t i = 0;

	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		fuzz_add(seeds[i], strlen(seeds[i]));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char path[] = "fuzz_conf.XXXXXX";
	static int fd = -1;
	struct conf *conf = NULL;
	char *error = NULL;
	int rc = 0;

	/* a pattern that was made by chance might open anything */
	if (memmem(data, len, "providers", 9) != NULL)
		return 0;
	/* one file without a name for all runs */
	if (fd == -1) {
		if ((fd = mkstemp(path)) == -1 || unlink(path) == -1 ||
		    dup2(fd, FUZZ_FD) == -1)
			fatal("%s", path);
	}
	if (ftruncate(fd, 0) == -1 || lseek(fd, 0, SEEK_SET) == -1 ||
	    fd_write_all(fd, MAIN, strlen(MAIN)) < 0 ||
	    fd_write_all(fd, data, len) < 0)
		fatal("%s", path);
	rc = conf_load("/proc/self/fd/100", &conf, &error);
	fuzz_expect(rc == 0 || rc == PO_EINVAL, "one of two ends");
	fuzz_expect((rc == 0) == (conf != NULL), "a whole configuration");
	fuzz_expect((rc < 0) == (error != NULL && error[0] != '\0'), "words");
	fuzz_count(rc == 0 ? OUT_LOADED : OUT_REFUSED);
	if (rc == 0 && conf->nkinds > 0)
		fuzz_count(OUT_KIND);
	if (rc == 0 && conf->nproviders > 0)
		fuzz_count(OUT_PROVIDER);
	mem_free(error);
	conf_free(&conf);
	return 0;
}
