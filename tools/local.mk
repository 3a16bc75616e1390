# tools/: what make check asks of the text of the sources
TEXT_CHECKS = tools/check-includes tools/check-size tools/check-style
dist_check_SCRIPTS += $(TEXT_CHECKS)
TESTS += $(TEXT_CHECKS)
EXTRA_DIST += tools/size-exceptions
