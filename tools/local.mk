# tools/: what make check asks of the text of the sources
TEXT_CHECKS = tools/check-includes tools/check-size tools/check-style
dist_check_SCRIPTS += $(TEXT_CHECKS)
TESTS += $(TEXT_CHECKS)
EXTRA_DIST += tools/size-exceptions

# Static checkers, by hand: see tools/lint.
EXTRA_DIST += tools/lint
.PHONY: lint
lint: $(BUILT_SOURCES) config.h
	LINT_CFLAGS='$(DEFS) -I. $(BSD_CFLAGS) -include config.h $(CHECK_CFLAGS) \
	    $(CONFUSE_CFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS) $(JSON_CFLAGS) \
	    $(MD_CFLAGS) $(MSGPACK_CFLAGS) $(PQ_CFLAGS) -DTEST_SRCDIR="" \
	    -DTEST_BUILDDIR="" -DPGTEST_WITH_PG="" -DPAYONCE_SYSCONFDIR="" \
	    -DPAYONCE_LIBEXECDIR="" -DPAYONCE_DATADIR="" \
	    -DPAYONCE_STATEDIR="" -DPAYONCE_RUNDIR=""' $(srcdir)/tools/lint
