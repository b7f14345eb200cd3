// SPDX-License-Identifier: Apache-2.0
// Schedules and curves from tables of real clusters and real trainings. Columns are found by their
// names, so that traces of several sources can be read; see docs/simulator.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/curve.h"
#include "sim/job.h"
#include "sim/schedule.h"

namespace flowcon::sim {

struct TraceOptions {
  double worker_cores = 1;    ///< cores that one worker (GPU, node) of the trace stands for
  double arrival_scale = 1;   ///< factor on the times of arrival
  double work_scale = 1;      ///< factor on the durations
  std::size_t most_jobs = 0;  ///< at most this many, the first to arrive; 0 = all
  bool is_bounded = true;     ///< no job, nor all jobs on all hosts, may take more than 30 years
};

/// Has it the columns that parse_trace() needs?
[[nodiscard]] bool is_trace(std::string_view text);

/// Jobs of a trace, on `options.hosts` (1) hosts of `options.cores` (8) cores.
/// Needed columns: a time of arrival and a duration. Duration is the time it takes with all its
/// workers; a job's cores are at most those of one host. Status "failed" crashes at its end,
/// "killed" is killed. A job with an arrival below 0 ran before and is remembered at most. `what`
/// is the file's name.
/// Errors: no such column; a field that is no number in range; no such curve; no job; jobs that
/// arrive more than 30 years apart; `trace.is_bounded`. The sentence has the line, if it is about
/// one.
[[nodiscard]] Result<Schedule> parse_trace(std::string_view text, const std::string& what,
                                           const TraceOptions& trace,
                                           const ScheduleOptions& options);

/// Curves of a file: curve_id, step_or_epoch, metric, value and, where it has, model. One a
/// curve_id: of its metrics the one with the most finite values, a loss before others. Curves with
/// fewer than five finite values are left out.
/// Errors: a column is missing; a step is no number; a value is beyond 1e150, above or below 0;
/// nothing is left.
[[nodiscard]] Result<std::vector<NamedCurve>> parse_curves(std::string_view text,
                                                           const std::string& what);

}  // namespace flowcon::sim
