#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cluster-policy = balance on real hosts: jobs leave the host that has most to do, with their log and where they
# were, each at most max-moves times; hosts that differ in their policy.
# usage: balance.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=moves.sh
. "$(dirname "${BASH_SOURCE[0]}")/moves.sh"

begin_lab 3 --cores 0.5
HOST_POLICY=milestone
POLICY=$'peer-heartbeat = 2\ncategorise-interval = 2\ncluster-policy = balance\nmax-moves = 1\nspeculate = off\nrebalance = off'
make_peers h1 h2 h3

# worker HOST NAME [OPTION...]: the job of tests/lab/worker there; OPTION is docker run's.
worker() {
  local host=$1 name=$2
  shift 2
  must on "$host" docker run -d --name "$name" --network none -e STEPS=3000 "$@" "$IMAGE_SMALL" \
    busybox sh -c "$(cat "$FLOWCON_TOP/tests/lab/worker")"
}
# By a log that cannot be given to the engine of the next host.
movable() {
  worker "$1" "$2" -v "$2:/ckpt" --log-driver local --label flowcon.migrate=app --label flowcon.checkpoint.path=/ckpt/step \
    --label flowcon.checkpoint.signal=SIGUSR1 --label flowcon.checkpoint.timeout=10
}
soon() { local sentence=$1; shift; PATIENCE=180 eventually "$sentence" "$@"; }
host_of() { cluster h1 ".containers[] | select(.name == \"$1\") | .host"; }
is_known() { cluster_has h1 "[.containers[] | select(.left != null and .left > 50)] | length == $1"; }
each_has_one() { cluster_has h1 '[.containers[].host] | sort == ["h1", "h2", "h3"]'; }
twice_moved() { cluster_has h1 '[.containers[].moves] | sort == [0, 1, 1]'; }
none_moves() { cluster_has h1 '[.moves[] | select(.ended | not)] | length == 0'; }
# A host that is late has nothing decided without it: then it is asked again.
plan() { on h1 docker flowcon rebalance --dry-run --format '{{.Name}}' >"$WORK/plan" 2>&1; not grep -q silent "$WORK/plan"; }
nothing_planned() { must wait_until 30 plan; holds "$(cat "$WORK/plan")" "nothing to migrate"; }
reload() { must on "$1" sh -c 'sed -i "$2" "$1" && kill -HUP "$(cat /run/flowcond.pid)"' reload "$CONF" "$2"; }

# --- hosts that differ in their policy ------------------------------------------------------------------

# Nothing moves by itself yet: all three are known before the first decision.
reload h2 's/rebalance = off/rebalance = on/; s/policy = balance/policy = specon/'
for name in job-a job-b job-c; do movable h2 "$name"; done
soon "the work that is left is known of all three" is_known 3
refused() { holds "$(on h1 docker flowcon rebalance 2>&1)" "cluster-policy is specon on this host and another on the one that coordinates"; }
soon "a host with the other policy refuses, and why is told" refused
check "  and nothing was moved" cluster_has h1 '.moves == []'
reload h2 's/policy = specon/policy = balance/'

# --- one host has all the work ------------------------------------------------------------------------

begun() { holds "$(on h1 docker flowcon rebalance --format '{{.State}}' 2>&1)" begun; }
soon "of the same policy, it lets the first one go" begun
# What has arrived is known there, too, before the next decision.
arrived() { cluster_has h1 '([.containers[] | select(.left != null and .left > 50)] | length == 3) and ([.containers[].host] | unique | length == 2)'; }
soon "the work that is left travels with it" arrived
for host in h1 h3; do reload "$host" 's/rebalance = off/rebalance = on/'; done
soon "each host has one of three jobs that one of them was given" each_has_one
eventually "two of them were moved once, and one never" twice_moved
moved=$(cluster h1 '.containers[] | select(.host == "h1") | .name')
stayed=$(cluster h1 '.containers[] | select(.host == "h2") | .name')
check "the idle host got one of them" is "$(grep -cx 'job-[abc]' <<<"$moved")" 1
check "its cause is told" holds "$(moves h1 ".moves[] | select(.name == \"$moved\") | .cause")" balance
resumed() { [ "$(on h1 docker logs "$moved" 2>&1 | sed -n 's/^resumed //p' | tail -n 1)" -gt 0 ]; }
soon "it goes on where it was" resumed
is_never_new() {
  host_api h1 "/v1/containers/$moved/explain?last=1000" | jq -e '[.decisions[] | select(.algorithm == "milestone")
    | .state.containers[]] | length > 0 and all(.blind | not)'
}
check "its new host knows from the first decision on how long it takes" is_never_new
check "its log goes on: its first line is that of its first host" \
  is "$(on h1 docker flowcon logs "$moved" 2>/dev/null | head -n 1)" "step 1/3000 loss: 999999"
explained() { holds "$(on h2 docker flowcon explain "$stayed" --last 200 2>&1)" "others migrate"; }
soon "what stayed knows why" explained
decided_again() {
  local round
  round=$(host_api h2 "/v1/containers/$stayed/explain?last=1000" | jq -c '[.decisions[] | select(.algorithm == "balance")][-1]')
  is "$(jq -c .state <<<"$round" | "$SIM" decide balance | jq -c .)" "$(jq -c .decision <<<"$round")"
}
SIM=$FLOWCON_TOP/build/release/bin/flowcon-sim
if [ -x "$SIM" ]; then
  check "its state gives the same decision by hand" decided_again
else
  skip "its state gives the same decision by hand" "flowcon-sim is not built"
fi

# --- at most max-moves ----------------------------------------------------------------------------------

for name in fixed1 fixed2; do worker h1 "$name" --label flowcon.enable=true --tmpfs /ckpt; done
soon "the work that is left is known of all five" is_known 5
check "what was moved as often as it may be stays" nothing_planned
check "  where it was" is "$(host_of "$moved")" h1
for host in h1 h2 h3; do reload "$host" 's/max-moves = 1/max-moves = 2/'; done
moved_on() { cluster_has h1 ".containers[] | select(.name == \"$moved\") | .host != \"h1\" and .moves == 2"; }
soon "allowed once more, it leaves the host that has most to do" moved_on

soon "all moves end" none_moves

finish_lab
