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

# FlowCon with quick looks and decisions; a line may say otherwise.
configure() {
  mkdir -p /etc/flowcon
  printf '%s\n' 'socket-group = root' 'policy = flowcon' 'interval = 1' 'observe = 1' "$@" >/etc/flowcon/flowcon.conf
}

start_service() { must systemctl start "$UNIT"; }
stop_service() { must systemctl stop "$UNIT"; }
service_is() { is "$(systemctl show -P "$1" "$UNIT")" "$2"; }
service_answers() { api GET /v1/version; }

# service_complaints: what the journal has of it that is worse than a notice, from this boot.
service_complaints() { journalctl -q -b -u "$UNIT" -p warning -o cat --no-pager; }

# Each program takes a tenth of a second and more to start here, so what does not change is asked once.
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

# reloads N FILE TEXT: N times a daemon-reload and the start of a unit, which is when some versions of
# systemd write what they have read. After each flowcond has time for one look (1 s): then the
# container's file has the text, whatever systemd has made of it meanwhile. RELOADS_FELT says after how
# many it had another one for a while.
reloads() {
  local i deadline felt
  RELOADS_FELT=0
  for ((i = 1; i <= $1; i++)); do
    must systemctl daemon-reload
    must systemd-run --quiet --no-block true
    deadline=$((${EPOCHREALTIME/[.,]/} + 1200000)) felt=0
    while [ "${EPOCHREALTIME/[.,]/}" -lt "$deadline" ]; do
      [ "$(<"$2")" = "$3" ] || felt=1
      pause 0.05
    done
    RELOADS_FELT=$((RELOADS_FELT + felt))
    # What one look and one write take on an emulated processor beside a busy machine.
    wait_until 10 has "$2" "$3" || { printf 'after reload %d\n' "$i"; return 1; }
  done >"$WORK/reloads" 2>&1
}
has() { is "$(<"$1")" "$2"; }

# survives N NAME FILE SENTENCE: the file of that container through N reloads.
survives() {
  local file status=0
  file=$(cpu_folder "$2")/$3
  reloads "$1" "$file" "$(<"$file")" || status=$?
  result "$status" "$4 (changed and put back after $RELOADS_FELT)" "$(<"$WORK/reloads")"
}
