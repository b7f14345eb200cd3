#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# FLOWCON_TEST_TICKETS (1000) jobs of the queue at once on one host, whose flowcond is killed in between: each runs once,
# and flowcond answers all the time.
# usage: tickets.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

TICKETS=${FLOWCON_TEST_TICKETS:-1000}
LONGEST=3600 # seconds

begin_lab 1 --cores 2 --disk 4G --no-images
small_images h1
flowcond_reads h1 'offer = cpu=8 mem=1G'

# All are there when flowcond first looks.
create_all() {
  on h1 sh -c 'n=0
    while [ "$n" -lt "$1" ]; do
      n=$((n + 1))
      curl -sSf --unix-socket /run/docker.sock -H "Content-Type: application/json" -o /dev/null "http://docker/containers/create?name=job-$n" -d "{
        \"Image\": \"$2\", \"Cmd\": [\"busybox\", \"echo\", \"begins\"], \"HostConfig\": {\"NetworkMode\": \"none\"},
        \"Labels\": {\"flowcon.queue\": \"true\", \"flowcon.request\": \"cpu=1,mem=20M\"}}" || exit 1
    done' create "$TICKETS" "$IMAGE_SMALL"
}
waiting() { host_api h1 /v1/queue | jq '[.jobs[] | select(.state == "waiting")] | length'; }
ended() { on h1 docker ps -aq --filter status=exited | wc -l; }
all_wait() { [ $(($(waiting) + $(ended))) -ge $((TICKETS - 8)) ]; }
# asks_until COMMAND...: flowcond answers meanwhile; how long that took goes to $WORK/took, in milliseconds.
asks_until() {
  local asked deadline=$((SECONDS + LONGEST))
  while ! "$@"; do
    [ "$SECONDS" -lt "$deadline" ] || { printf '%s have ended after %d s\n' "$(ended)" "$LONGEST"; return 1; }
    asked=${EPOCHREALTIME/./}
    host_api h1 /v1/queue >/dev/null || return 1
    printf '%d\n' $(((${EPOCHREALTIME/./} - asked) / 1000)) >>"$WORK/took"
    pause 1
  done
}
half_have_ended() { [ "$(ended)" -ge $((TICKETS / 2)) ]; }
all_have_ended() { [ "$(ended)" = "$TICKETS" ]; }
begun() { on h1 sh -c 'for c in $(docker ps -aq); do docker logs "$c" 2>/dev/null; done' | grep -c '^begins$'; }

must create_all
began=$SECONDS
flowcond_up h1
PATIENCE=120 eventually "$TICKETS jobs that were created while flowcond was away are in the queue" all_wait
printf '# after %d s; one answer about all of them is %d KiB\n' $((SECONDS - began)) $(($(host_api h1 /v1/queue | wc -c) / 1024))
check "flowcond answers until half of them have ended" asks_until half_have_ended
flowcond_kill h1
flowcond_up h1
check "  and, killed and started again, until all have" asks_until all_have_ended
printf '# all have ended after %d s; the slowest answer took %d ms; flowcond has %d MB\n' $((SECONDS - began)) "$(sort -n "$WORK/took" | tail -n 1)" \
  "$(on h1 sh -c 'awk "/^VmRSS/ { print int(\$2 / 1024) }" "/proc/$(cat /run/flowcond.pid)/status"')"
check "each has begun once" is "$(begun)" "$TICKETS"
none_open() { is "$(host_api h1 /v1/queue | jq '[.jobs[] | select(.ended | not)] | length')" 0; }
eventually "none is open" none_open
check "none failed" is "$(on h1 docker ps -aq --filter exited=0 | wc -l)" "$TICKETS"
finish_lab
