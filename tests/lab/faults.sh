#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The fault matrix of moves: at each step of either side's journal something breaks, and afterwards
# exactly one copy of the job runs, its checkpoint is not lost, nothing is left over, and the cluster's
# own view is true; at no moment two copies ran. Real engines, real ssh, real power losses; flowcond waits at
# the step in question (a failpoint, docs/testing.md), so that a fault strikes there and not beside it.
#
# Steps of the way back (source.undo, target.undo) are those of a move that was cancelled while it transferred;
# a step with -criu is that of a job that CRIU moves; one with -birth that of the task of a queue's job, whose home is the
# source, and one with -home that of the same when it comes home: its job has to be done, having begun once, with its log
# and its volume at home. Those with -group are of a job of a parameter server and two workers that is on both hosts, and
# of whose tasks none runs twice.
#
# Without a word one fault a step, each fault at least once; FLOWCON_TEST_FAULTS=full: all of them.
# FLOWCON_TEST_FAULTS="source.save/cut-5s target.start/*" picks some; the fault "none" is a move that nothing
# disturbs. FLOWCON_TEST_PAIRS pairs of hosts (3) work side by side. The table goes to build/test/faults.md.
# usage: faults.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"
# shellcheck source-path=SCRIPTDIR source=breaks.sh
. "$(dirname "${BASH_SOURCE[0]}")/breaks.sh"

# Each step and the fault that it meets where nobody asks for more.
STEPS=(source.reserve target.reserve source.save source.transfer target.transfer target.ready
  source.start target.start target.confirm source.remove target.done source.undo target.undo
  source.save-criu source.transfer-criu target.start-criu
  source.reserve-birth target.reserve-birth source.transfer-birth target.transfer-birth target.ready-birth
  source.start-birth target.start-birth target.confirm-birth
  source.reserve-home source.transfer-home target.transfer-home target.ready-home source.start-home target.start-home
  target.confirm-home source.remove-home
  placing-group starting-group running-group resizing-group parking-group ending-group)
SHORT=(kill-source-flowcond kill-target-flowcond kill-source-dockerd sigterm cut-5s cut-until-after
  slow-disk target-refuses journal-fails source-rebooted kill-target-dockerd ssh-killed target-disk-full
  sigterm slow-disk journal-fails
  kill-source-flowcond kill-target-dockerd slow-disk cut-until-after target-disk-full journal-fails sigterm target-refuses
  sigterm cut-5s kill-target-flowcond source-rebooted ssh-killed slow-disk kill-source-dockerd journal-fails
  kill-source-flowcond cut-until-after kill-target-dockerd source-rebooted kill-target-flowcond cut-5s)
FAULTS=(kill-source-flowcond kill-target-flowcond kill-source-dockerd kill-target-dockerd cut-5s
  cut-until-after target-disk-full target-refuses ssh-killed source-rebooted slow-disk journal-fails sigterm)
PAIRS=${FLOWCON_TEST_PAIRS:-3}
HOLD=600  # seconds that flowcond waits at the step, unless it is let go
SETTLE=90 # seconds within which all has to be well again, and 60 more of a group, whose job goes on
CUT=20    # seconds that a cut lasts "until after recovery"
SLOW=3000 # milliseconds that a sync takes at most on a slow disk

# --- which cells ----------------------------------------------------------------------------------

# One cell a line. Cells of one step follow each other: they have their flowcond's option in common.
cells() {
  local i=0 step fault pattern
  for step in "${STEPS[@]}"; do
    case ${FLOWCON_TEST_FAULTS:-} in
      full) for fault in "${FAULTS[@]}"; do printf '%s %s\n' "$step" "$fault"; done ;;
      '') printf '%s %s\n' "$step" "${SHORT[i]}" ;;
      *)
        for fault in none "${FAULTS[@]}"; do
          for pattern in $FLOWCON_TEST_FAULTS; do
            # shellcheck disable=SC2053 # a pattern
            if [[ $step/$fault == $pattern ]]; then printf '%s %s\n' "$step" "$fault"; fi
          done
        done
        ;;
    esac
    i=$((i + 1))
  done
}

# --- one pair of hosts ----------------------------------------------------------------------------

# Each worker has a pair, S and T, and takes the next cell as long as there are any. What a cell says
# and what fails in it goes to its own file.

drain() { on "$1" docker flowcon peer "$2" "$1"; }
drained_is() { cluster_has "$S" "any(.hosts[]; .name == \"$T\" and .draining == $1)"; }
peer_socket() { on "$T" chmod "$1" /run/flowcon/peer.sock; }

# side_of STEP: the host whose step it is.
side_of() { case $1 in source.* | *-group) printf '%s' "$S" ;; *) printf '%s' "$T" ;; esac; }

# prepare FAULT: what has to be there before the move begins. What is slow is slow on both.
prepare() {
  [ "$1" != slow-disk ] || for host in "$S" "$T"; do disk "$host" "slow $SLOW $RANDOM *.db*"; done
}

# inject FAULT STEP NAME: strikes. What the fault leaves broken is repaired by mend.
inject() {
  case $1 in
    kill-source-flowcond) flowcond_kill "$S" ;;
    kill-target-flowcond) flowcond_kill "$T" ;;
    kill-source-dockerd) engine_kill "$S" ;;
    kill-target-dockerd) engine_kill "$T" ;;
    cut-5s | cut-until-after) host_link partition "$S" --from "$T" ;;
    target-disk-full) "$LAB" fill "$T" ;;
    target-refuses) refuse "$2" "$3" ;;
    ssh-killed) ssh_kill "$S" && ssh_kill "$T" ;;
    source-rebooted) "$LAB" kill "$S" ;;
    slow-disk) pause 0.7 && flowcond_kill "$(side_of "$2")" ;;
    journal-fails) disk "$(side_of "$2")" "full 28 - $(journal_of "$(side_of "$2")")" ;;
    sigterm) terminate "$2" "$3" ;;
  esac
}

# Once flowcond has ended, a job that was not handed over runs where it was: nobody else will start it.
terminate() {
  flowcond_term "$(side_of "$1")" || return 1
  case $1 in *-birth | *-home | *-group) return 0 ;; source.*) ;; *) return 0 ;; esac
  # On a busy machine it may have gone on before the signal came.
  ! on "$S" grep -F "of container $2: source start" /var/log/flowcond.log >/dev/null || return 0
  [ -n "$(running "$S" "$2")" ] || { printf 'flowcond has ended and left the job stopped\n'; return 1; }
}

# How a target says no depends on what it has promised: it is drained, the name is taken, the copy it
# made is gone, or, where its copy runs already, it answers nobody for a while.
refuse() {
  case ${1%-criu} in
    # To remove a task that was handed over is a person's word: it is cancelled.
    *-home | *-group | target.start-birth) peer_socket 000 ;;
    source.reserve | source.reserve-birth) drain "$T" drain && wait_until 10 drained_is true ;;
    target.reserve | target.reserve-birth) on "$T" docker create --name "$2" "$IMAGE_SMALL" true >"$WORK/$T.taken" ;;
    source.save | source.transfer* | target.transfer* | target.ready* | source.start* | target.start*)
      on "$T" docker rm "$2" || peer_socket 000
      ;;
    *) peer_socket 000 ;;
  esac
}

mend() {
  case $1 in
    kill-source-flowcond) flowcond_up "$S" ;;
    kill-target-flowcond) flowcond_up "$T" ;;
    kill-source-dockerd) engine_starts "$S" ;;
    kill-target-dockerd) engine_starts "$T" ;;
    cut-5s) pause 5 && host_link heal "$S" ;;
    cut-until-after) pause "$CUT" && at_most_one_runs "$3" && host_link heal "$S" ;;
    target-disk-full) pause 8 && "$LAB" heal "$T" ;;
    target-refuses)
      case $2 in
        source.reserve | source.reserve-birth) wait_until 10 has_ended_on "$S" "$3"; drain "$T" undrain && wait_until 10 drained_is false ;;
        target.reserve | target.reserve-birth) wait_until 20 has_ended_on "$S" "$3"; on "$T" docker rm "$(cat "$WORK/$T.taken")" ;;
        *) pause 8 && peer_socket 660 ;;
      esac
      ;;
    source-rebooted) "$LAB" boot "$S" && flowcond_up "$S" ;;
    slow-disk) pause 1 && flowcond_up "$(side_of "$2")" && pause 12 && disk "$S" && disk "$T" ;;
    # First nothing can be written, then what is written is not safe.
    journal-fails)
      pause 6 && disk "$(side_of "$2")" "lost 5 - $(journal_of "$(side_of "$2")")" && pause 4 &&
        disk "$(side_of "$2")" && flowcond_lives "$(side_of "$2")"
      ;;
    sigterm) pause 1 && flowcond_up "$(side_of "$2")" ;;
  esac
}

# --- what has to be true --------------------------------------------------------------------------

nothing_new() { diff "$WORK/$1.traces" <(traces "$1"); }

# the_log_is_true HOST NAME FLOOR LINES: it went on from what was saved before the fault, or later.
# Of the first LINES of its log nothing is asked.
resumed_right() {
  local resumed
  resumed=$(on "$1" docker logs "$2" 2>&1 | tail -n "+$(($4 + 1))" | sed -n 's/^resumed //p' | sort -n | head -n 1)
  [ -z "$resumed" ] || [ "$resumed" -ge "$3" ] || { printf 'resumed at %s, saved was %s\n' "$resumed" "$3"; return 1; }
}

# step_in_file HOST NAME: as steps, where a full disk has torn the log and the engine reads no further.
step_in_file() {
  # shellcheck disable=SC2016 # for the other shell
  on "$1" sh -c 'tail -c 4096 "$(docker inspect -f "{{.LogPath}}" "$1")"' file "$2" |
    grep -o 'log":"step [0-9]*' | tail -n 1 | sed 's/.* //'
}

# is_not_behind HOST NAME FLOOR: it counts at or after what was saved.
is_not_behind() {
  local step
  step=$(steps "$1" "$2")
  [ -n "$step" ] || step=$(step_in_file "$1" "$2") || :
  [ "${step:-0}" -ge "$3" ] || { printf 'at step %s, saved was %s\n' "${step:-none}" "$3"; return 1; }
}

# The journal's last word and where the copy is have to agree, on both sides.
view_is_true() {
  local ran=$1 name=$2 wanted=undone
  [ "$ran" != "$T" ] || wanted="done"
  # A target that was never asked knows of no move.
  cluster_has "$S" "[.moves[] | select(.name == \"$name\")][0] | .step == \"$wanted\"" &&
    cluster_has "$T" "[.moves[] | select(.name == \"$name\")][0] | . == null or .step == \"$wanted\"" &&
    cluster_has "$S" "all(.hosts[]; .state != \"unknown\")" &&
    cluster_has "$S" "[.containers[] | select(.name == \"$name\")] | length == 1" &&
    cluster_has "$T" "[.containers[] | select(.name == \"$name\")] | length == 1"
}

# --- a cell -----------------------------------------------------------------------------------------

SIDE=''
# hold STEP: both have their flowcond started so that it waits at STEP until it is let go, and before a step of the way
# back the other one at its transfer, so that there is time to cancel.
hold() {
  for host in "$S" "$T"; do must on "$host" rm -f /run/failpoints-are-over; done
  [ "$SIDE" != "$1" ] || return 0
  local at_source='' at_target=''
  SIDE=$1
  case $1 in
    placing-group) at_source=queue.placing.place ;;
    starting-group) at_source=queue.starting.start ;;
    running-group) ;;
    resizing-group) at_source=queue.running.cancel ;;
    parking-group) at_source=queue.parking.save ;;
    ending-group) at_source=move.target.transfer ;;
    source.*) at_source=move.${1%-*} ;;
    *) at_target=move.${1%-*} ;;
  esac
  case $1 in source.undo) at_target=move.target.transfer ;; target.undo) at_source=move.source.transfer ;; esac
  flowcond_stop "$S"
  flowcond_stop "$T"
  FLOWCON_FAILPOINTS=${at_source:+$at_source:$HOLD} flowcond_up "$S"
  FLOWCON_FAILPOINTS=${at_target:+$at_target:$HOLD} flowcond_up "$T"
}
let_go() { on "$1" touch /run/failpoints-are-over; }
at_step() {
  local step=${1%-*}
  moves_have "$(side_of "$1")" "any(.moves[]; .name == \"$2\" and .side == \"${step%.*}\" and .step == \"${step#*.}\")"
}
# arrive STEP NAME: the move is there.
arrive() {
  case $1 in
    *.undo)
      wait_until 90 at_step source.transfer "$2" || return 1
      move "$S" "$2" --cancel || return 1
      [ "$1" != target.undo ] || let_go "$S" || return 1
      ;;
  esac
  wait_until 90 at_step "$1" "$2"
}
has_saved() { on "$1" docker logs "$2" 2>&1 | grep '^saved' >/dev/null; }
comes_up() { has_saved "$@" && is_listed "$@"; }
is_listed() { cluster_has "$1" "any(.containers[]; .name == \"$2\")"; }

# fault_image HOST NAME: an image that the other does not have: one layer more.
fault_image() {
  on "$1" sh -c 'docker create --name "seed-$1" "$2" true >/dev/null && docker cp /etc/hostname "seed-$1:/$1" 2>/dev/null &&
    docker commit "seed-$1" "flowcon-fault:$1" && docker rm "seed-$1" >/dev/null' seed "$2" "$IMAGE_SMALL"
}

# cell STEP FAULT NAME: prints "FAIL …" for what is wrong and "ran HOST SECONDS" at its end.
cell() {
  local step=$1 fault=$2 name=$3 floor lines began ran seen image method=app
  case $step in *-criu) method=criu ;; esac
  hold "$step"
  seen=$(wait_until 150 both_reach) || { fails "the peers do not reach each other" "$seen"; return; }
  for host in "$S" "$T"; do traces "$host" >"$WORK/$host.traces"; done
  image=$(fault_image "$S" "$name")
  COUNTER_IMAGE=flowcon-fault:$name counter "$S" "$name" --restart always -v "$name:/ckpt" --label "flowcon.migrate=$method"
  seen=$(wait_until 20 comes_up "$S" "$name") || { fails "the job does not come up" "$seen"; return; }
  watch_copies
  seen=$(prepare "$fault" 2>&1) || fails "the fault is not prepared" "$seen"
  seen=$(move "$S" "$name" "$T" --detach 2>&1) || { fails "the move does not begin" "$seen"; return; }
  seen=$(arrive "$step" "$name" 2>&1) || { fails "step $step is not reached" "$seen"; return; }
  floor=$(on "$S" docker logs "$name" 2>/dev/null | sed -n 's/^saved //p' | tail -n 1) || floor=
  lines=$(on "$S" docker logs "$name" 2>/dev/null | wc -l) || lines=0
  # After the source's copy is gone the target's says from where it went on.
  [ -n "$floor" ] || floor=$(on "$T" docker logs "$name" 2>/dev/null | sed -n 's/^resumed //p' | tail -n 1) || floor=
  seen=$(inject "$fault" "$step" "$name" 2>&1) || fails "the fault does not strike" "$seen"
  for host in "$S" "$T"; do let_go "$host" >/dev/null 2>&1 || :; done # unless it has no power
  seen=$(mend "$fault" "$step" "$name" 2>&1) || fails "the fault is not mended" "$seen"
  began=$SECONDS
  seen=$(wait_until "$SETTLE" all_is_over "$name") || fails "it is not over" "$seen"
  holds_true "exactly one copy" exactly_one_runs "$name"
  ran=$(copies "$name" | head -n 1)
  if [ -n "$ran" ]; then
    seen=$(wait_until 15 goes_on "$ran" "$name") || fails "it does not go on" "$seen"
    [ "$ran" = "$S" ] || lines=0
    holds_true "the checkpoint" resumed_right "$ran" "$name" "${floor:-0}" "$lines"
    holds_true "the count" is_not_behind "$ran" "$name" "${floor:-0}"
    seen=$(wait_until 30 view_is_true "$ran" "$name") || fails "the cluster's view is not true" "$seen"
  fi
  case $step/$fault in
    *.undo/*) holds_true "what was cancelled stays" is "$ran" "$S" ;;
    */none) holds_true "what nothing disturbs arrives" is "$ran" "$T" ;;
  esac
  holds_true "at no moment two copies" watched
  printf 'ran %s %s\n' "${ran:-nowhere}" "$(seconds_since "$began")"
  # What the user made goes by the user's word; nothing else may be there.
  for host in "$S" "$T"; do
    on "$host" sh -c '[ "$(docker inspect -f "{{.State.Running}}" "$1" 2>/dev/null)" != true ] || docker rm -f "$1" >/dev/null' rm "$name" || :
  done
  [ -z "$ran" ] || on "$ran" sh -c 'docker volume rm "$1" >/dev/null; docker rmi -f "$2" >/dev/null' rm "$name" "$image" 2>/dev/null || :
  on "$S" docker rmi -f "$image" >/dev/null 2>&1 || :
  for host in "$S" "$T"; do
    seen=$(wait_until 20 nothing_new "$host") || fails "left on $host" "$seen"
  done
}

# --- a job of the queue -----------------------------------------------------------------------------

# Of a pair the second host has room. The task goes there (-birth) and comes back (-home); who sends is S.
sides() {
  take_pair "$1"
  HOME_HOST=$S
  case $2 in *-home) S=$T T=$HOME_HOST ;; esac
}
job_state() { host_api "$HOME_HOST" "/v1/queue/$1" 2>/dev/null | jq -r .state; }
is_job() { [ "$(job_state "$1")" = "$2" ] || { host_api "$HOME_HOST" "/v1/queue/$1" | jq -c '[.state, .host, .note, .steps[-3:]]'; return 1; }; }
log_at_home() { on "$HOME_HOST" docker logs "$1" 2>/dev/null | tr '\n' ' '; }
volume_at_home() { on "$HOME_HOST" docker run --rm --network none -v "$1:/out" "$IMAGE_SMALL" busybox cat /out/name; }
only_a_ticket() {
  local host
  for host in "$S" "$T"; do
    is "$(on "$host" docker ps -a --format '{{.Names}} {{.State}}' --filter "name=^/$1\$")" \
      "$([ "$host" != "$HOME_HOST" ] || printf '%s created' "$1")" || return 1
  done
}

# queue_cell STEP FAULT NAME: as cell.
queue_cell() {
  local step=$1 fault=$2 name=$3 began seen image
  hold "$step"
  seen=$(wait_until 150 both_reach) || { fails "the peers do not reach each other" "$seen"; return; }
  for host in "$S" "$T"; do traces "$host" >"$WORK/$host.traces"; done
  image=$(fault_image "$HOME_HOST" "$name")
  watch_copies
  seen=$(prepare "$fault" 2>&1) || fails "the fault is not prepared" "$seen"
  must on "$HOME_HOST" docker create --name "$name" --network none -v "$name:/out" --label flowcon.queue=true \
    --label flowcon.request=cpu=0.5,mem=100M "$image" busybox sh -c \
    "echo begins; sleep 2; until echo $name >/out/name; do sleep 1; done; echo ends" >/dev/null
  seen=$(wait_until 90 at_step "$step" "$name" 2>&1) || { fails "step $step is not reached" "$seen"; return; }
  seen=$(inject "$fault" "$step" "$name" 2>&1) || fails "the fault does not strike" "$seen"
  for host in "$S" "$T"; do let_go "$host" >/dev/null 2>&1 || :; done # unless it has no power
  seen=$(mend "$fault" "$step" "$name" 2>&1) || fails "the fault is not mended" "$seen"
  began=$SECONDS
  seen=$(wait_until "$SETTLE" is_job "$name" "done") || fails "its job is not done" "$seen"
  printf 'ran %s %s\n' "$HOME_HOST" "$(seconds_since "$began")"
  case $step/$fault in
    # It runs, or is about to, when its engine goes down, and runs again.
    target.confirm-birth/kill-target-dockerd | source.start-birth/kill-target-dockerd) holds_true "its log is at home" holds "$(log_at_home "$name")" "begins ends " ;;
    # While its disk was full the engine could not write the first line.
    source.start-birth/target-disk-full) holds_true "its log is at home" holds "$(log_at_home "$name")" "ends " ;;
    *) holds_true "it began once, and its log is at home" is "$(log_at_home "$name")" "begins ends " ;;
  esac
  holds_true "its volume is at home" is "$(volume_at_home "$name" 2>&1)" "$name"
  holds_true "at no moment two copies" watched
  seen=$(wait_until 30 only_a_ticket "$name") || fails "its ticket alone is there" "$seen"
  on "$HOME_HOST" sh -c 'docker rm "$1" && docker volume rm "$1"' rm "$name" >/dev/null || :
  for host in "$S" "$T"; do on "$host" docker rmi -f "$image" >/dev/null 2>&1 || :; done
  for host in "$S" "$T"; do
    seen=$(wait_until 20 nothing_new "$host") || fails "left on $host" "$seen"
  done
}

# --- a job of several containers -----------------------------------------------------------------------

# Two workers and their server, which no host of a pair has room for alone. They work for so many fifths of a second, and
# go on from where they were.
GROUP='[ "$FLOWCON_ROLE" = worker ] || while :; do sleep 0.2; done
echo begins
i=$(cat /ck/saved 2>/dev/null || echo 0)
trap "echo \$i >/ck/saved; exit 0" USR1
while [ $i -lt $FIFTHS ]; do sleep 0.2; i=$((i + 1)); done
echo ends'
# What is to happen while they work must find them at it, and on a slow disk they begin late.
fifths_of() {
  case $1/$2 in
    placing-* | starting-*) echo 40 ;;
    */slow-disk) echo 600 ;;
    ending-*) echo 40 ;;
    *) echo 200 ;;
  esac
}
group_is() {
  local seen
  seen=$(host_api "$S" "/v1/queue/$1") || { printf '%s\n' "$seen"; return 1; }
  jq -e "$2" <<<"$seen" >/dev/null || { jq -c '[.state, .host, .note, [.tasks[] | [.name, .state, .host]], .steps[-3:]]' <<<"$seen"; return 1; }
}
is_spread() { group_is "$1" '.state == "running" and (.tasks | length) == 3 and all(.tasks[]; .state == "running") and ([.tasks[].host] | unique | length) == 2'; }
is_held_up() { on "$S" grep -F "job $1 is held up at queue.$2" /var/log/flowcond.log >/dev/null; }
# begin_group STEP FAULT NAME: the job is about to do what the step is called after.
begin_group() {
  local step=$1 fault=$2 name=$3 patience=90
  [ "$fault" != slow-disk ] || patience=300
  case $step in
    placing-group) wait_until "$patience" is_held_up "$name" placing ;;
    starting-group) wait_until "$patience" is_held_up "$name" starting ;;
    *) wait_until "$patience" is_spread "$name" || return 1 ;;
  esac
  case $step in
    resizing-group) on "$S" docker flowcon queue scale "$name" 1 && wait_until "$patience" is_held_up "$name" running.cancel ;;
    parking-group) on "$S" docker flowcon queue park "$name" && wait_until "$patience" is_held_up "$name" parking ;;
    ending-group) wait_until "$patience" moves_have "$S" "any(.moves[]; (.name | startswith(\"$name-\")) and .side == \"target\" and .step == \"transfer\")" ;;
  esac
}
# Which containers run, by their tasks' names, again and again: two of one task would be two copies.
watch_tasks() {
  trap - EXIT
  while :; do
    for host in "$S" "$T"; do on "$host" timeout 5 docker ps --no-trunc --filter "name=^/$1-" --format '{{.Names}} {{.ID}}' 2>/dev/null || :; done
    sleep 0.3
  done >"$WORK/tasks.$S"
}
none_twice() {
  is "$(sort -u "$WORK/tasks.$S" | cut -d ' ' -f 1 | uniq -d)" "" &&
    is "$(on "$S" sh -c 'for c in $(docker ps -aq --filter "name=^/$1-w"); do docker logs $c 2>/dev/null | grep -c begins; done' log "$1" | sort -rn | head -n 1 | grep -v '^[01]$')" ""
}
only_tickets() {
  is "$(on "$S" docker ps -q)$(on "$T" docker ps -aq)$(on "$T" docker network ls -q --filter name=flowcon-group-)" ""
}

# group_cell STEP FAULT NAME: as cell.
group_cell() {
  local step=$1 fault=$2 name=$3 began seen watcher
  hold "$step"
  seen=$(wait_until 150 both_reach) || { fails "the peers do not reach each other" "$seen"; return; }
  for host in "$S" "$T"; do traces "$host" >"$WORK/$host.traces"; done
  watch_tasks "$name" &
  watcher=$!
  seen=$(prepare "$fault" 2>&1) || fails "the fault is not prepared" "$seen"
  must on "$S" docker flowcon submit --name "$name" --workers 1:2 --ps 1 --elastic join --retries 3 --request cpu=0.6,mem=40M \
    --ps-request cpu=0.9,mem=40M -v "$name:/ck" --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=10 \
    -e "FIFTHS=$(fifths_of "$step" "$fault")" "$IMAGE_SMALL" busybox sh -c "$GROUP" >/dev/null 2>&1
  seen=$(begin_group "$step" "$fault" "$name" 2>&1) || { fails "it does not come to $step" "$seen"; kill "$watcher"; return; }
  seen=$(inject "$fault" "$step" "$name" 2>&1) || fails "the fault does not strike" "$seen"
  for host in "$S" "$T"; do let_go "$host" >/dev/null 2>&1 || :; done # unless it has no power
  seen=$(mend "$fault" "$step" "$name" 2>&1) || fails "the fault is not mended" "$seen"
  began=$SECONDS
  if [ "$step" = parking-group ]; then
    seen=$(wait_until $((SETTLE + 60)) group_is "$name" '.state == "waiting" and .held and (.tasks | length) == 0') || fails "it is not parked" "$seen"
    seen=$(on "$S" docker flowcon queue release "$name" 2>&1) || fails "it is not released" "$seen"
  fi
  seen=$(wait_until $((SETTLE + 60)) group_is "$name" '.state == "done"') || fails "it is not done" "$seen"
  printf 'ran %s %s\n' "$S" "$(seconds_since "$began")"
  kill "$watcher" 2>/dev/null || :
  holds_true "no task ran twice" none_twice "$name"
  seen=$(wait_until 30 only_tickets "$name") || fails "tickets alone are left, at home" "$seen"
  on "$S" sh -c 'docker rm -f $(docker ps -aq --filter "name=^/$1") && docker volume rm "$1"' rm "$name" >/dev/null 2>&1 || :
  for host in "$S" "$T"; do
    seen=$(wait_until 20 nothing_new "$host") || fails "left on $host" "$seen"
  done
}

worker() {
  local n=0 line step fault kind
  while line=$(flock "$WORK/cells.lock" sh -c 'head -n 1 "$1" && sed -i 1d "$1"' next "$WORK/cells") && [ -n "$line" ]; do
    read -r step fault <<<"$line"
    n=$((n + 1))
    sides "$1" "$step"
    case $step in *-birth | *-home) kind=queue_cell ;; *-group) kind=group_cell ;; *) kind=cell ;; esac
    ("$kind" "$step" "$fault" "job$n") >"$WORK/cell.$1" 2>&1 || printf 'FAIL the cell ended before its end\n' >>"$WORK/cell.$1"
    grep -q '^ran' "$WORK/cell.$1" || printf 'FAIL it ended in the middle: %s\n' "$(tail -n 2 "$WORK/cell.$1" | paste -sd';')" >>"$WORK/cell.$1"
    # SIDE changes in the cell's own shell.
    SIDE=$step
    case $fault in *flowcond | source-rebooted | slow-disk | sigterm) SIDE='' ;; esac
    if grep -q '^FAIL' "$WORK/cell.$1"; then
      keep_logs "$step-$fault"
      clean_up
      SIDE=''
    fi
    { printf 'cell %s %s %s\n' "$step" "$fault" "$T"; cat "$WORK/cell.$1"; printf 'end\n'; } >"$WORK/done.$1.$n"
    mv "$WORK/done.$1.$n" "$WORK/results/$1.$n"
  done
}

# --- the whole --------------------------------------------------------------------------------------

# report FILE: one cell as a check.
report() {
  local step fault target ran='nowhere' seconds='' line failed=''
  while read -r line; do
    case $line in
      cell\ *) read -r _ step fault target <<<"$line" ;;
      ran\ *) read -r _ ran seconds <<<"$line" ;;
      FAIL\ *) failed+="${line#FAIL }"$'\n' ;;
    esac
  done <"$1"
  case $ran in "$target") ran=target ;; h*) ran=source ;; esac
  case $step in *-birth | *-home | *-group) ran=home ;; esac
  result "$([ -z "$failed" ] && echo 0 || echo 1)" "$step, $fault: $([ "$ran" = home ] && echo "done, at home" || echo "one copy, on the $ran"), ${seconds:-?} s after it was mended" "$failed"
  printf '%s %s %s %s %s\n' "$step" "$fault" "$([ -z "$failed" ] && echo ok || echo FAIL)" "$ran" "${seconds:--}" >>"$WORK/table"
}

# The table: for each cell where the job ran afterwards, and in how many of the tries all was well.
write_table() {
  local out=$FLOWCON_TOP/build/test/faults.md
  mkdir -p "${out%/*}"
  python3 - "$WORK/table" "${STEPS[*]}" "none ${FAULTS[*]}" >"$out" <<'PYTHON'
import sys
steps, faults = sys.argv[2].split(), sys.argv[3].split()
cells = {}
with open(sys.argv[1], encoding="utf-8") as file:
    for step, fault, verdict, ran, seconds in map(str.split, file):
        cells.setdefault((step, fault), []).append((verdict == "ok", ran, seconds))
faults = [f for f in faults if any((s, f) in cells for s in steps)]
print("| at step | " + " | ".join(f.replace("-", " ") for f in faults) + " |")
print("| --- |" + " --- |" * len(faults))
good = total = 0
for step in steps:
    row = []
    for fault in faults:
        tries = cells.get((step, fault), [])
        good, total = good + sum(ok for ok, _, _ in tries), total + len(tries)
        where = "/".join(sorted({ran for _, ran, _ in tries}))
        slowest = max((int(s) for _, _, s in tries if s.isdigit()), default=None)
        row.append("" if not tries else f"{sum(ok for ok, _, _ in tries)}/{len(tries)} {where}" +
                   (f", {slowest} s" if slowest is not None else ""))
    if any(row):
        print(f"| {step} | " + " | ".join(row) + " |")
print(f"\n{good} of {total} cells: exactly one running copy, no lost checkpoint, nothing left over, a true view.")
PYTHON
  say "the table is in ${out#"$FLOWCON_TOP"/}"
}

# criu_works HOST: a job is frozen and goes on, with nothing of the project in between. The engine that made a checkpoint
# may not take it back at once (moby 42900).
criu_works() {
  local works=yes
  on "$1" docker run -d --name probe --network none "$IMAGE_SMALL" busybox sh -c 'while :; do sleep 0.2; done' >/dev/null || return 1
  on "$1" timeout 60 docker checkpoint create probe one >/dev/null 2>&1 &&
    wait_until 30 on "$1" timeout 60 docker start --checkpoint one probe >/dev/null 2>&1 || works=''
  on "$1" sh -c 'kill -9 $(pgrep -x "criu|runc"); docker unpause probe; docker rm -f probe' >/dev/null 2>&1 || :
  [ -n "$works" ]
}

main() {
  local left pair
  have gcc || nothing_runs "gcc is not installed (scripts/setup)"
  begin_lab $((2 * PAIRS)) --cores 1 --disk 1G --no-images
  # shellcheck disable=SC2046 # a word a host
  small_images $(seq -f 'h%g' $((2 * PAIRS)))
  cells >"$WORK/cells"
  left=$(wc -l <"$WORK/cells")
  [ "$left" -gt 0 ] || die "FLOWCON_TEST_FAULTS names no cell"
  : >"$WORK/table"
  # shellcheck disable=SC2046 # a word a host
  disks_can_break $(seq -f 'h%g' $((2 * PAIRS)))
  on h1 sh -c 'grep -qaF FLOWCON_FAILPOINTS "$(command -v flowcond)"' || die "the hosts' flowcond has no failpoints"
  for ((pair = 1; pair <= PAIRS; pair++)); do
    flowcond_reads "h$((2 * pair - 1))" 'offer = cpu=1 mem=50M'
    flowcond_reads "h$((2 * pair))" 'offer = cpu=1.3 mem=400M'
    for host in $((2 * pair - 1)) $((2 * pair)); do
      flowcond_reads "h$host" 'group-network = ports'
      flowcond_reads "h$host" "advertise = $(on "h$host" ip -4 -br addr show eth0 | grep -o '[0-9.]*/' | tr -d /)"
    done
  done
  make_pairs "$PAIRS"
  if grep -q -- '-criu ' "$WORK/cells" && ! criu_works h1; then
    skip "$(grep -c -- '-criu ' "$WORK/cells") cells with CRIU" "docker checkpoint does not work on this kernel ($(uname -r))"
    sed -i '/-criu /d' "$WORK/cells"
    left=$(wc -l <"$WORK/cells")
  fi
  lead_workers "$PAIRS"
  check "all cells were tried" is "$(wc -l <"$WORK/table")" "$left"
  write_table
  finish_lab
}

main
