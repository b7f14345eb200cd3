#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The journal of moves when files of the state are damaged: the records' damage does not touch it, and a host
# that has lost entries of it says so, answers for nothing and starts nothing, on two hosts.
# usage: journal.sh BINDIR
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

# damage HOST FILE: its beginning is overwritten, and its log of changes is gone.
damage() {
  rm -f "$WORK/$1/state/$2-wal" "$WORK/$1/state/$2-shm"
  dd if=/dev/urandom of="$WORK/$1/state/$2" bs=64k count=1 conv=notrunc status=none
}
warns() { host_has "$1" /v1/status ".warnings | any(contains(\"$2\"))"; }
job_vae() {
  # shellcheck disable=SC2016 # for the job's shell
  must at h1 run -d --name vae --network none --restart always -v ckpt:/ckpt --label flowcon.migrate=app \
    --label flowcon.enable=true "$IMAGE" sh -c 'trap "date >>/ckpt/log; exit 0" TERM; while :; do date >>/ckpt/log; echo loss: 1; sleep 0.2; done'
  must wait_until "$PATIENCE" knows h1 vae
}
move_vae() { must wait_until "$PATIENCE" host_api h1 POST /v1/containers/vae/migrate '{"host":"h2"}'; }
policy_of() { at "$1" inspect -f '{{.HostConfig.RestartPolicy.Name}}' "$2"; }
has_policy() { is "$(policy_of "$1" "$2")" "$3"; }
has_none() { is "$(at "$1" ps -aq --filter "name=$2")" ""; }
stays_down() { ! runs_on h1 vae >/dev/null && is "$(policy_of h1 vae)" no; }
# is_same_host HOST ID: it is the host that it was to the other one.
is_same_host() { host_has "$(other_of "$1")" /v1/peers "any(.peers[]; .name == \"$1\" and .state == \"reachable\" and .id == \"$2\")"; }
id_of() { host_api "$1" GET /v1/peers | jq -r .here.id; }

begin_pair "$@"
FLOWCON_FAILPOINTS=move.source.transfer:30 host_up h1
host_up h2
eventually "two hosts reach each other" both_reach
me=$(id_of h1)
job_vae
move_vae
eventually "a move is under way, and its job is stopped" at_step h1 vae transfer

# --- damaged records ----------------------------------------------------------------------------------

host_kill h1
damage h1 flowcon.db
host_up h1
check "damaged records are put aside, and the status says so" warns h1 flowcon.db.damaged-1
eventually "the move is known, and undone: the job runs where it was" runs_only_on h1 vae
eventually "with its own restart policy" has_policy h1 vae always
eventually "the move has ended on both hosts" has_ended h1 vae
eventually "there, too" has_ended h2 vae
eventually "the other host knows this one by its id" is_same_host h1 "$me"

# --- a damaged journal ----------------------------------------------------------------------------------

host_stop h1
FLOWCON_FAILPOINTS=move.source.transfer:30 host_up h1
eventually "the hosts reach each other again" both_reach
eventually "the job is known" knows h1 vae
move_vae
eventually "a second move is under way" at_step h1 vae transfer
host_kill h1
damage h1 journal.db
host_up h1
check "a damaged journal is kept" test -e "$WORK/h1/state/journal.db.damaged-1"
check "the status says what it means and what to do" warns h1 "rm $WORK/h1/state/journal.lost"
check "the list of moves does not pass for all of them" host_has h1 /v1/moves '.moves == [] and .whole == false'
eventually "and names the container that may be half migrated" warns h1 "container vae may be half migrated"
eventually "the other host still knows this one by its id" is_same_host h1 "$me"
check "nothing was started" stays_down
check "no move begins" fails_with 22 'is not whole' host_api h1 POST /v1/containers/vae/migrate '{"host":"h2"}'
check "the other host closes nothing by a guess" host_has h2 /v1/moves 'any(.moves[]; .name == "vae" and .ended == false)'
host_stop h1
host_up h1
check "a restart changes nothing of it" warns h1 journal.lost
check "nothing was started then either" stays_down
host_stop h1
rm "$WORK/h1/state/journal.lost"
host_up h1
check "when a person has answered, the warning is gone" host_has h1 /v1/status '.warnings == []'
eventually "and the other host gives up what it had made" has_ended h2 vae
eventually "with its copy" has_none h2 vae
must at h1 update --restart always vae
must at h1 start vae
eventually "the person starts the job: one copy runs" runs_only_on h1 vae

# --- a journal that the disk gives back wrong, while flowcond runs -----------------------------------------

# Its pages are read anew once somebody else has written.
garble() {
  python3 - "$WORK/$1/state/journal.db" <<'PYTHON'
import os
import sqlite3
import sys

path = sys.argv[1]
db = sqlite3.connect(path, timeout=30)
db.execute("CREATE TABLE other(x)")
db.commit()
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.close()
size = os.path.getsize(path)
with open(path, "r+b") as file:
    file.seek(4096)
    file.write(b"\xff" * (size - 4096))
PYTHON
}
host_stop h2
FLOWCON_FAILPOINTS=move.target.start:4 host_up h2
eventually "the hosts reach each other once more" both_reach
eventually "the job is known there" knows h1 vae
move_vae
eventually "a third move is handed over" at_step h2 vae start
unplug
host_kill h1
host_up h1
eventually "the copy runs" runs_on h2 vae
takes_back() { host_api h1 POST /v1/containers/vae/take-back >/dev/null; }
eventually "a person takes the job back, with the link cut" takes_back
eventually "it runs there as well" runs_on h1 vae
eventually "and its move has ended there" has_ended h1 vae
garble h1
plug
eventually "asked for it, the host does not say that it knows nothing" host_has h2 /v1/moves 'any(.moves[]; .error | contains("does not say"))'
check "the other host closes nothing then either" host_has h2 /v1/moves 'any(.moves[]; .name == "vae" and .ended == false)'
check "flowcond goes on" host_runs h1
at h1 rm -f -v vae >/dev/null
at h2 rm -f -v vae >/dev/null

finish_pair
