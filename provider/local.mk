noinst_LIBRARIES += libprovider.a
libprovider_a_SOURCES = provider/provider.h
