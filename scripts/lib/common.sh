# SPDX-License-Identifier: Apache-2.0
#
# What every script here shares: messages, and a stack of things to undo when the script ends, also
# on ^C or after a failure. Source it from bash with `set -euo pipefail`; it starts nothing itself.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the paths are for the scripts that source this

[ -z "${FLOWCON_COMMON_SH:-}" ] || return 0
FLOWCON_COMMON_SH=1

# Debian puts dockerd, runc and iptables where only root's PATH looks.
case ":$PATH:" in *:/usr/sbin:*) ;; *) PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin ;; esac

FLOWCON_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
FLOWCON_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/docker-flowcon

say() { printf '%s\n' "$*"; }
warn() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { warn "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# forget_environment: unsets FLOWCON_…, which flowcond and the plugin read as options, but not what scripts read.
forget_environment() {
  local name
  for name in $(compgen -e FLOWCON_); do
    case $name in FLOWCON_TEST_* | FLOWCON_TOP | FLOWCON_CACHE | FLOWCON_MIRROR) ;; *) unset "$name" ;; esac
  done
}

# seconds_since START: whole seconds since the given $SECONDS.
seconds_since() { printf '%s' $((SECONDS - $1)); }

# pause SECONDS: a sleep that a signal ends at once; bash answers one only between two commands.
pause() {
  local child
  sleep "$1" &
  child=$!
  wait "$child" || return 0
}

# --- processes ----------------------------------------------------------------------------------

# process_start PID: the kernel's start time of a process, which tells it from a later one with the
# same number; fails when there is none, or only its corpse.
process_start() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086 # the fields of one line
  set -- $stat
  [ "$1" != Z ] || return 1
  printf '%s' "${20}"
}

# process_token PID: "pid:start", to be kept and asked about later.
process_token() { local start; start=$(process_start "$1") && printf '%s:%s' "$1" "$start"; }

# process_alive TOKEN: does the very process of that token still run?
process_alive() {
  local start
  [ -n "$1" ] && start=$(process_start "${1%%:*}") && [ "$start" = "${1##*:}" ]
}

# process_end TOKEN SECONDS: asks the process to end, and kills it after that many seconds.
process_end() {
  local tries=$(($2 * 20))
  process_alive "$1" || return 0
  kill -TERM "${1%%:*}" 2>/dev/null || return 0
  while process_alive "$1"; do
    if [ "$tries" -le 0 ]; then
      kill -KILL "${1%%:*}" 2>/dev/null || return 0
    fi
    [ "$tries" -gt -100 ] || return 1
    tries=$((tries - 1))
    sleep 0.05
  done
}

# --- undoing ------------------------------------------------------------------------------------

FLOWCON_CLEANUP=()

# at_exit COMMAND [ARG...]: runs the command when this shell ends, last registered first.
at_exit() {
  FLOWCON_CLEANUP+=("$(printf '%q ' "$@")")
  trap 'run_cleanup $?' EXIT
  trap 'warn "interrupted; cleaning up"; exit 130' INT
  trap 'warn "terminated; cleaning up"; exit 143' TERM
  trap 'exit 129' HUP
}

# run_cleanup STATUS: all of it, even where one step fails; an impatient second ^C changes nothing.
run_cleanup() {
  local i
  trap - EXIT
  trap '' INT TERM HUP
  set +e
  for ((i = ${#FLOWCON_CLEANUP[@]} - 1; i >= 0; i--)); do
    eval "${FLOWCON_CLEANUP[i]}"
  done
  exit "$1"
}
