#!/bin/sh
# check_model.sh - what Spin says of the models, and of each law taken out.
#
# Each line of tests/model/variants is one spin -a, cc, ./pan, two at a time.
# A variant that must fail has to fail by the assertion that it names.
# "--deep" runs the large ones too (two minutes, 1.2 GB); "--trail MODEL MACROS"
# prints the steps of one counter-example.  Exit 77 without spin.

set -u
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
here=$(cd "$srcdir/tests/model" && pwd) || exit 99
cc=${CC:-cc}

command -v spin >/dev/null || { echo "SKIP: spin is not installed"; exit 77; }

fail_text() {
	case $1 in
	money)	echo 'since<=1' ;;
	lost)	echo 'held\[' ;;
	ended)	echo 'row_st==' ;;
	ready)	echo 'violated ready' ;;
	parked)	echo '!(parked)' ;;
	proof)	echo 'job==' ;;
	kept)	echo 'row_result' ;;
	excuse)	echo 'violated excuse' ;;
	cycle)	echo 'acceptance cycle' ;;
	*)	echo "no such expectation: $1" ;;
	esac
}

# doc/FAULTPOINTS.md as macros: K_ (killed) and O_ (orphan), see ROW()
page() {
	awk -F'|' '
	/^## `kill`/	{ table = "K" }
	/^## `orphan`/	{ table = "O" }
	$2 ~ /^ `(submit|super)\./ {
		name = $2
		gsub(/[` ]/, "", name)
		sub(/\./, "_", name)
		v = ($4 ~ /requeue/) + 2 * ($4 ~ /park/) + 4 * ($4 ~ /poll/)
		v += 8 * ($5 ~ /0/) + 16 * ($5 ~ /1/)
		printf "-D%s_%s=%d ", table, name, v
	}' "$srcdir/doc/FAULTPOINTS.md"
}

# build MODEL MACROS LEVEL: ./pan in this folder
build() {
	# most time goes into the compiler, but for the large ones
	opt=-O0
	[ "$3" = deep ] && opt=-O2
	points=
	case $2 in
	*-DPOINTS*)	points=$(page) ;;
	esac
	# shellcheck disable=SC2086 # macros are words
	spin -a $2 $points "$here/$1.pml" >spin.out 2>&1
	[ -f pan.c ] || { cat spin.out; return 1; }
	mode="-DSAFETY"
	[ "$1" = poll ] && mode="-DNFAIR=3"
	case $2 in
	*-DNOCLAIM*)	mode="-DSAFETY -DNOCLAIM" ;;
	*-DCYCLES*)	mode="-DNP -DNOFAIR" ;;
	esac
	# shellcheck disable=SC2086
	$cc $opt -w $mode -DMEMLIM=3000 -o pan pan.c
}

run() {
	flags=
	[ "$1" = poll ] && flags="-a -f"
	case $2 in
	*-DNOCLAIM*)	flags= ;;
	*-DCYCLES*)	flags=-l ;;
	esac
	# shellcheck disable=SC2086
	./pan -m100000 $flags >pan.out 2>&1
}

judge() {
	grep -q '^pan: reached\|max search depth too small' pan.out &&
	    { echo "not searched to the end"; return; }
	found=$(sed -n 's/^pan:1: //p' pan.out | sed 's/ (at depth.*//')
	case $1,$found in
	pass,)	grep -q 'errors: 0' pan.out && echo ok || echo "pan failed" ;;
	pass,*)	echo "$found" ;;
	*,)	echo "no counter-example" ;;
	*)	if printf '%s\n' "$found" | tr -d ' ' |
		    grep -q "$(fail_text "$1" | tr -d ' ')"; then
			echo ok
		else
			echo "expected $1: $found"
		fi ;;
	esac
}

# one DIR NUMBER: the line of that number
one() {
	line=$(sed -n "$2p" "$1/list")
	IFS='|' read -r model macros expect level what <<-END
	$line
	END
	mkdir -p "$1/$2" && cd "$1/$2" || exit 1
	if build "$model" "$macros" "$level" >build.out 2>&1; then
		run "$model" "$macros"
		result=$(judge "$expect")
		states=$(sed -n 's/^ *\([0-9e.+]*\) states, stored.*/\1/p' \
		    pan.out)
	else
		result="does not build: $(head -n 3 build.out | tr '\n' ' ')"
		states=-
	fi
	printf '%-6s %-34s %-6s %9s  %s\n' "$model" "$macros" "$expect" \
	    "$states" "$what" >"$1/$2.row"
	[ "$result" = ok ] || echo "$result" >"$1/$2.bad"
	# a million states are not worth a disk
	[ "$result" = ok ] && rm -rf "${1:?}/$2"
	return 0
}

trail() {
	cd "$dir" || exit 1
	build "$1" "$2" check || exit 1
	run "$1" "$2"
	grep '^pan:1' pan.out || { echo "no counter-example"; exit 1; }
	# shellcheck disable=SC2086
	spin -t -k "$1.pml.trail" $2 $points "$here/$1.pml" | sed 's/^  *//
	    /^Never claim/d; /^spin: trail ends/,$d'
}

[ "${1:-}" = --one ] && { one "$2" "$3"; exit; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/payonce-model.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

if [ "${1:-}" = --trail ]; then
	shift
	model=$1
	shift
	trail "$model" "$*"
	exit
fi

levels=check
[ "${1:-}" = --deep ] && levels='check\|deep'
grep "^[^#|]*|[^|]*|[^|]*|\($levels\)|" "$here/variants" >"$dir/list"
count=$(wc -l <"$dir/list")
[ "$count" -gt 0 ] || { echo "no variants in $here/variants"; exit 1; }

self=$here/check_model.sh
export srcdir CC
# xargs appends the number: a mark for it might occur in the folder's name
seq "$count" | xargs -P 2 -n 1 sh "$self" --one "$dir"

printf '%-6s %-34s %-6s %9s  %s\n' model macros expect states what
bad=0
for i in $(seq "$count"); do
	cat "$dir/$i.row" 2>/dev/null || echo "no result for line $i" \
	    >"$dir/$i.bad"
	if [ -f "$dir/$i.bad" ]; then
		echo "  FAILED: $(cat "$dir/$i.bad")"
		bad=$((bad + 1))
	fi
done
echo "Checks: $count, Failures: $bad"
[ "$bad" -eq 0 ]
