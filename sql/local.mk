# sql/: see README.md
sql_migrations = sql/001-schema.sql sql/002-transitions.sql \
	sql/003-interface.sql sql/004-roles.sql
EXTRA_DIST += $(sql_migrations) sql/README.md
