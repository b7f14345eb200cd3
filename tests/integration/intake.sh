#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Who comes under control, and with what: an engine that fails, hangs or is frozen; containers that are frozen;
# labels that come from an image; a container that is started again while flowcond does not look.
# usage: intake.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LABEL=flowcon.enable=true

engine_signal() { kill "-$1" "$(engine_recall "$ENGINE_DIR" dockerd | cut -d: -f1)"; }
engine_goes_on() { engine_signal CONT 2>/dev/null || :; }

engine_is_silent() { status_has '.engine.reachable == false and (.engine.error | contains("does not answer"))'; }

begin "$@"
at_exit engine_goes_on
here=$(dirname "$0")
faults=$WORK/faults
mkdir "$faults"
python3 "$here/unreliable.py" "$ENGINE_SOCKET" "$WORK/unreliable.sock" "$faults" >"$WORK/unreliable.log" 2>&1 &
relay=$(process_token $!)
end_relay() { process_end "$relay" 10; }
at_exit end_relay
must wait_until 10 test -S "$WORK/unreliable.sock"

# --- an engine that fails or hangs ----------------------------------------------------------------------

start_flowcond --engine "$WORK/unreliable.sock"
job first learn --label "$LABEL"
eventually "a container is controlled" container_has first '.state == "controlled"'
: >"$faults/refuse"
job missed learn --label "$LABEL"
has_refused() { [ "$(cat "$faults/refused" 2>/dev/null || echo 0)" -ge "$1" ]; }
eventually "an engine that fails to say what a container is, is asked again and again" has_refused 3
eventually "and the status warns of it" status_has '.warnings | any(contains("does not describe 1 container,") and contains("busy"))'
rm "$faults/refuse"
eventually "the container is controlled once it does" container_has missed '.state == "controlled"'
eventually "and nothing is warned of any more" status_has '.warnings == []'

stuck=()
for name in stuck1 stuck2 stuck3 stuck4 stuck5; do
  stuck+=("$(docker create --name "$name" --network none --label "$LABEL" "$IMAGE" sleep 600)")
done
# The queue looks at each container that is created, once; that look is not one of the four.
were_looked_at() { local id; for id in "${stuck[@]}"; do grep -qx "$id" "$faults/asked" || return 1; done; }
must wait_until 60 were_looked_at
printf '%s\n' "${stuck[@]}" >"$faults/hang"
must docker start stuck1 stuck2 stuck3 stuck4 stuck5
holds_four() { is "$(cat "$faults/held" 2>/dev/null)" 4; }
eventually "four containers are asked for at once" holds_four
job waits learn --label "$LABEL"
eventually "while the engine hangs over five of them another one is controlled" container_has waits '.state == "controlled"'
check "of those nothing is known yet" status_has '[.containers[] | select(.name | startswith("stuck"))] == []'
check "and never were more than four asked for at once" holds_four
rm "$faults/hang"
eventually "they are controlled when it has found its answers" status_has '[.containers[] | select(.state == "controlled" and (.name | startswith("stuck")))] | length == 5'
docker rm -f "${stuck[@]}" missed waits >/dev/null
eventually "all that have ended are gone" status_has '[.containers[].name] == ["first"]'

engine_signal STOP
check "an engine that is frozen does not answer, says the status" wait_until 75 engine_is_silent
check "its containers stay under control" container_has first '.state == "controlled"'
engine_signal CONT
eventually "when it goes on it is found again" status_has '.engine.reachable and .engine.error == "" and .warnings == []'
job second learn --label "$LABEL"
eventually "and what starts is controlled" container_has second '.state == "controlled"'

# --- containers that are frozen -------------------------------------------------------------------------

without_first() {
  explained second 1 | jq -e '.decisions | length == 1 and (.[0].state.containers | map(.id)) == ["'"$(container_id second)"'"]' >/dev/null
}
eventually "it is measured" container_has first '.growth != null'
docker pause first >/dev/null
eventually "a frozen container is told as such" container_has first '.state == "frozen" and .note == "frozen (docker pause)" and .limit == 1'
weight_is() { is "$(weight "$1")" "$2"; }
eventually "it has the weight that its user gave" weight_is first "$DEFAULT_WEIGHT"
eventually "and no part in what is decided" without_first
eventually "the other one has all the weight that is left" weights_as_computed
docker unpause first >/dev/null
eventually "when it goes on it is controlled again" container_has first '.state == "controlled" and .note == ""'
eventually "and measured anew" container_has first '.growth != null and .verdict == "measured"'
stop_flowcond
check "SIGTERM ends flowcond with status 0" is "$DAEMON_STATUS" 0

docker pause second >/dev/null
start_flowcond --engine "$WORK/unreliable.sock" --policy milestone
eventually "one that is frozen already is told as such" container_has second '.state == "frozen" and .note == "frozen (docker pause)"'
eventually "it has no rank" container_has first '.reason | startswith("milestone: 1 of 1,")'
docker unpause second >/dev/null
eventually "and has one when it goes on" container_has second '.state == "controlled" and (.reason | test("^milestone: . of 2,"))'

# --- labels that come from an image ---------------------------------------------------------------------

docker rm -f second >/dev/null
# The engine may have the image from an earlier topic.
id=$(docker create "$IMAGE" true)
docker export "$id" >"$WORK/image.tar"
docker rm "$id" >/dev/null
must docker import --change 'LABEL flowcon.weight=9' --change 'LABEL flowcon.floor=1' \
  --change 'LABEL flowcon.migrate=app' "$WORK/image.tar" flowcon-labelled:1
must docker run -d --name pulled --network none flowcon-labelled:1 sleep 600
eventually "a container whose labels are its image's says why it is not under control" container_has pulled '.state == "unsupported" and (.note | contains("come from its image"))'
check "and keeps its weight" is "$(weight pulled)" "$DEFAULT_WEIGHT"
must docker run -d --name partly --network none --label "$LABEL" flowcon-labelled:1 sleep 600
eventually "one with a label of its own is controlled by that alone" container_has partly '.state == "controlled" and .weight == 1 and .floor == null'
check "and warns of its image's" container_has partly '[.warnings[] | select(contains("comes from the image"))] | length == 3'
must docker run -d --name greedy --network none --label flowcon.weight=1000 "$IMAGE" sleep 600
eventually "a weight that would leave others nothing is refused" container_has greedy '.state == "controlled" and .weight == 1 and (.warnings | any(contains("at most 10")))'
eventually "so that each has what the formula says" weights_as_computed
must docker commit -c 'LABEL flowcon.floor=0.5' pulled flowcon-labelled:2
: >"$faults/images"
must docker run -d --name unknown --network none --label flowcon.metric=loss flowcon-labelled:2 sleep 600
eventually "while an image is not known no label counts that may be its" container_has unknown '.state == "unsupported" and (.note | contains("cannot tell which labels come from its image"))'
rm "$faults/images"
eventually "and then the container's own do" container_has unknown '.state == "controlled" and .floor == null'
must api POST /v1/containers/pulled/adopt '{"weight":"2"}'
eventually "who adopts one controls it" container_has pulled '.state == "controlled" and .weight == 2'
check "docker flowcon run controls it, with what it was given" "$BIN/docker-flowcon" flowcon run --weight 9 -d --name ran --network none flowcon-labelled:1 sleep 600
eventually "also where the image has the same label" container_has ran '.state == "controlled" and .weight == 9 and .floor == null'
docker rm -f greedy unknown ran >/dev/null
stop_flowcond
start_flowcond --image-labels on
eventually "where image labels count, an image says it" container_has partly '.state == "controlled" and .weight == 9 and .floor == 1'
stop_flowcond
docker rm -f partly pulled first >/dev/null

# --- another life of a container -------------------------------------------------------------------------

restart_with() {
  must docker stop -t 5 again
  must docker update --cpus "$1" again
  must docker start again
}
LIMITED=(--limit-mode quota --cores 2)
start_flowcond "${LIMITED[@]}"
# shellcheck disable=SC2016 # for the shell of the container
prints again 'trap "exit 0" TERM; while :; do echo loss: 1; sleep 0.2; done' --label flowcon.ceiling=0.4 --cpus 1.5
originals_are() { is "$(saved_originals)" "$1"; }
quota_is() { is "$(quota again)" "$1"; }
eventually "a container is limited" quota_is "80000 100000"
since=$(status '.containers[] | select(.name == "again") | .since')
kill -STOP "${DAEMON%%:*}"
restart_with 0.3
kill -CONT "${DAEMON%%:*}"
eventually "it was started again while flowcond stood still, which is noticed" container_has again ".since > $since"
await_decisions again 2
check "what it was given for this life holds" quota_is "30000 100000"
eventually "and nothing of its former life is left to restore" originals_are ""
restart_with 1.5
eventually "in its third life it is limited" quota_is "80000 100000"
kill_flowcond
restart_with 0.2
start_flowcond "${LIMITED[@]}"
eventually "after a kill of flowcond and a restart it is controlled" container_has again '.state == "controlled"'
await_decisions again 2
check "and has what it was given for its fourth" quota_is "20000 100000"
stop_flowcond
check "also when flowcond has ended" quota_is "20000 100000"
check "and nothing is left to restore" is "$(saved_originals)" ""
check "flowcond had no fault of its own" flowcond_is_calm

finish
