#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One training of PyTorch's DistributedDataParallel over Gloo, with two workers in each kind of network: a bridge on one
# host, an overlay between two, and these hosts' own. Its losses are the same in all, and those of one process. And one
# around a parameter server, by published ports.
# usage: networks.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 2 --cores 1
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off\nqueue-policy = fifo\naccept-host-network = true'
for host in h1 h2; do
  flowcond_reads "$host" 'offer = cpu=1 mem=1200M'
  flowcond_reads "$host" "advertise = $(on "$host" ip -4 -br addr show eth0 | grep -o '[0-9.]*/' | tr -d /)"
done
must on h1 docker swarm init --advertise-addr eth0 >/dev/null
must on h2 docker swarm join --token "$(on h1 docker swarm join-token -q worker)" h1:2377 >/dev/null
must on h1 docker network create -d overlay --attachable train >/dev/null
flowcond_reads h2 'group-network = train'
make_peers h1 h2
must on h2 sh -c 'docker create --name seed "$1" true && docker cp /opt/source/examples seed:/examples && docker commit seed trainings:1 && docker rm seed' seed "$IMAGE_TRAIN"

soon() { local sentence=$1; shift; PATIENCE=300 eventually "$sentence" "$@"; }
ddp=(trainings:1 python3 /examples/ddp_digits.py --epochs 3)
losses() { grep -o 'Epoch .*'; }
# train NAME REQUEST [OPTIONS...]: two workers; network NAME WORD: is the first one in it?
train() {
  local name=$1 request=$2
  shift 2
  must on h2 docker flowcon submit --name "$name" --workers 2 --request "$request" "$@" "${ddp[@]}" >/dev/null 2>&1
  soon "two workers learn, $name" job_is "$name" "done"
  check "  their losses are those of one" is "$(on h2 docker logs "$name-w0" 2>/dev/null | losses)" "$alone"
}
alone=$(on h2 docker run --rm --network none "${ddp[@]}" 2>/dev/null | losses)
check "one process learns" holds "$alone" "Epoch 3/3"

train bridge cpu=0.5,mem=500M
check "  on one host, in a bridge" holds "$(on h2 docker inspect -f '{{.HostConfig.NetworkMode}}' bridge-w0)" flowcon-group-
train overlay cpu=0.8,mem=500M
check "  on two, in an overlay" is "$(on h2 docker inspect -f '{{.HostConfig.NetworkMode}}' overlay-w0)" train
check "  each host had one" is "$(host_api h2 /v1/queue/overlay | jq -r '[.tasks[] | .host // "h2"] | sort | join(" ")')" "h1 h2"
must on h2 sed -i 's/^group-network = .*/group-network = host/' "$CONF"
must on h2 sh -c 'kill -HUP "$(cat /run/flowcond.pid)"'
train own cpu=0.8,mem=500M
check "  on two, in their own networks" is "$(on h2 docker inspect -f '{{.HostConfig.NetworkMode}}' own-w0)" host
check "  each host had one" is "$(host_api h2 /v1/queue/own | jq -r '[.tasks[] | .host // "h2"] | sort | join(" ")')" "h1 h2"

# Without an overlay, and closed to peers.
for host in h1 h2; do
  must on "$host" sed -i 's/^group-network = .*/group-network = auto/; s/^accept-host-network = .*/accept-host-network = false/' "$CONF"
  must on "$host" sh -c 'kill -HUP "$(cat /run/flowcond.pid)"'
done
server_at() { on h2 docker inspect -f '{{.Config.Env}}' net-w1 | grep -o 'FLOWCON_PS=[0-9.:]*' | cut -d = -f 2; }
published() { for host in h1 h2; do on "$host" docker ps --filter name=net-s0 --format '{{.Ports}}'; done; }
must on h2 docker flowcon submit --name net --workers 2 --ps 1 --request cpu=0.4,mem=400M --ps-request cpu=0.4,mem=400M \
  trainings:1 python3 /examples/ps_digits.py --steps 3000 --pause 0.02 >/dev/null 2>&1
soon "a parameter server and its workers are on two hosts without a network" job_is net running
check "  each host has one" is "$(host_api h2 /v1/queue/net | jq -r '[.tasks[] | .host // "h2"] | unique | join(" ")')" "h1 h2"
check "  the port of the server is published at its host's address alone" holds "$(published)" "$(server_at)->$(server_at | cut -d : -f 2)/tcp"
soon "  workers of both learn" job_is net "done"
for host in h1 h2; do
  check "no container is left on $host but tickets" is "$(on "$host" docker ps -aq --filter label=org.flowcon.move)" ""
done
finish_lab
