#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Memory and block I/O under systemd on cgroup v2: what is written, what systemd is told, what
# daemon-reload does to it; and a container whose log is systemd's journal. Runs inside a test VM:
# tests/vm/run.
# usage: resources.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

property_is() { is "$(systemctl show -P "$2" "$(scope "$1")")" "$3"; }
file_of() { cat "$(cpu_folder "$1")/$2"; }
file_holds() { holds "$(file_of "$1" "$2")" "$3"; }

# Of all that is free the guest counts as short; the disk is said to do 40 MB/s.
begin_service "$@" 'memory-low = 1' 'limit-mode = quota' 'io-bandwidth = 40000000'

flat='echo "loss: 0.5"; sleep 0.3'
prints reader "dd if=/dev/zero of=/data bs=1M count=16; sync; while :; do dd if=/data of=/dev/null bs=1M count=2 iflag=direct; $flat; done"
prints eater "x=\$(head -c 30000000 /dev/zero | tr '\\0' x); while :; do $flat; done" --memory-reservation 200m
prints journal1 "i=0; while [ \$i -lt 40 ]; do i=\$((i+1)); echo \"loss: \$((100 - i)).5\"; sleep 0.5; done; sleep 3600" --log-driver journald
know reader eater journal1
io_before=$(file_of reader io.max) high_before=$(file_of eater memory.high)

start_service
eventually "containers of two log drivers are under control" controlled '["eater","journal1","reader"]'
eventually "lines are read out of the journal" container_has journal1 '.values > 3'
must journalctl --rotate
must systemctl restart systemd-journald
eventually "and after its files were rotated and it was restarted" container_has journal1 '.values > 15'
must systemctl restart "$UNIT"
eventually "and after a restart of flowcond, to the last" container_has journal1 '.value == 60.5'
all_values() { jq -nc '[range(1; 41) | 100.5 - .]'; }
values_are() { is "$(records journal1 | jq -c '[.samples[] | .[1]]')" "$(all_values)"; }
eventually "each value once, none lost" values_are

eventually "a converged job's share of the disk's bandwidth is its cap" file_holds reader io.max rbps=
caps_of() { grep -oE "$1[0-9]+" | grep -oE '[0-9]+$' | sort; }
told_of_io() {
  local told kernel
  told=$(systemctl show -P IOReadBandwidthMax "$(scope reader)" | caps_of ' ')
  kernel=$(file_of reader io.max | caps_of rbps=)
  [ -n "$kernel" ] && is "$told" "$kernel"
}
eventually "and systemd has been told" told_of_io
limited() { [ "$(file_of eater memory.high)" != max ]; }
eventually "a converged job has a soft limit of memory" limited
told_of_memory() { property_is eater MemoryHigh "$(file_of eater memory.high)"; }
eventually "and systemd has been told" told_of_memory
above_use() { [ "$(file_of eater memory.high)" -gt "$(status '.containers[] | select(.name == "eater") | .memory')" ]; }
check "it is above the working set" above_use
check "no process of it was ended for that" file_holds eater memory.events "oom_kill 0"
survives 3 reader io.max "through three daemon-reloads the disk's cap holds"
survives 3 eater memory.high "and the soft limit"

said_in_the_journal() { journalctl -q -b -u "$UNIT" -o cat --no-pager | grep -F -- "$1"; }
still_limited() { told_of_io && told_of_memory && limited; }
must date -s '+10 minutes' >/dev/null
eventually "a clock that is set forward is noticed" said_in_the_journal "the clock jumped by 600 s"
check "and costs no limit" still_limited
must date -s '-20 minutes' >/dev/null
eventually "nor one that is set back" said_in_the_journal "the clock jumped by -1200 s"
check "and control goes on" still_limited

stop_service
check "systemctl stop takes the disk's cap away" is "$(file_of reader io.max)" "$io_before"
check "and brings the user's soft limit back" is "$(file_of eater memory.high)" "$high_before"
survives 2 eater memory.high "a daemon-reload afterwards changes nothing"
check "nor of the disk" is "$(file_of reader io.max)" "$io_before"
check "no original is left to restore" is "$(saved_originals)" ""

finish
