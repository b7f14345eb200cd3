// SPDX-License-Identifier: Apache-2.0
// What it costs a job to be parked and started again, by what the last jobs took for it. Pure.
#pragma once

#include <vector>

#include "cluster/queue/job.h"

namespace flowcon::cluster::queue {

/// Saving, coming home where it was elsewhere, being started again, here or elsewhere. Jobs that
/// were never parked count too: they have been started, and have come home or not.
class PauseMeter {
 public:
  void add(const std::vector<JobStep>& steps);
  /// The medians together. Unit: seconds. What nobody has measured yet: kUnmeasuredSave for the
  /// save, kUnmeasuredStart for the rest.
  [[nodiscard]] double seconds() const;

  static constexpr double kUnmeasuredSave = 5;
  static constexpr double kUnmeasuredStart = 5;

 private:
  std::vector<double> saves_;
  std::vector<double> returns_;  // 0: it was at home
  std::vector<double> starts_;
};

}  // namespace flowcon::cluster::queue
