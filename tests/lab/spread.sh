#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Jobs whose tasks are on several hosts at a time, in an overlay network of a Docker Swarm or in the hosts' own: they
# start together, find each other, come and go, and end together, whichever host is lost.
# usage: spread.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 3 --cores 0.6 --disk 2G --no-images
small_images h1 h2 h3
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off\ngroup-network = train'
for host in h1 h2 h3; do flowcond_reads "$host" 'offer = cpu=1 mem=200M'; done
must on h1 docker swarm init --advertise-addr eth0 >/dev/null
token=$(on h1 docker swarm join-token -q worker)
must on h2 docker swarm join --token "$token" h1:2377 >/dev/null
must on h1 docker network create -d overlay --attachable train >/dev/null
# h2 has the jobs, h1 coordinates.
make_peers h1 h2 h3

soon() { local sentence=$1; shift; PATIENCE=150 eventually "$sentence" "$@"; }
count_is() { is "$(for host in h1 h2 h3; do tasks_on "$host"; done | wc -w)" "$1"; }
each_host_has() { for host in "$@"; do [ -n "$(tasks_on "$host")" ] || { printf 'none on %s\n' "$host"; return 1; }; done; }
# in_task NAME COMMAND...: in the container of that name, wherever it runs.
in_task() {
  local host name=$1
  shift
  for host in h1 h2 h3; do
    if [ -n "$(running "$host" "$name")" ]; then on "$host" docker exec "$name" "$@"; return; fi
  done
}
let_end() {
  local task
  for task in $(host_api h2 "/v1/queue/$1" | jq -r '.tasks[] | select(.state == "running") | .name'); do
    in_task "$task" busybox sh -c ': >/go'
  done
}
WAIT='echo begins; until [ -e /go ]; do sleep 0.2; done; echo ends'

# --- two hosts in the swarm, three hosts ---------------------------------------------------------------------

group two 4 cpu=0.5,mem=50M "$TALK" -v two:/ck
soon "four workers run on two hosts" job_has two '.state == "running" and .host == "h1 h2"'
check "  two on each" is "$(tasks_on h1 | wc -w) $(tasks_on h2 | wc -w)" "2 2"
check "  of which the table tells" holds "$(on h2 docker flowcon queue)" "h1 h2"
heard() { local task; for task in two-w1 two-w2 two-w3; do holds "$(on h2 docker flowcon logs "$task" 2>&1)" "the first of 4" || return 1; done; }
soon "they find each other across hosts" heard
check "no network of their own was made" is "$(for host in h1 h2; do on "$host" docker network ls -q --filter name=flowcon-group-; done | wc -l)" 0
let_end two
soon "when all have ended and are home it is done" job_is two "done"
check "  with the volume of the first one" holds "$(on h2 docker run --rm --network none -v two:/ck "$IMAGE_SMALL" busybox ls /ck)" 0
check "nothing of it is left on the other host" is "$(on h1 docker ps -aq)$(on h1 docker volume ls -q)" ""

group three 6 cpu=0.5,mem=50M "$TALK" -v three:/ck
waits() { job_has three '.state == "waiting" and (.note | test("no reachable host could hold it"))'; }
soon "six wait: the third host is not in the swarm" waits
check "  and none runs meanwhile" count_is 0
must on h3 docker swarm join --token "$token" h1:2377 >/dev/null
soon "once it is, they run on three" job_has three '.state == "running" and .host == "h1 h2 h3"'
heard() { local task; for task in "$@"; do holds "$(on h2 docker flowcon logs "$task" 2>&1)" "the first of 6" || return 1; done; }
soon "and find each other" heard three-w1 three-w3 three-w5

# --- a host is lost --------------------------------------------------------------------------------------------

must "$LAB" kill h3
soon "a host loses power" misses h2 h3
soon "its owner has looked at the tasks there since" job_has three '.note | test("h3")'
check "the job runs, as far as anybody knows" job_is three running
must on h2 docker flowcon queue restart three --without h3 >/dev/null
soon "a person who knows better ends that: all wait for the host" job_is three waiting
soon "  and none of them runs" count_is 0
must "$LAB" boot h3
flowcond_up h3
soon "when it is back all start again" job_has three '.state == "running" and .attempt == 2 and .host == "h1 h2 h3"'
check "  once each" count_is 6
soon "  and find each other again" heard three-w7 three-w8 three-w9 three-w10 three-w11
let_end three
soon "  and come to their end" job_is three "done"

# --- more and fewer ------------------------------------------------------------------------------------------

group grow 1:4 cpu=0.5,mem=50M "$WAIT" --elastic join
four() { count_is 4; }
soon "workers join on all hosts" four
soon "  one job" job_has grow '.state == "running" and .workers == 4'
first=$(in_task grow-w0 busybox cat /etc/hostname)
group wants 1 cpu=1,mem=50M 'echo begins; sleep 5'
must on h2 docker flowcon queue set --priority 10 wants
soon "a job that comes first gets the room of those on one host" job_has wants '.state == "running" or .state == "done"'
soon "  and ends" job_is wants "done"
soon "then they join again" four
check "  and the first one ran all the time" is "$(in_task grow-w0 busybox cat /etc/hostname)" "$first"
must "$LAB" partition h3
soon "a host is not heard" misses h2 h3
check "the others go on" job_is grow running
must "$LAB" heal h3
heard_again() { ! silent; }
soon "and it is heard again" heard_again
check "  with all workers" count_is 4
must on h2 docker flowcon queue cancel grow
soon "all of it is cancelled" job_is grow cancelled
none_left() { is "$(for host in h1 h3; do on "$host" docker ps -aq --filter label=org.flowcon.move; done)" ""; }
soon "nothing is left on other hosts" none_left

# --- the hosts' own networks -----------------------------------------------------------------------------------

for host in h1 h2 h3; do
  must on "$host" docker swarm leave --force >/dev/null
  address=$(on "$host" ip -4 -br addr show eth0 | grep -o '[0-9.]*/' | tr -d /)
  must on "$host" sed -i 's/^group-network = .*/group-network = host/' "$CONF"
  flowcond_reads "$host" "advertise = $address"
  flowcond_reads "$host" 'accept-host-network = true'
  flowcond_stop "$host"
  flowcond_up "$host"
done
must wait_until 60 reach_each_other h1 h2 h3
# What answers at its port is the task itself; two of them on a host have ports of their own.
OWN='echo begins
mkdir /srv
echo "$FLOWCON_RANK of $WORLD_SIZE" >/srv/word
httpd -p "$FLOWCON_PORT" -h /srv
until wget -q -O - "http://$MASTER_ADDR:$MASTER_PORT/word" 2>/dev/null; do sleep 0.2; done
until [ -e /go-$FLOWCON_PORT ]; do sleep 0.2; done
echo ends'
group open 6 cpu=0.5,mem=50M "$OWN"
soon "six workers run in the networks of three hosts" job_has open '.state == "running" and .host == "h1 h2 h3"'
heard() { local task; for task in open-w0 open-w3 open-w5; do holds "$(on h2 docker flowcon logs "$task" 2>&1)" "0 of 6" || { on h2 docker flowcon queue show open; return 1; }; done; }
soon "they find each other by address and port" heard
one=$(on h2 docker ps --format '{{.Names}}' --filter label=org.flowcon.group | head -n 1)
check "  in the host's network" is "$(on h2 docker inspect -f '{{.HostConfig.NetworkMode}}' "$one")" host
must on h2 docker flowcon queue cancel open
soon "they are cancelled" job_is open cancelled
soon "nothing of them is left on other hosts" none_left

must on h3 iptables -I INPUT -p tcp --dport 29500:29999 -j REJECT
group torn 6 cpu=0.5,mem=50M "$OWN"
torn() { job_has torn '.state == "waiting" and (.note | test("h[12] does not reach 10[.]77[.]0[.]13 port 29[0-9]+: "))'; }
soon "where a host is not reached nothing starts, and it is said" torn
check "  no task was made" is "$(for host in h1 h2 h3; do on "$host" docker ps -aq --filter name=torn-; done)" ""
must on h3 iptables -D INPUT 1
soon "when it is it runs" job_has torn '.state == "running" and .host == "h1 h2 h3"'
must on h2 docker flowcon queue cancel torn
soon "it is cancelled" job_is torn cancelled
soon "nothing of it is left on other hosts" none_left
must on h3 sed -i 's/^accept-host-network = .*/accept-host-network = false/' "$CONF"
flowcond_stop h3
flowcond_up h3
must wait_until 60 reach_each_other h1 h2 h3
group closed 6 cpu=0.5,mem=50M "$OWN"
closed() { job_has closed '.state == "waiting" and (.note | test("no reachable host could hold it"))'; }
soon "a host that is closed to peers' tasks has none" closed
must on h2 docker flowcon queue cancel closed
finish_lab
