// SPDX-License-Identifier: Apache-2.0
// What becomes of the jobs of a host that drains, through the real queues and migrators of two
// hosts.
#include <map>
#include <string>

#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {
namespace {

class DrainedQueues : public TwoQueues {
 public:
  const Quiet quiet;
};

const std::map<std::string, std::string> kSaves{{"flowcon.checkpoint.signal", "SIGUSR1"}};

TEST_CASE("a job on a host that drains saves itself, comes home, and goes back once it may") {
  DrainedQueues hosts;
  hosts.submit("vae", 2, kSaves);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.h1.network.is_draining_ = true;
  REQUIRE(hosts.comes_to("vae", "waiting", 120));
  CHECK_FALSE(hosts.job("vae").at("held").as_bool());
  CHECK(hosts.until(
      [&] {
        const std::string note = text_of(hosts.job("vae"), "note");
        return note.find("waits until h1 stops draining") != std::string::npos;
      },
      30));
  hosts.run(60);
  CHECK(hosts.state("vae") == "waiting");
  CHECK(hosts.h1.engine.boxes_.empty());
  hosts.h1.network.is_draining_ = false;
  REQUIRE(hosts.comes_to("vae", "running", 60));
  CHECK(hosts.runs_there());
}

TEST_CASE("a job at home on a host that drains goes on elsewhere") {
  DrainedQueues hosts;
  hosts.h1.host.config_.queue.offer.is_none = true;
  const std::string ticket = hosts.submit("small", 1, kSaves);
  REQUIRE(hosts.comes_to("small", "running", 20));
  REQUIRE(hosts.h2.engine.runs(ticket));
  hosts.h1.host.config_.queue.offer.is_none = false;
  hosts.h2.network.is_draining_ = true;
  REQUIRE(hosts.until([&] { return hosts.runs_there(); }, 120));
  CHECK_FALSE(hosts.h2.engine.runs(ticket));
}

TEST_CASE("a host that drains alone has its jobs save themselves, and starts none") {
  DrainedQueues hosts;
  hosts.kill(hosts.h1);
  for (Neighbour& other : hosts.h2.network.neighbours_) other.is_reachable = false;
  hosts.submit("small", 1, kSaves);
  REQUIRE(hosts.comes_to("small", "running", 30));
  hosts.h2.network.is_draining_ = true;
  REQUIRE(hosts.comes_to("small", "waiting", 120));
  hosts.run(60);
  CHECK(hosts.state("small") == "waiting");
}

TEST_CASE("a host is not empty until what has ended there has come home") {
  DrainedQueues hosts;
  hosts.submit("vae", 2);
  REQUIRE(hosts.comes_to("vae", "running", 20));
  hosts.run(10);
  CHECK(hosts.h1.queues.back()->unreturned() == 0);
  const std::string task = hosts.h1.task()->id;
  hosts.is_cut = true;
  hosts.end_task(0);
  hosts.run(20);
  CHECK(hosts.h1.queues.back()->unreturned() == 1);
  hosts.is_cut = false;
  REQUIRE(hosts.comes_to("vae", "done", 60));
  CHECK(hosts.h1.engine.boxes_.empty());
  hosts.h1.engine.tell("destroy", task);
  CHECK(hosts.until([&] { return hosts.h1.queues.back()->unreturned() == 0; }, 10));
}

TEST_CASE("what cannot save itself, or may not, stays on a host that drains until it ends") {
  for (const bool may_park : {true, false}) {
    CAPTURE(may_park);
    DrainedQueues hosts;
    hosts.h2.host.config_.queue.park = may_park;
    hosts.submit("vae", 2, may_park ? std::map<std::string, std::string>() : kSaves);
    REQUIRE(hosts.comes_to("vae", "running", 20));
    hosts.h1.network.is_draining_ = true;
    hosts.run(120);
    CHECK(hosts.state("vae") == "running");
    CHECK(hosts.runs_there());
    hosts.end_task(0);
    CHECK(hosts.comes_to("vae", "done", 30));
  }
}

}  // namespace
}  // namespace flowcon::cluster::test
