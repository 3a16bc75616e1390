#!/bin/sh
# check_markdb.sh - the mock's look-up of the mark, against a real PostgreSQL.
#
# A marked row, an unmarked one, a stale attempt, a row that is not there, a
# table that is not there yet, a server that went away and came back.
set -u
mock=${MOCK:-./payonce-mock}
bindir=${PG_BINDIR:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)}
[ -x "$bindir/initdb" ] || { echo "no initdb: skipped"; exit 77; }
command -v curl >/dev/null || { echo "no curl: skipped"; exit 77; }
as=
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || { echo "no user postgres"; exit 77; }
	as="setpriv --reuid postgres --regid postgres --clear-groups"
fi
dir=$(mktemp -d) || exit 1
mock_pid=
finish() {
	[ -z "$mock_pid" ] || kill "$mock_pid" 2>/dev/null
	(cd "$dir" && $as "$bindir/pg_ctl" -D "$dir/pg" -m immediate -w stop) \
	    >/dev/null 2>&1
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$dir"
mkdir "$dir/pg" "$dir/run"
[ -z "$as" ] || chown postgres "$dir/pg" "$dir/run"

pg() {
	(cd "$dir" && $as "$bindir/pg_ctl" -D "$dir/pg" -w -l "$dir/run/log" \
	    -o "-k $dir/run -c listen_addresses='' -c fsync=off" "$@") \
	    >/dev/null || { echo "pg_ctl $* failed"; exit 1; }
}
sql() {
	(cd "$dir" && $as "$bindir/psql" -qAtX -v ON_ERROR_STOP=1 \
	    -h "$dir/run" -d postgres -c "$1") || exit 1
}
failed=0
# expect WHAT FILTER VALUE: the summary's number
expect() {
	got=$(curl -sS "http://127.0.0.1:$port/_mock/summary" |
	    sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p")
	if [ "$got" = "$3" ]; then
		echo "ok: $1"
	else
		echo "FAILED: $1: $2 is $got instead of $3"
		failed=1
	fi
}
submit() {
	curl -sS -o "$dir/answer" -H "X-Payonce-Task: $1" -d '{}' \
	    "http://127.0.0.1:$port/fal/fal-ai/flux" || failed=1
}

(cd "$dir" && $as "$bindir/initdb" -D "$dir/pg" -A trust -N -U "$(
    [ -z "$as" ] && id -un || echo postgres)") >/dev/null || exit 1
pg start
user=$([ -z "$as" ] && id -un || echo postgres)
"$mock" -p 0 -P "$dir/port" -l "$dir/ledger" \
    -d "host=$dir/run dbname=postgres user=$user" 2>"$dir/mock.log" &
mock_pid=$!
while [ ! -s "$dir/port" ]; do
	kill -0 "$mock_pid" 2>/dev/null || { cat "$dir/mock.log"; exit 1; }
done
port=$(cat "$dir/port")

submit 1.1
expect "no table yet: nothing is known" mark_unknown 1
sql "CREATE SCHEMA payonce;
    CREATE TABLE payonce.generation_task (id bigint PRIMARY KEY,
    attempt integer NOT NULL, submit_started_at timestamptz);
    INSERT INTO payonce.generation_task VALUES (1, 1, now()), (2, 1, NULL),
    (3, 2, now());"
submit 1.1
expect "a committed mark" unmarked 0
expect "a committed mark is known" mark_unknown 1
submit 2.1
expect "no mark" unmarked 1
submit 3.1
expect "the mark of another attempt" unmarked 2
submit 99.1
expect "a task that does not exist" unmarked 3
# 40 at a time share the connection
i=0
pids=
while [ $i -lt 40 ]; do
	curl -sS -o /dev/null -H "X-Payonce-Task: 1.1" -d '{}' \
	    "http://127.0.0.1:$port/fal/fal-ai/flux" &
	pids="$pids $!"
	i=$((i + 1))
done
for pid in $pids; do wait "$pid" || failed=1; done
expect "many at once, all marked" unmarked 3
expect "many at once, all known" mark_unknown 1
expect "many at once, all there" posts 45

pg -m immediate stop
submit 1.1
expect "the database is away" mark_unknown 2
pg start
# The mock tries again by itself; it answers meanwhile.
tries=0
while submit 1.1; [ "$(grep -c '"mark":true' "$dir/ledger")" -lt 42 ]; do
	tries=$((tries + 1))
	[ $tries -lt 2000 ] || { echo "FAILED: no reconnection"; failed=1;
		break; }
done
expect "the database is back" unmarked 3
grep -q '"task":2,.*"mark":false' "$dir/ledger" || {
	echo "FAILED: the ledger file lacks the unmarked row"; failed=1; }
kill "$mock_pid"
wait "$mock_pid" || { echo "FAILED: exit $?"; failed=1; }
mock_pid=
[ $failed = 0 ] || cat "$dir/mock.log"
exit $failed
