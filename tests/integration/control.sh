#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Control of one host: lists, limits and weights of real containers, and that all of it is undone.
# usage: control.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cores=$(nproc)
# near SEEN LOW HIGH
near() { awk -v s="$1" -v l="$2" -v h="$3" 'BEGIN {print s; exit !(s >= l && s <= h)}'; }

begin "$@"

# --- two jobs, one of which has converged -----------------------------------------------------------

job plain flat --cpu-shares 700
job flat1 flat --label flowcon.enable=true --cpu-shares 2048
job learn1 learn --label flowcon.enable=true --cpus 1
ORIGINAL[flat1]=$(natural_weight 2048)
plain=$(setting plain)
flat1=$(setting flat1)
learn1=$(setting learn1)

start_flowcond
eventually "a container with the label comes under control" status_has '[.containers[] | select(.state == "controlled")] | length == 2'
eventually "a converged job is on the list CL" container_has flat1 '.list == "CL"'
eventually "a job that learns stays young and keeps limit 1" container_has learn1 '.list == "NL" and .limit == 1 and .growth > 0.03'
check "the limit of a converged job is 1/(beta n)" container_has flat1 '.limit == 0.25'
check "metric, goal and counter are what the job prints" container_has learn1 '.metric == "loss" and .goal == "min" and .progress.total == 100000 and .values > 5'
eventually "the kernel has the weights of the formula, and their sum is kept" weights_as_computed
check "weights leave the quotas alone" is "$(quota flat1), $(quota learn1)" "${flat1#* }, ${learn1#* }"
check "a container without the label is not in the status" is_absent plain
check "a container without the label keeps its setting" is "$(setting plain)" "$plain"

# --- what others write ------------------------------------------------------------------------------

written=$(weight flat1)
reverts=$(status .reverts)
folder=$(cpu_folder flat1)
printf 777 >"$folder/$(weight_file)"
weight_is() { is "$(weight "$1")" "$2"; }
eventually "a weight that another program wrote is put back" weight_is flat1 "$written"
check "and is counted once" status_has ".reverts == $reverts + 1"

# --- all converged, then an arrival -----------------------------------------------------------------

job_mode learn1 flat
eventually "when all are completing they compete freely" status_has '.all_completing and ([.containers[].limit] == [1, 1])'
eventually "with the weights their users gave" weights_as_computed
eventually "and the interval doubles, and again" status_has '.interval >= 8'
job learn2 learn --label flowcon.enable=true
eventually "an arrival sets the interval back" status_has '.interval == 1 and (.all_completing | not)'
arrived=$(engine_get /containers/learn2/json | jq -r '.State.StartedAt | sub("\\.[0-9]+"; "") | fromdateiso8601')
# The interval was 8 s at least.
eventually "and takes the limits of the converged jobs at once, not at the next interval" \
  records_have flat1 "[.decisions[] | select(.[0] >= $arrived and (.[2] * 6 | round) == 1)][0] | .[0] < $arrived + 7 and .[1] == \"CL\""
eventually "with three jobs the kernel has the weights of the formula" weights_as_computed

# --- release and adopt ------------------------------------------------------------------------------

check "release answers with the container" is "$(api POST /v1/containers/flat1/release | jq -r .name)" flat1
check "release restores the original exactly" is "$(setting flat1)" "$flat1"
check "what was released is not in the status" is_absent flat1
eventually "the weights of the others are computed without it" weights_as_computed
check "release of what is not under control is a 404" holds "$(api_status POST /v1/containers/flat1/release)" '404 {"error"'
check "adopt takes label values" is "$(api POST /v1/containers/plain/adopt '{"metric":"loss","weight":"3"}' | jq -r .name)" plain
ORIGINAL[plain]=$(natural_weight 700)
FACTOR[plain]=3
eventually "the adopted container is controlled, and its factor counts" container_has plain '.state == "controlled" and .values > 0'
eventually "with a factor the kernel has the weights of the formula" weights_as_computed
check "a second adopt is a 409" holds "$(api_status POST /v1/containers/plain/adopt)" '409 {"error"'
check "adopt of an unknown container is a 404" holds "$(api_status POST /v1/containers/nobody/adopt)" '404 {"error"'
check "adopt with a wrong value is a 422" holds "$(api_status POST /v1/containers/flat1/adopt '{"weight":"heavy"}')" '422 {"error"'
check "and says which" holds "$(api_status POST /v1/containers/flat1/adopt '{"weight":"heavy"}')" 'weight: \"heavy\" is not a number'

# --- callers that make mistakes, and many of them ------------------------------------------------------

check "an address that is not there: a 404 that says where the list is" holds "$(api_status GET /v1/nothing)" '404 {"error":"there is nothing at /v1/nothing; docs/api.md lists all calls"}'
check "a body that is no JSON is a 422" holds "$(api_status POST /v1/containers/flat1/adopt '{"metric":')" '422 {"error"'
head -c 900000 /dev/zero | tr '\0' ' ' >"$WORK/body"
is_refused() { holds "$(api_status POST /v1/containers/flat1/adopt "@$WORK/body")" '413 {"error"'; }
refused_always() { local i; for ((i = 0; i < 20; i++)); do is_refused || return 1; done; }
check "a body of more than 64 KiB is a 413, which its sender sees" refused_always
# ask_often: 300 requests, 40 at a time; each answer is whole.
ask_often() {
  local answers
  answers=$(seq 300 | xargs -P 40 -I {} curl -sS --max-time 20 --unix-socket "$SOCKET" -w '\n' http://flowcon/v1/status |
    jq -s '[.[] | select(.api == 1 and (.containers | length) == 3)] | length')
  is "$answers" 300
}
check "three hundred requests, forty at a time, are all answered" ask_often

# --- what users change ------------------------------------------------------------------------------

docker update --cpus 0.6 learn2 >/dev/null
quota_is() { is "$(quota "$1")" "$2"; }
eventually "docker update --cpus reaches the kernel" quota_is learn2 "60000 100000"
eventually "and the weights are back after it" weights_as_computed
docker update --cpu-shares 512 learn2 >/dev/null
ORIGINAL[learn2]=$(natural_weight 512)
eventually "docker update --cpu-shares is the new original" weights_as_computed
docker rename learn2 renamed2
eventually "a container is shown by its new name" status_has '[.containers[].name] | index("renamed2") and (index("learn2") | not)'
docker rename renamed2 learn2
docker restart -t 0 learn2 >/dev/null
eventually "a restarted container is controlled again, from its beginning" container_has learn2 '.state == "controlled" and .list == "NL" and .progress.done < 40'
eventually "with its new weight in its new group" weights_as_computed

# --- the end ----------------------------------------------------------------------------------------

check "the daemon keeps the originals it has changed" is "$(saved_originals)" "learn1 learn2 plain"
stop_flowcond
check "SIGTERM ends it with status 0" is "$DAEMON_STATUS" 0
check "and restores a container with --cpus" is "$(setting learn1)" "$learn1"
check "and one that was adopted" is "$(setting plain)" "$plain"
check "and one that docker update has changed, to what it gave" is "$(setting learn2)" "${ORIGINAL[learn2]} 60000 100000"
check "no original is left to restore" is "$(saved_originals)" ""
check "its log has no error" flowcond_is_calm

# --- kill -9 ----------------------------------------------------------------------------------------

start_flowcond
eventually "a choice made by command outlives the daemon: adopted" container_has plain '.state == "controlled"'
check "and released" is_absent flat1
job_mode plain flat
eventually "the started daemon controls again" container_has plain '.list == "CL" and .limit < 1'
eventually "its weights are those of the formula" weights_as_computed
# It must not decide between the look and its end.
kill -STOP "${DAEMON%%:*}"
written=$(setting plain)
kill_flowcond
check "kill -9 leaves what was written" is "$(setting plain)" "$written"
docker rm -f learn2 >/dev/null
start_flowcond
check "the next start undoes what is left" flowcond_said "restored the limits of"
eventually "and controls what still runs" status_has '[.containers[] | select(.state == "controlled") | .name] | sort == ["learn1", "plain"]'
eventually "from the originals, not from what was left" weights_as_computed
stop_flowcond
check "so that in the end the user's settings are back" is "$(setting plain), $(setting learn1)" "$plain, $learn1"
check "also of containers that are gone nothing is kept" is "$(saved_originals)" ""
start_flowcond
eventually "they are controlled again" container_has plain '.state == "controlled"'
eventually "by weights that are not their own" weights_as_computed
kill_flowcond
check "and stay after a kill" not is "$(setting plain)" "$plain"
printf 'no option\n' >>"$WORK/flowcond.conf"
check "a mistake in the configuration is refused then" fails_with 2 "is not of the form option = value" timeout 20 "$BIN/flowcond" --config "$WORK/flowcond.conf"
check "but what was left is undone" is "$(setting plain), $(setting learn1)" "$plain, $learn1"
check "and no original is left to restore" is "$(saved_originals)" ""

# --- quota ------------------------------------------------------------------------------------------

docker rm -f plain learn1 flat1 >/dev/null
ORIGINAL=() FACTOR=()
job capped flat --label flowcon.enable=true --cpus 0.2
job open1 flat --label flowcon.enable=true
job learn3 learn --label flowcon.enable=true --cpus 0.5
before="$(setting capped), $(setting learn3)"
# A sixth of the host: beta 2, three jobs.
cap=$(((cores * 100000 + 3) / 6))
start_flowcond --limit-mode quota
eventually "in quota mode converged jobs get 1/(beta n)" status_has '[.containers[] | select(.list == "CL") | .limit * 6 | round] == [1, 1]'
eventually "as a cap: limit x cores x period" quota_is open1 "$cap 100000"
check "a cap above the user's own --cpus changes nothing" is "$(quota capped)" "$((cap < 20000 ? cap : 20000)) 100000"
check "a limit of 1 is the user's own quota" is "$(quota learn3)" "50000 100000"
check "weights are left alone" is "$(weight capped) $(weight open1) $(weight learn3)" "$DEFAULT_WEIGHT $DEFAULT_WEIGHT $DEFAULT_WEIGHT"
docker update --cpus 0.1 open1 >/dev/null
eventually "docker update is seen" flowcond_said "container open1: docker update set new limits"
await_decisions open1 2
check "docker update --cpus below the cap is the new ceiling" is "$(quota open1)" "10000 100000"
docker update --cpus "$(awk -v c="$cores" 'BEGIN {print c / 2}')" open1 >/dev/null
eventually "and one above the cap is capped" quota_is open1 "$cap 100000"
stop_flowcond
check "SIGTERM restores what docker update gave" is "$(quota open1)" "$((cores * 50000)) 100000"
check "SIGTERM takes the caps away" is "$(setting capped), $(setting learn3)" "$before"

# --- dry run ----------------------------------------------------------------------------------------

before="$(setting capped), $(setting open1), $(setting learn3)"
start_flowcond --dry-run
eventually "a dry run shows its plan" container_has capped '.state == "observed" and .list == "CL" and (.limit * 6 | round) == 1'
await_decisions capped 2
check "and writes nothing" is "$(setting capped), $(setting open1), $(setting learn3)" "$before"
check "its log says what it would do" flowcond_said "would set limit of capped: 100 % -> 1"
check "a dry run has nothing to restore" is "$(saved_originals)" ""
stop_flowcond
check "and ends with status 0" is "$DAEMON_STATUS" 0

# --- labels, and that a weight is felt --------------------------------------------------------------

docker rm -f capped open1 learn3 >/dev/null
# Both want all of one core, so the kernel's shares can be counted.
# busy FALL: prints a loss that falls by so much a step.
busy() {
  # shellcheck disable=SC2016 # for the container's shell
  printf 'n=0; while :; do i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; n=$((n+1)); '
  # shellcheck disable=SC2016
  printf 'echo "epoch $n/90000 loss: $((1000000 - n * %s))"; done' "$1"
}
prints busy1 "$(busy 5000)" --cpuset-cpus 0
prints busy2 "$(busy 0)" --cpuset-cpus 0 --label flowcon.weight=0.5 --label flowcon.floor=0.4
FACTOR[busy2]=0.5
start_flowcond --alpha 0.001
eventually "no limit falls below flowcon.floor" container_has busy2 '.list == "CL" and .limit == 0.4'
eventually "flowcon.weight scales the weight" weights_as_computed
from1=$(cpu_time busy1) from2=$(cpu_time busy2)
await_decisions busy1 10
to1=$(cpu_time busy1) to2=$(cpu_time busy2)
# 1 x 1 against 0.5 x 0.4 on one core; the reading of the two counters is not one instant.
check "the kernel gives CPU time by the weights, five to one" near "$(
  awk -v a=$((to1 - from1)) -v b=$((to2 - from2)) 'BEGIN {print a / b}')" 4 6
check "its log has no error" flowcond_is_calm
stop_flowcond

# --- what a job with one thread leaves of its cap -----------------------------------------------------

docker rm -f busy1 busy2 >/dev/null
lent="what one job with a single thread leaves of its cap goes to the other, whose cap is above its limit"
if [ "$cores" -ge 2 ]; then
  prints narrow1 "$(busy 1000)"
  prints narrow2 "$(busy 0)"
  know narrow1 narrow2
  before="$(setting narrow1), $(setting narrow2)"
  cap=$((cores * 5000))
  is_lent() { [ "$(quota narrow2 | cut -d' ' -f 1)" -gt "$cap" ] || { quota narrow2; return 1; }; }
  start_flowcond --limit-mode quota --alpha 0.001 --beta 10
  eventually "of two jobs the converged one gets a twentieth of the host" container_has narrow2 '.list == "CL" and .limit == 0.05'
  eventually "and the other one all" container_has narrow1 '.list == "NL" and .limit == 1'
  eventually "$lent" is_lent
  check "its log has no error" flowcond_is_calm
  stop_flowcond
  check "and SIGTERM takes the caps away" is "$(setting narrow1), $(setting narrow2)" "$before"
else
  skip "$lent" "this machine has a single core"
fi

finish
