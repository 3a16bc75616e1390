noinst_LIBRARIES += libcommon.a
libcommon_a_SOURCES = \
	common/buf.c \
	common/buf.h \
	common/err.c \
	common/err.h \
	common/exitcodes.h \
	common/fdutil.c \
	common/fdutil.h \
	common/inject.h \
	common/log.c \
	common/log.h \
	common/mem.c \
	common/mem.h \
	common/mono.c \
	common/mono.h \
	common/num.c \
	common/num.h \
	common/priv.c \
	common/priv.h \
	common/receipt.c \
	common/receipt.h \
	common/receipt_dir.c \
	common/receipt_file.h \
	common/receipt_line.c \
	common/receipt_read.c \
	common/recovery.c \
	common/task.c \
	common/task.h \
	common/text.c \
	common/text.h
libcommon_a_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
if INJECT
libcommon_a_SOURCES += common/inject.c
else
EXTRA_DIST += common/inject.c
endif
