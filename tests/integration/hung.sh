#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Logs on a file system that stops answering, a GPU's driver that never does, and logs that inotify has no watch left
# for: what else is controlled goes on, the status says so, and nothing is lost or counted twice afterwards.
# usage: hung.sh BINDIR
# shellcheck disable=SC2317,SC2119 # functions are called by name, and with options or without
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
SERVER=
POINT=

# serve FOLDER POINT: the file system that tests can stop.
serve() {
  POINT=$2
  mkdir -p "$1" "$2"
  "$HERE/slow_fs.py" "$@" >"$WORK/server.log" 2>&1 9>&- &
  SERVER=$(process_token $!)
  must wait_until "$PATIENCE" grep -q mounted "$WORK/server.log"
}
end_server() {
  [ -n "$SERVER" ] || return 0
  process_end "$SERVER" 20 || :
  umount -l "$POINT" || :
  SERVER=
}
# Signals reach it before anything that comes later: it looks for them first.
hang() { kill -USR1 "${SERVER%%:*}"; wait_until "$PATIENCE" not answers; }
heal() { kill -USR2 "${SERVER%%:*}"; wait_until "$PATIENCE" answers; }
answers() { timeout 2 cat "$WORK/slow/ready" >/dev/null 2>&1; }

note_has() { container_has "$1" ".note | contains(\"$2\")"; }
values() { records "$1" | jq -c '[.samples[][1]]'; }
values_are() { is "$(values "$1")" "$2"; }
value_is() { container_has "$1" ".value == $2"; }
answers_or_ended() { api_answers >/dev/null || ! process_alive "$DAEMON"; }
threads() { find "/proc/${DAEMON%%:*}/task" -mindepth 1 -maxdepth 1 | wc -l; }
# writes FILE VALUE...: lines of a training.
writes() {
  local file=$1 value
  shift
  for value in "$@"; do printf 'loss: %s\n' "$value" >>"$file"; done
}

begin "$@"
at_exit end_server

# --- a file system that stops answering ----------------------------------------------------------------

if [ ! -e /dev/fuse ]; then
  skip "logs on a file system that stops answering" "there is no /dev/fuse"
else
  back=$WORK/back
  mkdir -p "$back"
  echo yes >"$back/ready"
  serve "$back" "$WORK/slow"
  writes "$back/train.log" 9.5 8.5
  writes "$back/link.log" 7.5
  data=(-v "$WORK/slow:/data:ro")
  prints slow1 "sleep 600" "${data[@]}" --label flowcon.log=/data/train.log
  prints link1 "ln -s /data/link.log /tmp/log; sleep 600" "${data[@]}" --label flowcon.log=/tmp/log
  # shellcheck disable=SC2016 # for the container's shell
  prints beside1 'i=0; while :; do i=$((i + 1)); echo "loss: $((100000 - i)).5" >>/tmp/log; sleep 0.2; done' \
    "${data[@]}" --label flowcon.log=/tmp/log
  start_flowcond
  eventually "a log on such a file system is read while it answers" value_is slow1 8.5
  eventually "and one that a link of the container leads to" value_is link1 7.5
  eventually "both are recorded" values_are slow1 '[9.5,8.5]'

  before=$(threads)
  must hang
  writes "$back/train.log" 6.5
  eventually "a log that does not answer is told by name" note_has slow1 "the log does not answer (fuse.slow at /data)"
  eventually "so is one that a link leads to" note_has link1 "the log does not answer"
  check "its container stays under control" container_has slow1 '.state == "controlled"'
  seen=$(api GET /v1/status | jq '.containers[] | select(.name == "beside1") | .values')
  eventually "a log elsewhere in such a container is read on" container_has beside1 ".values > $seen"
  check "the thread that has read both waits, and no other is begun" is "$(threads)" "$before"

  stop_flowcond
  check "flowcond ends while it hangs, with status 0" is "$DAEMON_STATUS" 0
  start_flowcond
  eventually "it starts while it hangs, and reads what answers" container_has beside1 ".values > 0"
  eventually "what does not is told again" note_has slow1 "the log does not answer"
  docker kill link1 >/dev/null
  eventually "a container whose log does not answer is recorded as ended" records_have link1 '.finished != null'

  must heal
  eventually "when it answers again the log is read on" value_is slow1 6.5
  writes "$back/train.log" 5.5
  eventually "nothing is lost and nothing counted twice" values_are slow1 '[9.5,8.5,6.5,5.5]'
  check "and the status has no complaint" container_has slow1 '.note == ""'
  writes "$back/train.log" 4.5
  docker kill slow1 >/dev/null
  eventually "the last line of a container that ends is read" records_have slow1 '.finished != null and .samples[-1][1] == 4.5'
  stop_flowcond
  remove_containers
  end_server

  # --- one that takes questions and never answers them: the kernel lets go of nobody who asked ------------

  serve "$back" "$WORK/slow2" silent
  prints silent1 "sleep 600" -v "$WORK/slow2:/data:ro" --label flowcon.log=/data/train.log
  prints other1 "while :; do echo loss: 1; sleep 0.2; done"
  start_flowcond
  eventually "a second file system is read" value_is silent1 4.5
  kill -USR1 "${SERVER%%:*}"
  eventually "it does not answer" note_has silent1 "the log does not answer"
  kill -TERM "${DAEMON%%:*}"
  eventually "flowcond restores all limits at its end" flowcond_said "stopped; restored the limits of"
  held=$DAEMON
  DAEMON=
  for _ in 1 2 3 4 5; do # the state is let go of a moment after that line
    launch_flowcond || : # it may have ended already
    must wait_until "$PATIENCE" answers_or_ended
    if api_answers >/dev/null; then break; fi
    reap_flowcond
  done
  check "and lets go of its state, so that another one starts" api_answers
  eventually "which controls what there is" container_has other1 '.values > 0'
  end_server
  eventually "the former one is gone once the kernel lets go" not process_alive "$held"
  stop_flowcond
  remove_containers
fi

# --- a GPU's driver that never answers ------------------------------------------------------------------

mkdir "$WORK/nvml"
must g++ -std=c++17 -shared -fPIC -o "$WORK/nvml/libnvidia-ml.so.1" "$HERE/../support/fake_nvml.cpp"
# shellcheck disable=SC2016 # for the container's shell
prints beside2 'i=0; while :; do i=$((i + 1)); echo "loss: $((100000 - i)).5"; sleep 0.2; done'
prints beside3 'while :; do :; done'
LD_LIBRARY_PATH=$WORK/nvml FAKE_NVML=hangs start_flowcond
eventually "a job is controlled all the same" container_has beside2 '.state == "controlled" and .values > 2'
eventually "and limited" container_has beside2 '.limit < 1'
eventually "the log says that the driver does not answer" flowcond_said "the NVIDIA driver does not answer"
check "doctor too" holds "$(api GET /v1/doctor | jq -r '.abilities[] | select(.name == "gpu") | .detail')" "its driver does not answer"
stop_flowcond
check "flowcond ends, with status 0" is "$DAEMON_STATUS" 0
check "and restores all limits" flowcond_said "stopped; restored the limits of"
remove_containers

# --- no inotify watch left ------------------------------------------------------------------------------

# Less than all others have is to be had in a user namespace of one's own only.
few=$WORK/few
mkdir "$few"
cat >"$few/flowcond" <<SH
#!/bin/sh
exec unshare -U -r sh -c 'echo 3 >/proc/sys/user/max_inotify_watches; exec "\$@"' sh "$BIN/flowcond" "\$@"
SH
chmod +x "$few/flowcond"
if ! unshare -U -r sh -c 'echo 3 >/proc/sys/user/max_inotify_watches' 2>/dev/null; then
  skip "logs without an inotify watch" "a user namespace cannot be made here"
else
  for name in watched1 watched2 watched3; do prints "$name" "while :; do echo loss: 1; sleep 0.3; done"; done
  BIN=$few start_flowcond --dry-run
  for name in watched1 watched2 watched3; do
    eventually "with three watches for six, the log of $name is read" container_has "$name" '.values > 2'
  done
  eventually "and who has none says so, with what to do" status_has '[.containers[].note | select(contains("fs.inotify.max_user_watches"))] | length > 0'
  docker rm -f watched1 >/dev/null
  eventually "a watch that becomes free is used" status_has '[.containers[].note | select(contains("max_user_watches"))] | length < 2'
  stop_flowcond
fi

finish
