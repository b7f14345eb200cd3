#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# An engine that lists 10,000 containers more than it has, with hostile ids, names, labels, log paths and
# process numbers: real jobs among them are controlled as ever, and the status says what each one is.
# usage: scale.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CONTAINERS=10000

begin "$@"
job learn1 learn --label flowcon.enable=true
job flat1 flat --label flowcon.enable=true --cpu-shares 512
ORIGINAL[learn1]=$DEFAULT_WEIGHT ORIGINAL[flat1]=$(natural_weight 512)
given=$(setting flat1)

python3 "$(dirname "$0")/scale.py" "$ENGINE_SOCKET" "$WORK/scale.sock" "$CONTAINERS" >"$WORK/scale.log" 2>&1 &
relay=$(process_token $!)
end_relay() { process_end "$relay" 10; }
at_exit end_relay
must wait_until 10 test -S "$WORK/scale.sock"

answers_in_time() { curl -sS -o "$WORK/answer" --max-time 3 --unix-socket "$SOCKET" http://flowcon/v1/status; }
start_flowcond --engine "$WORK/scale.sock"
# Those whose process is nowhere to be found have ended, as far as the daemon can see.
eventually "of $CONTAINERS containers that are wrong thousands are listed" status_has ".containers | length > $((CONTAINERS / 2))"
eventually "those are under control, and nothing else" status_has '[.containers[] | select(.state == "controlled") | .name] | sort == ["flat1", "learn1"]'
check "each other one says why it is not" status_has '[.containers[] | select(.state != "controlled" and (.note // "") == "" and (.warnings | length) == 0)] | length == 0'
must answers_in_time
check "no byte of theirs is a control character" not grep -qP '[\x00-\x09\x0b-\x1f\x7f]' "$WORK/answer"
eventually "learn1 is measured" container_has learn1 '.growth != null'
eventually "flat1 is found to have converged" container_has flat1 '.list == "CL"'
eventually "with the weights of the formula" weights_as_computed
wrong=0
for _ in $(seq 20); do answers_in_time || wrong=$((wrong + 1)); pause 0.2; done
check "the socket answers 20 times of 20, each in 3 s" is "$wrong" 0
job late1 flat --label flowcon.enable=true
ORIGINAL[late1]=$DEFAULT_WEIGHT
eventually "a job that starts later is controlled" container_has late1 '.state == "controlled"'
check "nothing was made or read where a name or a path pointed" is "$(find / -xdev -maxdepth 1 -name 'x*' -newer "$WORK/scale.sock" | wc -l)" 0
check "the memory that it costs is bounded ($(($(flowcond_memory) / 1024)) MiB)" test "$(flowcond_memory)" -lt 393216
stop_flowcond
check "it ends as ever" is "$DAEMON_STATUS" 0
check "and what its user gave is back" is "$(setting flat1)" "$given"
check "flowcond had no fault of its own" flowcond_is_calm

finish
