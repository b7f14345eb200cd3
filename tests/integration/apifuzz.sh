#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The whole API against a flowcond with containers, records and a peer: whatever is sent, it answers, with a sentence
# where it refuses, goes on, and what nobody asked it to change is as it was.
# usage: apifuzz.sh BINDIR
#
#   FLOWCON_TEST_SEED=N      another order and other picks (default 1)
#   FLOWCON_TEST_MOST=N      bodies and names for each endpoint (default 60, 0: all there are, some ten thousand calls)
# shellcheck disable=SC2317 # functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=pair.sh
. "$(dirname "${BASH_SOURCE[0]}")/pair.sh"

at_h1() { host_api h1 GET "$1" | jq -c "$2"; }
fuzz() {
  python3 "$(dirname "${BASH_SOURCE[0]}")/api_fuzz.py" "$WORK/h1/api.sock" "$WORK/h1/peer.sock" h2 "$(id_of h2)" "$(id_of h1)" \
    fuzzed loose "${FLOWCON_TEST_SEED:-1}" "${FLOWCON_TEST_MOST:-60}"
}
id_of() { host_api "$1" GET /v1/peers | jq -r .here.id; }
# What only a call for it may change.
kept() {
  at_h1 /v1/status '.containers[] | select(.name == "kept") | {state, weight, floor, pinned, metric, goal}'
  at_h1 /v1/containers/kept/history '{id, started, first: .samples[0]}'
  at_h1 /v1/peers '[.here.id, (.peers[] | select(.name == "h2") | .id, .source, .state)]'
  at h1 inspect -f '{{.Id}} {{.State.StartedAt}}' kept fuzzed loose
}
is_calm() { ! grep -nE '^flowcond: error|Sanitizer|runtime error|terminate called|ASSERT' "$(host_log "$1")"; }
has_metric() { host_has h1 /v1/status 'any(.containers[]; .name == "kept" and .values > 2)'; }
is_as_before() { is "$(kept)" "$before"; }
post() { host_api h1 POST "$1" "${2:-}" >/dev/null; }

begin_pair "$@"
host_up h2
host_up h1
for name in kept fuzzed; do job "$name" learn --label flowcon.enable=true --label flowcon.migrate=no; done
job loose flat
for name in kept fuzzed; do must wait_until 60 knows h1 "$name"; done
must post /v1/containers/kept/pin '{"cpu":"0.3"}'
must post /v1/containers/kept/set '{"weight":"3","floor":"0.1"}'
eventually "the hosts reach each other" both_reach
eventually "there are records" has_metric
before=$(kept)

check "every call is answered, and each refusal has a sentence" fuzz
check "flowcond is still the same process" host_runs h1
check "so is that of the peer" host_runs h2
must post /v1/resume
must post /v1/peers/h1/undrain
eventually "what nobody asked to change is as it was" is_as_before
host_stop h1
check "it ends as it should" is_calm h1
host_up h1
eventually "the hosts reach each other after a restart" both_reach
eventually "what is kept on disk is as it was" is_as_before
check "nothing was amiss" is_calm h1
check "nor on the peer" is_calm h2
finish_pair
