// SPDX-License-Identifier: Apache-2.0
// Lines that say what the values after them are.
#pragma once

#include <optional>
#include <string_view>

#include "ctrl/metrics/names.h"

namespace flowcon::ctrl::metrics {

/// "Stopping. Best iteration:": the line after it is a copy of an earlier one.
[[nodiscard]] bool announces_best(std::string_view text);

/// "--- Validation ---", "Epoch 3: evaluating on the test set": the part of the data by which the
/// values below were measured. Empty where `text` says more than that, or names two parts.
[[nodiscard]] std::optional<Phase> heading_of(std::string_view text);

}  // namespace flowcon::ctrl::metrics
