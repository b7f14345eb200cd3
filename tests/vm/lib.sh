# SPDX-License-Identifier: Apache-2.0
#
# What the topics share that run inside a test VM: the helpers of tests/integration/lib.sh with the
# guest's own engine, and flowcond as a service of its systemd.
#
#   begin_service BINDIR [LINE...]   begin, and the service is installed with these lines in its file
#   start_service / stop_service     by systemctl; start answers when flowcond is ready
#   configure LINE...                its configuration, for the next start
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the topics

# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"

UNIT=flowcond.service

begin_service() {
  export FLOWCON_TEST_ENGINE=machine
  begin "$1"
  SOCKET=/run/flowcon/flowcon.sock
  STATE=/var/lib/flowcon
  cp "$(dirname "${BASH_SOURCE[0]}")/$UNIT" /etc/systemd/system/
  at_exit remove_service
  must systemctl daemon-reload
  configure "${@:2}"
}

remove_service() {
  systemctl disable --quiet --now "$UNIT" 2>/dev/null || :
  rm -rf "/etc/systemd/system/$UNIT" /etc/flowcon
}

# Quick looks and decisions; a line may say otherwise.
configure() {
  mkdir -p /etc/flowcon
  printf '%s\n' 'socket-group = root' 'interval = 1' 'observe = 1' "$@" >/etc/flowcon/flowcon.conf
}

start_service() { must systemctl start "$UNIT"; }
stop_service() { must systemctl stop "$UNIT"; }
service_is() { is "$(systemctl show -P "$1" "$UNIT")" "$2"; }
service_answers() { api GET /v1/version; }

# service_complaints: what the journal has of it that is worse than a notice, from this boot.
service_complaints() { journalctl -q -b -u "$UNIT" -p warning -o cat --no-pager; }

# Each program takes a tenth of a second and more to start here, so what does not change is asked once.
declare -A FOLDER=()
# know NAME...: the control groups of containers, until they are started anew.
know() { local name; for name in "$@"; do FOLDER[$name]=$(cpu_folder_asked "$name"); done; }
eval "cpu_folder_asked() $(declare -f cpu_folder | tail -n +2)"
cpu_folder() { if [ -n "${FOLDER[$1]:-}" ]; then printf '%s' "${FOLDER[$1]}"; else cpu_folder_asked "$1"; fi; }
CPU_VERSION=$(cpu_version)
cpu_version() { printf '%s' "$CPU_VERSION"; }

scope() { basename "$(cpu_folder "$1")"; }
controlled() { status_has "[.containers[] | select(.state == \"controlled\") | .name] | sort == $1"; }

# journal_says NAME EXPRESSION: true of some limit change of that container that flowcond has logged.
journal_says() {
  journalctl -q -b -u "$UNIT" -o json --no-pager FLOWCON_ACTION=limit "FLOWCON_CONTAINER=$(container_id "$1")" |
    jq -se "any(.[]; $2)" >/dev/null && return 0
  journalctl -q -b -u "$UNIT" -o verbose --no-pager | tail -n 20
  return 1
}

# reloads N COMMAND...: the command holds a moment after each of N daemon-reloads. "A moment" is one
# look of flowcond (1 s) and the time the check itself takes on an emulated processor.
reloads() {
  local i seen times=$1
  shift
  for ((i = 1; i <= times; i++)); do
    systemctl daemon-reload
    if ! seen=$(wait_until 3 "$@"); then
      printf 'after reload %d:\n%s\n' "$i" "$seen"
      return 1
    fi
  done
}
