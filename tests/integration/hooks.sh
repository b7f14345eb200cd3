#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Hooks: a program and an address are told what happens, as JSON, without a shell, never too often, and nothing
# waits for them.
# usage: hooks.sh BINDIR
# shellcheck disable=SC2317,SC2119,SC2016 # functions are called by name; scripts of containers are quoted
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"

# What the program is told: its words on the first line, then the object. HOLD makes it hang.
cat >"$WORK/program" <<PROGRAM
#!/bin/sh
[ ! -e "$WORK/hold" ] || exec sleep 300
{ printf '%s|' "\$@"; cat; } >>"$WORK/told"
PROGRAM
chmod 755 "$WORK/program"
: >"$WORK/told"

# An address: keeps the bodies that are posted to it.
cat >"$WORK/receiver.py" <<'PY'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[2], "ab") as file:
            file.write(self.path.encode() + b" " + self.headers["Content-Type"].encode() + b" " + body)
        self.send_response(204)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1], "w") as file:
    file.write(str(server.server_port) + "\n")
server.serve_forever()
PY
: >"$WORK/posted"
python3 "$WORK/receiver.py" "$WORK/port" "$WORK/posted" &
RECEIVER=$(process_token $!)
at_exit process_end "$RECEIVER" 5
must wait_until 20 test -s "$WORK/port"
PORT=$(cat "$WORK/port")

# objects FILE: what was told, without the words before it.
objects() { sed 's/^.*{"event/{"event/' "$1"; }
# told EXPRESSION: an object that the program got is so.
told() { objects "$WORK/told" | jq -se "any(.[]; $1)" >/dev/null || { tail -n 5 "$WORK/told"; return 1; }; }
posted() { objects "$WORK/posted" | jq -se "any(.[]; $1)" >/dev/null || { tail -n 5 "$WORK/posted"; return 1; }; }
count() { objects "$WORK/told" | jq -se "map(select($1)) | length"; }
metric() { curl -sS --unix-socket "$SOCKET" http://flowcon/metrics | sed -n "s/^$1 //p"; }
metric_is() { is "$(metric "$1")" "$2"; }
metric_above() { local seen; seen=$(metric "$1"); [ "${seen:-0}" -gt "$2" ] || { printf '%s\n' "$seen"; return 1; }; }

check "a program without its path is refused" fails_with 2 "absolute path" \
  "$BIN/flowcond" --hook "program x" --check-config
check "an address that is none is refused" fails_with 2 "http:// or https://" \
  "$BIN/flowcond" --webhook "file:///etc/passwd" --check-config
check "an event that does not exist is refused" fails_with 2 "is not one of converged" \
  "$BIN/flowcond" --hook-events "converged,exploded" --check-config

job flat1 flat --label flowcon.enable=true
prints nan1 'i=0; while :; do i=$((i + 1)); if [ $i -gt 20 ]; then echo "loss: nan"; else echo "loss: 0.$((900 - i))"; fi; sleep 0.2; done'
start_flowcond --hook "$WORK/program --topic \$(touch\${IFS}$WORK/shell) a;b" \
  --webhook "http://127.0.0.1:$PORT/hook?key=1&x=2"
eventually "the program is told of a job that has converged" told \
  '.event == "converged" and .container == "flat1" and .metric == "loss" and .value == 1000000'
eventually "and of a value that is not a number" told '.event == "nan" and .container == "nan1" and .value == "nan"'
check "the object has its place, time and id" told \
  ".event == \"converged\" and .id == \"$(container_id flat1)\" and .host == \"$(uname -n)\" and (.time | fabs) > 1e9 and .held_back == 0"
check "its words come as they are written" holds "$(head -n 1 "$WORK/told")" "--topic|\$(touch\${IFS}$WORK/shell)|a;b|{"
check "no shell looked at them" not test -e "$WORK/shell"
eventually "the address gets the same" posted '.event == "converged" and .container == "flat1"'
check "as a POST of JSON" holds "$(cat "$WORK/posted")" "/hook?key=1&x=2 application/json {"

# --- not too often ----------------------------------------------------------------------------------

# another WEIGHT: somebody else changes the limit.
another() { printf '%s\n' "$1" >"$(cpu_folder flat1)/$(weight_file)"; }
change_often() {
  local i
  for i in 1 2 3; do
    another $((300 + i))
    must wait_until "$PATIENCE" metric_above 'flowcon_limit_reverts_total' $((i - 1))
  done
}
change_often
eventually "a limit that another program changed is told" told '.event == "revert" and .container == "flat1"'
check "three times are one call" is "$(count '.event == "revert"')" 1
check "the others are counted" metric_above flowcon_hook_held_back_total 1
check "all are counted as events" metric_above 'flowcon_events_total{event="revert"}' 2
stop_flowcond

# --- nothing waits ------------------------------------------------------------------------------------

: >"$WORK/told"
touch "$WORK/hold"
start_flowcond --hook "$WORK/program" --hook-interval 0
eventually "a job converges again" container_has flat1 '.list == "CL"'
hangs() {
  local seen
  seen=$(marked_processes)
  holds "$seen" "sleep 300"
}
eventually "the program hangs" hangs
rm "$WORK/hold"
another 301
eventually "and a changed limit is written again" weights_as_computed
before=$(decisions flat1)
eventually "and decisions go on" has_decisions flat1 $((before + 3))
eventually "it is killed in the end, with its status counted" metric_above flowcon_hook_failures_total 0
check "and logged" flowcond_said "the hook $WORK/program failed"
another 302
eventually "the next one is told all the same" told '.event == "revert"'

# A hook that is not there.
stop_flowcond
start_flowcond --hook "$WORK/nothing" --webhook "http://127.0.0.1:1/"
eventually "a program and an address that do not answer are counted" metric_above flowcon_hook_failures_total 1
all_failed() { is "$(metric flowcon_hook_failures_total)" "$(metric flowcon_hook_calls_total)"; }
eventually "every call of them" all_failed
check "flowcond goes on" flowcond_runs
stop_flowcond
check "no program of a hook is left" not hangs

# --- failure ------------------------------------------------------------------------------------------

: >"$WORK/told"
start_flowcond --hook "$WORK/program" --hook-events failure
at_exit engine_up
if [ "$ENGINE_DIR" != machine ]; then
  engine_down
  eventually "that the engine does not answer is told" told '.event == "failure" and .container == null'
  must engine_up
fi
check "and nothing that was not asked for" is "$(count '.event != "failure"')" 0
stop_flowcond

finish
