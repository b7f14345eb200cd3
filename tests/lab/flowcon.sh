#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# flowcond and the plugin, built for Debian 13, on hosts of the lab: the integration tests on one, the
# same training on two at once, a power loss.
# usage: flowcon.sh
# shellcheck disable=SC2016,SC2317 # shells inside of hosts; functions are called by name
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

begin_lab 2 --cores 1

# --- the same training on two hosts -------------------------------------------------------------------

# The container's name, image and command are the same on both, its id is not.
# train HOST NAME: learns in epochs of which there are more than the test lasts.
train() {
  must on "$1" docker flowcon run --metric loss -d --name "$2" --network none -v /opt/source/examples:/examples:ro \
    "$IMAGE_TRAIN" python3 /examples/vae_digits.py --epochs 100000
}
# flat HOST NAME: has converged from its first line on.
flat() {
  must on "$1" docker flowcon run -d --name "$2" --network none "$IMAGE_SMALL" \
    sh -c 'while :; do echo "loss: 0.5"; sleep 0.2; done'
}
for host in h1 h2; do
  host_flowcond "$host" --alpha 0.001
  train "$host" vae
  flat "$host" flat
done
learns() { host_has "$1" '.containers[] | select(.name == "vae") | .state == "controlled" and .metric == "loss" and .values > 3'; }
for host in h1 h2; do
  eventually "the training is controlled on $host" learns "$host"
  eventually "a converged job is on the list CL on $host" host_has "$host" '.containers[] | select(.name == "flat") | .list == "CL"'
  check "$host knows its own two containers only" host_has "$host" '[.containers[].name] | sort == ["flat", "vae"]'
done
id_on() { host_api "$1" /v1/status | jq -r '.containers[] | select(.name == "vae") | .id'; }
check "the two trainings are two containers" not is "$(id_on h1)" "$(id_on h2)"
limited() { [ "$(host_weight "$1" flat)" -lt "$(host_weight "$1" vae)" ] || { host_weight "$1" flat; host_weight "$1" vae; return 1; }; }
for host in h1 h2; do eventually "the converged job weighs less in the kernel of $host" limited "$host"; done

must on h1 docker flowcon release vae
must on h1 docker flowcon release flat
check "release on one host restores its weights" is "$(host_weight h1 vae) $(host_weight h1 flat)" "1024 1024"
check "and is none of the other's business" limited h2
values() { host_api h2 /v1/status | jq '.containers[] | select(.name == "vae") | .values'; }
before=$(values)
goes_on() { [ "$(values)" -gt $((before + 2)) ] || { values; return 1; }; }
eventually "where the training is followed on" goes_on

# --- power loss ---------------------------------------------------------------------------------------

must on h2 docker update --restart always vae flat
must "$LAB" kill h2
must "$LAB" boot h2
both_run() { is "$(on h2 docker ps --format '{{.Names}}' | sort | paste -sd' ')" "flat vae"; }
eventually "after a power loss the host's containers are back" both_run
host_flowcond h2 --alpha 0.001
eventually "and controlled again" learns h2
must on h2 sh -c 'kill $(cat /run/flowcond.pid); while kill -0 $(cat /run/flowcond.pid) 2>/dev/null; do sleep 0.1; done'
check "with the originals of their users, as flowcond's end shows" is "$(host_weight h2 vae) $(host_weight h2 flat)" "1024 1024"
must on h2 docker rm -f vae flat
must on h1 docker rm -f vae flat

# --- the integration tests ----------------------------------------------------------------------------

status=0
on h1 /opt/source/tests/integration/run /opt/flowcon control engine logs state plugin >"$WORK/integration" 2>&1 || status=$?
grep -A 25 '^not ok' "$WORK/integration" || :
check "the integration tests pass on a Debian 13 host: $(tail -n 1 "$WORK/integration")" is "$status" 0

finish_lab
