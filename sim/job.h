// SPDX-License-Identifier: Apache-2.0
// The input of the simulator: true jobs, hosts, and both together as a schedule. No policy sees a
// JobSpec; known.h is their view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/curve.h"

namespace flowcon::sim {

struct JobSpec {
  std::string id;
  std::string model;        ///< stands for image and command: equal means "the same training again"
  double arrival = 0;       ///< seconds
  double work = 1;          ///< CPU seconds in all
  double parallelism = 1;   ///< cores that it can use at once
  double memory = 0;        ///< bytes
  double warmup = 0;        ///< share of the work before the first step (imports, data)
  std::uint32_t lines = 1;  ///< log lines with a value, evenly over the steps
  bool has_counter = false;  ///< each line has its progress ("epoch 3/20")
  double noise = 0;          ///< standard deviation of a value, share of the curve's range
  std::uint64_t noise_seed = 0;
  std::shared_ptr<const Curve> curve;
  std::string curve_id;              ///< which real curve it has; empty: one of its model's
  std::optional<double> crash_at;    ///< crashes at this share of the work
  std::optional<double> kill_after;  ///< killed this many seconds after its arrival
  std::optional<std::size_t> host;   ///< where it is started; empty: see Start

  /// Share of the steps done when `used` CPU seconds were spent, 0..1.
  [[nodiscard]] double progress(double used) const {
    const double steps = work * (1 - warmup);
    const double done = (used - work * warmup) / steps;
    return done < 0 ? 0 : done > 1 ? 1 : done;
  }
  /// CPU seconds at which the share `x` of the steps is done.
  [[nodiscard]] double used_at(double x) const { return work * (warmup + (1 - warmup) * x); }
  /// CPU seconds at which 90 % of the way from the first value that it prints to its best is made.
  [[nodiscard]] double work90() const { return used_at(curve->x90(1.0 / lines)); }
  /// CPU seconds at which it ends by itself.
  [[nodiscard]] double end_work() const { return crash_at ? work * *crash_at : work; }
};

struct HostSpec {
  double cores = 8;
  double memory = 64e9;  ///< bytes
};

/// Where jobs without a host of their own begin.
enum class Start {
  balanced,  ///< one host after the other
  random,    ///< anywhere, by the seed
  least,     ///< where the fewest run at that moment
};

/// The input of a run. Jobs are in order of arrival.
struct Schedule {
  std::string name;
  std::vector<HostSpec> hosts;
  std::vector<JobSpec> jobs;
  std::vector<JobSpec> earlier;  ///< jobs that ran, one by one, before the run
  Start start = Start::balanced;
  std::uint64_t seed = 0;
};

}  // namespace flowcon::sim
