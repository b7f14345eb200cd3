#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The plugin under every docker command on PATH, and what shells complete. Needs neither an engine nor flowcond: all that is
# asked of them is that they are absent. Usage: plugin_cli.sh FOLDER-OF-BINARIES
set -u

binary=$(realpath "${1:?usage: plugin_cli.sh FOLDER-OF-BINARIES}")/docker-flowcon
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
checks=0

# check NAME COMMAND...: ok if the command succeeds.
check() {
  local name=$1
  shift
  checks=$((checks + 1))
  if "$@"; then
    echo "ok - $label: $name"
  else
    echo "not ok - $label: $name"
    sed 's/^/    # /' "$work/out" "$work/err" 2>/dev/null | head -n 20
    failures=$((failures + 1))
  fi
}

# run COMMAND...: keeps stdout, stderr and status.
run() {
  timeout 30 "$@" >"$work/out" 2>"$work/err" </dev/null
  status=$?
}

is_status() { [ "$status" -eq "$1" ]; }
is_empty() { [ ! -s "$work/$1" ]; }
says() { grep -qF -- "$2" "$work/$1"; }
same_as_help() { cmp -s "$work/$1" "$work/help"; }

export DOCKER_CONFIG=$work/config FLOWCON_SOCKET=$work/no-daemon.sock
export DOCKER_HOST=unix://$work/no-engine.sock
unset DOCKER_CONTEXT
mkdir -p "$DOCKER_CONFIG/cli-plugins"
ln -s "$binary" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"

# A second plugin tells whether this docker has a socket for its plugins.
cat >"$DOCKER_CONFIG/cli-plugins/docker-probe" <<'PROBE'
#!/bin/sh
if [ "$1" = docker-cli-plugin-metadata ]; then
  echo '{"SchemaVersion":"0.1.0","Vendor":"test"}'
else
  echo "${DOCKER_CLI_PLUGIN_SOCKET:-none}"
fi
PROBE
# And a program in docker's place shows what `run` becomes.
cat >"$work/fake-docker" <<'FAKE'
#!/bin/sh
printf '<%s>' "$@"
env | grep '^DOCKER_CLI_PLUGIN_'
exit 7
FAKE
# One that has to be told to end.
cat >"$work/slow-docker" <<SLOW
#!/bin/sh
trap 'exit 9' TERM
: >'$work/began'
for i in \$(seq 600); do sleep 0.1; done
SLOW
chmod +x "$DOCKER_CONFIG/cli-plugins/docker-probe" "$work"/*-docker

check_metadata() {
  label=plugin
  run "$binary" docker-cli-plugin-metadata
  check "metadata is one JSON object" says out '{"SchemaVersion":"0.1.0","Vendor":"docker-flowcon"'
  check "metadata says nothing on stderr" is_empty err
}

# cpu_of COMMAND...: CPU time of a run in microseconds, the shell's fork included, over 50 runs.
cpu_of() {
  local TIMEFORMAT='%U %S'
  {
    time for _ in {1..50}; do "$@" >/dev/null 2>&1 || :; done
  } 2>&1 | awk '{ printf "%d", ($1 + $2) * 20000 }'
}

# docker asks each plugin at each of its commands, and has started itself then.
check_cost() {
  local own dockers
  own=$(cpu_of "$binary" docker-cli-plugin-metadata)
  dockers=$(cpu_of "$docker" --version)
  echo "# metadata: $own us of CPU time, docker itself: $dockers us"
  check "metadata costs less than half of what docker itself does" [ "$((own * 2))" -lt "$dockers" ]
}

check_help() {
  run "$docker" flowcon --help
  cp "$work/out" "$work/help"
  check "flowcon --help is status 0" is_status 0
  check "flowcon --help is in docker's layout" says out "Usage:  docker flowcon [OPTIONS] COMMAND"
  check "flowcon --help says nothing on stderr" is_empty err
  run "$docker" help flowcon
  check "help flowcon is the same" same_as_help out
  run "$docker" --help flowcon
  check "--help flowcon is the same" same_as_help out
  run "$docker" flowcon help
  check "flowcon help is the same" same_as_help out
  run "$docker" flowcon
  check "the bare command prints it on stderr" same_as_help err
  check "the bare command is status 0" is_status 0
  check "the bare command says nothing on stdout" is_empty out
  run "$docker" flowcon -h
  check "-h prints it too" same_as_help out
  local command
  for command in adopt extract release run status version; do
    run "$docker" flowcon "$command" --help
    cp "$work/out" "$work/help"
    check "flowcon $command --help" says out "Usage:  docker flowcon $command"
    run "$docker" help flowcon "$command"
    check "help flowcon $command is the same" same_as_help out
  done
}

check_listing() {
  run "$docker" info
  check "docker info lists the plugin" grep -q 'flowcon: .*(docker-flowcon' "$work/out"
  run "$docker" --help
  check "docker --help lists the plugin" grep -q '^ *flowcon\*' "$work/out"
}

check_errors() {
  run "$docker" flowcon stauts
  check "an unknown command is 125" is_status 125
  check "an unknown command gets a suggestion" says err "Did you mean docker flowcon status?"
  run "$docker" flowcon status --fromat json
  check "an unknown option is 125" is_status 125
  check "an unknown option gets a suggestion" says err "Did you mean --format?"
  check "a usage error says where help is" says err \
    "Run 'docker flowcon status --help' for more information"
  local command
  for command in status "status --watch" "adopt x" "release x"; do
    # shellcheck disable=SC2086
    run "$docker" flowcon $command
    check "$command without a daemon is 1" is_status 1
    check "$command without a daemon says how to start it" says err "systemctl start flowcond"
  done
  run "$docker" flowcon version
  check "version without a daemon is 1" is_status 1
  run "$docker" -H ssh://gpu2 flowcon --socket "$FLOWCON_SOCKET" status
  check "a chosen socket is asked, wherever docker is" says err "unix://$FLOWCON_SOCKET"
  run env -u FLOWCON_SOCKET "$docker" -H ssh://gpu2 flowcon status
  check "another host's daemon is named" says err "ssh ssh://gpu2 docker flowcon status"
}

check_run() {
  run bash -c 'exec -a "$0" "$@"' "$work/fake-docker" "$docker" -D --config "$DOCKER_CONFIG" \
    flowcon run --metric loss --goal=min --rm -it image --metric x
  check "run is the docker that was called" is_status 7
  sed -i -E 's/(org\.flowcon\.own=)[0-9a-f]{32} /\1ID /; s/<--cidfile=[^>]*>//' "$work/out"
  check "run adds labels and leaves the rest alone" says out "<-D><--config><$DOCKER_CONFIG><run>\
<--label><flowcon.enable=true><--label><flowcon.metric=loss><--label><flowcon.goal=min>\
<--label><org.flowcon.own=ID enable metric goal><--env=PYTHONUNBUFFERED=1><--rm><-it><image><--metric><x>"
  check "run leaves docker's plugin variables out" [ "$(wc -l <"$work/out")" -eq 0 ]
  run "$docker" flowcon run --metric loss image
  check "run without an engine fails as docker does" is_status 125
  check "run says that flowcond is not running" says err "flowcond is not running"
  run "$docker" flowcon run --goal sideways image
  check "a wrong goal is refused before docker is started" says err "--goal: has to be min or max"
  run "$docker" flowcon run --pattern 'loss (' image
  check "a pattern that does not compile is refused" says err "--pattern:"
}

check_extract() {
  printf 'epoch 1 loss 0.5\nepoch 2 loss 0.25\nepoch 3 loss 0.125\n' >"$work/log"
  run "$docker" flowcon extract --metric loss --format json "$work/log"
  check "extract works without a daemon" is_status 0
  check "extract finds the values" says out '"values":[0.5,0.25,0.125]'
}

# docker's first SIGTERM only closes the plugin's socket where stdout is no terminal.
check_end() {
  run "$docker" probe
  if says out none; then
    echo "ok - $label: ends with docker # SKIP this docker has no socket for plugins"
    return
  fi
  mkfifo "$work/fifo"
  sleep 600 >"$work/fifo" &
  local writer=$!
  "$docker" flowcon extract - <"$work/fifo" >"$work/out" 2>"$work/err" &
  local child=$!
  local tries=0
  until plugin_listens "$child" || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
  kill -TERM "$child"
  wait "$child"
  status=$?
  check "ends when docker gets a SIGTERM" [ "$status" -eq 130 ]
  kill "$writer" 2>/dev/null
  wait "$writer" 2>/dev/null
  rm -f "$work/fifo"
  check_end_of_run
}

check_end_of_run() {
  stop_flowcon run image
  check "a SIGTERM of docker ends what run has started" is_status 9
  stop_flowcon logs -f vae
  check "a SIGTERM of docker ends what logs has started" is_status 9
}

# stop_flowcon COMMAND...: keeps the status of a docker that gets a SIGTERM while the slow one runs.
stop_flowcon() {
  rm -f "$work/began"
  bash -c 'exec -a "$0" "$@"' "$work/slow-docker" "$docker" flowcon "$@" \
    >"$work/out" 2>"$work/err" </dev/null &
  local child=$! tries=0
  until { [ -e "$work/began" ] && plugin_listens "$child"; } || [ $((tries += 1)) -gt 600 ]; do
    sleep 0.1
  done
  kill -TERM "$child"
  wait "$child"
  status=$?
}

# The plugin hears of the end once it has docker's socket, which a thread of its own reads.
plugin_listens() {
  local plugin tasks
  for plugin in $(plugin_below "$1"); do
    tasks=(/proc/"$plugin"/task/*)
    [ ${#tasks[@]} -lt 2 ] || return 0
  done
  return 1
}

plugin_below() {
  local task
  for task in /proc/"$1"/task/*/children; do
    tr ' ' '\n' <"$task" 2>/dev/null
  done | grep .
}

check_completion() {
  run "$binary" __complete flowcon sta
  check "completion offers commands" grep -q '^status' "$work/out"
  run "$binary" __completeNoDesc status --q
  check "completion answers docker's script for bash" says out "--quiet"
  check "completion ends with the directive" [ "$(tail -n 1 "$work/out")" = ":4" ]
}

check_metadata
label=plugin
check_completion
found=0
seen=:
IFS=: read -r -a folders <<<"$PATH"
for folder in "${folders[@]}"; do
  docker=$(realpath "$folder/docker" 2>/dev/null) || continue
  [ -x "$docker" ] || continue
  case $seen in *":$docker:"*) continue ;; esac
  seen=$seen$docker:
  found=$((found + 1))
  label=$("$docker" --version | sed 's/^Docker version \([0-9.]*\).*/docker \1/')
  check_cost
  check_help
  check_listing
  check_errors
  check_run
  check_extract
  check_end
done
label=plugin
check "there is a docker command on PATH" [ "$found" -gt 0 ]
# What shells make of it.
skipped=0
python3 "$(dirname "${BASH_SOURCE[0]}")/completion.py" "$(dirname "$binary")" >"$work/shells"
cat "$work/shells"
counts=$(tail -n 1 "$work/shells")
if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
  checks=$((checks + BASH_REMATCH[1] + BASH_REMATCH[2]))
  failures=$((failures + BASH_REMATCH[2]))
  skipped=${BASH_REMATCH[3]}
else
  check "the shells' part ends with its counts" false
fi
echo "$((checks - failures)) passed, $failures failed, $skipped skipped"
[ "$failures" -eq 0 ]
