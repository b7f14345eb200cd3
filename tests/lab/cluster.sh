#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Hosts that decide together over real ssh: categories and scores, who coordinates, a host that drains, one
# that is silent, one that is listed twice.
# usage: cluster.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_lab 3 --cores 1

fingerprint() { on "$1" ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub | cut -d' ' -f2; }
peer() { local host=$1; shift; on "$host" docker flowcon peer "$@"; }
cluster() { on "$1" docker flowcon cluster --format json; }
# cluster_is HOST EXPRESSION: jq's answer about the cluster as HOST sees it is true; else shows it.
cluster_is() {
  local seen
  seen=$(cluster "$1") || { printf '%s\n' "$seen"; return 1; }
  jq -e "$2" <<<"$seen" >/dev/null && return 0
  printf '%s\n' "$seen"
  return 1
}
coordinates() { cluster_is "$1" ".Coordinator == \"$2\""; }
soon() { local sentence=$1; shift; PATIENCE=75 eventually "$sentence" "$@"; }
start() { host_flowcond "$1" --peer-heartbeat 1 --categorise-interval 2 --config /etc/flowcon/flowcon.conf; }
stop() { must on "$1" sh -c 'kill $(cat /run/flowcond.pid); while kill -0 $(cat /run/flowcond.pid) 2>/dev/null; do sleep 0.1; done'; }

for host in h1 h2 h3; do
  must on "$host" sh -c 'mkdir -p /etc/flowcon; touch /etc/flowcon/flowcon.conf'
  start "$host"
done
check "a host alone is a cluster of one" coordinates h1 h1
check "which has nothing to even out" fails_with 1 "no peers" on h1 docker flowcon rebalance --dry-run
must peer h1 add h2 --create-user --fingerprint "$(fingerprint h2)"
must peer h2 add h3 --create-user --fingerprint "$(fingerprint h3)"
must peer h3 add h1 --create-user --fingerprint "$(fingerprint h1)"
for host in h1 h2 h3; do
  soon "$host sees all three" cluster_is "$host" '[.Hosts[] | select(.State != "unknown") | .Name] | sort == ["h1", "h2", "h3"]'
  soon "the lowest-named one coordinates for $host" coordinates "$host" h1
done

# --- categories and scores --------------------------------------------------------------------------

# learning HOST NAME: loses a twentieth of its loss each moment.
learning() {
  must on "$1" docker flowcon run -d --name "$2" --network none "$IMAGE_SMALL" \
    sh -c 'n=1000000; while :; do echo "loss: $n"; n=$((n * 19 / 20)); [ $n -gt 100 ] || n=1000000; sleep 0.2; done'
}
# slowing HOST NAME: comes nearer to half of its first value, by a tenth less each half second. A value that
# stops dead slows no further, and stays in the category that it is in.
slowing() {
  must on "$1" docker flowcon run -d --name "$2" --network none "$IMAGE_SMALL" \
    sh -c 'v=500000000; while :; do echo "loss: $((500000000 + v))"; v=$((v * 9 / 10)); sleep 0.5; done'
}
slowing h2 falling
learning h2 learning
category() { cluster_is "$1" ".Containers[] | select(.Name == \"$2\") | .Category == \"$3\""; }
soon "what learns is progressing, as another host sees it" category h1 learning PC
soon "what does no more is converged" category h1 falling CC
soon "for how long is known without a clock" cluster_is h3 '.Containers[] | select(.Name == "falling") | .ConvergedAge >= 0 and .ConvergedAge < 300'
soon "the score of its host is that of both" cluster_is h1 '.Hosts[] | select(.Name == "h2") | .Score == 3 and .CC == 1 and .PC == 1'
check "no label allows a move" cluster_is h1 '[.Containers[].Movable] | any | not'
explained() { holds "$(on h2 docker flowcon explain falling --last 20 2>&1)" "$1"; }
soon "the category is explained" explained "converged"
stop h2
start h2
soon "and survives a restart" category h1 falling CC
on h2 docker rm -f falling >/dev/null
soon "a container that is gone leaves the score" cluster_is h1 '.Hosts[] | select(.Name == "h2") | .Score == 2'

# --- who coordinates ----------------------------------------------------------------------------------

must "$LAB" partition h1
soon "without the lowest-named host the next one coordinates" coordinates h2 h2
soon "for both" coordinates h3 h2
soon "the one that is cut off coordinates itself" coordinates h1 h1
check "nothing is decided while a host is silent" fails_with 1 "while a host is silent" on h2 docker flowcon rebalance --dry-run
check "on another host the coordinator is asked, and says the same" fails_with 1 "while a host is silent" on h3 docker flowcon rebalance --dry-run
soon "what the silent one told last is still shown" cluster_is h2 '.Hosts[] | select(.Name == "h1") | .State == "unknown" and .Containers == 0'
must "$LAB" heal
soon "healed, the first one coordinates again" coordinates h3 h1
plans() { on "$1" docker flowcon rebalance --dry-run --format '{{.Name}}' 2>&1; }
nothing_planned() { holds "$(plans "$1")" "nothing to migrate"; }
for host in h1 h2 h3; do soon "a plan can be asked for on $host" nothing_planned "$host"; done

# --- draining, and the same host twice ----------------------------------------------------------------

must wait_until 20 peer h1 drain h3
soon "all see that a host drains" cluster_is h2 '.Hosts[] | select(.Name == "h3") | .Draining'
stop h3
start h3
soon "which it remembers" cluster_is h3 '.Hosts[] | select(.Name == "h3") | .Draining'
must wait_until 20 peer h3 undrain h3
soon "until it is told otherwise" cluster_is h1 '.Hosts[] | select(.Name == "h3") | .Draining | not'
other_name=$(on h1 getent hosts h2 | cut -d' ' -f1)
check "the same host under another name is not used" fails_with 1 "same host as h2" peer h1 add "$other_name" --fingerprint "$(fingerprint h2)"
check "and counted once" cluster_is h1 '[.Hosts[].Name] | length == 3'
soon "its key speaks for it under either name" cluster_is h2 '.Hosts[] | select(.Name == "h1") | .State == "reachable"'
must peer h1 rm "$other_name"

# --- a Docker Swarm -------------------------------------------------------------------------------------

leader=$(on h1 getent hosts h2 | cut -d' ' -f1)
must on h2 docker swarm init --advertise-addr "$leader"
token=$(on h2 docker swarm join-token -q worker)
for host in h1 h3; do
  must on "$host" docker swarm join --token "$token" "$leader:2377"
done
for host in h1 h2 h3; do
  stop "$host"
  must on "$host" sh -c 'echo "peers-from = swarm" >>/etc/flowcon/flowcon.conf'
  start "$host"
done
for host in h1 h2 h3; do
  soon "a swarm's leader coordinates for $host" coordinates "$host" h2
  check "and nobody is counted twice" cluster_is "$host" '[.Hosts[].Name] | sort == ["h1", "h2", "h3"]'
done
soon "it plans, as before" nothing_planned h3
must on h2 docker swarm leave --force
soon "without a leader nothing is evened out" fails_with 1 "leader" on h3 docker flowcon rebalance --dry-run
for host in h1 h3; do must on "$host" docker swarm leave --force; done
for host in h1 h2 h3; do
  stop "$host"
  must on "$host" sh -c 'sed -i /peers-from/d /etc/flowcon/flowcon.conf'
  start "$host"
done
soon "without a swarm the lowest-named one coordinates again" coordinates h3 h1
for host in h1 h2 h3; do
  soon "$host sees all three again" cluster_is "$host" '[.Hosts[] | select(.State != "unknown")] | length == 3'
done

# --- whose key it is ------------------------------------------------------------------------------------

line() { on h2 grep 'flowcon-peer h1$' /var/lib/flowcon/peer/.ssh/authorized_keys; }
check "a key's line says whose it is" holds "$(line)" "dial-stdio --from h1"
must on h2 sed -i 's/dial-stdio --from h1/dial-stdio/' /var/lib/flowcon/peer/.ssh/authorized_keys
stop h1
start h1
told() { holds "$(peer h1 ls)" "$1"; }
soon "a line that does not is refused, and what to do is said" told "peer add once more"
must wait_until 60 peer h1 add h2 --fingerprint "$(fingerprint h2)"
soon "which is all there is to it" cluster_is h1 '.Hosts[] | select(.Name == "h2") | .State == "reachable"'
must on h2 sed -i 's/dial-stdio --from h1/dial-stdio --from h3/' /var/lib/flowcon/peer/.ssh/authorized_keys
stop h1
start h1
soon "a key that speaks for another host is refused" told "state of another host"

finish_lab
