/*
 * sandbox_place.c - where the programs of the sandbox are.
 *
 * Installed, they lie around this program (bin/, sbin/, libexec/payonce/);
 * in a build tree, beside it.  PAYONCE_LIBEXEC names a folder to look in
 * first.  PostgreSQL's own programs are not on Debian's PATH.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/sandbox.h"
#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/mem.h"

enum { PATH_CAP = 4096 };

/* The folder of this program; caller frees. */
static char *
own_folder(void)
{
	char	 path[PATH_CAP], *slash;
	ssize_t	 n;

	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n <= 0)
		return NULL;
	path[n] = '\0';
	if ((slash = strrchr(path, '/')) == NULL)
		return NULL;
	*slash = '\0';
	return mem_strdup(path);
}

/* The first of the folders that holds name; caller frees. */
static char *
find_in(const char *const *folders, const char *name, int mode)
{
	char	 path[PATH_CAP], *real, *ret;
	size_t	 i;
	int	 n;

	for (i = 0; folders[i] != NULL; i++) {
		n = snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		if (n <= 0 || (size_t)n >= sizeof(path) ||
		    access(path, mode) != 0)
			continue;
		if ((real = realpath(path, NULL)) == NULL)
			continue;
		ret = mem_strdup(real);
		free(real);
		return ret;
	}
	return NULL;
}

/* The source folder that a build tree notes beside its programs, or NULL. */
static char *
source_folder(const char *own)
{
	char	*path = mem_printf("%s/uninstalled.dir", own), *text = NULL;
	size_t	 len;

	if (path != NULL && fd_read_file(path, PATH_CAP, &text, &len) == 0)
		text[strcspn(text, "\n")] = '\0';
	mem_free(path);
	return text;
}

/* The newest PostgreSQL of the Debian kind, else the PATH's. */
static char *
find_postgres(void)
{
	const char	*env = getenv("PAYONCE_PG_BIN");
	char		*path, *copy, *folder, *next, *ret = NULL;
	glob_t		 g;
	size_t		 i;

	if (env != NULL)
		return mem_strdup(env);
	if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &g) == 0) {
		for (i = g.gl_pathc; i > 0 && ret == NULL; i--)
			if (access(g.gl_pathv[i - 1], X_OK) == 0)
				ret = mem_strndup(g.gl_pathv[i - 1],
				    strlen(g.gl_pathv[i - 1]) -
				    strlen("/initdb"));
		globfree(&g);
	}
	path = getenv("PATH");
	if (ret != NULL || path == NULL || (copy = mem_strdup(path)) == NULL)
		return ret;
	for (next = copy; ret == NULL && (folder = strsep(&next, ":")) !=
	    NULL;) {
		const char *const only[] = { folder, NULL };
		char *found = find_in(only, "initdb", X_OK);

		if (found != NULL)
			ret = mem_strdup(folder);
		mem_free(found);
	}
	mem_free(copy);
	return ret;
}

static int
missing(const struct cli *cli, const char *what, const char *next)
{
	cli_fail(cli, next, "%s was not found, or this user may not run it",
	    what);
	return EXIT_CODE_FAILED;
}

static int
place_check(const struct cli *cli, const struct place *p)
{
	static const char	 install[] = "`make install`, or call payonce "
	    "from its build folder, or name the folder in PAYONCE_LIBEXEC";

	if (p->command == NULL)
		return missing(cli, "memory", NULL);
	if (p->payonced == NULL)
		return missing(cli, "payonced", install);
	if (p->worker == NULL)
		return missing(cli, "payonce-worker", install);
	if (p->mock == NULL)
		return missing(cli, "payonce-mock", install);
	if (p->providers == NULL)
		return missing(cli, "providers.d/fal.conf", install);
	if (p->pg_bin == NULL)
		return missing(cli, "initdb of PostgreSQL",
		    "apt-get install postgresql, or name its folder in "
		    "PAYONCE_PG_BIN");
	return 0;
}

static char *
parent_of(char *path)
{
	char	*slash = path == NULL ? NULL : strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
	return path;
}

int
place_find(const struct cli *cli, struct place *ret)
{
	const char	*folders[12], *env = getenv("PAYONCE_LIBEXEC");
	char		*own = own_folder(), *source = NULL, *up = NULL;
	char		*mocks = NULL, *libexec = NULL, *sbin = NULL;
	char		*etc = NULL, *share = NULL, *source_etc = NULL;
	size_t		 n = 0;

	if (own == NULL)
		return missing(cli, "this program's own folder", NULL);
	source = source_folder(own);
	up = mem_printf("%s/..", own);
	mocks = mem_printf("%s/tests/provider", own);
	libexec = mem_printf("%s/../libexec/payonce", own);
	sbin = mem_printf("%s/../sbin", own);
	etc = mem_printf("%s/../etc/payonce", own);
	share = mem_printf("%s/../share/payonce", own);
	source_etc = mem_printf("%s/etc", source != NULL ? source : own);
	/* a build tree is on nobody's PATH */
	ret->command = source != NULL ? mem_printf("%s/payonce", own) :
	    mem_strdup("payonce");
	if (env != NULL)
		folders[n++] = env;
	folders[n++] = own;
	folders[n++] = mocks;
	folders[n++] = sbin;
	folders[n++] = libexec;
	folders[n++] = PAYONCE_LIBEXECDIR;
	folders[n++] = source_etc;
	folders[n++] = etc;
	folders[n++] = share;
	folders[n++] = PAYONCE_SYSCONFDIR;
	folders[n++] = PAYONCE_DATADIR;
	folders[n] = NULL;
	ret->payonced = find_in(folders, "payonced", X_OK);
	ret->worker = find_in(folders, "payonce-worker", X_OK);
	ret->mock = find_in(folders, "payonce-mock", X_OK);
	ret->providers = parent_of(find_in(folders, "providers.d/fal.conf",
	    R_OK));
	ret->render = find_in(folders, "examples/render", X_OK);
	ret->pg_bin = find_postgres();
	mem_free(own);
	mem_free(source);
	mem_free(up);
	mem_free(mocks);
	mem_free(libexec);
	mem_free(sbin);
	mem_free(etc);
	mem_free(share);
	mem_free(source_etc);
	return place_check(cli, ret);
}

void
place_done(struct place *p)
{
	mem_free(p->command);
	mem_free(p->payonced);
	mem_free(p->worker);
	mem_free(p->mock);
	mem_free(p->providers);
	mem_free(p->render);
	mem_free(p->pg_bin);
	memset(p, 0, sizeof(*p));
}
