#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The engine as it is in real life: not there yet, restarting, crashed, with containers that come and
# go faster than they can be looked at, or with a socket that is of no use.
# usage: engine.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engine_crash() { kill -KILL "$(engine_recall "$ENGINE_DIR" dockerd | cut -d: -f1)"; }

# From now on the engine starts so that containers outlive it.
use_live_restore() {
  local real
  real=$(command -v dockerd)
  mkdir -p "$WORK/path"
  printf '#!/bin/sh\nexec %q --live-restore "$@"\n' "$real" >"$WORK/path/dockerd"
  chmod 755 "$WORK/path/dockerd"
  PATH=$WORK/path:$PATH
}

originals_are() { is "$(saved_originals)" "$1"; }

begin "$@"
# Whatever happens here, the topics after this one need an engine.
at_exit engine_up

# --- no engine at the start, then one that stops and starts -------------------------------------------

job always learn --label flowcon.enable=true --restart always
job once learn --label flowcon.enable=true
must engine_down
start_flowcond
eventually "without an engine flowcond runs and says so" status_has '.engine.reachable == false and .containers == []'
check "the message names the socket and what to do" status_has ".engine.error | contains(\"no Docker engine answers at $ENGINE_SOCKET\") and contains(\"systemctl start docker\")"
check "it is a warning of the status" status_has '.warnings | any(contains("no Docker engine answers"))'
check "and a line of the log" flowcond_said "no Docker engine answers at $ENGINE_SOCKET"
must engine_up
eventually "when the engine starts it is picked up" status_has '.engine.reachable and .engine.error == "" and .engine.version != "" and .warnings == []'
eventually "and with it the container that it starts again" container_has always '.state == "controlled" and .values > 0'
check "and not the one that it does not" is_absent once

job second learn --label flowcon.enable=true
eventually "a container that starts is controlled" container_has second '.values > 0'
must engine_down
eventually "while the engine is away the status says so" status_has '.engine.reachable == false'
must engine_up
# Before flowcond has tried again, most likely; nothing is lost either way.
job third learn --label flowcon.enable=true
eventually "after a restart of the engine all that runs is controlled" status_has '[.containers[] | select(.state == "controlled") | .name] | sort == ["always", "third"]'
eventually "with the weights of the formula" weights_as_computed
eventually "the one that the engine has ended is recorded as finished" records_have second '.finished != null and (.samples | length) > 0'
eventually "only what runs has an original to restore" originals_are "always third"

# --- an engine that dies while its containers go on --------------------------------------------------

docker rm -f always once second third >/dev/null
must engine_down
use_live_restore
must engine_up
job stays learn --label flowcon.enable=true
job ends learn --label flowcon.enable=true
eventually "containers of the engine are controlled" status_has '[.containers[] | select(.state == "controlled" and .values > 3) | .name] == ["stays", "ends"]'
since=$(status '.containers[] | select(.name == "stays") | .since')
engine_crash
eventually "a killed engine is noticed" status_has '.engine.reachable == false'
job_mode ends end
check "its containers stay under control" status_has '[.containers[].name] == ["stays", "ends"]'
await_decisions stays 3
must engine_up
job late learn --label flowcon.enable=true
eventually "afterwards what ended meanwhile is gone, and what started is there" status_has '[.containers[].name] == ["stays", "late"]'
check "a container that ran all the time is not taken for a new one" container_has stays ".since == $since and .values > 3"
all_values() {
  job_mode stays silent
  container_has stays '.values == .progress.done'
}
eventually "and none of its values is lost or counted twice" all_values
eventually "the weights are those of the formula" weights_as_computed
check "the end of the one that ended is recorded" records_have ends '.finished != null'

# --- a flowcond that could not look -------------------------------------------------------------------

kill -STOP "${DAEMON%%:*}"
job unseen learn --label flowcon.enable=true
docker rm -f stays >/dev/null
docker restart -t 0 late >/dev/null
kill -CONT "${DAEMON%%:*}"
eventually "what happened while flowcond stood still is caught up with" status_has '[.containers[] | select(.state == "controlled") | .name] | sort == ["late", "unseen"]'
eventually "and the weights are those of the formula" weights_as_computed

# --- many short lives -----------------------------------------------------------------------------------

short_lives() {
  seq 30 | xargs -P 6 -I {} docker run --rm --network none --label flowcon.enable=true "$IMAGE" true
}
check "thirty containers that end at once all run" short_lives
eventually "none of them stays in the status" status_has '[.containers[].name] | sort == ["late", "unseen"]'
eventually "none of them leaves an original" originals_are "late unseen"
eventually "the weights are those of the two that run" weights_as_computed
docker run -d --name paused1 --network none --label flowcon.enable=true "$IMAGE" sleep 600 >/dev/null
docker pause paused1 >/dev/null
eventually "a paused container keeps its fair share" container_has paused1 '.limit == 1 and .list == "NL"'
docker unpause paused1 >/dev/null
check "flowcond still runs" flowcond_runs
check "its log has no error" flowcond_is_calm
stop_flowcond
check "SIGTERM ends it with status 0" is "$DAEMON_STATUS" 0
check "and nothing is left to restore" is "$(saved_originals)" ""

# --- sockets that are of no use -------------------------------------------------------------------------

printf 'no socket\n' >"$WORK/file"
start_flowcond --engine "$WORK/file"
eventually "a file that is no socket: the message names it" status_has ".engine.reachable == false and (.engine.error | contains(\"$WORK/file\"))"
other=$SOCKET
SOCKET=$WORK/second.sock
first=$DAEMON
STATE=$WORK/state2 start_flowcond --engine "$other"
eventually "a socket on which something else answers: it says what is wrong" status_has '.engine.reachable == false and (.engine.error | contains("not well"))'
stop_flowcond
DAEMON=$first SOCKET=$other
stop_flowcond
check "both end with status 0" is "$DAEMON_STATUS" 0

mkdir "$WORK/nobody"
cp "$BIN/flowcond" "$WORK/nobody/"
chown -R nobody "$WORK/nobody"
cat >"$WORK/nobody/flowcond.conf" <<CONF
engine = $ENGINE_SOCKET
state-dir = $WORK/nobody/state
socket = $WORK/nobody/flowcond.sock
socket-group = nogroup
CONF
LOG=$WORK/nobody.log
setpriv --reuid nobody --regid nogroup --clear-groups "$WORK/nobody/flowcond" \
  --config "$WORK/nobody/flowcond.conf" >"$LOG" 2>&1 </dev/null 9>&- &
DAEMON=$(process_token $!)
SOCKET=$WORK/nobody/flowcond.sock
eventually "without rights on the engine's socket it says so, and what to do" flowcond_said "no right to use the engine's socket $ENGINE_SOCKET (run flowcond as root or in the group docker)"
eventually "also in the status" status_has '.engine.error | contains("no right to use")'
stop_flowcond
check "and ends with status 0" is "$DAEMON_STATUS" 0

finish
