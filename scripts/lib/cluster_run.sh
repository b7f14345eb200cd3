# SPDX-License-Identifier: Apache-2.0
#
# Real trainings on lab hosts, for scripts/cluster-demo and bench/real-cluster. Sourced after tests/lab/lib.sh
# and tests/lab/moves.sh; HOSTS is how many there are.
#
#   hosts                     their names
#   hosts_sockets             HOST=SOCKET of each one's engine, as this machine sees it
#   cluster_begin CORES       a lab of HOSTS hosts of this machine's Debian, with the programs of this checkout, which
#                             are built first; all of them are peers of each other. Dies where there can be none
#   cluster_anew OPTION...    no containers, no volumes, and flowcond with OPTIONs on each
#   cluster_complain          the ends of their logs
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=build.sh
. "$(dirname "${BASH_SOURCE[0]}")/build.sh"

hosts() { seq -f 'h%g' "$HOSTS"; }

hosts_sockets() {
  local host
  for host in $(hosts); do printf '%s=%s\n' "$host" "$("$LAB" socket "$host")"; done
}

cluster_begin() {
  local cannot suite
  cannot=$(lab_cannot) || die "no lab: $cannot"
  suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  case $suite in bookworm | trixie) export FLOWCON_TEST_SUITE=${FLOWCON_TEST_SUITE:-$suite} ;; esac
  if [ "$suite" = "${FLOWCON_TEST_SUITE:-}" ] && [ -z "${FLOWCON_TEST_PROGRAMS:-}" ]; then
    say "building (log: build/release.log)"
    mkdir -p "$FLOWCON_TOP/build"
    build_release "$FLOWCON_TOP/build/release.log" || die "the build failed; all of its output is in build/release.log"
  fi
  begin_lab "$HOSTS" --cores "$1"
  POLICY="cores = $1"$'\n'$POLICY
  # shellcheck disable=SC2046 # several hosts
  make_peers $(hosts)
}

cluster_anew() {
  local host
  for host in $(hosts); do
    flowcond_stop "$host"
    # shellcheck disable=SC2016 # for the shell in the host
    on "$host" sh -c 'docker rm -f $(docker ps -aq); docker volume rm $(docker volume ls -q)' >/dev/null 2>&1 || :
    flowcond_up "$host" "$@"
  done
  # shellcheck disable=SC2046 # several hosts
  must wait_until 60 reach_each_other $(hosts)
}

cluster_complain() {
  local host
  for host in $(hosts); do on "$host" tail -n 5 /var/log/flowcond.log >&2 || :; done
}
