// SPDX-License-Identifier: Apache-2.0
// Errors of the estimate on tables of real runs, beside Liquid's figure, with goals from a
// reference forest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/estimate/tables.h"
#include "sim/published.h"

namespace flowcon::sim::estimate {

constexpr std::uint64_t kSeeds = 5;  ///< that the figures are for

/// Of each label 50 runs drawn at random, estimated from 200 others, the mean of `seeds` draws;
/// then, where there is a reference, R² from 25 to 400 others. Some seconds for the published
/// tables. Errors: a label has fewer than 250 runs. `file` is the table's name.
[[nodiscard]] Result<std::vector<PublishedRow>> estimate_rows(
    const std::vector<Runs>& tables, const std::string& file, std::uint64_t seeds,
    const std::function<void(const std::string& what)>& progress = nullptr);

}  // namespace flowcon::sim::estimate
