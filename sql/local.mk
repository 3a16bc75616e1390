# sql/: see README.md
sql_migrations = sql/001-schema.sql sql/002-transitions.sql \
	sql/003-interface.sql sql/004-roles.sql
EXTRA_DIST += $(sql_migrations) sql/README.md tools/sql2c

# libsql.a: the migrations and what applies them (payonce migrate, tests)
noinst_LIBRARIES += libsql.a
libsql_a_SOURCES = sql/migrate.c sql/migrate.h sql/migrations.h
nodist_libsql_a_SOURCES = sql/migrations.c
libsql_a_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS)
LIBS_SQL = libsql.a $(PQ_LIBS)
CLEANFILES += sql/migrations.c

sql/migrations.c: $(sql_migrations) tools/sql2c
	$(AM_V_GEN)$(MKDIR_P) sql && (cd $(srcdir) && \
	    sh tools/sql2c $(sql_migrations)) > $@.tmp && mv $@.tmp $@
