#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What goes with a container from one engine to another: a volume, a path, the writable layer, the log.
# shellcheck disable=SC2016,SC2119,SC2317 # scripts of containers; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

BIG_MIB=${FLOWCON_TEST_BIG_MIB:-200}

begin "$@"
[ -x "$BIN/carry" ] || nothing_runs "carry is not built (ninja carry)"

if [ "$ENGINE_DIR" = machine ]; then nothing_runs "needs a second engine"; fi
HERE=$ENGINE_SOCKET
OTHER=$WORK/other
SAVED_CGROUP=$ENGINE_CGROUP
must_start_engine "$OTHER"
THERE=$ENGINE_SOCKET
ENGINE_SOCKET=$HERE ENGINE_CGROUP=$SAVED_CGROUP
there() { DOCKER_HOST=unix://$THERE docker "$@"; }
must docker save -o "$WORK/image.tar" "$IMAGE"
must there load -i "$WORK/image.tar"
mkdir "$WORK/here" "$WORK/there"

# carry KIND [WHERE [BYTES]]
carry() { "$BIN/carry" "$HERE" "$FROM" "$WORK/here" "$THERE" "$TO" "$WORK/there" "$@"; }
volume_here() { docker volume inspect -f '{{.Mountpoint}}' "$1"; }
volume_there() { there volume inspect -f '{{.Mountpoint}}' "$1"; }
upper_there() { there inspect -f '{{.GraphDriver.Data.UpperDir}}' "$TO"; }

# sum_of FOLDER: names, kinds, modes, owners, links, attributes and bytes of all that is in it.
sum_of() {
  tar -C "$1" --sort=name --format=posix --pax-option=delete=atime,delete=ctime,exthdr.name=%d/x \
    --numeric-owner --acls --xattrs '--xattrs-include=user.*' -c . | sha256sum
}

# copy OPTIONS...: a created container over there, never started.
copy() {
  there rm -fv copy >/dev/null 2>&1 || :
  TO=$(there create --name copy --network none "$@" "$IMAGE" sh -c 'echo three; sleep 600')
}

# --- something to carry ---------------------------------------------------------------------------

must docker run --name parts --network none -v parts-data:/data "$IMAGE" sh -c '
  b=/bin/busybox
  $b mkdir -p "/data/odd name" /data/sub /out/deep/ckpt/run1
  printf hi > "/data/odd name/-f
x"
  printf hey > /data/sub/f; $b chown -R 1234:4321 /data/sub; $b chmod 4751 /data/sub/f
  $b ln /data/sub/f /data/hard; $b ln -s /etc/passwd /data/abs; $b ln -s ../../x /data/rel
  $b truncate -s 10M /data/sparse; $b mkfifo /data/fifo; $b touch -d "2001-01-01 01:01:01" /data/old
  $b chown 77:77 /data; $b chmod 1770 /data
  head -c '"$((BIG_MIB << 20))"' /dev/urandom > /data/big
  printf 1 > /out/deep/ckpt/run1/m.pt; $b ln /out/deep/ckpt/run1/m.pt /out/deep/ckpt/hard
  $b ln -s deep/ckpt/run1 /out/latest; $b ln -s ../../../tmp/x /out/deep/ckpt/far
  $b chown -R 5:6 /out/deep; $b chmod 700 /out/deep/ckpt
  $b rm /bin/yes
  echo one; echo two >&2; printf "no end"'
FROM=$(docker inspect -f '{{.Id}}' parts)
python3 -c 'import os, sys; os.setxattr(sys.argv[1] + "/old", "user.k", b"v")' "$(volume_here parts-data)"

# --- a volume -------------------------------------------------------------------------------------

copy -v parts-data:/data:ro
started=$(date +%s%N)
check "a volume of $BIG_MIB MiB and more is carried over" carry volume /data
say "# it took $((($(date +%s%N) - started) / 1000000)) ms"
same_volume() { is "$(sum_of "$(volume_there parts-data)")" "$(sum_of "$(volume_here parts-data)")"; }
check "with every byte, name, owner, mode, link, time and attribute" same_volume
touch "$(volume_there parts-data)/stray"
check "it is carried over again" carry volume /data
check "and what was there before is not there any more" same_volume
check "one that is larger than is taken is refused" fails_with 1 "too large together" carry volume /data 1000000
check "where there is no volume: a sentence" fails_with 1 "there is no volume at /nope" carry volume /nope
# What comes is unpacked beside the volume, on its disk.
mount -t tmpfs -o size=4m tmpfs "$(dirname "$(volume_there parts-data)")"
mkdir "$(volume_there parts-data)"
at_exit engine_unmount_below "$OTHER"
check "a full disk is told" fails_with 1 "No space left on device" carry volume /data
umount "$(dirname "$(volume_there parts-data)")"
there create --name rival -v parts-data:/d "$IMAGE" true >/dev/null
check "a volume that another container has is not touched" fails_with 1 "used by another container" carry volume /data

# --- a path, the layer, the log -------------------------------------------------------------------

copy
check "a path is carried over, with what leads there" carry path /out/latest
in_upper() { stat -c '%a %u:%g %h %F' "$(upper_there)/$1"; }
check "its file" is "$(in_upper out/deep/ckpt/run1/m.pt)" "644 5:6 1 regular file"
check "the folders above it" is "$(in_upper out/deep/ckpt)" "700 5:6 3 directory"
check "the link that was its name" is "$(readlink "$(upper_there)/out/latest")" "deep/ckpt/run1"
check "a folder, with links that lead out of it" carry path /out/deep/ckpt
check "hard links" is "$(in_upper out/deep/ckpt/hard)" "644 5:6 2 regular file"
check "symlinks" is "$(readlink "$(upper_there)/out/deep/ckpt/far")" "../../../tmp/x"
check "a path that is not there: a sentence" fails_with 1 "/out/nothing" carry path /out/nothing
copy
check "the writable layer is carried over" carry layer
check "what is deleted is deleted there" is "$(in_upper bin/yes)" "0 0:0 1 character special file"
check "the log is carried over" carry log
must there start copy
logs_there() { there logs copy 2>&1 | sort | tr '\n' ' '; }
is_log() { is "$(logs_there)" "no end one three two "; }
eventually "the engine goes on in it, in a line of its own" is_log
check "nothing is carried into a copy that was started" fails_with 1 "has been started already" carry log
check "nor out of a container that runs" fails_with 1 "the container runs" "$BIN/carry" "$THERE" "$TO" "$WORK/there" "$HERE" "$FROM" "$WORK/here" log

# --- a log whose driver has no such file ----------------------------------------------------------

copy --log-driver local
check "where the driver is another one the log is kept beside" carry log
kept=$WORK/there/lives/$TO.log
# The engine reads the two streams side by side: their order is not the order of writing.
check "as lines that json-file would write" is "$(jq -r '.log' "$kept" | sort | xargs)" "no end one two"
check "for root alone" is "$(stat -c %a "$kept")" 600

there rm -fv copy rival >/dev/null
docker rm -fv parts >/dev/null

# --- what was recorded ----------------------------------------------------------------------------

SCRIPT='i=0; [ ! -e /step ] || i=$(cat /step); n=$((i + 20)); while [ $i -lt $n ]; do i=$((i + 1)); echo "step $i/99 loss: $((100 - i)).5"; echo $i >/step; sleep 0.05; done; sleep 600'
values() { records "$1" | jq -c '[.samples[][1]]'; }
values_are() { is "$(values "$1")" "$2"; }
losses() { jq -nc "[range(1; $1 + 1) | 100.5 - .]"; }
STATE_HERE=$WORK/state-here
STATE_THERE=$WORK/state-there
# at HERE|THERE: which flowcond the next words are about.
at() {
  stop_flowcond
  if [ "$1" = HERE ]; then STATE=$STATE_HERE ENGINE_SOCKET=$HERE; else STATE=$STATE_THERE ENGINE_SOCKET=$THERE; fi
}

# lives_on DRIVER: a job prints 20 values here, and 20 more there.
lives_on() {
  local name=life-$1 log=
  at HERE
  start_flowcond
  prints "$name" "$SCRIPT" --label flowcon.metric=loss
  eventually "$1: a job is recorded here" values_are "$name" "$(losses 20)"
  must api POST "/v1/containers/$name/set" '{"weight":"3"}'
  docker kill "$name" >/dev/null
  FROM=$(docker inspect -f '{{.Id}}' "$name")
  must wait_until "$PATIENCE" is_finished "$name"
  at THERE
  TO=$(there create --name "$name" --network none --label flowcon.metric=loss --log-driver "$1" "$IMAGE" sh -c "$SCRIPT")
  mkdir -p "$STATE_THERE"
  carry_life() { "$BIN/carry" "$HERE" "$FROM" "$STATE_HERE" "$THERE" "$TO" "$STATE_THERE" "$@"; }
  must carry_life path /step
  must carry_life log
  [ "$1" != json-file ] || log=$OTHER/data/containers/$TO/$TO-json.log
  check "$1: what is known of it is carried over" carry_life life "$log"
  start_flowcond
  must there start "$name"
  eventually "$1: there it goes on, each value once" values_are "$name" "$(losses 40)"
  check "$1: the values of before count for its growth too" container_has "$name" '.values == 40 and .metric == "loss"'
  check "$1: what people decided holds there" container_has "$name" '.weight == 3'
  check "$1: it is told where it was" records_have "$name" '.stays | length == 1'
  shown() { DOCKER_HOST=unix://$THERE FLOWCON_SOCKET=$SOCKET "$BIN/docker-flowcon" flowcon --socket "$SOCKET" logs "$@"; }
  in_log() { is "$(shown "$@" | grep -o '^step [0-9]*' | cut -d' ' -f2 | tr '\n' ' ')" "$WANTED"; }
  WANTED="$(seq 1 40 | tr '\n' ' ')"
  check "$1: docker flowcon logs shows all it printed" in_log "$name"
  WANTED="$(seq 11 40 | tr '\n' ' ')"
  check "$1: the last lines, of both hosts" in_log --tail 30 "$name"
  WANTED="39 40 "
  check "$1: the last lines, of this one" in_log -n 2 "$name"
  stop_flowcond
  start_flowcond
  must wait_until "$PATIENCE" container_has "$name" '.values == 40'
  await_decisions "$name" 2
  check "$1: a restarted flowcond records nothing twice" values_are "$name" "$(losses 40)"
  there rm -f "$name" >/dev/null
  docker rm -f "$name" >/dev/null
}
is_finished() { records_have "$1" '.finished != null'; }
lives_on json-file
lives_on local
stop_flowcond
ENGINE_SOCKET=$HERE
engine_stop "$OTHER"
finish
