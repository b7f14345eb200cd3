#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What jobs print and what engines make of it: rotation, escape codes, bytes that are no text, lines
# without an end, values that are no numbers, labels that are wrong, logs that cannot be read.
# usage: logs.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The longest line there is: 1 GiB, and less where the disk has no room for its log.
BIG_LINE_MIB=1024
MOST_MEMORY_KIB=65536

# values NAME: the recorded values of a container, as JSON on one line.
values() { records "$1" | jq -c '[.samples[][1]]'; }
values_are() { is "$(values "$1")" "$2"; }
# keeps_fair_share NAME: on NL with limit 1, and by the kernel's weight not less than it had.
keeps_fair_share() {
  local there
  container_has "$1" '.list == "NL" and .limit == 1' || return 1
  there=$(weight "$1")
  printf 'weight %s\n' "$there"
  # What converged jobs give up may have come to it.
  [ "$there" -ge "$DEFAULT_WEIGHT" ]
}

# series N GROUP BYTES THEN: a container's script that prints N values, in groups every 0.2 s, with so
# many bytes behind each, and goes on with THEN.
series() {
  # shellcheck disable=SC2016 # for the container's shell
  printf 'i=0; pad=$(head -c %d /dev/zero | tr "\\0" .); while [ $i -lt %d ]; do i=$((i+1)); ' "$3" "$1"
  # shellcheck disable=SC2016
  printf 'echo "step $i/%d loss: $((5000 - i)).5 $pad"; [ $((i %% %d)) -ne 0 ] || sleep 0.2; done; %s' "$1" "$2" "$4"
}
series_values() { jq -nc "[range(1; $1 + 1) | 5000.5 - .]"; }

begin "$@"

# --- rotation -----------------------------------------------------------------------------------------

rotated=(--log-opt max-size=20k --log-opt max-file=3)
prints early1 "$(series 60 100 700 'sleep 600')" "${rotated[@]}"
files_of() { find "$(dirname "$(log_file "$1")")" -name '*-json.log*' | wc -l; }
has_files() { [ "$(files_of "$1")" -ge "$2" ]; }
eventually "the engine rotates a log before flowcond starts" has_files early1 3
start_flowcond
prints rotate1 "$(series 400 4 360 'sleep 600')" "${rotated[@]}"
eventually "a log that was rotated before is read from its oldest file on, each value once" values_are early1 "$(series_values 60)"

# --- what is printed ------------------------------------------------------------------------------------

prints colours "printf '\\033[1;32mepoch 1/3\\033[0m \\033[33mloss: 0.9\\033[0m\\n\\033[2Kepoch 2/3 loss: \\033[31m0.5\\033[m\\nepoch 3/3 loss: 0.25\\033]0;title\\007\\n'; sleep 600"
prints bars "for i in 1 2 3 4 5; do printf '\\rtraining: %d%%|##        | %d/9 [00:0%d<00:05, 1.00it/s, loss=0.%d]' \$((i*11)) \$i \$i \$((9-i)); sleep 0.1; done; echo; sleep 600"
prints bytes "printf 'loss: 0.9 \\377\\376\\200\\nloss\\377: 7\\n\\300\\257\\nloss: 0.5 caf\\303\\nloss: 0.25\\000\\n'; sleep 600" --label "flowcon.metric=loss"
prints strange "printf 'loss: 0.5\\nloss: nan\\nloss: inf\\nloss: 1e999\\nloss: -1e999\\nloss: -inf\\nloss: 0.25\\n'; while :; do echo loss: nan; sleep 0.2; done" --label "flowcon.metric=loss"
prints words "while :; do echo 'nothing to see here'; sleep 0.2; done"
prints quiet "sleep 600"
job deleted1 learn --label flowcon.enable=true
job cut1 learn --label flowcon.enable=true

eventually "escape codes are no part of a value" values_are colours '[0.9,0.5,0.25]'
eventually "a progress bar drawn over itself is a line each time" values_are bars '[0.8,0.7,0.6,0.5,0.4]'
check "and its counter is the progress" container_has bars '.progress == {"done":5,"total":9,"from":"counter"} and .metric == "loss"'
eventually "bytes that are no UTF-8 do not hide the values beside them" values_are bytes '[0.9,0.5,0.25]'
first_values() { is "$(records "$1" | jq -c '[.samples[0:7][][1]]')" "$2"; }
eventually "nan, inf and numbers beyond a double are values as they were printed" first_values strange '[0.5,"nan","inf","inf","-inf","-inf",0.25]'
eventually "a loss that is no number is diverging" container_has strange '.verdict == "diverging" and .value == "nan" and (.note | contains("keeps its fair share"))'
eventually "a log without a metric: the status says so" container_has words '.verdict == "no metric" and (.note | test("no metric found in [0-9]+ lines yet; the container keeps its fair share"))'
eventually "a log without a line: the status says so" container_has quiet '.note == "no output yet; the container keeps its fair share"'

# --- what cannot be read, and wrong labels ---------------------------------------------------------------

prints none1 "while :; do echo loss: 0.5; sleep 1; done" --log-driver none
job regex1 flat --label flowcon.enable=true --label 'flowcon.pattern=loss: ((' --label flowcon.floor=7
job typo1 flat --label flowcon.metrik=loss
job maybe1 flat --label flowcon.enable=maybe
eventually "the log driver none keeps nothing, and the status says so" container_has none1 '.state == "unsupported" and (.note | contains("log driver none keeps nothing that could be read") and contains("--log-driver json-file"))'
eventually "a regular expression that is none is a warning that shows it" container_has regex1 '.warnings | any(contains("label flowcon.pattern: ") and contains("missing )"))'
check "and the job gets no metric at all" container_has regex1 '.values == 0 and .note == "no metric: a label is wrong; the container keeps its fair share"'
check "a value out of its range is a warning that says the range" container_has regex1 '.warnings | any(contains("label flowcon.floor: \"7\" is not a number above 0, at most 1"))'
eventually "an unknown label is a warning that says what may have been meant" container_has typo1 '.warnings == ["label flowcon.metrik: unknown label; did you mean flowcon.metric"]'
check "and the job is controlled all the same" container_has typo1 '.state == "controlled"'
eventually "an enable that is neither true nor false is no control, and shown" container_has maybe1 '.state == "unsupported" and (.warnings[0] | contains("neither true nor false"))'

# --- a log that is taken away ----------------------------------------------------------------------------

eventually "a log is read" container_has deleted1 '.values > 5'
file=$(log_file deleted1)
rm "$file"
before=$(status '.containers[] | select(.name == "deleted1") | .values')
eventually "its values go on when its file is deleted, since the engine writes on" container_has deleted1 ".values > $before + 5"
file=$(log_file cut1)
# What is truncated before anybody has read it is lost, so the job is silent meanwhile.
job_mode cut1 silent
# From the first decision to the second an interval passes, and with it what the job still printed.
await_decisions cut1 2
all_values() { container_has cut1 ".values == $(grep -c loss "$file")"; }
must wait_until "$PATIENCE" all_values
before=$(status '.containers[] | select(.name == "cut1") | .values')
: >"$file"
job_mode cut1 learn
eventually "a log that was truncated is read on" container_has cut1 ".values > $before + 5"
job_mode cut1 silent
each_value_once() {
  records cut1 | jq -c '[.samples[][1]]' | tee /dev/stderr |
    jq -e "length > $before + 5 and . == [range(1; length + 1) | 1000000 - 2000 * .]" >/dev/null
}
eventually "each value once" each_value_once

# --- a line without an end ----------------------------------------------------------------------------

[ "$(df -Pm "$WORK" | awk 'NR == 2 {print $4}')" -gt 4000 ] || BIG_LINE_MIB=300

prints endless "head -c $((BIG_LINE_MIB << 20)) /dev/zero | tr '\\0' x; echo ' loss: 0.5'; echo 'loss: 0.25'; sleep 600" --label flowcon.metric=loss
answers_in_time() { curl -sS -o "$WORK/answer" --max-time 2 --unix-socket "$SOCKET" http://flowcon/v1/status; }
line_is_read() {
  answers_in_time || return 2
  container_has endless '.value == 0.25'
}
started=$SECONDS
check "a line of $BIG_LINE_MIB MiB is read to its end, and the values behind it" wait_until 240 line_is_read
say "# it took $(seconds_since "$started") s; the log has $(du -m "$(log_file endless)" | cut -f1) MiB"
check "flowcond answers within two seconds" answers_in_time
memory=$(flowcond_memory)
check "it never used more than $MOST_MEMORY_KIB KiB of memory" [ "$memory" -le "$MOST_MEMORY_KIB" ]
say "# the most it used was $memory KiB"
docker rm -f endless >/dev/null

# --- what all of them have in common ---------------------------------------------------------------------

for name in strange words quiet regex1; do
  check "$name keeps its fair share" keeps_fair_share "$name"
done
for name in none1 maybe1; do
  check "$name is left alone" is "$(weight "$name")" "$DEFAULT_WEIGHT"
done
must wait_until 120 container_has rotate1 '.progress.done == 400'
has_lost_its_beginning() { ! grep -q 'step 1/' "$(log_file rotate1)"*; }
check "the engine has thrown away the first files of a long log" has_lost_its_beginning
eventually "a log that is rotated while it is read: no value is lost or recorded twice" values_are rotate1 "$(series_values 400)"
check "flowcond still runs" flowcond_runs
check "its log has no error" flowcond_is_calm
stop_flowcond
start_flowcond
eventually "a restarted flowcond reads the logs again" container_has colours '.values == 3'
await_decisions colours 2
check "and records no value twice" values_are colours '[0.9,0.5,0.25]'
check "nor loses one that the engine has thrown away since" values_are rotate1 "$(series_values 400)"
docker restart -t 0 colours >/dev/null
eventually "a restarted container's log goes on: the new values are added" values_are colours '[0.9,0.5,0.25,0.9,0.5,0.25]'
stop_flowcond
check "SIGTERM ends it with status 0" is "$DAEMON_STATUS" 0

finish
