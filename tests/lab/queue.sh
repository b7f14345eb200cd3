#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Jobs of the queue across hosts: they go where there is room, come home with their log and what they have written,
# and none is lost or run twice while owner, host or coordinator is killed or unheard.
# usage: queue.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 3 --cores 0.8 --disk 2G --no-images
small_images h1 h2 h3
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off'
# h2 has the jobs and no room, h1 has room and coordinates; h3 comes later.
flowcond_reads h1 'offer = cpu=2 mem=400M'
flowcond_reads h2 'offer = cpu=1 mem=100M'
make_peers h1 h2

soon() { local sentence=$1; shift; PATIENCE=120 eventually "$sentence" "$@"; }
is_not_running() { is "$(on "$1" docker inspect --format '{{.State.Running}}' "$2" 2>&1)" false; }
is_not_on() { not on "$1" docker inspect "$2" >/dev/null 2>&1; }

# --- there and home ---------------------------------------------------------------------------------------

job away cpu=1,mem=300M 'echo begins; echo result >/out/model; echo layer >/written; until [ -e /go ]; do sleep 0.2; done; echo ends; exit 7' -v away:/out
soon "a job without room on its host runs on another" job_runs_on h1 away
check "it begins anew there" not holds "$(on h1 docker inspect --format '{{.Config.Env}}' away)" FLOWCON_RESUME
check "docker flowcon queue says where" holds "$(on h2 docker flowcon queue)" HOST
check "  and on any host, of all of them, with --hosts" is "$(on h1 docker flowcon queue --hosts --format '{{.Name}} {{.Home}} {{.Host}}')" "away h2 h1"
check "what it prints is shown here" is "$(on h2 docker flowcon logs away)" begins
on h2 timeout 300 docker flowcon logs --follow away >"$WORK/followed" 2>/dev/null &
FOLLOWS=$!
soon "  and followed" grep -q begins "$WORK/followed"
check "what it writes is not to be had yet" holds "$(on h2 docker flowcon fetch away 2>&1)" "away is on h1"
must on h1 docker exec away busybox touch /go
soon "its end is its own" job_is away failed
wait "$FOLLOWS" || :
check "  and was shown here" is "$(tr '\n' ' ' <"$WORK/followed")" "begins ends "
check "with its exit status" job_has away '.exit == 7'
check "its log is at home" is "$(on h2 docker logs away 2>/dev/null | tr '\n' ' ')" "begins ends "
check "what it wrote to its volume is" is "$(on h2 docker run --rm --network none -v away:/out "$IMAGE_SMALL" busybox cat /out/model)" result
check "  and to its own layer" is "$(on h2 docker cp away:/written - | tar -xOf -)" layer
must on h2 docker flowcon fetch away -o /tmp/away
check "docker flowcon fetch makes files of all that" is "$(on h2 sh -c 'cd /tmp/away && cat log.txt out/model written' | tr '\n' ' ')" "begins ends result layer "
check "nothing of it is left on the other host" is_not_on h1 away
check "  not its volume either" is "$(on h1 docker volume ls -q)" ""
check "docker flowcon wait ends with its status" is "$(on h2 sh -c 'docker flowcon wait away >/dev/null 2>&1; echo $?')" 7

# --- room and order -------------------------------------------------------------------------------------

job first cpu=1,mem=300M 'echo begins; sleep 20'
soon "the next one runs there" job_runs_on h1 first
job second cpu=1,mem=300M 'echo begins; sleep 1'
soon "one more waits, and says for what" job_has second '.state == "waiting" and (.note | test("^waits for .* on h1$"))'
job small cpu=0.5,mem=50M 'echo begins; sleep 1'
soon "one that fits at home runs and ends there" job_has small '.state == "done" and .host == null'
must on h2 docker flowcon queue cancel first
soon "a cancelled job is stopped there, and comes home" job_is first cancelled
check "  with its log" is "$(began first)" 1
soon "what waited has its room" job_is second "done"

# --- at home only -----------------------------------------------------------------------------------------

job stays cpu=1,mem=50M 'until [ -e /go ]; do sleep 0.2; done' -v /etc:/host:ro
soon "a job with a folder of its host runs there, though another one is idler" job_has stays '.state == "running" and .host == null'
job mounts cpu=1,mem=50M 'echo begins' -v /etc:/host:ro
is_bound() { job_has mounts '.state == "waiting" and (.held | not) and (.note | test("it runs on h2 only: it mounts ./etc."))'; }
soon "another one waits for that beside a free host, and says why" is_bound
must on h2 docker exec stays busybox touch /go
soon "  and runs there" job_is mounts "done"
check "  once" is "$(began mounts)" 1
check "no other host was asked" is "$(host_api h2 /v1/moves | jq '[.moves[] | select(.name == "mounts")] | length')" 0

# --- early ------------------------------------------------------------------------------------------------

job counts cpu=1,mem=300M 'n=0; while [ $n -lt 60 ]; do n=$((n + 1)); echo "step $n/60 loss: $((1000 / n))"; sleep 0.5; done'
soon "a job that tells how far it is runs there" job_runs_on h1 counts
job next cpu=1,mem=300M 'echo begins'
is_sent_early() {
  is "$(on h1 docker inspect --format '{{.State.Status}}' next 2>/dev/null)" created && job_is counts running &&
    job_has next '.state == "waiting"'
}
soon "before it ends the next one's container is there, not started" is_sent_early
soon "then that runs, and comes home" job_is next "done"
check "  and began once" is "$(began next)" 1
check "the one before it has come to its end" job_is counts "done"
has_whole_profile() { is "$(on h1 docker flowcon history --profiles --format json | jq '[.[].labels | select(.seconds_train and .cpu_seconds)] | length')" 1; }
soon "  and what it needed is known from beginning to end" has_whole_profile

# --- parked -------------------------------------------------------------------------------------------

job saves cpu=1,mem=300M 'echo begins; trap "echo saved >/out/step; exit 0" USR1; n=0; [ ! -e /out/step ] || { echo resumed; exit 0; }; while :; do sleep 0.2; done' \
  -v saves:/out --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=20
soon "a job that can save itself runs there" job_runs_on h1 saves
must on h2 docker flowcon queue park saves
soon "parked, it comes home and waits" job_has saves '.state == "waiting" and .held and .host == null'
must on h2 docker flowcon queue release saves
soon "released, it goes on from what it has saved" job_is saves "done"
check "  there" is "$(on h2 docker logs saves 2>/dev/null | tail -n 1)" resumed

# --- a host that drains -----------------------------------------------------------------------------------

job leaves cpu=1,mem=200M 'echo begins; trap "echo saved >/out/step; exit 0" USR1; [ ! -e /out/step ] || { echo resumed; exit 0; }; while :; do sleep 0.2; done' \
  -v leaves:/out --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=20
job remains cpu=1,mem=150M 'echo begins; until [ -e /go ]; do sleep 0.2; done'
for name in leaves remains; do soon "a job runs there" job_runs_on h1 "$name"; done
drains() { holds "$(on h2 docker flowcon peer drain h1 2>&1)" "remains (a job that cannot save itself"; }
soon "a host that is to drain says what stays" drains
waits_for_undrain() { job_has leaves '.state == "waiting" and (.held | not) and (.note | test("until h1 stops draining"))'; }
soon "a job there that can save itself does, and waits" waits_for_undrain
check "one that cannot runs on" job_is remains running
must on h1 docker exec remains busybox touch /go
soon "  to its end" job_is remains "done"
must on h2 docker flowcon peer undrain h1
soon "then the other one goes on from what it has saved" job_is leaves "done"
check "  there" is "$(on h2 docker logs leaves 2>/dev/null | tail -n 1)" resumed

# --- data -----------------------------------------------------------------------------------------------

must on h2 docker volume create corpus >/dev/null
must on h2 docker run --rm --network none -v corpus:/data "$IMAGE_SMALL" busybox sh -c 'head -c 20000000 /dev/urandom >/data/x'
sum=$(on h2 docker run --rm --network none -v corpus:/data:ro "$IMAGE_SMALL" busybox sha256sum /data/x)
data() { on h1 docker volume ls -q --filter label=org.flowcon.data; }
reads() { job "$1" cpu=1,mem=300M 'echo begins; sha256sum /data/x; touch /data/y && echo written' -v corpus:/data:ro; }
reads reads-1
reads reads-2
for name in reads-1 reads-2; do
  soon "jobs that read one volume run elsewhere" job_is "$name" "failed"
  check "  with all of it" holds "$(on h2 docker logs "$name" 2>&1)" "$sum"
  check "  and cannot write to it" holds "$(on h2 docker logs "$name" 2>&1)" "Read-only file system"
done
check "one copy is kept there" is "$(data | wc -l)" 1
sent() { host_api h1 /v1/moves | jq --arg name "$1" '[.moves[] | select(.name == $name and .method == "birth") | .bytes] | add'; }
check "  which was sent once" test "$(sent reads-1)" -gt 19000000 -a "$(sent reads-2)" -lt 1000000
must on h2 docker run --rm --network none -v corpus:/data "$IMAGE_SMALL" busybox sh -c 'echo new >/data/x'
reads reads-3
soon "what has changed since" job_is reads-3 "failed"
check "  is sent anew" holds "$(on h2 docker logs reads-3 2>&1)" "$(echo new | sha256sum | cut -d ' ' -f 1)"
check "  beside the other" is "$(data | wc -l)" 2
must on h2 docker run -d --name writer --network none -v corpus:/data "$IMAGE_SMALL" busybox sleep 1000 >/dev/null
reads reads-4
soon "what is being written does not go" job_has reads-4 '.state == "waiting" and (.note | test("is written to by container writer"))'
must on h2 docker rm -f writer >/dev/null
soon "  until that has ended" job_is reads-4 "failed"

# --- who dies -------------------------------------------------------------------------------------------

for role in owner host; do
  host=h2 other=h1
  [ "$role" = owner ] || host=h1 other=h2
  job "kill-$role" cpu=1,mem=300M 'echo begins; sleep 8; echo ends'
  soon "a job runs there" job_runs_on h1 "kill-$role"
  flowcond_kill "$host"
  must wait_until 60 misses "$other" "$host"
  flowcond_up "$host"
  soon "its $role is killed: it comes to its end" job_is "kill-$role" "done"
  check "  and began once" is "$(began "kill-$role")" 1
done
job unheard cpu=1,mem=300M 'echo begins; sleep 3; echo ends'
soon "a job runs there" job_runs_on h1 unheard
flowcond_kill h1
soon "it ends there" is_not_running h1 unheard
soon "its owner has looked at it since" job_has unheard '.note | test("h1")'
check "while its host is silent it counts as running" job_is unheard running
flowcond_up h1
soon "and ends when that is heard" job_is unheard "done"

# --- people ----------------------------------------------------------------------------------------------

job removed cpu=1,mem=300M 'echo begins; sleep 100'
soon "a job runs there" job_runs_on h1 removed
must on h2 docker rm removed >/dev/null
soon "docker rm of its ticket cancels it there, too" is_not_on h1 removed
job lost cpu=1,mem=300M 'echo begins; sleep 4; echo ends'
soon "a job runs there" job_runs_on h1 lost
refused() { holds "$(on h2 docker flowcon queue restart --without h1 lost 2>&1)" reachable; }
check "a host that is reachable is not given up" refused
flowcond_kill h1
given_up() { on h2 docker flowcon queue restart --without h1 lost >"$WORK/out" 2>&1 || { cat "$WORK/out"; return 1; }; }
soon "one that is lost is" given_up
check "and its job waits again" job_is lost waiting
flowcond_up h1
soon "when the host is back after all, what it had goes" job_has lost '.state == "running" or .state == "done"'
soon "and the job comes to its end" job_is lost "done"

# --- another coordinator -------------------------------------------------------------------------------

flowcond_reads h3 $'offer = cpu=2 mem=400M\n'"$POLICY"
flowcond_up h3
for host in h1 h2; do must wait_until 60 on "$host" docker flowcon peer add h3 --create-user --fingerprint "$(fingerprint h3)"; done
must wait_until 60 reach_each_other h1 h2 h3
for name in fills-1 fills-2; do job "$name" cpu=1,mem=300M 'echo begins; until [ -e /go ]; do sleep 0.2; done'; done
on_both() { is "$(host_api h2 /v1/queue | jq -r '[.jobs[] | select(.state == "running") | .host] | sort | join(" ")')" "h1 h3"; }
soon "two jobs fill two other hosts" on_both
there=$(host_api h2 /v1/queue | jq -r '.jobs[] | select(.state == "running" and .host == "h3").name')
job after cpu=1,mem=300M 'echo begins; until [ -e /go ]; do sleep 0.2; done'
soon "one more waits" job_has after '.state == "waiting" and (.note | test("^(waits for|next on) "))'
flowcond_kill h1
must on h3 docker exec "$there" busybox touch /go
soon "where room comes free after the coordinator's death the next one decides, and it starts" job_runs_on h3 after
check "  while the other job counts as running" is "$(host_api h2 /v1/queue | jq -r '[.jobs[] | select(.state == "running").host] | sort | join(" ")')" "h1 h3"
flowcond_up h1
for name in fills-1 fills-2; do [ "$name" = "$there" ] || must on h1 docker exec "$name" busybox touch /go; done
must on h3 docker exec after busybox touch /go
for name in fills-1 fills-2 after; do
  soon "each comes to its end" job_is "$name" "done"
  check "  and began once" is "$(began "$name")" 1
done

for host in h1 h2 h3; do
  check "no container is left on $host but tickets" is "$(on "$host" docker ps -aq --filter label=org.flowcon.move)" ""
done
finish_lab
