#!/bin/sh
# check_points.sh - the models' fault points against doc/FAULTPOINTS.md.
#
# Every point that a model names must be on that page; every point of the page
# must be in a model, or in tests/model/not-modelled with a reason.  Prints
# what is not modelled.

set -u
srcdir=${srcdir:-.}
here=$srcdir/tests/model
page=$srcdir/doc/FAULTPOINTS.md
bad=0

points='\<\(submit\|poll\|exec\|super\)\.[a-z_]*\>'
known=$(sed -n 's/^| `\([a-z]*\.[a-z_]*\)`.*/\1/p' "$page" | sort -u)
named=$(grep -oh "$points" "$here"/*.pml "$here"/*.inc |
    grep -v '\.pml$' | sort -u)
without=$(sed -n 's/^\([a-z]*\.[a-z_]*\)[	 ].*/\1/p' "$here/not-modelled" |
    sort -u)

[ "$(printf '%s\n' "$known" | wc -l)" -ge 20 ] ||
    { echo "$page: no table of fault points found"; exit 1; }

has() {
	printf '%s\n' "$1" | grep -qx "$2"
}

for p in $named; do
	has "$known" "$p" ||
	    { echo "$p: in a model, not in $page"; bad=1; }
done
for p in $known; do
	has "$named" "$p" && continue
	has "$without" "$p" ||
	    { echo "$p: in $page, neither in a model nor in not-modelled"
	    bad=1; }
done
for p in $without; do
	has "$known" "$p" ||
	    { echo "$p: in not-modelled, not in $page"; bad=1; }
	has "$named" "$p" &&
	    { echo "$p: in not-modelled, but a model names it"; bad=1; }
done

echo "not modelled:"
sed -n 's/^\([a-z]*\.[a-z_]*\)[	 ]*/  \1: /p' "$here/not-modelled"
printf 'modelled: %d of %d\n' "$(printf '%s\n' "$named" | wc -l)" \
    "$(printf '%s\n' "$known" | wc -l)"
exit "$bad"
