noinst_LIBRARIES += libprovider.a
libprovider_a_SOURCES = \
	provider/body.c \
	provider/compile.c \
	provider/compile_check.c \
	provider/compile_cost.c \
	provider/compile_parts.c \
	provider/compile_rules.c \
	provider/desc.c \
	provider/free.c \
	provider/jtext.c \
	provider/jtext.h \
	provider/jtext_clean.c \
	provider/keys.c \
	provider/keys.h \
	provider/money.c \
	provider/parts.h \
	provider/poll.c \
	provider/predicate.c \
	provider/provider.h \
	provider/request.c \
	provider/result.c \
	provider/retry.c \
	provider/selector.c \
	provider/submit.c \
	provider/template.c \
	provider/url.c \
	provider/view.c
