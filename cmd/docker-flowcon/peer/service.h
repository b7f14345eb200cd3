// SPDX-License-Identifier: Apache-2.0
// What flowcond may do where it is the package's service of systemd: a host without peers needs no
// network. Needs root.
#pragma once

#include <string>

#include "base/result.h"

namespace flowcon::plugin {

/// Lets the service run ssh and unpack what moves with a container, by the package's own drop-in
/// (packaging/peers.conf), and starts it anew. True if that was needed; false where it was done
/// before, or where flowcond is not that service. `root` is for tests. Errors: the drop-in cannot
/// be linked, systemctl fails.
[[nodiscard]] Result<bool> let_service_have_peers(const std::string& root = "");

}  // namespace flowcon::plugin
