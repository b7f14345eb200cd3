// SPDX-License-Identifier: Apache-2.0
// Jobs that wait for their own host beside one that is free, through the real queues and migrators
// of both: what they would take along is known before they go, or that they cannot.
#include "cluster/migration/plan/refusals.h"
#include "tests/cluster/queue/two_queues.h"

namespace flowcon::cluster::test {
namespace {

class Hosts : public TwoQueues {
 public:
  const Quiet quiet;

  /// One job has all of h2, and another waits beside it.
  std::string fill_home() {
    h1.host.config_.queue.offer.is_none = true;
    first = submit("first", 1);
    REQUIRE(until([&] { return h2.engine.runs(first); }, 20));
    h1.host.config_.queue.offer.is_none = false;
    return submit("second", 1);
  }
  bool says(const std::string& words) {
    return text_of(job("second"), "note").find(words) != std::string::npos;
  }
  bool waits() { return state("second") == "waiting" && !job("second").at("held").as_bool(); }

  std::string first;
};

TEST_CASE("a job with a folder of its host waits for that, and no other is asked") {
  Hosts hosts;
  const std::string second = hosts.fill_home();
  boost::json::array mounts;
  mounts.push_back(
      {{"Type", "bind"}, {"Source", "/srv/data"}, {"Destination", "/data"}, {"RW", false}});
  hosts.h2.engine.inspects_.at(second)["Mounts"] = mounts;
  REQUIRE(hosts.until([&] { return hosts.says("it runs on h2 only: it mounts '/srv/data'"); }, 60));
  hosts.run(200);
  CHECK(hosts.waits());
  CHECK(hosts.h2.rows.rows_.empty());
  hosts.h2.engine.end_with(hosts.first, 0);
  CHECK(hosts.until([&] { return hosts.h2.engine.runs(second); }, 30));
}

TEST_CASE("a job that other hosts refuse waits for its own, and asks them ever more rarely") {
  Hosts hosts;
  hosts.h1.engine.conflicts_ = {"GPUs are not accepted"};
  const std::string second = hosts.fill_home();
  REQUIRE(hosts.until([&] { return hosts.says("GPUs are not accepted"); }, 60));
  hosts.run(1200);
  CHECK(hosts.until([&] { return hosts.waits(); }, 10));
  CHECK(hosts.says("h1 refuses: "));
  CHECK(hosts.h2.rows.rows_.size() < 10);
  hosts.h2.engine.end_with(hosts.first, 0);
  CHECK(hosts.until([&] { return hosts.h2.engine.runs(second); }, 30));
}

TEST_CASE("a job whose data is written to goes when that is over") {
  Hosts hosts;
  hosts.h2.engine.volume_obstacles_ = {"its data" + std::string(kWrittenTo) + "writer"};
  hosts.fill_home();
  REQUIRE(hosts.until([&] { return hosts.says("is written to by container writer"); }, 60));
  CHECK(hosts.h2.rows.rows_.empty());
  hosts.h2.engine.volume_obstacles_.clear();
  CHECK(hosts.until([&] { return hosts.runs_there(); }, 120));
}

TEST_CASE("a job that cannot leave for a fault of its engine goes some time after that is over") {
  Hosts hosts;
  hosts.h2.engine.volume_obstacles_ = {"its volumes cannot be measured"};
  hosts.fill_home();
  REQUIRE(hosts.until([&] { return hosts.says("it runs on h2 only: its volumes"); }, 60));
  hosts.h2.engine.volume_obstacles_.clear();
  CHECK(hosts.until([&] { return hosts.runs_there(); }, 900));
}

TEST_CASE("a job that nobody can weigh goes after a minute") {
  Hosts hosts;
  hosts.h2.files.measure_lasts_ = 200;
  hosts.submit("vae", 4);
  hosts.run(50);
  CHECK(hosts.state("vae") == "waiting");
  CHECK(hosts.comes_to("vae", "placing", 40));
}

}  // namespace
}  // namespace flowcon::cluster::test
