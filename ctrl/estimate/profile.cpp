// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/profile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace flowcon::ctrl::estimate {
namespace {

constexpr double kEnough = 0.5;  // of a run, for a label that speaks for all of it

}  // namespace

void RunMeter::sample(const RunSample& sample) {
  if (!(sample.seconds > 0)) return;
  at_ = sample.at;
  seconds_ += sample.seconds;
  cpu_seconds_ += sample.cpu_seconds;
  net_time_.wait(sample.seconds);
  io_time_.wait(sample.seconds);
  if (sample.net) {
    net_time_.take();
    net_ += *sample.net;
  }
  if (sample.io) {
    io_time_.take();
    io_ += *sample.io;
  }
  if (sample.memory) memory_ = std::max(memory_, *sample.memory);
  if (!sample.is_seen) return;
  seen_seconds_ += sample.seconds;
  seen_cpu_seconds_ += sample.cpu_seconds;
  if (!sample.is_held_back) {
    free_seconds_ += sample.seconds;
    free_cpu_seconds_ += sample.cpu_seconds;
  }
  memory_time_.wait(sample.seconds);
  if (sample.memory) memory_time_.take();
  sample_gpu(sample);
}

void RunMeter::sample_gpu(const RunSample& sample) {
  gpu_time_.wait(sample.seconds);
  gpu_memory_ = std::max(gpu_memory_, sample.gpu_memory.value_or(0));
  if (!sample.gpu_util) return;
  const double seconds = gpu_time_.take();
  gpu_sum_ += *sample.gpu_util * seconds;
  gpu_squares_ += *sample.gpu_util * *sample.gpu_util * seconds;
}

// 0 where it was held back all the time. It needs no less than it used in all, though it was free
// for some seconds only and did little then.
double RunMeter::cores() const {
  if (!(free_seconds_ > 0)) return 0;
  return std::max(free_cpu_seconds_ / free_seconds_, seen_cpu_seconds_ / seen_seconds_);
}

void RunMeter::printed(double at) {
  first_ = std::min(first_.value_or(at), at);
  last_ = std::max(last_.value_or(at), at);
}

bool is_label(std::string_view name) {
  constexpr std::array<std::string_view, 11> kLabels{
      "seconds_launch", "seconds_train", "seconds_save", "cpu_seconds", "cpu", "mem", "net", "io",
      "gpu_util",       "gpu_util_std",  "gpu_mem"};
  return std::find(kLabels.begin(), kLabels.end(), name) != kLabels.end();
}

void RunMeter::went_on(std::optional<double> cpu_seconds) {
  went_on_ = true;
  used_before_ = cpu_seconds;
}

void RunMeter::saw_before(const RunBefore& before) {
  began_ = std::min(began_, before.began);
  memory_ = std::max(memory_, before.memory);
  memory_time_.seconds += std::max(before.until - before.began, 0.0);
  if (before.value_at && first_) first_ = std::min(*first_, *before.value_at);
}

std::vector<std::pair<std::string, double>> RunMeter::labels(double ended,
                                                             std::int64_t workers) const {
  std::vector<std::pair<std::string, double>> labels;
  const auto add = [&labels](const char* name, double value) {
    if (value > 0 && std::isfinite(value)) labels.emplace_back(name, value);
  };
  const double here = seconds_ + std::max(ended - at_, 0.0);
  const double length = here + (started_ - began_);
  const auto is_enough = [length](double seconds) { return seconds >= kEnough * length; };
  if (first_ && last_ && !stood_still_ && !went_on_) {
    add("seconds_launch", *first_ - begun_);
    add("seconds_train", *last_ - std::max(*first_, begun_));
  }
  if (last_ && !stood_still_) add("seconds_save", ended - *last_);
  if (seconds_ >= kEnough * here && (!went_on_ || used_before_)) {
    add("cpu_seconds", used_before_.value_or(0) + cpu_seconds_ * here / seconds_);
  }
  if (is_enough(seen_seconds_)) add("cpu", cores());
  if (is_enough(memory_time_.seconds)) add("mem", memory_);
  const double each = static_cast<double>(std::max<std::int64_t>(workers, 1));
  if (!went_on_ && is_enough(net_time_.seconds)) add("net", net_ / net_time_.seconds / each);
  if (!went_on_ && is_enough(io_time_.seconds)) add("io", io_ / io_time_.seconds);
  if (!is_enough(gpu_time_.seconds)) return labels;
  const double mean = gpu_sum_ / gpu_time_.seconds;
  add("gpu_util", mean);
  add("gpu_util_std", std::sqrt(std::max(gpu_squares_ / gpu_time_.seconds - mean * mean, 0.0)));
  add("gpu_mem", gpu_memory_);
  return labels;
}

}  // namespace flowcon::ctrl::estimate
