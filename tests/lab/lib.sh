# SPDX-License-Identifier: Apache-2.0
#
# What the tests on the lab share: checks with sentences from the integration tests, a lab that ends
# with the topic, and short words for what is done on its hosts.
#
# A topic is a script that sources this file and then says
#
#   begin_lab N [UP-OPTIONS...]   a lab of its own
#   finish_lab                    ends it, looks whether anything is left, prints the counts
#
# shellcheck shell=bash
# shellcheck disable=SC2034 # some variables are for the topics

# shellcheck source-path=SCRIPTDIR source=../integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/image.sh
IMAGE_SMALL=$IMAGE
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/image.sh"
IMAGE_TRAIN=$IMAGE
IMAGE=$IMAGE_SMALL

LAB=$FLOWCON_TOP/tests/lab/lab

begin_lab() {
  local hosts=$1
  shift
  TOPIC=$(basename "$0" .sh)
  cannot=$(lab_cannot) || nothing_runs "$cannot"
  export FLOWCON_LAB=test-$$
  WORK=$(mktemp -d /tmp/flowcon-test.XXXXXX)
  at_exit rm -rf "$WORK"
  at_exit "$LAB" down
  must "$LAB" up "$hosts" --owner $$ ${FLOWCON_TEST_SUITE:+--suite "$FLOWCON_TEST_SUITE"} \
    ${FLOWCON_TEST_PROGRAMS:+--programs "$FLOWCON_TEST_PROGRAMS"} "$@"
  find_groups
}

# small_images HOST...: the small image, for a lab that is up --no-images.
small_images() {
  local host
  for host in "$@"; do
    # shellcheck disable=SC2016 # for the shell in the host
    must on "$host" bash -euc '. /opt/source/tests/integration/lib.sh; WORK=/tmp/small; image_import; rm -r "$WORK"'
  done
}

finish_lab() {
  hold_namespaces
  check "the lab ends" "$LAB" down
  check "nothing of it is left" nothing_is_left
  printf '%s: %d passed, %d failed, %d skipped\n' "$TOPIC" "$PASSED" "$FAILED" "$SKIPPED"
  [ "$FAILED" = 0 ] || exit 1
  exit 0
}

# lab_cannot: why this machine cannot have a lab; fails when it cannot.
lab_cannot() {
  local tool
  [ "$(id -u)" = 0 ] || { printf 'needs root'; return 1; }
  for tool in mmdebstrap nft ethtool jq curl tini unshare nsenter mke2fs ssh; do
    have "$tool" || { printf '%s is not installed (scripts/setup)' "$tool"; return 1; }
  done
  unshare --mount --net --pid --fork true 2>/dev/null || { printf 'this machine makes no namespaces'; return 1; }
}

# on HOST COMMAND...: as `lab exec` does it, without the forty processes that a call of that takes: the tests ask
# all the time.
on() {
  local host=$1 folder=$FLOWCON_CACHE/labs/$FLOWCON_LAB/$1 token='' stat=''
  shift
  read -r token 2>/dev/null <"$folder/token" || : # no newline ends it
  read -r stat 2>/dev/null <"/proc/${token%%:*}/stat" || :
  stat=${stat##*) }
  # shellcheck disable=SC2206 # the fields of one line
  local fields=($stat)
  if [ -z "$token" ] || [ "${fields[0]:-Z}" = Z ] || [ "${fields[19]}" != "${token##*:}" ]; then
    "$LAB" exec "$host" -- "$@" # says what is wrong
    return
  fi
  (
    for group in "${LAB_GROUPS[@]}"; do printf '%s' "$BASHPID" >"${group/@/$host}/cgroup.procs"; done
    exec nsenter --target "${token%%:*}" --mount --net --ipc --uts --pid --root --wd -- \
      env -i HOME=/root TERM="${TERM:-dumb}" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
  )
}
# Where a host's processes belong, "@" being the host: as enter_group of tests/lab/lab has it.
LAB_GROUPS=()
find_groups() {
  local point type options group
  group=$(sed -n 's/^cgroup=//p' "$FLOWCON_CACHE/labs/$FLOWCON_LAB/state" | tail -n 1)
  LAB_GROUPS=()
  while read -r _ point type options _; do
    case $type,$options in
      cgroup,*cpu | cgroup,*cpu,* | cgroup,*cpuacct* | cgroup,*freezer* | cgroup,*pids* | cgroup,*blkio*) LAB_GROUPS+=("$point$group/@") ;;
    esac
  done < <(awk '$3 ~ /^cgroup2?$/' /proc/self/mounts)
  [ ${#LAB_GROUPS[@]} -gt 0 ] || LAB_GROUPS=("$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)$group/@/host")
}

# lab_traces: what is there of the labs of this topic: mounts, loop devices and files below their folder, control
# groups with their name, processes that they have started or that live in their namespaces. Their interfaces are in
# these namespaces. What other labs and engines do meanwhile does not show.
lab_traces() {
  local folder=$FLOWCON_CACHE/labs/$FLOWCON_LAB
  awk -v folder="$folder/" 'index($5, folder) == 1 {print "mount", $5}' /proc/self/mountinfo
  losetup --noheadings --list --output BACK-FILE | grep -F "$folder/" | sed 's/^/loop /' || :
  lab_groups | sed 's/^/group /'
  lab_processes "$folder" | sed 's/^/process /'
  processes_within | sed 's/^/process /'
  [ ! -e "$folder" ] || printf 'folder %s\n' "$folder"
}
lab_groups() {
  awk '$3 ~ /^cgroup2?$/ {print $2}' /proc/self/mounts | while read -r point; do
    find "$point" -maxdepth 1 -name "flowcon-lab-$FLOWCON_LAB-*"
  done
}
lab_processes() {
  local file
  for file in /proc/[0-9]*/environ; do
    if grep -szqxF "FLOWCON_LAB_HOLDS=$1" "$file"; then command_of "${file%/environ}"; fi
  done
}
command_of() { { tr '\0' ' ' <"$1/cmdline" || :; } 2>/dev/null | cut -c 1-100; }
# hold_namespaces: notes the network and pid namespaces of the hosts that are up. While they are open here, the kernel
# gives their numbers to no other lab.
hold_namespaces() {
  local file token kind opened
  for file in "$FLOWCON_CACHE/labs/$FLOWCON_LAB"/h*/token; do
    token=$(cat "$file" 2>/dev/null) || continue
    process_alive "$token" || continue
    for kind in net pid; do
      exec {opened}<"/proc/${token%%:*}/ns/$kind" || continue
      readlink "/proc/self/fd/$opened" >>"$WORK/namespaces"
    done
  done
}
processes_within() {
  local pid
  [ -e "$WORK/namespaces" ] || return 0
  # Processes end meanwhile.
  { stat -c %N /proc/[0-9]*/ns/net /proc/[0-9]*/ns/pid 2>/dev/null || :; } | { grep -Ff "$WORK/namespaces" || :; } |
    sed -E "s|^'/proc/([0-9]+)/.*|\1|" | sort -un | while read -r pid; do command_of "/proc/$pid"; done
}
# A process that was killed is gone a moment later, and so is its loop device.
nothing_is_left() { wait_until 30 no_traces; }
no_traces() { is "$(lab_traces)" ""; }

# --- flowcond on a host ---------------------------------------------------------------------------

# host_flowcond HOST [OPTIONS...]: starts it as FlowCon, or by HOST_POLICY, with quick decisions and waits for its
# answer; with SKEW set and /root/skew.so there, its clock is that many seconds ahead, or as many as that file says;
# where tests/lab/disk.c is there, its disk can be made slow or failing.
host_flowcond() {
  local host=$1
  shift
  # shellcheck disable=SC2016 # for the shell in the host
  must on "$host" env SKEW="${SKEW:-}" FLOWCON_POLICY="${HOST_POLICY:-flowcon}" \
    FLOWCON_FAILPOINTS="${FLOWCON_FAILPOINTS:-}" FLOWCON_FAILPOINTS_UNTIL=/run/failpoints-are-over sh -c '
    mkdir -p /run/flowcon
    [ -z "$SKEW" ] || export LD_PRELOAD=/root/skew.so SKEW_SECONDS="$SKEW"
    disk=/usr/local/lib/flowcon-disk.so
    [ ! -e "$disk" ] || export LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD:}$disk" DISK_FAULTS=/run/disk-faults
    FLOWCON_INTERVAL=1 FLOWCON_OBSERVE=1 setsid flowcond --engine /run/docker.sock --socket-group root "$@" \
      >>/var/log/flowcond.log 2>&1 </dev/null &
    echo $! >/run/flowcond.pid' start "$@"
  must wait_until 30 host_api "$host" /v1/version
}

host_api() { on "$1" curl -sS --fail-with-body --max-time 20 --unix-socket /run/flowcon/flowcon.sock "http://flowcon$2"; }
# host_engine HOST PATH: the engine's answer. Where a test asks again and again, docker itself would take most of the processors.
host_engine() { on "$1" curl -sS --fail-with-body --max-time 20 --unix-socket /run/docker.sock "http://engine$2"; }

# host_has HOST EXPRESSION: jq's answer about the status is true; else shows it.
host_has() {
  local body
  body=$(host_api "$1" /v1/status) || { printf '%s\n' "$body"; return 1; }
  printf '%s' "$body" | jq -e "$2" >/dev/null && return 0
  printf '%s' "$body" | jq -c '(.containers[] | [.name, .state, .list, .limit, .growth, .metric, .value, .values, .note]), .warnings'
  return 1
}

# host_weight HOST CONTAINER: what the kernel has.
host_weight() {
  # shellcheck disable=SC2016 # for the shell in the host
  on "$1" bash -c '. /opt/source/tests/integration/lib.sh; ENGINE_SOCKET=/run/docker.sock; weight "$1"' weight "$2"
}
