// SPDX-License-Identifier: Apache-2.0
// `flowcon-sim run elastic-447`: jobs that can run on more or fewer nodes (sim/elastic).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/flowcon-sim/simulate.h"

namespace flowcon::sim {

inline constexpr std::string_view kElasticSchedule = "elastic-447";

/// Whether `run`'s arguments name this schedule, and do not ask for help.
[[nodiscard]] bool is_elastic_run(const std::vector<std::string>& arguments);

/// `arguments` begin with "run".
[[nodiscard]] Answer run_elastic(const std::vector<std::string>& arguments, const World& world);

/// Its lines in the help of `run`: schedule, policies, options.
[[nodiscard]] std::string elastic_schedule_help();
[[nodiscard]] std::string elastic_policies_help();
[[nodiscard]] std::string elastic_options_help();

}  // namespace flowcon::sim
