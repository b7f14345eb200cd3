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
  bench.host.widths_[id] = 2;  // for a moment; half a core else
  for (int i = 0; i <= 30; ++i) {
    bench.host.lefts_[id] = bench.host.lefts_[cpu] = 50 - 0.5 * i;
    bench.host.dones_[id] = bench.host.dones_[cpu] = 0.01 * i;
    bench.run(1);
  }
  CHECK(real_of(member(bench.job("gpu"), "left")).value_or(0) == Approx(70).epsilon(0.05));
  CHECK(real_of(member(bench.job("cpu"), "left")).value_or(0) == Approx(17.5));
}

}  // namespace
}  // namespace flowcon::cluster::test
