#!/bin/sh
# t_cli.sh - the verbs of the payonce command against a real database: what
# they print, what they answer, and what they say when they cannot.
set -u
srcdir=${srcdir:-.}
[ -n "${PAYONCE_TEST_PG:-}" ] || exec "$srcdir/tests/lib/with-pg" sh "$0" "$@"

bin=${top_builddir:-.}/payonce
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
checks=0
failures=0

fail()
{
	failures=$((failures + 1))
	echo "FAIL: $1"
	echo "  stdout: $(cat "$dir/out")"
	echo "  stderr: $(cat "$dir/err")"
}

# run WANTED_STATUS words...: stdout and stderr are kept for the checks
run()
{
	wanted=$1
	shift
	called=$*
	timeout 30 "$bin" -d "$conninfo" "$@" >"$dir/out" 2>"$dir/err" </dev/null
	got=$?
	checks=$((checks + 1))
	[ "$got" = "$wanted" ] ||
		fail "payonce $called: exit $got, wanted $wanted"
}

out() { checks=$((checks + 1)); grep -q -e "$1" "$dir/out" ||
	fail "payonce $called: stdout lacks: $1"; }
err() { checks=$((checks + 1)); grep -q -e "$1" "$dir/err" ||
	fail "payonce $called: stderr lacks: $1"; }
no_out() { checks=$((checks + 1)); grep -q -e "$1" "$dir/out" &&
	fail "payonce $called: stdout has: $1"; }
silent() { checks=$((checks + 1)); [ ! -s "$dir/err" ] ||
	fail "payonce $called: stderr is not empty"; }
lines() { checks=$((checks + 1)); [ "$(wc -l <"$dir/out")" = "$1" ] ||
	fail "payonce $called: $(wc -l <"$dir/out") lines, wanted $1"; }

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$conninfo" -c "$1"; }

# Each line of the output is JSON: the database is the judge.
json()
{
	while IFS= read -r line; do
		checks=$((checks + 1))
		is_json "$line" || fail "payonce $called: no JSON: $line"
	done <"$dir/out"
}
is_json()
{
	echo "SELECT jsonb_typeof(:'line'::jsonb)" | psql -X -q -A -t \
		-v ON_ERROR_STOP=1 -v line="$1" \
		"$PAYONCE_TEST_PG dbname=postgres" >/dev/null 2>&1
}
# field NAME: of the last JSON line
field()
{
	echo "SELECT :'line'::jsonb #>> string_to_array(:'name', '.')" |
		psql -X -q -A -t -v line="$(tail -n 1 "$dir/out")" \
		-v name="$1" "$PAYONCE_TEST_PG dbname=postgres"
}
is()
{
	checks=$((checks + 1))
	[ "$2" = "$3" ] || fail "payonce $called: $1 is \"$2\", wanted \"$3\""
}

# --- before there is anything -------------------------------------------
conninfo="$PAYONCE_TEST_PG dbname=not_there password=very-secret"
run 1 list
err 'no connection to the database dbname=not_there'
err 'next:'
checks=$((checks + 1))
! grep -q very-secret "$dir/err" || fail 'the password is shown'

psql -X -q "$PAYONCE_TEST_PG dbname=postgres" -c 'CREATE DATABASE t_cli'
conninfo="$PAYONCE_TEST_PG dbname=t_cli"
for verb in list parked status cost 'show 1' 'enqueue image' 'cancel 1'; do
	run 1 $verb
	err 'has no payonce schema'
	err 'payonce migrate'
done

# --- usage: the word and the nearest one ---------------------------------
run 2 lsit
err 'no verb "lsit"; did you mean "list"'
run 2 list --stauts parked
err 'no option --stauts; did you mean --status'
err 'usage: payonce list'
run 2 list --status perked
err 'status perked is none of'
run 2 list --limit many
err 'must be a number, not "many"'
run 2 list --limit 0
err 'the least is 1'
run 2 show
err 'a word is missing'
run 2 show 1 2
err '"2" is one word too many'
run 2 show one
err 'must be a number'
run 2 resolve 1 adapt --actor a --note b
err 'did you mean "adopt"'
run 2 resolve 1 failed --note b
err 'actor is missing'
run 2 resolve 1 failed --actor a
err 'note is missing'
run 2 resolve 1 succeeded --actor a --note b --result '{}' --cost 1e5
err 'cost must be an amount'
run 2 hold image
err 'note is missing'
run 2 resolve 1 failed --actor a --note n --cost 1 --currency dollars
err 'three capital'
run 2 show 99999999999999999999
err 'too large'
run 0 help list
out 'usage: payonce list'
run 0 list --help
out 'usage: payonce list'
run 0 help status
no_out ' $'
"$bin" >"$dir/out" 2>"$dir/err"
is 'the status without words' $? 2

# --- a configuration that cannot be read -----------------------------------
echo 'no_such_word = {' >"$dir/broken.conf"
called='-c broken.conf list'
"$bin" -c "$dir/broken.conf" list >"$dir/out" 2>"$dir/err"
is 'the status with a broken configuration' $? 1
err "broken.conf:1"
err 'next: correct the file'
called='-c missing.conf list'
"$bin" -c "$dir/missing.conf" list >"$dir/out" 2>"$dir/err"
is 'the status with no configuration' $? 1
err 'next: give -c FILE'

# --- migrate ---------------------------------------------------------------
run 0 migrate
out 'the database is ready'
run 0 migrate
out 'up to date'
run 0 migrate --json
is applied "$(field applied)" 0

# --- enqueue and list ---------------------------------------------------------
run 0 list
out 'no tasks'
run 0 list --json
lines 0
run 0 enqueue image '{"prompt":"a fox"}' --model m/one --priority 7 --job 9
a=$(cat "$dir/out")
err 'no living host serves the kind image'
run 0 enqueue image '{"prompt":"a fox"}' --dedupe k1 --json
json
b=$(field id)
run 0 enqueue image '{"prompt":"another"}' --dedupe k1
out "^$b\$"
printf '{"prompt":\n"from a file"}' >"$dir/in.json"
run 0 enqueue clip "@$dir/in.json" --after "$a,$b"
c=$(cat "$dir/out")
printf '{"prompt":"from stdin"}' |
	"$bin" -d "$conninfo" enqueue clip - >"$dir/out" 2>"$dir/err"
is 'the status of enqueue -' $? 0
d=$(cat "$dir/out")
is 'the input from stdin' "$(sql "SELECT input->>'prompt'
	FROM payonce.generation_task WHERE id = $d")" 'from stdin'
run 0 enqueue image --at '2099-01-01 00:00:00+00'
e=$(cat "$dir/out")
printf '{"prompt":\n"no end' >"$dir/bad.json"
run 1 enqueue image "@$dir/bad.json"
err 'bad.json is no JSON: .*line 2'
run 1 enqueue image '[1]'
err 'must be a JSON object, not array'
run 1 enqueue image '{}' --after "$a,999"
err 'do not exist: 999'
run 2 enqueue image '{}' --after 1,x
err 'must be a number, not "x"'
run 1 enqueue Image
err "kind 'Image'"
run 1 enqueue image @/nonexistent
err '/nonexistent: No such file'

run 0 list
silent
lines 6
out '^ID  KIND '
out " $a  image  pending"
out " $c  clip   waiting"
run 0 list --kind clip --status waiting
lines 2
run 0 list --job 9
lines 2
run 0 list --limit 2
out 'there are more'
run 0 list --json
json
lines 5
is kind "$(field kind)" image
is status "$(field status)" PENDING
is job_id "$(field job_id)" 9
run 0 list --json --limit 2
lines 2

# Text from outside cannot drive the terminal.
run 0 enqueue image "$(printf '{"prompt":"x"}')" --model "$(printf 'm\033[2J')"
run 0 list
no_out "$(printf '\033')"

# --- show ------------------------------------------------------------------
run 0 show "$c"
out "^task $c  clip  waiting"
out "after     #$a (image, pending), #$b (image, pending)"
out 'enqueued, waits for the tasks before it'
run 0 show "$c" --json
json
lines 1
is 'the event' "$(field events.0.to_status)" WAITING
is 'the parent' "$(field parents.1.id)" "$b"
run 1 show 4711
err 'there is no task 4711'

# --- cancel: and what waits for it -----------------------------------------
run 0 cancel "$b"
out "task $b is canceled"
run 1 cancel "$b"
err "payonce show $b"
err 'has ended already'
run 1 cancel 4711
err 'there is no task 4711'
run 0 show "$c"
out "^task $c  clip  canceled"
out 'a task before it did not succeed'

# --- a parked task, by the functions of the supervisor ----------------------
park()
{
	sql "SELECT 1 FROM payonce.claim('h', ARRAY['$2'], ARRAY['fal'],
		ARRAY['fal-ai/flux/dev'], ARRAY[1], 60, true)" >/dev/null
	sql "SELECT payonce.mark_submit_started('h', ARRAY[$1::bigint],
		ARRAY[lease_token], ARRAY[NULL::int], ARRAY[NULL::int],
		ARRAY['0.05'], ARRAY['USD'])
		FROM payonce.generation_task WHERE id = $1" >/dev/null
	[ -z "${3-}" ] || sql "SELECT payonce.record_submitted('h',
		ARRAY[$1::bigint], ARRAY[lease_token], ARRAY['$3'],
		ARRAY['http://p/$3'], ARRAY[NULL], ARRAY[NULL], ARRAY[60],
		ARRAY[NULL], ARRAY[NULL])
		FROM payonce.generation_task WHERE id = $1" >/dev/null
	sql "SELECT payonce.park('h', ARRAY[$1::bigint], ARRAY[lease_token],
		ARRAY['$4'], ARRAY['seen by the test'])
		FROM payonce.generation_task WHERE id = $1" >/dev/null
}
run 0 parked
out 'nothing is parked'
park "$a" image '' died_in_send_window
park "$d" clip req-77 poll_deadline
is 'the parked task' "$(sql "SELECT status FROM payonce.generation_task
	WHERE id = $a")" OUTCOME_UNKNOWN
run 0 list --status parked
lines 3
run 0 parked
out "^#$a  image"
out '\$0.05 at stake'
out "resolve $a adopt --request-id ID --actor YOU"
out "resolve $a requeue --actor YOU"
out 'http://p/req-77'
out "resolve $d adopt --request-id req-77 --actor YOU"
run 0 parked --json
json
lines 2
is 'the request id' "$(field request_id)" req-77
run 0 show "$a"
out '^a person decides'
out "resolve $a failed --actor YOU"
out 'about to send: from here on it may be billed'
run 0 status
out 'parked.* 2 tasks wait for a person'
out 'at risk in parked tasks \$0.10'
run 0 cost
out '^image .*fal .*\$0.05'
run 0 cost --json
json
run 1 cancel "$a"
err 'was sent already'

# --- resolve -----------------------------------------------------------------
run 1 resolve "$e" failed --actor ann --note 'why not'
err "task $e is not parked, it is pending"
run 1 resolve 4711 failed --actor ann --note 'why not'
err 'there is no task 4711'
run 1 resolve "$a" adopt --actor ann --note 'no id'
err 'adopt needs the request_id'
run 1 resolve "$a" succeeded --actor ann --note 'no result'
err 'needs the result'
run 0 resolve "$a" requeue --actor ann --note 'surely not there'
out "task $a is pending now"
run 0 show "$a"
out 'attempt 1 ended by ann (requeue): surely not there'
out 'a person decided to send it again'
run 1 resolve "$a" requeue --actor ann --note again
err 'is not parked, it is pending'
run 0 resolve "$d" adopt --request-id req-77 --actor ann --note found --json
json
is 'the new status' "$(field status)" SUBMITTED

# --- hold, release, status ------------------------------------------------
run 0 hold imagr --note 'a typing error'
err 'no living host serves the kind imagr'
run 0 release imagr
run 0 hold image --note 'too dear' --actor ann
out 'payonce release image'
run 0 show "$a"
out 'its kind is held (operator)'
run 0 status
out '^image .*HELD'
out 'ann: too dear'
out 'release image'
out 'pending of kind image, which no living host serves'
run 0 status --json
json
lines 1
is 'the hold' "$(field kinds.1.hold_detail)" 'ann: too dear'
run 0 release image --json
json
is was_held "$(field was_held)" true
run 0 release image
out 'was not held'

# --- watch and --wait: from another process, until it has ended ---------------
timeout 30 "$bin" -d "$conninfo" watch "$e" >"$dir/watch" 2>&1 &
watcher=$!
n=0
until grep -q "task $e image pending" "$dir/watch"; do
	n=$((n + 1))
	[ "$n" -lt 100 ] || break
	sleep 0.1
done
sql "SELECT payonce.cancel($e)" >/dev/null
wait "$watcher"
is 'the status of watch' $? 1
cp "$dir/watch" "$dir/out"
out "task $e image canceled"
run 1 watch 4711
err 'there is no such task'

# --- rights --------------------------------------------------------------
sql "CREATE ROLE t_cli_app LOGIN IN ROLE payonce_app" >/dev/null 2>&1
conninfo="$(echo "$conninfo" | sed 's/user=[^ ]*/user=t_cli_app/')"
run 0 list --limit 1
run 1 resolve "$d" failed --actor ann --note 'not mine'
run 1 migrate
err 'payonce migrate: '

echo "$checks checks, $failures failed"
[ "$failures" = 0 ]
