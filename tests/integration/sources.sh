#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Where lines come from: log drivers and their files, files inside the container, TensorBoard's event
# files; through rotation, restarts of flowcond, and links that lead out of the container.
# usage: sources.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TFEVENTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../support" && pwd -P)/tfevents.py

values() { records "$1" | jq -c '[.samples[][1]]'; }
values_are() { is "$(values "$1")" "$2"; }
# all_from_first NAME N: each of N values from the first recorded one on, once and in order.
all_values() { values_are "$1" "$(jq -nc "[range(1; $2 + 1) | 5000.5 - .]")"; }
note_has() { container_has "$1" ".note | contains(\"$2\")"; }

# series N GROUP [FILE]: a container's script that prints N values (or writes them to FILE), in groups
# every 0.2 s. Of more than 64 that come at once only some are recorded.
series() {
  # shellcheck disable=SC2016 # for the container's shell
  printf 'i=0; pad=$(head -c 300 /dev/zero | tr "\\0" .); while [ $i -lt %d ]; do i=$((i+1)); ' "$1"
  # shellcheck disable=SC2016
  printf 'echo "step $i/1000 loss: $((5000 - i)).5 $pad"%s; [ $((i %% %d)) -ne 0 ] || sleep 0.2; done; sleep 600' \
    "${3:+ >>$3}" "$2"
}

# volume NAME: its folder on the host.
volume() {
  docker volume inspect "$1" >/dev/null 2>&1 || must docker volume create "$1" >/dev/null
  docker volume inspect -f '{{.Mountpoint}}' "$1"
}
event() { "$TFEVENTS" "$@"; }

begin "$@"
start_flowcond

# --- drivers ----------------------------------------------------------------------------------------

small=(--log-opt max-size=20k --log-opt max-file=5)
prints local1 "$(series 200 4)" --log-driver local "${small[@]}"
prints packed1 "$(series 200 4)" "${small[@]}" --log-opt compress=true
prints remote1 "$(series 40 4)" --log-driver syslog --log-opt syslog-address=udp://127.0.0.1:9
prints uncached1 "$(series 40 4)" --log-driver syslog --log-opt syslog-address=udp://127.0.0.1:9 --log-opt cache-disabled=true

# --- files inside the container -----------------------------------------------------------------------

out=$(volume flowcon-test-out)
prints volume1 "mkdir /out/run; $(series 100 4 /out/run/train.log)" -v flowcon-test-out:/out --label flowcon.log=/out/run/train.log
prints root1 "mkdir /logs; $(series 40 4 /logs/train.log)" --label flowcon.log=/logs/train.log
prints json1 "echo '{\"log\":\"loss: 1\\n\"}' >/tmp/log; echo 'loss: 0.5' >>/tmp/log; echo 'loss: 0.25' >>/tmp/log; echo 'loss: 7'; sleep 600" --label flowcon.log=/tmp/log
prints escape1 "ln -s /etc/passwd /tmp/absolute; ln -s ../../../../../../../../../../etc/passwd /tmp/log; sleep 600" --label flowcon.log=/tmp/log
prints fifo1 "busybox mkfifo /tmp/log; sleep 600" --label flowcon.log=/tmp/log
prints proc1 "sleep 600" --label flowcon.log=/proc/1/fd/0
prints kernel1 "sleep 600" --label flowcon.log=/proc/version
prints wrong1 "sleep 600" --label flowcon.log=train.log
prints adopted1 "for i in 1 2 3; do echo \"loss: \$i\" >>/tmp/log; done; sleep 600" --label flowcon.enable=false

# --- event files ---------------------------------------------------------------------------------------

runs=$(volume flowcon-test-runs)
prints events1 "sleep 600" -v flowcon-test-runs:/runs --label flowcon.log=tfevents:/runs/tb --label flowcon.metric=train/loss
eventually "event files that are not there yet are waited for, and the status says so" note_has events1 "does not exist yet"
mkdir "$runs/tb"
file=$runs/tb/events.out.tfevents.1700000000.host
event "$file" --step 1 train/loss=2.5 val/accuracy=0.1
eventually "an event file that is made later is followed" container_has events1 '.value == 2.5 and .metric == "train/loss"'
for step in 2 3 4; do event "$file" --step $step --tensor train/loss=$((5 - step)).5 val/accuracy=0.$step; done
eventually "record by record, with scalars as tensors too" values_are events1 '[2.5,3.5,2.5,1.5]'
event "$file" --step 5 --half train/loss=0.75
check "half a record is none" container_has events1 '.values == 4'

event "$runs/tb/events.out.tfevents.1700000001.host" --step 6 train/loss=0.5
eventually "a newer event file goes on" values_are events1 '[2.5,3.5,2.5,1.5,0.5]'
event "$runs/tb/events.out.tfevents.1700000001.host" --step 7 --damaged train/loss=0.25
eventually "a damaged record is told" note_has events1 "is damaged"
check "and adds no value" container_has events1 '.values == 5'

# --- what came of them -----------------------------------------------------------------------------------

eventually "lines of a file in a volume are read, though it was not there at the start" all_values volume1 100
eventually "and those of a file in the container's own root" all_values root1 40
eventually "a file that looks like a log of the engine is text, and what is printed is not read" values_are json1 '[0.5,0.25]'
eventually "a link to a file of the host leads to the container's own, which is not there" note_has escape1 "the log file /tmp/log does not exist yet"
eventually "a FIFO is refused" note_has fifo1 "is not a regular file"
eventually "a link of the kernel's is refused" note_has proc1 "open /proc/1/fd/0: "
eventually "a file of the kernel's is refused" note_has kernel1 "a file of the kernel's own"
check "a path that is none is a warning" container_has wrong1 '.warnings | any(contains("label flowcon.log: the path must begin with a slash"))'
check "a running container is adopted with a log of its own" api POST /v1/containers/adopted1/adopt '{"log":"/tmp/log","metric":"loss"}'
eventually "and that is read" container_has adopted1 '.value == 3 and .values == 3'
eventually "the driver local is read through its rotations" all_values local1 200
eventually "and json-file with compressed ones" all_values packed1 200
eventually "a remote driver's cache is read" all_values remote1 40
eventually "a remote driver without a cache is left alone, and the status says why" container_has uncached1 '.state == "unsupported" and (.note | contains("keeps no cache on this host"))'
for name in escape1 fifo1 proc1 kernel1 wrong1; do
  check "$name has no value" container_has "$name" '.values == 0'
done

# --- restarts ---------------------------------------------------------------------------------------------

prints local2 "$(series 150 1)" --log-driver local "${small[@]}"
prints volume2 "$(series 150 1 /out/second.log)" -v flowcon-test-out:/out --label flowcon.log=/out/second.log
has_values() { container_has "$1" ".values >= $2"; }
must wait_until "$PATIENCE" has_values local2 15
must wait_until "$PATIENCE" has_values volume2 15
stop_flowcond
was=$(grep -c loss "$out/second.log")
# What is printed while flowcond is away, a rotation of the engine's log included.
has_more() { [ "$(grep -c loss "$out/second.log")" -gt $((was + 25)) ]; }
must wait_until "$PATIENCE" has_more
event "$runs/tb/events.out.tfevents.1700000002.host" --step 8 train/loss=0.125
start_flowcond
must wait_until "$PATIENCE" has_values volume2 $((was + 30))
kill_flowcond
start_flowcond
eventually "after a stop and a kill each line of the driver local is recorded once" all_values local2 150
eventually "each line of a file in a volume, too" all_values volume2 150
eventually "each scalar, too" values_are events1 '[2.5,3.5,2.5,1.5,0.5,0.125]'
check "what was recorded before stays as it was" all_values volume1 100
check "with an adopted container's own log" container_has adopted1 '.values == 3'

# The job's own file is replaced and truncated under way.
docker exec volume1 sh -c 'busybox mv /out/run/train.log /out/run/old.log; echo "step 101/1000 loss: 7.5" >/out/run/train.log'
eventually "a file that is replaced goes on" container_has volume1 '.values == 101 and .value == 7.5'
docker exec volume1 sh -c 'echo "step 102/1000 loss: 6.5" >/out/run/train.log'
eventually "a file that is truncated goes on" container_has volume1 '.values == 102 and .value == 6.5'
docker exec volume1 sh -c 'echo "step 103/1000 loss: 5.5" >>/out/run/train.log' && docker rm -f volume1 >/dev/null
last_is() { [ "$(records "$1" | jq -c '.samples[-1][1]')" = "$2" ]; }
eventually "the last line before a container's end counts" last_is volume1 5.5

check "flowcond still runs" flowcond_runs
check "its log has no error" flowcond_is_calm
stop_flowcond
check "SIGTERM ends it with status 0" is "$DAEMON_STATUS" 0
remove_containers
docker volume rm flowcon-test-out flowcon-test-runs >/dev/null

finish
