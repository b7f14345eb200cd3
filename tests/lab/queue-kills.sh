#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# FLOWCON_TEST_KILLS (200) random kills of flowcond on the owner, the host and the coordinator of jobs, while those are
# placed, run and come home: each job comes to its end, having begun once, no task runs twice, and nothing is left. In
# every fifth kill the coordinator stays away until another host coordinates.
# usage: queue-kills.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

KILLS=${FLOWCON_TEST_KILLS:-200}
OPEN=6 # jobs at a time
RANDOM=${FLOWCON_TEST_SEED:-1}

begin_lab 3 --cores 0.7 --disk 2G --no-images
small_images h1 h2 h3
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off'
# h1 coordinates, h2 has the jobs and no room for them, h1 and h3 have.
flowcond_reads h1 'offer = cpu=2 mem=400M'
flowcond_reads h2 'offer = cpu=1 mem=50M'
flowcond_reads h3 'offer = cpu=2 mem=400M'
make_peers h1 h2 h3
watch_tasks h1 h2 h3

# All of them read one volume, of which each host gets a copy.
must on h2 docker run --rm --network none -v corpus:/data "$IMAGE_SMALL" busybox sh -c 'head -c 4000000 /dev/urandom >/data/x'
SUM=$(on h2 docker run --rm --network none -v corpus:/data:ro "$IMAGE_SMALL" busybox md5sum /data/x)

job() {
  must on h2 docker create --name "$1" --network none --label flowcon.queue=true --label flowcon.request=cpu=1,mem=150M \
    -v "$1:/out" -v corpus:/data:ro "$IMAGE_SMALL" busybox sh -c \
    "echo begins; [ \"\$(md5sum /data/x)\" = '$SUM' ] || echo broken; sleep $2; echo $1 >/out/name; echo ends" >/dev/null
}
state_of() { host_api h2 "/v1/queue/$1" 2>/dev/null | jq -r .state; }
# What is wrong with a job that has ended; then it is removed.
judge() {
  local state=$1 name=$2 log
  log=$(on h2 docker logs "$name" 2>/dev/null | tr '\n' ' ')
  [ "$state $log" = "done begins ends " ] || printf '%s %s: %s\n' "$name" "$state" "$log"
  [ "$(on h2 docker run --rm --network none -v "$name:/out" "$IMAGE_SMALL" busybox cat /out/name 2>/dev/null)" = "$name" ] \
    || printf '%s: its volume did not come home\n' "$name"
  on h2 docker rm "$name" >/dev/null && on h2 docker volume rm "$name" >/dev/null || printf '%s cannot be removed\n' "$name"
}

open=() made=0 ended=0 killed=0
: >"$WORK/wrong"
# sweep: jobs that have ended are judged; those that are open stay in `open`.
sweep() {
  local name state left=()
  for name in "${open[@]}"; do
    state=$(state_of "$name") || state=''
    case $state in
      '' | waiting | placing | starting | running | returning) left+=("$name") ;;
      *) judge "$state" "$name" >>"$WORK/wrong"; ended=$((ended + 1)) ;;
    esac
  done
  open=("${left[@]}")
}
is_taken_over() { is "$(cluster h3 .coordinator 2>/dev/null)" h2; }
while [ "$killed" -lt "$KILLS" ]; do
  while [ "${#open[@]}" -lt "$OPEN" ]; do
    made=$((made + 1))
    job "job-$made" "$((RANDOM % 4))"
    open+=("job-$made")
  done
  sleep "$((RANDOM % 8)).$((RANDOM % 10))"
  host=h$((RANDOM % 3 + 1))
  killed=$((killed + 1))
  [ $((killed % 5)) != 0 ] || host=h1
  flowcond_kill "$host"
  sleep "0.$((RANDOM % 10))"
  [ $((killed % 5)) != 0 ] || wait_until 60 is_taken_over >/dev/null || printf 'kill %d: nobody takes over from h1\n' "$killed" >>"$WORK/wrong"
  flowcond_up "$host"
  sweep
  [ $((killed % 20)) != 0 ] || printf '# %d kills, %d jobs ended, %d open, %d wrong\n' "$killed" "$ended" "${#open[@]}" "$(wc -l <"$WORK/wrong")"
done
for ((waited = 0; waited < 300 && ${#open[@]} > 0; waited++)); do sleep 1; sweep; done
check "after $killed kills all of $made jobs come to their end" is "${open[*]}" ""
[ "${#open[@]}" = 0 ] || for name in "${open[@]}"; do host_api h2 "/v1/queue/$name" | jq -c '[.name, .state, .host, .note, .steps]'; done
check "each began once, is done, and has its log and its volume at home" is "$(head -n 20 "$WORK/wrong")" ""
tasks_were_watched
nothing_there() { is "$(for host in h1 h2 h3; do on "$host" docker ps -aq; on "$host" docker volume ls -q | grep -vx corpus; done | sed '/^flowcon-data-/d')" ""; }
PATIENCE=60 eventually "no container is left on any host, and no volume but the data" nothing_there
check "of which h1 and h3 have one copy each" is "$(for host in h1 h3; do on "$host" docker volume ls -q --filter label=org.flowcon.data; done | sort | uniq -c | awk '{ print $1 }')" 2
finish_lab
