// SPDX-License-Identifier: Apache-2.0
// Permissions of the package's systemd service: a host without peers needs no network. Needs root.
#pragma once

#include <string>

#include "base/result.h"

namespace flowcon::plugin {

/// Lets the service run ssh and unpack migrated data, by the package's drop-in
/// (packaging/peers.conf), and restarts it. True if that was needed; false if it was done before,
/// or if flowcond is not that service. `root` is for tests. Errors: the drop-in cannot be linked,
/// systemctl fails.
[[nodiscard]] Result<bool> let_service_have_peers(const std::string& root = "");

}  // namespace flowcon::plugin
