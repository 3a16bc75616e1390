/*
 * mock_main.c - payonce-mock: two paid providers that cost nothing.
 *
 * Owns the options, the loop and the order of things within a turn of it.
 */
#include <sys/resource.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/exitcodes.h"
#include "common/fdutil.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/num.h"
#include "tests/provider/mock.h"

struct mock	mock = { .stats = { .spent = "0" } };

struct options {
	int64_t		 port;
	const char	*port_file;
	const char	*ledger;
	const char	*conninfo;
};

static void
main_usage(void)
{
	(void)fprintf(stderr, "usage: payonce-mock -p PORT|0 [-P PORTFILE] "
	    "[-l LEDGERFILE] [-d CONNINFO] [-k KEY] [-n LATENCY_MS]\n");
	exit(EXIT_CODE_USAGE);
}

static void
main_parse(int argc, char **argv, struct options *ret)
{
	int c;

	ret->port = -1;
	while ((c = getopt(argc, argv, "p:P:l:d:k:n:")) != -1) {
		switch (c) {
		case 'p':
			if (num_parse_i64(optarg, 0, 65535, &ret->port) != 0)
				main_usage();
			break;
		case 'P':
			ret->port_file = optarg;
			break;
		case 'l':
			ret->ledger = optarg;
			break;
		case 'd':
			ret->conninfo = optarg;
			break;
		case 'k':
			if (strlen(optarg) >= sizeof(mock.key))
				main_usage();
			memcpy(mock.key, optarg, strlen(optarg) + 1);
			break;
		case 'n':
			if (num_parse_i64(optarg, 0, 24 * 3600 * 1000,
			    &mock.latency_ms) != 0)
				main_usage();
			break;
		default:
			main_usage();
		}
	}
	if (ret->port == -1 || optind != argc)
		main_usage();
}

/* A reader sees no file or a whole one. */
static int
main_write_port(const char *path)
{
	char *temporary = mem_printf("%s.tmp", path);
	char text[16];
	int fd = -1, len, rc = -1;

	if (temporary == NULL)
		return -1;
	len = snprintf(text, sizeof(text), "%d\n", (int)mock.port);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd != -1 && fd_write_all(fd, text, (size_t)len) == 0 &&
	    rename(temporary, path) == 0)
		rc = 0;
	fd_close(&fd);
	mem_free(temporary);
	return rc;
}

static void
main_on_signal(evutil_socket_t signal_number, short what, void *arg)
{
	(void)signal_number;
	(void)what;
	(void)arg;
	mock.is_stopping = true;
}

/* Thousands of polls may be open at once. */
static void
main_raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) == -1)
		log_warn("RLIMIT_NOFILE stays as it is");
}

static void
main_loop(void)
{
	while (!mock.is_stopping) {
		if (event_base_loop(mock.base, EVLOOP_ONCE) == -1)
			fatal("the event loop failed");
		/*
		 * Questions first, then the disk; the answers that waited
		 * for it leave in ledger_flush().
		 */
		markdb_flush();
		ledger_flush();
		admin_check_waits();
		conn_reap();
	}
}

int
main(int argc, char **argv)
{
	struct options options = { .port = -1 };
	struct event *on_term, *on_int;

	log_init("payonce-mock", true, false);
	main_parse(argc, argv, &options);
	main_raise_files();
	mock.base = event_base_new();
	if (mock.base == NULL)
		fatalx("no event loop");
	on_term = evsignal_new(mock.base, SIGTERM, main_on_signal, NULL);
	on_int = evsignal_new(mock.base, SIGINT, main_on_signal, NULL);
	if (on_term == NULL || on_int == NULL ||
	    event_add(on_term, NULL) == -1 || event_add(on_int, NULL) == -1 ||
	    signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		fatal("signals cannot be watched");
	if (ledger_open(options.ledger) != 0)
		fatalx("ledger %s: name a writable file that payonce-mock "
		    "wrote, or none", options.ledger);
	if (options.conninfo != NULL && markdb_open(options.conninfo) != 0)
		fatalx("the -d connection cannot be started");
	if (listen_open((uint16_t)options.port) != 0)
		fatal("port %lld cannot be listened on: choose another or 0",
		    (long long)options.port);
	if (options.port_file != NULL &&
	    main_write_port(options.port_file) != 0)
		fatal("port file %s cannot be written", options.port_file);
	main_loop();
	listen_close();
	conn_close_all();
	markdb_close();
	ledger_close();
	event_free(on_term);
	event_free(on_int);
	event_base_free(mock.base);
	return EXIT_CODE_OK;
}
