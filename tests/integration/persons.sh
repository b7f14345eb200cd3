#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What people say about moves: where to without a host, that a host is gone for good, that a peer is to go (by command
# and by the configuration), and what waits for a job that leaves. Two hosts, one of which is lost at the worst moment.
# usage: persons.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

# A job that saves what it has counted when it is asked to end, and ends with the status that a file asks for.
# shellcheck disable=SC2016 # for the shell in the container
COUNTS='trap "echo >>/data/saved; exit 0" TERM; n=$(cat /data/n 2>/dev/null || echo 0); while :; do n=$((n + 1)); echo $n >/data/n
  echo "loss: 0.5"; [ ! -e /data/end ] || exit "$(cat /data/end)"; sleep 0.1; done'
run_options() { printf '%s\n' --name "$1" --network none --label flowcon.enable=true -v "$1:/data"; }
# counts HOST NAME [DOCKER-RUN-OPTIONS...]
counts() {
  local host=$1 name=$2 options
  shift 2
  mapfile -t options < <(run_options "$name")
  must at "$host" run -d "${options[@]}" "$@" "$IMAGE" sh -c "$COUNTS"
  must wait_until 60 knows "$host" "$name"
}
# flowcon HOST WORD...: docker flowcon there, which speaks to that host's engine and flowcond.
flowcon() { DOCKER_HOST=unix://${HOST_ENGINE[$1]} "$BIN/docker-flowcon" flowcon --socket "$WORK/$1/api.sock" "${@:2}"; }
says() { local seen; seen=$("${@:2}" 2>&1) || :; holds "$seen" "$1"; }
policy_is() { is "$(at "$1" inspect -f '{{.HostConfig.RestartPolicy.Name}}' "$2" 2>&1)" "$3"; }
is_gone() { not at "$1" inspect "$2"; }
post_says() { says "$4" host_api "$1" POST "$2" "$3"; }
more_lines() { [ "$(wc -l <"$WORK/$1.out")" -gt "$2" ]; }
takes() { host_api "$1" POST "$2" "${3:-}" >/dev/null; }

begin_pair "$@"
HOST_PEER='' host_up h2
host_up h1
takes h2 /v1/peers '{"host":"h1"}'
eventually "two hosts reach each other" both_reach

# --- without a host -------------------------------------------------------------------------------------

counts h1 auto
check "a rehearsal without a host names the peer" is "$(flowcon h1 migrate auto --dry-run 2>/dev/null)" h2
check "a move without a host goes to the peer" says "auto runs on h2" flowcon h1 migrate auto
check "it runs there" runs_only_on h2 auto
check "flowcond is the same as before" host_runs h1
must at h2 rm -f -v auto

# --- a target that does not reach the source ------------------------------------------------------------

counts h1 oneway
host_stop h1
: >"$WORK/cut-h2"
host_up h1
eventually "the first reaches the second" reaches h1 h2
eventually "and not the second the first" not reaches h2 h1
must wait_until 60 knows h1 oneway
check "a host that does not reach the source takes no copy" post_says h1 /v1/containers/oneway/migrate \
  '{"host":"h2","dry_run":true}' "cannot reach the host that it comes from"
check "a move is refused by it too" not flowcon h1 migrate oneway h2
check "the job goes on" runs_only_on h1 oneway
rm -f "$WORK/cut-h2"
eventually "the connection is there" both_reach
eventually "with the connection it takes it" says h2 flowcon h1 migrate oneway h2 --dry-run
must at h1 rm -f -v oneway

# --- a source that is lost for good after the hand-over -------------------------------------------------

host_stop h1
FLOWCON_FAILPOINTS=move.source.start:3600 host_up h1
eventually "two hosts reach each other again" both_reach
counts h1 vae --restart unless-stopped
must flowcon h1 migrate --detach vae h2
eventually "the copy runs on the second" at_step h2 vae confirm
check "what is kept has to be a move to this host" post_says h1 /v1/containers/vae/keep '' "to here is under way"
check "nothing is kept while the source is reachable" says "ends by itself" flowcon h2 migrate --keep vae
check "a peer with open moves is not removed" says "are open: vae" flowcon h2 peer rm h1
check "nor by the API" post_says h2 /v1/peers/h1/remove '' "are open: vae"
check "it is still a peer" host_has h2 /v1/peers '[.peers[].name] == ["h1"]'
host_kill h1
check "the copy has no restart policy yet" not policy_is h2 vae unless-stopped
eventually "a person keeps it once the source is gone" flowcon h2 migrate --keep vae
eventually "the move has ended there" has_ended h2 vae
check "the copy has its restart policy" policy_is h2 vae unless-stopped
check "it runs" runs_only_on h2 vae
check "a second word finds no move" says "no migration of container vae to here" flowcon h2 migrate --keep vae
host_up h1
eventually "a source that comes back removes its copy" is_gone h1 vae
eventually "and ends its move" has_ended h1 vae
check "one copy runs" runs_only_on h2 vae
must at h2 rm -f -v vae

# --- a peer that is removed all the same ----------------------------------------------------------------

eventually "two hosts reach each other once more" both_reach
host_stop h1
FLOWCON_FAILPOINTS=move.source.start:3600 host_up h1
eventually "the second is reached" both_reach
counts h1 lstm
must flowcon h1 migrate --detach lstm h2
eventually "its copy runs on the second" at_step h2 lstm confirm
check "by force a peer with open moves is removed" takes h2 /v1/peers/h1/remove '{"force":true}'
check "flowcond says what is left to a person" host_has h2 /v1/status 'any(.warnings[]; contains("lstm") and contains("--keep"))'
host_kill h1
eventually "the copy of a host that is no peer any more is kept" flowcon h2 migrate --keep lstm
eventually "its move has ended" has_ended h2 lstm
check "it still runs" runs_only_on h2 lstm
takes h2 /v1/peers '{"host":"h1"}'
host_up h1
eventually "its source goes when it comes back" is_gone h1 lstm
must at h2 rm -f -v lstm
eventually "and the hosts know each other" both_reach

# --- a peer that the configuration names no more -----------------------------------------------------------

source_is() { host_has "$1" /v1/peers "[.peers[] | select(.name == \"$2\").source] == [\"$3\"]"; }
host_stop h1
FLOWCON_FAILPOINTS=move.source.transfer:15 host_up h1
eventually "the second is reached again" both_reach
counts h1 rnn
must flowcon h1 migrate --detach rnn h2
eventually "its job is stopped for a move" at_step h1 rnn transfer
sed -i '/^peer = /d' "$WORK/h1/conf"
kill -HUP "$(host_pid h1)"
eventually "a peer that leaves the configuration during a move is kept" source_is h1 h2 leaving
check "flowcond says why" host_has h1 /v1/status 'any(.warnings[]; test("peer h2 is no longer in the configuration, and a migration of .*rnn"))'
check "it is reached still" reaches h1 h2
must flowcon h1 migrate --cancel rnn
eventually "its move is undone" has_ended h1 rnn
eventually "and the peer goes" host_has h1 /v1/peers '.peers == []'
check "the job goes on where it was" runs_only_on h1 rnn
must at h1 rm -f -v rnn
host_stop h1
host_up h1
eventually "in the configuration again, it is a peer" both_reach

# --- docker flowcon run in the foreground ---------------------------------------------------------------

# A job that takes its time to save.
# shellcheck disable=SC2016 # for the shell in the container
SAVES='trap "echo >>/data/saved; sleep 10; exit 0" TERM; while :; do echo "loss: 0.5"; sleep 0.1; done'
# runs_here NAME [SCRIPT]: in the foreground, beside the topic.
runs_here() {
  local options
  mapfile -t options < <(run_options "$1")
  flowcon h1 run "${options[@]}" "$IMAGE" sh -c "${2:-$COUNTS}" >"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
  RUN=$!
  must wait_until 60 knows h1 "$1"
}
ends_with() {
  local status=0
  wait "$RUN" || status=$?
  RUN_STATUS=$status
}
RUN_STATUS=
runs_here stays
must at h1 exec stays sh -c 'echo 7 >/data/end'
ends_with
check "a job that was not moved ends with its own status" is "$RUN_STATUS" 7
check "and with nothing said" is "$(cat "$WORK/stays.err")" ''
runs_here leaves
must flowcon h1 migrate leaves h2
ends_with
check "what waits for a job that was moved does not take its going for its end" is "$RUN_STATUS" 125
check "and is told where it is" holds "$(cat "$WORK/leaves.err")" "was moved to h2"
check "it goes on there" runs_only_on h2 leaves
host_stop h1
FLOWCON_FAILPOINTS=move.source.transfer:5 host_up h1
eventually "the second host is reached" both_reach
runs_here returns
must flowcon h1 migrate --detach returns h2
eventually "a job is stopped for a move" at_step h1 returns transfer
must flowcon h1 migrate --cancel returns
eventually "that is undone" has_ended h1 returns
check "it goes on where it was" runs_only_on h1 returns
printed=$(wc -l <"$WORK/returns.out")
eventually "what it prints goes on where it was begun" more_lines returns "$printed"
must at h1 exec returns sh -c 'echo 9 >/data/end'
ends_with
check "and its own status is that of the command" is "$RUN_STATUS" 9

# flowcond is killed while the job saves, and does not come back.
saves() { at h1 exec "$1" sh -c '[ -e /data/saved ]'; }
host_stop h1
host_up h1
eventually "both hosts are there" both_reach
runs_here orphan "$SAVES"
must flowcon h1 migrate --detach orphan h2
eventually "a job saves itself" saves orphan
host_kill h1
killed=$SECONDS
ends_with
check "it has saved itself, which looks like its end" is "$(at h1 inspect -f '{{.State.Running}} {{.State.ExitCode}}' orphan)" "false 0"
check "flowcond is waited for" [ $((SECONDS - killed)) -ge 60 ]
check "a job whose flowcond is gone does not count as done" is "$RUN_STATUS" 125
check "and it is said why" holds "$(cat "$WORK/orphan.err")" "It is unknown whether the job ended by itself or saved itself for a migration, because flowcond does not answer"
finish_pair
