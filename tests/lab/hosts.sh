#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The lab itself: hosts that are separate, faults that bite and heal, and nothing left behind.
# usage: hosts.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_lab 4

# --- separate machines ------------------------------------------------------------------------------

check "each host has its name" is "$(for i in 1 2 3 4; do on "h$i" hostname; done | paste -sd' ')" "h1 h2 h3 h4"
check "a host reaches another by ssh, its key known" is "$(on h1 ssh h2 hostname)" h2
check "the lab's network reaches a host by ssh" is "$("$LAB" ssh h3 hostname)" h3
check "the status of a command comes through" fails_with 7 "" on h1 sh -c 'exit 7'
check "an argument stays one argument" is "$(on h1 printf '%s|' 'a b' '*')" 'a b|*|'
must on h1 docker run -d --name burn1 --network none "$IMAGE_SMALL" sh -c 'while :; do :; done'
must on h1 docker run -d --name burn2 --network none "$IMAGE_SMALL" sh -c 'while :; do :; done'
check "a container of one host is not the other's" is "$(on h2 docker ps -q)" ""
check "processes of one host are not the other's" is "$(on h2 sh -c 'cat /proc/[0-9]*/comm' | grep -cx busybox)" 0

# group_of HOST CONTROLLER: its folder.
group_of() {
  local point group
  point=$(awk -v c="$2" '$3 == "cgroup" && $4 ~ "(^|,)" c "(,|$)" {print $2; exit}' /proc/self/mounts)
  group=$(on "$1" cat /proc/1/cgroup | awk -F: -v c="$2" '$2 ~ "(^|,)" c "(,|$)" {print $3}')
  printf '%s' "$point${group%"/$1"*}/$1"
}
throttled() { sed -n 's/^nr_throttled //p' "$(group_of "$1" cpu)/cpu.stat"; }
is_throttled() { [ "$(throttled h1)" -gt "$1" ]; }
# uses_at_most HOST CORES: over three seconds, a tenth more at most.
uses_at_most() {
  local file before began
  file=$(group_of "$1" cpuacct)/cpuacct.usage
  before=$(cat "$file") began=$(date +%s%N)
  pause 3
  awk -v a="$before" -v b="$(cat "$file")" -v t="$(($(date +%s%N) - began))" -v c="$2" \
    'BEGIN {u = (b - a) / t; print u " cores"; exit !(u < c * 1.1)}'
}
if [ "$(cpu_version)" = v1 ]; then
  eventually "a host with two busy containers wants more than its half core" is_throttled "$(throttled h1)"
  check "  and has no more" uses_at_most h1 0.5
  check "  nor less" is "$(cat "$(group_of h1 cpu)"/cpu.cfs_{quota,period}_us | paste -sd/)" 50000/100000
else
  skip "a host with two busy containers wants more than its half core" "the check reads files of cgroup v1"
fi
must on h1 docker rm -f burn1 burn2

printf 'x\n' >"$WORK/file"
must "$LAB" cp "$WORK/file" h1:/root/file
must "$LAB" cp h1:/root/file "$WORK/back"
check "cp copies to a host and back" cmp "$WORK/file" "$WORK/back"

check "CRIU works" holds "$(on h1 criu check 2>&1)" "Looks good"
must on h1 docker run -d --name count --network none "$IMAGE_SMALL" sh -c 'i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done'
lines() { on h1 docker logs count | wc -l; }
has_lines() { [ "$(lines)" -ge "$1" ]; }
must wait_until 20 has_lines 5
must on h1 timeout 60 docker checkpoint create count one
counted=$(lines)
# On the engine that made it a checkpoint may still be known (moby 42900), for a moment.
must wait_until 30 on h1 docker start --checkpoint one count
counts_on() {
  local log
  log=$(on h1 docker logs count)
  [ "$(wc -l <<<"$log")" -gt $((counted + 2)) ] && is "$log" "$(seq "$(wc -l <<<"$log")")"
}
eventually "a checkpointed container goes on where it was" counts_on
must on h1 docker rm -f count

# --- faults -----------------------------------------------------------------------------------------

reaches() { on "$1" ping -c 1 -W 1 "$2" >/dev/null; }
must "$LAB" partition h1 --from h2
check "a partition parts the two" not reaches h1 h2
check "in both directions" not reaches h2 h1
check "and nobody else" reaches h1 h3
must "$LAB" partition h3
check "a host without its link reaches nobody" not reaches h3 h4
check "ps says so" holds "$("$LAB" ps | grep '^h3')" unplugged
must "$LAB" heal
check "heal mends both" wait_until 10 reaches h1 h2
check "and the link" wait_until 10 reaches h3 h4

# round_trip A B: milliseconds, the least of five.
round_trip() { on "$1" ping -c 5 -i 0.2 -W 2 "$2" | sed -nE 's|^rtt [^=]*= ([0-9.]+)/.*|\1|p'; }
between() { awk -v v="$1" -v l="$2" -v h="$3" 'BEGIN {print v; exit !(v >= l && v <= h)}'; }
must "$LAB" slow h1 --delay 40ms
check "a delay of 40 ms makes a round trip of 80 and little more" between "$(round_trip h1 h2)" 80 110
check "data passes a delayed link whole" is "$(head -c 300000 /dev/urandom | tee "$WORK/data" | on h1 ssh h2 sha256sum)" "$(sha256sum <"$WORK/data")"
must "$LAB" partition h1 --from h2
check "a delayed host can be parted from another" not reaches h1 h2
must "$LAB" heal h1
check "heal takes the delay away" between "$(round_trip h1 h2)" 0 20
# megabits A B: the rate at which 3 MB pass.
megabits() {
  local began
  began=$(date +%s%N)
  head -c 3000000 /dev/zero | on "$1" ssh "$2" 'cat >/dev/null'
  awk -v t="$(($(date +%s%N) - began))" 'BEGIN {printf "%.1f", 3e6 * 8 * 1000 / t}'
}
must "$LAB" slow h1 --rate 8mbit
check "a limited network passes no more than its rate" between "$(megabits h1 h2)" 2 8.8
must "$LAB" heal h1

must "$LAB" fill h2
check "a full disk takes no byte" fails_with 1 "No space left" on h2 dd if=/dev/zero of=/root/x bs=1 count=1
# in_bounds HOST: its disk takes no more room on this machine than its size.
in_bounds() {
  local size blocks
  read -r size blocks < <(stat -c '%s %b' "$FLOWCON_CACHE/labs/$FLOWCON_LAB/$1/disk.img")
  printf '%s bytes, %s blocks\n' "$size" "$blocks"
  [ $((blocks * 512)) -le $((size + 1048576)) ]
}
check "the machine's own disk does not fill with it" in_bounds h2
check "the engine on it says so" fails_with 125 "no space left" on h2 docker run --rm --network none "$IMAGE_SMALL" true
must "$LAB" heal h2
check "heal gives the room back" on h2 docker run --rm --network none "$IMAGE_SMALL" true

# --- power ------------------------------------------------------------------------------------------

must on h4 docker run -d --name keep --restart always --network none "$IMAGE_SMALL" sleep 1000
must on h4 sh -c 'echo kept >/root/kept; sync'
must "$LAB" kill h4
check "a host without power answers nobody" not reaches h1 h4
check "ps shows it off" holds "$("$LAB" ps | grep '^h4')" off
check "a command on it says what to do" fails_with 1 "tests/lab/lab boot h4" on h4 true
must "$LAB" boot h4
check "it comes back with its disk" is "$(on h4 cat /root/kept)" kept
runs_again() { is "$(on h4 docker inspect -f '{{.State.Running}}' keep)" true; }
eventually "and its containers" runs_again
check "and its address and key" is "$(on h1 ssh h4 hostname)" h4
must on h4 pkill -9 dockerd
must on h4 sh -c 'while pgrep dockerd >/dev/null; do sleep 0.1; done; start-docker'
eventually "its engine can be started again, images and all" on h4 docker run --rm --network none "$IMAGE_TRAIN" true

# --- wrong use --------------------------------------------------------------------------------------

check "a second up says that it is up" fails_with 1 "is up already" "$LAB" up 1
check "an unknown host" fails_with 1 "there is no host h9" "$LAB" exec h9 -- true
check "what is no host" fails_with 2 "is not a host" "$LAB" exec ../h1 -- true
check "an unknown command" fails_with 2 "unknown command 'destroy'" "$LAB" destroy
check "an unknown option" fails_with 2 "unknown option '--fast'" "$LAB" slow h1 --fast 1
check "a wrong rate" fails_with 2 "--rate takes a rate" "$LAB" slow h1 --rate fast
check "a name that is a path" fails_with 1 "FLOWCON_LAB is a name" env FLOWCON_LAB=../x "$LAB" ps

# --- ends -------------------------------------------------------------------------------------------

hold_namespaces
check "down ends all of it" "$LAB" down
check "and leaves nothing" nothing_is_left
check "a second down is no fault" "$LAB" down

# A lab whose owner is killed ends with it. Its watcher has nothing to ask and nothing to print to.
bash -c 'echo $$ >"$1"; exec sleep 1000' owner "$WORK/owner" &
owner=$!
disown "$owner"
must wait_until 5 test -s "$WORK/owner"
must "$LAB" up 2 --owner "$owner"
hold_namespaces
kill -KILL "$owner"
check "a lab ends when the process it is for was killed" wait_until 60 nothing_is_left

# Killed in the middle of coming up, at moments that the machine chooses.
for moment in 0.1 0.4 0.7 1.0 1.4; do
  "$LAB" up 3 >/dev/null 2>&1 &
  up=$!
  disown "$up"
  pause "$moment"
  kill -KILL "$up" 2>/dev/null || :
  check "down removes what an up that was killed after $moment s left" "$LAB" down
  check "all of it" nothing_is_left
done

finish_lab
