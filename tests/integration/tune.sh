#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docker flowcon tune: short trainings are recorded, replayed with other settings, and what it writes is
# read by flowcond.
# usage: tune.sh BINDIR
# shellcheck disable=SC2317,SC2119,SC2016 # functions are called by name; scripts of containers are quoted
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin "$@"
flowcon() { "$BIN/docker-flowcon" flowcon --socket "$SOCKET" "$@"; }
conf_dir=$WORK/flowcond.conf.d
mkdir "$conf_dir"

# learner NAME: one process that learns to its end. settled NAME: two that have soon learnt all.
# A step is a second of work, however fast the machine is.
step='i=$((i + 1)); busybox timeout 1 yes >/dev/null'
learner() { prints "$1" 'i=0; while [ $i -lt 12 ]; do '"$step"'; echo "epoch $i/12 loss: $((3100 - 250 * i))"; done'; }
settled() {
  prints "$1" '(i=0; while [ $i -lt 12 ]; do '"$step"'; done) &
    i=0; while [ $i -lt 12 ]; do '"$step"'; echo "epoch $i/12 loss: $((100 + 3000 / (i * i * i)))"; done; wait'
}
has_ended() { records_have "$1" '.finished != null and (.samples | length) >= 8 and (.usage | length) >= 2'; }

# --- recorded ---------------------------------------------------------------------------------------

start_flowcond --limit-mode quota --alpha 0.003
check "without runs it says what it takes" fails_with 1 "it takes 3 ended runs" flowcon tune
for i in 1 2; do
  learner "learner$i"
  settled "settled$i"
  eventually "a learner has ended" has_ended "learner$i"
  eventually "a settled one, too" has_ended "settled$i"
done
job running1 learn --label flowcon.enable=true
eventually "one still runs" container_has running1 '.values > 3'
history=$WORK/history.json
check "the history is saved" is "$(flowcon tune --since 1h --save "$history" 2>"$WORK/said")" "$history"
check "with what is left out" grep -q "^4 runs on .*; left out: 1 not ended$" "$WORK/said"
check "the present setting is in it" is "$(jq -r '"\(.policy) \(.limit_mode) \(.alpha) \(.initial_interval) \(.observe)"' "$history")" "flowcon quota 0.003 1 1"
check "each run has its counter" is "$(jq '[.runs[] | select(.counter)] | length' "$history")" 4
check "runs of one command are one training" is "$(jq '[.runs[].training] | unique | length' "$history")" 2
check "which is not told" not grep -q zero "$history"
# One process has one core at most; of how much of it other programs leave, nothing is known.
check "a learner used no more than a core" is "$(jq '[.runs[] | select(.name | startswith("learner")) | .cores > 0.02 and .cpu_seconds / .seconds < 1.05] | all' "$history")" true
check "the CPU time is that of the looks" is \
  "$(jq '[.runs[] | .cpu_seconds > 0.05 and .cpu_seconds <= 1.01 * .seconds * .cores] | all' "$history")" true
check "a run took its twelve seconds" is "$(jq '[.runs[] | .seconds >= 11 and .seconds < 40] | all' "$history")" true
check "flowcond's history is replayed" holds "$(flowcon tune --since 1h 2>"$WORK/said")" "none (current)"
check "with what the simulator does not know" grep -q "These numbers are simulated" "$WORK/said"
check "the saved one gives the same" \
  is "$(flowcon tune --from "$history" --format json 2>/dev/null)" "$(flowcon tune --since 1h --format json 2>/dev/null)"

# --- a file alone, and what comes of it ---------------------------------------------------------------

# The same day eight times: now there is enough to tell settings apart. All that this machine measured is as
# it would have been on two idle cores: of each pair one needs one core, the other both, for twelve steps.
week=$WORK/week.json
jq 'def points(value): [range(1; 13) | [. / 12, value]];
  .cores = 2 | .runs = [range(8) as $day | .runs | sort_by(.name)[] | (.name | startswith("settled")) as $settled |
    .started = 1790000000 + $day * 1000 + (.name[-1:] | tonumber) * 100 + (if $settled then 1 else 0 end) |
    .seconds = 12 | .values = 12 | .cores = (if $settled then 2 else 1 end) | .cpu_seconds = 12 * .cores |
    .points = if $settled then points(100 + 3000 / (. * . * .)) else points(3100 - 250 * .) end]' "$history" >"$week"
# recommended FILE: of the settings in it the one to take, in $WORK/said why; nothing where there is none.
recommended() {
  flowcon tune --from "$1" --format '{{if .Recommended}}{{.Policy}} {{.LimitMode}} {{.Alpha}} {{.Beta}} {{.Interval}} of {{.Runs}}{{end}}' 2>"$WORK/said" |
    sed '/^$/d'
}
wanted=$(recommended "$week") || :
check "caps are found to waste what others leave" grep -q "^Best is: " "$WORK/said"
check "by all runs of the file" holds "$wanted" " of 32"
check "what is recommended has none" holds "$wanted" " weight "
# Under milestone caps waste as much, and weights nothing.
jq '.policy = "milestone"' "$week" >"$WORK/capped.json"
check "caps of milestone are found out, too" holds "$(recommended "$WORK/capped.json")" " weight "
check "with what the change is" grep -q "^Best is: .*limit-mode weight" "$WORK/said"
jq '.policy = "milestone" | .limit_mode = "weight"' "$week" >"$WORK/milestone.json"
check "milestone with weights is as good as any" is "$(recommended "$WORK/milestone.json")" ""
check "and that is said" grep -q "^The current setting is as good as any" "$WORK/said"
check "the other policy was compared" \
  holds "$(flowcon tune --from "$WORK/milestone.json" --format '{{.Change}}' 2>/dev/null)" "policy flowcon"
check "without --apply nothing is written" is "$(ls "$conf_dir")" ""
check "a folder that is not there is told first" fails_with 1 "No such file" flowcon tune --from "$week" --apply --config-dir "$WORK/none"
may_not_write() {
  chmod 755 "$WORK" && chmod 644 "$week" &&
    fails_with 1 "(sudo docker flowcon tune --apply)" setpriv --reuid 65534 --regid 65534 --clear-groups \
      "$BIN/docker-flowcon" flowcon tune --from "$week" --apply --config-dir "$conf_dir"
}
check "and who may not write what to do" may_not_write
check "--apply says how flowcond takes it" holds "$(flowcon tune --from "$week" --apply --config-dir "$conf_dir" 2>&1)" "sudo systemctl reload flowcond"
check "one file is written" is "$(ls "$conf_dir")" "90-tune.conf"
check "readable by all, writable by its owner" is "$(stat -c %a "$conf_dir/90-tune.conf")" 644
check "with how to undo it" grep -q "^# To undo: rm $conf_dir/90-tune.conf" "$conf_dir/90-tune.conf"
configured() { "$BIN/flowcond" --config "$WORK/flowcond.conf" --print-config; }
check "flowcond reads it" is "$(configured | grep -c "90-tune.conf:")" 6
status_setting() { status '"\(.policy) \(.limit_mode) \(.alpha) \(.beta) \(.initial_interval)"'; }
stop_flowcond
check "flowcond had no fault of its own" flowcond_is_calm
start_flowcond
check "and starts with it" is "$(status_setting)" "${wanted% of 32}"
rm "$conf_dir/90-tune.conf"
kill -HUP "${DAEMON%%:*}"
is_default() { is "$(status_setting)" "flowcon weight 0.03 2 1"; }
eventually "without it all is as before, after a reload" is_default
check "a damaged history is told with its place" fails_with 1 "runs[2].cores: must be" \
  flowcon tune --from <(jq '.runs[2].cores = "many"' "$week")

finish
