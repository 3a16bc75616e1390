# tests/lib: see README.md
EXTRA_DIST += tests/lib/README.md tests/lib/with-pg tests/lib/pg-ctl
CLEANFILES += tests/lib/pg-template-*.tar tests/lib/pg-template.lock

noinst_LIBRARIES += libpgtest.a
libpgtest_a_SOURCES = tests/lib/pgtest.c tests/lib/pgtest.h
libpgtest_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPGTEST_WITH_PG='"$(abs_top_srcdir)/tests/lib/with-pg"'
libpgtest_a_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
LIBS_PGTEST = libpgtest.a $(LIBS_SQL)
