#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# flowcond on a hybrid host: systemd and its cgroup v2 beside the v1 cpu controller, which the engine
# uses with its systemd driver. Runs inside a test VM: tests/vm/run.
# usage: hybrid.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cores=$(nproc)
settings() { printf '%s, %s' "$(setting flat1)" "$(setting learn1)"; }
settings_are() { is "$(settings)" "$1"; }
quota_is() { is "$(quota "$1")" "$2"; }

begin_service "$@"

check "cgroup2 is mounted beside a v1 cpu controller" is "$(cpu_version) $(stat -fc %T /sys/fs/cgroup/unified)" "v1 cgroup2fs"
job flat1 flat --label flowcon.enable=true --cpu-shares 2048
job learn1 learn --label flowcon.enable=true --cpus 1
know flat1 learn1
ORIGINAL[flat1]=2048
originals=$(settings)
check "the engine has put the container into a scope of systemd" holds "$(cpu_folder flat1)" "/cpu,cpuacct/system.slice/docker-$(container_id flat1).scope"
check "systemctl start answers when flowcond is ready" systemctl start "$UNIT"
eventually "the job that has converged is limited" container_has flat1 '.list == "CL" and .limit < 1'
eventually "the v1 cpu.shares are those of the formula" weights_as_computed
check "and are not the user's own" not settings_are "$originals"
survives 3 flat1 cpu.shares "through three daemon-reloads they hold"
stop_service
check "systemctl stop restores every setting exactly" settings_are "$originals"
survives 1 flat1 cpu.shares "a daemon-reload afterwards changes nothing"

configure 'limit-mode = quota'
start_service
# One of two jobs has converged: a quarter of the host.
eventually "in quota mode the v1 quota is the cap" quota_is flat1 "$((cores * 25000)) 100000"
survives 3 flat1 cpu.cfs_quota_us "through three daemon-reloads it holds"
stop_service
check "systemctl stop takes the cap away" settings_are "$originals"
survives 1 flat1 cpu.cfs_quota_us "a daemon-reload brings none back"
check "no original is left to restore" is "$(saved_originals)" ""

finish
