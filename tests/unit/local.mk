# tests/unit

# ---- common/ and proto/ ------------------------------------------------
EXTRA_DIST += tests/unit/suite.h
UNIT_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
UNIT_LIBS = $(LIBS_COMMON) $(CHECK_LIBS)
if HAVE_CHECK
BASE_UNIT = \
	tests/unit/check_buf \
	tests/unit/check_chan \
	tests/unit/check_fdutil \
	tests/unit/check_log \
	tests/unit/check_messages \
	tests/unit/check_mono \
	tests/unit/check_num \
	tests/unit/check_permission \
	tests/unit/check_priv \
	tests/unit/check_receipt \
	tests/unit/check_receipt_scan \
	tests/unit/check_recovery \
	tests/unit/check_task \
	tests/unit/check_text
if INJECT
BASE_UNIT += tests/unit/check_inject
endif
check_PROGRAMS += $(BASE_UNIT)
TESTS += $(BASE_UNIT)
endif
tests_unit_check_buf_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_buf_LDADD = $(UNIT_LIBS)
tests_unit_check_fdutil_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_fdutil_LDADD = $(UNIT_LIBS)
tests_unit_check_inject_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_inject_LDADD = $(UNIT_LIBS)
tests_unit_check_log_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_log_LDADD = $(UNIT_LIBS)
tests_unit_check_mono_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_mono_LDADD = $(UNIT_LIBS)
tests_unit_check_num_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_num_LDADD = $(UNIT_LIBS)
tests_unit_check_priv_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_priv_LDADD = $(UNIT_LIBS)
tests_unit_check_recovery_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_recovery_LDADD = $(UNIT_LIBS)
tests_unit_check_task_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_task_LDADD = $(UNIT_LIBS)
tests_unit_check_text_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_text_LDADD = $(UNIT_LIBS)
dist_check_SCRIPTS += tests/unit/check_linkage
TESTS += tests/unit/check_linkage
RECEIPT_TOOL = tests/unit/receipt_tool.c tests/unit/receipt_tool.h
tests_unit_check_receipt_SOURCES = tests/unit/check_receipt.c $(RECEIPT_TOOL)
tests_unit_check_receipt_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_receipt_LDADD = $(UNIT_LIBS)
tests_unit_check_receipt_scan_SOURCES = tests/unit/check_receipt_scan.c \
	$(RECEIPT_TOOL)
tests_unit_check_receipt_scan_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_receipt_scan_LDADD = $(UNIT_LIBS)
MESSAGE_TOOL = tests/unit/message_tool.c tests/unit/message_tool.h
tests_unit_check_chan_SOURCES = tests/unit/check_chan.c $(MESSAGE_TOOL)
tests_unit_check_chan_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_chan_LDADD = $(LIBS_PROTO) $(UNIT_LIBS)
tests_unit_check_messages_SOURCES = tests/unit/check_messages.c $(MESSAGE_TOOL)
tests_unit_check_messages_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_messages_LDADD = $(LIBS_PROTO) $(UNIT_LIBS)
tests_unit_check_permission_SOURCES = tests/unit/check_permission.c $(MESSAGE_TOOL)
tests_unit_check_permission_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_permission_LDADD = $(LIBS_PROTO) $(UNIT_LIBS)

# ---- supervisor/ ---------------------------------------------------------
SUPER_UNIT_CFLAGS = $(UNIT_CFLAGS) $(PQ_CFLAGS) $(EVENT_CFLAGS)
SUPER_UNIT_LIBS = libsupervisor.a $(UNIT_LIBS)
if HAVE_CHECK
SUPER_UNIT = \
	tests/unit/check_batch \
	tests/unit/check_child_fsm \
	tests/unit/check_restart \
	tests/unit/check_task_fsm
check_PROGRAMS += $(SUPER_UNIT)
TESTS += $(SUPER_UNIT)
endif
tests_unit_check_batch_CFLAGS = $(SUPER_UNIT_CFLAGS)
tests_unit_check_batch_LDADD = $(SUPER_UNIT_LIBS)
tests_unit_check_child_fsm_CFLAGS = $(SUPER_UNIT_CFLAGS)
tests_unit_check_child_fsm_LDADD = $(SUPER_UNIT_LIBS)
tests_unit_check_restart_CFLAGS = $(SUPER_UNIT_CFLAGS)
tests_unit_check_restart_LDADD = $(SUPER_UNIT_LIBS)
tests_unit_check_task_fsm_SOURCES = tests/unit/check_task_fsm.c \
	tests/unit/task_stories.h
tests_unit_check_task_fsm_CFLAGS = $(SUPER_UNIT_CFLAGS)
tests_unit_check_task_fsm_LDADD = $(SUPER_UNIT_LIBS)

# ---- cli/ ------------------------------------------------------------------
if HAVE_CHECK
check_PROGRAMS += tests/unit/check_cli
TESTS += tests/unit/check_cli
tests_unit_check_cli_SOURCES = \
	cli/cli.h \
	cli/opts.c \
	cli/reasons.c \
	cli/story.h \
	cli/table.c \
	cli/term.c \
	cli/words.c \
	tests/unit/check_cli.c
tests_unit_check_cli_CFLAGS = $(AM_CFLAGS) $(PQ_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_cli_LDADD = $(LIBS_COMMON) $(CHECK_LIBS)
endif

# ---- worker/ ------------------------------------------------------------
WORKER_UNIT = \
	tests/unit/check_artifact \
	tests/unit/check_deadman \
	tests/unit/check_flush \
	tests/unit/check_gate \
	tests/unit/check_outcome
WORKER_UNIT_CFLAGS = $(WORKER_CFLAGS) $(CHECK_CFLAGS)
WORKER_UNIT_LIBS = $(LIBS_WORKER) $(CHECK_LIBS)
if HAVE_CHECK
check_PROGRAMS += $(WORKER_UNIT)
TESTS += $(WORKER_UNIT)
endif
tests_unit_check_artifact_CFLAGS = $(WORKER_UNIT_CFLAGS)
tests_unit_check_artifact_LDADD = $(WORKER_UNIT_LIBS)
tests_unit_check_deadman_CFLAGS = $(WORKER_UNIT_CFLAGS)
tests_unit_check_deadman_LDADD = $(WORKER_UNIT_LIBS)
tests_unit_check_flush_CFLAGS = $(WORKER_UNIT_CFLAGS)
tests_unit_check_flush_LDADD = $(WORKER_UNIT_LIBS)
tests_unit_check_gate_CFLAGS = $(WORKER_UNIT_CFLAGS)
tests_unit_check_gate_LDADD = $(WORKER_UNIT_LIBS)
tests_unit_check_outcome_CFLAGS = $(WORKER_UNIT_CFLAGS)
tests_unit_check_outcome_LDADD = $(WORKER_UNIT_LIBS)
# ---- provider/ and config/ -----------------------------------------------
PROVIDER_TOOL = tests/unit/provider_tool.c tests/unit/provider_tool.h
PROVIDER_UNIT_LIBS = $(LIBS_CONFIG) $(LIBS_PROVIDER) $(UNIT_LIBS)
if HAVE_CHECK
PROVIDER_UNIT = \
	tests/unit/check_conf \
	tests/unit/check_provider \
	tests/unit/check_selector \
	tests/unit/check_template \
	tests/unit/check_url
check_PROGRAMS += $(PROVIDER_UNIT)
TESTS += $(PROVIDER_UNIT)
endif
tests_unit_check_conf_SOURCES = tests/unit/check_conf.c $(PROVIDER_TOOL)
tests_unit_check_conf_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_conf_LDADD = $(PROVIDER_UNIT_LIBS)
tests_unit_check_provider_SOURCES = tests/unit/check_provider.c \
	$(PROVIDER_TOOL)
tests_unit_check_provider_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_provider_LDADD = $(PROVIDER_UNIT_LIBS)
tests_unit_check_selector_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_selector_LDADD = $(LIBS_PROVIDER) $(UNIT_LIBS)
tests_unit_check_template_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_template_LDADD = $(LIBS_PROVIDER) $(UNIT_LIBS)
tests_unit_check_url_SOURCES = tests/unit/check_url.c $(PROVIDER_TOOL)
tests_unit_check_url_CFLAGS = $(UNIT_CFLAGS)
tests_unit_check_url_LDADD = $(PROVIDER_UNIT_LIBS)
