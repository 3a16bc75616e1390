noinst_LIBRARIES += libproto.a
libproto_a_SOURCES = \
	proto/chan.c \
	proto/messages.c \
	proto/messages.def \
	proto/mp.h \
	proto/mp_read.c \
	proto/mp_write.c \
	proto/proto.h
libproto_a_CFLAGS = $(AM_CFLAGS) $(MSGPACK_CFLAGS)
EXTRA_DIST += doc/PROTOCOL.md
