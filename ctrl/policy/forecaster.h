// SPDX-License-Identifier: Apache-2.0
// What is expected of the jobs of one host, by their progress counters, by earlier runs of the same
// training, or by their age. Whatever policy divides the host. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ctrl/growth/forecast.h"
#include "ctrl/policy/host_policy.h"

namespace flowcon::ctrl::policy {

class Forecaster {
 public:
  /// `least`: work that is not distinguished, in seconds of the whole host.
  Forecaster(double cores, double least) : least_(least * cores) {}

  /// A run of another time.
  void remember(const std::string& training, const growth::Remembered& run) {
    memory_.remember(training, run);
  }
  [[nodiscard]] growth::Forecast forecast(const JobView& job) const;
  /// What its `left` is estimated by, for as little as left().
  [[nodiscard]] growth::Basis basis(const JobView& job) const;
  /// Its `left` alone, for much less; empty while nothing is known: it has no counter, no earlier
  /// runs, and is younger than young(). Units: CPU seconds.
  [[nodiscard]] std::optional<double> left(const JobView& job) const;
  /// A job too young for a forecast by its age has used less. Units: CPU seconds.
  [[nodiscard]] double young() const { return growth::kKnownByAge * least_; }
  /// It ended by itself. `is_complete`: with status 0, and it was seen from its beginning.
  void end(const JobView& job, bool is_complete);
  /// It is here no more.
  void forget(const std::string& id) { kept_.erase(id); }

 private:
  double least_;  // CPU seconds
  growth::RunMemory memory_;
  mutable std::map<std::string, growth::Chances> kept_;  // what it took long to find
};

}  // namespace flowcon::ctrl::policy
