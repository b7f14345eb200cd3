// SPDX-License-Identifier: Apache-2.0
// The gain of control: an estimate of each job's time in free competition. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/report/data.h"

namespace flowcon::plugin {

/// Units: seconds from the job's start.
struct WorthTime {
  double took = 0;
  double free = 0;               ///< estimated time without control
  bool is_extrapolated = false;  ///< `free` ends after the record does

  [[nodiscard]] double saved() const { return free - took; }
};

struct JobWorth {
  std::string id;
  std::optional<WorthTime> learnt;  ///< until 90 % of its improvement
  std::optional<WorthTime> whole;   ///< until its end
};

/// The method of the estimate, in sentences for people.
[[nodiscard]] const char* worth_method();

/// Why there is no estimate at all, in a sentence.
[[nodiscard]] std::string worth_gap(const ReportData& data);

/// One for each run that began in the time of the report, in their order; empty for runs that were
/// on other hosts too, and in a dry run. Source: ours. The usage of all containers at a moment is
/// divided equally. A container that used about its limit demands its usage without a limit (95th
/// percentile), at least its maximum under one; the others demand their usage. Progress is
/// proportional to CPU time.
[[nodiscard]] std::vector<JobWorth> estimate_worth(const ReportData& data);

/// Equal parts of `capacity`, none above its demand; the rest goes to the others.
[[nodiscard]] std::vector<double> equal_parts(double capacity, const std::vector<double>& demands);

}  // namespace flowcon::plugin
