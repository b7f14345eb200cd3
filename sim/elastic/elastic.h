// SPDX-License-Identifier: Apache-2.0
// Jobs that can run on more or fewer equal nodes, under the decisions of the elastic allocator
// (cluster/policy/greedy.h, horizon.h): the published experiment of 447 jobs in 50 hours.
// docs/simulator.md has what is assumed. Deterministic, from event to event. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace flowcon::sim::elastic {

/// Units: hours; node hours, which are the hours that it takes on one node.
struct Job {
  double arrival = 0;  ///< at least 0
  double work = 1;     ///< above 0
};

enum class Allocator { greedy, horizon };

/// What the rolling horizon is told of a job's work.
enum class Estimate {
  exact,
  noise,    ///< the work times U(0.9, 1.1)
  factor2,  ///< the work times e^(U(-1, 1) ln 2)
  factor4,  ///< the work times e^(U(-1, 1) ln 4)
  age       ///< nothing: as much is left as it has had
};

struct Setting {
  int nodes = 110;  ///< from 1 to 100,000
  Allocator allocator = Allocator::greedy;
  Estimate estimate = Estimate::exact;
  bool is_harsh = false;           ///< 15 % of the jobs fail soon, 10 % are killed by their users
  double scale_up_seconds = 0;     ///< a job that gets more goes on so long with what it had
  bool allow_zero = false;         ///< horizon: a job may be parked
  bool decides_at_events = false;  ///< horizon: when a job comes or ends, not each 5 minutes
  std::uint64_t seed = 1;          ///< of the estimates, and of who fails or is killed
};

/// One job gets another number of nodes; 0 where it ends or is parked.
struct Change {
  double at = 0;  ///< hours
  std::size_t job = 0;
  int nodes = 0;
};

struct Outcome {
  enum class End { complete, failed, killed };
  std::optional<double> started;  ///< empty: killed before
  double ended = 0;               ///< hours
  End end = End::complete;
};

/// Means over the jobs that completed, in hours; 0 where none did.
struct Run {
  double mean_completion = 0;  ///< from arrival to end
  double mean_queueing = 0;    ///< from arrival to start
  std::size_t completed = 0;
  std::vector<Outcome> jobs;    ///< as they were given
  std::vector<Change> changes;  ///< in order of time
};

/// `jobs` in order of arrival, at most HorizonState::kMostJobs.
[[nodiscard]] Run run(const std::vector<Job>& jobs, const Setting& setting);

/// 100 * (T_greedy / T - 1): jobs beyond each hundred in the same time. 0 where T is 0.
[[nodiscard]] double additional_jobs(const Run& greedy, const Run& run);

}  // namespace flowcon::sim::elastic
