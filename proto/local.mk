noinst_LIBRARIES += libproto.a
libproto_a_SOURCES = proto/messages.def proto/proto.h
