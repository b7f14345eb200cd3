// SPDX-License-Identifier: Apache-2.0
#include "cluster/network.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "cluster/peers/ssh.h"
#include "tests/cluster/cluster_fakes.h"
#include "tests/cluster/peer_hosts.h"
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

TEST_CASE("what ssh has against a connection for a long answer is told") {
  Hosts hosts;
  hosts.says("b", host_id('b'));
  hosts.start({"b"});
  REQUIRE(hosts.reaches("b"));
  // The connection that there is goes on with the former program.
  const std::string ssh = hosts.host.folder_.path() + "/ssh";
  std::filesystem::remove(ssh);
  std::ofstream(ssh) << "#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n";
  REQUIRE(::chmod(ssh.c_str(), 0755) == 0);
  std::string said;
  auto ask = [&]() -> Async<void> {
    std::string id = host_id('b'), method = "GET", target = "/v1/peer/jobs", body;
    const Result<Answer> answer = co_await hosts.here->ask(std::move(id), std::move(method),
                                                           std::move(target), std::move(body), 60);
    said = answer ? "an answer" : answer.error().message();
  };
  ctrl::spawn(hosts.io, "ask", ask);
  REQUIRE(hosts.waits_for([&] { return !said.empty(); }));
  CHECK(said.starts_with(peers::explain_ssh("Host key verification failed.", "b")));
}

}  // namespace
}  // namespace flowcon::cluster::test
