#!/bin/sh
# t_init.sh - the init script starts, asks, reloads and stops the real thing.
set -u
srcdir=${srcdir:-.}
[ -n "${PAYONCE_TEST_PG:-}" ] || exec "$srcdir/tests/lib/with-pg" sh "$0" "$@"

build=$(pwd)
script=$build/etc/init.d/payonce
dir=$(mktemp -d)
chmod 755 "$dir"
checks=0
failures=0
last=

# Whatever happens, no daemon is left.
finish()
{
	[ -z "$last" ] || kill -KILL "$last" 2>/dev/null
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

fail()
{
	failures=$((failures + 1))
	echo "FAIL: $1"
	sed 's/^/  /' "$dir/out"
}

# run WANTED verb: the init script
run()
{
	sh "$script" "$2" >"$dir/out" 2>&1 </dev/null
	got=$?
	checks=$((checks + 1))
	[ "$got" = "$1" ] || fail "$2: exit $got, wanted $1"
	last=$(cat "$dir/run/payonced.pid" 2>/dev/null || echo "$last")
}
says()
{
	checks=$((checks + 1))
	grep -q -e "$1" "$dir/out" || fail "it does not say: $1"
}

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$conninfo" -c "$1"; }

# until_sql QUERY WANTED: within 15 s
until_sql()
{
	n=0
	checks=$((checks + 1))
	until [ "$(sql "$1")" = "$2" ]; do
		n=$((n + 1))
		[ "$n" -lt 150 ] || { : >"$dir/out"
			fail "$1 is \"$(sql "$1")\", wanted \"$2\""; return; }
		sleep 0.1
	done
}

# conf LIMIT
conf()
{
	cat >"$dir/new" <<-CONF
	database = "$conninfo"
	state_dir = "$dir/state"
	run_dir = "$dir/run"
	secrets_dir = "$dir/secrets"
	worker_path = "$build/payonce-worker"
	lease = 2
	kind render { command = {"/bin/true"} concurrency = $1 }
	CONF
	mv "$dir/new" "$dir/payonce.conf"
}

psql -X -q "$PAYONCE_TEST_PG dbname=postgres" -c 'CREATE DATABASE t_init'
conninfo="$PAYONCE_TEST_PG dbname=t_init"
"$build/payonce" -d "$conninfo" migrate >/dev/null || exit 1
mkdir "$dir/secrets"
conf 2
PAYONCED=$build/payonced
PAYONCE_CONF=$dir/payonce.conf
export PAYONCED PAYONCE_CONF

run 2 nonsense
says 'usage:'
run 3 status
says 'does not run'
run 0 stop
run 7 reload

run 0 start
says 'payonce started (pid'
run 0 status
says "runs (pid $last)"
run 0 start
says 'runs already'
until_sql "SELECT kinds->>'render' FROM payonce.host" 2

# A new limit is seen at once; a broken file changes nothing.
conf 5
run 0 reload
until_sql "SELECT kinds->>'render' FROM payonce.host" 5
before=$last
echo 'kind render {' >>"$dir/payonce.conf"
run 6 reload
says 'payonce.conf:[0-9]'
run 0 status
checks=$((checks + 1))
[ "$before" = "$last" ] || fail "another process runs: $last, not $before"

run 6 restart
run 0 status
conf 3
run 0 restart
says 'payonce started'
checks=$((checks + 1))
[ "$before" != "$last" ] || fail 'restart did not make a new process'
until_sql "SELECT kinds->>'render' FROM payonce.host
	WHERE pid = $last" 3

# A pid file without its process.
kill -KILL "$last"
n=0
while kill -0 "$last" 2>/dev/null && [ "$n" -lt 100 ]; do
	n=$((n + 1))
	sleep 0.1
done
run 1 status
says 'its pid file is left'
run 0 start
run 0 status

run 0 stop
says 'payonce stopped'
run 3 status
chmod 000 "$dir/payonce.conf"
rm -f "$dir/payonce.conf"
run 6 start
says 'cannot be read'

echo "$checks checks, $failures failed"
[ "$failures" = 0 ]
