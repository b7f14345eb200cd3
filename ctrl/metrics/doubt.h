// SPDX-License-Identifier: Apache-2.0
// How sure a choice is.
#pragma once

#include <vector>

#include "ctrl/metrics/choose.h"

namespace flowcon::ctrl::metrics {

/// 0 to 1: how sure it is that `chosen`, one of `ranked`, is the right one.
[[nodiscard]] double confidence_of(const std::vector<Scored>& ranked, const Series* chosen);

}  // namespace flowcon::ctrl::metrics
