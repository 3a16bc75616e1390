noinst_LIBRARIES += libcommon.a
libcommon_a_SOURCES = \
	common/buf.h \
	common/err.h \
	common/exitcodes.h \
	common/fdutil.h \
	common/inject.h \
	common/log.h \
	common/mem.h \
	common/mono.h \
	common/num.h \
	common/receipt.h \
	common/task.h
libcommon_a_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
