#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The hand-over of a move where a journal is slow, cannot be written or cannot be read, where flowcond is
# stopped in the middle, and where somebody starts what was handed over. A write lock on the journal stands
# for a disk that does not answer.
# shellcheck disable=SC2317 # functions that checks call
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

begin_pair "$@"

# lock_at HOST STEP: from the moment that its journal says STEP nobody writes it, until unlock. In the
# background; to be called before the move begins.
lock_at() {
  cat >"$WORK/lock.py" <<'PY'
import glob, json, os, sqlite3, sys, time
folder, step, flag = sys.argv[1:]
for path in sorted(glob.glob(folder + "/*.db")):
    db = sqlite3.connect(path, timeout=30, isolation_level=None)
    if db.execute("select count(*) from sqlite_master where name='migrations'").fetchone()[0]:
        break
while True:
    rows = db.execute("select entry from migrations where ended is null").fetchall()
    if any(json.loads(row[0])["step"] == step for row in rows):
        break
    time.sleep(0.02)
db.execute("BEGIN IMMEDIATE")
open(flag, "w").close()
while os.path.exists(flag):
    time.sleep(0.05)
db.rollback()
PY
  python3 "$WORK/lock.py" "$WORK/$1/state" "$2" "$WORK/locked" 9>&- &
  LOCKER=$!
}
is_locked() { [ -e "$WORK/locked" ]; }
unlock() {
  rm -f "$WORK/locked"
  wait "$LOCKER" || :
}

# The step of the newest entry of a host's journal.
journal_step() {
  python3 - "$WORK/$1/state" <<'PY'
import glob, json, sqlite3, sys
for path in glob.glob(sys.argv[1] + "/*.db"):
    db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
    try:
        row = db.execute("select entry from migrations order by started desc limit 1").fetchone()
    except sqlite3.Error:
        continue
    if row:
        print(json.loads(row[0])["step"])
PY
}
journal_is() { is "$(journal_step "$1")" "$2"; }

# job NAME: one that counts in a volume and goes on from there.
job() {
  must at h1 run -d --name "$1" --network none --restart always -v "$1:/ckpt" --label flowcon.migrate=app \
    --label flowcon.enable=true "$IMAGE" sh -c \
    "trap 'echo x >>/ckpt/log; exit 0' TERM; while :; do echo x >>/ckpt/log; echo loss: 1; sleep 0.2; done"
  must wait_until "$PATIENCE" knows h1 "$1"
}
# between NAME H1-FAILPOINTS H2-FAILPOINTS [HOST STEP]: both hosts up, the job on h1, its move to h2 asked for; the
# journal of HOST is locked from STEP on.
between() {
  FLOWCON_FAILPOINTS=$2 host_up h1
  FLOWCON_FAILPOINTS=$3 host_up h2
  must wait_until "$PATIENCE" both_reach
  job "$1"
  [ $# = 3 ] || lock_at "$4" "$5"
  must wait_until "$PATIENCE" host_api h1 POST "/v1/containers/$1/migrate" '{"host":"h2"}'
}
over() { has_ended h1 "$1" && has_ended h2 "$1"; }
stands_on() { not runs_on "$1" "$2"; }
policy_is() { is "$(at "$1" inspect -f '{{.HostConfig.RestartPolicy.Name}}' "$2" 2>&1)" "$3"; }
clear_away() {
  host_stop h1
  host_stop h2
  at h1 rm -f -v "$1" >/dev/null 2>&1 || :
  at h2 rm -f -v "$1" >/dev/null 2>&1 || :
}
# --- a source whose disk is slow at the hand-over -------------------------------------------------------

between slow move.source.transfer:6 '' h1 transfer
must wait_until "$PATIENCE" is_locked
eventually "the target is ready, and waits to be told" at_step h2 slow ready
# writes_in_vain: has it heard that, and tried? Notes what is told, and where it runs.
writes_in_vain() {
  { host_api h1 GET /v1/moves | jq -r '.moves[0].step' && running_copies slow; } >>"$WORK/told"
  host_has h1 /v1/moves '.moves[0].error | contains("locked")'
}
eventually "the source tries to write what comes next" writes_in_vain
# Once more: what is told since.
must writes_in_vain
check "no step is told that is not in the journal, and nothing starts" is "$(sort -u "$WORK/told")" transfer
host_kill h1
unlock
check "the journal of a source that was killed then says transfer" journal_is h1 transfer
host_up h1
eventually "the migration is undone" over slow
eventually "and one copy runs, at the source" runs_only_on h1 slow
check "with its restart policy" policy_is h1 slow always
clear_away slow

# --- a target whose journal cannot be written when the copy has run --------------------------------------

between torn '' move.target.start:6 h2 start
must wait_until "$PATIENCE" is_locked
eventually "the copy runs" runs_on h2 torn
eventually "that its journal cannot be written is shown" host_has h2 /v1/moves '.moves[0].error | contains("locked")'
check "the source keeps its container meanwhile" is "$(at h1 inspect -f '{{.State.Status}}' torn)" exited
at h2 kill torn >/dev/null
must wait_until "$PATIENCE" stands_on h2 torn
unlock
eventually "the move ends once it can be written" over torn
check "on the target, where a person stopped the copy" journal_is h2 "done"
check "which stays stopped" is "$(at h2 inspect -f '{{.State.Status}}' torn)" exited
check "with its restart policy" policy_is h2 torn always
clear_away torn

# --- a target whose engine ends before the copy has shown that it runs on ---------------------------------

# hesitates NAME: a job that is slow to show its first value where it goes on from a checkpoint, saves when it
# is asked to, and that no engine starts again.
hesitates() {
  must at h1 run -d --name "$1" --network none -v "$1:/ckpt" --label flowcon.migrate=app --label flowcon.enable=true \
    --label flowcon.checkpoint.confirm=8 "$IMAGE" sh -c \
    "trap 'echo x >>/ckpt/log; exit 0' TERM
     [ ! -s /ckpt/log ] || { sleep 60 & wait; }
     while :; do echo loss: 1; sleep 0.2; done"
  must wait_until "$PATIENCE" knows h1 "$1"
}
engine2() { ENGINE_DIR=$WORK/engine2 ENGINE_CGROUP=$(engine_recall "$WORK/engine2" cgroup) "$@"; }
# The next one does not start as long as the pid of the one before stands for a process.
engine2_killed() {
  local process
  process=$(engine_recall "$WORK/engine2" dockerd | cut -d: -f1)
  kill -KILL "$process"
  wait_until 30 not kill -0 "$process"
}
# It takes longer to end than the copy: another container does not end when it is told to.
engine2_slow() {
  at h2 run -d --name stubborn --network none --stop-timeout 20 "$IMAGE" sleep 600 >/dev/null || return 1
  engine2 engine_down
}
# flowcond ends before its engine, as at a shutdown.
engine2_last() {
  host_stop h2
  engine2 engine_down
}
engine2_back() { [ ! -e "$WORK/engine2/engine.state" ] || engine2 engine_up; }
at_exit engine2_back
# hesitant NAME: its copy runs on h2 and has yet to show that it runs on.
hesitant() {
  host_up h1
  host_up h2
  must wait_until "$PATIENCE" both_reach
  hesitates "$1"
  must wait_until "$PATIENCE" host_api h1 POST "/v1/containers/$1/migrate" '{"host":"h2"}'
  must wait_until "$PATIENCE" runs_on h2 "$1"
}
for way in 'engine2 engine_down' engine2_killed engine2_slow engine2_last; do
  job=unproven-${way##*[ _]}
  hesitant "$job"
  check "the copy has not shown that it runs on" at_step h2 "$job" start
  $way
  must engine2 engine_up
  host_runs h2 || host_up h2
  eventually "the move ends after $way" over "$job"
  check "on the target" journal_is h2 "done"
  check "where the copy runs, which its engine had ended with status 0" runs_only_on h2 "$job"
  clear_away "$job"
done
at h2 rm -f stubborn >/dev/null

hesitant told
host_kill h1
at h2 stop told >/dev/null
eventually "a copy that a person stops is that" at_step h2 told confirm
host_stop h2
engine2 engine_down
must engine2 engine_up
host_up h2
host_up h1
eventually "its move ends when the source is back" over told
check "on the target" journal_is h2 "done"
check "where it stays stopped, whatever its engine has forgotten" stands_on h2 told
clear_away told

# --- a source that is started again by somebody else after the hand-over ------------------------------------

between twice '' move.target.start:10
must wait_until "$PATIENCE" at_step h2 twice start
must wait_until "$PATIENCE" at_step h1 twice start
at h1 start twice >/dev/null
eventually "what is started after the hand-over is stopped again" stands_on h1 twice
# By the engine's own times.
life=$(at h1 inspect -f '{{.State.StartedAt}} {{.State.FinishedAt}}' twice)
say "# it ran for $(printf '%.2f' "$(($(date -d "${life#* }" +%s%N) - $(date -d "${life% *}" +%s%N)))e-9") s"
check "which is told" host_has h1 /v1/status '.warnings | any(contains("was started here after its hand-over"))'
eventually "the move ends on the target" over twice
check "with one copy" runs_only_on h2 twice
clear_away twice

# --- a source that is killed while the job saves ------------------------------------------------------------

# slowly NAME: saves for five seconds.
slowly() {
  must at h1 run -d --name "$1" --network none -v "$1:/ckpt" --label flowcon.migrate=app --label flowcon.checkpoint.timeout=20 \
    --label flowcon.enable=true "$IMAGE" sh -c \
    "trap 'echo saving; sleep 5; echo x >>/ckpt/log; echo saved; exit 0' TERM; while :; do echo loss: 1; sleep 0.2; done"
  must wait_until "$PATIENCE" knows h1 "$1"
}
has_said() { holds "$(at h1 logs "$1" 2>&1)" "$2"; }
host_up h1
host_up h2
must wait_until "$PATIENCE" both_reach
slowly slowly
must wait_until "$PATIENCE" host_api h1 POST /v1/containers/slowly/migrate '{"host":"h2"}'
must wait_until "$PATIENCE" has_said slowly saving
host_kill h1
host_up h1
eventually "a job that saves while flowcond is started anew saves" has_said slowly saved
eventually "and goes on where it was" runs_only_on h1 slowly
clear_away slowly

# --- a source that is started again while its data is sent ---------------------------------------------------

between again move.source.transfer:4 ''
must wait_until "$PATIENCE" at_step h1 again transfer
must at h1 start again
must at h1 stop -t 10 again
eventually "what was started and has ended during the transfer is not handed over" over again
check "its move was undone" journal_is h1 undone
check "it goes on where it was" runs_only_on h1 again
clear_away again

# --- flowcond is stopped in the middle ------------------------------------------------------------------

between term move.source.transfer:60 ''
must wait_until "$PATIENCE" at_step h1 term transfer
host_stop h1
check "a source that is stopped before the hand-over leaves the job running" runs_only_on h1 term
check "with its restart policy" policy_is h1 term always
check "and its journal says undone" journal_is h1 undone
host_up h1
eventually "the target gives up what it had reserved" over term
clear_away term

finish_pair
