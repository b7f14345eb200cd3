#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Control by people: pause and resume, pin, set, only-grow, a configuration read again, and decisions
# that are explained and decided again.
# usage: people.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"

job flat1 flat --label flowcon.enable=true --cpu-shares 2048
job learn1 learn --label flowcon.enable=true
ORIGINAL[flat1]=$(natural_weight 2048)
flat1=$(setting flat1)
learn1=$(setting learn1)
start_flowcond
eventually "a converged job is on the list CL" container_has flat1 '.list == "CL" and .limit == 0.25'
eventually "with the weights of the formula" weights_as_computed

# --- pause and resume -------------------------------------------------------------------------------

check "pause answers with the container" is "$(api POST /v1/containers/flat1/pause | jq -r .name)" flat1
check "a paused container has its original limits when the answer comes" is "$(setting flat1)" "$flat1"
check "the status says that it is paused" container_has flat1 '.state == "paused" and .limit == 1'
eventually "the one that is left has the host's share to itself" weights_as_computed
eventually "and its own original" is "$(setting learn1)" "$learn1"
values=$(status '.containers[] | select(.name == "flat1") | .values')
eventually "a paused container is still measured" container_has flat1 ".values > $values + 5"
check "its original is not kept any more" is "$(saved_originals | tr ' ' '\n' | grep -cx flat1)" 0
stop_flowcond
start_flowcond
eventually "a pause survives a restart of flowcond" container_has flat1 '.state == "paused"'
check "resume answers with the container" is "$(api POST /v1/containers/flat1/resume | jq -r .name)" flat1
eventually "and the container is decided about again" container_has flat1 '.state == "controlled" and .list == "CL" and .limit == 0.25'

check "pause of all answers" is "$(api POST /v1/pause)" '{"paused":true}'
check "and all have their original limits" is "$(setting flat1), $(setting learn1)" "$flat1, $learn1"
check "and no original is kept" is "$(saved_originals)" ""
job late1 flat --label flowcon.enable=true
eventually "one that comes later is paused too" container_has late1 '.state == "paused"'
check "the status of the daemon says so" status_has '.paused'
check "resume of all answers" is "$(api POST /v1/resume)" '{"paused":false}'
eventually "and all are decided about" status_has '[.containers[] | select(.state == "controlled")] | length == 3'
must docker rm -f late1

# --- pin --------------------------------------------------------------------------------------------

check "a pin is taken" is "$(api POST /v1/containers/learn1/pin '{"cpu":"0.4"}' | jq -r .name)" learn1
eventually "the limit is the pin's, whatever the growth" container_has learn1 '.limit == 0.4 and .pinned == {"limit":0.4,"until":null} and .list == "NL"'
eventually "in the kernel, too" weights_as_computed
kill_flowcond
start_flowcond
eventually "a pin survives kill -9" container_has learn1 '.limit == 0.4 and .pinned.limit == 0.4'
must api POST /v1/containers/learn1/unpin
eventually "unpin gives it back to its growth" container_has learn1 '.limit == 1 and .pinned == null'
must api POST /v1/containers/learn1/pin '{"cpu":"0.3","for":"10"}'
eventually "a pin for ten seconds begins" container_has learn1 '.limit == 0.3'
eventually "and ends by itself" container_has learn1 '.limit == 1 and .pinned == null'
for body in '' '{"cpu":"0"}' '{"cpu":"2"}' '{"cpu":"0.5","for":"-3"}' '{"memory":"1"}' '[1]' '{"cpu":'; do
  check "a wrong pin is a 422: $body" holds "$(api_status POST /v1/containers/learn1/pin "$body")" '422 {"error"'
done
check "a pin of what is not under control is a 404" holds "$(api_status POST /v1/containers/nobody/pin '{"cpu":"0.5"}')" '404 {"error"'

# --- set --------------------------------------------------------------------------------------------

must api POST /v1/containers/learn1/set '{"weight":"3","ceiling":"0.5"}'
FACTOR[learn1]=3
eventually "a ceiling holds" container_has learn1 '.limit == 0.5 and .ceiling == 0.5 and .weight == 3'
eventually "and the weight counts" weights_as_computed
must api POST /v1/containers/learn1/set '{"ceiling":"none","weight":"none"}'
unset 'FACTOR[learn1]'
eventually "none takes both back" container_has learn1 '.limit == 1 and .ceiling == null and .weight == 1'
must api POST /v1/containers/flat1/set '{"floor":"0.6"}'
eventually "a floor holds for a job that has converged" container_has flat1 '.limit == 0.6 and .list == "CL"'
must api POST /v1/containers/flat1/set '{"floor":"none"}'
eventually "until it is taken back" container_has flat1 '.limit == 0.25'
must api POST /v1/containers/learn1/set '{"only-grow":"true"}'
job_mode learn1 flat
job_mode flat1 learn
eventually "a job that only grows keeps its limit when it converges" container_has learn1 '.list == "CL" and .limit == 1 and .only_grow'
job_mode learn1 learn
job_mode flat1 flat
check "a wrong value is a 422 that says which" holds "$(api_status POST /v1/containers/learn1/set '{"weight":"heavy"}')" '422 {"error":"weight: '
check "a value that set does not have is a 422" holds "$(api_status POST /v1/containers/learn1/set '{"metric":"loss"}')" '422 {"error":"set takes weight, floor, ceiling and only-grow, not metric'
must api POST /v1/containers/learn1/set '{"only-grow":"none"}'

# --- who may ----------------------------------------------------------------------------------------

# as_nobody GROUP METHOD PATH: "CODE BODY", asked by a user who is in that group alone.
as_nobody() {
  setpriv --reuid=65534 --regid=65534 --groups="$1" curl -sS --max-time 20 --unix-socket "$SOCKET" -X "$2" \
    -w '\n%{http_code}' "http://flowcon$3" | awk '{all[NR] = $0} END {print all[NR], all[1]}'
}
# The socket's mode is what somebody has opened it to; who calls counts all the same.
chmod 666 "$SOCKET"
check "a user who is not in the socket's group is refused, even where the mode lets in" holds "$(as_nobody 65534 POST /v1/pause)" '403 {"error":"user 65534 is not in the socket'
check "a user who is in it is not" holds "$(as_nobody 0 GET /v1/version)" '200 {"version"'
chmod 660 "$SOCKET"
check "nothing was paused by that" status_has '.paused | not'
must api POST /v1/containers/flat1/set '{"weight":"1"}'
check "the log says who decided" flowcond_said "container flat1: user 0 set overrides"

# --- explained, and decided again -------------------------------------------------------------------

eventually "a job is converged again" container_has flat1 '.list == "CL"'
check "the last decision is explained in a sentence" holds "$(explained flat1 1 | jq -r '.decisions[0].sentence')" "converged"
check "with the growth and alpha" holds "$(explained flat1 1 | jq -r '.decisions[0].sentence')" "alpha 3 %"
if [ -x "$BIN/flowcon-sim" ]; then
  check "recorded decisions, decided again, give the same bytes" replays flat1 40 11
else
  skip "recorded decisions, decided again, give the same bytes" "there is no flowcon-sim beside flowcond"
fi
check "explain of an unknown container is a 404" holds "$(api_status GET /v1/containers/nobody/explain)" '404 {"error"'
check "a wrong count is a 422" holds "$(api_status GET '/v1/containers/flat1/explain?last=0')" '422 {"error"'

# --- a configuration that is read again -------------------------------------------------------------

mkdir -p "$WORK/flowcond.conf.d"
printf 'alpha = 0.2\nlimit-mode = quota\n' >"$WORK/flowcond.conf.d/10.conf"
kill -HUP "${DAEMON%%:*}"
eventually "SIGHUP: a drop-in takes effect" status_has '.alpha == 0.2 and .limit_mode == "quota"'
quota_is() { is "$(quota "$1")" "$2"; }
eventually "in the kernel: quota in place of weight" quota_is flat1 "$(($(nproc) * 25000)) 100000"
check "and the weight is the original again" is "$(weight flat1)" "${flat1%% *}"
printf 'alpha = many\n' >"$WORK/flowcond.conf.d/10.conf"
kill -HUP "${DAEMON%%:*}"
eventually "a wrong one is told, with file and line" flowcond_said "10.conf:1: alpha"
check "and changes nothing" status_has '.alpha == 0.2'
printf 'state-dir = /nowhere\n' >"$WORK/flowcond.conf.d/10.conf"
kill -HUP "${DAEMON%%:*}"
eventually "what cannot change while it runs is told" flowcond_said "restart flowcond to apply state-dir = /nowhere"
eventually "and what was taken away is back to its default" status_has '.alpha == 0.03 and .limit_mode == "weight"'
check "no job was lost by it" status_has '[.containers[] | select(.state == "controlled")] | length == 2'
rm -r "$WORK/flowcond.conf.d"

stop_flowcond
check "after the end all have what their users gave" is "$(setting flat1), $(setting learn1)" "$flat1, $learn1"
check "flowcond had no fault of its own" flowcond_is_calm

finish
