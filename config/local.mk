noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = \
	config/conf.c \
	config/conf.h \
	config/kinds.c \
	config/parse.c \
	config/parse.h \
	config/problems.c \
	config/providers.c \
	config/read.c
libconfig_a_CFLAGS = $(AM_CFLAGS) $(CONFUSE_CFLAGS)
