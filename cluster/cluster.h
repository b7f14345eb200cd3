// SPDX-License-Identifier: Apache-2.0
// What flowcond knows and does of several hosts, put together: who the others are (peers), what
// goes where (balancer), how it gets there (migrator). Nothing is decided here.
#pragma once

#include <memory>

#include "base/result.h"
#include "ctrl/extension.h"

namespace flowcon::cluster {

/// Where the peer socket cannot be had it warns, and no peer can reach this host. Errors: none.
[[nodiscard]] Result<std::unique_ptr<ctrl::Extension>> make_cluster(ctrl::LocalHost& host);

}  // namespace flowcon::cluster
