// SPDX-License-Identifier: Apache-2.0
// The jobs of the elastic experiment from a table of a real cluster (sim/trace.h has its columns).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/elastic/elastic.h"

namespace flowcon::sim::elastic {

/// Jobs in order of arrival; the first arrives at 0.
struct TraceJobs {
  static constexpr std::size_t kMostJobs = 10'000;
  static constexpr double kMostHours = 1e6;  ///< of work, of all jobs

  std::vector<Job> all;
  std::vector<Job> of_447;  ///< those whose column in447 is 1; empty: there is no such column
};

/// A job's work is its duration, whatever it ran on and however it ended. `what` is the file's
/// name. Errors: those of parse_trace(); more than kMostJobs or kMostHours.
[[nodiscard]] Result<TraceJobs> parse_jobs(std::string_view text, const std::string& what);

}  // namespace flowcon::sim::elastic
