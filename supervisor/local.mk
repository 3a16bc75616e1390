# supervisor/: payonced, and everything but its main() as a library
noinst_LIBRARIES += libsupervisor.a
libsupervisor_a_SOURCES = \
	supervisor/child.c \
	supervisor/child.h \
	supervisor/child_fsm.c \
	supervisor/child_io.c \
	supervisor/child_reap.c \
	supervisor/child_send.c \
	supervisor/child_send.h \
	supervisor/child_spawn.c \
	supervisor/claim.c \
	supervisor/claim_read.c \
	supervisor/db.c \
	supervisor/db.h \
	supervisor/db_array.c \
	supervisor/db_batch.c \
	supervisor/db_call.c \
	supervisor/db_conn.c \
	supervisor/db_conn.h \
	supervisor/db_ops.c \
	supervisor/db_send.c \
	supervisor/hold.c \
	supervisor/hold.h \
	supervisor/hold_kind.c \
	supervisor/kind.c \
	supervisor/loop.c \
	supervisor/on_ending.c \
	supervisor/on_worker.c \
	supervisor/on_worker.h \
	supervisor/place.c \
	supervisor/ports.c \
	supervisor/progress.c \
	supervisor/receipts.c \
	supervisor/recover.c \
	supervisor/reload.c \
	supervisor/renew.c \
	supervisor/restart.c \
	supervisor/restart.h \
	supervisor/sched.c \
	supervisor/signals.c \
	supervisor/start.c \
	supervisor/status.c \
	supervisor/stop.c \
	supervisor/super.c \
	supervisor/supervisor.h \
	supervisor/task.c \
	supervisor/task.h \
	supervisor/task_act.c \
	supervisor/task_fsm.c
libsupervisor_a_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(PQ_CFLAGS) \
	$(JSON_CFLAGS)
LIBS_SUPERVISOR = libsupervisor.a $(LIBS_CONFIG) $(LIBS_PROVIDER) \
	$(LIBS_PROTO) $(LIBS_SQL) $(LIBS_COMMON) $(EVENT_LIBS) $(PQ_LIBS)
sbin_PROGRAMS += payonced
payonced_SOURCES = supervisor/main.c
payonced_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS) $(PQ_CFLAGS)
payonced_LDADD = $(LIBS_SUPERVISOR)

EXTRA_DIST += doc/STATES.md
dist_man_MANS += doc/payonced.8
