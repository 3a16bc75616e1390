# tests/fuzz: each target with our driver, or with libFuzzer.
# A new target: its program and _LDADD, below or in a block of its own;
# SOURCES_FUZZ in its _SOURCES, CFLAGS_FUZZ, LDFLAGS_FUZZ.
if FUZZ
SOURCES_FUZZ = tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/libfuzzer.c
LDFLAGS_FUZZ = $(AM_LDFLAGS) -fsanitize=fuzzer
else
SOURCES_FUZZ = tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/driver.c
LDFLAGS_FUZZ = $(AM_LDFLAGS)
endif
CFLAGS_FUZZ = $(AM_CFLAGS)
EXTRA_DIST += tests/fuzz/driver.c tests/fuzz/libfuzzer.c

# ---- common/ and proto/ ------------------------------------------------
BASE_FUZZ = \
	tests/fuzz/fuzz_chan \
	tests/fuzz/fuzz_messages \
	tests/fuzz/fuzz_receipt
check_PROGRAMS += $(BASE_FUZZ)
TESTS += $(BASE_FUZZ)
tests_fuzz_fuzz_chan_SOURCES = tests/fuzz/fuzz_chan.c $(MESSAGE_TOOL) \
	$(SOURCES_FUZZ)
tests_fuzz_fuzz_chan_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_chan_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_chan_LDADD = $(LIBS_PROTO) $(LIBS_COMMON)
tests_fuzz_fuzz_messages_SOURCES = tests/fuzz/fuzz_messages.c $(MESSAGE_TOOL) \
	$(SOURCES_FUZZ)
tests_fuzz_fuzz_messages_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_messages_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_messages_LDADD = $(LIBS_PROTO) $(LIBS_COMMON)
tests_fuzz_fuzz_receipt_SOURCES = tests/fuzz/fuzz_receipt.c $(SOURCES_FUZZ)
tests_fuzz_fuzz_receipt_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_receipt_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_receipt_LDADD = $(LIBS_COMMON)

clean-local: clean-fuzz
clean-fuzz:
	-rm -rf fuzz_*.corpus
	-rm -f fuzz_*.crash

# ---- provider/ and config/ -----------------------------------------------
PROVIDER_FUZZ = \
	tests/fuzz/fuzz_answer \
	tests/fuzz/fuzz_conf \
	tests/fuzz/fuzz_desc
check_PROGRAMS += $(PROVIDER_FUZZ)
TESTS += $(PROVIDER_FUZZ)
tests_fuzz_fuzz_answer_SOURCES = tests/fuzz/fuzz_answer.c $(SOURCES_FUZZ)
tests_fuzz_fuzz_answer_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_answer_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_answer_LDADD = $(LIBS_PROVIDER) $(LIBS_COMMON)
tests_fuzz_fuzz_desc_SOURCES = tests/fuzz/fuzz_desc.c $(SOURCES_FUZZ)
tests_fuzz_fuzz_desc_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_desc_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_desc_LDADD = $(LIBS_PROVIDER) $(LIBS_COMMON)
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c $(SOURCES_FUZZ)
tests_fuzz_fuzz_conf_CFLAGS = $(CFLAGS_FUZZ)
tests_fuzz_fuzz_conf_LDFLAGS = $(LDFLAGS_FUZZ)
tests_fuzz_fuzz_conf_LDADD = $(LIBS_CONFIG) $(LIBS_PROVIDER) $(LIBS_COMMON)
