#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The state folder, the socket and the configuration when they are full, read-only, missing, damaged,
# taken or wrong.
# usage: state.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# refuses STATUS WORDS OPTIONS...: flowcond does not start, with that status and those words.
refuses() {
  local wanted=$1 words=$2
  shift 2
  fails_with "$wanted" "$words" timeout 20 "$BIN/flowcond" --config "$WORK/flowcond.conf" "$@"
}
# config WORDS LINES...: a configuration of those lines is refused with status 2 and those words.
config() {
  local words=$1
  shift
  printf '%s\n' "$@" >"$WORK/some.conf"
  fails_with 2 "$words" timeout 20 "$BIN/flowcond" --config "$WORK/some.conf" --check-config
}
fill() { dd if=/dev/zero of="$STATE/filler" bs=4k oflag=append conv=notrunc 2>/dev/null || :; }
# full_and COMMAND...: whatever has become free meanwhile is taken first.
full_and() { fill; "$@"; }
# Once a kind of write and, for the arrival, once a container: not at each look.
is_said_rarely() { grep -c 'no room left' "$LOG" | awk '{print; exit !($1 >= 1 && $1 <= 6)}'; }
# A container's limits are changed only where what it had is kept.
is_as_it_was_or_saved() {
  if [ "$(weight "$1")" = "$DEFAULT_WEIGHT" ]; then
    container_has "$1" '.note | contains("limits are left alone, since the original could not be saved")'
  else
    holds " $(saved_originals) " " $1 "
  fi
}
# Another program has the state's lock, as a backup may.
lock_state() {
  python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()' "$STATE/journal.db" <"$WORK/hold" >"$WORK/locked" &
  LOCKER=$!
  exec 8>"$WORK/hold"
  must wait_until "$PATIENCE" grep -q locked "$WORK/locked"
}
unlock_state() {
  exec 8>&-
  wait "$LOCKER"
}
mode_of() { stat -c %a "$1"; }

begin "$@"

# --- a disk that is full for a while ------------------------------------------------------------------

mkfifo "$WORK/hold"
mkdir "$STATE"
must mount -t tmpfs -o size=900k,mode=700 flowcon-test "$STATE"
job full1 flat --label flowcon.enable=true --cpus 0.5
job full2 learn --label flowcon.enable=true
full1=$(setting full1) full2=$(setting full2)
start_flowcond
eventually "control has begun" container_has full1 '.list == "CL" and .limit == 0.25'
eventually "with the weights of the formula" weights_as_computed
eventually "it records for a while" records_have full2 '.usage | length >= 15'
check "for which a folder of 900 KiB is enough" status_has '.warnings == []'
fill
full_from=$(date +%s)
eventually "when the disk is full the status says so" full_and status_has '.warnings | any(contains("no room left for the state"))'
job_mode full2 flat
eventually "and control goes on: free competition when all are completing" full_and status_has '.all_completing'
eventually "in the kernel, too" full_and weights_as_computed
job full3 learn --label flowcon.enable=true
eventually "an arrival has its own limits, or its original has found room" full_and is_as_it_was_or_saved full3
fill
check "release works on a full disk" is "$(api_status POST /v1/containers/full1/release | cut -c 1-3)" 200
check "and restores the original" is "$(setting full1)" "$full1"
check "the log says that the disk is full, and not at each look" is_said_rarely
full_until=$(date +%s)
rm "$STATE/filler"
eventually "when there is room again the warning goes" status_has '.warnings == []'
eventually "and the arrival is controlled" container_has full3 '.note == "" and .state == "controlled"'
eventually "with the weights of the formula" weights_as_computed
lock_state
job full4 learn --label flowcon.enable=true
eventually "an arrival whose original cannot be saved keeps its limits" container_has full4 '.note | contains("limits are left alone, since the original could not be saved")'
check "in the kernel, too" is "$(weight full4)" "$DEFAULT_WEIGHT"
unlock_state
eventually "and is controlled when it can" container_has full4 '.note == ""'
eventually "with the weights of all" weights_as_computed
eventually "what was seen while the disk was full is recorded after all" \
  records_have full2 "[.usage[][0] | select(. > $full_from + 1 and . < $full_until - 1)] | length > 0"
check "flowcond still runs" flowcond_runs
stop_flowcond
check "SIGTERM ends it with status 0" is "$DAEMON_STATUS" 0
check "and restores the originals" is "$(setting full2)" "$full2"
check "and none is left to restore" is "$(saved_originals)" ""


# --- folders that cannot be used -----------------------------------------------------------------------

must mount -o remount,ro "$STATE"
check "a read-only state folder: it says so and does not start" refuses 1 "Read-only file system"
must umount "$STATE"
must mount -t tmpfs -o size=1m,mode=700 flowcon-test "$STATE"
fill
check "a state folder without room at the start: it says so and does not start" refuses 1 "no room left for the state"
must umount "$STATE"
check "a state folder that cannot be made: it names it and the option" refuses 1 "$WORK/no/folder (another one: --state-dir): No such file" --state-dir "$WORK/no/folder"
printf 'a file\n' >"$WORK/file"
check "a state folder that is a file" refuses 1 "$WORK/file" --state-dir "$WORK/file"
rmdir "$STATE"
start_flowcond
check "a missing state folder is made; others may pass through it (to keys of ssh), not read it" is "$(mode_of "$STATE")" 711
check "and so is the state" is "$(mode_of "$STATE/flowcon.db") $(mode_of "$STATE/journal.db")" '600 600'
check "the socket is for its group" is "$(mode_of "$SOCKET")" 660

# --- two of them ------------------------------------------------------------------------------------------

check "a second flowcond on the same state does not start" refuses 1 "another flowcond uses the state in $STATE (stop it, or give --state-dir)" --socket "$WORK/other.sock"
check "nor one on the same socket" refuses 1 "another flowcond answers there (stop it, or give --socket)" --state-dir "$WORK/state-2"
check "nor one whose socket is a file of somebody" refuses 1 "a file that is no socket is there" --state-dir "$WORK/state-2" --socket "$WORK/file"
check "which is left as it was" is "$(cat "$WORK/file")" "a file"
check "nor one whose socket's folder cannot be made" refuses 1 "$WORK/no/run/flowcond.sock: making its folder: No such file" --state-dir "$WORK/state-2" --socket "$WORK/no/run/flowcond.sock"
check "the first one still answers" api GET /v1/status
stop_flowcond
check "the socket goes with it" [ ! -e "$SOCKET" ]

# --- damage ------------------------------------------------------------------------------------------------

SOCKET=$WORK/made/flowcond.sock
start_flowcond --socket "$SOCKET"
check "a missing folder of the socket is made" is "$(mode_of "$WORK/made")" 755
stop_flowcond
SOCKET=$WORK/flowcond.sock
printf 'this is no database, and longer than a header of one is, so that nobody takes it for an empty one\n' >"$STATE/flowcon.db"
start_flowcond
check "a state that is no database is put aside, and the status says where" status_has ".warnings | any(contains(\"$STATE/flowcon.db.damaged-1\"))"
eventually "control goes on" container_has full2 '.state == "controlled"'
stop_flowcond
python3 - "$STATE/flowcon.db" <<'PY'
import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(4096)
    file.write(os.urandom(os.path.getsize(sys.argv[1]) - 4096))
PY
start_flowcond
check "a damaged database is put aside, too" status_has ".warnings | any(contains(\"$STATE/flowcon.db.damaged-2\"))"
eventually "and control goes on" container_has full2 '.state == "controlled"'
stop_flowcond
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")' "$STATE/flowcon.db"
start_flowcond
check "records of another version are put aside, too" status_has ".warnings | any(contains(\"$STATE/flowcon.db.version-99-1\"))"
eventually "and control goes on" container_has full2 '.state == "controlled"'
stop_flowcond
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 99")' "$STATE/journal.db"
check "the journal of another flowcond is not touched" refuses 1 "the state is of version 99"

# --- configuration -------------------------------------------------------------------------------------------

file=$WORK/some.conf
check "an unknown option: file, line, and what may have been meant" config "$file:2: there is no option intervall; did you mean interval?" 'alpha = 0.05' 'intervall = 20'
check "a value out of its range: file, line, the range" config "$file:1: beta: \"0\" is not a number from 1 to 1000000" 'beta = 0'
check "a word that is none of those known" config "$file:3: limit-mode: \"wieght\" is not one of weight|quota" '# a comment' '' 'limit-mode = wieght'
check "an option that is set twice: both lines" config "$file:2: interval is set already at $file:1" 'interval = 10' 'interval = 20'
check "a contradiction: both values and where they are set" config "interval-max = 20 ($file:2) is shorter than interval = 30 ($file:1)" 'interval = 30' 'interval-max = 20'
check "a line that sets nothing" config "$file:1: \"interval\" is not of the form option = value" 'interval'
check "a section" config "$file:1: the only section is [accept]" '[flowcon]'
printf 'alpha = 0.05\n' >"$file"
mkdir "$file.d"
printf 'beta = many\n' >"$file.d/50-local.conf"
check "a mistake in a drop-in" fails_with 2 "$file.d/50-local.conf:1: beta: \"many\" is not a number" "$BIN/flowcond" --config "$file" --check-config
rm -r "$file.d"
check "a configuration that is not there" fails_with 2 "reading the configuration $WORK/none.conf: No such file" "$BIN/flowcond" --config "$WORK/none.conf"
check "one that is a folder" fails_with 2 "reading the configuration $WORK" "$BIN/flowcond" --config "$WORK" --check-config
check "an unknown flag: what may have been meant, and where help is" fails_with 2 "there is no option intervall; did you mean interval?" "$BIN/flowcond" --intervall 20
check "with a pointer to the help" fails_with 2 "Run 'flowcond --help' for more information" "$BIN/flowcond" --intervall 20
check "an argument that is no option" fails_with 2 "unexpected argument start" "$BIN/flowcond" start
check "a wrong value in the environment" fails_with 2 "environment FLOWCON_BETA: \"x\" is not a number" env FLOWCON_BETA=x "$BIN/flowcond" --config "$file" --check-config
check "a good configuration is said to be good" fails_with 0 "the configuration is good" "$BIN/flowcond" --config "$file" --check-config
from_line() { "$BIN/flowcond" --config "$file" --beta 3 --print-config | grep -E "^$1 +# $2\$"; }
check "--print-config says where a value is from: a file" from_line 'alpha = 0.05' "$file:1"
check "or the command line" from_line 'beta = 3' 'command line'
check "or nowhere" from_line 'interval = 20' default
check "a mistake starts nothing" [ ! -e "$WORK/no" ]

finish
