// SPDX-License-Identifier: Apache-2.0
// From shares to CPU settings: exact integers first, then what must hold for any shares.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cgroups/cpu.h"
#include "tests/support/catch.h"

namespace flowcon::cgroups {

namespace {

constexpr std::nullopt_t kNone = std::nullopt;
constexpr CpuSetting kV1{1024, kNone, 100000};
constexpr CpuSetting kV2{100, kNone, 100000};

std::vector<std::uint64_t> weights(const std::vector<Share>& shares, LimitMode mode, bool is_v2) {
  std::vector<std::uint64_t> result;
  for (const CpuSetting& setting : share_out(shares, mode, 2, is_v2)) {
    result.push_back(setting.weight);
  }
  return result;
}

CpuSetting alone_with_quota(const CpuSetting& original, double limit, double cores) {
  return share_out({{original, "docker", limit, 1}}, LimitMode::quota, cores, false).front();
}

std::vector<Share> random_shares(std::mt19937& random, bool is_v2) {
  std::uniform_real_distribution<double> limit(0.1, 1);
  std::uniform_int_distribution<std::uint64_t> weight(is_v2 ? 50 : 512, is_v2 ? 200 : 2048);
  std::vector<Share> shares(2 + random() % 20);
  for (Share& share : shares) {
    share.original = {weight(random), kNone, 100000};
    share.parent = random() % 2 ? "docker" : "batch";
    share.limit = limit(random);
    share.factor = 0.5 + limit(random);
  }
  return shares;
}

}  // namespace

TEST_CASE("a reserve is what a group of the same weight beside them has") {
  const std::vector<Share> three = {
      {kV2, "docker", 0.1, 1}, {kV2, "docker", 0.2, 1}, {kV2, "docker", 0.7, 1}};
  const auto weights_with = [&three](double reserve) {
    std::vector<std::uint64_t> result;
    for (const CpuSetting& setting : share_out(three, LimitMode::weight, 2, true, reserve))
      result.push_back(setting.weight);
    return result;
  };
  using Weights = std::vector<std::uint64_t>;
  CHECK(weights_with(0) == Weights{30, 60, 210});
  CHECK(weights_with(0.25) == Weights{30, 60, 210});  // 100 beside 300 has it already
  CHECK(weights_with(0.5) == Weights{10, 20, 70});
  CHECK(weights_with(0.75) == Weights{3, 7, 23});
  // Of each parent by itself; what takes no part is not counted.
  const std::vector<CpuSetting> apart =
      share_out({{kV2, "a", 1, 1}, {kV2, "b", 1, 1}, {CpuSetting{0, kNone, 100000}, "a", 1, 1}},
                LimitMode::weight, 2, true, 0.75);
  CHECK(apart[0].weight == 33);
  CHECK(apart[1].weight == 33);
  CHECK(apart[2].weight == 0);
  for (const CpuSetting& setting : share_out(three, LimitMode::quota, 2, true, 0.5))
    CHECK(setting.weight == 100);
  CHECK(share_out(three, LimitMode::quota, 2, true, 0.5)[2].quota_us == 70000);
  CHECK(share_out({{kV2, "docker", 1, 1}}, LimitMode::quota, 2, true, 0.25)[0].quota_us == 150000);
}

TEST_CASE("weights follow the limits and keep the siblings' total") {
  struct Row {
    std::vector<Share> shares;
    bool is_v2;
    std::vector<std::uint64_t> weights;
  };
  const Row rows[] = {
      {{}, false, {}},
      {{{kV1, "docker", 1, 1}, {kV1, "docker", 1, 1}}, false, {1024, 1024}},
      {{{kV1, "docker", 0.25, 1}, {kV1, "docker", 1, 1}}, false, {410, 1638}},
      {{{kV2, "docker", 0.25, 1}, {kV2, "docker", 1, 1}}, true, {40, 160}},
      // the published example: VAE converged at 0.25, MNIST unmeasured at 1, third at 1
      {{{kV1, "d", 0.25, 1}, {kV1, "d", 1, 1}, {kV1, "d", 1, 1}}, false, {341, 1365, 1365}},
      // equal limits below 1 change nothing
      {{{kV1, "docker", 0.5, 1}, {kV1, "docker", 0.5, 1}}, false, {1024, 1024}},
      // unequal originals: 512*1 and 2048*0.25 are equal claims on 2560
      {{{{512, kNone, 100000}, "d", 1, 1}, {{2048, kNone, 100000}, "d", 0.25, 1}},
       false,
       {1280, 1280}},
      // factors shift weight between siblings only
      {{{kV1, "docker", 1, 2}, {kV1, "docker", 1, 1}}, false, {1365, 683}},
      {{{kV2, "docker", 1, 3}, {kV2, "docker", 1, 1}}, true, {150, 50}},
      {{{kV1, "docker", 0.5, 2}, {kV1, "docker", 1, 1}}, false, {1024, 1024}},
      // one alone keeps its weight, and so does one with a parent of its own
      {{{kV1, "docker", 0.1, 7}}, false, {1024}},
      {{{kV1, "a", 0.1, 1}, {kV1, "b", 1, 1}}, false, {1024, 1024}},
      // the kernel's least and greatest weights
      {{{{2, kNone, 100000}, "d", 0.01, 1}, {{1024, kNone, 100000}, "d", 1, 1}}, false, {2, 1026}},
      {{{{1, kNone, 100000}, "d", 0.01, 1}, {kV2, "d", 1, 1}}, true, {1, 101}},
      {{{{262144, kNone, 100000}, "d", 1, 1}, {{262144, kNone, 100000}, "d", 0.5, 1}},
       false,
       {262144, 174763}},
      // a group with cpu.idle is left alone
      {{{{0, kNone, 100000}, "d", 0.5, 1}, {kV2, "d", 0.25, 1}, {kV2, "d", 1, 1}},
       true,
       {0, 40, 160}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(weights(row.shares, LimitMode::weight, row.is_v2) == row.weights);
  }
}

TEST_CASE("in weight mode a quota and its period stay the user's") {
  const CpuSetting original{1024, 150000, 50000};
  const auto settings =
      share_out({{original, "d", 0.25, 1}, {original, "d", 1, 1}}, LimitMode::weight, 2, false);
  CHECK(settings[0] == CpuSetting{410, 150000, 50000});
  CHECK(settings[1] == CpuSetting{1638, 150000, 50000});
}

TEST_CASE("a quota is the limit's part of the host, below the user's ceiling") {
  struct Row {
    CpuSetting original;
    double limit;
    double cores;
    CpuSetting expected;
  };
  const Row rows[] = {
      {{1024, kNone, 100000}, 0.25, 2, {1024, 50000, 100000}},
      {{1024, kNone, 100000}, 0.5, 2, {1024, 100000, 100000}},
      {{1024, kNone, 100000}, 0.25, 64, {1024, 1600000, 100000}},
      {{1024, kNone, 100000}, 1.0 / 3, 2, {1024, 66667, 100000}},
      // a limit of 1 is exactly the original, odd periods too
      {{1024, kNone, 100000}, 1, 2, {1024, kNone, 100000}},
      {{1024, kNone, 25000}, 1, 2, {1024, kNone, 25000}},
      {{1024, 30000, 25000}, 1, 2, {1024, 30000, 25000}},
      // the ceiling of docker run --cpus 0.5 stays one
      {{1024, 50000, 100000}, 0.5, 2, {1024, 50000, 100000}},
      {{1024, 50000, 100000}, 0.25, 2, {1024, 50000, 100000}},
      {{1024, 50000, 100000}, 0.1, 2, {1024, 20000, 100000}},
      // the period of an original with a quota is kept, without one it is the default
      {{1024, 40000, 20000}, 0.5, 2, {1024, 20000, 20000}},
      {{1024, kNone, 20000}, 0.5, 2, {1024, 100000, 100000}},
      // never below what the kernel accepts
      {{1024, kNone, 100000}, 0.001, 2, {1024, 1000, 100000}},
      {{1024, 1000, 100000}, 0.001, 2, {1024, 1000, 100000}},
      {{1024, 1500, 5000}, 0.05, 2, {1024, 1000, 5000}},
  };
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    CHECK(alone_with_quota(row.original, row.limit, row.cores) == row.expected);
  }
}

TEST_CASE("in quota mode the weight follows the user's factor alone") {
  const auto settings =
      share_out({{kV1, "d", 0.25, 2}, {kV1, "d", 1, 1}}, LimitMode::quota, 2, false);
  CHECK(settings[0] == CpuSetting{1365, 50000, 100000});
  CHECK(settings[1] == CpuSetting{683, kNone, 100000});
}

TEST_CASE("nonsense in a share is a share of 1, never a crash or a starved container") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const LimitMode mode : {LimitMode::weight, LimitMode::quota}) {
    for (const double factor : {nan, infinity, -infinity, 0.0, -1.0}) {
      const auto settings =
          share_out({{kV1, "d", nan, factor}, {kV1, "d", infinity, 1}}, mode, 2, false);
      CHECK(settings == std::vector<CpuSetting>{kV1, kV1});
    }
  }
  CHECK(weights({{kV1, "d", 0, 1}, {kV1, "d", 1, 1}}, LimitMode::weight, false) ==
        std::vector<std::uint64_t>{2, 2048});
  CHECK(weights({{kV1, "d", 0, 1}, {kV1, "d", -1, 1}}, LimitMode::weight, false) ==
        std::vector<std::uint64_t>{1024, 1024});
  CHECK(weights({{kV1, "d", 1, 1e300}, {kV1, "d", 1, 1e-300}}, LimitMode::weight, false) ==
        std::vector<std::uint64_t>{2048, 2});
}

TEST_CASE("with every limit and factor at 1 every setting is exactly the original") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const bool is_v2 = round % 2 == 0;
    std::vector<Share> shares = random_shares(random, is_v2);
    std::vector<CpuSetting> originals;
    for (Share& share : shares) {
      share.limit = 1;
      share.factor = 1;
      if (random() % 2) share.original.quota_us = 1000 + random() % 1000000;
      originals.push_back(share.original);
    }
    CHECK(share_out(shares, LimitMode::weight, 2, is_v2) == originals);
    CHECK(share_out(shares, LimitMode::quota, 2, is_v2) == originals);
  }
}

TEST_CASE("siblings keep their total, a rounding each, and order does not matter") {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const bool is_v2 = round % 2 == 0;
    const std::vector<Share> shares = random_shares(random, is_v2);
    const std::vector<CpuSetting> settings = share_out(shares, LimitMode::weight, 2, is_v2);
    for (const char* parent : {"docker", "batch"}) {
      double before = 0;
      double after = 0;
      double count = 0;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i].parent != parent) continue;
        before += static_cast<double>(shares[i].original.weight);
        after += static_cast<double>(settings[i].weight);
        ++count;
      }
      // Rounding to nearest moves each weight by half at most; nothing here reaches a bound.
      CHECK(std::abs(before - after) <= 0.5 * count);
    }
    const std::vector<Share> turned(shares.rbegin(), shares.rend());
    const std::vector<CpuSetting> expected(settings.rbegin(), settings.rend());
    CHECK(share_out(turned, LimitMode::weight, 2, is_v2) == expected);
  }
}

TEST_CASE("a quota grows with the limit and stays within the kernel's and the user's bounds") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> any(0.0001, 1);
  for (int round = 0; round < 500; ++round) {
    const CpuSetting original{1024, 1000 + random() % 400000, 100000};
    const double low = any(random);
    const double high = low + (1 - low) * any(random);
    const std::int64_t less = *alone_with_quota(original, low, 4).quota_us;
    const std::int64_t more = *alone_with_quota(original, high, 4).quota_us;
    CHECK(less >= 1000);
    CHECK(less <= more);
    CHECK(more <= *original.quota_us);
  }
}

TEST_CASE("what is shared out is within the kernel's range as it is") {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const bool is_v2 = round % 2 == 0;
    std::vector<Share> shares = random_shares(random, is_v2);
    for (Share& share : shares) share.limit = random() % 3 ? 1e-5 : 1;
    for (const LimitMode mode : {LimitMode::weight, LimitMode::quota}) {
      for (const CpuSetting& setting : share_out(shares, mode, 2, is_v2)) {
        CHECK(setting == clamp_to_kernel(setting, is_v2));
      }
    }
  }
}

TEST_CASE("what a narrow job cannot use of its quota is lent to the others") {
  // The quotas in percent of a host of 2 cores.
  const auto quotas = [](const std::vector<Share>& shares) {
    std::vector<long> percent;
    for (const CpuSetting& setting : share_out(shares, LimitMode::quota, 2, true))
      percent.push_back(
          setting.quota_us ? std::lround(static_cast<double>(*setting.quota_us) / 2000) : 100);
    return percent;
  };
  const auto share = [](double limit, double useful, double most = 1) {
    return Share{kV2, "docker", limit, 1, useful, most};
  };
  using Percent = std::vector<long>;
  CHECK((quotas({share(0.8, 0.5), share(0.2, 1)}) == Percent{80, 50}));
  CHECK((quotas({share(0.8, 0.5), share(0.2, 0.5)}) == Percent{80, 50}));
  // In proportion to the limits, and what one cannot use or may not have to the next.
  CHECK((quotas({share(0.7, 0.4), share(0.2, 1), share(0.1, 1)}) == Percent{70, 40, 20}));
  CHECK((quotas({share(0.7, 0.4), share(0.2, 0.3), share(0.1, 1)}) == Percent{70, 30, 30}));
  CHECK((quotas({share(0.7, 0.4), share(0.2, 1, 0.2), share(0.1, 1)}) == Percent{70, 20, 40}));
  // What no job leaves is not lent: of limits that the policy keeps low, or that add up to more.
  CHECK((quotas({share(0.3, 1), share(0.2, 1)}) == Percent{30, 20}));
  CHECK((quotas({share(0.9, 0.5), share(0.9, 1)}) == Percent{90, 90}));
  CHECK((quotas({share(0.9, 0.5)}) == Percent{90}));
}

TEST_CASE("a narrow job has back at once what it can use after all: weights follow the limits") {
  const std::vector<Share> shares = {{kV2, "docker", 0.8, 1, 0.5, 1}, {kV2, "docker", 0.2, 1}};
  CHECK((weights(shares, LimitMode::quota, true) == std::vector<std::uint64_t>{160, 40}));
}

TEST_CASE("loans never take more of the host than there is, nor give one more than it may have") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(0.01, 1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<Share> shares = random_shares(random, true);
    double used = 0, asked = 0;
    for (Share& share : shares) {
      share.limit = part(random) / static_cast<double>(shares.size());
      share.useful = part(random);
      share.most = std::max(share.limit, part(random));
      asked += std::min(share.limit, share.useful);
    }
    const std::vector<CpuSetting> settings = share_out(shares, LimitMode::quota, 64, true);
    for (std::size_t j = 0; j < shares.size(); ++j) {
      const double got = static_cast<double>(settings[j].quota_us.value_or(6400000)) / 6400000;
      CHECK(got >= shares[j].limit - 1e-4);
      CHECK(got <= std::max(shares[j].limit, std::min(shares[j].useful, shares[j].most)) + 1e-4);
      used += std::min(got, shares[j].useful);
    }
    CHECK(used >= asked - 1e-3);
    CHECK(used <= std::max(asked, 1.0) + 1e-3);
  }
}

}  // namespace flowcon::cgroups
