// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/takeover.h"

#include <fstream>
#include <string>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

store::Original original(const std::string& id, const std::string& life,
                         bool has_all_limits = false) {
  store::Original one;
  one.has_all_limits = has_all_limits;
  one.id = id;
  one.life = life;
  one.setting.cpu.weight = 77;
  return one;
}

// Job "a" was left with a quarter of the CPU.
Takeover taken(const std::string& life = "", bool has_all_limits = false) {
  Handover handed;
  handed.interval = 40;
  handed.jobs["a"].cpu.list = List::cl;
  handed.jobs["a"].cpu.granted = 0.25;
  handed.jobs["a"].reason = "CL";
  Takeover takeover;
  takeover.begin(std::move(handed), {original("a", life, has_all_limits), original("stranger", "")},
                 100);
  return takeover;
}

Job job(const std::string& life = "") {
  Job one;
  one.container.id = "a";
  one.life = life;
  return one;
}

}  // namespace

TEST_CASE("a container that was handed over has its limit and its original") {
  Takeover takeover = taken();
  CHECK(takeover.kept() == std::set<std::string>{"a"});
  CHECK(takeover.interval() == 40);
  Job claimed = job();
  takeover.claim(claimed);
  CHECK(claimed.cpu.granted == 0.25);
  CHECK(claimed.cpu.list == List::cl);
  CHECK(claimed.told.has_converged);
  CHECK(claimed.original.cpu.weight == 77);
  CHECK((claimed.is_limited && claimed.is_original_saved));
  CHECK_FALSE(claimed.has_all_limits);
  CHECK(takeover.kept().empty());
  CHECK(takeover.joins("a"));
  CHECK_FALSE(takeover.joins("a"));
}

TEST_CASE("of one whose memory was limited all limits are read again") {
  Takeover takeover = taken("", true);
  Job claimed = job();
  claimed.original.memory.soft_bytes = claimed.present.memory.soft_bytes = 4096;
  takeover.claim(claimed);
  CHECK(claimed.has_all_limits);
  CHECK_FALSE(claimed.original.memory.soft_bytes);
}

TEST_CASE("of one whose CPU alone was limited the rest is as others have left it") {
  Takeover takeover = taken();
  Job claimed = job();
  claimed.original.memory.soft_bytes = claimed.present.memory.soft_bytes = 4096;
  takeover.claim(claimed);
  CHECK_FALSE(claimed.has_all_limits);
  CHECK(claimed.original.cpu.weight == 77);
  CHECK(claimed.original.memory.soft_bytes == 4096U);
}

TEST_CASE("nothing is written until all of them are there, or for ten seconds") {
  Takeover takeover = taken();
  CHECK(takeover.is_awaiting(109));
  CHECK_FALSE(takeover.is_awaiting(110));
  REQUIRE(takeover.joins("a"));
  CHECK_FALSE(takeover.is_awaiting(101));
  CHECK_FALSE(Takeover().is_awaiting(0));
}

TEST_CASE("a container that was started again meanwhile has nothing of its former life") {
  Takeover takeover = taken("before");
  Job claimed = job("after");
  takeover.claim(claimed);
  CHECK(claimed.cpu.granted == 1);
  CHECK_FALSE(claimed.is_limited);
  CHECK_FALSE(takeover.joins("a"));
}

TEST_CASE("a soft limit that was handed over stays before memory is read") {
  test::Host host;
  host.config.limiting.memory_low = 2;  // always short
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.1"}});
  for (int tick = 0; tick < 3; ++tick) host.pass();
  const std::string group = "docker/" + test::Host::id_of("a");
  const std::string high = host.fs.text(group, "memory.high");
  REQUIRE(high != "max");
  std::ofstream(host.folder.path() + "/hand-over").close();
  host.end();
  REQUIRE(host.fs.text(group, "memory.high") == high);
  host.begin();
  for (const double seconds : {0.1, 5.0, 5.0}) {
    host.pass(seconds);
    CHECK(host.fs.text(group, "memory.high") == high);
    // Of a host between the two thresholds nothing else says that it was short.
    REQUIRE(host.ask("GET", "/v1/status") == 200);
    CHECK(host.json().at("short_of_memory").as_bool());
  }
  host.end();
  CHECK(host.fs.text(group, "memory.high") == "max");
}

TEST_CASE("a dry run restores the limits that an earlier flowcond left") {
  const bool is_handed_over = GENERATE(true, false);
  test::Host host;
  test::run_two(host);
  if (is_handed_over) {
    std::ofstream(host.folder.path() + "/hand-over").close();
    host.end();
  } else {
    host.kill();
  }
  REQUIRE(host.weight("a") != "100");
  host.config.dry_run = true;
  host.begin();
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
  host.fs.forget_writes();
  host.pass();
  host.pass();
  CHECK(host.status_of("a").at("limit").to_number<double>() < 1);
  CHECK(host.fs.writes().empty());
}

TEST_CASE("an original that could not be put back is the one of the job that comes") {
  Takeover takeover;
  takeover.keep(original("a", ""), 100);
  Job claimed = job();
  takeover.claim(claimed);
  CHECK(claimed.original.cpu.weight == 77);
  CHECK(claimed.is_limited);
  CHECK(claimed.cpu.granted == 1);
}
