#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What one peer may take of a host, whatever it asks for: h2 is asked by who has the key of h1, or of h3. Nothing of it
# may stop h2, keep other peers out, fill its disk, or tell what else is on it.
# usage: bounds.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

# The disk of the second engine is a small one.
must_start_engine() {
  if [ "${1##*/}" = engine2 ]; then
    mkdir -p "$1/data"
    mount -t tmpfs -o size=320m bounds "$1/data"
    at_exit unmount_disk "$1/data"
  fi
  engine_start "$1" || die "the private engine did not start"
}
# Where the engine's end has not done it already.
unmount_disk() { ! mountpoint -q "$1" || umount -l "$1"; }
here=$(dirname "${BASH_SOURCE[0]}")
# asks NAME VERB ARGUMENT...
asks() { timeout 300 python3 "$here/hostile.py" "$WORK/h2/peer.sock" "$1" "$IDS" "$WORK/image.json" "${@:2}"; }
id_of() { host_api h2 GET /v1/peers | jq -r "$1"; }
threads() { sed -n 's/^Threads:[^0-9]*//p' "/proc/$(host_pid h2)/status"; }
threads_are() { is "$(threads)" "$1"; }
# Above the first, from one more thread to the four that may wait.
threads_are_few() { [ "$(threads)" -gt "$1" ] && [ "$(threads)" -le $(($1 + 4)) ]; }
memory_of_h2() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(host_pid h2)/status"; }
free_bytes() { df --output=avail -B 1 "$WORK/engine2/data" | tail -n 1; }
# Within the spare of a move, 5 % of the disk.
has_room_as() { [ "$(free_bytes)" -gt $(($1 - (16 << 20))) ]; }
both_ended() { has_ended h1 "$1" && has_ended h2 "$1"; }
is_gone() { not at h2 inspect "$1" >/dev/null 2>&1; }
begin_hung() {
  python3 "$here/hung_mount.py" "$1" >"$WORK/hung.log" 2>&1 9>&- &
  HUNG=$(process_token $!)
  wait_until 30 grep -q mounted "$WORK/hung.log"
}
end_hung() {
  process_end "$HUNG" 30 || :
  wait "${HUNG%%:*}" 2>/dev/null || :
  umount -l "$1"
}

begin_pair "$@"
PATIENCE=120
HOST_HEARTBEAT=20
mkdir -p "$WORK/sets/a" "$WORK/secret"
ln -s "$WORK/secret" "$WORK/sets/out"
HOST_CONF="peer = h3
[accept]
mounts = $WORK/sets $WORK/accepted"
host_up h1
host_up h2
must wait_until "$PATIENCE" both_reach
IDS=$(id_of '.peers[] | select(.name == "h1") | .id'),$(id_of .here.id)
at h2 image inspect "$IMAGE" >"$WORK/image.json"

# --- what a job of a person asks for ----------------------------------------------------------------------

at h1 run -d --name vae --network none -v ckpt:/ckpt -v "$WORK/sets/a:/a:ro" --ulimit nofile=1024 -p 18080:80 \
  --label flowcon.migrate=app --label flowcon.mounts=shared "$IMAGE" \
  sh -c 'trap "date >/ckpt/last; exit 0" TERM; while :; do echo loss: 1; date >/ckpt/last; sleep 0.2; done' >/dev/null
eventually "h1 knows its job" knows h1 vae
check "it is asked to move" host_api h1 POST /v1/containers/vae/migrate '{"host":"h2"}'
eventually "with a folder, a volume, a port and a ulimit it arrives" runs_only_on h2 vae
eventually "and the move ends on both sides" both_ended vae
# --- what it learns ---------------------------------------------------------------------------------------

process=/proc/$(host_pid h2)
said=$(asks h1 mounting /etc/shadow /nonexistent/x /root "$process/fd/0" "$process/fd/9999" /proc/1/exe | sort | uniq -c)
check "of what is not accepted one sentence is said, whether it is there or not" \
  is "$(tr -s ' ' <<<"$said")" " 6 mounting 'PATH' of this host is not accepted"
said=$(asks h1 mounting "$WORK/sets/out" "$WORK/sets/missing" "$WORK/sets/out/missing" | sort | uniq -c)
check "and one of what is not there and of links that lead out" \
  is "$(tr -s ' ' <<<"$said")" " 3 'PATH' is not there, or links lead out of the folders that are accepted"
check "what is accepted and there has nothing against it" is "$(asks h1 mounting "$WORK/sets/a")" ""
said=$(asks h1 asking '{"Ulimits": [{"Name": "rtprio", "Soft": 99, "Hard": 99}, {"Name": "warp", "Soft": 1, "Hard": 1}]}')
check "a ulimit that takes from the host is refused" holds "$said" "the ulimit 'rtprio' above 0 is not accepted"
check "and one that is not known, by its name" holds "$said" "the ulimit 'warp' is not known and not accepted"
check "a plan with 60,000 ports is refused by its bound" \
  is "$(asks h1 many ports 60000)" "413 a plan of more than 1 MiB is not accepted"
check "and one with 5,000" is "$(asks h1 many ports 5000)" "422 a container with more than 64 ports is not accepted"
check "one with 5,000 mounts" is "$(asks h1 many mounts 5000)" "422 a container with more than 64 mounts is not accepted"
check "one with 65 devices" is "$(asks h1 many devices 65)" "422 a container with more than 64 devices is not accepted"
check "and one with 64 is looked at" is "$(asks h1 many mounts 64 | wc -l)" 64

# --- file systems that hang -------------------------------------------------------------------------------

if [ -e /dev/fuse ]; then
  mkdir -p "$WORK/elsewhere" "$WORK/accepted"
  begin_hung "$WORK/elsewhere" || die "no file system hangs"
  check "a path on a mount that hangs and is not accepted is not looked at" \
    is "$(asks h1 mounting "$WORK/elsewhere/x")" "mounting 'PATH' of this host is not accepted"
  check "and flowcond answers" host_answers h2
  end_hung "$WORK/elsewhere"
  begin_hung "$WORK/accepted" || die "no file system hangs"
  before=$(threads)
  check "one that is accepted and hangs is a reason" is "$(asks h1 mounting "$WORK/accepted/x")" \
    "the folders that it mounts cannot be checked there: the file system does not answer"
  check "flowcond answers meanwhile" host_answers h2
  check "of 12 that ask for it each is answered" is "$(asks h1 together "$WORK/accepted/x" 12)" 12
  check "a few threads wait for it and no more" threads_are_few "$before"
  check "and flowcond answers" host_answers h2
  end_hung "$WORK/accepted"
  eventually "when the mount is gone no thread waits" threads_are "$before"
else
  skip "a path on a mount that hangs" "there is no /dev/fuse"
fi

host_kill h1

# --- connections ------------------------------------------------------------------------------------------

check "of 600 silent connections of one peer 16 stay" \
  is "$(asks h1 scale 600 h3)" "16 stay, another peer is answered with 200"

# --- room -------------------------------------------------------------------------------------------------

# The host of the key can be reached, and does not say what is true. A long heartbeat: it stays reachable.
at_exit wake_h1
silence_h1() {
  host_up h1
  must wait_until "$PATIENCE" both_reach
  kill -STOP "$(host_pid h1)"
}
wake_h1() { ! host_runs h1 || kill -CONT "$(host_pid h1)"; }
silence_h1
before=$(free_bytes)
said=$(asks h1 fill 600)
check "a move that announced a byte and fills the disk is stopped" holds "$said" "507 "
eventually "it is undone by itself" has_ended h2 filler
eventually "nothing of it is left" is_gone filler
eventually "and the disk is as empty as before" has_room_as "$before"
check "containers run there" at h2 run --rm --network none "$IMAGE" true
host_kill h1
silence_h1
said=$(asks h1 seats 3)
check "one peer has two containers on their way" is "$(grep -c '^200 ' <<<"$said")" 2
check "and not three" holds "$said" "409 2 containers of that host are on their way here already"

check "all of this took less memory than half of MemoryHigh" [ "$(memory_of_h2)" -lt $((512 << 10)) ]
say "flowcond of h2 had $(($(memory_of_h2) / 1024)) MiB at most"
check "flowcond has said nothing of an error" flowcond_is_calm
wake_h1
finish_pair
