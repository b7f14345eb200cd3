// SPDX-License-Identifier: Apache-2.0
// A policy's view: a daemon's observations of a job at this moment, without its truth or future.
// The engine fills it from printed lines and CPU counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctrl/growth/track.h"
#include "ctrl/metrics/report.h"

namespace flowcon::sim {

/// It travels with a migrated job. Units: seconds of simulated time, CPU
/// seconds, bytes.
struct Known {
  std::size_t number = 0;   ///< a container's id: unique, without meaning
  std::string_view model;   ///< image and command
  double arrived = 0;       ///< when it was started on this host
  double used = 0;          ///< CPU time on all hosts, as of the last tick
  double memory = 0;        ///< in use
  std::uint32_t moves = 0;  ///< to other hosts, so far

  ctrl::metrics::Report report;  ///< of its log: at most kKeptSamples
  ctrl::growth::Track track;
};

/// One host at a decision. Jobs in the order in which they came to it.
struct SimHost {
  std::size_t number = 0;
  double now = 0;
  double cores = 1;
  double memory = 0;
  bool has_changed = false;  ///< a job came or went since the last decision
  std::vector<const Known*> jobs;
};

/// All hosts at a decision about migrations.
struct SimCluster {
  double now = 0;
  std::optional<double> move_seconds;  ///< how long a job stood still that moved; empty: none did
  std::vector<SimHost> hosts;
  std::vector<std::size_t> moving;  ///< Known::number of migrating jobs
};

}  // namespace flowcon::sim
