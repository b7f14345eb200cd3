// SPDX-License-Identifier: Apache-2.0
// The published experiments as schedules. docs/simulator.md lists our assumptions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/curve.h"
#include "sim/job.h"

namespace flowcon::sim {

/// Options of a schedule. Empty: as the schedule has it.
struct ScheduleOptions {
  std::uint64_t seed = 1;
  double counters = 1;  ///< share of the jobs that print a progress counter, 0..1
  std::optional<double> noise;
  std::optional<std::uint32_t> lines;
  std::optional<std::size_t> hosts;
  std::optional<double> cores;
  std::optional<Start> start;
  std::uint32_t history = 3;       ///< runs of each model before the schedule begins
  double crashes = 0;              ///< share of the jobs that crash at some point, 0..1
  std::vector<NamedCurve> curves;  ///< real ones, instead of formulas
};

struct PublishedSchedule {
  std::string_view name;
  std::string_view summary;
  Schedule (*make)(const ScheduleOptions& options);
};

[[nodiscard]] const std::vector<PublishedSchedule>& published_schedules();

/// By name; "4x30" is specon-4x30. Null where there is none.
[[nodiscard]] const PublishedSchedule* find_schedule(std::string_view name);

/// A curve for a job of this model: one of `curves` whose model has that name, else any, else a
/// formula; by the seed.
[[nodiscard]] std::shared_ptr<const Curve> curve_for(const std::string& model,
                                                     const std::vector<NamedCurve>& curves,
                                                     std::uint64_t seed);

/// Applies the options of single jobs: counters, noise, lines, crashes; then sorts by arrival.
void apply_options(Schedule& schedule, const ScheduleOptions& options);

}  // namespace flowcon::sim
