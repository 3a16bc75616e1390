# cli/: the payonce command; everything but its main() as a library
noinst_LIBRARIES += libcli.a
libcli_a_SOURCES = \
	cli/advice.c \
	cli/cli.h \
	cli/cmd_cost.c \
	cli/cmd_enqueue.c \
	cli/cmd_kind.c \
	cli/cmd_list.c \
	cli/cmd_migrate.c \
	cli/cmd_parked.c \
	cli/cmd_sandbox.c \
	cli/cmd_show.c \
	cli/cmd_status.c \
	cli/cmd_watch.c \
	cli/db.c \
	cli/demo.c \
	cli/demo.h \
	cli/demo_kill.c \
	cli/demo_report.c \
	cli/opts.c \
	cli/reasons.c \
	cli/rows.c \
	cli/sandbox.h \
	cli/sandbox_child.c \
	cli/sandbox_files.c \
	cli/sandbox_pg.c \
	cli/sandbox_place.c \
	cli/story.c \
	cli/story.h \
	cli/table.c \
	cli/term.c \
	cli/wait.c \
	cli/words.c
libcli_a_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS) $(JSON_CFLAGS)

bin_PROGRAMS += payonce
payonce_SOURCES = cli/main.c
payonce_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
payonce_LDADD = libcli.a libsql.a $(LIBS_CONFIG) $(LIBS_PROVIDER) \
	$(LIBS_COMMON) $(PQ_LIBS) $(JSON_LIBS)

# where a build tree finds the files that an installation has in etc/
noinst_DATA += uninstalled.dir
uninstalled.dir: Makefile
	$(AM_V_GEN)echo '$(abs_top_srcdir)' > $@
CLEANFILES += uninstalled.dir
