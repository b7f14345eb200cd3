#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Jobs of several containers: workers and parameter servers that start together, find each other and end together, at
# home and on another host, whoever is killed.
# usage: groups.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 2 --cores 0.8 --disk 2G --no-images
small_images h1 h2
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off'
# h2 has the jobs and little room, h1 has more and coordinates.
flowcond_reads h1 'offer = cpu=2 mem=410M'
flowcond_reads h2 'offer = cpu=1 mem=100M'
make_peers h1 h2

soon() { local sentence=$1; shift; PATIENCE=120 eventually "$sentence" "$@"; }
run_on() { is "$(tasks_on "$1")" "$2 "; }
networks() { on "$1" docker network ls -q --filter name=flowcon-group- | wc -l; }

group room 1 cpu=1.5,mem=350M 'until [ -e /go ]; do sleep 0.2; done'
soon "a job takes the room of the other host" job_has room '.state == "running" and .host == "h1"'

# --- at home ----------------------------------------------------------------------------------------------

group home 2 cpu=0.4,mem=30M "$TALK" -v home:/ck
soon "workers that fit at home run there" run_on h2 "home-w0 home-w1"
soon "  as one job" job_has home '.state == "running" and .host == null and .workers == 2'
check "  of which the table tells" holds "$(on h2 docker flowcon queue)" WORKERS
heard() { holds "$(on h2 docker logs home-w1 2>&1)" "the first of 2"; }
soon "they find each other" heard
check "  in a network of their own" is "$(networks h2)" 1
check "they share its volume" is "$(on h2 docker exec home-w1 busybox ls /ck | tr '\n' ' ')" "0 1 "
for task in home-w0 home-w1; do must on h2 docker exec "$task" busybox sh -c ': >/go'; done
soon "when both have ended it is done" job_is home "done"
check "  and docker flowcon wait says so" is "$(on h2 sh -c 'docker flowcon wait home >/dev/null 2>&1; echo $?')" 0
check "their logs are kept" is "$(on h2 docker logs home-w1 2>&1 | grep -v first | tr '\n' ' ')" "begins ends "

must on h1 docker exec room busybox sh -c ': >/go'
soon "the room is free" job_is room "done"

# --- elsewhere ----------------------------------------------------------------------------------------------

group away 2 cpu=0.5,mem=150M "$TALK" -v away:/ck
soon "workers without room at home run on another host, all of them" run_on h1 "away-w0 away-w1"
soon "  as one job" job_has away '.state == "running" and .host == "h1"'
heard() { holds "$(on h1 docker logs away-w1 2>&1)" "the first of 2"; }
soon "they find each other there" heard
check "  as docker flowcon logs shows here" holds "$(on h2 docker flowcon logs away-w1 2>&1)" "the first of 2"
check "  of each, by its name" holds "$(on h2 docker flowcon logs away 2>&1)" "away-w0, away-w1"
check "  in a network of their own" is "$(networks h1)" 1
for task in away-w0 away-w1; do must on h1 docker exec "$task" busybox sh -c ': >/go'; done
soon "when both have ended and are home it is done" job_is away "done"
check "their logs are at home" is "$(on h2 docker logs away-w1 2>&1 | grep -v first | tr '\n' ' ')" "begins ends "
check "  and the volume of the first one" is "$(on h2 docker run --rm --network none -v away:/ck "$IMAGE_SMALL" busybox ls /ck)" 0
check "no container is left there" is "$(on h1 docker ps -aq)" ""
check "  no volume" is "$(on h1 docker volume ls -q)" ""
check "  and no network" is "$(networks h1)" 0

must on h2 docker network create mine >/dev/null
group mine 2 cpu=0.4,mem=30M "$TALK" --network mine
# The other host, which lacks it, may have refused numbers 0 and 1.
mine_run() { holds "$(tasks_on h2)" "mine-w" && is "$(tasks_on h2 | wc -w)" 2; }
soon "workers in a network of the user's run where that is" mine_run
second=$(tasks_on h2 | cut -d ' ' -f 2)
heard() { holds "$(on h2 docker logs "$second" 2>&1)" "the first of 2"; }
soon "  and find each other in it" heard
check "  without another one" is "$(networks h2)" 0
check "each is under control" holds "$(on h2 docker flowcon status "$second")" "$second"
must on h2 docker flowcon queue cancel mine
soon "they are stopped" job_is mine cancelled

# --- together or not at all -----------------------------------------------------------------------------------

group first 1 cpu=1.5,mem=100M 'until [ -e /go ]; do sleep 0.2; done'
soon "a job takes most of the room" job_is first running
group waits 3 cpu=0.5,mem=50M 'echo begins; sleep 2'
soon "three workers wait until all have room" job_has waits '.state == "waiting" and (.note | test("waits for|next on"))'
check "  and none runs meanwhile" is "$(on h1 docker ps -aq --filter label=org.flowcon.group)$(on h2 docker ps -aq --filter name=waits-w)" ""
must on h1 docker exec first busybox sh -c ': >/go'
soon "then they run, and end" job_is waits "done"

group fails 2 cpu=0.4,mem=30M 'echo begins; [ "$RANK" = 1 ] || sleep 1000; exit 3'
soon "where one fails the other is stopped" job_has fails '.state == "failed" and .exit == 3 and (.note | test("fails-w1: ended with status 3"))'
check "  and does not run" is "$(tasks_on h1)$(tasks_on h2)" ""

group saves 2 cpu=0.4,mem=30M 'echo begins; trap "echo saved >/ck/step$RANK; exit 0" USR1; [ "$FLOWCON_RESUME" != 1 ] || { cat /ck/step0; exit 0; }; while :; do sleep 0.2; done' \
  -v saves:/ck --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=20
soon "workers that can save themselves run" job_is saves running
must on h2 docker flowcon queue park saves
soon "parked, all have saved themselves and are gone" job_has saves '.state == "waiting" and .held and (.tasks | length) == 0'
must on h2 docker flowcon queue release saves
soon "released, new ones go on" job_is saves "done"
check "  from what was saved" is "$(on h2 docker logs saves-w2 2>&1 | tail -n 1)" saved

group cancelled 2 cpu=0.5,mem=150M 'echo begins; sleep 1000'
soon "a job runs there" run_on h1 "cancelled-w0 cancelled-w1"
must on h2 docker rm cancelled >/dev/null
is_empty() { is "$(on h1 docker ps -aq)" ""; }
soon "docker rm of its ticket stops and removes all of it" is_empty

# --- more and fewer ---------------------------------------------------------------------------------------

group busy 1 cpu=1.5,mem=60M 'until [ -e /go ]; do sleep 0.2; done'
soon "a job takes most of the room" job_has busy '.state == "running" and .host == "h1"'
group grow 1:4 cpu=0.5,mem=102M 'echo begins; until [ -e /go ]; do sleep 0.2; done' --elastic join
soon "one that may grow starts with what there is" run_on h1 "grow-w0"
must on h1 docker exec busy busybox sh -c ': >/go'
soon "and gets more workers where nobody waits" run_on h1 "grow-w0 grow-w1 grow-w2 grow-w3"
check "  of which the table tells" holds "$(on h2 docker flowcon queue --format '{{.Name}} {{.WorkersText}}')" "grow 4"
must on h2 docker flowcon queue scale grow 1
soon "docker flowcon queue scale takes them" run_on h1 "grow-w0"
must on h2 docker flowcon queue scale grow 2
soon "  and gives others" run_on h1 "grow-w0 grow-w4"
must on h1 docker kill grow-w4 >/dev/null
soon "one that is killed is replaced" run_on h1 "grow-w0 grow-w5"
check "  while the others went on" is "$(on h1 docker logs grow-w0)" begins
group wants 1 cpu=1.5,mem=100M 'echo begins; sleep 5'
must on h2 docker flowcon queue scale grow none
must on h2 docker flowcon queue set --priority 10 wants
soon "a job that comes first gets the room of workers" job_has wants '.state == "running" or .state == "done"'
check "  but not that of the last one" is "$(on h1 docker logs grow-w0)" begins
soon "and comes to its end" job_is wants "done"
must on h2 docker flowcon queue cancel grow
soon "all of it is cancelled" job_is grow cancelled

# --- who dies ------------------------------------------------------------------------------------------------

for role in owner host; do
  host=h2 other=h1
  [ "$role" = owner ] || host=h1 other=h2
  group "kill-$role" 2 cpu=0.5,mem=150M 'echo begins; sleep 8; echo ends'
  soon "a job runs there" run_on h1 "kill-$role-w0 kill-$role-w1"
  flowcond_kill "$host"
  must wait_until 60 misses "$other" "$host"
  flowcond_up "$host"
  soon "its $role is killed: it comes to its end" job_is "kill-$role" "done"
  check "  and each of its workers began once" is "$(on h2 sh -c "docker logs kill-$role-w0; docker logs kill-$role-w1" 2>/dev/null | tr '\n' ' ')" "begins ends begins ends "
done

for host in h1 h2; do
  check "no network is left on $host" is "$(networks "$host")" 0
  check "no container is left on $host but tickets" is "$(on "$host" docker ps -aq --filter label=org.flowcon.move)" ""
done
finish_lab
