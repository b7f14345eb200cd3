# SPDX-License-Identifier: Apache-2.0
#
# The training part of scripts/quickstart: how many epochs each job gets, one run of all three with
# the daemon in dry-run or in control, and what is recorded of it.
# shellcheck shell=bash
# shellcheck disable=SC2034 # KEEP is the script's

# shellcheck source-path=SCRIPTDIR source=daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/daemon.sh"

# The published fixed schedule, 0 / 40 / 80 s, at half its length; flowcond's interval is a quarter of
# the published 20 s, and its threshold a tenth of 0.03, because these jobs are short.
JOB_NAMES=(vae cnn gru)
JOB_TITLES=('VAE on digits' 'CNN on digits' 'GRU on licence texts')
JOB_SCRIPTS=(vae_digits.py cnn_digits.py char_gru.py)
JOB_STARTS=(0 20 40)
# Seconds that each takes alone on this machine; as published, the first is the longest by far.
JOB_SECONDS=(65 40 35)
# To measure a job's speed: epochs to run, and loss lines that one epoch prints.
JOB_PROBES=(16 6 1)
JOB_LINES=(1 1 8)
JOB_EPOCHS=()
PREFIX=flowcon-
LABEL=docker-flowcon.quickstart
LONGEST_RUN=600

quicken() {
  JOB_STARTS=(0 4 8)
  JOB_SECONDS=(9 6 6)
  INTERVAL=$(awk -v i="$INTERVAL" 'BEGIN {print (i > 2 ? 2 : i)}')
}

# Containers carry the token of the script that started them: those of a script that is gone are
# removed, those of another that runs are let be.
sweep_containers() {
  local id token
  docker ps -a --filter "label=$LABEL" --format "{{.ID}} {{.Label \"$LABEL\"}}" |
    while read -r id token; do
      process_alive "$token" || docker rm -f "$id" >/dev/null
    done
}

remove_own_containers() {
  local ids
  ids=$(timeout 20 docker ps -aq --filter "label=$LABEL=$(process_token $$)") || return 0
  # shellcheck disable=SC2086 # one word per container
  [ -z "$ids" ] || timeout 60 docker rm -f $ids >/dev/null
}

# train N ARGUMENTS...: the options of docker run for job N, and its command.
train() {
  local n=$1
  shift
  printf '%s\n' --detach --network none --label "$LABEL=$(process_token $$)" \
    --volume "$FLOWCON_TOP/examples:/examples:ro" "$IMAGE" \
    python3 "/examples/${JOB_SCRIPTS[n]}" "$@"
}

# --- sizing -------------------------------------------------------------------------------------

# As many epochs as fill the planned seconds alone, so that the schedule fits any machine. This also
# brings image and scripts into memory before the first run.
plan_jobs() {
  local n
  [ "$QUICK" = no ] || quicken
  for n in "${!JOB_NAMES[@]}"; do
    JOB_EPOCHS[n]=$(probe "$n") || die "the trial of ${JOB_SCRIPTS[n]} failed"
    say "${JOB_TITLES[n]}: ${JOB_EPOCHS[n]} epochs, about ${JOB_SECONDS[n]} s alone; starts at ${JOB_STARTS[n]} s"
  done
}

probe() {
  local n=$1 id arguments
  mapfile -t arguments < <(train "$n" --epochs "${JOB_PROBES[n]}")
  id=$(docker run "${arguments[@]}")
  if [ "$(docker wait "$id")" != 0 ]; then
    docker logs --tail 20 "$id" >&2
    return 1
  fi
  # The time between the first and the last loss line is that of all lines but one.
  docker logs --timestamps "$id" 2>/dev/null |
    python3 -c '
import datetime, sys
target, per_epoch = float(sys.argv[1]), int(sys.argv[2])
times = [datetime.datetime.fromisoformat(line[:26].rstrip("Z")) for line in sys.stdin if "loss" in line]
each = (times[-1] - times[0]).total_seconds() / (len(times) - 1)
print(max(2, round(target / (each * per_epoch))))' "${JOB_SECONDS[n]}" "${JOB_LINES[n]}"
  docker rm "$id" >/dev/null
}

# --- the daemon ---------------------------------------------------------------------------------

# start_daemon FOLDER MODE
start_daemon() {
  local dry_run=true
  [ "$2" = free ] || dry_run=false
  daemon_start "$FLOWCOND" "$1" socket-group=root "engine=$ENGINE_SOCKET" "policy=$POLICY" \
    "alpha=$ALPHA" "beta=$BETA" "interval=$INTERVAL" observe=2 "limit-mode=$LIMIT_MODE" "dry-run=$dry_run" ||
    daemon_failed "$1" "flowcond did not start"
}

daemon_failed() {
  KEEP=yes
  die "$2; its log is $1/flowcond.log"
}

# The plugin as a user has it: found by docker in a folder of its configuration.
install_plugin() {
  export DOCKER_CONFIG=$WORK/docker
  mkdir -p "$DOCKER_CONFIG/cli-plugins"
  ln -sf "$PLUGIN" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"
  # It fails as long as flowcond does not run.
  [[ $(docker flowcon version 2>/dev/null) == *docker-flowcon* ]] ||
    die "docker does not find the plugin; try DOCKER_CONFIG=$DOCKER_CONFIG docker flowcon version"
}

# --- one run ------------------------------------------------------------------------------------

# run_once ROUND MODE: all jobs from start to end, and their histories in data/run-ROUND-MODE.json.
run_once() {
  local round=$1 mode=$2 folder=$WORK/run-$1-$2 started n arguments ids=() shown=no ticks
  start_daemon "$folder" "$mode"
  started=$SECONDS
  ticks=$(head -n 1 /proc/stat)
  while :; do
    for n in "${!JOB_NAMES[@]}"; do
      if [ -z "${ids[n]:-}" ] && [ "$(seconds_since "$started")" -ge "${JOB_STARTS[n]}" ]; then
        mapfile -t arguments < <(train "$n" --epochs "${JOB_EPOCHS[n]}")
        ids[n]=$(docker flowcon run --name "$PREFIX${JOB_NAMES[n]}" "${arguments[@]}") ||
          die "docker flowcon run of ${JOB_NAMES[n]} failed"
      fi
    done
    watch_daemon "$folder"
    if [ ${#ids[@]} -eq ${#JOB_NAMES[@]} ]; then
      if all_ended "${ids[@]}"; then break; fi
      [ "$shown" = yes ] || { pause 3; show_status; shown=yes; }
    fi
    [ "$(seconds_since "$started")" -lt "$LONGEST_RUN" ] ||
      die "the trainings did not end within $LONGEST_RUN s"
    daemon_api line "$(seconds_since "$started")" "$PREFIX" "${JOB_NAMES[@]}" || :
    pause "$(next_look "$started")"
  done
  ticks+=$'\n'$(head -n 1 /proc/stat)
  for n in "${!ids[@]}"; do check_exit "$n" "${ids[n]}"; done
  pause 1
  describe_run "$round" "$mode" "$ticks" "${ids[@]}" | daemon_api collect "$WORK/data/run-$round-$mode.json" ||
    daemon_failed "$folder" "the histories could not be read"
  daemon_stop || warn "flowcond had to be killed"
  docker rm "${ids[@]}" >/dev/null
  say "  all ended after $(seconds_since "$started") s"
}

# Seconds to wait: to the next start, five at most.
next_look() {
  local n wait=5 left
  for n in "${!JOB_STARTS[@]}"; do
    left=$((JOB_STARTS[n] - SECONDS + $1))
    if [ "$left" -gt 0 ] && [ "$left" -lt "$wait" ]; then wait=$left; fi
  done
  printf '%s' "$wait"
}

watch_daemon() {
  daemon_alive && return 0
  tail -n 20 "$1/flowcond.log" >&2
  daemon_failed "$1" "flowcond ended in the middle of a run"
}

all_ended() {
  ! docker inspect --format '{{.State.Status}}' "$@" | grep -v exited >/dev/null
}

show_status() {
  say ""
  say "$ docker flowcon status"
  docker flowcon status || :
  say ""
}

check_exit() {
  local code
  code=$(docker inspect --format '{{.State.ExitCode}}' "$2")
  [ "$code" != 0 ] || return 0
  docker logs --tail 20 "$2" >&2
  die "the training ${JOB_NAMES[$1]} failed with exit code $code; its last lines are above"
}

# describe_run ROUND MODE TICKS ID...: the run as JSON, without the histories. TICKS are the CPU lines
# of /proc/stat at its start and end: how busy the whole machine was, the jobs and all else.
describe_run() {
  local round=$1 mode=$2 ticks=$3 n
  shift 3
  local ids=("$@")
  for n in "${!ids[@]}"; do
    docker inspect --format "${JOB_NAMES[n]}|${JOB_TITLES[n]}|{{.Id}}|{{.State.StartedAt}}|{{.State.FinishedAt}}|{{.State.ExitCode}}" "${ids[n]}"
  done | python3 -c '
import datetime, json, sys
def seconds(text):
    return datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp() + float("0" + text[19:].rstrip("Z"))
jobs = []
for line in sys.stdin:
    name, title, container, started, finished, code = line.rstrip("\n").split("|")
    jobs.append({"name": name, "title": title, "container": container, "started": seconds(started),
                 "finished": seconds(finished), "exit_code": int(code)})
before, after = ([int(word) for word in line.split()[1:9]] for line in sys.argv[3].splitlines())
spent = [b - a for a, b in zip(before, after)]
busy = 1 - (spent[3] + spent[4]) / sum(spent)  # all but idle and waiting for a disk
print(json.dumps({"round": int(sys.argv[1]), "mode": sys.argv[2], "policy": sys.argv[4], "busy": busy, "jobs": jobs}))' \
    "$round" "$mode" "$ticks" "$POLICY"
}

# --- what the report says of the machine ----------------------------------------------------------

write_setup() {
  local n schedule=""
  for n in "${!JOB_NAMES[@]}"; do
    schedule+="${schedule:+; }${JOB_NAMES[n]} at ${JOB_STARTS[n]} s, ${JOB_EPOCHS[n]} epochs (${JOB_SCRIPTS[n]})"
  done
  python3 -c '
import json, sys
words = sys.argv[1:]
facts = [words[i:i + 2] for i in range(3, len(words), 2)]
with open(words[0], "w", encoding="utf-8") as file:
    json.dump({"date": words[1], "machine": words[2], "facts": facts}, file)' \
    "$1" "$(date -u '+%Y-%m-%d %H:%M UTC')" \
    "$(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)" \
    Version "$("$FLOWCOND" --version)" \
    Engine "$(engine_version), $([ "$ENGINE_PRIVATE" = yes ] && echo private || echo "the machine's own")" \
    Schedule "$schedule" \
    Parameters "policy $POLICY, alpha $ALPHA, beta $BETA, interval $INTERVAL s, limit mode $LIMIT_MODE" \
    Rounds "$ROUNDS" \
    Image "$IMAGE"
}
