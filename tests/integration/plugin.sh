#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docker flowcon from end to end, under every docker command on the machine: run, adopt, release,
# status, version and extract with a real engine, real containers and flowcond, and without flowcond.
# What needs neither is tested by plugin_cli.sh.
# usage: plugin.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# prints_and_says STATUS STDOUT STDERR-WORDS COMMAND...
prints_and_says() {
  local wanted=$1 out=$2 words=$3 status=0
  shift 3
  "$@" >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
  printf 'status %s\nstdout: %s\nstderr: %s\n' "$status" "$(cat "$WORK/out")" "$(cat "$WORK/err")"
  [ "$status" = "$wanted" ] && is "$(cat "$WORK/out")" "$out" >/dev/null &&
    if [ -n "$words" ]; then holds "$(cat "$WORK/err")" "$words"; else [ ! -s "$WORK/err" ]; fi >/dev/null
}
# label NAME LABEL: of a container, as the engine knows it.
label() { engine_get "/containers/$1/json" | jq -r ".Config.Labels[\"$2\"]"; }

without_flowcond() {
  check "$cli: run without flowcond runs the container all the same, and says how to start flowcond" \
    prints_and_says 0 hello "systemctl start flowcond" "$docker" flowcon run --rm --network none "$IMAGE" echo hello
  check "$cli: and passes its exit status on" \
    prints_and_says 42 "" "flowcond is not running" "$docker" flowcon run --rm --network none "$IMAGE" sh -c 'exit 42'
  check "$cli: status without flowcond is an error that says how to start it" \
    prints_and_says 1 "" "Start it with: systemctl start flowcond (or run: sudo flowcond)" "$docker" flowcon status
  check "$cli: version without flowcond shows its own and fails" \
    prints_and_says 1 "$version" "Cannot connect to flowcond" "$docker" flowcon version --format '{{.Client.Version}}'
}

with_flowcond() {
  local name=run$number id log
  job_mode "$name" learn
  id=$("$docker" flowcon run --metric loss --goal=min --weight 2 --floor 0.05 -d --name "$name" \
    --network none -v "$WORK/jobs:/jobs:ro" "$IMAGE" /job "$name" 2>"$WORK/err") || :
  check "$cli: run prints what docker run prints: the id" is "$id" "$(container_id "$name")"
  check "$cli: and nothing else while flowcond runs" is "$(cat "$WORK/err")" ""
  check "$cli: its options are labels of the container" is \
    "$(label "$name" flowcon.enable) $(label "$name" flowcon.metric) $(label "$name" flowcon.goal) $(label "$name" flowcon.weight) $(label "$name" flowcon.floor)" "true loss min 2 0.05"
  eventually "$cli: the container is controlled" container_has "$name" '.state == "controlled" and .metric == "loss" and .values > 3'
  check "$cli: the exit status of the container's command is passed on" \
    prints_and_says 42 "" "" "$docker" flowcon run --rm --network none "$IMAGE" sh -c 'exit 42'
  check "$cli: docker's own, too: a command that is not there" \
    prints_and_says 127 "" "no-such-command" "$docker" flowcon run --rm --network none "$IMAGE" no-such-command
  check "$cli: an option that docker does not know" \
    prints_and_says 125 "" "unknown flag: --no-such-option" "$docker" flowcon run --no-such-option "$IMAGE"
  check "$cli: stdin reaches the container" is "$(echo learned | "$docker" flowcon run -i --rm --network none "$IMAGE" cat)" learned

  "$docker" flowcon status >"$WORK/table" 2>"$WORK/err" || :
  check "$cli: status is a table with a header" holds "$(head -n 1 "$WORK/table")" "NAME"
  check "$cli: with a line for the container" grep -qE "^${id:0:12} +$name .* loss [0-9.e+]+ ↓" "$WORK/table"
  check "$cli: status --format json has one object a line, the id uncut" is \
    "$("$docker" flowcon status --format json "$name" | jq -r '[.ID, .State, .Metric, .Goal, .Limit <= 1] | @text')" \
    "[\"$id\",\"controlled\",\"loss\",\"min\",true]"
  check "$cli: status --format TEMPLATE" is "$("$docker" flowcon status --format '{{.Name}}: {{.State}} {{json .Metric}}' "$name")" "$name: controlled \"loss\""
  # docker's own spelling, and a header of its own.
  check "$cli: status --format 'table TEMPLATE'" is "$("$docker" flowcon status --format 'table {{.Name}}\t{{upper .State}}' "$name" | tr -s ' ')" "NAME STATE
$name CONTROLLED"
  check "$cli: status --quiet prints ids" is "$("$docker" flowcon status -q "$name")" "${id:0:12}"
  check "$cli: status of a container that is not under control" fails_with 1 "No such container: nobody" "$docker" flowcon status nobody
  check "$cli: a template that is none" fails_with 1 "template" "$docker" flowcon status --format '{{.Name'
  watched() { timeout -s INT "$1" "$docker" flowcon status --watch --interval 0.2 --format '{{.Name}}' "$name" >"$WORK/watched" 2>&1 || :; }
  two_looks() { watched 2 && [ "$(grep -cx "$name" "$WORK/watched")" -ge 2 ]; }
  eventually "$cli: status --watch looks again and again, until ^C" two_looks

  job "plain$number" flat
  check "$cli: adopt prints the container's name" prints_and_says 0 "plain$number" "" "$docker" flowcon adopt --metric loss --goal min "plain$number"
  eventually "$cli: and puts it under control" container_has "plain$number" '.state == "controlled" and .values > 0 and .goal == "min"'
  check "$cli: adopt a second time says that it is" prints_and_says 1 "" "already under control" "$docker" flowcon adopt "plain$number"
  check "$cli: adopt of an unknown container says so" prints_and_says 1 "" "nobody" "$docker" flowcon adopt nobody
  check "$cli: adopt with a wrong goal is wrong usage" fails_with 125 "has to be min or max" "$docker" flowcon adopt --goal down "plain$number"
  eventually "$cli: limits are what the formula says" weights_as_computed
  check "$cli: release takes several and prints their names" prints_and_says 0 "plain$number
$name" "" "$docker" flowcon release "plain$number" "$name"
  check "$cli: and restores their weights" is "$(weight "plain$number") $(weight "$name")" "$DEFAULT_WEIGHT $DEFAULT_WEIGHT"
  check "$cli: release a second time says that it is not under control" prints_and_says 1 "" "not under control" "$docker" flowcon release "$name"

  check "$cli: version shows both" is "$("$docker" flowcon version --format '{{.Client.Version}} {{.Server.Version}}')" "$version $version"
  check "$cli: version as JSON" is "$("$docker" flowcon version --format json | jq -c '[.Client.Version, .Server.ApiVersion]')" "[\"$version\",1]"

  job_mode "$name" silent
  log=$(log_file "$name")
  same_as_log() {
    is "$("$docker" flowcon extract --format json "$log" | jq -c '[.metric, .goal, .values]')" \
      "$(docker logs "$name" 2>/dev/null | sed 's/.*loss: //' | jq -sc '["loss", "min", .]')"
  }
  eventually "$cli: extract of a container's log file finds what it printed" same_as_log
  check "$cli: extract of docker logs finds the same" is \
    "$(docker logs "$name" | "$docker" flowcon extract --format json - | jq -c '[.metric, .values]')" \
    "$("$docker" flowcon extract --format json "$log" | jq -c '[.metric, .values]')"
  docker rm -f "plain$number" "$name" >/dev/null
}

begin "$@"
mkdir -p "$DOCKER_CONFIG/cli-plugins"
ln -s "$BIN/docker-flowcon" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"
export FLOWCON_SOCKET=$SOCKET
version=$("$BIN/flowcond" --version | sed 's/^flowcond //')

declare -A SEEN=()
IFS=: read -r -a folders <<<"$PATH"
number=0
for folder in "${folders[@]}"; do
  docker=$(readlink -f "$folder/docker") || continue
  if [ ! -x "$docker" ] || [ -n "${SEEN[$docker]:-}" ]; then continue; fi
  SEEN[$docker]=yes
  number=$((number + 1))
  # Weight 2 is that of the container that run starts.
  FACTOR["run$number"]=2
  cli="docker $("$docker" --version | sed 's/^Docker version \([0-9.]*\).*/\1/')"
  without_flowcond
  start_flowcond
  with_flowcond
  check "$cli: flowcond's log has no error" flowcond_is_calm
  stop_flowcond
done
check "there was a docker command to test with" [ "$number" -gt 0 ]

# --- rights ---------------------------------------------------------------------------------------

start_flowcond
cp "$BIN/docker-flowcon" "$WORK/docker-flowcon"
chmod 755 "$WORK/docker-flowcon"
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
check "a user without rights on root's socket is told so" is \
  "$(as_nobody "$WORK/docker-flowcon" flowcon --socket "$SOCKET" status 2>&1)" \
  "Cannot connect to flowcond at unix://$SOCKET: Permission denied. This needs root"
chgrp mail "$SOCKET"
check "and on a group's what to do" fails_with 1 "This needs root or group mail: sudo usermod -aG mail \$USER" \
  as_nobody "$WORK/docker-flowcon" flowcon --socket "$SOCKET" status
check "as by doctor" fails_with 1 "to do: sudo usermod -aG mail \$USER, then log in again" \
  as_nobody "$WORK/docker-flowcon" flowcon --socket "$SOCKET" doctor
printf 'no socket\n' >"$WORK/file"
check "a socket that is a file is named" fails_with 1 "$WORK/file" "$WORK/docker-flowcon" flowcon --socket "$WORK/file" status
check "the engine's socket is not flowcond's, and it says so" fails_with 1 "is another program listening there?" "$WORK/docker-flowcon" flowcon --socket "$ENGINE_SOCKET" status
stop_flowcond

finish
