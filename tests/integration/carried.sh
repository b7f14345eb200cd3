#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What a move carries, and what it must not lose: training state in the writable layer, a job whose copy fails, a
# job that ends while it is asked to save; and what it leaves on the hosts that it passed.
# usage: carried.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

# trains HOST NAME SCRIPT [DOCKER-RUN-OPTIONS...]: a job that prints a value five times a second; SCRIPT says what
# comes before, a trap for SIGTERM above all.
trains() {
  local host=$1 name=$2 script=$3
  shift 3
  must at "$host" run -d --name "$name" --network none --label flowcon.migrate=app "$@" "$IMAGE" \
    sh -c "$script; step=0; while :; do step=\$((step + 1)); echo \"step \$step loss: 1\"; sleep 0.2; done"
  must wait_until "$PATIENCE" knows "$host" "$name"
}
migrate() { host_api "$1" POST "/v1/containers/$2/migrate" "{\"host\":\"$(other_of "$1")\"}"; }
rehearse() { host_api "$1" POST "/v1/containers/$2/migrate" "{\"host\":\"$(other_of "$1")\",\"dry_run\":true}"; }
nothing_against() { local seen; seen=$(rehearse "$1" "$2"); is "$(jq -c .obstacles <<<"$seen")" '[]' || { printf '%s\n' "$seen"; return 1; }; }
both_ended() { has_ended h1 "$1" && has_ended h2 "$1"; }
# moves FROM NAME: begins its move as soon as nothing is against it, and waits until that is over on both sides.
moves() {
  check "nothing is in the way of $2 at $1" wait_until "$PATIENCE" nothing_against "$1" "$2"
  check "its move begins" migrate "$1" "$2"
  check "and ends" wait_until "$PATIENCE" both_ended "$2"
}
error_of() { host_api "$1" GET /v1/moves | jq -r "[.moves[] | select(.name == \"$2\")][0].error"; }
state_of() { at "$1" inspect -f '{{.State.Status}} {{.HostConfig.RestartPolicy.Name}}' "$2"; }
moved_images() { at "$1" images -a --format '{{.Repository}}:{{.Tag}}' | grep -E '^(<none>|moved\.)' || :; }
unnamed_volumes() { at "$1" volume ls -q | grep -E '^[0-9a-f]{64}$' || :; }
no_moved_images() { is "$(moved_images "$1")" ''; }
absent_at() { not at "$1" inspect "$2"; }
has_value() { host_has "$1" /v1/status "any(.containers[]; .name == \"$2\" and .value != null)"; }
saves="trap 'echo 1 >/ckpt/saved; exit 0' TERM"

begin_pair "$@"
host_up h1
host_up h2
must wait_until "$PATIENCE" both_reach

# --- jobs under --init, and names of images -------------------------------------------------------------

trains h1 under-init "$saves" --init -v under-init:/ckpt
moves h1 under-init
check "a job under --init moves" runs_only_on h2 under-init
check "its image has a name there that no registry has" is \
  "$(at h2 ps --filter name=under-init --format '{{.Image}}')" "moved.flowcon.invalid/$IMAGE"
moves h2 under-init
check "it comes back" runs_only_on h1 under-init
check "to the name that its image has here" is "$(at h1 ps --filter name=under-init --format '{{.Image}}')" "$IMAGE"
check "its image stays where it passed, for later ones" is "$(moved_images h2)" "moved.flowcon.invalid/$IMAGE"
tagged() { at h2 image inspect -f '{{.Metadata.LastTagTime}}' "moved.flowcon.invalid/$IMAGE"; }
first=$(tagged)
moves h1 under-init
check "  where it is used again" runs_only_on h2 under-init
check "  which its engine notes" not is "$(tagged)" "$first"
moves h2 under-init
printf 'data-cache = 0\n' >>"$WORK/h2/conf"
kill -HUP "$(host_pid h2)"
PATIENCE=90 eventually "  until no room is given to such" no_moved_images h2
at h1 rm -f -v under-init >/dev/null

# --- a copy that fails ----------------------------------------------------------------------------------

trains h1 fails "[ -z \"\$FLOWCON_RESUME\" ] || { echo importing; sleep 4; exit 1; }; $saves" -v fails:/ckpt
eventually "a job prints values" has_value h1 fails
moves h1 fails
check "a job whose copy fails after seconds goes on where it was" runs_only_on h1 fails
check "and its move says why" holds "$(error_of h1 fails)" "gave it back"
check "with the last words of the copy" holds "$(error_of h1 fails)" 'importing"'
check "nothing of it is there" absent_at h2 fails
check "its volume neither" is "$(at h2 volume ls -q)" ""
at h1 rm -f fails >/dev/null

must at h1 run -d --name silent --network none -v silent:/ckpt --label flowcon.migrate=app --label flowcon.checkpoint.confirm=3 \
  "$IMAGE" sh -c "$saves; while :; do sleep 0.2; done"
must wait_until "$PATIENCE" knows h1 silent
check "how long a copy is not believed is told before" holds "$(rehearse h1 silent)" "has run for 3 s"
moves h1 silent
check "a job that prints nothing moves" runs_only_on h2 silent
at h2 rm -f silent >/dev/null

# As if by a signal; but its engine knows of none.
trains h1 minus-one "[ -z \"\$FLOWCON_RESUME\" ] || exit 255; $saves" -v minus-one:/ckpt
eventually "a job prints values" has_value h1 minus-one
moves h1 minus-one
check "one whose copy ends with status 255 goes on where it was" runs_only_on h1 minus-one
at h1 rm -f minus-one >/dev/null

# --- an end is an end -----------------------------------------------------------------------------------

trains h1 ends "trap 'exit 0' TERM; echo 0 >/ckpt/saved" -v ends:/ckpt --restart on-failure:3
moves h1 ends
check "a job that ended while it was asked to save is not started again" is "$(state_of h1 ends)" "exited on-failure"
check "and nothing of it is on the other host" absent_at h2 ends
check "its move says so" holds "$(error_of h1 ends)" "ended by itself"
at h1 rm -f ends >/dev/null

trains h1 again "trap 'exit 0' TERM; echo 0 >/ckpt/saved" -v again:/ckpt --restart always
moves h1 again
check "one that its engine would have started again goes on" is "$(state_of h1 again)" "running always"
at h1 rm -f again >/dev/null

# --- files in the writable layer ------------------------------------------------------------------------

trains h1 layer "trap 'echo 7 >/model; exit 0' TERM; [ ! -e /model ] || echo goes on; echo x >/tmp/x" -v layer:/ckpt
must wait_until "$PATIENCE" nothing_against h1 layer
check "temporary files are named" holds "$(rehearse h1 layer)" "'/tmp/x'"
moves h1 layer
check "a job that saved into its writable layer stays" runs_only_on h1 layer
check "with what it saved" holds "$(at h1 logs layer)" "goes on"
check "its move names the file" holds "$(error_of h1 layer)" "would not travel: '/model'"
check "now it is refused before it is stopped" holds "$(rehearse h1 layer | jq -c .obstacles)" "would not travel: '/model'"
check "a move too" fails_with 22 "'/model'" migrate h1 layer
at h1 rm -f layer >/dev/null

trains h1 passing "trap 'echo 7 >/tmp/model; exit 0' TERM; [ ! -e /tmp/model ] || echo goes on" -v passing:/ckpt
must wait_until "$PATIENCE" nothing_against h1 passing
moves h1 passing
check "one that saved into a folder for temporary files stays as well" runs_only_on h1 passing
check "with what it saved there" holds "$(at h1 logs passing)" "goes on"
check "and its move names that file" holds "$(error_of h1 passing)" "would not travel: '/tmp/model'"
at h1 rm -f passing >/dev/null

# --- flowcond is stopped while a job saves ---------------------------------------------------------------

# has_said TEXT: the job that saves for long.
has_said() { holds "$(at h1 logs long 2>&1)" "$1"; }
trains h1 long "trap 'echo saving; sleep 50; echo 1 >/ckpt/saved; exit 0' TERM" -v long:/ckpt --label flowcon.checkpoint.timeout=70
must wait_until "$PATIENCE" nothing_against h1 long
check "the move of a job that saves for 50 s begins" migrate h1 long
must wait_until "$PATIENCE" has_said saving
kill -TERM "$(host_pid h1)"
must wait_until 120 not host_runs h1
host_stop h1
check "a flowcond that is stopped meanwhile waits, and leaves the job running" runs_on h1 long
check "and no move of which the package would have to know" [ ! -e "$WORK/h1/state/open-moves" ]
host_up h1
must wait_until "$PATIENCE" both_reach
at h1 rm -f -v long >/dev/null

# --- what is left ---------------------------------------------------------------------------------------

trains h1 slow "$saves" -v slow:/ckpt --label flowcon.checkpoint.timeout=1 \
  --label 'flowcon.checkpoint.command=["sh", "-c", "while :; do sleep 0.2; done; : endless"]'
moves h1 slow
check "a checkpoint command that takes too long undoes the move" runs_only_on h1 slow
check "and does not go on in the container" not holds "$(at h1 top slow -o pid,args)" endless
at h1 rm -f slow >/dev/null

trains h1 unnamed "$saves" -v /ckpt
moves h1 unnamed
check "a volume without a name moves" is "$(at h2 exec unnamed cat /ckpt/saved)" 1
check "nothing of it stays at the source" is "$(unnamed_volumes h1)" ""
at h2 rm -f -v unnamed >/dev/null
check "rm -v removes it there" is "$(unnamed_volumes h2)" ""

finish_pair
