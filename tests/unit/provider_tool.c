/*
 * provider_tool.c - see provider_tool.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "tests/unit/provider_tool.h"

int
tool_load(const char *text, struct conf **ret, char **ret_error)
{
	char path[] = "/tmp/payonce-conf-XXXXXX";
	int fd = mkstemp(path), rc = 0;

	if (fd == -1 || fd_write_all(fd, text, strlen(text)) < 0)
		fatal("%s", path);
	fd_close(&fd);
	rc = conf_load(path, ret, ret_error);
	if (unlink(path) == -1)
		fatal("%s", path);
	return rc;
}

struct conf *
tool_conf(const char *more)
{
	const char *dir = getenv("srcdir");
	struct conf *conf = NULL;
	char *text = NULL, *error = NULL;
	char cwd[4096] = "";

	if (dir == NULL)
		dir = ".";
	if (dir[0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		fatal("getcwd");
	text = mem_printf("worker_path = /bin/true\n"
	    "providers = {'%s/%s/etc/providers.d/*.conf'}\n%s", cwd, dir,
	    more);
	if (text == NULL)
		fatal("memory");
	if (tool_load(text, &conf, &error) < 0)
		fatalx("%s", error != NULL ? error : "no memory");
	mem_free(text);
	return conf;
}

const struct provider *
tool_provider(const struct conf *conf, const char *name)
{
	const struct conf_provider *p = conf_find_provider(conf, name);

	if (p == NULL)
		fatalx("no provider %s", name);
	return p->provider;
}

bool
tool_fault(const char *text, const char *want)
{
	struct conf *conf = NULL;
	char *error = NULL;
	bool has = false;

	if (tool_load(text, &conf, &error) == 0) {
		conf_free(&conf);
		return false;
	}
	has = error != NULL && strstr(error, want) != NULL;
	if (!has)
		log_warnx("expected: %s\nfound: %s", want,
		    error != NULL ? error : "nothing");
	mem_free(error);
	return has;
}
