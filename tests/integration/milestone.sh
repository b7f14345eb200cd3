#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The milestone policy with real containers: who goes first, by what is known of its end, and that
# all of it is undone.
# usage: milestone.sh BINDIR
# shellcheck disable=SC2016,SC2317 # scripts of containers; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"

# works NAME STEPS WORDS [DOCKER-RUN-OPTIONS...]: a job that uses all cores; after each step it prints WORDS,
# where $i is the step's number and $n how many there are. What BEFORE says it does before.
works() {
  local name=$1 steps=$2 words=$3
  shift 3
  prints "$name" "${BEFORE-}
    n=$steps; i=0
    for core in $(seq -s ' ' "$(nproc)"); do while :; do :; done & done
    while [ \$i -lt \$n ]; do
      i=\$((i + 1)); k=0
      while [ \$k -lt 20000 ]; do k=\$((k + 1)); done
      echo \"$words\"
    done" "$@"
}
COUNTED='epoch $i/$n loss: $((1000000 / i))'
UNCOUNTED='loss: $((1000000 / i))'

has_ended_well() { is "$(engine_get "/containers/$1/json" | jq -r '.State | "\(.Status) \(.ExitCode)"')" 'exited 0'; }
has_ended() { is "$(engine_get "/containers/$1/json" | jq -r .State.Status)" exited; }

# --- the same daemon, another policy ------------------------------------------------------------------

works long 20000 "$COUNTED"
long=$(setting long)
start_flowcond
eventually "a job comes under control" container_has long '.state == "controlled" and .values > 3'
sed -i 's/^policy = .*/policy = milestone/' "$WORK/flowcond.conf"
kill -HUP "${DAEMON%%:*}"
eventually "the policy is another one without a restart" flowcond_said "policy = milestone"
check "alone a job has the host" container_has long '.limit == 1'

# --- by the progress counter ----------------------------------------------------------------------------

works short 500 "$COUNTED" --cpu-shares 2048
ORIGINAL[short]=$(natural_weight 2048)
eventually "the job that is nearer to its end goes first" container_has short '.limit > 0.8'
check "the other one keeps a share" container_has long '.limit > 0.01 and .limit < 0.2'
eventually "the kernel has the weights of the formula, and their sum is kept" weights_as_computed
check "the log says why" flowcond_said "CPU s left (progress counter, weighs 100 %)"
check "a sentence too" holds "$(explained short 1 | jq -r '.decisions[0].sentence')" "rank 1 of 2"
check "limits never add up to more than the host" status_has '[.containers[].limit] | add < 1.0001'
PATIENCE=300 eventually "it ends" has_ended short
eventually "and the other one has the host" container_has long '.limit == 1'

# --- by earlier runs, by age -----------------------------------------------------------------------------

works first 300 "$UNCOUNTED"
PATIENCE=300 eventually "a training without a counter ends" has_ended first
# has_profile NAME: what it needed is kept by the digest of its image and command.
has_profile() {
  local key
  key=$(engine_get "/containers/$1/json" | jq -j '.Image + " " + ([.Path] + .Args | join(" "))' | sha256sum)
  api GET /v1/profiles | jq -e --arg key "${key%% *}" \
    'any(.profiles[] | select(.key == $key) | .labels; .cpu_seconds > 0 and .mem > 0 and .seconds_train > 0)'
}
eventually "what it needed is recorded" has_profile first
works again 300 "$UNCOUNTED"
eventually "of the same training again it is known how long it takes" flowcond_said "CPU s left (an earlier run, weighs 100 %)"
eventually "so that it goes first" container_has again '.limit > 0.8'
kill_flowcond
start_flowcond --policy milestone
works after 300 "$UNCOUNTED"
eventually "which is remembered when flowcond was killed" flowcond_said "CPU s left (an earlier run, weighs 100 %)"
has_failed() { is "$(engine_get "/containers/$1/json" | jq -r .State.ExitCode)" 1; }
# breaks_off NAME: a training that fails at first, and then goes on.
breaks_off() {
  BEFORE='if mkdir /began 2>/dev/null; then exit 1; fi' works "$1" 300 "$UNCOUNTED"
  eventually "$1 breaks off" has_failed "$1"
  must docker start "$1"
}
breaks_off part
PATIENCE=300 eventually "  and ends well when it is started again" has_ended_well part
breaks_off rest
told_by() { grep -q "limit of $1: .* CPU s left ($2" "$LOG"; }
eventually "what it took then is not taken for the whole" told_by rest "its age"
check "  at no time" not told_by rest "an earlier run"
works mute 20000 'nothing'
eventually "of one that says nothing it is guessed" flowcond_said "CPU s left (its age, a guess)"
eventually "and it is under control too" container_has mute '.state == "controlled" and .limit > 0'
eventually "and the status says so, and what helps" container_has mute '.note | test("^no metric found in [0-9]+ lines yet; its remaining time is a guess; set flowcon.floor to guarantee it CPU$")'
prints counted 'i=0; while :; do i=$((i + 1)); echo "epoch $i/20000"; sleep 0.1; done'
eventually "where there is a counter it is that which says when it goes" container_has counted '.progress.total == 20000 and (.note | test("^no metric found in [0-9]+ lines yet; its remaining time comes from its progress counter$"))'
prints told 'i=0; while :; do i=$((i + 1)); k=0; while [ $k -lt 2000 ]; do k=$((k + 1)); done; echo "epoch $i loss: 0.5"; done' -e EPOCHS=1000000
eventually "where it does not say how far it goes, its environment does" container_has told '.progress.total == 1000000 and .progress.from == "environment" and .left > 0'
eventually "and the log names it" told_by told "progress counter, total from its environment"
explains() { holds "$(explained "$1" 1 | jq -r '.decisions[0].sentence')" "CPU s left ($2)"; }
eventually "and so does the sentence about it" explains told "progress counter, total from its environment, weighs 90 %"

# --- what people say counts -----------------------------------------------------------------------------

works floored 20000 "$COUNTED" --label flowcon.floor=0.3
eventually "a floor holds" container_has floored '.limit >= 0.3'
must api POST /v1/containers/mute/set '{"floor":"0.1"}'
eventually "one that has a floor is not told to get one" container_has mute '.limit >= 0.1 and (.note | endswith("its remaining time is a guess"))'
must api POST /v1/containers/long/pin '{"cpu":"0.5"}'
eventually "and a pin" container_has long '.limit == 0.5'
if [ -x "$BIN/flowcon-sim" ]; then
  check "recorded decisions, decided again, give the same bytes" replays long 40 3
else
  skip "recorded decisions, decided again, give the same bytes" "there is no flowcon-sim beside flowcond"
fi

# --- the end --------------------------------------------------------------------------------------------

stop_flowcond
check "when flowcond ends the originals are back" is "$(setting long)" "$long"
check "its log has no error" flowcond_is_calm

finish
