// SPDX-License-Identifier: Apache-2.0
// All that a policy sees: what a daemon would know of a job at this moment, and nothing of what it
// truly is or will be. Filled by the engine from printed lines and CPU counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/growth/track.h"
#include "ctrl/metrics/report.h"

namespace flowcon::sim {

/// What was known of a job that was moved goes with it. Units: seconds of simulated time, CPU
/// seconds, bytes.
struct Known {
  std::size_t number = 0;  ///< a container's id: unique, says nothing
  std::string_view model;  ///< image and command
  double arrived = 0;      ///< when it was started on this host
  double used = 0;         ///< CPU time on all hosts, as of the last look
  double memory = 0;       ///< in use
  double looked_at = 0;
  std::uint32_t moves = 0;  ///< to other hosts, so far

  ctrl::metrics::Report report;  ///< of its log: at most kKeptSamples
  ctrl::growth::Track track;
};

/// One host at a decision. Jobs in the order in which they came to it.
struct HostView {
  std::size_t number = 0;
  double now = 0;
  double cores = 1;
  double memory = 0;
  bool has_changed = false;  ///< a job came or went since the decision before
  std::vector<const Known*> jobs;
};

/// All hosts at a decision about moves.
struct ClusterView {
  double now = 0;
  std::optional<double> move_seconds;  ///< how long a job stood still that moved; empty: none did
  std::vector<HostView> hosts;
  std::vector<std::size_t> moving;  ///< Known::number of those that are on their way
};

}  // namespace flowcon::sim
