# SPDX-License-Identifier: Apache-2.0
#
# What bench/real and bench/real-cluster share: their options, and the loop over what is still to be done.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # the options are variables of the caller

REAL_OPTIONS=(scale schedules policies alpha interval repeat seed jobs again others patience contention)

real_py() {
  PYTHONPATH=$FLOWCON_TOP/bench/lib:$FLOWCON_TOP/scripts/lib PYTHONDONTWRITEBYTECODE=1 \
    python3 "$FLOWCON_TOP/bench/lib/real.py" "$@"
}

# What --help says of the options of both.
real_usage() {
  cat <<TEXT
  --scale X           factor on all times of the published schedules (default $scale)
  --schedules LIST    with commas (default $schedules)
  --policies LIST     (default $policies)
  --repeat N          so often, each time with other jobs and arrivals, the policies in turn in their order and
                      the other way round (default $repeat)
  --seed N            of the first repetition (default $seed)
  --jobs N            only the first N jobs of each schedule (default: all)
  --others PERCENT    a run in which others than the jobs took more of the CPU, or more of it was stolen, does
                      not count (default $others)
  --again N           and is done again so often, after all others (default $again)
  --patience SECONDS  how long to wait for a quiet machine before a run (default $patience)
  --contention X      what the simulator takes sharing to cost (default $contention)
  --table             only the table of what there is
  --quick             shows that it runs, not more
TEXT
}

# real_option WORD VALUE: takes one of REAL_OPTIONS; fails for another word.
real_option() {
  local name=${1#--}
  [[ " ${REAL_OPTIONS[*]} " == *" $name "* && $1 == --* ]] || return 1
  [ $# -ge 2 ] || usage_error "$1 needs a value"
  case $name in
    repeat | seed | jobs | again) [[ $2 =~ ^[0-9]{1,6}$ ]] || usage_error "$1 takes a whole number, not '$2'" ;;
    scale | others | patience | contention) [[ $2 =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage_error "$1 takes a number, not '$2'" ;;
    alpha | interval) [[ $2 =~ ^[0-9]+(\.[0-9]+)?(,[0-9]+(\.[0-9]+)?)*$ ]] || usage_error "$1 takes numbers with commas, not '$2'" ;;
  esac
  printf -v "$name" %s "$2"
}

# real_plan KIND CORES HOSTS IMAGE: what is to be done, and how long it takes.
real_plan() {
  real_py plan "$FOLDER" --kind "$1" --cores "$2" --hosts "$3" --image "$4" --sim "$SIM" --scale "$scale" \
    --schedules "$schedules" --policies "$policies" --alpha "$alpha" --interval "$interval" --repeat "$repeat" \
    --seed "$seed" --jobs "$jobs" --again "$again" --others "$(awk -v x="$others" 'BEGIN {print x / 100}')" \
    --patience "$patience" --contention "$contention" || exit 1
}

# real_loop COMMAND: calls COMMAND ID MEMORY OPTION... for each step until none is left. One that fails ends
# the bench; called again it goes on there.
real_loop() {
  local words
  while :; do
    words=$(real_py next "$FOLDER") || exit 1
    [ -n "$words" ] || break
    IFS=$'\t' read -ra words <<<"$words"
    "$@" "${words[@]}"
  done
  real_py table "$FOLDER" --sim "$SIM"
}
