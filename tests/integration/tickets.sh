#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tickets, with all that people and programs do to them: options that a job cannot have, labels of a megabyte, names
# that change, containers that are removed or started by hand at each step, and a disk that is full.
# usage: tickets.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# ticket NAME REQUEST SCRIPT [DOCKER-CREATE-OPTIONS...]
ticket() {
  local name=$1 request=$2 text=$3
  shift 3
  must docker create --name "$name" --network none --label flowcon.queue=true --label "flowcon.request=$request" \
    "$@" "$IMAGE" sh -c "$text" >/dev/null
}
# large_ticket NAME LABEL BYTES: no command line takes such a label.
large_ticket() {
  head -c "$3" /dev/zero | tr '\0' 7 >"$WORK/value"
  jq -n --arg image "$IMAGE" --arg key "$2" --rawfile value "$WORK/value" \
    '{Image: $image, Cmd: ["sh", "-c", "exit 0"], HostConfig: {NetworkMode: "none"},
      Labels: ({"flowcon.queue": "true", "flowcon.request": "cpu=1,mem=50M"} + {($key): $value})}' >"$WORK/large.json"
  must curl -sS --max-time 30 --unix-socket "$ENGINE_SOCKET" -H 'Content-Type: application/json' \
    --data-binary "@$WORK/large.json" "http://docker/containers/create?name=$1" >/dev/null
}
job_has() {
  local seen
  seen=$(api GET "/v1/queue/$1")
  jq -e "$2" <<<"$seen" >/dev/null || { printf '%s\n' "$seen" | head -c 1500; return 1; }
}
job_is() { job_has "$1" ".state == \"$2\""; }
state_of() { engine_get "/containers/$1/json" | jq -r '.State.Status // "none"'; }
is_container() { is "$(state_of "$1")" "$2"; }
queue_act() { api POST "/v1/queue/$1/$2" '{}' >/dev/null; }
plugin() { FLOWCON_SOCKET=$SOCKET docker flowcon "$@"; }

begin "$@"
mkdir -p "$DOCKER_CONFIG/cli-plugins"
ln -s "$BIN/docker-flowcon" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"
mkdir -p "$STATE"
must mount -t tmpfs -o size=3m,mode=700 flowcon-test "$STATE"
start_flowcond --offer "cpu=1 mem=200M"
# shellcheck disable=SC2016 # for the shell in the container
saves='trap "exit 0" USR1; while :; do sleep 0.1; done'
lasts='while :; do sleep 0.2; done'

# --- options that a job cannot have -------------------------------------------------------------------------

# cannot_have WORDS OPTION...
cannot_have() {
  local words=$1 name=has${2//[=:]/-}
  shift
  must docker create --name "$name" --network none --label flowcon.queue=true "$@" "$IMAGE" true >/dev/null
  eventually "$1: a container with it is refused" job_has "$name" ".state == \"refused\" and (.note | contains(\"$words\"))"
  check "  and stays as it is" is_container "$name" created
  docker rm "$name" >/dev/null
  check "  submit says so before there is one" fails_with 125 "${1%%=*}" plugin submit --name "$name" --network none "$@" "$IMAGE" true
  check "  and leaves none" is_container "$name" none
}
cannot_have "--rm would remove it" --rm
cannot_have "-i and -t need somebody" -t
cannot_have "-i and -t need somebody" -i
cannot_have "only one container can have" -p 8123:80
cannot_have "pin it to processors" --cpuset-cpus 0
cannot_have "pin it to processors" --cpuset-mems 0
cannot_have "--restart would start it" --restart always
cannot_have "--restart would start it" --restart=on-failure:3

# --- labels ---------------------------------------------------------------------------------------------------

for label in flowcon.request flowcon.priority flowcon.retries flowcon.metric someone.else; do
  large_ticket "$label" "$label" 1000000
  eventually "a megabyte in $label: it is a job and ends" job_has "$label" '.state == "done"'
  check "  and its warnings are short" job_has "$label" '([.warnings[]?] | join("") | length) < 2000'
  docker rm "$label" >/dev/null
done
check "the list stays short" is "$(api GET /v1/queue | wc -c | awk '{print ($1 < 20000)}')" 1

# --- names and people, at each step ----------------------------------------------------------------------------

ticket first cpu=1,mem=100M "$saves" --label flowcon.checkpoint.signal=USR1 --label flowcon.checkpoint.timeout=20
eventually "a job runs" job_is first running
docker rename first runner
eventually "renamed while it runs, it has its new name" job_has runner '.name == "runner" and .state == "running"'
ticket second cpu=1,mem=100M 'exit 0'
eventually "another one waits" job_is second waiting
docker rename second waiter
eventually "renamed while it waits, it has its new name" job_has waiter '.name == "waiter" and .state == "waiting"'
must queue_act waiter hold
must queue_act runner park
eventually "the first is parked" job_has runner '.state == "waiting" and .held'
docker rename runner parked
eventually "renamed then, it has its new name" job_has parked '.name == "parked"'
must queue_act parked release
eventually "and goes on" job_is parked running
ticket stubborn cpu=1,mem=100M 'trap "" USR1; while :; do sleep 0.1; done' --label flowcon.checkpoint.signal=USR1 --label flowcon.checkpoint.timeout=60
must queue_act parked cancel
eventually "one that does not listen runs" job_is stubborn running
must queue_act stubborn park
eventually "and is asked to save itself" job_is stubborn parking
docker rename stubborn deaf
eventually "renamed meanwhile, it has its new name" job_has deaf '.name == "deaf"'
docker rm -f deaf >/dev/null
eventually "removed meanwhile, it is cancelled" job_is deaf cancelled
must queue_act waiter release
eventually "the one that waited runs, and is done" job_is waiter "done"
docker rename waiter ended
docker start ended >/dev/null
docker wait ended >/dev/null
eventually "a job that is over is none any more, whoever starts it" job_has ended '.state == "done" and .attempt == 1'
docker rm ended parked >/dev/null

ticket held cpu=1,mem=100M "$lasts"
must wait_until "$PATIENCE" job_is held running
ticket other cpu=1,mem=100M "$lasts"
must queue_act other hold
docker start other >/dev/null
eventually "started by hand while it is held, a job leaves the queue" job_has other '.state == "cancelled" and (.note | contains("by hand"))'
check "and runs" is_container other running
docker start held >/dev/null
check "to start one that runs changes nothing" job_has held '.state == "running" and .attempt == 1'
docker restart -t 1 held >/dev/null
eventually "docker restart of one that runs is a person's word" job_has held '.state == "running" or .state == "cancelled"'
check "and it runs" is_container held running
docker rm -f held other >/dev/null
eventually "docker rm -f of one that runs cancels it" job_is held cancelled

# --- a disk that is full ------------------------------------------------------------------------------------------

# Who reads the journal keeps what is written from going where something was before.
read_journal() {
  python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN")
db.execute("SELECT count(*) FROM sqlite_master").fetchall()
print("reads", flush=True)
sys.stdin.read()' "$STATE/journal.db" <"$WORK/hold" >"$WORK/reads" &
  READER=$!
  exec 8>"$WORK/hold"
  must wait_until "$PATIENCE" grep -q reads "$WORK/reads"
}
mkfifo "$WORK/hold"
fill() { dd if=/dev/zero of="$STATE/filler" bs=1k oflag=append conv=notrunc 2>/dev/null || :; }
started="echo started; exit 0"
ticket before cpu=1,mem=50M "$lasts"
eventually "a job runs" job_is before running
read_journal
number=0
is_full() { job_has "during-$number" '.note | contains("no room left")' >/dev/null; }
until [ "$number" = 30 ] || { [ "$number" -gt 0 ] && wait_until 2 is_full >/dev/null; }; do
  number=$((number + 1))
  fill
  ticket "during-$number" cpu=1,mem=50M "$started"
done
eventually "a job that could not be written says so" is_full
docker stop -t 1 before >/dev/null
of_all() { for ((i = 1; i <= number; i++)); do "$@" "during-$i" || return 1; done; }
was_started_once() { job_has "$1" '.state == "done" and .attempt == 1' && is "$(docker logs "$1")" started; }
exec 8>&-
wait "$READER"
rm "$STATE/filler"
PATIENCE=60 eventually "once there is room, the one that was stopped is over" job_is before cancelled
PATIENCE=90 eventually "and those that waited are done, after one start each" of_all was_started_once

check "flowcond still runs" flowcond_runs
stop_flowcond
umount "$STATE"
finish
