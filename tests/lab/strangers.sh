#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Jobs of the queue beside what is not as it should be: a peer that knows nothing of the queue, or lies about its room,
# an image for other processors, a clock that is set back.
# usage: strangers.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 3 --cores 0.6 --disk 2G --no-images
small_images h1 h2 h3
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off'
# h2 has the jobs and next to no room, h1 coordinates, h3 is the stranger.
flowcond_reads h1 'offer = cpu=1 mem=400M'
flowcond_reads h2 'offer = cpu=1 mem=100M'
flowcond_reads h3 'offer = cpu=2 mem=800M'
export SKEW=/run/skew
gcc -shared -fPIC -O1 -o "$WORK/skew.so" "$FLOWCON_TOP/tests/lab/skew.c"
for host in h1 h2 h3; do
  must "$LAB" cp "$WORK/skew.so" "$host:/root/skew.so"
  must on "$host" sh -c 'echo 0 >/run/skew'
done
make_peers h1 h2 h3

soon() { local sentence=$1; shift; PATIENCE=120 eventually "$sentence" "$@"; }
births_to() { host_api h2 /v1/moves | jq --arg host "$1" --arg name "$2" '[.moves[] | select(.target_name == $host and .name == $name and .method == "birth")] | length'; }
# becomes [HOW]: h3 is such a stranger, or none; it hears nothing else by its peers' connections.
becomes() {
  must on h3 sh -c 'sed -i -e "s|command=\"[^\"]*stranger.py [a-z]* |command=\"|" ${1:+-e "s|command=\"|command=\"python3 /opt/source/tests/lab/stranger.py $1 |"} \
    /var/lib/flowcon/peer/.ssh/authorized_keys' become "${1:-}"
  flowcond_stop h3
  flowcond_up h3
  must wait_until 60 reach_each_other h1 h2 h3
}

# --- an older flowcond ------------------------------------------------------------------------------------

becomes old
job beside-old cpu=1,mem=300M 'echo begins; until [ -e /go ]; do sleep 0.2; done'
job behind-it cpu=1,mem=300M 'echo begins'
soon "beside a host that knows nothing of the queue a job runs where there is room" job_runs_on h1 beside-old
soon "  the next one waits for that, and not for the old one" job_has behind-it '.state == "waiting" and (.note | test("h1"))'
must on h1 docker exec beside-old busybox touch /go
for name in beside-old behind-it; do
  soon "  and comes home" job_is "$name" "done"
  check "  having begun once" is "$(began "$name")" 1
  check "  and the old one was asked for nothing" is "$(births_to h3 "$name")" 0
done
job too-large cpu=2,mem=700M 'echo begins'
soon "one that only the old one could hold waits, and says why" job_has too-large '.state == "waiting" and (.note | test("^no reachable host could hold it"))'
must on h2 docker rm too-large >/dev/null
counter h2 moves -v moves:/ckpt
must wait_until 30 goes_on h2 moves
check "what it knows works: a job migrates there" move h2 moves h3
soon "  and goes on" goes_on h3 moves
must on h3 docker rm -f moves >/dev/null

# --- one that lies about its room ----------------------------------------------------------------------------

must on h3 sed -i 's/^offer = .*/offer = cpu=0.1 mem=10M/' "$CONF"
becomes generous
for name in lured lured-too; do job "$name" cpu=1,mem=300M 'echo begins; sleep 2'; done
for name in lured lured-too; do
  soon "a job goes where there is room, whatever another host says of its own" job_is "$name" "done"
  check "  and began once" is "$(began "$name")" 1
  check "  and is not held for that" job_has "$name" '.held | not'
done
check "the one that lied was asked, and has nothing of them" test "$(births_to h3 lured)" -ge 1 -o "$(births_to h3 lured-too)" -ge 1
check "  no container" is "$(on h3 docker ps -aq --filter label=org.flowcon.move; on h3 docker version --format '{{.Server.Os}}')" linux
becomes mad
job beside-mad cpu=1,mem=300M 'echo begins'
soon "one that tells nonsense stops nobody's job" job_is beside-mad "done"
check "  though it has told some" on h1 grep -q "h3 sends an unusable report of its jobs" /var/log/flowcond.log
check "  which began once" is "$(began beside-mad)" 1
becomes

# --- an image for other processors ---------------------------------------------------------------------------

JOB_IMAGE=foreign:1 own=$(dpkg --print-architecture) other=arm64
[ "$own" != arm64 ] || other=amd64
must on h2 sh -euc 'docker save "$1" | python3 /opt/source/tests/lab/foreign.py "$2" foreign:1 | docker load >/dev/null' load "$IMAGE_SMALL" "$other"
must is "$(on h2 docker image inspect --format '{{.Architecture}}' foreign:1)" "$other"
job foreign cpu=1,mem=300M 'echo begins'
soon "a job whose image is not for the other hosts waits, and says so" job_has foreign '.state == "waiting" and (.note | test("its image is for "))'
job native cpu=1,mem=50M 'echo begins'
soon "  where its own host has room it runs there" job_has native '.state == "done" and .host == null'
check "  and another host was asked once at most, before it was known" test "$(($(births_to h1 foreign) + $(births_to h3 foreign)))" -le 1
check "  nor is it held" job_has foreign '.held | not'
must on h2 docker rm foreign >/dev/null
COUNTER_IMAGE=foreign:1 counter h2 stays -v stays:/ckpt
must wait_until 30 goes_on h2 stays
check "a container of such an image does not migrate" holds "$(move h2 stays h1 2>&1)" "its image is for $other, that host is $own"
check "  and goes on" goes_on h2 stays
must on h2 docker rm -f stays >/dev/null
unset JOB_IMAGE

# --- a clock that is set ---------------------------------------------------------------------------------------

for skew in -3600 7200; do
  job "runs$skew" cpu=1,mem=300M 'echo begins; until [ -e /go ]; do sleep 0.2; done'
  soon "a job runs on another host" job_runs_on h1 "runs$skew"
  job "waits$skew" cpu=1,mem=300M 'echo begins'
  soon "  and another one waits" job_has "waits$skew" '.state == "waiting" and .order == 1'
  must on h2 sh -c 'echo "$1" >/run/skew' set "$skew"
  must on h1 docker exec "runs$skew" busybox touch /go
  for name in "runs$skew" "waits$skew"; do
    soon "the owner's clock is set by $skew s meanwhile: the job comes to its end" job_is "$name" "done"
    check "  and began once" is "$(began "$name")" 1
    check "  no time is below 0" job_has "$name" '[.. | numbers] | all(. >= 0)'
  done
  check "  and the list is shown" on h2 docker flowcon queue
  job "later$skew" cpu=0.1,mem=50M 'echo begins'
  soon "  which has the new time" job_has "later$skew" "(.submitted - now) as \$off | (\$off - ($skew)) | fabs < 600"
done

for host in h1 h2 h3; do
  check "no container is left on $host but tickets" is "$(on "$host" docker ps -aq --filter label=org.flowcon.move; on "$host" docker version --format '{{.Server.Os}}')" linux
done

finish_lab
