#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Chaos: flowcond killed at moments that nobody chose, the engine restarted under load, bursts of
# containers, one that prints all the time. What must hold: after a restart each container has a
# valid limit, after a stop exactly what its user gave, and nobody waits for another's noise.
# usage: chaos.sh BINDIR
#
#   FLOWCON_TEST_CHAOS=N   kill flowcond so often (default 20), and bursts in proportion;
#                           docs/reliability.md was measured with 200
# shellcheck disable=SC2317,SC2119 # functions are called by name, with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KILLS=${FLOWCON_TEST_CHAOS:-20}
JOBS=6

begin "$@"
at_exit engine_up

declare -A GIVEN=()
for ((i = 1; i <= JOBS; i++)); do
  options=(--label flowcon.enable=true --cpu-shares $((256 * i)))
  [ $((i % 2)) = 0 ] || options+=(--cpus 1.5)
  job "job$i" "$([ $((i % 3)) = 0 ] && printf learn || printf flat)" "${options[@]}"
  ORIGINAL[job$i]=$(natural_weight $((256 * i)))
  GIVEN[job$i]=$(setting "job$i")
done

# given_is_back: each job has exactly what its user gave.
given_is_back() {
  local name bad=0
  for name in "${!GIVEN[@]}"; do is "$name $(setting "$name")" "$name ${GIVEN[$name]}" || bad=1; done
  return "$bad"
}
# has_valid_limits: the weight of each is one that the formula can give, and no quota was lost.
has_valid_limits() {
  local name weight
  for name in "${!GIVEN[@]}"; do
    weight=$(weight "$name")
    [ "$weight" -ge 2 ] && [ "$weight" -le 262144 ] && is "$(quota "$name")" "${GIVEN[$name]#* }" || return 1
  done
}
all_controlled() { status_has "[.containers[] | select(.state == \"controlled\")] | length == $JOBS"; }

# --- killed at random moments -----------------------------------------------------------------------

RANDOM=${FLOWCON_TEST_SEED:-$$}
seed=$RANDOM
wrong=0
for ((round = 1; round <= KILLS; round++)); do
  launch_flowcond
  # From before its first system call to the middle of its decisions; jobs change their minds.
  pause "$(awk -v r="$RANDOM" 'BEGIN {printf "%.3f", 3 * (r / 32768) ^ 2}')"
  job_mode "job$((RANDOM % JOBS + 1))" "$([ $((RANDOM % 2)) = 0 ] && printf learn || printf flat)"
  kill_flowcond
  has_valid_limits || wrong=$((wrong + 1))
done
check "$KILLS times killed (seed $seed): each container has a valid limit after each" is "$wrong" 0
start_flowcond
eventually "the next start controls all of them" all_controlled
eventually "with the weights of the formula, from their own originals" weights_as_computed
stop_flowcond
check "and its stop gives each exactly what its user gave" given_is_back
check "no original is kept any more" is "$(saved_originals)" ""
check "the state is whole" is "$(python3 -c '
import sqlite3, sys
print(*[sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()[0] for path in sys.argv[1:]])' \
  "$STATE/flowcon.db" "$STATE/journal.db")" 'ok ok'

# --- the engine restarts under load -----------------------------------------------------------------

start_flowcond
must wait_until "$PATIENCE" all_controlled
ENGINE_ROUNDS=$(((KILLS + 19) / 20))
for ((round = 1; round <= ENGINE_ROUNDS; round++)); do
  must engine_down
  must engine_up
  eventually "after restart $round of the engine flowcond hears it again" status_has '.engine.reachable'
  # An engine that ends takes its containers along.
  for ((i = 1; i <= JOBS; i++)); do must docker start "job$i"; done
  eventually "and controls what runs" all_controlled
  eventually "with the weights of the formula" weights_as_computed
done

# --- bursts -----------------------------------------------------------------------------------------

BURST=$((KILLS * 3 / 2))
reverts=$(status .reverts)
seq "$BURST" | xargs -P 6 -I {} docker run -d --name burst{} --network none --label flowcon.enable=true \
  "$IMAGE" sh -c 'while :; do echo "loss: 0.5"; sleep 1; done' >/dev/null
check "$BURST containers started in a burst" is "$(docker ps -q --filter name=burst | wc -l)" "$BURST"
eventually "and all are controlled" status_has "[.containers[] | select(.state == \"controlled\")] | length == $((BURST + JOBS))"
mapfile -t burst < <(seq -f 'burst%.0f' "$BURST")
know "${burst[@]}" "${!GIVEN[@]}"
eventually "with the weights of the formula" weights_as_computed
docker ps -q --filter name=burst | xargs -P 6 -n 5 docker rm -f >/dev/null
eventually "killed in a burst, none is left in the status" all_controlled
eventually "and the weights are those of the ones that stay" weights_as_computed
check "nobody else's write was seen in all of that" status_has ".reverts == $reverts"

# --- one that prints all the time -------------------------------------------------------------------

# decides_each_tick: a decision a second, the noise notwithstanding; interval 1, so at most one tick more.
decides_each_tick() {
  records job3 | jq -e '[.decisions[-12:][] | .[0]] | [range(1; length) as $i | .[$i] - .[$i - 1]] | max < 2.2' >/dev/null ||
    { records job3 | jq -c '[.decisions[-12:][] | .[0]]'; return 1; }
}
job_mode job3 learn
prints noisy 'yes "loss: 0.25"' --label flowcon.metric=loss
eventually "a container that prints all the time is read" container_has noisy '.values > 100000'
lines() { status '.containers[] | select(.name == "noisy") | .values'; }
before=$(lines) began=$(date +%s%N)
await_decisions job3 12
rate=$(awk -v n=$(($(lines) - before)) -v t=$(($(date +%s%N) - began)) 'BEGIN {printf "%d", n * 1e9 / t}')
eventually "others' decisions come each second all the while ($rate lines/s were read)" decides_each_tick
check "the memory that it costs is bounded" test "$(flowcond_memory)" -lt 65536
must docker rm -f noisy

stop_flowcond
check "after the end each has exactly what its user gave" given_is_back
check "flowcond had no fault of its own" flowcond_is_calm

finish
