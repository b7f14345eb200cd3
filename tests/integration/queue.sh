#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Jobs that wait, with real containers: they start when there is room, are started once whatever dies, are parked
# and come back, and get twice the memory where it was not enough.
# usage: queue.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MEBI=1048576

# ticket NAME REQUEST MODE [DOCKER-CREATE-OPTIONS...]: a job that waits, with the training of lib.sh.
ticket() {
  local name=$1 request=$2
  job_mode "$name" "$3"
  shift 3
  must docker create --name "$name" --network none -v "$WORK/jobs:/jobs:ro" --label flowcon.queue=true \
    --label "flowcon.request=$request" "$@" "$IMAGE" /job "$name" >/dev/null
}

# script NAME REQUEST SCRIPT [DOCKER-CREATE-OPTIONS...]
script() {
  local name=$1 request=$2 text=$3
  shift 3
  must docker create --name "$name" --network none --label flowcon.queue=true --label "flowcon.request=$request" \
    "$@" "$IMAGE" sh -c "$text" >/dev/null
}

queued() { api GET "/v1/queue/$1"; }
job_has() {
  local seen
  seen=$(queued "$1")
  jq -e "$2" <<<"$seen" >/dev/null || { printf '%s\n' "$seen" | head -c 1500; return 1; }
}
job_is() { job_has "$1" ".state == \"$2\""; }
starts_of() { grep -c "^$1\$" "$WORK/starts/$1" 2>/dev/null || :; }
runs() { is "$(engine_get "/containers/$1/json" | jq -r .State.Status)" running; }
never_ran() { is "$(engine_get "/containers/$1/json" | jq -r .State.Status)" created; }
has_no_container() { is "$(engine_get "/containers/$1/json" | jq -r .message)" "No such container: $1"; }
memory_limit() { engine_get "/containers/$1/json" | jq -r .HostConfig.Memory; }
queue_act() { api POST "/v1/queue/$1/$2" '{}' >/dev/null; }
plugin() { FLOWCON_SOCKET=$SOCKET docker flowcon "$@"; }

begin "$@"
mkdir -p "$DOCKER_CONFIG/cli-plugins" "$WORK/starts"
ln -s "$BIN/docker-flowcon" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"
chmod 777 "$WORK/starts"
OFFER="cpu=4 mem=512M"

# --- room -----------------------------------------------------------------------------------------------

ticket early cpu=1,mem=300M learn
start_flowcond --offer "$OFFER"
eventually "a container that was created before flowcond started is started" runs early
eventually "and is under control" container_has early '.state == "controlled"'
ticket second cpu=1,mem=300M learn
eventually "a second one waits for memory, and says how much" job_has second '.state == "waiting" and (.note | test("^waits for 8[89] MiB of memory$"))'
check "it does not run" never_ran second
ticket third cpu=1,mem=100M learn
eventually "one that fits runs meanwhile" runs third
if [ -x "$BIN/flowcon-sim" ]; then
  # The one that waits is in the decision that started the third.
  decided_again() {
    local state again
    state=$(plugin explain second --state) || return 1
    again=$("$BIN/flowcon-sim" decide left <<<"$state") || return 1
    is "$(jq -cS . <<<"$again")" "$(api GET /v1/queue/second/explain | jq -cS '.decisions[-1].decision')"
  }
  eventually "explain has the last decision about one that waits, and it can be repeated" decided_again
else
  skip "explain has the last decision about one that waits, and it can be repeated" "there is no flowcon-sim beside flowcond"
fi
check "status counts them" status_has '.queue == {"waiting":1,"running":2}'
check "the queue tells what is free" holds "$(api GET /v1/queue | jq -c .free.cpu)" 2
job_mode early end
eventually "when the first has ended the second starts" runs second
eventually "the first is done" job_has early '.state == "done" and .exit == 0 and .attempt == 1'
was_explained() { plugin explain second --last 1000 --format json | jq -e '[.decisions[] | select(.algorithm == "left")] | length > 1' >/dev/null; }
eventually "explain has what was decided before it ran" was_explained
metrics_have() { grep -qxF -- "$1" <<<"$(api GET /metrics)"; }
eventually "the metrics count the jobs" metrics_have 'flowcon_queue_jobs{state="running"} 2'
check "and nobody waits" metrics_have 'flowcon_queue_wait_seconds 0'
check "its request is its least share" status_has '.containers[] | select(.name == "second") | .floor > 0'
job_mode second end
job_mode third end
eventually "all are done" job_is third "done"

# --- what cannot be a job ---------------------------------------------------------------------------------

ticket large cpu=1,mem=2G learn
eventually "one that asks for too much is refused with both amounts" job_has large '.state == "refused" and (.note | contains("2048 MiB of memory, and this host offers 4 and 512 MiB"))'
must docker create --name removes --rm --network none --label flowcon.queue=true "$IMAGE" true >/dev/null
eventually "so is one with --rm" job_has removes '.state == "refused" and (.note | startswith("--rm"))'
must docker create --name pinned --cpuset-cpus 0 --network none --label flowcon.queue=true "$IMAGE" true >/dev/null
eventually "and one that is pinned" job_is pinned refused
must docker create --name odd --network none --label flowcon.queue=maybe "$IMAGE" true >/dev/null
check "their containers stay, and do not run" never_ran large
script hostile cpu=1,mem=50M 'exit 0' --label "flowcon.priority=$(printf '\033[31mred')" --label "flowcon.retries=-1"
eventually "wrong values are warnings, and the job runs" job_has hostile '.state == "done" and (.warnings | length) == 2'
eventually "a container with another word is refused" job_has odd '.state == "refused" and (.note | contains("neither true nor hold"))'
docker rm large removes pinned odd hostile >/dev/null
eventually "a refused job goes with its container" fails_with 22 "No such job: odd" api GET /v1/queue/odd

# --- people -----------------------------------------------------------------------------------------------

ticket fills cpu=4,mem=100M learn
eventually "one takes all cores" runs fills
ticket gone cpu=1,mem=50M learn
ticket byhand cpu=1,mem=50M learn
ticket cancelled cpu=1,mem=50M learn
eventually "others wait" job_is cancelled waiting
docker rm gone >/dev/null
eventually "docker rm cancels" job_is gone cancelled
must queue_act cancelled cancel
eventually "cancel removes what never ran" has_no_container cancelled
docker start byhand >/dev/null
eventually "docker start takes it out of the queue" job_has byhand '.state == "cancelled" and (.note | contains("by hand"))'
check "and it runs" runs byhand
docker rm -f byhand >/dev/null
docker stop -t 1 fills >/dev/null
eventually "docker stop ends a job for good" job_has fills '.state == "cancelled" and (.note | contains("stopped by hand"))'
docker rm fills >/dev/null

# --- memory -----------------------------------------------------------------------------------------------

script eats "cpu=1" 'dd if=/dev/zero of=/dev/null bs=60M count=1 2>/dev/null || exit 9' --memory 40m --memory-swap 40m
PATIENCE=90 eventually "a job that is killed for memory runs again with twice as much" job_has eats '.state == "done" and .attempt == 2'
check "its limit is twice as large" is "$(memory_limit eats)" $((80 * MEBI))
script greedy "cpu=1" 'dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null || exit 9' --memory 40m --memory-swap 40m
PATIENCE=90 eventually "once" job_has greedy '.state == "failed" and .attempt == 2 and (.note | contains("again"))'
docker rm eats greedy >/dev/null

# --- what dies --------------------------------------------------------------------------------------------

script fails "cpu=1,mem=50M" 'exit 7' --label flowcon.retries=2
eventually "a job that fails runs as often as it may" job_has fails '.state == "failed" and .attempt == 3 and .exit == 7'
# shellcheck disable=SC2016 # for the shell in the container
counts_starts='echo "$NAME" >>"/starts/$NAME"; trap "exit 0" TERM; while :; do sleep 0.2; done'
script lasts "cpu=1,mem=50M" "$counts_starts" -e NAME=lasts -v "$WORK/starts:/starts"
script later "cpu=4,mem=50M" "$counts_starts" -e NAME=later -v "$WORK/starts:/starts"
must wait_until 20 job_is later waiting
must queue_act later hold
was_started_once() { is "$(starts_of "$1")" 1; }
eventually "a job runs" was_started_once lasts
kill_flowcond
start_flowcond --offer "$OFFER"
eventually "after kill -9 of flowcond it is known to run" job_is lasts running
check "and was not started again" is "$(starts_of lasts)" 1
eventually "the one that waited still waits" job_has later '.state == "waiting" and .attempt == 0'
if [ "$ENGINE_DIR" != machine ]; then
  engine_down
  must engine_up
  was_started_twice() { is "$(starts_of lasts)" 2; }
  PATIENCE=90 eventually "a job that went down with its engine runs again" was_started_twice
  eventually "and is known to" job_has lasts '.state == "running" and .attempt == 2'
fi
must queue_act later release
must queue_act lasts cancel
eventually "cancel stops a running job" job_is lasts cancelled
eventually "and the next one starts" job_is later running
check "once" is "$(starts_of later)" 1
must queue_act later cancel
eventually "it is cancelled" job_is later cancelled
docker rm lasts later fails >/dev/null

# --- parking ----------------------------------------------------------------------------------------------

# shellcheck disable=SC2016 # for the shell in the container
saves='n=0; if [ -f /saved ]; then read -r n </saved; fi; trap "echo \$n >/saved; exit 0" TERM; while :; do n=$((n + 1)); echo "step $n/100000 loss: 1"; sleep 0.1; done'
script saves "cpu=1,mem=50M" "$saves" --label flowcon.checkpoint.signal=TERM
eventually "a job that can save itself runs" job_is saves running
must queue_act saves park
eventually "it is parked, and waits" job_has saves '.state == "waiting" and .held'
check "it does not run" not runs saves
check "nothing of a parked run is kept as a profile" is "$(api GET /v1/profiles | jq '[.profiles[]? | select(.family | contains("saved"))] | length')" 0
must queue_act saves release
eventually "released it goes on" job_is saves running
went_on() { docker logs saves 2>&1 | sed -n 's/^step \([0-9]*\).*/\1/p' | awk '$1 < last { bad = 1 } { last = $1 } END { exit bad }'; }
check "from where it was" went_on
script plain "cpu=1,mem=50M" 'while :; do sleep 1; done'
eventually "another one runs" job_is plain running
check "which cannot save itself and is not parked" fails_with 22 "cannot be parked" api POST /v1/queue/plain/park '{}'
docker rm -f plain >/dev/null
must queue_act saves cancel
eventually "it is cancelled" job_is saves cancelled
docker rm saves >/dev/null

# --- the plugin -------------------------------------------------------------------------------------------

id=$(plugin submit --name short --request cpu=1,mem=50M --network none "$IMAGE" sh -c 'exit 4' 2>"$WORK/submit.err")
check "submit prints the id of the container" is "$id" "$(container_id short)"
status=0
code=$(plugin wait short) || status=$?
check "wait ends with the job's own status" is "$status $code" "4 4"
check "queue lists it" holds "$(plugin queue --all)" short
check "queue show has its steps" holds "$(plugin queue show short)" failed
script writes "cpu=1,mem=50M" 'echo says; echo made >/made; echo kept >/kept/model' -v /kept
eventually "a job that writes files ends" job_is writes "done"
fetched=$(plugin fetch writes --output "$WORK/fetched")
check "fetch has its log, its volume and its own files" is "$(cd "$WORK/fetched" && find . -type f | sort | tr '\n' ' ')" "./kept/model ./log.txt ./made "
check "  as they were" is "$(cd "$WORK/fetched" && cat kept/model log.txt made | tr '\n' ' ')" "kept says made "
check "  and prints them" is "$(wc -l <<<"$fetched")" 3
check "it writes to no folder that has something" fails_with 1 "is not empty" plugin fetch writes --output "$WORK/fetched"
docker rm -v writes >/dev/null
check "submit refuses --rm" fails_with 125 "--rm" plugin submit --rm "$IMAGE" true

check "flowcond has no trouble" flowcond_is_calm
finish
