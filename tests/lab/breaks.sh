# SPDX-License-Identifier: Apache-2.0
#
# What the tests share that break moves on pairs of lab hosts: disks that are slow or fail, ends of flowcond, who runs
# a copy, what is left over. Sourced after moves.sh. A pair is S and T.
#
#   disks_can_break HOST...        from its next start on, flowcond's databases on HOST can be made slow or failing
#   disk HOST [LINE...]            what is wrong from now on, in the words of tests/lab/disk.c; nothing: all is well
#   watch_copies, watched          from the one to the other never two copies ran, not for a moment
#   worker PAIR, lead_workers      takes a line of $WORK/cells after the other
# shellcheck shell=bash
# shellcheck disable=SC2016 # for the shells in the hosts

STOP_TIME=60 # seconds, as TimeoutStopSec of the unit

# --- disks ----------------------------------------------------------------------------------------

disks_can_break() {
  local host
  [ -e "$WORK/disk.so" ] || must gcc -shared -fPIC -O1 -o "$WORK/disk.so" "$FLOWCON_TOP/tests/lab/disk.c"
  for host in "$@"; do must "$LAB" cp "$WORK/disk.so" "$host:/usr/local/lib/flowcon-disk.so"; done
}
disk() {
  local host=$1
  shift
  # One rename: a half-written line would be none.
  on "$host" sh -c 'printf "%s\n" "$@" >/run/disk-faults.part && mv /run/disk-faults.part /run/disk-faults' disk "$@"
}
# journal_of HOST: how the files of the database are called that has the journal of migrations.
journal_of() { on "$1" sh -c 'test -e /var/lib/flowcon/journal.db && echo "journal.db*" || echo "flowcon.db*"'; }

# --- ends -----------------------------------------------------------------------------------------

engine_kill() {
  on "$1" sh -c 'p=$(cat /run/docker.pid) && kill -9 "$p" && while kill -0 "$p" || pgrep -x containerd; do sleep 0.05; done' >/dev/null 2>&1 || :
}
ssh_kill() { on "$1" sh -c 'for p in $(pgrep -x "ssh|sshd-session"); do kill -9 "$p"; done' 2>/dev/null || :; }

# flowcond_term HOST: as systemctl stop does.
flowcond_term() {
  on "$1" sh -c 'p=$(cat /run/flowcond.pid) && kill "$p" || exit 1
    n=0; while kill -0 "$p" 2>/dev/null; do
      n=$((n + 1)); [ "$n" -lt "$2" ] || { kill -9 "$p"; echo "it has not ended within the time for a stop"; exit 1; }
      sleep 0.1; done' term "$1" $((10 * STOP_TIME))
}
flowcond_lives() { on "$1" sh -c 'kill -0 "$(cat /run/flowcond.pid)"'; }

engine_answers() { host_engine "$1" /_ping; }
engine_starts() {
  on "$1" start-docker || return 1
  wait_until 40 engine_answers "$1"
}

# --- copies ---------------------------------------------------------------------------------------

copies() { local host; for host in "$S" "$T"; do [ -z "$(running "$host" "$1")" ] || printf '%s\n' "$host"; done; }
at_most_one_runs() { [ "$(copies "$1" | wc -l)" -le 1 ] || { printf 'two copies run\n'; return 1; }; }
exactly_one_runs() {
  local seen
  seen=$(copies "$1" | paste -sd' ')
  [[ $seen =~ ^h[0-9]+$ ]] || { printf 'running copies on: %s\n' "${seen:-no host}"; return 1; }
}
has_ended_on() { moves_have "$1" "[.moves[] | select(.name == \"$2\")] | length == 0 or all(.[]; .ended)"; }
all_is_over() { has_ended_on "$S" "$1" && has_ended_on "$T" "$1" && exactly_one_runs "$1"; }
both_reach() { reaches "$S" "$T" && reaches "$T" "$S"; }

WATCHER=''
watch_copies() {
  local group
  group=$(sed -n 's/^cgroup=//p' "$FLOWCON_CACHE/labs/$FLOWCON_LAB/state" | tail -n 1)
  setpriv --pdeathsig KILL python3 "$FLOWCON_TOP/tests/lab/watch.py" "$group" "$S" "$T" >"$WORK/watch.$S" 2>&1 &
  WATCHER=$!
}
watched() {
  kill "$WATCHER" 2>/dev/null || { printf 'nobody watched: '; cat "$WORK/watch.$S"; return 1; }
  wait "$WATCHER" || :
  [ ! -s "$WORK/watch.$S" ] || { cat "$WORK/watch.$S"; return 1; }
}

# --- what is left -----------------------------------------------------------------------------------

# What is kept for later jobs would be a difference.
POLICY+=$'\ndata-cache = 0'
# traces HOST: all that a move could leave there. The state folder's databases and keys stay, and so does what
# containerd leaves of each checkpoint that it has started from.
traces() {
  on "$1" sh -c '
    curl -sS --fail --max-time 20 --unix-socket /run/docker.sock \
      "http://engine/containers/json?all=1" "http://engine/volumes" "http://engine/images/json?all=1"
    find /var/lib/flowcon -mindepth 1 ! -name "*.db" ! -name "*.db-*" ! -path "*/ssh*" ! -path "*/peer*"
    find /var/lib/docker/containers /var/lib/docker/volumes -mindepth 1 -maxdepth 1 ! -name "*.db"
    find /var/lib/docker/overlay2 -mindepth 1 -maxdepth 1 | wc -l | sed "s/^/layers /"
    find /tmp /run/flowcon -mindepth 1 ! -path "/tmp/ctrd-checkpoint*"' |
    jq -rR 'fromjson? // . | if type == "object" then .Volumes[]? | "volume \(.Name)"
      elif type == "array" then .[] | if .Names then "container \(.Names[0]) \(.Id)" else "image \(.Id) \(.RepoTags)" end
      else . end' | sort
}

# Whatever was left: what follows starts from hosts that are well.
clean_up() {
  local host
  for host in "$S" "$T"; do
    host_link heal "$host" >/dev/null 2>&1 || :
    "$LAB" boot "$host" >/dev/null 2>&1 || :
    disk "$host" >/dev/null 2>&1 || :
    engine_answers "$host" >/dev/null 2>&1 || engine_starts "$host" >/dev/null 2>&1 || :
    flowcond_kill "$host"
    on "$host" sh -c 'chmod 660 /run/flowcon/peer.sock; docker rm -f $(docker ps -aq); docker volume rm $(docker volume ls -q)
      docker rmi -f $(docker images -q flowcon-fault)' >/dev/null 2>&1 || :
  done
  for host in "$S" "$T"; do flowcond_up "$host"; done
  on "$T" docker flowcon peer undrain "$T" >/dev/null 2>&1 || :
}
# The lab's partitions are one file.
host_link() { flock "$WORK/host_link" "$LAB" "$@"; }

# keep_logs WORDS: what flowcond and the engines said, where something failed.
keep_logs() {
  local host folder=$FLOWCON_TOP/build/test/$TOPIC/$1
  mkdir -p "$folder"
  for host in "$S" "$T"; do
    on "$host" sh -c 'tail -n 150 /var/log/flowcond.log; echo; tail -n 40 /var/log/dockerd.log; docker ps -a; docker volume ls' >"$folder/$host.log" 2>&1 || :
    { host_api "$host" /v1/cluster; host_api "$host" /v1/moves; } >"$folder/$host.json" 2>/dev/null || :
  done
}

fails() { printf 'FAIL %s: %s\n' "$1" "$(printf '%s' "$2" | tail -n 6 | cut -c 1-500 | paste -sd';')"; }
# holds_true WORDS COMMAND...
holds_true() {
  local words=$1 seen
  shift
  seen=$("$@" 2>&1) || fails "$words" "$seen"
}

# --- pairs side by side -------------------------------------------------------------------------------

# make_pairs COUNT: hosts h1 and h2, h3 and h4, …, that are peers.
make_pairs() {
  local pair pids=()
  for ((pair = 1; pair <= $1; pair++)); do (trap - EXIT INT TERM HUP && make_peers "h$((2 * pair - 1))" "h$((2 * pair))") & pids+=($!); done
  for pair in "${pids[@]}"; do wait "$pair" || die "the hosts do not become peers"; done
}

take_pair() { S=h$((2 * $1 - 1)) T=h$((2 * $1)); }

# Each worker leads a process group, so that what it has started ends with it.
WORKERS=()
end_workers() { for pid in "${WORKERS[@]}"; do kill -- "-$pid" 2>/dev/null || :; done; }

# lead_workers COUNT: `worker N` for each pair; the topic's own. Each puts a file for each thing that it did into
# $WORK/results, which `report FILE` makes a check of. Ends with the last worker.
lead_workers() {
  local pair file is_last=''
  mkdir "$WORK/results"
  at_exit end_workers
  set -m
  for ((pair = 1; pair <= $1; pair++)); do
    (trap - EXIT INT TERM HUP && take_pair "$pair" && worker "$pair") & # what is to be undone is the outer shell's
    WORKERS+=($!)
  done
  set +m
  while [ -z "$is_last" ]; do
    some_work || is_last=yes
    for file in "$WORK"/results/*; do
      [ -e "$file" ] || continue
      report "$file"
      rm "$file"
    done
    pause 1
  done
}
some_work() { for pid in "${WORKERS[@]}"; do ! kill -0 "$pid" 2>/dev/null || return 0; done; return 1; }
