# SPDX-License-Identifier: Apache-2.0
#
# Real trainings on lab hosts, for scripts/cluster-demo and bench/real-cluster. Sourced after tests/lab/lib.sh
# and tests/lab/moves.sh; HOSTS is how many there are.
#
#   hosts                     their names
#   hosts_sockets             HOST=SOCKET of each one's engine, as this machine sees it
#   cluster_begin CORES       a lab of HOSTS hosts, all of them peers of each other; dies where there can be none
#   cluster_anew OPTION...    no containers, no volumes, and flowcond with OPTIONs on each
#   cluster_complain          the ends of their logs
# shellcheck shell=bash

hosts() { seq -f 'h%g' "$HOSTS"; }

hosts_sockets() {
  local host
  for host in $(hosts); do printf '%s=%s\n' "$host" "$("$LAB" socket "$host")"; done
}

cluster_begin() {
  local cannot
  cannot=$(lab_cannot) || die "no lab: $cannot"
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
