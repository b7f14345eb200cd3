// SPDX-License-Identifier: Apache-2.0
#include "cluster/network.h"

#include "tests/cluster/cluster_fakes.h"
#include "tests/support/catch.h"

namespace flowcon::cluster::test {
namespace {

TEST_CASE("a host whose queue does not decide yet coordinates no jobs, and all else") {
  FakeNetwork network;
  Neighbour& first = network.add("a", '1', {});
  first.state->runs_jobs = true;
  network.own_name_ = "b";
  CHECK(coordinator(network, true).name == "a");
  network.neighbours_.front().state->queue_waits = true;
  CHECK(coordinator(network, true).name == "b");
  CHECK(coordinator(network).name == "a");
}

}  // namespace
}  // namespace flowcon::cluster::test
