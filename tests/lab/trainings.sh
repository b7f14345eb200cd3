#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Real distributed trainings as jobs of several containers: PyTorch's DistributedDataParallel over Gloo, which starts
# again with more workers, and a parameter server around which workers come and go.
# usage: trainings.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 2 --cores 1
POLICY=$'peer-heartbeat = 1\nspeculate = off\nrebalance = off'
# h2 has the jobs, h1 the room.
flowcond_reads h1 'offer = cpu=2 mem=3G'
flowcond_reads h2 'offer = cpu=0.1 mem=100M'
make_peers h1 h2
must on h2 sh -c 'docker create --name seed "$1" true && docker cp /opt/source/examples seed:/examples && docker commit seed trainings:1 && docker rm seed' seed "$IMAGE_TRAIN"

submit() { must on h2 docker flowcon submit "$@" >/dev/null 2>&1; }
soon() { local sentence=$1; shift; PATIENCE=300 eventually "$sentence" "$@"; }
log_of() { on h2 docker flowcon logs "$1" 2>/dev/null; }
tasks() { on h1 docker ps --format '{{.Names}}' --filter label=org.flowcon.group | sort | tr '\n' ' '; }
losses() { grep -o 'Epoch .*'; }
# For people. stood_still NAME [SINCE]: seconds from that moment to its first epoch, else the longest between two.
stood_still() {
  on h1 docker logs -t "$1" 2>/dev/null | python3 -c '
import datetime, sys
times = [float(word) for word in sys.argv[1:]]
for line in sys.stdin:
    if " Epoch " in line and (len(times) < 2 or len(sys.argv) == 1):
        times.append(datetime.datetime.fromisoformat(line.split()[0][:26].rstrip("Z") + "+00:00").timestamp())
print(f"{max(b - a for a, b in zip(times, times[1:])):.1f} s")' "${@:2}"
}

# --- all-reduce -----------------------------------------------------------------------------------------

ddp=(trainings:1 python3 /examples/ddp_digits.py --checkpoint /ck/model.pt)
alone=$(on h2 docker run --rm --network none trainings:1 python3 /examples/ddp_digits.py --epochs 3 2>/dev/null | losses)
submit --name two --workers 2 --request cpu=0.5,mem=500M -v two:/ck "${ddp[@]}" --epochs 3
soon "two workers learn together" job_has two '.state == "done"'
check "their losses are those of one" is "$(log_of two-w0 | losses)" "$alone"

submit --name blocks --request cpu=1,mem=100M trainings:1 sh -c 'until [ -e /go ]; do sleep 0.2; done'
soon "another job takes half of the host" job_has blocks '.state == "running"'
submit --name grows --workers 1:2 --elastic restart --request cpu=1,mem=500M -v grows:/ck \
  --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=60 "${ddp[@]}" --epochs 4000
begins() { is "$(tasks)" "grows-w0 " && holds "$(log_of grows-w0)" "Epoch 5/"; }
soon "a training starts with one worker" begins
must on h1 docker exec blocks sh -c ': >/go'
grown() { is "$(tasks)" "grows-w1 grows-w2 " && holds "$(log_of grows-w1)" "Epoch "; }
soon "when there is room it starts again with two" grown
check "  from what it has saved" holds "$(log_of grows-w1)" "resumed from /ck/model.pt"
check "  and not from the beginning" test "$(log_of grows-w1 | losses | head -n 1 | tr -dc '0-9/ ' | cut -d / -f 1)" -gt 5
say "it stood still for $(stood_still grows-w1 "$(host_api h2 /v1/queue/grows | jq '[.steps[] | select(.state == "parking")][-1].time')")"
say "  of which the start of the training itself took $(stood_still grows-w1 "$(date -d "$(on h1 docker inspect -f '{{.State.StartedAt}}' grows-w1)" +%s.%N)")"
must on h2 docker flowcon queue cancel grows
soon "it is cancelled" job_has grows '.state == "cancelled"'

# --- torchrun --------------------------------------------------------------------------------------------

submit --name agents --workers 1:2 --elastic torchrun --request cpu=0.5,mem=500M -v agents:/ck trainings:1 \
  python3 -m torch.distributed.run /examples/ddp_digits.py --checkpoint /ck/model.pt --save-each 1 --epochs 4000
must on h2 docker flowcon queue scale agents 1
begins() { is "$(tasks)" "agents-w0 " && holds "$(log_of agents-w0)" "Epoch 5/"; }
soon "torchrun starts with one worker" begins
must on h2 docker flowcon queue scale agents 2
grown() { holds "$(log_of agents-w0 | sed -n '/, 2 workers/,$p')" "Epoch "; }
soon "and goes on with two" grown
check "  from what was saved" test "$(log_of agents-w0 | sed -n '/, 2 workers/,$p' | losses | head -n 1 | tr -dc '0-9/ ' | cut -d / -f 1)" -ge 5
check "  in the container that was there" is "$(on h1 docker inspect --format '{{.RestartCount}} {{.State.Running}}' agents-w0)" "0 true"
say "it stood still for $(stood_still agents-w0)"
must on h2 docker flowcon queue scale agents 1
shrunk() { is "$(tasks)" "agents-w0 " && holds "$(log_of agents-w0 | sed -n '/, 2 workers/,$p' | sed -n '/, 1 workers/,$p')" "Epoch "; }
soon "and with one again" shrunk
refused() { holds "$(on h2 docker flowcon queue scale agents 3 2>&1)" "torchrun takes the 1 to 2 workers"; }
check "more than it was submitted with are refused" refused
must on h2 docker flowcon queue cancel agents
soon "it is cancelled" job_has agents '.state == "cancelled"'

# --- a parameter server -----------------------------------------------------------------------------------

submit --name ps --workers 1:4 --ps 1 --elastic join --request cpu=0.4,mem=300M --ps-request cpu=0.2,mem=300M \
  trainings:1 python3 /examples/ps_digits.py --steps 4000 --pause 0.05
gathered() { is "$(tasks)" "ps-s0 ps-w0 ps-w1 ps-w2 ps-w3 "; }
soon "workers gather around a parameter server" gathered
must on h1 docker kill ps-w1 >/dev/null
replaced() { is "$(tasks)" "ps-s0 ps-w0 ps-w2 ps-w3 ps-w4 "; }
soon "one that is killed is replaced" replaced
soon "all steps are done" job_has ps '.state == "done"'
check "  by several workers" holds "$(log_of ps-w0)" "steps were mine"
check "  and the loss has fallen" test "$(log_of ps-s0 | grep -c 'step 4000/4000 loss: 0\.[0-2]')" = 1

for host in h1 h2; do
  check "no container is left on $host but tickets" is "$(on "$host" docker ps -aq --filter label=org.flowcon.move)" ""
done
finish_lab
