// SPDX-License-Identifier: Apache-2.0
// Answers of the mover to peers and people. No I/O, no clock.
#pragma once

#include <string>
#include <vector>

#include "ctrl/api/server.h"

namespace flowcon::cluster::migration {

/// All reasons, as a list and as one sentence.
[[nodiscard]] ctrl::api::Response refuse(const std::vector<std::string>& reasons);

}  // namespace flowcon::cluster::migration
