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
  meter.sample({120, 20, 40, true, false, 3e9, 8000, 200, 50.0, 1e9});
  meter.sample({180, 60, 30, true, true, 2e9, 0, 600, 50.0, 4e9});
  meter.sample({200, 20, 20, true, false, 1e9, 0, 0, 100.0, 2e9});
  // GPU: 50, 50, 100 % for 20, 60 and 20 s: mean 60, mean square 4000, variance 400.
  CHECK(labels_of(meter, 200, 2) == Labels{{"seconds_launch", 10},
                                           {"seconds_train", 80},
                                           {"seconds_save", 10},
                                           {"cpu_seconds", 90},
                                           {"cpu", 1.5},
                                           {"mem", 3e9},
                                           {"net", 40},
                                           {"io", 8},
                                           {"gpu_util", 60},
                                           {"gpu_util_std", 20},
                                           {"gpu_mem", 4e9}});
}

TEST_CASE("a run that was free for a moment needs no less than it used in all") {
  RunMeter meter(0);
  meter.sample({4, 4, 1, true, false});
  meter.sample({100, 96, 192, true, true});
  CHECK(labels_of(meter, 100, 1) == Labels{{"cpu_seconds", 193}, {"cpu", 1.93}});
}

TEST_CASE("the phases of a run that had only what others left at first begin after that") {
  RunMeter meter(100);
  meter.had_the_rest(104);
  meter.had_the_rest(103);
  meter.printed(110);
  meter.printed(190);
  meter.sample({200, 100, 50, true, false, 1e9});
  CHECK(labels_of(meter, 200, 1).at("seconds_launch") == 6);
  CHECK(labels_of(meter, 200, 1).at("seconds_train") == 80);
  meter.had_the_rest(150);
  CHECK_FALSE(labels_of(meter, 200, 1).contains("seconds_launch"));
  CHECK(labels_of(meter, 200, 1).at("seconds_train") == 40);
}

TEST_CASE("what was not measured, or is 0, is no label") {
  CHECK(RunMeter(0).labels(10, 1).empty());
  RunMeter meter(0);
  meter.printed(0);
  meter.sample({5, 0, 5, true, false, 1e9, 1, 1, 1.0, 1.0});
  meter.sample({10, 10, 5, true, true, 0, 0, 0});
  CHECK(labels_of(meter, 10, 0) == Labels{{"seconds_save", 10}, {"cpu_seconds", 5}});
}

TEST_CASE("what is read less often speaks for the time since it was read last") {
  RunMeter meter(0);
  meter.sample({5, 5, 1, true, false, 1e9, {}, {}, {}, {}});
  meter.sample({10, 5, 1, true, false, {}, {}, {}, {}, {}});
  meter.sample({15, 5, 1, true, false, 2e9, 300, 150, 40.0, 5.0});
  // Traffic of the last five seconds is not known: it counts as that before.
  meter.sample({20, 5, 1, true, false, {}, {}, {}, {}, {}});
  CHECK(labels_of(meter, 20, 1) == Labels{{"cpu_seconds", 4},
                                          {"cpu", 0.2},
                                          {"mem", 2e9},
                                          {"net", 20},
                                          {"io", 10},
                                          {"gpu_util", 40},
                                          {"gpu_mem", 5}});
}

TEST_CASE("what was measured in less than half of a run is no label") {
  RunMeter meter(0);
  meter.sample({5, 5, 5, true, false, 1e9, 50, 50, 1.0, 1.0});
  CHECK(labels_of(meter, 11, 1).empty());
  CHECK(labels_of(meter, 10, 1).size() == 7);
  CHECK(labels_of(meter, 10, 1).at("cpu_seconds") == 10);  // as before the last sample
}

TEST_CASE("of time that nobody saw only counters speak") {
  RunMeter meter(0);
  meter.printed(2);
  meter.printed(98);
  meter.sample({60, 60, 120, false, false, 3e9, 600, 1200, 9.0, 9.0});
  meter.sample({100, 40, 40, true, false, 2e9, 400, 800, 9.0, 9.0});
  const Labels counted{{"seconds_launch", 2}, {"seconds_train", 96}, {"seconds_save", 2},
                       {"cpu_seconds", 160},  {"net", 10},           {"io", 20}};
  CHECK(labels_of(meter, 100, 1) == counted);
  // An earlier flowcond looked until ten seconds before.
  meter.saw_before({0, 50, 5e9, 1.0});
  Labels more = counted;
  more["mem"] = 5e9;
  more["seconds_launch"] = 1;
  more["seconds_train"] = 97;
  CHECK(labels_of(meter, 100, 1) == more);
}

TEST_CASE("of a run that began elsewhere are known its end, and what of it was seen whole") {
  RunMeter meter(1000);
  meter.printed(1010);
  meter.printed(1090);
  meter.sample({1100, 100, 50, true, false, 1e9, 100, 100, {}, {}});
  RunMeter known = meter;
  known.went_on(30);
  CHECK(labels_of(known, 1100, 1) ==
        Labels{{"seconds_save", 10}, {"cpu_seconds", 80}, {"cpu", 0.5}, {"mem", 1e9}});
  known.saw_before({800, 990, 4e9, {}});
  CHECK(labels_of(known, 1100, 1) ==
        Labels{{"seconds_save", 10}, {"cpu_seconds", 80}, {"mem", 4e9}});
  meter.went_on({});
  CHECK(labels_of(meter, 1100, 1) == Labels{{"seconds_save", 10}, {"cpu", 0.5}, {"mem", 1e9}});
}

TEST_CASE("phases are not known of a run that stood still, nor the first one without its end") {
  RunMeter meter(0);
  meter.printed_last(8);
  CHECK(labels_of(meter, 10, 1) == Labels{{"seconds_save", 2}});
  meter.stood_still();
  CHECK(labels_of(meter, 10, 1).empty());
}
