# tests/model: the machine as Promela models, and each law taken out of them
TESTS += tests/model/check_model.sh tests/model/check_points.sh
EXTRA_DIST += \
	doc/FAULTPOINTS.md \
	tests/model/README.md \
	tests/model/check_model.sh \
	tests/model/check_points.sh \
	tests/model/forget.pml \
	tests/model/not-modelled \
	tests/model/poll.pml \
	tests/model/row.inc \
	tests/model/submit.pml \
	tests/model/variants
