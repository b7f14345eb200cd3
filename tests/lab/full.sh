#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A disk that is full again and again under load: jobs come and go on a host whose whole disk, or only the state's, has no
# room for some seconds, then has, for FLOWCON_TEST_FULL_SECONDS (600). At each moment every limit is one that the kernel
# and the formula know, flowcond goes on and says what is wrong; afterwards a job moves away, and a stop gives each
# container exactly what its user gave.
# usage: full.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"
# shellcheck source-path=SCRIPTDIR source=breaks.sh
. "$(dirname "${BASH_SOURCE[0]}")/breaks.sh"

LENGTH=${FLOWCON_TEST_FULL_SECONDS:-600}
JOBS=5

have gcc || nothing_runs "gcc is not installed (scripts/setup)"
begin_lab 2 --cores 1 --disk 2G
disks_can_break h1
make_peers h1 h2

# --- jobs and what the kernel has of them ---------------------------------------------------------

# learner NAME SHARES [OPTION...]: loses a twentieth of its loss each moment.
learner() {
  local name=$1 shares=$2
  shift 2
  on h1 docker run -d --name "$name" --network none --label flowcon.enable=true --cpu-shares "$shares" "$@" "$IMAGE_SMALL" \
    sh -c 'n=1000000; while :; do echo "loss: $n"; n=$((n * 19 / 20)); [ $n -gt 100 ] || n=1000000; sleep 0.3; done'
}
# settings: "NAME WEIGHT QUOTA PERIOD" of each container that runs.
settings() {
  on h1 bash -c '. /opt/source/tests/integration/lib.sh
    mapfile -t names < <(docker ps --format "{{.Names}}" | sort)
    know "${names[@]}"
    for name in "${names[@]}"; do printf "%s %s\n" "$name" "$(setting "$name")"; done'
}
# given: the same from what users gave, for those that run.
given() { on h1 docker ps --format '{{.Names}}' | sort | while read -r name; do grep "^$name " "$WORK/given"; done; }
# gives NAME SHARES QUOTA: what "docker run" with these would be in the kernel.
gives() { printf '%s %s %s 100000\n' "$1" "$(on h1 bash -c '. /opt/source/tests/integration/lib.sh; natural_weight "$1"' w "$2")" "$3" >>"$WORK/given"; }

valid() {
  local seen
  seen=$(settings)
  printf '%s\n' "$seen" | awk 'NF != 4 || $2 !~ /^[0-9]+$/ || $2 < 1 || $2 > 262144 || ($3 != "max" && $3 < 1000) {print; bad = 1} END {exit bad || !NR}' &&
    is "$(cut -d' ' -f1,3,4 <<<"$seen")" "$(given | cut -d' ' -f1,3,4)"
}
pid_is() { [ "$(on h1 cat /run/flowcond.pid)" = "$1" ] && flowcond_lives h1; }
said() { host_has h1 '.warnings | any(contains("no room left"))'; }
controls_all() { host_has h1 "[.containers[] | select(.state == \"controlled\" and (.note | contains(\"original\") | not))] | length == $(on h1 docker ps -q | wc -l)"; }
originals() {
  on h1 python3 -c '
import sqlite3
for name, in sqlite3.connect("/var/lib/flowcon/journal.db").execute("SELECT name FROM originals"):
    print(name)'
}

: >"$WORK/given"
for ((i = 1; i <= JOBS; i++)); do
  must learner "job$i" $((256 * i)) --cpus 0.5
  gives "job$i" $((256 * i)) 50000
done
counter h1 mover -v mover:/ckpt --label flowcon.enable=true
gives mover 0 max
must wait_until 60 controls_all
pid=$(on h1 cat /run/flowcond.pid)

# --- full, and not ----------------------------------------------------------------------------------

RANDOM=${FLOWCON_TEST_SEED:-$$}
seed=$RANDOM
began=$SECONDS rounds=0 looks=0 invalid=0 silent=0 arrivals=0 last=''
look() {
  local seen
  looks=$((looks + 1))
  seen=$(valid 2>&1) || { invalid=$((invalid + 1)) && printf 'round %d: %s\n' "$rounds" "$seen"; }
  pause 0.5
}
while [ "$(seconds_since "$began")" -lt "$LENGTH" ]; do
  rounds=$((rounds + 1))
  # In turn the state's databases alone, so that jobs can come and go and print, and the whole disk.
  if [ $((rounds % 2)) = 1 ]; then
    disk h1 'full 28 - *.db*'
    arrivals=$((arrivals + 1))
    [ -z "$last" ] || on h1 docker rm -f "$last" >/dev/null 2>&1 || :
    last=guest$arrivals
    must learner "$last" 512
    gives "$last" 512 max
  else
    must "$LAB" fill h1
  fi
  until=$((SECONDS + 4 + RANDOM % 10))
  while [ "$SECONDS" -lt "$until" ]; do
    look
  done
  wait_until 20 said >/dev/null || silent=$((silent + 1))
  "$LAB" heal h1
  disk h1
  until=$((SECONDS + 2 + RANDOM % 6))
  while [ "$SECONDS" -lt "$until" ]; do
    look
  done
done
words="$rounds times full within $(seconds_since "$began") s (seed $seed)"
check "$words: each of $looks looks found valid limits" is "$invalid" 0
check "the status said it each time" is "$silent" 0
check "flowcond lives, the same one" pid_is "$pid"
eventually "with room each container is controlled, its original kept" controls_all
has_moved() { [ -n "$(running h2 mover)" ] && wait_until 30 goes_on h2 mover; }
check "a job moves away" move h1 mover h2
check "and goes on there" has_moved
eventually "the warning goes" not said
flowcond_stop h1
check "a stop gives each exactly what its user gave" is "$(settings)" "$(given)"
check "no original is kept any more" is "$(originals)" ""

finish_lab
