#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# flowcond as a service of systemd on cgroup v2, with the engine's systemd driver: what it writes, what
# daemon-reload does to it, and every way out of it. Runs inside a test VM: tests/vm/run.
# usage: systemd.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cores=$(nproc)
setting_is() { is "$(setting "$1")" "$2"; }
quota_is() { is "$(quota "$1")" "$2"; }
property_is() { is "$(systemctl show -P "$2" "$(scope "$1")")" "$3"; }
is_original() { is "$(settings)" "$originals"; }
settings() { local name; for name in flat1 learn1 capped; do printf '%s: %s\n' "$name" "$(setting "$name")"; done; }

journal_line() { journalctl -q -b -u "$UNIT" -o cat --no-pager | grep -F -- "$1"; }
# Nor of a systemd that reloads for so long that it does not answer in time: a limit that it has undone
# for that is put back.
complaints() { service_complaints | grep -vE 'Watchdog timeout|Main process exited|Failed with result|Killing process|systemd did not take a( restored)? limit,.*timed out' || :; }

begin_service "$@"

# --- weights ----------------------------------------------------------------------------------------

check "the guest has cgroup v2" is "$(cpu_version) $(stat -fc %T /sys/fs/cgroup)" "v2 cgroup2fs"
job flat1 flat --label flowcon.enable=true --cpu-shares 2048
job learn1 learn --label flowcon.enable=true --cpus 1
job capped flat --label flowcon.enable=true --cpus 0.2
know flat1 learn1 capped
ORIGINAL[flat1]=$(weight flat1)
originals=$(settings)
check "the engine has put the container into a scope of systemd" is "$(cpu_folder flat1)" "/sys/fs/cgroup/system.slice/docker-$(container_id flat1).scope"
check "systemctl start answers when flowcond is ready" systemctl start "$UNIT"
check "it has said so" service_is StatusText "watching /var/run/docker.sock"
check "and its API answers" service_answers
eventually "containers with the label come under control" controlled '["capped","flat1","learn1"]'
eventually "the converged jobs are on the list CL" status_has '[.containers[] | select(.list == "CL") | .name] | sort == ["capped", "flat1"]'
eventually "the kernel has the weights of the formula" weights_as_computed
systemd_knows() { property_is flat1 CPUWeight "$(weight flat1)"; }
eventually "and systemd has been told" systemd_knows
check "the quotas are the users' own" is "$(quota flat1), $(quota learn1), $(quota capped)" "max 100000, 100000 100000, 20000 100000"

written=$(settings)
limits_hold() { is "$(settings)" "$written"; }
survives 10 flat1 cpu.weight "through ten daemon-reloads a weight holds"
check "and so does everything else" limits_hold
reverts=$(status .reverts)
systemctl set-property --runtime "$(scope flat1)" CPUWeight=77
eventually "a weight that systemctl set-property has given is put back" limits_hold
check "and is counted as a revert" status_has ".reverts == $reverts + 1"
survives 1 flat1 cpu.weight "and holds through the next daemon-reload"

check "the journal has the limit with its fields" journal_says flat1 \
  '.FLOWCON_OLD == "1" and (.FLOWCON_NEW | tonumber) < 1 and (.FLOWCON_REASON | test("^CL: growth .* is under alpha")) and .PRIORITY == "6" and .SYSLOG_IDENTIFIER == "flowcond" and .MESSAGE_ID == "0d2a0ac1bb7b4d6b8e6d94b6a4e0a7f2" and (.MESSAGE | startswith("limit of flat1: 100 % -> "))'

stop_service
check "systemctl stop restores every setting exactly" is "$(settings)" "$originals"
check "the service has ended well" service_is Result success
survives 2 flat1 cpu.weight "a daemon-reload afterwards changes nothing"
check "nor of the other containers" is_original
check "and no original is left to restore" is "$(saved_originals)" ""

# --- quotas -----------------------------------------------------------------------------------------

configure 'limit-mode = quota'
start_service
# Two of three jobs have converged: a sixth of the host each, but for what its user capped lower.
cap=$(((cores * 100000 + 3) / 6))
eventually "in quota mode a job that has converged gets a cap" quota_is flat1 "$cap 100000"
check "a cap above the user's own changes nothing" is "$(quota capped)" "20000 100000"
check "a job that learns keeps its own" is "$(quota learn1)" "100000 100000"
reverts=$(status .reverts)
survives 10 flat1 cpu.max "through ten daemon-reloads a cap is back within a look"
# systemd reads its own file of the scope again, where quotas are rounded.
check "so that systemd had changed it" [ "$RELOADS_FELT" -gt 0 ]
check "and each change is counted as a revert" status_has ".reverts >= $reverts + $RELOADS_FELT and .reverts <= $reverts + 20"
stop_service
check "systemctl stop takes the caps away" is_original
survives 2 flat1 cpu.max "and a daemon-reload brings none back"
check "nor of the other containers" is_original

# --- a killed daemon --------------------------------------------------------------------------------

configure
start_service
eventually "in weight mode again the weights are those of the formula" weights_as_computed
eventually "the jobs that have converged are limited" container_has flat1 '.list == "CL" and .limit < 1'
old=$(systemctl show -P MainPID "$UNIT")
restarted() { is "$(systemctl show -P NRestarts -P ActiveState "$UNIT" | tr '\n' ' ')" "$1 active " && [ "$(systemctl show -P MainPID "$UNIT")" != "$old" ]; }
must systemctl kill -s KILL "$UNIT"
eventually "after kill -9 systemd starts it again" restarted 1
eventually "it has undone what was left" journal_line "restored the limits of"
eventually "and controls the same jobs" controlled '["capped","flat1","learn1"]'
eventually "by weights from the true originals" weights_as_computed
old=$(systemctl show -P MainPID "$UNIT")
must systemctl kill -s STOP "$UNIT"
eventually "one that hangs is ended by the watchdog and started again" restarted 2
eventually "and controls again" controlled '["capped","flat1","learn1"]'
eventually "by the weights of the formula" weights_as_computed
stop_service
check "after all that systemctl stop restores every setting exactly" is_original
check "and no original is left to restore" is "$(saved_originals)" ""
check "the journal has no complaint but of the ends that were forced here" is "$(complaints)" ""

finish
