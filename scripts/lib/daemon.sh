# SPDX-License-Identifier: Apache-2.0
#
# One flowcond in the foreground mode on a private folder, for the quickstart, the integration tests
# and the benches. It ends with the script, and then writes back every limit it had set.
#
#   daemon_start PROGRAM FOLDER [OPTION=VALUE...]   start it: configuration, socket, state and log
#                                                   (flowcond.log) lie in FOLDER
#   daemon_stop                                     end it
#   daemon_alive                                    does it run?
#   daemon_api ARGS...                              ask it (daemon_api.py)
#
# DAEMON is its process token, FLOWCON_SOCKET (exported, for the plugin) its socket.
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

DAEMON=

daemon_start() {
  local program=$1 folder=$2 i
  shift 2
  mkdir -p "$folder/state" || return 1
  printf '%s\n' "socket=$folder/flowcon.sock" "state-dir=$folder/state" "$@" >"$folder/flowcon.conf"
  setsid "$program" --config "$folder/flowcon.conf" >>"$folder/flowcond.log" 2>&1 </dev/null 9>&- &
  DAEMON=$(process_token $!) || DAEMON=
  [ "${DAEMON_REGISTERED:-}" = yes ] || at_exit daemon_stop
  DAEMON_REGISTERED=yes
  printf '%s\n' "$DAEMON" >"$folder/flowcond.pid"
  export FLOWCON_SOCKET=$folder/flowcon.sock
  for ((i = 0; i < 200; i++)); do
    if [ -S "$FLOWCON_SOCKET" ] && daemon_api ready 2>/dev/null; then return 0; fi
    daemon_alive || break
    sleep 0.05
  done
  warn "flowcond did not start; the end of $folder/flowcond.log:"
  tail -n 20 "$folder/flowcond.log" >&2
  return 1
}

daemon_stop() {
  local token=$DAEMON
  DAEMON=
  unset FLOWCON_SOCKET
  [ -z "$token" ] || process_end "$token" 15
}

daemon_alive() { process_alive "$DAEMON"; }

daemon_api() {
  PYTHONDONTWRITEBYTECODE=1 python3 "$FLOWCON_TOP/scripts/lib/daemon_api.py" "$FLOWCON_SOCKET" "$@"
}
