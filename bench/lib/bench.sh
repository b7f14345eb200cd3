# SPDX-License-Identifier: Apache-2.0
#
# What the benches on one host share: a private engine, a flowcond of their own beside it,
# and a program that measures. All of it ends with the script, however that ends.
#
#   bench_begin BINDIR TOOL...   checks what is needed, makes the folder WORK, starts the engine; its images are
#                                those of ENGINE_DATA where that is set, else it has none
#   bench_image NAME FILE [LINK...]   an image that holds one static program, and links to it
#   bench_flowcond [OPTION=VALUE...]   starts BINDIR/flowcond; FLOWCOND_PID and FLOWCON_SOCKET are set
#   bench_measure FILE [ARG...]  runs a Python program, so that a signal to this script ends it too
# shellcheck shell=bash
# shellcheck disable=SC2034 # the results are variables of the caller

# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/engine.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/engine.sh"
# shellcheck source-path=SCRIPTDIR source=../../scripts/lib/daemon.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/daemon.sh"

usage_error() {
  warn "$1; see $0 --help"
  exit 125
}

# number_or_usage OPTION VALUE LEAST MOST
number_or_usage() {
  if ! [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
    usage_error "$1 takes a whole number from $3 to $4, not '$2'"
  fi
}

bench_begin() {
  local tool
  BINDIR=$1
  shift
  [ "$(id -u)" = 0 ] || die "this needs root: it starts a private Docker engine"
  for tool in python3 docker tar "$@"; do
    have "$tool" || die "$tool is not installed; run scripts/setup"
  done
  [ -x "$BINDIR/flowcond" ] ||
    die "there is no $BINDIR/flowcond; build it: cmake --preset release && cmake --build --preset release"
  WORK=$(mktemp -d /tmp/flowcon-bench.XXXXXX)
  at_exit bench_remove_work
  engine_start "$WORK/engine" "${ENGINE_DATA:-}" || die "the private engine did not start"
  export DOCKER_HOST=unix://$ENGINE_SOCKET DOCKER_CONTEXT=''
  export PYTHONPATH=$FLOWCON_TOP/bench/lib:$FLOWCON_TOP/scripts/lib PYTHONDONTWRITEBYTECODE=1
}

# Not while the engine could not be ended: below WORK are its mounts then.
bench_remove_work() {
  if [ -e "$WORK/engine/engine.state" ]; then
    warn "the engine in $WORK/engine did not end; the folder stays"
  else
    rm -rf "$WORK"
  fi
}

bench_image() {
  local name=$1 program=$2 link root=$WORK/root
  shift 2
  rm -rf "$root" && mkdir -p "$root/bin"
  cp "$program" "$root/bin/"
  for link in "$@"; do ln -s "${program##*/}" "$root/bin/$link"; done
  tar -C "$root" -c . | docker import - "$name" >/dev/null
  rm -rf "$root"
}

bench_flowcond() {
  daemon_start "$BINDIR/flowcond" "$WORK/flowcond" socket-group=root "engine=$ENGINE_SOCKET" "$@" ||
    die "flowcond did not start"
  FLOWCOND_PID=${DAEMON%%:*}
}

# In the background and waited for: bash answers a signal only between two commands.
bench_measure() {
  local program=$1 measuring status=0
  shift
  python3 "$FLOWCON_TOP/bench/lib/$program" "$@" &
  measuring=$!
  at_exit process_end "$(process_token "$measuring")" 5
  wait "$measuring" || status=$?
  if [ "$status" != 0 ]; then bench_failed "the measurement failed (status $status)"; fi
}

bench_failed() {
  warn "the last lines of flowcond:"
  tail -n 15 "$WORK/flowcond/flowcond.log" | sed 's/^/    /' >&2
  die "$1"
}
