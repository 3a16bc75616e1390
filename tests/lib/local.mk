# tests/lib: see README.md
EXTRA_DIST += tests/lib/README.md tests/lib/with-pg tests/lib/pg-ctl
CLEANFILES += tests/lib/pg-template-*.tar tests/lib/pg-template.lock

noinst_LIBRARIES += libpgtest.a
libpgtest_a_SOURCES = tests/lib/pgtest.c tests/lib/pgtest.h
libpgtest_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPGTEST_WITH_PG='"$(abs_top_srcdir)/tests/lib/with-pg"'
libpgtest_a_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
LIBS_PGTEST = libpgtest.a $(LIBS_SQL)

# the rig: a whole payonce for one test
check_LIBRARIES += librig.a
librig_a_SOURCES = \
	tests/lib/rawd.c \
	tests/lib/rawd.h \
	tests/lib/rig.c \
	tests/lib/rig.h \
	tests/lib/rig_conf.c \
	tests/lib/rig_db.c \
	tests/lib/rig_inject.c \
	tests/lib/rig_laws.c \
	tests/lib/rig_mock.c \
	tests/lib/rig_proc.c \
	tests/lib/rig_super.c
librig_a_CPPFLAGS = $(AM_CPPFLAGS) -DTEST_SRCDIR='"$(abs_top_srcdir)"' \
	-DTEST_BUILDDIR='"$(abs_top_builddir)"'
librig_a_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS) $(JSON_CFLAGS)
LIBS_RIG = librig.a $(LIBS_PGTEST) $(LIBS_COMMON) $(JSON_LIBS)
