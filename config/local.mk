noinst_LIBRARIES += libconfig.a
libconfig_a_SOURCES = config/conf.h
