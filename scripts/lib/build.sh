# SPDX-License-Identifier: Apache-2.0
#
# Builds, and says how far it is.
#
#   build_release LOG    flowcond and docker-flowcon in build/release; all of its output goes to LOG.
#                        Fails with the end of it
#   build_progress       copies every ten seconds a line of ninja's output to stdout
# shellcheck shell=bash

# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_release() {
  if ! (
    cd "$FLOWCON_TOP"
    cmake --preset release && cmake --build --preset release --target flowcond docker-flowcon
  ) 2>&1 | tee "$1" | build_progress; then
    grep -A 20 -m 1 -E 'FAILED|Error' "$1" >&2 || tail -n 20 "$1" >&2
    return 1
  fi
}

build_progress() {
  local line started=$SECONDS next=$((SECONDS + 5))
  while read -r line; do
    if [ "$SECONDS" -ge "$next" ] && [[ $line == \[* ]]; then
      printf '  %4d s  %s\n' "$(seconds_since "$started")" "$line"
      next=$((SECONDS + 10))
    fi
  done
}
