/*
 * main.c - payonced: options and the order of a start.
 *
 * The only process with database credentials; touches no byte that came from
 * the network.
 */
#include <sys/prctl.h>
#include <sys/stat.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/exitcodes.h"
#include "common/log.h"
#include "common/mem.h"
#include "supervisor/supervisor.h"

struct options {
	const char	*conf_path;
	bool		 is_test;
	bool		 is_foreground;
	bool		 is_debug;
};

static void	usage(void) __attribute__((noreturn));

static void
usage(void)
{
	(void)fprintf(stderr, "usage: payonced [-dftV] [-c file]\n"
	    "  -c file  configuration (else PAYONCE_CONF, else the installed "
	    "one)\n"
	    "  -t       check the configuration and exit (0 good, %d not)\n"
	    "  -f       stay in the foreground, log to stderr\n"
	    "  -d       log more\n"
	    "  -V       print the version and exit\n", EXIT_CODE_CONFIG);
	exit(EXIT_CODE_USAGE);
}

static void
read_options(int argc, char **argv, struct options *o)
{
	int ch = 0;

	while ((ch = getopt(argc, argv, "c:dftV")) != -1) {
		switch (ch) {
		case 'c':
			o->conf_path = optarg;
			break;
		case 'd':
			o->is_debug = true;
			break;
		case 'f':
			o->is_foreground = true;
			break;
		case 't':
			o->is_test = true;
			break;
		case 'V':
			(void)printf("payonced %s\n", PACKAGE_VERSION);
			exit(EXIT_CODE_OK);
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();
	o->conf_path = conf_default_path(o->conf_path);
}

static struct conf *
read_conf(const char *path)
{
	struct conf *conf = NULL;
	char *errors = NULL;
	int err = conf_load(path, &conf, &errors);

	if (err == 0) {
		mem_free(errors);
		return conf;
	}
	(void)fprintf(stderr, "payonced: %s%s", errors != NULL ? errors :
	    po_strerror(err), errors != NULL && *errors != '\0' &&
	    errors[strlen(errors) - 1] == '\n' ? "" : "\n");
	mem_free(errors);
	return NULL;
}

/*
 * SIGHUP reads the file again after daemon() has gone to "/", so the path
 * must not depend on where we were started.
 */
static char *
absolute(const char *path)
{
	char *full = realpath(path, NULL);

	if (full == NULL)
		fatal("cannot resolve %s", path);
	return full;
}

int
main(int argc, char **argv, char **envp)
{
	struct options o = { .conf_path = NULL };
	struct super super;
	struct conf *conf = NULL;
	char *path = NULL;
	int err = 0;

	setproctitle_init(argc, argv, envp);
	read_options(argc, argv, &o);
	log_init("payonced", true, o.is_debug);
	conf = read_conf(o.conf_path);
	if (conf == NULL)
		return EXIT_CODE_CONFIG;
	if (o.is_test) {
		(void)printf("%s is good\n", o.conf_path);
		conf_free(&conf);
		return EXIT_CODE_OK;
	}
	/* The workers, as another user, pass through what we make. */
	(void)umask(022);
	path = absolute(o.conf_path);
	err = super_init(&super, conf, path);
	if (err != 0)
		fatalx("cannot start: %s", po_strerror(err));
	super.is_foreground = o.is_foreground;
	super.is_debug = o.is_debug;
	place_make(&super);
	place_owner(&super);
	if (!o.is_foreground) {
		/* what can be wrong with the place was said on stderr */
		place_lock(&super);
		if (daemon(0, 0) != 0)
			fatal("cannot go to the background");
		log_init("payonced", false, o.is_debug);
		if (event_reinit(super.base) != 0)
			fatalx("cannot watch events in the background");
	}
	place_lock(&super);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		log_warn("cannot become a subreaper, goes on without");
	err = signals_init(&super);
	if (err == 0)
		err = db_new(&super, &super.db);
	if (err != 0)
		fatalx("cannot start: %s", po_strerror(err));
	log_info("payonced %s starts, %s", PACKAGE_VERSION, path);
	err = loop_run(&super);
	place_leave(&super);
	log_info("payonced ends");
	super_done(&super);
	free(path);	/* realpath(3) allocated it */
	return err == 0 ? EXIT_CODE_OK : EXIT_CODE_FATAL;
}
