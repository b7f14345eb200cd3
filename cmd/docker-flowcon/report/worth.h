// SPDX-License-Identifier: Apache-2.0
// What control was worth: an estimate of the time that each job would have taken in free
// competition. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/docker-flowcon/report/data.h"

namespace flowcon::plugin {

/// Units: seconds from the job's start.
struct WorthTime {
  double took = 0;
  double free = 0;               ///< what it would have taken, as estimated
  bool is_extrapolated = false;  ///< `free` ends after the record does

  [[nodiscard]] double saved() const { return free - took; }
};

struct JobWorth {
  std::string id;
  std::optional<WorthTime> learnt;  ///< until 90 % of what it learnt was learnt
  std::optional<WorthTime> whole;   ///< until its end
};

/// How it is estimated, in sentences for people.
[[nodiscard]] const char* worth_method();

/// Why nothing is estimated of any job, in a sentence.
[[nodiscard]] std::string worth_gap(const ReportData& data);

/// Of each run that began in the time of the report, in their order. Nothing where nothing can be
/// said: of runs that were on other hosts, too, and in a dry run, whose limits were never written.
/// Source: ours. What all containers used together at a moment is given out in equal parts; a
/// container that used about its limit then takes as much as it used where none held it (95th
/// percentile), at least the most it used at all under one, the others as much as they used. A job
/// is taken to progress with the CPU time it gets.
[[nodiscard]] std::vector<JobWorth> estimate_worth(const ReportData& data);

/// Shares of `capacity` for these demands, in equal parts: nobody gets more than it asks for, and
/// what one leaves goes to the others.
[[nodiscard]] std::vector<double> equal_parts(double capacity, const std::vector<double>& demands);

}  // namespace flowcon::plugin
