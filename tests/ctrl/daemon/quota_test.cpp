// SPDX-License-Identifier: Apache-2.0
// Quotas that leave a reserve.
#include <optional>
#include <string>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;

namespace {

/// Two jobs with half of the quotas each; a fifth of the host is nobody's.
class TwoJobs {
 public:
  TwoJobs() {
    host_.config.limiting.mode = cgroups::LimitMode::quota;
    host_.config.limiting.reserve = 0.2;
    test::run_two(host_);
  }
  /// Both use so much of the host for so long.
  void pass(double share_of_a, double share_of_b, double seconds = 5) {
    host_.use("a", cpu_of_a_ += share_of_a * host_.config.cores * seconds);
    host_.use("b", cpu_of_b_ += share_of_b * host_.config.cores * seconds);
    host_.pass(seconds);
  }
  [[nodiscard]] int quota(const char* name) const {
    return std::stoi(host_.fs.text("docker/" + Host::id_of(name), "cpu.max"));
  }
  /// Cores that it can use, where that is known.
  [[nodiscard]] std::optional<double> width(const char* name) const {
    const auto forecast = host_.daemon->own_host().forecast(Host::id_of(name));
    REQUIRE(forecast.has_value());
    return forecast->width;
  }

 private:
  Host host_;
  double cpu_of_a_ = 0, cpu_of_b_ = 0;
};

}  // namespace

TEST_CASE("a job that uses all of its quota gets what the other leaves, whatever the reserve") {
  TwoJobs jobs;
  jobs.pass(0.4, 0.4);
  CHECK(jobs.quota("a") == 80000);
  CHECK(jobs.quota("b") == 80000);
  // 0.15 of the host is under 0.2 of the four fifths: 0.3 of them is lent.
  for (int i = 0; i < 3; ++i) jobs.pass(0.15, 0.4);
  CHECK(jobs.quota("a") == 80000);
  CHECK(jobs.quota("b") == 128000);
  for (int i = 0; i < 2; ++i) jobs.pass(0.4, 0.4);
  CHECK(jobs.quota("b") == 80000);
}

TEST_CASE("a host that has no more than its reserve left shows how many cores a job can use") {
  TwoJobs jobs;
  jobs.pass(0.3, 0.44, 100);
  REQUIRE(jobs.width("a").has_value());
  CHECK(*jobs.width("a") == Approx(0.6));
}
