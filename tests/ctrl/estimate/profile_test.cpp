// SPDX-License-Identifier: Apache-2.0
#include "ctrl/estimate/profile.h"

#include <map>
#include <string>

#include "tests/support/catch.h"

namespace {

using flowcon::ctrl::estimate::RunMeter;
using flowcon::ctrl::estimate::RunSample;

using Labels = std::map<std::string, double>;

Labels labels_of(const RunMeter& meter, double ended, std::int64_t workers) {
  const auto labels = meter.labels(ended, workers);
  return {labels.begin(), labels.end()};
}

}  // namespace

TEST_CASE("the labels of a run are its phases, means and greatest values") {
  RunMeter meter(100);
  meter.printed(110);
  meter.printed(150);
  meter.printed(190);
  RunSample sample{20, 40, false, 3e9, 8000, 200, 50.0, 1e9};
  meter.sample(sample);
  sample = {60, 30, true, 2e9, 0, 600, 50.0, 4e9};
  meter.sample(sample);
  sample = {20, 20, false, 1e9, 0, 0, 100.0, 2e9};
  meter.sample(sample);
  // GPU: 50, 50, 100 % for 20, 60 and 20 s: mean 60, mean square 4000, variance 400.
  CHECK(labels_of(meter, 195, 2) == Labels{{"seconds_launch", 10},
                                           {"seconds_train", 80},
                                           {"seconds_save", 5},
                                           {"cpu_seconds", 90},
                                           {"cpu", 1.5},
                                           {"mem", 3e9},
                                           {"net", 40},
                                           {"io", 8},
                                           {"gpu_util", 60},
                                           {"gpu_util_std", 20},
                                           {"gpu_mem", 4e9}});
}

TEST_CASE("what was not measured, or is 0, is no label") {
  CHECK(RunMeter(0).labels(10, 1).empty());
  RunMeter meter(0);
  meter.printed(0);
  meter.sample({0, 5, false, 1e9, 1, 1, 1.0, 1.0});
  meter.sample({10, 5, true, 0, 0, 0, {}, {}});
  CHECK(labels_of(meter, 10, 0) == Labels{{"seconds_save", 10}, {"cpu_seconds", 5}});
}
