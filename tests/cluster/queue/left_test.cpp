// SPDX-License-Identifier: Apache-2.0
// What is left of a job that runs.
#include "tests/cluster/queue/queue_fakes.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a job that waits for a GPU has left what its counter says, not its CPU time") {
  QueueBench bench;
  const std::string id = bench.submit("gpu", "cpu=2,mem=1G");
  const std::string cpu = bench.submit("cpu", "cpu=2,mem=1G");
  bench.run(3);
  REQUIRE(bench.engine.runs(id));
  for (int i = 0; i <= 30; ++i) {
    bench.host.lefts_[id] = 50 - 0.5 * i;    // half a core
    bench.host.lefts_[cpu] = 400 - 4.0 * i;  // twice what it asked for, which may end
    bench.host.dones_[id] = bench.host.dones_[cpu] = 0.01 * i;
    bench.run(1);
  }
  CHECK(real_of(member(bench.job("gpu"), "left")).value_or(0) == Approx(70).epsilon(0.05));
  CHECK(real_of(member(bench.job("cpu"), "left")).value_or(0) == Approx(140));
}

}  // namespace
}  // namespace flowcon::cluster::test
