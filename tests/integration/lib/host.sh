# SPDX-License-Identifier: Apache-2.0
#
# A host for integration tests: a private engine with a small image, the plugin as docker finds it,
# flowcond when a test asks for it, and a count of what held. Source it, then:
#
#   host_up BIN                  engine, image "small" (busybox), plugin from BIN; sets HOST, a
#                                folder that goes at the end, and DOCKER_HOST, DOCKER_CONFIG
#   host_daemon [OPTION=VALUE…]  (re)start flowcond with these options; state and log stay
#   host_job NAME SECONDS [DOCKER-RUN-ARGS…]
#                                a job under control that prints a falling loss every 0.2 s
#   api PATH / api_post PATH [BODY]
#                                flowcond's answer; fails on a status of 400 or more
#   cpu_file NAME FILE           the path of a file in the container's cpu cgroup
#   eventually SECONDS COMMAND…  repeat it until it succeeds
#   check SENTENCE COMMAND…      one test: the sentence, and whether the command succeeds
#   skip SENTENCE REASON         one test that cannot run here
#   finish                       the counts; fails if a test failed
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=../../../scripts/lib/engine.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib/engine.sh"
# shellcheck source-path=SCRIPTDIR source=../../../scripts/lib/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/lib/daemon.sh"

PASSED=0
FAILED=0
SKIPPED=0

host_up() {
  BIN=$1
  HOST=$(mktemp -d /tmp/flowcon-test.XXXXXX)
  at_exit rm -rf "$HOST"
  engine_start "$HOST/engine" || die "the tests need an engine; the lines above say what is missing"
  export DOCKER_HOST=unix://$ENGINE_SOCKET DOCKER_CONFIG=$HOST/docker
  unset DOCKER_CONTEXT
  mkdir -p "$DOCKER_CONFIG/cli-plugins" "$HOST/root/bin" "$HOST/root/tmp"
  ln -s "$BIN/docker-flowcon" "$DOCKER_CONFIG/cli-plugins/docker-flowcon"
  have busybox || die "busybox is not installed (busybox-static; scripts/setup test)"
  cp "$(command -v busybox)" "$HOST/root/bin/busybox"
  "$HOST/root/bin/busybox" --install -s "$HOST/root/bin"
  # The links name the place where they were made.
  find "$HOST/root/bin" -type l -exec ln -sf busybox {} \;
  tar -C "$HOST/root" -c . | docker import - small >/dev/null || die "the small image was not made"
}

host_daemon() {
  daemon_stop || return 1
  daemon_start "$BIN/flowcond" "$HOST/daemon" socket-group=root "engine=$ENGINE_SOCKET" "$@"
}

host_job() {
  local name=$1 seconds=$2
  shift 2
  docker flowcon run --detach --name "$name" --network none "$@" small sh -c '
    n=0
    while [ $n -lt $(($1 * 5)) ]; do
      n=$((n + 1))
      echo "step $n loss: $((1000 / n)).5"
      sleep 0.2
    done' job "$seconds" >/dev/null
}

api() { curl -sS --fail-with-body --max-time 10 --unix-socket "$FLOWCON_SOCKET" "http://flowcon$1"; }
api_post() {
  curl -sS --fail-with-body --max-time 10 --unix-socket "$FLOWCON_SOCKET" --request POST \
    --header 'Content-Type: application/json' --data "${2:-{\}}" "http://flowcon$1"
}

cpu_file() {
  local id point
  id=$(docker inspect --format '{{.Id}}' "$1") || return 1
  for point in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct /sys/fs/cgroup; do
    if [ -d "$point$ENGINE_CGROUP/$id" ]; then
      printf '%s' "$point$ENGINE_CGROUP/$id/$2"
      return 0
    fi
  done
  return 1
}

eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

check() {
  local sentence=$1 output
  shift
  if output=$("$@" 2>&1); then
    PASSED=$((PASSED + 1))
    say "passed: $sentence"
  else
    FAILED=$((FAILED + 1))
    say "FAILED: $sentence"
    printf '%s\n' "$output" | tail -n 20 | sed 's/^/    /'
  fi
}

skip() {
  SKIPPED=$((SKIPPED + 1))
  say "skipped: $1: $2"
}

finish() {
  say "$PASSED passed, $FAILED failed, $SKIPPED skipped"
  [ "$FAILED" = 0 ]
}
