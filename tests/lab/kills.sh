#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Random kills: a job moves back and forth between two hosts, one of which has a slow disk, and in each move one of the
# two flowcond is killed at a moment that nobody chose. After each exactly one copy runs, it went on from what it
# saved last or later, nothing is left over; at no moment two copies ran.
#
#   FLOWCON_TEST_KILLS=N   so many (200); only those count that struck before the victim's side of the move was over
#   FLOWCON_TEST_SEED=N    the same moments and victims once more
#   FLOWCON_TEST_PAIRS=N   pairs of hosts that work side by side (4)
# usage: kills.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"
# shellcheck source-path=SCRIPTDIR source=breaks.sh
. "$(dirname "${BASH_SOURCE[0]}")/breaks.sh"

KILLS=${FLOWCON_TEST_KILLS:-200}
SEED=${FLOWCON_TEST_SEED:-$$}
PAIRS=${FLOWCON_TEST_PAIRS:-4}
SETTLE=180 # seconds within which a move has to be over after its flowcond is back
SLOW=3000  # milliseconds that a sync takes at most on the slow disk
JOB=job
# Silence is not looked at here: a slow host may be late.
POLICY=${POLICY/heartbeat = 1/heartbeat = 3}

# --- what has to be true --------------------------------------------------------------------------

# kinds HOST: its traces, whatever the engine called the copy this time.
kinds() { traces "$1" | sed -E 's/[0-9a-f]{64}/ID/g' | sort; }
# A host as it was, without the job or with it.
keep_kinds() { kinds "$1" >"$WORK/$1.$2"; }
as_before() { diff "$WORK/$1.$2" <(kinds "$1"); }

# resumed_right HOST: in the log of its whole life, at each start it went on from what it had saved last, or later.
resumed_right() {
  on "$1" docker flowcon logs "$JOB" 2>/dev/null | awk '
    $1 == "saved" && $2 > saved {saved = $2}
    $1 == "resumed" && $2 < saved {print "it resumed at", $2 ", saved was", saved; bad = 1}
    /^no checkpoint/ {print; bad = 1}
    END {if (!NR) print "its log is empty"; exit bad || !NR}'
}
last_saved() { on "$1" docker logs "$JOB" 2>/dev/null | sed -n 's/^saved //p' | tail -n 1; }
went_on() {
  local step
  step=$(steps "$1" "$JOB")
  [ "${step:-0}" -ge "$2" ] || { printf 'at step %s, saved was %s\n' "${step:-none}" "$2"; return 1; }
}

# --- one kill -------------------------------------------------------------------------------------

# A move from $1 to $2 and nothing else.
quiet_move() { move "$1" "$JOB" "$2" && wait_until "$SETTLE" all_is_over "$JOB"; }

# open_step HOST: where the move is there; nothing: over.
open_step() { moves "$1" "[.moves[] | select(.name == \"$JOB\" and (.ended | not))][0] // empty | .side + \".\" + .step" 2>/dev/null || :; }

# kill_once FROM TO VICTIM DELAY DOWN: prints "FAIL …" for what is wrong, "ran HOST SECONDS" and "struck STEP".
kill_once() {
  local from=$1 to=$2 victim=$3 began floor ran seen host struck
  floor=$(last_saved "$from") || floor=''
  watch_copies
  # Its peer may not have noticed yet that the flowcond of before has gone.
  seen=$(wait_until 150 move "$from" "$JOB" "$to" --detach 2>&1) || { fails "the move does not begin" "$seen"; return; }
  pause "$4"
  struck=$(open_step "$victim")
  flowcond_kill "$victim"
  pause "$5"
  began=$SECONDS
  flowcond_up "$victim"
  printf 'struck %s\n' "${struck:-after}"
  seen=$(wait_until "$SETTLE" all_is_over "$JOB") || fails "it is not over" "$seen"
  holds_true "exactly one copy" exactly_one_runs "$JOB"
  holds_true "at no moment two copies" watched
  ran=$(copies "$JOB" | head -n 1)
  [ -n "$ran" ] || return 0
  seen=$(wait_until 30 goes_on "$ran" "$JOB") || fails "it does not go on" "$seen"
  holds_true "its last checkpoint" went_on "$ran" "${floor:-0}"
  holds_true "each of its checkpoints" resumed_right "$ran"
  for host in "$S" "$T"; do
    seen=$(wait_until 30 as_before "$host" "$([ "$host" = "$ran" ] && echo with || echo without)") || fails "left on $host" "$seen"
  done
  seen=$(wait_until 150 both_reach) || fails "the peers do not reach each other" "$seen" # their back-off ends at 75 s
  printf 'ran %s %s\n' "$ran" "$(seconds_since "$began")"
}

# --- a pair ---------------------------------------------------------------------------------------

# The job on S, and how both hosts are with it and without it: measured after it was on each once.
set_out() {
  local host
  disk "$S"
  disk "$T"
  for host in "$S" "$T"; do on "$host" docker rm -f -v "$JOB" >/dev/null 2>&1 || :; done
  must wait_until 150 both_reach
  counter "$S" "$JOB" --restart always -v "$JOB:/ckpt"
  must wait_until 60 goes_on "$S" "$JOB"
  must wait_until 60 cluster_has "$S" "any(.containers[]; .name == \"$JOB\")"
  must quiet_move "$S" "$T"
  keep_kinds "$S" without && keep_kinds "$T" with
  must quiet_move "$T" "$S"
  keep_kinds "$S" with && keep_kinds "$T" without
}

# next_kill: its number, as long as there are any.
next_kill() { flock "$WORK/left" sh -c 'read -r left <"$1" && [ "$left" -gt 0 ] && echo $((left - 1)) >"$1"' next "$WORK/left"; }
give_back() { flock "$WORK/left" sh -c 'read -r left <"$1" && echo $((left + 1)) >"$1"' back "$WORK/left"; }

# Uniform from 0 to $1.
random() { awk -v r="$RANDOM" -v most="$1" 'BEGIN {printf "%.2f", most * r / 32767}'; }

worker() {
  local n=0 from to victim delay down within=10 out=$WORK/kill.$1
  RANDOM=$((SEED + $1))
  set_out
  from=$S to=$T
  while next_kill; do
    n=$((n + 1))
    delay=$(random "$within") down=$(random 3)
    victim=$([ $((RANDOM % 2)) = 0 ] && echo "$S" || echo "$T")
    # A flowcond that was started anew begins with the same delays, unless this is another number.
    disk "$T" "slow $SLOW $RANDOM *.db*"
    (kill_once "$from" "$to" "$victim" "$delay" "$down") >"$out" 2>&1 || printf 'FAIL it ended before its end: %s\n' "$(tail -n 2 "$out" | paste -sd';')" >>"$out"
    grep -q '^ran' "$out" || printf 'FAIL it ended in the middle\n' >>"$out"
    # The moments follow how long a move takes here.
    if grep -q '^struck after' "$out"; then
      within=$(awk -v w="$within" 'BEGIN {print w * 0.85}')
      give_back
    else
      within=$(awk -v w="$within" 'BEGIN {print w < 30 ? w * 1.07 : w}')
    fi
    { printf 'kill %s %s %s %s %s %s\n' "$1.$n" "$from" "$to" "$victim" "$delay" "$down"; cat "$out"; } >"$WORK/done.$1.$n"
    mv "$WORK/done.$1.$n" "$WORK/results/$1.$n"
    if grep -q '^FAIL' "$out"; then
      keep_logs "$1.$n"
      clean_up
      set_out
      from=$S to=$T
      continue
    fi
    from=$(sed -n 's/^ran \(h[0-9]*\) .*/\1/p' "$out")
    to=$([ "$from" = "$S" ] && echo "$T" || echo "$S")
  done
}

# --- the whole --------------------------------------------------------------------------------------

# report FILE: one kill as a check.
report() {
  local number from to victim delay down ran='no host' seconds='?' struck='?' line failed='' side=source moment
  while read -r line; do
    case $line in
      kill\ *) read -r _ number from to victim delay down <<<"$line" ;;
      ran\ *) read -r _ ran seconds <<<"$line" ;;
      struck\ *) struck=${line#struck } ;;
      FAIL\ *) failed+="${line#FAIL }"$'\n' ;;
    esac
  done <"$1"
  [ "$victim" = "$from" ] || side=target
  case $ran in "$from") ran=source ;; "$to") ran=target ;; esac
  moment=$([ "$struck" = after ] && echo "after the move" || echo "at ${struck#*.}")
  result "$([ -z "$failed" ] && echo 0 || echo 1)" \
    "kill $number, of the $side's flowcond $moment (${delay} s, for ${down} s): one copy, on the $ran, after $seconds s" "$failed"
  printf '%s %s %s\n' "$([ "$struck" = after ] && echo after || echo "$side.${struck#*.}")" "$ran" "$([ -z "$failed" ] && echo ok || echo FAIL)" >>"$WORK/table"
}

write_table() {
  local out=$FLOWCON_TOP/build/test/kills.md
  mkdir -p "${out%/*}"
  {
    printf '| killed at | kills | all well | then on the source | on the target |\n| --- | --- | --- | --- | --- |\n'
    sort "$WORK/table" | awk '{n[$1]++; ok[$1] += $3 == "ok"; at[$1, $2]++}
      END {for (s in n) printf "| %s | %d | %d | %d | %d |\n", s, n[s], ok[s], at[s, "source"], at[s, "target"]}' | sort
    awk '$1 != "after" {n++; ok += $3 == "ok"} END {printf "\n%d of %d kills within a move: one copy at each moment, no lost checkpoint, nothing left over.\n", ok, n}' "$WORK/table"
  } >"$out"
  cat "$out"
}

main() {
  have gcc || nothing_runs "gcc is not installed (scripts/setup)"
  begin_lab $((2 * PAIRS)) --cores 1 --disk 1G
  : >"$WORK/table"
  printf '%s\n' "$KILLS" >"$WORK/left"
  # shellcheck disable=SC2046 # a word a host
  disks_can_break $(seq -f 'h%g' $((2 * PAIRS)))
  make_pairs "$PAIRS"
  say "$KILLS kills with seed $SEED, in $PAIRS pairs of hosts"
  lead_workers "$PAIRS"
  check "there were $KILLS kills within a move (seed $SEED)" is "$(grep -vc '^after' "$WORK/table")" "$KILLS"
  write_table
  finish_lab
}

main
