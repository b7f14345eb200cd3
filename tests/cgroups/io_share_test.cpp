// SPDX-License-Identifier: Apache-2.0
// From shares to I/O settings, and what systemd is told of them.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cgroups/io.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

constexpr std::nullopt_t kNone = std::nullopt;
constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMiB = 1024 * 1024;

IoMechanism mechanism_of(WeightFile weight) {
  IoMechanism mechanism;
  mechanism.weight = weight;
  mechanism.has_caps = true;
  mechanism.is_v2 = weight == WeightFile::io_weight || weight == WeightFile::io_bfq_weight;
  return mechanism;
}

std::vector<std::uint64_t> weights(const std::vector<IoShare>& shares, WeightFile file) {
  std::vector<std::uint64_t> result;
  for (const IoSetting& setting :
       share_out_io(shares, LimitMode::weight, {{"8:0", 1e9}}, mechanism_of(file))) {
    result.push_back(setting.weight.value());
    CHECK(setting.caps.empty());
  }
  return result;
}

IoSetting capped(const IoSetting& original, double limit,
                 const std::map<std::string, double>& bandwidth) {
  return share_out_io({{original, "docker", limit, 1}}, LimitMode::quota, bandwidth,
                      mechanism_of(WeightFile::io_weight))
      .front();
}

/// cgroup_weight_io_to_blkio and BFQ_WEIGHT of systemd 252
std::uint64_t systemd_bfq(std::uint64_t weight) {
  return weight <= 100 ? 100 - (100 - weight) * 99 / 99 : 100 + (weight - 100) * 900 / 9900;
}

}  // namespace

TEST_CASE("I/O weights follow the limits by the same formula as CPU weights") {
  const IoSetting usual{100, {}};
  using Weights = std::vector<std::uint64_t>;
  CHECK(weights({{usual, "d", 0.25, 1}, {usual, "d", 1, 1}}, WeightFile::io_weight) ==
        Weights{40, 160});
  CHECK(weights({{usual, "d", 1, 2}, {usual, "d", 1, 1}}, WeightFile::io_bfq_weight) ==
        Weights{133, 67});
  CHECK(weights({{usual, "d", 0.1, 1}, {usual, "e", 1, 1}}, WeightFile::io_weight) ==
        Weights{100, 100});
  // each file's own range
  const IoSetting high{900, {}};
  CHECK(weights({{high, "d", 1, 1}, {high, "d", 0.01, 1}}, WeightFile::io_bfq_weight) ==
        Weights{1000, 18});
  CHECK(weights({{high, "d", 1, 1}, {high, "d", 0.001, 1}}, WeightFile::blkio_weight) ==
        Weights{1000, 10});
  CHECK(weights({{high, "d", 1, 1}, {high, "d", 0.001, 1}}, WeightFile::io_weight) ==
        Weights{1798, 2});
}

TEST_CASE("without a weight file every setting stays the original") {
  const IoSetting original{kNone, {{"8:0", {5 * kMiB}}}};
  const auto settings =
      share_out_io({{original, "d", 0.1, 1}, {original, "d", 1, 3}}, LimitMode::weight, {}, {});
  CHECK(settings == std::vector<IoSetting>{original, original});
}

TEST_CASE("a cap is the share of the bandwidth, and what a user set is a ceiling") {
  struct Row {
    IoSetting original;
    double limit;
    double bandwidth;
    IoSetting expected;
  };
  const Row rows[] = {
      {{100, {}}, 0.25, 400.0 * kMiB, {100, {{"8:0", {100 * kMiB, 100 * kMiB}}}}},
      {{100, {}}, 1, 400.0 * kMiB, {100, {}}},
      {{100, {{"8:0", {50 * kMiB}}}}, 1, 400.0 * kMiB, {100, {{"8:0", {50 * kMiB}}}}},
      {{100, {{"8:0", {50 * kMiB}}}},
       0.25,
       400.0 * kMiB,
       {100, {{"8:0", {50 * kMiB, 100 * kMiB}}}}},
      {{100, {{"8:0", {kNone, 500 * kMiB, 7, 8}}}},
       0.25,
       400.0 * kMiB,
       {100, {{"8:0", {100 * kMiB, 100 * kMiB, 7, 8}}}}},
      {{100, {{"8:16", {3 * kMiB}}}},
       0.5,
       400.0 * kMiB,
       {100, {{"8:0", {200 * kMiB, 200 * kMiB}}, {"8:16", {3 * kMiB}}}}},
      // 1 MiB/s at least, but below it where the user said so
      {{100, {}}, 0.001, 10.0 * kMiB, {100, {{"8:0", {kMiB, kMiB}}}}},
      {{100, {{"8:0", {1000}}}}, 0.001, 10.0 * kMiB, {100, {{"8:0", {1000, kMiB}}}}},
      // no bandwidth that means anything
      {{100, {}}, 0.5, 0, {100, {}}},
      {{100, {}}, 0.5, std::numeric_limits<double>::quiet_NaN(), {100, {}}},
      {{100, {}}, 0.5, std::numeric_limits<double>::infinity(), {100, {}}},
      {{100, {}}, std::numeric_limits<double>::quiet_NaN(), 400.0 * kMiB, {100, {}}},
      {{100, {}}, 0.5, 1e300, {100, {{"8:0", {1000000000000000000, 1000000000000000000}}}}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(capped(row.original, row.limit, {{"8:0", row.bandwidth}}) == row.expected);
  }
}

TEST_CASE("a host without caps gets none in quota mode, and weights ignore the limits there") {
  IoMechanism mechanism = mechanism_of(WeightFile::io_weight);
  mechanism.has_caps = false;
  const IoSetting usual{100, {}};
  CHECK(share_out_io({{usual, "d", 0.1, 1}, {usual, "d", 1, 1}}, LimitMode::quota, {{"8:0", 1e9}},
                     mechanism) == std::vector<IoSetting>{usual, usual});
}

TEST_CASE("systemd is told the weight of which it makes the one that was written") {
  for (std::uint64_t weight = 1; weight <= 1000; ++weight) {
    if (weight == 100) continue;
    const auto told = unit_properties({weight, {}}, mechanism_of(WeightFile::io_bfq_weight), false);
    REQUIRE(told.size() == 1);
    CHECK(told[0].name == "IOWeight");
    CHECK(systemd_bfq(told[0].value) == weight);
    CHECK(told[0].value <= 10000);
  }
  CHECK(unit_properties({2500, {}}, mechanism_of(WeightFile::io_weight), false) ==
        std::vector<UnitProperty>{{"IOWeight", 2500}});
  CHECK(unit_properties({1000, {}}, mechanism_of(WeightFile::blkio_weight), false) ==
        std::vector<UnitProperty>{{"IOWeight", 200}});
  CHECK(unit_properties({50, {}}, mechanism_of(WeightFile::blkio_bfq_weight), false) ==
        std::vector<UnitProperty>{{"IOWeight", 10}});
}

TEST_CASE("a weight that nobody has set is taken back in systemd") {
  for (const WeightFile file : {WeightFile::io_weight, WeightFile::io_bfq_weight,
                                WeightFile::blkio_weight, WeightFile::blkio_bfq_weight}) {
    CHECK(unit_properties({default_weight(file), {}}, mechanism_of(file), false) ==
          std::vector<UnitProperty>{{"IOWeight", kInfinity}});
  }
  CHECK(unit_properties({100, {}}, IoMechanism{}, false).empty());
}

TEST_CASE("caps are taken back and given again for every device") {
  using Devices = std::vector<DeviceValue>;
  const IoSetting to{kNone, {{"8:0", {5, kNone, 7}}, {"8:16", {6}}}};
  CHECK(unit_properties(to, mechanism_of(WeightFile::io_weight), true) ==
        std::vector<UnitProperty>{
            {"IOReadBandwidthMax", 0, Devices{}},
            {"IOReadBandwidthMax", 0, Devices{{"/dev/block/8:0", 5}, {"/dev/block/8:16", 6}}},
            {"IOWriteBandwidthMax", 0, Devices{}},
            {"IOReadIOPSMax", 0, Devices{}},
            {"IOReadIOPSMax", 0, Devices{{"/dev/block/8:0", 7}}},
            {"IOWriteIOPSMax", 0, Devices{}}});
}

}  // namespace flowcon::cgroups
