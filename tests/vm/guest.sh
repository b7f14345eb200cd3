#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Topics one after the other in one VM. A topic that reboots it comes last, and goes on at the next boot.
# usage: guest.sh BINDIR TOPIC...
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
bin=$1 failed=0
shift
[ "$VM_BOOT" = 1 ] || set -- "${@: -1}"
for topic in "$@"; do "$here/$topic.sh" "$bin" || failed=1; done
exit "$failed"
