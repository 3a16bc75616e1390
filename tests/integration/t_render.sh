#!/bin/sh
# t_render.sh - etc/examples/render makes a real clip of images and a sound,
# says how far it is, and refuses to make one of nothing.
set -eu

srcdir=${srcdir:-.}
render=$(cd "$srcdir" && pwd)/etc/examples/render
for tool in ffmpeg ffprobe; do
	command -v $tool >/dev/null || {
		echo "t_render: skipped, $tool is not installed"
		exit 77
	}
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/out" "$dir/work"

fail() {
	echo "t_render: $*" >&2
	exit 1
}

make() {
	ffmpeg -v error -nostdin -y "$@"
}
make -f lavfi -i testsrc=size=320x240 -frames:v 1 "$dir/a b.png"
make -f lavfi -i color=red:size=100x300 -frames:v 1 "$dir/c.png"
make -f lavfi -i sine=440:duration=1 "$dir/s.wav"
make -f lavfi -i testsrc=size=64x64:duration=1 -pix_fmt yuv420p "$dir/d.y4m"
printf 'image/png\t%s\nvideo/x-yuv4mpeg\t%s\nimage/png\t%s\naudio/wav\t%s\n' \
    "$dir/a b.png" "$dir/d.y4m" "$dir/c.png" "$dir/s.wav" >"$dir/inputs"
export PAYONCE_OUTPUT="$dir/out" PAYONCE_INPUT_FILES="$dir/inputs"

cd "$dir/work"
echo '{"id":1,"kind":"render","attempt":1,"input":{"seconds":1.5},"parents":[]}' |
    "$render" >"$dir/result" 3>"$dir/progress" || fail "it failed"
want='{"clip":"clip.mp4","seconds":4.000,"images":2,"clips":1,"sound":true}'
[ "$(cat "$dir/result")" = "$want" ] || fail "result: $(cat "$dir/result")"
grep -q '^{"progress":[01]\.[0-9]*}$' "$dir/progress" || fail "no progress"
! grep -qv '^{"progress":[01]\.[0-9]*}$' "$dir/progress" ||
    fail "progress: $(cat "$dir/progress")"
kinds=$(ffprobe -v error -show_entries stream=codec_type \
    -of default=noprint_wrappers=1:nokey=1 "$dir/out/clip.mp4" | sort | xargs)
[ "$kinds" = "audio video" ] || fail "streams: $kinds"
length=$(ffprobe -v error -show_entries format=duration \
    -of default=noprint_wrappers=1:nokey=1 "$dir/out/clip.mp4")
case $length in
3.9*|4.0*) ;;
*) fail "length: $length" ;;
esac

mkdir "$dir/work2"
cd "$dir/work2"
: >"$dir/inputs"
if echo '{}' | "$render" >"$dir/result" 3>/dev/null 2>"$dir/error"; then
	fail "a clip of nothing"
fi
grep -q "no image" "$dir/error" || fail "no reason: $(cat "$dir/error")"
