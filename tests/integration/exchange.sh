#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One flowcond takes the place of another: limits that are left to it stay, and come back to what users gave whatever
# happens to the hand-over; sockets that a service manager holds outlive both.
# usage: exchange.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

settings() { local name; for name in "${JOBS[@]}"; do printf '%s: %s\n' "$name" "$(setting "$name")"; done; }
settings_are() { is "$(settings)" "$1"; }
limits_hold() { container_has flat1 '.list == "CL" and .limit < 1' && weights_as_computed; }
all_controlled() { status_has '[.containers[] | select(.state == "controlled")] | length == '"${#JOBS[@]}"; }
# ask_to_leave: as the package's postinst does before it starts the service anew.
ask_to_leave() { : >"$STATE/hand-over"; }

# watch_limits FILE: notes what differs from what is there now, until the file is gone.
watch_limits() {
  local name now
  local -A file=() wanted=()
  for name in "${JOBS[@]}"; do
    file[$name]=$(cpu_folder "$name")/$(weight_file)
    wanted[$name]=$(<"${file[$name]}")
  done
  while [ -e "$1" ]; do
    for name in "${JOBS[@]}"; do
      now=$(<"${file[$name]}")
      [ "$now" = "${wanted[$name]}" ] || printf '%s: %s for %s\n' "$name" "$now" "${wanted[$name]}"
    done
    pause 0.02
  done | sort | uniq -c >"$WORK/changes"
}

begin "$@"
JOBS=(flat1 flat2 learn1)
job flat1 flat --label flowcon.enable=true
job flat2 flat --label flowcon.enable=true --cpus 0.5
job learn1 learn --label flowcon.enable=true
know "${JOBS[@]}"
originals=$(settings)

# --- limits that stay -----------------------------------------------------------------------------------

start_flowcond
eventually "jobs that have converged are limited" limits_hold
eventually "both of them" status_has '[.containers[] | select(.list == "CL" and .limit < 1)] | length == 2'
written=$(settings)
: >"$WORK/watching"
watch_limits "$WORK/watching" &
watcher=$!
ask_to_leave
stop_flowcond
check "flowcond that was asked to leaves its limits" settings_are "$written"
check "and says so" flowcond_said "to the next flowcond"
check "the originals are kept" holds "$(saved_originals)" "flat1 flat2"
check "the request is gone" [ ! -e "$STATE/hand-over" ]
start_flowcond
check "the one that follows undoes nothing" not flowcond_said "restored the limits of"
eventually "it controls the same jobs" all_controlled
check "which are on their lists" status_has '[.containers[] | select(.list == "CL") | .name] | sort == ["flat1", "flat2"]'
must await_decisions flat1 2
rm "$WORK/watching"
wait "$watcher"
check "no limit was another one for a moment" is "$(cat "$WORK/changes")" ""
check "nor is one now" settings_are "$written"
check "what it took is gone" [ ! -e "$STATE/handed-over.json" ]
stop_flowcond
check "without a request a stop restores every setting exactly" settings_are "$originals"
check "and no original is left to restore" is "$(saved_originals)" ""

# --- hand-overs that nobody takes -----------------------------------------------------------------------

start_flowcond
eventually "limits are there again" limits_hold
ask_to_leave
stop_flowcond
touch -d '-2 minutes' "$STATE/handed-over.json"
start_flowcond
check "limits of an old hand-over are restored first" flowcond_said "restored the limits of"
eventually "then control begins anew" limits_hold
ask_to_leave
stop_flowcond
printf '{"interval":1,"jobs":[{"id":"x"}]}' >"$STATE/handed-over.json"
start_flowcond
check "so are those of one that makes no sense" flowcond_said "restored the limits of"
check "which is said" flowcond_said "the state of an earlier flowcond is malformed"
eventually "and control begins anew" limits_hold
ask_to_leave
touch -d '-2 minutes' "$STATE/hand-over"
stop_flowcond
check "a request of long ago counts no more" settings_are "$originals"
start_flowcond
eventually "limits are there once more" limits_hold
ask_to_leave
stop_flowcond
must docker rm -f flat2
start_flowcond
eventually "a container that has gone meanwhile changes nothing for the others" limits_hold
kill_flowcond
start_flowcond
check "one that is killed after it took over leaves what the next one restores" flowcond_said "restored the limits of"
stop_flowcond
JOBS=(flat1 learn1)
check "to what users gave" is "$(settings)" "$(grep -v '^flat2' <<<"$originals")"
check "and no original is left to restore then" is "$(saved_originals)" ""

# --- sockets of a service manager -----------------------------------------------------------------------

# passed COMMAND...: with the two sockets as systemd passes them on.
cat >"$WORK/passed.py" <<'PY'
import os, socket, sys
for number, path in ((3, sys.argv[1]), (4, sys.argv[2])):
    one = socket.socket(socket.AF_UNIX)
    one.bind(path)
    one.listen(64)
    os.dup2(one.fileno(), number + 100)
for number in (3, 4):
    os.dup2(number + 100, number)
    os.set_inheritable(number, True)
    os.close(number + 100)
os.environ.update(LISTEN_FDS="2", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[3], sys.argv[3:])
PY
SOCKET=$WORK/held.sock
LOG=$WORK/passed.log
sed "s|^socket = .*|socket = $SOCKET|" "$WORK/flowcond.conf" >"$WORK/passed.conf"
python3 "$WORK/passed.py" "$SOCKET" "$WORK/other.sock" "$BIN/flowcond" --config "$WORK/passed.conf" >"$LOG" 2>&1 </dev/null 9>&- &
DAEMON=$(process_token $!)
eventually "flowcond answers at a socket that it was given" api_answers
check "one that no option names is told of" status_has ".warnings | any(contains(\"systemd listens at $WORK/other.sock\"))"
check "and is closed" fails_with 7 "" curl -sS --max-time 5 --unix-socket "$WORK/other.sock" http://flowcon/v1/version
stop_flowcond
check "it ends well" is "$DAEMON_STATUS" 0
check "the socket is there when it has ended" [ -S "$SOCKET" ]
rm -f "$SOCKET" "$WORK/other.sock"

finish
