# The worker: libcurl and libevent, never libpq, never libconfuse.
noinst_LIBRARIES += libworker.a
libworker_a_SOURCES = \
	worker/artifact.c \
	worker/artifact.h \
	worker/artifact_decode.c \
	worker/artifact_type.c \
	worker/confine.c \
	worker/deadman.c \
	worker/exec.c \
	worker/exec.h \
	worker/exec_files.c \
	worker/exec_guard.c \
	worker/exec_io.c \
	worker/exec_judge.c \
	worker/exec_run.c \
	worker/exec_tree.c \
	worker/fetch.c \
	worker/fetch.h \
	worker/fetch_parts.h \
	worker/fetch_url.c \
	worker/flush.c \
	worker/flush.h \
	worker/gate.c \
	worker/http.c \
	worker/http.h \
	worker/http_set.c \
	worker/job.c \
	worker/loop.c \
	worker/outcome.c \
	worker/outcome.h \
	worker/poll.c \
	worker/poll.h \
	worker/poll_ask.c \
	worker/poll_queue.c \
	worker/poll_result.c \
	worker/report.c \
	worker/result.c \
	worker/result.h \
	worker/setup.c \
	worker/submit.c \
	worker/submit.h \
	worker/submit_answer.c \
	worker/submit_find.c \
	worker/submit_result.c \
	worker/submit_send.c \
	worker/worker.h
WORKER_CFLAGS = $(AM_CFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS) $(JSON_CFLAGS) \
	$(MD_CFLAGS)
libworker_a_CFLAGS = $(WORKER_CFLAGS)
LIBS_WORKER = libworker.a $(LIBS_PROVIDER) $(LIBS_PROTO) $(LIBS_COMMON) \
	$(CURL_LIBS) $(EVENT_LIBS) $(MD_LIBS)

pkglibexec_PROGRAMS += payonce-worker
payonce_worker_SOURCES = worker/main.c
payonce_worker_CFLAGS = $(WORKER_CFLAGS)
payonce_worker_LDADD = $(LIBS_WORKER)
