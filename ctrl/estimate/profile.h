// SPDX-License-Identifier: Apache-2.0
// What a run needed, from its samples: the labels that later runs are estimated by. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace flowcon::ctrl::estimate {

/// A run between two samples. Units: seconds, cores, bytes, percent of a GPU.
struct RunSample {
  double seconds = 0;         ///< since the sample before
  double cpu_seconds = 0;     ///< used in that time
  bool is_held_back = false;  ///< a limit or other jobs kept it from more
  double memory = 0;          ///< working set
  double net = 0;             ///< sent and received in that time
  double io = 0;              ///< read and written in that time
  std::optional<double> gpu_util;
  std::optional<double> gpu_memory;
};

/// Adds up the samples of a run.
class RunMeter {
 public:
  /// `started` and all times below: seconds, on one clock.
  explicit RunMeter(double started) : started_(started) {}

  void sample(const RunSample& sample);
  /// It printed a value or a count.
  void printed(double at);

  /// The labels of a run that ended well then, each above 0: "seconds_launch", "seconds_train",
  /// "seconds_save", "cpu_seconds", "cpu", "mem", "net", "io", "gpu_util", "gpu_util_std",
  /// "gpu_mem". What was not measured is left out. `net` is of one
  /// of its workers.
  [[nodiscard]] std::vector<std::pair<std::string, double>> labels(double ended,
                                                                   std::int64_t workers) const;

 private:
  double started_;
  std::optional<double> first_;  // value or count
  double last_ = 0;
  double seconds_ = 0;
  double cpu_seconds_ = 0;
  double free_seconds_ = 0;  // not held back
  double free_cpu_seconds_ = 0;
  double memory_ = 0;
  double net_ = 0;
  double io_ = 0;
  double gpu_seconds_ = 0;
  double gpu_sum_ = 0;
  double gpu_squares_ = 0;
  double gpu_memory_ = 0;
};

}  // namespace flowcon::ctrl::estimate
