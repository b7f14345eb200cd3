# SPDX-License-Identifier: Apache-2.0
#
# Jobs of several containers as a cluster's operator places them that handles one container at a time: each goes to a
# random host with room, in any order, and a job begins once it has all of them. Jobs can block each other for good.
# What scripts/queue-demo compares the queue with. Sourced after cluster_run.sh.
#
#   exited HOST                NAME, moment of the end and status of each container that has ended there
#   pods_begin CORES           nothing is there; each host has so many cores
#   pods_submit NAME WORKERS CORES COMMAND...
#                              a job of a server and so many workers, each of which takes so many cores
#   pods_step                  takes what has ended, and places what there is room for; once a second
#   pods_are_stuck SECONDS     nothing runs and nothing has been placed for so long
#   pods_ended                 NAME, moment of the end, status and seconds that it waited, of each that has ended
# shellcheck shell=bash

exited() {
  on "$1" sh -c 'docker ps -aq --filter status=exited | xargs -r docker inspect' |
    jq -r '.[] | "\(.Name[1:]) \(.State.FinishedAt | sub("\\.[0-9]+Z$"; "Z") | fromdate) \(.State.ExitCode)"'
}

# pods_begin CORES, as all numbers of cores here with one decimal.
pods_begin() {
  local host
  declare -gA POD_ROOM=() POD_CORES=() POD_HOST=() POD_WORKERS=() POD_COMMAND=() POD_SINCE=() POD_BEGAN=()
  POD_ENDED=$WORK/pods.ended
  : >"$POD_ENDED"
  for host in $(hosts); do
    POD_ROOM[$host]=$(tenths "$1")
    must on "$host" sh -c 'rm -rf /go && mkdir /go'
  done
  POD_LAST=$SECONDS POD_LOOKED=
}
tenths() { awk -v cores="$1" 'BEGIN { print int(cores * 10 + 0.5) }'; }

pods_submit() {
  local name=$1 workers=$2 cores=$3 i
  shift 3
  POD_WORKERS[$name]=$workers POD_COMMAND[$name]=$* POD_SINCE[$name]=$(date +%s)
  for ((i = 0; i < workers; i++)); do POD_CORES[$name-w$i]=$(tenths "$cores") POD_HOST[$name-w$i]=''; done
  POD_CORES[$name-s0]=$(tenths "$cores") POD_HOST[$name-s0]=''
}

pods_step() {
  local task host
  [ "$POD_LOOKED" != "$SECONDS" ] || return 0
  POD_LOOKED=$SECONDS
  pods_take
  while read -r task; do
    host=$(pods_host_for "${POD_CORES[$task]}")
    [ -z "$host" ] || pod_start "$task" "$host"
  done < <(for task in "${!POD_HOST[@]}"; do [ -n "${POD_HOST[$task]}" ] || printf '%s\n' "$task"; done | shuf)
  pods_let_begin
}

# pods_host_for TENTHS: a random one with room, or nothing.
pods_host_for() {
  local host
  for host in "${!POD_ROOM[@]}"; do [ "${POD_ROOM[$host]}" -lt "$1" ] || printf '%s\n' "$host"; done | shuf -n 1
}

# A task waits for its job's others.
pod_start() {
  local task=$1 host=$2 job=${1%-*} role=worker
  case $task in *-s0) role="ps" ;; esac
  # shellcheck disable=SC2016,SC2086 # for the shell in the container; several words
  must on "$host" docker run -d --name "$task" --network train -v /go:/go:ro -v /opt/source/examples:/examples:ro \
    -e OMP_NUM_THREADS=1 -e FLOWCON_ROLE="$role" -e FLOWCON_PS="$job-s0:29500" -e FLOWCON_RANK="${task##*-[sw]}" "$IMAGE_TRAIN" \
    sh -c 'until [ -e "/go/$0" ]; do sleep 0.2; done; exec "$@"' "$job" ${POD_COMMAND[$job]} >/dev/null
  POD_HOST[$task]=$host
  POD_ROOM[$host]=$((POD_ROOM[$host] - POD_CORES[$task]))
  POD_LAST=$SECONDS
}

# pod_tasks JOB
pod_tasks() {
  local i
  printf '%s\n' "$1-s0"
  for ((i = 0; i < POD_WORKERS[$1]; i++)); do printf '%s\n' "$1-w$i"; done
}

pods_let_begin() {
  local job task host
  for job in "${!POD_WORKERS[@]}"; do
    [ -z "${POD_BEGAN[$job]:-}" ] || continue
    for task in $(pod_tasks "$job"); do [ -n "${POD_HOST[$task]}" ] || continue 2; done
    for host in $(hosts); do must on "$host" touch "/go/$job"; done
    POD_BEGAN[$job]=$(date +%s)
    POD_LAST=$SECONDS
  done
}

# A job has ended with its workers; its server goes with it.
pods_take() {
  local host job task line ended status
  for host in $(hosts); do exited "$host"; done >"$WORK/pods.exited"
  for job in "${!POD_BEGAN[@]}"; do
    ended=0 status=0
    for task in $(pod_tasks "$job"); do
      [ "$task" != "$job-s0" ] || continue
      line=$(grep "^$task " "$WORK/pods.exited") || continue 2
      line=${line#* }
      [ "${line% *}" -le "$ended" ] || ended=${line% *}
      [ "${line#* }" = 0 ] || status=${line#* }
    done
    printf '%s %s %s %s\n' "$job" "$ended" "$status" $((POD_BEGAN[$job] - POD_SINCE[$job])) >>"$POD_ENDED"
    for task in $(pod_tasks "$job"); do
      host=${POD_HOST[$task]}
      on "$host" docker rm -f "$task" >/dev/null
      POD_ROOM[$host]=$((POD_ROOM[$host] + POD_CORES[$task]))
      unset "POD_HOST[$task]" "POD_CORES[$task]"
    done
    unset "POD_BEGAN[$job]" "POD_WORKERS[$job]" "POD_COMMAND[$job]" "POD_SINCE[$job]"
    POD_LAST=$SECONDS
  done
}

pods_are_stuck() { [ ${#POD_BEGAN[@]} = 0 ] && [ $((SECONDS - POD_LAST)) -ge "$1" ]; }
pods_ended() { cat "$POD_ENDED"; }
