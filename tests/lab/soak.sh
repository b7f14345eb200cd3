#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# FLOWCON_TEST_MINUTES (20) of FLOWCON_TEST_JOBS (30) jobs at a time on FLOWCON_TEST_HOSTS (8) hosts, of one container
# and of several, submitted on any of them, while people hold, park, scale and cancel them, and each
# FLOWCON_TEST_FAULT_SECONDS (8) at least, on average, a host meets a fault: each job comes to its end with what it has
# written, no task runs twice, and nothing is left.
# FLOWCON_TEST_SEED repeats the order of jobs and faults. Events, and logs where something failed, go to build/test/soak.
# usage: soak.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"
# shellcheck source-path=SCRIPTDIR source=breaks.sh
. "$(dirname "${BASH_SOURCE[0]}")/breaks.sh"

MINUTES=${FLOWCON_TEST_MINUTES:-20}
OPEN=${FLOWCON_TEST_JOBS:-30}
COUNT=${FLOWCON_TEST_HOSTS:-8}
EACH=${FLOWCON_TEST_FAULT_SECONDS:-8} # between two faults, on average, at least
RANDOM=${FLOWCON_TEST_SEED:-1}
SETTLE=900 # seconds within which all has to be over at the end
FAULTS=(kill-flowcond kill-flowcond stop-flowcond kill-dockerd cut apart power slow-disk journal-fails ssh-killed drained)
mapfile -t HOSTS < <(seq -f 'h%g' "$COUNT")
OUT=$FLOWCON_TOP/build/test/soak

event() { printf '%(%H:%M:%S)T %s\n' -1 "$*" >>"$OUT/events"; }
wrong() { event "WRONG: $*"; printf '%s\n' "$*" >>"$WORK/wrong"; }

# --- jobs -----------------------------------------------------------------------------------------

# Counts as long as it was told, from where it was, and can save itself.
WORK_TEXT='[ "${FLOWCON_ROLE:-worker}" = worker ] || while :; do sleep 0.2; done
echo begins
step=0
[ "${RANK:-0}" != 0 ] || ! read -r step 2>/dev/null </out/step || echo "resumed $step"
save() { [ "${RANK:-0}" != 0 ] || { echo "$step" >/out/part && busybox mv /out/part /out/step && busybox sync /out/step; }; echo saved; exit 0; }
trap save USR1
while [ "$step" -lt "$STEPS" ]; do sleep 0.5; step=$((step + 1)); echo "step $step/$STEPS loss: $((1000000 / step))"; done
[ "${RANK:-0}" != 0 ] || { echo "$JOB" >/out/part && busybox mv /out/part /out/name && busybox sync /out/name; }
echo ends'

# submit: one more job, of a random kind, on a random host that is up.
submit() {
  local host=${HOSTS[RANDOM % COUNT]} kind=$((RANDOM % 4)) steps=$((20 + RANDOM % 160)) cores=$((1 + RANDOM % 2)) options=()
  [ ! -e "$WORK/struck.$host" ] || return 0
  made=$((made + 1))
  local name=job-$made
  case $kind in
    0 | 1) options=(--network none) ;;
    2) options=(--workers 1:3 --elastic "$([ $((RANDOM % 2)) = 0 ] && echo join || echo restart)") ;;
    3) options=(--workers 1:2 --ps 1 --elastic join --ps-request "cpu=$cores,mem=20M") ;;
  esac
  on "$host" timeout 30 docker flowcon submit --name "$name" "${options[@]}" --request "cpu=$cores,mem=30M" --retries 50 \
    -v "$name:/out" -e "STEPS=$steps" -e "JOB=$name" --label flowcon.checkpoint.path=/out/step \
    --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=20 \
    "$IMAGE_SMALL" busybox sh -c "$WORK_TEXT" >/dev/null 2>"$WORK/said" || { event "$name cannot be submitted on $host: $(tail -n 1 "$WORK/said")"; return 0; }
  event "$name submitted on $host: ${options[*]}, $steps steps, $cores cores"
  home[$name]=$host
}

# judge NAME STATE: what is wrong with a job that has ended; then it is removed. Fails where its host is struck meanwhile.
judge() {
  local name=$1 state=$2 host=${home[$1]} seen
  case $state in
    "done")
      seen=$(on "$host" timeout 60 docker run --rm --network none -v "$name:/out:ro" "$IMAGE_SMALL" busybox cat /out/name 2>&1 </dev/null) || :
      [ ! -e "$WORK/struck.$host" ] || return 1
      [ "$seen" = "$name" ] || lost_its_first "$name" || wrong "$name is done, but what it wrote is not at home: $seen"
      ;;
    cancelled) [ "${cancelled[$name]:-}" = yes ] || wrong "$name is cancelled, by nobody" ;;
    *) wrong "$name is $state: $(host_api "$host" "/v1/queue/$name" | jq -c '[.note, .exit, .tasks, .steps[-6:]]')" ;;
  esac
  # Of one that was cancelled before it ran the container is gone.
  on "$host" timeout 60 sh -c 'for c in $(docker ps -aq --filter "name=^/$1\$" --filter "name=^/$1-"); do docker rm "$c"; done && docker volume rm "$1"' \
    rm "$name" >/dev/null 2>"$WORK/said" </dev/null || { [ ! -e "$WORK/struck.$host" ] || return 1; wrong "$name cannot be removed: $(tail -n 1 "$WORK/said")"; }
  ended=$((ended + 1))
  event "$name is $state"
}
# lost_its_first NAME: what the first worker has written comes home; of workers that may join the others go on without it.
lost_its_first() { host_api "${home[$1]}" "/v1/queue/$1" | jq -e '.elastic == "join" and ([.tasks[] | select(.role == "worker")][0].state != "done")' >/dev/null; }

# sweep: judges those that have ended.
sweep() {
  local host name state
  for host in "${HOSTS[@]}"; do
    [ ! -e "$WORK/struck.$host" ] || continue
    while read -r name state; do
      [ "${home[$name]:-}" = "$host" ] || continue
      case $state in waiting | placing | starting | running | parking | stopping | returning) continue ;; esac
      ! judge "$name" "$state" || unset "home[$name]"
    done < <(host_api "$host" /v1/queue 2>/dev/null | jq -r '.jobs[] | "\(.name) \(.state)"' 2>/dev/null)
  done
}

# person: does something to a random job.
person() {
  local names=("${!home[@]}") name host
  [ "${#names[@]}" -gt 0 ] || return 0
  name=${names[RANDOM % ${#names[@]}]}
  host=${home[$name]}
  [ ! -e "$WORK/struck.$host" ] || return 0
  case $((RANDOM % 6)) in
    0) cancelled[$name]=yes; ask "$host" cancel "$name" ;;
    1) ask "$host" hold "$name"; ask "$host" release "$name" ;;
    2 | 3) ask "$host" park "$name" && parked+=("$name") ;;
    4) ask "$host" scale "$name" 1; scaled[$name]=yes ;;
    5) ask "$host" scale "$name" 2; scaled[$name]=yes ;;
  esac
}
# Not each can be done to each job, or just now.
ask() { local seen; seen=$(on "$1" timeout 20 docker flowcon queue "${@:2}" 2>&1) || { event "$* is refused: ${seen##*$'\n'}"; return 0; }; event "$*"; }
# release: those that were parked go on.
release() {
  local name left=()
  for name in ${parked[@]+"${parked[@]}"}; do
    [ -n "${home[$name]:-}" ] || continue
    if [ -e "$WORK/struck.${home[$name]}" ]; then left+=("$name"); continue; fi
    on "${home[$name]}" timeout 20 docker flowcon queue release "$name" >/dev/null 2>&1 || :
    # Until it has saved itself there is nothing to release.
    host_api "${home[$name]}" "/v1/queue/$name" 2>/dev/null | jq -e '.held or .state == "parking"' >/dev/null 2>&1 && left+=("$name")
  done
  parked=(${left[@]+"${left[@]}"})
}

# --- faults ---------------------------------------------------------------------------------------

# boots HOST: docker 20.10 does not start where the power went while it made a network: it panics on its own list of
# networks, and whoever uses it removes that.
boots() {
  "$LAB" boot "$1" && return 0
  on "$1" sh -c 'tail -n 60 /var/log/dockerd.log | grep -q "libnetwork.(\*controller).reservePools"' || return 1
  event "$1: docker panics on its list of networks, which is removed"
  on "$1" rm /var/lib/docker/network/files/local-kv.db && engine_starts "$1"
}
# strike HOST FAULT SECONDS OTHER: a fault from its beginning to its end.
strike() {
  local host=$1 seconds=$3 peer=$4
  event "$host: $2, $seconds s${peer:+, $peer}"
  case $2 in
    kill-flowcond) flowcond_kill "$host" && pause "$((seconds / 4))" && flowcond_up "$host" ;;
    stop-flowcond) flowcond_term "$host" && pause "$((seconds / 4))" && flowcond_up "$host" ;;
    kill-dockerd) engine_kill "$host" && pause "$((seconds / 4))" && engine_starts "$host" ;;
    cut) host_link partition "$host" && pause "$seconds" && host_link heal "$host" ;;
    apart) host_link partition "$host" --from "$peer" && pause "$seconds" && host_link heal "$host" ;;
    power) "$LAB" kill "$host" && pause "$seconds" && boots "$host" && flowcond_up "$host" ;;
    slow-disk)
      disk "$host" "slow 1500 $RANDOM *.db*" && pause "$seconds" && flowcond_kill "$host" && flowcond_up "$host" && disk "$host"
      ;;
    journal-fails)
      disk "$host" "full 28 - $(journal_of "$host")" && pause 5 && disk "$host" "lost 5 - $(journal_of "$host")" && pause 3 && disk "$host"
      ;;
    ssh-killed) ssh_kill "$host" ;;
    drained) on "$host" docker flowcon peer drain "$host" && pause "$seconds" && on "$host" docker flowcon peer undrain "$host" ;;
  esac
}
# strike_someone: unless that host is struck already.
strike_someone() {
  local host=${HOSTS[RANDOM % COUNT]} fault=${FAULTS[RANDOM % ${#FAULTS[@]}]} seconds=$((1 + RANDOM % 20)) other=${HOSTS[RANDOM % COUNT]}
  [ ! -e "$WORK/struck.$host" ] && [ "$host" != "$other" ] || return 0
  [ "$fault" = apart ] || other=''
  : >"$WORK/struck.$host"
  struck=$((struck + 1))
  (
    trap - EXIT INT TERM HUP
    seen=$(strike "$host" "$fault" "$seconds" "$other" 2>&1) || wrong "$host: $fault does not come to its end: ${seen##*$'\n'}"
    rm "$WORK/struck.$host"
  ) &
  strikes+=($!)
}

# --- the whole --------------------------------------------------------------------------------------

keep_all_logs() {
  local host
  for host in "${HOSTS[@]}"; do
    on "$host" sh -c 'cat /var/log/flowcond.log' >"$OUT/$host.log" 2>&1 || :
    on "$host" sh -c 'tail -n 200 /var/log/dockerd.log; docker ps -a; docker volume ls' >"$OUT/$host.engine" 2>&1 || :
    { host_api "$host" /v1/queue; host_api "$host" /v1/moves; host_api "$host" /v1/cluster; } >"$OUT/$host.json" 2>/dev/null || :
  done
}
# What each host has that is not a job's of now. The journal's files and keys stay.
left_over() { for host in "${HOSTS[@]}"; do traces "$host" | grep -Ev '^layers |^image flowcon-|^/var/lib/docker/' | diff "$WORK/$host.traces" - | sed -n "s/^[<>]/$host &/p"; done; }
nothing_left_over() { is "$(left_over)" ""; }
# descriptors HOST: of its flowcond.
descriptors() { on "$1" sh -c 'ls "/proc/$(cat /run/flowcond.pid)/fd" | wc -l'; }
resident() { on "$1" sh -c 'awk "/^VmRSS/ { print int(\$2 / 1024) }" "/proc/$(cat /run/flowcond.pid)/status"'; }

have gcc || nothing_runs "gcc is not installed (scripts/setup)"
begin_lab "$COUNT" --cores 0.7 --disk 2G --no-images
rm -rf "$OUT" && mkdir -p "$OUT"
small_images "${HOSTS[@]}"
disks_can_break "${HOSTS[@]}"
POLICY=$'peer-heartbeat = 3\nspeculate = off\nrebalance = off\nrebalance-idle = off\ndata-cache = 0\noffer = cpu=3 mem=400M\ngroup-network = ports'
for host in "${HOSTS[@]}"; do
  flowcond_reads "$host" "advertise = $(on "$host" ip -4 -br addr show eth0 | grep -o '[0-9.]*/' | tr -d /)"
done
make_peers "${HOSTS[@]}"
for host in "${HOSTS[@]}"; do traces "$host" | grep -Ev '^layers |^image flowcon-|^/var/lib/docker/' >"$WORK/$host.traces" || :; done
watch_tasks "${HOSTS[@]}"

declare -A home=() cancelled=() scaled=()
parked=() strikes=() made=0 ended=0 struck=0
: >"$WORK/wrong"
finish=$((SECONDS + 60 * MINUTES)) next=$((SECONDS + 30)) told=$SECONDS
while [ "$SECONDS" -lt "$finish" ]; do
  for ((tries = 0; tries < 3 && ${#home[@]} < OPEN; tries++)); do submit; done
  sweep
  release
  [ $((RANDOM % 3)) != 0 ] || person
  if [ "$SECONDS" -ge "$next" ]; then
    strike_someone
    next=$((SECONDS + 1 + RANDOM % (2 * EACH)))
  fi
  if [ $((SECONDS - told)) -ge 300 ]; then
    told=$SECONDS
    printf '# %d minutes left: %d faults, %d jobs ended, %d open, %d wrong\n' $(((finish - SECONDS) / 60)) "$struck" "$ended" "${#home[@]}" "$(wc -l <"$WORK/wrong")"
  fi
  pause 1
done
for pid in ${strikes[@]+"${strikes[@]}"}; do wait "$pid" 2>/dev/null || :; done
for host in "${HOSTS[@]}"; do host_link heal "$host"; done
# What no host has room for waits until nobody wants it any more.
for name in "${!scaled[@]}"; do [ -z "${home[$name]:-}" ] || ask "${home[$name]}" scale "$name" none; done
finish=$((SECONDS + SETTLE))
while [ "$SECONDS" -lt "$finish" ] && [ "${#home[@]}" -gt 0 ]; do pause 1; release; sweep; done
check "after $struck faults all of $made jobs come to their end" is "${!home[*]}" ""
for name in "${!home[@]}"; do event "open: $(host_api "${home[$name]}" "/v1/queue/$name" | jq -c '[.name, .state, .host, .note, .tasks, .steps[-6:]]')"; done
check "as it has to be, with what they wrote at home" is "$(head -n 20 "$WORK/wrong")" ""
tasks_were_watched
PATIENCE=90 eventually "nothing is left over on any host" nothing_left_over
check "no flowcond holds more than 100 descriptors" is "$(for host in "${HOSTS[@]}"; do descriptors "$host"; done | awk '$1 > 100')" ""
printf '# resident, MB: %s; descriptors: %s\n' "$(for host in "${HOSTS[@]}"; do resident "$host"; done | xargs)" "$(for host in "${HOSTS[@]}"; do descriptors "$host"; done | xargs)"
[ "$FAILED" = 0 ] || keep_all_logs
finish_lab
