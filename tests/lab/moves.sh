# SPDX-License-Identifier: Apache-2.0
#
# What the tests of moves share: hosts that are peers, jobs that can move, and questions about where
# a job is. Sourced after lib.sh.
#
#   make_peers HOST...             flowcond on each, all of them peers of each other; nothing moves by itself
#                                  unless POLICY says so
#   flowcond_up HOST [OPTION...]   starts it as the tests of moves have it; flowcond_kill HOST
#   flowcond_reads HOST TEXT       adds TEXT to its configuration file, for its next start
#   counter HOST NAME [OPTION...]  the job of tests/lab/counter there; OPTION is docker run's
#   move HOST NAME [WORD...]       docker flowcon migrate
#   job NAME REQUEST SCRIPT [OPTION...]
#                                  a job of one container, submitted on h2, of JOB_IMAGE or the small one; OPTION is
#                                  docker create's
#   job_has NAME EXPRESSION        says jq so of a job of the queue on h2? job_is NAME STATE
#   job_runs_on HOST NAME          does it, and is that known? began NAME: how often it wrote "begins"
#   group NAME WORKERS REQUEST SCRIPT [OPTION...]
#                                  a job of several containers, submitted on h2; OPTION is docker create's
#   tasks_on HOST                  containers of such jobs that run there, by name
#   cluster HOST EXPRESSION        jq's answer about GET /v1/cluster of that host
#   watch_tasks HOST...            $WORK/twice says from now on when a task runs twice (watch_tasks.py), which is shown
#                                  once; tasks_were_watched checks that none did
# shellcheck shell=bash
# shellcheck disable=SC2016 # for the shells in the hosts

CONF=/etc/flowcon/flowcon.conf
# The project's folder is the same on all lab hosts; jobs may mount it.
# shellcheck disable=SC2034 # for those that source this
ACCEPT_SOURCE='accept-mounts = /opt/source'

flowcond_up() {
  local host=$1
  shift
  host_flowcond "$host" --config "$CONF" "$@"
}
flowcond_kill() {
  on "$1" sh -c 'p=$(cat /run/flowcond.pid) && kill -9 "$p" && while kill -0 "$p"; do sleep 0.05; done' 2>/dev/null || :
}
flowcond_stop() {
  on "$1" sh -c 'p=$(cat /run/flowcond.pid) && kill "$p" && while kill -0 "$p"; do sleep 0.05; done' 2>/dev/null || :
}
flowcond_reads() { must on "$1" sh -c 'mkdir -p /etc/flowcon && printf "%s\n" "$2" >>"$1"' add "$CONF" "$2"; }

POLICY=$'peer-heartbeat = 1\ncategorise-interval = 2\nspeculate = off\nrebalance = off\nrebalance-idle = off\naccept-criu = on'

fingerprint() { on "$1" ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub | cut -d' ' -f2; }
reaches() { host_api "$1" /v1/peers | jq -e --arg n "$2" 'any(.peers[]; .name == $n and .state == "reachable")' >/dev/null; }
# misses HOST NAME: it knows that it hears nothing of that peer.
misses() { host_api "$1" /v1/peers | jq -e --arg n "$2" 'any(.peers[]; .name == $n and .state != "reachable")' >/dev/null; }
reach_each_other() {
  local a b
  for a in "$@"; do
    for b in "$@"; do [ "$a" = "$b" ] || reaches "$a" "$b" || { printf '%s does not reach %s\n' "$a" "$b"; return 1; }; done
  done
}
make_peers() {
  local a b
  for a in "$@"; do
    flowcond_reads "$a" "$POLICY"
    flowcond_up "$a"
  done
  for a in "$@"; do
    for b in "$@"; do
      [[ ! $a < $b ]] || must wait_until 60 on "$a" docker flowcon peer add "$b" --create-user --fingerprint "$(fingerprint "$b")"
    done
  done
  must wait_until 60 reach_each_other "$@"
}

counter() {
  local host=$1 name=$2
  shift 2
  must on "$host" docker run -d --name "$name" --network none --label flowcon.migrate=app \
    --label flowcon.checkpoint.path=/ckpt/step --label flowcon.checkpoint.signal=SIGUSR1 \
    --label flowcon.checkpoint.timeout=10 "$@" "${COUNTER_IMAGE:-$IMAGE_SMALL}" busybox sh -c "$(cat "$FLOWCON_TOP/tests/lab/counter")"
}

move() { local host=$1; shift; on "$host" docker flowcon migrate "$@"; }

cluster() { host_api "$1" /v1/cluster | jq -r "$2"; }
cluster_has() {
  local body
  body=$(host_api "$1" /v1/cluster) || { printf '%s\n' "$body"; return 1; }
  printf '%s' "$body" | jq -e "$2" >/dev/null && return 0
  printf '%s' "$body" | jq -c '[.hosts[] | [.name, .state, .error]], (.moves[] | [.name, .side, .step, .error, .ended])' | head -n 12
  return 1
}

# moves HOST EXPRESSION, moves_have HOST EXPRESSION: about GET /v1/moves.
moves() { host_api "$1" /v1/moves | jq -r "$2"; }
moves_have() {
  local body
  body=$(host_api "$1" /v1/moves) || { printf '%s\n' "$body"; return 1; }
  printf '%s' "$body" | jq -e "$2" >/dev/null && return 0
  printf '%s' "$body" | jq -c '.moves[] | [.name, .side, .step, .error, .ended]' | head -n 6
  return 1
}

running() { host_engine "$1" /containers/json | jq -r --arg n "/$2" '.[] | select(.Names[0] == $n) | .Id'; }
# steps HOST NAME: the last step of the counter that the container's own log has.
steps() { on "$1" docker logs --tail 20 "$2" 2>&1 | sed -n 's/^step \([0-9]*\) .*/\1/p' | tail -n 1; }
# goes_on HOST NAME: it counts further than it has by now.
goes_on() {
  local before
  before=$(steps "$1" "$2")
  wait_until 10 is_beyond "$1" "$2" "${before:-0}"
}
is_beyond() {
  local now
  now=$(steps "$1" "$2")
  [ "${now:-0}" -gt "$3" ] || { printf '%s on %s: step %s, and before that %s\n' "$2" "$1" "${now:-none}" "$3"; return 1; }
}

job_has() {
  local seen
  seen=$(host_api h2 "/v1/queue/$1")
  jq -e "$2" <<<"$seen" >/dev/null || { jq -c '[.state, .host, .note, .exit, .tasks, .steps]' <<<"$seen"; return 1; }
}
job_is() { job_has "$1" ".state == \"$2\""; }
job() {
  local name=$1 request=$2 text=$3
  shift 3
  must on h2 docker create --name "$name" --network none --label flowcon.queue=true \
    --label "flowcon.request=$request" "$@" "${JOB_IMAGE:-$IMAGE_SMALL}" busybox sh -c "$text" >/dev/null
}
job_runs_on() {
  is "$(on "$1" docker inspect --format '{{.State.Running}}' "$2" 2>/dev/null)" true &&
    job_has "$2" ".state == \"running\" and .host == \"$1\""
}
began() { on h2 docker logs "$1" 2>/dev/null | grep -c '^begins$'; }

group() {
  local name=$1 workers=$2 request=$3 text=$4
  shift 4
  must on h2 docker flowcon submit --name "$name" --workers "$workers" --request "$request" "$@" \
    "$IMAGE_SMALL" busybox sh -c "$text" >/dev/null 2>&1
}
tasks_on() { on "$1" docker ps --format '{{.Names}}' --filter label=org.flowcon.group | sort | tr '\n' ' '; }
# What workers do in /ck: they hear the first one's word over the network, and end once there is /go.
# shellcheck disable=SC2034 # for those that source this
TALK='echo begins
mkdir /srv
echo "the first of $WORLD_SIZE" >/srv/word
if [ "$RANK" = 0 ]; then httpd -p "$MASTER_PORT" -h /srv; else until wget -q -O - "http://$MASTER_ADDR:$MASTER_PORT/word" 2>/dev/null; do sleep 0.2; done; fi
echo "$RANK" >"/ck/$RANK"
until [ -e /go ]; do sleep 0.2; done
echo ends'

watch_tasks() {
  local host
  setpriv --pdeathsig KILL python3 "$FLOWCON_TOP/tests/lab/watch_tasks.py" \
    "$(sed -n 's/^cgroup=//p' "$FLOWCON_CACHE/labs/$FLOWCON_LAB/state" | tail -n 1)" "$FLOWCON_CACHE/labs/$FLOWCON_LAB" "$@" >"$WORK/twice" 2>&1 &
  WATCHER=$!
  # Two containers of one name, on two hosts: what the watch is there for.
  for host in "$1" "$2"; do must on "$host" docker run -d --name job-0 --network none "$IMAGE_SMALL" busybox sleep 600; done
  eventually "the watch sees it where a task runs twice" grep -q "/job-0 .* on $1 beside /job-0 .* on $2" "$WORK/twice"
  for host in "$1" "$2"; do must on "$host" docker rm -f job-0; done
}
tasks_were_watched() {
  check "the watch goes on" kill "$WATCHER"
  check "no task ran twice, and no two attempts of a job" is "$(grep -v "/job-0 " "$WORK/twice" | head -n 20)" ""
}
