#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Which control group is a container's: its own, also where its process 1 has moved itself further down
# as docker-in-docker and systemd do, and never one of somebody else.
# usage: groups.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# points: where the hierarchies with the controllers that flowcond uses are mounted.
points() {
  if [ "$(cpu_version)" = v1 ]; then
    awk '$3 == "cgroup" && $4 ~ /(^|,)(cpu|cpuacct|memory|blkio)(,|$)/ {print $2}' /proc/self/mounts
  else
    awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts
  fi | sort -u
}
# cpu_group PID: below the mount point.
cpu_group() {
  if [ "$(cpu_version)" = v1 ]; then
    awk -F: '$2 ~ /(^|,)cpu(,|$)/ {print $3}' "/proc/$1/cgroup"
  else
    sed -n 's/^0:://p' "/proc/$1/cgroup"
  fi
}
# move PID GROUP: in each hierarchy, GROUP below the mount point; v1 and v2.
move() {
  local point
  while read -r point; do
    mkdir -p "$point$2"
    printf '%s\n' "$1" >"$point$2/cgroup.procs"
  done < <(points)
}
drop_group() {
  local point
  while read -r point; do rmdir "$point$1" 2>/dev/null || :; done < <(points)
}
weight_in() { cat "$1/$(weight_file)"; }
differs() { [ "$(weight_in "$1")" != "$2" ] || { printf 'still %s\n' "$2"; return 1; }; }
note_has() { container_has "$1" ".note | contains(\"$2\")"; }

begin "$@"
alien=/flowcon-test-$$-alien
at_exit drop_group "$alien"

prints nested1 'while :; do echo loss: 1; sleep 0.2; done' --label flowcon.weight=3
prints beside1 'while :; do echo loss: 1; sleep 0.2; done'
prints moved1 'while :; do echo loss: 1; sleep 0.2; done' --label flowcon.weight=1000
own=$(cpu_folder nested1)
pid=$(container_pid nested1)
group=$(cpu_group "$pid")
point=${own%"$group"}
must move "$pid" "$group/init"
must move "$(container_pid moved1)" "$alien"
before=$(weight_in "$own")
below=$own/init
below_before=$(weight_in "$below" 2>/dev/null || echo none)
alien_before=$(weight_in "$point$alien")

start_flowcond
eventually "a container whose process 1 moved down is controlled" container_has nested1 '.state == "controlled"'
eventually "its own group has the limit" differs "$own" "$before"
check "the group below it is left alone" is "$(weight_in "$below" 2>/dev/null || echo none)" "$below_before"
eventually "a container whose process 1 is in a group of others is refused, with the group" \
  note_has moved1 "is in the control group $alien, which is not the container's"
check "that group is left alone" is "$(weight_in "$point$alien")" "$alien_before"
stop_flowcond
check "at the end the own group has its weight again" is "$(weight_in "$own")" "$before"
remove_containers
drop_group "$alien"

finish
