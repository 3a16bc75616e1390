#!/bin/sh
# t_sandbox.sh - the sandbox under one folder: ready, killed, started again,
# stopped in order; and the demo's verdict, counted again from the ledger.
set -u
build=$(pwd)
bin=$build/payonce
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 ||
	command -v initdb >/dev/null ||
	{ echo 'no PostgreSQL server is installed; skipped'; exit 77; }
# root becomes another user, who must reach the programs
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
	! setpriv --reuid=postgres --regid=postgres --clear-groups \
	test -x "$bin"; then
	echo "user postgres cannot reach $build; skipped"
	exit 77
fi
top=$(mktemp -d "${TMPDIR:-/tmp}/payonce-sb.XXXXXX")
chmod 755 "$top"
dir=$top/s
checks=0
failures=0
pid=

finish()
{
	[ -z "$pid" ] || { kill -TERM "$pid" && wait "$pid"; } 2>/dev/null
	rm -rf "$top"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

fail()
{
	failures=$((failures + 1))
	echo "FAIL: $1"
	tail -n 20 "$top/out" "$dir/log/payonced.log" 2>/dev/null
}
is()
{
	checks=$((checks + 1))
	[ "$2" = "$3" ] || fail "$1 is \"$2\", wanted \"$3\""
}
# wait_for SECONDS command
wait_for()
{
	tenths=$(($1 * 10))
	shift
	checks=$((checks + 1))
	until "$@" >/dev/null 2>&1; do
		tenths=$((tenths - 1))
		[ "$tenths" -gt 0 ] || { fail "in vain: $*"; return 1; }
		sleep 0.1
	done
}
up()
{
	rm -f "$top/out"	# the last one says ready as well
	"$bin" sandbox "$dir" >"$top/out" 2>&1 &
	pid=$!
	wait_for 60 grep -q '^ready' "$top/out"
}
down()
{
	kill -TERM "$pid"
	wait "$pid"
	is 'the status of the sandbox' $? 0
	pid=
}
ask() { timeout 60 "$bin" -c "$dir/payonce.conf" "$@"; }
stopped() { ! kill -0 "$1" 2>/dev/null; }

up
ask enqueue image '{"prompt":"one"}' --wait >"$top/result" 2>&1
is 'the status of the first task' $? 0
checks=$((checks + 1))
grep -q '"sha256"' "$top/result" || fail "no artifact: $(cat "$top/result")"

# The supervisor is killed: it comes back, and goes on.
super=$(cat "$dir/run/payonced.pid")
ask enqueue image '{"prompt":"two","mock":{"latency_ms":3000}}' >/dev/null
wait_for 20 sh -c "'$bin' -c '$dir/payonce.conf' list --status submitted |
	grep -q image"
kill -KILL "$super"
wait_for 20 grep -q 'payonced was killed by signal 9' "$top/out"
timeout 60 "$bin" -c "$dir/payonce.conf" watch 2 >"$top/watch" 2>&1
is 'the status of the second task' $? 0
is 'the posts of the second task' \
	"$(grep -c '"task":2,' "$dir/ledger.jsonl")" 1

# One sandbox in a folder at a time.
"$bin" sandbox "$dir" >"$top/second" 2>&1
is 'the status of a second sandbox' $? 1
checks=$((checks + 1))
grep -q 'another sandbox runs' "$top/second" || fail "$(cat "$top/second")"

# A folder of somebody else's is left alone: owner, mode and content.
mkdir "$top/other"
chmod 755 "$top/other"
: >"$top/other/file"
was=$(stat -c '%u %a' "$top/other")
"$bin" sandbox "$top/other" >"$top/third" 2>&1
is 'the status in a foreign folder' $? 1
is 'the foreign folder' "$(stat -c '%u %a' "$top/other")" "$was"
is 'its content' "$(ls "$top/other")" file
checks=$((checks + 1))
grep -q 'next: name a new folder' "$top/third" || fail "$(cat "$top/third")"

# Stopped in order: supervisor, mock, database.
super=$(cat "$dir/run/payonced.pid")
pg=$(head -n 1 "$dir/pg/postmaster.pid")
down
is 'the order' "$(sed -n 's/^stopping //p' "$top/out" | tr '\n' ' ')" \
	'payonced mock postgres '
checks=$((checks + 2))
stopped "$super" || fail 'payonced is left'
stopped "$pg" || fail 'PostgreSQL is left'

# Killed without a chance: its programs go too, the data stays.
up
is 'the tasks after a restart' "$(ask list --json | wc -l)" 2

# The payonced of a killed sandbox may be busy for a while: it is waited for.
down
mkfifo "$top/hold"
flock "$dir/state/payonced.pid" cat "$top/hold" >/dev/null &
exec 9>"$top/hold"		# flock has its lock and reads
wait_for 10 sh -c "! flock -n '$dir/state/payonced.pid' true"
rm -f "$top/out"
"$bin" sandbox "$dir" >"$top/out" 2>&1 9>&- &
pid=$!
wait_for 60 grep -q '^waiting for the payonced' "$top/out"
exec 9>&-
wait_for 60 grep -q '^ready' "$top/out"
super=$(cat "$dir/run/payonced.pid")
pg=$(head -n 1 "$dir/pg/postmaster.pid")
kill -KILL "$pid"
wait "$pid" 2>/dev/null
pid=
wait_for 30 stopped "$super"
wait_for 30 stopped "$pg"
up
is 'the tasks after a kill' "$(ask list --json | wc -l)" 2
down

# The demo: its verdict, and ours from the provider's ledger.
"$bin" sandbox "$top/d" --demo --tasks 8 >"$top/demo" 2>&1
is 'the status of the demo' $? 0
checks=$((checks + 2))
tail -n 1 "$top/demo" | grep -qE '^8 tasks, [1-9][0-9]* kills, 0 paid twice$' ||
	fail "the verdict: $(cat "$top/demo")"
twice=$(grep -v '"charged":"0"' "$top/d/ledger.jsonl" |
	sed 's/.*"task":\([0-9]*\),.*/\1/' | sort | uniq -d)
[ -z "$twice" ] || fail "the ledger has these twice: $twice"

echo "$checks checks, $failures failed"
[ "$failures" = 0 ]
