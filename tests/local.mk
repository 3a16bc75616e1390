# Each area of the tests has its own fragment.
check_LIBRARIES =
include tests/lib/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/provider/local.mk
include tests/integration/local.mk
include tests/integration/life.mk
include tests/model/local.mk
include tests/torture/local.mk
include tests/bench/local.mk

# A sanitizer makes every process a few times slower.
if SANITIZER
AM_TESTS_ENVIRONMENT = CK_TIMEOUT_MULTIPLIER=5; \
	export CK_TIMEOUT_MULTIPLIER;
endif
