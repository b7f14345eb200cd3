#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A host goes down while flowcond limits a container, once in order and once by a loss of power, and
# the container comes up again by its restart policy. Runs inside a test VM: tests/vm/run.
# usage: reboot.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

KEPT=/var/lib/flowcon-reboot

# forever NAME [OPTIONS...]: a job that has converged and is started at each boot.
forever() {
  # shellcheck disable=SC2016 # for the container's shell
  prints "$1" 'n=0; while :; do n=$((n + 1)); echo "epoch $n/100000 loss: 1000000"; sleep 0.2; done' \
    --restart always "${@:2}"
}
settings() { printf '%s, %s' "$(setting same1)" "$(setting same2)"; }
settings_are() { is "$(settings)" "$1"; }
# Those that have converged compete freely where nobody else learns.
free_again() { controlled '["same1","same2"]' && status_has .all_completing && settings_are "$originals"; }
both_are_limited() {
  status_has '[.containers[] | select(.state == "controlled" and .limit < 1)] | length == 2' && weights_as_computed
}
# Beside a job that learns those that have converged are limited.
limit_both() {
  docker rm -f learn1 >/dev/null 2>&1 || :
  job learn1 learn --label flowcon.enable=true
  eventually "beside a job that learns both are limited" both_are_limited
  check "so that their settings are not their own" not settings_are "$originals"
}

# go_down COMMAND...: this script begins anew at the next boot.
go_down() {
  # shellcheck disable=SC2034 # of common.sh: what it would undo is needed after the boot
  FLOWCON_CLEANUP=()
  printf '%s\n' "CHECKS=$CHECKS PASSED=$PASSED FAILED=$FAILED" >"$KEPT/counts"
  sync
  "$@"
  sleep infinity
}
lose_power() { printf b >/proc/sysrq-trigger; }

begin_service "$@"
mkdir -p "$KEPT"

if [ "$VM_BOOT" = 1 ]; then
  forever same1 --cpu-shares 2048
  forever same2 --cpus 0.5
  settings >"$KEPT/originals"
  must systemctl enable --quiet --now "$UNIT"
else
  # shellcheck source=/dev/null
  . "$KEPT/counts"
fi
originals=$(cat "$KEPT/originals")
ORIGINAL[same1]=${originals%% *}

case $VM_BOOT in
  1)
    limit_both
    go_down systemctl reboot
    ;;
  2)
    eventually "after a reboot both run again, controlled, with their own settings" free_again
    limit_both
    go_down lose_power
    ;;
  *)
    eventually "after a loss of power, too" free_again
    limit_both
    stop_service
    check "and systemctl stop restores every setting exactly" settings_are "$originals"
    check "no original is left to restore" is "$(saved_originals)" ""
    ;;
esac

finish
