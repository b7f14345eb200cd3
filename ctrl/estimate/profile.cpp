// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/profile.h"

#include <algorithm>
#include <cmath>

namespace flowcon::ctrl::estimate {

void RunMeter::sample(const RunSample& sample) {
  if (!(sample.seconds > 0)) return;
  seconds_ += sample.seconds;
  cpu_seconds_ += sample.cpu_seconds;
  if (!sample.is_held_back) {
    free_seconds_ += sample.seconds;
    free_cpu_seconds_ += sample.cpu_seconds;
  }
  memory_ = std::max(memory_, sample.memory);
  net_ += sample.net;
  io_ += sample.io;
  if (sample.gpu_util) {
    gpu_seconds_ += sample.seconds;
    gpu_sum_ += *sample.gpu_util * sample.seconds;
    gpu_squares_ += *sample.gpu_util * *sample.gpu_util * sample.seconds;
  }
  gpu_memory_ = std::max(gpu_memory_, sample.gpu_memory.value_or(0));
}

void RunMeter::printed(double at) {
  if (!first_) first_ = at;
  last_ = at;
}

std::vector<std::pair<std::string, double>> RunMeter::labels(double ended,
                                                             std::int64_t workers) const {
  std::vector<std::pair<std::string, double>> labels;
  const auto add = [&labels](const char* name, double value) {
    if (value > 0 && std::isfinite(value)) labels.emplace_back(name, value);
  };
  if (first_) {
    add("seconds_launch", *first_ - started_);
    add("seconds_train", last_ - *first_);
    add("seconds_save", ended - last_);
  }
  add("cpu_seconds", cpu_seconds_);
  add("cpu", free_cpu_seconds_ / free_seconds_);
  add("mem", memory_);
  add("net", net_ / seconds_ / static_cast<double>(std::max<std::int64_t>(workers, 1)));
  add("io", io_ / seconds_);
  const double mean = gpu_sum_ / gpu_seconds_;
  add("gpu_util", mean);
  add("gpu_util_std", std::sqrt(std::max(gpu_squares_ / gpu_seconds_ - mean * mean, 0.0)));
  add("gpu_mem", gpu_memory_);
  return labels;
}

}  // namespace flowcon::ctrl::estimate
