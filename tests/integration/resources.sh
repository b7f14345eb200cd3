#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Memory, block I/O and network of real containers: measured, decided about, limited and restored;
# and what the host says it can do.
# usage: resources.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"

# group_file NAME CONTROLLER V1-FILE V2-FILE: the text of a container's control file.
group_file() {
  local pid point group
  pid=$(container_pid "$1")
  if point=$(awk -v c="$2" '$3 == "cgroup" && $4 ~ "(^|,)" c "(,|$)" {print $2; found = 1; exit} END {exit !found}' /proc/self/mounts); then
    group=$(awk -F: -v c="$2" '$2 ~ "(^|,)" c "(,|$)" {print $3}' "/proc/$pid/cgroup")
    cat "$point$group/$3"
  else
    point=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
    cat "$point$(sed -n 's/^0:://p' "/proc/$pid/cgroup")/$4"
  fi
}
soft_limit() { group_file "$1" memory memory.soft_limit_in_bytes memory.high; }
caps() { group_file "$1" blkio blkio.throttle.read_bps_device io.max; }

# A user's own cap on the disk, which is a ceiling; on v1 a newer kernel counts nothing without one.
disk=$(engine_disk)
[ -n "$disk" ] || nothing_runs "the engine's data is on no disk"

# Both print a loss that never moves. One reads from disk all the time, past the page cache.
flat='echo "loss: 0.5"; sleep 0.2'
prints reader "dd if=/dev/zero of=/data bs=1M count=64; sync; while :; do dd if=/data of=/dev/null bs=1M count=8 iflag=direct; $flat; done" \
  --device-read-bps "$disk:1gb"
prints eater "x=\$(head -c 30000000 /dev/zero | tr '\\0' x); while :; do $flat; done" --memory-reservation 200m
soft_reader=$(soft_limit reader)
caps_reader=$(caps reader)
start_flowcond --memory-low 1 --limit-mode quota --io-bandwidth 200000000

# --- measured ---------------------------------------------------------------------------------------

eventually "a container's block I/O is measured" container_has reader '.io > 1000000'
eventually "its memory is its working set" container_has eater '.memory > 25000000 and .memory < 100000000'
eventually "a container without a network has no traffic on it" container_has eater '.network == 0'
eventually "growth is known on each resource that it uses" container_has reader '.resources | .cpu.growth == 0 and .memory.growth == 0 and .io.growth == 0'
check "and on no other" container_has eater '.resources.io.growth == null'
eventually "use is recorded, all of it" records_have reader '[.usage[] | select(.[3] != null and .[3] > 1000000 and .[4] == 0)] | length > 0'

# --- limited ----------------------------------------------------------------------------------------

# Two jobs; the floor is a quarter where a rival is not measured.
eventually "a converged job is on the list CL of I/O" container_has reader '.resources.io | .list == "CL" and .limit == 0.25'
capped() { holds "$(caps reader)" "$1"; }
if [ "$(cpu_version)" = v1 ]; then disk_cap=' 50000000'; else disk_cap='rbps=50000000'; fi
eventually "in quota mode its share of the disk's bandwidth is its cap" capped "$disk_cap"
eventually "the kernel keeps to it" container_has reader '.io < 60000000'
check "one that has no use of a disk has no cap" is "$(caps eater)" ""

job learn1 learn --label flowcon.enable=true
eventually "the host counts as short of memory" status_has .short_of_memory
eventually "a converged job is on the list CL of memory, too" container_has eater '.resources.memory | .list == "CL" and .limit < 1'
soft_below() {
  local now
  now=$(soft_limit "$1")
  printf '%s\n' "$now"
  [ "$now" != max ] && [ "$now" -le "$2" ]
}
eventually "its soft limit is never above what its user reserved" soft_below eater "$((200 * 1024 * 1024))"
# never_below_use: the soft limit leaves the working set and a fifth more.
never_below_use() {
  local soft used
  used=$(status '.containers[] | select(.name == "eater") | .memory')
  soft=$(soft_limit eater)
  [ "$soft" = max ] || [ "$soft" -gt "$used" ] || { printf '%s below %s\n' "$soft" "$used"; return 1; }
}
check "and never below its working set" never_below_use
check "no hard limit is written" is "$(group_file eater memory memory.limit_in_bytes memory.max)" "$(group_file learn1 memory memory.limit_in_bytes memory.max)"
check "decisions on memory and I/O are explained as such" is \
  "$(api GET '/v1/containers/reader/explain?last=30' | jq -c '[.decisions[].resource] | unique')" '["cpu","io","memory"]'

# --- others, and the end ----------------------------------------------------------------------------

must docker update --memory-reservation 150m --memory 1g --memory-swap 1g eater
eventually "docker update gives a new ceiling for memory" soft_below eater "$((150 * 1024 * 1024))"
kill_flowcond
start_flowcond --resources cpu
caps_are() { is "$(caps reader)" "$1"; }
check "kill -9, and a start that limits CPU only: the caps are the user's" caps_are "$caps_reader"
check "and the soft limits" is "$(soft_limit reader)" "$soft_reader"
check "the one that docker update gave" is "$(soft_limit eater)" "$((150 * 1024 * 1024))"
eventually "what is not limited is not in the status" container_has reader '.resources | keys == ["cpu"]'
stop_flowcond
check "after the end nothing is left: caps" is "$(caps reader)" "$caps_reader"
check "after the end nothing is left: soft limits" is "$(soft_limit reader)" "$soft_reader"

# --- what the host can do ---------------------------------------------------------------------------

start_flowcond
ability() { api GET /v1/doctor | jq -e ".abilities[] | select(.name == \"$1\") | $2"; }
check "the doctor finds the CPU controller" ability cpu .found
check "and the engine, with its version" ability engine ".found and (.detail | contains(\"$(docker version --format '{{.Server.Version}}')\"))"
check "each ability says what it is" is "$(api GET /v1/doctor | jq '[.abilities[] | select(.detail == "")] | length')" 0
check "and what is missing says what to do, or that there is nothing" is \
  "$(api GET /v1/doctor | jq -r '.abilities[] | select((.found | not) and .advice == "" and (.detail | length) < 10) | .name')" ""
stop_flowcond
check "flowcond had no fault of its own" flowcond_is_calm

finish
