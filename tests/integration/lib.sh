# SPDX-License-Identifier: Apache-2.0
#
# What the integration tests share: an engine, a small image, flowcond, its API, the kernel's control
# files, and checks with sentences. Nothing here sleeps for a guessed time: what takes time is
# polled until it is so, or a deadline has passed.
#
# A topic is a script that sources this file and then says
#
#   begin "$@"                 needs the folder of the binaries; uses the engine of FLOWCON_TEST_ENGINE
#                              (a folder; tests/integration/run sets it), the machine's own where that
#                              says "machine" (tests/vm), else starts one
#   check SENTENCE COMMAND...      passes if the command does; its output is shown if it fails
#   eventually SENTENCE COMMAND... the same, tried again until PATIENCE seconds have passed
#   finish                     removes what is left, prints the counts, exits 1 if a check failed
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the topics

# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/engine.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/engine.sh"

IMAGE=flowcon-test:1
PATIENCE=${FLOWCON_TEST_PATIENCE:-120}
PASSED=0
FAILED=0
SKIPPED=0
CHECKS=0
DAEMON=
DAEMON_STATUS=
DAEMON_NUMBER=0

# --- checks -------------------------------------------------------------------------------------

check() {
  local sentence=$1 seen status=0
  shift
  seen=$("$@" 2>&1) || status=$?
  result "$status" "$sentence" "$seen"
}

eventually() {
  local sentence=$1 seen status=0
  shift
  seen=$(wait_until "$PATIENCE" "$@" 2>&1) || status=$?
  result "$status" "$sentence" "$seen"
}

# result STATUS SENTENCE SEEN
result() {
  CHECKS=$((CHECKS + 1))
  if [ "$1" = 0 ]; then
    PASSED=$((PASSED + 1))
    printf 'ok %d - %s%s\n' "$CHECKS" "$2" "${FLOWCON_TEST_TIMES:+ ($SECONDS s)}"
  else
    FAILED=$((FAILED + 1))
    printf 'not ok %d - %s\n' "$CHECKS" "$2"
    printf '%s\n' "${3:-(the command said nothing)}" | cut -c 1-600 | tail -n 25 | sed 's/^/  # /'
  fi
}

# skip SENTENCE REASON
skip() {
  CHECKS=$((CHECKS + 1))
  SKIPPED=$((SKIPPED + 1))
  printf 'ok %d - %s # skipped: %s\n' "$CHECKS" "$1" "$2"
}

# wait_until SECONDS COMMAND...: polls; prints what the last try said and fails at the deadline.
wait_until() {
  local deadline=$((SECONDS + $1)) seen asked
  shift
  while :; do
    asked=${EPOCHREALTIME//[!0-9]/}
    if seen=$("$@" 2>&1); then return 0; fi
    if [ "$SECONDS" -ge "$deadline" ]; then
      printf '%s\n' "$seen"
      return 1
    fi
    rest $((${EPOCHREALTIME//[!0-9]/} - asked))
  done
}
# rest MICROSECONDS: twice as long as the question took, 0.1 to 0.5 s: what is waited for needs the processors.
rest() {
  local tenths=$((2 * $1 / 100000))
  ((tenths >= 1)) || tenths=1
  ((tenths <= 5)) || tenths=5
  pause "0.$tenths"
}

# must COMMAND...: what the topic itself stands on; without it there is nothing to check.
must() {
  local seen
  if ! seen=$("$@" 2>&1); then
    printf '%s\n' "$seen" | tail -n 25 >&2
    [ -z "${LOG:-}" ] || [ ! -e "$LOG" ] || { warn "the last lines of flowcond:" && tail -n 15 "$LOG" >&2; }
    die "this failed: $*"
  fi
}

is() { [ "$1" = "$2" ] || { printf 'seen:   %s\nwanted: %s\n' "$1" "$2"; return 1; }; }
holds() { case $1 in *"$2"*) ;; *) printf 'seen:   %s\nwanted: …%s…\n' "$1" "$2"; return 1 ;; esac; }
not() { ! "$@"; }

# fails_with STATUS WORDS COMMAND...: the command ends with that status and says the words.
fails_with() {
  local wanted=$1 words=$2 seen status=0
  shift 2
  seen=$("$@" 2>&1) || status=$?
  printf 'status %s: %s\n' "$status" "$seen"
  [ "$status" = "$wanted" ] && holds "$seen" "$words" >/dev/null
}

# --- beginning and end --------------------------------------------------------------------------

begin() {
  local tool
  if [ $# != 1 ] || [ ! -x "$1/flowcond" ] || [ ! -x "$1/docker-flowcon" ]; then
    printf 'usage: %s BINDIR\n\nBINDIR holds flowcond and docker-flowcon.\n' "$0" >&2
    exit 2
  fi
  BIN=$(cd "$1" && pwd -P)
  TOPIC=$(basename "$0" .sh)
  for tool in docker dockerd curl jq busybox python3 setpriv; do
    have "$tool" || nothing_runs "$tool is not installed (scripts/setup)"
  done
  [ "$(id -u)" = 0 ] || nothing_runs "needs root"
  forget_environment
  mark_processes
  WORK=$(mktemp -d /tmp/flowcon-test.XXXXXX)
  at_exit remove_folder "$WORK"
  ENGINE_DIR=${FLOWCON_TEST_ENGINE:-}
  if [ "$ENGINE_DIR" = machine ]; then
    ENGINE_SOCKET=/run/docker.sock
  elif [ -n "$ENGINE_DIR" ]; then
    ENGINE_SOCKET=$ENGINE_DIR/docker.sock
    ENGINE_CGROUP=$(engine_recall "$ENGINE_DIR" cgroup)
  else
    ENGINE_DIR=$WORK/engine
    must_start_engine "$ENGINE_DIR"
  fi
  export DOCKER_HOST=unix://$ENGINE_SOCKET DOCKER_CONFIG=$WORK/docker
  unset DOCKER_CONTEXT
  mkdir -p "$DOCKER_CONFIG" "$WORK/jobs"
  chmod 755 "$WORK"
  must image_import
  DEFAULT_WEIGHT=$(natural_weight 0)
  SOCKET=$WORK/flowcond.sock
  STATE=$WORK/state
  at_exit remove_containers
  at_exit end_flowcond
}

must_start_engine() { engine_start "$1" || die "the private engine did not start"; }

nothing_runs() {
  skip "all of $TOPIC" "$1"
  printf '%s: 0 passed, 0 failed, 1 skipped\n' "$TOPIC"
  exit 0
}

# What a run starts inherits this, so that its processes can be told from all others.
mark_processes() {
  if [ -z "${FLOWCON_TEST_RUN:-}" ]; then
    FLOWCON_TEST_RUN=$(process_token $$)
    export FLOWCON_TEST_RUN
  fi
}

# marked_processes: "pid command" of what this run has started and still lives.
marked_processes() {
  local file pid own=" $$ $BASHPID "
  for file in /proc/[0-9]*/environ; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    case $own in *" $pid "*) continue ;; esac
    if grep -szqxF "FLOWCON_TEST_RUN=$FLOWCON_TEST_RUN" "$file" &&
      process_start "$pid" >/dev/null; then
      case $(cat "/proc/$pid/comm" 2>/dev/null) in
        bash | run | tr | grep | cat | sed | '') ;; # what runs this
        *) printf '%s %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c 1-200)" ;;
      esac
    fi
  done
}

# Only what is in WORK, with a file system or two that a topic may have mounted there.
remove_folder() {
  [ -z "${FLOWCON_TEST_KEEP:-}" ] || { warn "kept: $1"; return 0; }
  engine_unmount_below "$1" && rm -rf "$1"
}

finish() {
  end_flowcond
  remove_containers
  check "no control group of a container is left" is "$(container_groups)" ""
  check "no file system is left mounted by the topic" is "$(topic_mounts)" ""
  check "no flowcond of the topic is left" is "$(topic_daemons)" ""
  printf '%s: %d passed, %d failed, %d skipped\n' "$TOPIC" "$PASSED" "$FAILED" "$SKIPPED"
  [ "$FAILED" = 0 ] || exit 1
  exit 0
}

container_groups() {
  engine_cgroup_dirs "$ENGINE_CGROUP" | while read -r point; do
    find "$point" -mindepth 1 -type d -regextype posix-extended -regex '.*/[0-9a-f]{64}'
  done
}
topic_mounts() { engine_mounts_below "$WORK" | grep -v "^$WORK/engine/" || :; }
topic_daemons() { marked_processes | grep flowcond | grep -F "$WORK" || :; }

# engine_down, engine_up: the topic's engine; whoever uses them says `at_exit engine_up`, because the
# topics after it need one.
engine_down() { process_end "$(engine_recall "$ENGINE_DIR" dockerd)" 30; }
engine_up() {
  process_alive "$(engine_recall "$ENGINE_DIR" dockerd)" && return 0
  engine_start_dockerd "$ENGINE_DIR" "$(engine_recall "$ENGINE_DIR" data)" "$ENGINE_CGROUP"
}

# --- running topics -------------------------------------------------------------------------------

LINES=()

# run_topic SCRIPT ARGUMENT...: one topic and its line in LINES.
run_topic() {
  local topic started=$SECONDS status=0 line log
  topic=$(basename "$1" .sh)
  [ -x "$1" ] || die "there is no topic $topic"
  log=$(mktemp)
  say "== $topic"
  # Where this one is killed, the topic cleans up and ends.
  setpriv --pdeathsig TERM "$@" 2>&1 | tee "$log" || status=${PIPESTATUS[0]}
  line=$(grep -E "^$topic: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped\$" "$log" | tail -n 1) || :
  if [ -z "$line" ]; then
    # It ended in the middle: what it had checked counts, and its end is a failure.
    line="$topic: $(grep -c '^ok ' "$log" || :) passed, $(($(grep -c '^not ok ' "$log" || :) + 1)) failed, 0 skipped"
    say "not ok - $topic ended with status $status before its end"
  fi
  rm -f "$log"
  LINES+=("$line, $(seconds_since "$started") s")
}

# sum_up: the lines, and the counts of all of them; fails if a check failed.
sum_up() {
  printf '%s\n' "${LINES[@]}"
  printf '%s\n' "${LINES[@]}" | sed 's/^.*: //' | awk '
    {passed += $1; failed += $3; skipped += $5}
    END {
      printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
      exit failed > 0
    }'
}

# --- containers ---------------------------------------------------------------------------------

# A statically linked busybox and one script are all that a job needs.
image_import() {
  local root=$WORK/image name
  docker image inspect "$IMAGE" >/dev/null 2>&1 && return 0
  mkdir -p "$root/bin" "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/busybox"
  for name in sh cat date echo head printf seq sleep tr true false dd yes; do
    ln -s busybox "$root/bin/$name"
  done
  cp "$FLOWCON_TOP/tests/integration/job" "$root/job"
  chmod 755 "$root/job"
  tar -C "$root" -c . | docker import - "$IMAGE"
}

# job NAME MODE [DOCKER-RUN-OPTIONS...]: a training that prints a loss five times a second; MODE is
# learn (the loss falls by 1 % of its first value a second), flat, silent or end.
job() {
  local name=$1 mode=$2
  shift 2
  job_mode "$name" "$mode"
  must docker run -d --name "$name" --network none -v "$WORK/jobs:/jobs:ro" "$@" "$IMAGE" /job "$name"
}

job_mode() {
  printf '%s\n' "$2" >"$WORK/jobs/.$1" && mv "$WORK/jobs/.$1" "$WORK/jobs/$1"
}

# engine_disk: the disk that the engine's data is on; nothing where it is on none.
engine_disk() {
  local disk
  disk=$(findmnt -vno SOURCE --target "$(engine_recall "$ENGINE_DIR" data)")
  [ ! -b "$disk" ] || disk=/dev/$(lsblk -sno NAME,TYPE "$disk" | awk '$2 == "disk" {gsub(/[^a-z0-9]/, "", $1); print $1; exit}')
  [ ! -b "$disk" ] || printf '%s' "$disk"
}

# prints NAME SCRIPT [DOCKER-RUN-OPTIONS...]: a container that runs a script of its own.
prints() {
  local name=$1 script=$2
  shift 2
  must docker run -d --name "$name" --network none --label flowcon.enable=true "$@" "$IMAGE" sh -c "$script"
}

# remove_containers: of the machine's engine only those of the test's own image.
remove_containers() {
  local ids ours=()
  if [ "$ENGINE_DIR" = machine ]; then
    ours=(--filter "ancestor=$IMAGE")
  else
    process_alive "$(engine_recall "$ENGINE_DIR" dockerd)" || return 0
  fi
  ids=$(timeout 20 docker ps -aq ${ours[@]+"${ours[@]}"}) || return 0
  # shellcheck disable=SC2086 # one word per container
  [ -z "$ids" ] || timeout 60 docker rm -f -v $ids >/dev/null 2>&1 || :
}

# The engine's own API is a tenth of the time of its client.
engine_get() { curl -sS --max-time 20 --unix-socket "$ENGINE_SOCKET" "http://docker$1"; }
container_id() { engine_get "/containers/$1/json" | jq -r .Id; }
container_pid() { engine_get "/containers/$1/json" | jq -r .State.Pid; }
log_file() { engine_get "/containers/$1/json" | jq -r .LogPath; }

# --- the kernel's control files, v1 and v2 ------------------------------------------------------

# "v1" where the cpu controller is on a hierarchy of its own.
cpu_version() {
  awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ {found = 1} END {print found ? "v1" : "v2"}' /proc/self/mounts
}

# cpu_folder NAME: where the kernel keeps the CPU settings of a container.
cpu_folder() {
  local pid
  if [ -n "${FOLDER[$1]:-}" ]; then
    printf '%s' "${FOLDER[$1]}"
  else
    pid=$(container_pid "$1")
    [ "${pid:-0}" -gt 0 ] 2>/dev/null || { printf '%s does not run\n' "$1"; return 1; }
    cpu_folder_of "$pid"
  fi
}

# know NAME...: the engine is asked once for these, until they are started anew.
declare -A FOLDER=()
know() {
  local name pid
  while read -r name pid; do FOLDER[${name#/}]=$(cpu_folder_of "$pid"); done < <(
    docker inspect -f '{{.Name}} {{.State.Pid}}' "$@")
}

cpu_folder_of() {
  local point group
  if [ "$(cpu_version)" = v1 ]; then
    point=$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ {print $2; exit}' /proc/self/mounts)
    group=$(awk -F: '$2 ~ /(^|,)cpu(,|$)/ {print $3}' "/proc/$1/cgroup")
  else
    point=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
    group=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
  fi
  printf '%s%s' "$point" "$group"
}

weight_file() { if [ "$(cpu_version)" = v1 ]; then printf cpu.shares; else printf cpu.weight; fi; }

# weight NAME: the number the kernel has.
weight() { local folder; folder=$(cpu_folder "$1") && cat "$folder/$(weight_file)"; }

# quota NAME: "QUOTA PERIOD" in microseconds, or "max PERIOD".
quota() {
  local folder quota
  folder=$(cpu_folder "$1") || return 1
  if [ "$(cpu_version)" = v1 ]; then
    quota=$(cat "$folder/cpu.cfs_quota_us")
    [ "$quota" -ge 0 ] || quota=max
    printf '%s %s' "$quota" "$(cat "$folder/cpu.cfs_period_us")"
  else
    cat "$folder/cpu.max"
  fi
}

setting() { printf '%s %s' "$(weight "$1")" "$(quota "$1")"; }

# cpu_time NAME: nanoseconds used.
cpu_time() {
  local folder
  folder=$(cpu_folder "$1") || return 1
  if [ "$(cpu_version)" = v1 ]; then
    cat "${folder/$(awk '$3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/ {print $2; exit}' /proc/self/mounts)/$(
      awk '$3 == "cgroup" && $4 ~ /(^|,)cpuacct(,|$)/ {print $2; exit}' /proc/self/mounts)}/cpuacct.usage"
  else
    awk '$1 == "usage_usec" {print $2 * 1000}' "$folder/cpu.stat"
  fi
}

# natural_weight SHARES: what the engine makes of --cpu-shares (0: not given) on this machine.
natural_weight() {
  if [ "$(cpu_version)" = v1 ]; then
    if [ "$1" = 0 ]; then printf 1024; else printf '%s' "$1"; fi
    return
  fi
  docker run -d --name "shares$1" --network none --cpu-shares "$1" "$IMAGE" sleep 600 >/dev/null
  weight "shares$1"
  docker rm -f "shares$1" >/dev/null
}

# --- flowcond -----------------------------------------------------------------------------------

# start_flowcond [OPTIONS...]: FlowCon with quick looks and decisions, unless the options say otherwise. What an
# earlier one left is restored, or taken over, when it returns.
start_flowcond() {
  launch_flowcond "$@"
  must wait_until 30 api_answers
  must wait_until 30 status_has '.engine.reachable or .engine.error != ""'
}

# launch_flowcond [OPTIONS...]: does not wait for it.
launch_flowcond() {
  DAEMON_NUMBER=$((DAEMON_NUMBER + 1))
  LOG=$WORK/flowcond-$DAEMON_NUMBER.log
  cat >"$WORK/flowcond.conf" <<CONF
engine = $ENGINE_SOCKET
state-dir = $STATE
socket = $SOCKET
socket-group = root
policy = flowcon
interval = 1
observe = 1
CONF
  "$BIN/flowcond" --config "$WORK/flowcond.conf" "$@" >"$LOG" 2>&1 </dev/null 9>&- &
  DAEMON=$(process_token $!)
}

api_answers() {
  process_alive "$DAEMON" || { printf 'flowcond has ended\n'; return 1; }
  api GET /v1/version >/dev/null
}

# stop_flowcond: SIGTERM; its exit status is in DAEMON_STATUS.
stop_flowcond() {
  [ -n "$DAEMON" ] || return 0
  process_end "$DAEMON" 20 || :
  reap_flowcond
}

kill_flowcond() {
  kill -KILL "${DAEMON%%:*}"
  reap_flowcond
}

reap_flowcond() {
  DAEMON_STATUS=0
  wait "${DAEMON%%:*}" 2>/dev/null || DAEMON_STATUS=$?
  DAEMON=
}

end_flowcond() { stop_flowcond; }

flowcond_runs() { process_alive "$DAEMON" || { tail -n 10 "$LOG"; return 1; }; }
flowcond_said() { grep -qF -- "$1" "$LOG" || { printf 'wanted: %s\n' "$1"; tail -n 15 "$LOG"; return 1; }; }
flowcond_is_calm() { ! grep -nE '^flowcond: error|Sanitizer|terminate called|ASSERT' "$LOG"; }

# flowcond_memory: the most memory it has used since it started, in KiB.
flowcond_memory() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/${DAEMON%%:*}/status"; }

# --- its API ------------------------------------------------------------------------------------

# api METHOD PATH [BODY]: the answer; fails without one and with a status of 400 and more.
api() {
  curl -sS --fail-with-body --max-time 20 --unix-socket "$SOCKET" -X "$1" \
    ${3+--data-binary "$3"} "http://flowcon$2"
}

# api_status METHOD PATH [BODY]: "CODE BODY".
api_status() {
  curl -sS --max-time 20 --unix-socket "$SOCKET" -X "$1" ${3+--data-binary "$3"} \
    -w '\n%{http_code}' "http://flowcon$2" | awk '{all[NR] = $0} END {print all[NR], all[1]}'
}

# status EXPRESSION: what jq makes of the status, on one line.
status() { api GET /v1/status | jq -r "$1"; }

# status_has EXPRESSION: the expression is true of the status; else shows it.
status_has() {
  local body
  body=$(api GET /v1/status) || return 1
  printf '%s' "$body" | jq -e "$1" >/dev/null && return 0
  printf '%s' "$body" | jq -c '[.interval, .all_completing, .engine.error, .warnings], (.containers[] |
    [.name, .state, .list, .limit, .growth, .verdict, .metric, .value, .values, .cpu, .note, .warnings])' | head -n 40
  return 1
}

# container NAME EXPRESSION: the same about one container.
container_has() { status_has ".containers[] | select(.name == \"$1\") | $2"; }
is_absent() { status_has "[.containers[] | select(.name == \"$1\")] == []"; }

records() { api GET "/v1/containers/$1/history"; }
records_have() {
  local body
  body=$(records "$1") || { printf '%s\n' "$body"; return 1; }
  printf '%s' "$body" | jq -e "$2" >/dev/null && return 0
  printf '%s' "$body" | jq -c '[.name, .metric, .finished, (.samples | length), .samples[-3:], .decisions[-6:]]'
  return 1
}

decisions() { records "$1" | jq '.decisions | length'; }
has_decisions() { [ "$(decisions "$1")" -ge "$2" ]; }

# await_decisions NAME N: until N more have been made about a container.
await_decisions() {
  local wanted
  wanted=$(($(decisions "$1") + $2))
  must wait_until "$PATIENCE" has_decisions "$1" "$wanted"
}

explained() { api GET "/v1/containers/$1/explain?last=$2"; }

# replays NAME LAST LEAST: at least so many of the last recorded states, each decided again, give the
# recorded decision, byte for byte; the texts are cut from the answer, not rendered again.
replays() {
  explained "$1" "$2" >"$WORK/explained"
  python3 - "$WORK/explained" "$BIN/flowcon-sim" "$3" <<'PY'
import json, re, subprocess, sys
text = open(sys.argv[1]).read()
count = 0
for algorithm, state, decision in re.findall(
        r'"algorithm":"(\w+)".*?"state":(\{.*?\]\}),"decision":(\{.*?\]\})\}', text):
    again = subprocess.run([sys.argv[2], "decide", algorithm], input=state, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert again.stdout.rstrip("\n") == decision, (state, again.stdout, decision)
    count += 1
assert count == len(json.loads(text)["decisions"]) and count >= int(sys.argv[3]), count
print(count)
PY
}

# saved_originals: the names of the containers whose original limits the state keeps.
saved_originals() {
  python3 - "$STATE/journal.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=5)
print(" ".join(row[0] for row in db.execute("SELECT name FROM originals ORDER BY name")))
PY
}

# ORIGINAL and FACTOR: weight without control (default: that of a container without --cpu-shares)
# and flowcon.weight (default 1) of the jobs of a topic, by name.
declare -A ORIGINAL=() FACTOR=()
DEFAULT_WEIGHT=

# weights_as_computed: each controlled container has w = o f l * sum(o) / sum(o f l), and they keep
# together the weight they had. Compares with the limits of one and the same status.
weights_as_computed() {
  local before after name limit now lines=
  local -A path=()
  # The engine is asked first: the limits of many would change while it answers.
  before=$(controlled_limits) || return 1
  while read -r name _; do path[$name]=$(cpu_folder "$name")/$(weight_file); done <<<"$before"
  before=$(controlled_limits) || return 1
  while read -r name limit; do
    read -r now <"${path[$name]}" || return 1
    lines+="$name ${ORIGINAL[$name]:-$DEFAULT_WEIGHT} ${FACTOR[$name]:-1} $limit $now"$'\n'
  done <<<"$before"
  after=$(controlled_limits)
  [ "$before" = "$after" ] || { printf 'limits change:\n%s\n%s\n' "$before" "$after"; return 1; }
  printf 'name original factor limit weight expected\n'
  printf '%s' "$lines" | awk '
    {row[NR] = $0; o[NR] = $2; c[NR] = $2 * $3 * $4; w[NR] = $5; so += $2; sc += c[NR]; sw += $5}
    END {
      for (i = 1; i <= NR; i++) {
        expected = int(c[i] * so / sc + 0.5)
        print row[i], expected
        if (expected != w[i]) bad = 1
      }
      print "sum", so, sw
      if (NR == 0 || sw - so > NR / 2 || so - sw > NR / 2) bad = 1
      exit bad
    }'
}

controlled_limits() {
  api GET /v1/status | jq -r '.containers[] | select(.state == "controlled") | "\(.name) \(.limit)"'
}
