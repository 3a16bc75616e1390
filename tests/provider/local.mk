# tests/provider: the mock provider, which `payonce sandbox` runs as well
EXTRA_DIST += tests/provider/README.md tests/provider/check_markdb.sh
pkglibexec_PROGRAMS += payonce-mock
payonce_mock_SOURCES = \
	tests/provider/mock.h \
	tests/provider/mock_admin.c \
	tests/provider/mock_answer.c \
	tests/provider/mock_conn.c \
	tests/provider/mock_fal.c \
	tests/provider/mock_file.c \
	tests/provider/mock_http.c \
	tests/provider/mock_ledger.c \
	tests/provider/mock_listen.c \
	tests/provider/mock_main.c \
	tests/provider/mock_markdb.c \
	tests/provider/mock_png.c \
	tests/provider/mock_poll.c \
	tests/provider/mock_record.c \
	tests/provider/mock_replicate.c \
	tests/provider/mock_route.c \
	tests/provider/mock_script.c \
	tests/provider/mock_sound.c \
	tests/provider/mock_submit.c \
	tests/provider/mock_table.c \
	tests/provider/mock_words.c
payonce_mock_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(PQ_CFLAGS) $(JSON_CFLAGS)
payonce_mock_LDADD = $(LIBS_COMMON) $(EVENT_LIBS) $(PQ_LIBS) $(JSON_LIBS)

TESTS += tests/provider/check_markdb.sh

if HAVE_CHECK
check_PROGRAMS += tests/provider/check_mock
TESTS += tests/provider/check_mock
endif
tests_provider_check_mock_SOURCES = \
	tests/lib/mock.c \
	tests/lib/mock.h \
	tests/provider/check_mock.c \
	tests/provider/check_mock.h \
	tests/provider/check_mock_file.c \
	tests/provider/check_mock_ledger.c \
	tests/provider/check_mock_life.c \
	tests/provider/check_mock_submit.c
tests_provider_check_mock_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JSON_CFLAGS)
tests_provider_check_mock_LDADD = $(LIBS_COMMON) $(CHECK_LIBS) $(JSON_LIBS)
