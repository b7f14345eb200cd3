# SPDX-License-Identifier: Apache-2.0
#
# Two hosts on one machine: two private engines, two flowcond, h1 and h2, that reach each other through
# a pipe where others have ssh. For what hosts do with each other when something breaks between two
# steps; what needs real ssh or a real network is in tests/lab. A topic sources this file and then says
#
#   begin_pair "$@"                 as `begin`, with a second engine
#   host_up HOST [OPTIONS...]       starts its flowcond, with what HOST_CONF holds in its configuration; with HOST_PEER
#                                   set, it instead of its line `peer`
#   host_stop HOST, host_kill HOST  SIGTERM and wait; kill -9
#   host_api HOST METHOD PATH [BODY]
#   at HOST WORD...                 docker on that host's engine
#   unplug, plug                    nothing reaches the other host; it does again. What the host h1 begins alone: the file
#                                   cut-h1 in $WORK
#   finish_pair                     as `finish`
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the topics

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

declare -A HOST_ENGINE=() HOST_PROCESS=()
HOST_CONF=''

begin_pair() {
  begin "$@"
  HOST_ENGINE[h1]=$ENGINE_SOCKET
  local socket=$ENGINE_SOCKET cgroup=$ENGINE_CGROUP
  must_start_engine "$WORK/engine2"
  HOST_ENGINE[h2]=$ENGINE_SOCKET
  DOCKER_HOST=unix://$ENGINE_SOCKET must image_import
  ENGINE_SOCKET=$socket ENGINE_CGROUP=$cgroup
  at_exit hosts_end
  mkdir -p "$WORK/path"
  cat >"$WORK/path/ssh" <<SSH
#!/bin/bash
# Where it is cut, a connection ends as one does that nobody answers.
host=\${@: -2:1}
[ ! -e "$WORK/cut" ] && [ ! -e "$WORK/cut-\$PAIR_ME" ] || { sleep 3; exit 255; }
exec "$BIN/docker-flowcon" flowcon dial-stdio --from "\$PAIR_ME" --socket "$WORK/\$host/peer.sock"
SSH
  chmod 755 "$WORK/path/ssh"
}

finish_pair() {
  hosts_end
  engine_stop "$WORK/engine2" || warn "the second engine did not end"
  finish
}

other_of() { if [ "$1" = h1 ]; then printf h2; else printf h1; fi; }
host_log() { printf '%s/%s/log' "$WORK" "$1"; }

# has_failpoints PROGRAM: docs/testing.md.
has_failpoints() { grep -qaF FLOWCON_FAILPOINTS "$1"; }

# What an earlier one left in the host's folder stays.
host_up() {
  local host=$1 folder=$WORK/$1
  shift
  mkdir -p "$folder/state/ssh"
  [ -z "${FLOWCON_FAILPOINTS:-}" ] || has_failpoints "$BIN/flowcond" || die "$BIN/flowcond has no failpoints"
  cat >"$folder/conf" <<CONF
engine = ${HOST_ENGINE[$host]}
state-dir = $folder/state
socket = $folder/api.sock
socket-group = root
peer-socket = $folder/peer.sock
peer-group = root
peer-heartbeat = ${HOST_HEARTBEAT:-1}
policy = flowcon
interval = 1
observe = 1
speculate = off
rebalance = off
${HOST_PEER-peer = $(other_of "$host")}
$HOST_CONF
CONF
  # shellcheck disable=SC2016 # for the other shell
  PATH=$WORK/path:$PATH PAIR_ME=$host unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' uts "$host" \
    "$BIN/flowcond" --config "$folder/conf" "$@" >>"$folder/log" 2>&1 </dev/null 9>&- &
  HOST_PROCESS[$host]=$(process_token $!)
  LOG=$folder/log
  must wait_until 60 host_answers "$host"
}

host_answers() { host_api "$1" GET /v1/version >/dev/null; }
host_pid() { printf '%s' "${HOST_PROCESS[$1]%%:*}"; }
host_runs() { process_alive "${HOST_PROCESS[$1]:-}"; }
host_stop() {
  [ -n "${HOST_PROCESS[$1]:-}" ] || return 0
  process_end "${HOST_PROCESS[$1]}" 60 || :
  wait "$(host_pid "$1")" 2>/dev/null || :
  HOST_PROCESS[$1]=
}
host_kill() {
  [ -n "${HOST_PROCESS[$1]:-}" ] || return 0
  kill -KILL "$(host_pid "$1")" 2>/dev/null || :
  wait "$(host_pid "$1")" 2>/dev/null || :
  HOST_PROCESS[$1]=
}
# Both engines' containers go with the topic.
hosts_end() {
  local host ids
  for host in h1 h2; do
    host_stop "$host"
    ids=$(at "$host" ps -aq 2>/dev/null) || continue
    # shellcheck disable=SC2086 # one word per container
    [ -z "$ids" ] || at "$host" rm -f -v $ids >/dev/null 2>&1 || :
  done
}

host_api() {
  local body=()
  [ $# -lt 4 ] || body=(-H 'Content-Type: application/json' --data-binary "$4")
  curl -sS --fail-with-body --max-time 20 --unix-socket "$WORK/$1/api.sock" -X "$2" "${body[@]}" "http://flowcon$3"
}
host_has() {
  local seen
  seen=$(host_api "$1" GET "$2") || { printf '%s\n' "$seen"; return 1; }
  printf '%s' "$seen" | jq -e "$3" >/dev/null || { printf '%s\n' "$seen" | cut -c 1-2000; return 1; }
}

at() { DOCKER_HOST=unix://${HOST_ENGINE[$1]} docker "${@:2}"; }
runs_on() { is "$(at "$1" inspect -f '{{.State.Running}}' "$2" 2>&1)" true; }
running_copies() {
  local host
  for host in h1 h2; do
    [ "$(at "$host" inspect -f '{{.State.Running}}' "$1" 2>/dev/null)" != true ] || printf '%s\n' "$host"
  done
}
runs_only_on() { is "$(running_copies "$2" | paste -sd' ')" "$1"; }

unplug() { : >"$WORK/cut"; }
plug() { rm -f "$WORK/cut"; }
reaches() { host_has "$1" /v1/peers "any(.peers[]; .name == \"$2\" and .state == \"reachable\")"; }
both_reach() { reaches h1 h2 && reaches h2 h1; }
knows() { host_has "$1" /v1/status "any(.containers[]; .name == \"$2\")"; }
at_step() { host_has "$1" /v1/moves "any(.moves[]; .name == \"$2\" and .step == \"$3\")"; }
has_ended() { host_has "$1" /v1/moves "[.moves[] | select(.name == \"$2\")] | length == 0 or all(.[]; .ended)"; }
