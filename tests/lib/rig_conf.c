/*
 * rig_conf.c - the configuration of a rig's supervisors: the shipped provider
 * files with single keys overridden, so that the mock is the provider.
 */
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rig.h"

#define DEFAULT_KINDS							\
	"kind image { provider = fal model = \"fal-ai/flux/dev\" "	\
	"concurrency = 4 }\n"						\
	"kind clip { provider = fal model = \"fal-ai/veo3\" "		\
	"concurrency = 3 }\n"						\
	"kind pred { provider = replicate model = \"acme/flux\" "	\
	"concurrency = 3 }\n"						\
	"kind render { command = {\"%s/tests/integration/job\"} "	\
	"concurrency = 2 timeout = 60 }\n"

#define PROVIDER							\
	"provider %s {\n"						\
	"  base = \"%s\"\n"						\
	"  header = {'Authorization: %s {key}', "			\
	"'X-Payonce-Task: {task}.{attempt}'}\n"				\
	"  key_hosts = {\"127.0.0.1:%d\"}\n"				\
	"  hosts = {\"127.0.0.1:%d\"}\n"				\
	"  poll { %s }\n"						\
	"  %s\n"							\
	"  cost { unit_price = \"1\" }\n"				\
	"}\n"
#define QUICK	"interval = 0.02 interval_max = 0.1"

static char	*conf_base(struct rig *, const char *path);
static char	*conf_provider(struct rig *, const char *name,
		    const char *base, const char *scheme, const char *poll,
		    const char *more);

void
rig_write_conf(struct rig *r, int host)
{
	struct rig_host *h = &r->hosts[host];
	char *text;

	text = rig_printf(
	    "database = \"%s\"\n"
	    "state_dir = \"%s\"\n"
	    "run_dir = \"%s\"\n"
	    "lease = %d\n"
	    "stop_timeout = %d\n"
	    "secrets_dir = \"%s/secrets\"\n"
	    "worker_path = \"%s\"\n"
	    "%s"
	    "providers = {\"%s/etc/providers.d/*.conf\"}\n"
	    "%s%s%s",
	    r->database != NULL ? r->database : r->conninfo, h->state_dir,
	    h->run_dir, r->lease_s, r->stop_timeout_s, r->dir,
	    r->worker != NULL ? r->worker :
	    rig_printf("%s/payonce-worker", rig_builddir()),
	    geteuid() == 0 ? "user = \"nobody\"\n" : "",
	    rig_srcdir(),
	    conf_provider(r, "fal", r->fal_base != NULL ? r->fal_base :
	    conf_base(r, "fal"), "Key", r->fal_poll, r->fal_more),
	    conf_provider(r, "replicate", conf_base(r, "replicate/v1"),
	    "Bearer", NULL, NULL),
	    r->kinds != NULL ? r->kinds :
	    rig_printf(DEFAULT_KINDS, rig_srcdir()));
	rig_write_file(r, h->conf, text, 0644);
}

void
rig_write_file(struct rig *r, const char *path, const char *text, mode_t mode)
{
	char *tmp = rig_printf("%s.new", path);
	size_t len = strlen(text), off;
	ssize_t n;
	int fd;

	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd == -1)
		RIG_FAIL(r, "%s: %s", tmp, strerror(errno));
	for (off = 0; off < len; off += (size_t)n) {
		n = write(fd, text + off, len - off);
		if (n <= 0)
			RIG_FAIL(r, "%s: %s", tmp, strerror(errno));
	}
	if (fchmod(fd, mode) == -1 || close(fd) == -1 ||
	    rename(tmp, path) == -1)
		RIG_FAIL(r, "%s: %s", path, strerror(errno));
}

static char *
conf_base(struct rig *r, const char *path)
{
	return rig_printf("http://127.0.0.1:%d/%s", r->mock_port, path);
}

static char *
conf_provider(struct rig *r, const char *name, const char *base,
    const char *scheme, const char *poll, const char *more)
{
	return rig_printf(PROVIDER, name, base, scheme,
	    r->mock_port, r->mock_port, poll != NULL ? poll : QUICK,
	    more != NULL ? more : "");
}
