// SPDX-License-Identifier: Apache-2.0
// Whose a limit is that flowcond finds: what others set while it limits nothing stays, and what
// systemd brings back of flowcond's own does not.
#include "ctrl/daemon/originals.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/ctrl/daemon/world.h"
#include "tests/ctrl/store_folder.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;
using test::run_two;
using test::StandardError;

namespace {

const std::string kGroup = "docker/" + Host::id_of("a");

void pass_often(Host& host, int times) {
  for (int i = 0; i < times; ++i) host.pass();
}

// Two jobs, of which the first one has a soft limit where memory is short.
void run_two_softly(Host& host, double memory_low) {
  host.config.limiting.resources = {ctrl::Resource::cpu, ctrl::Resource::memory};
  host.config.limiting.memory_low = memory_low;
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.1"}});
  host.start("b");
  pass_often(host, 3);
  REQUIRE(host.weight("a") != "100");
}

constexpr double kNeverShort = 0, kAlwaysShort = 2;

// As on a full disk.
void refuse_originals(const Host& host) {
  ctrl::store::execute_at(host.folder.path() + "/journal.db",
                          "CREATE TRIGGER full BEFORE INSERT ON originals "
                          "BEGIN SELECT RAISE(ABORT,'full'); END");
}
void take_originals_again(const Host& host) {
  ctrl::store::execute_at(host.folder.path() + "/journal.db", "DROP TRIGGER full");
}

}  // namespace

TEST_CASE("a limit that others set while a job is frozen is the original then") {
  Host host;
  run_two(host);
  host.freeze("a", true);
  host.pass();
  CHECK(host.weight("a") == "100");
  host.fs.set(kGroup, "cpu.max", "50000 100000");
  host.freeze("a", false);
  pass_often(host, 2);
  CHECK(host.weight("a") != "100");
  host.end();
  CHECK(host.weight("a") == "100");
  CHECK(host.fs.text(kGroup, "cpu.max") == "50000 100000");
}

TEST_CASE("a soft limit of flowcond that systemd brings back while a job is frozen is none") {
  Host host;
  run_two_softly(host, kAlwaysShort);
  const std::string ours = host.fs.text(kGroup, "memory.high");
  REQUIRE(ours != "max");
  host.freeze("a", true);
  host.pass();
  REQUIRE(host.fs.text(kGroup, "memory.high") == "max");
  host.fs.set(kGroup, "memory.high", ours);
  host.freeze("a", false);
  pass_often(host, 2);
  host.end();
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
}

TEST_CASE("a soft limit that others set stays where flowcond has set none, whoever ends control") {
  for (const std::string& how :
       std::vector<std::string>{"a stop", "pause", "release", "a kill", "a hand-over"}) {
    INFO(how);
    Host host;
    run_two_softly(host, kNeverShort);
    host.fs.set(kGroup, "memory.high", "1048576");
    if (how == "a kill") {
      host.kill();
      host.begin();
    } else if (how == "a hand-over") {
      std::ofstream(host.folder.path() + "/hand-over").close();
      host.end();
      REQUIRE(host.weight("a") != "100");
      host.begin();
      pass_often(host, 3);
      REQUIRE(host.weight("a") != "100");
    } else if (how != "a stop") {
      REQUIRE(host.ask("POST", "/v1/containers/a/" + how) == 200);
    }
    if (how != "a stop" && how != "a hand-over") CHECK(host.weight("a") == "100");
    CHECK(host.fs.text(kGroup, "memory.high") == "1048576");
    host.end();
    CHECK(host.weight("a") == "100");
    CHECK(host.fs.text(kGroup, "memory.high") == "1048576");
  }
}

TEST_CASE("a soft limit that came after the limit of the CPU goes after a kill, too") {
  Host host;
  run_two_softly(host, kNeverShort);
  ctrl::Config config = host.config;
  config.limiting.memory_low = kAlwaysShort;
  host.daemon->reload(config);
  pass_often(host, 3);
  REQUIRE(host.fs.text(kGroup, "memory.high") != "max");
  host.kill();
  host.begin();
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
}

TEST_CASE("a soft limit that is held back is saved once, as one that is written") {
  std::uint64_t used = 1ULL << 40;
  Host host;
  host.fs.at_read = [&](const std::string& group, const std::string& file) {
    if (group != kGroup || file != "memory.current") return;
    used += used / 4;  // more than a plan leaves room for
    host.fs.set(group, file, std::to_string(used));
  };
  run_two_softly(host, kAlwaysShort);
  REQUIRE(host.fs.text(kGroup, "memory.high") == "max");
  refuse_originals(host);
  host.pass();
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
  CHECK(host.status_of("a").at("note").as_string().find("could not be saved") == std::string::npos);
}

TEST_CASE("the CPU is limited while a first soft limit waits for room on the disk") {
  Host host;
  run_two_softly(host, kNeverShort);
  const std::string before = host.weight("a");
  refuse_originals(host);
  ctrl::Config config = host.config;
  config.limiting.memory_low = kAlwaysShort;
  host.daemon->reload(config);
  REQUIRE(host.ask("POST", "/v1/containers/a/pin", R"({"cpu":"0.9"})") == 200);
  pass_often(host, 3);
  CHECK(host.weight("a") != before);
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
  const std::string note(host.status_of("a").at("note").as_string());
  CHECK(note.find("memory and block I/O are left alone") == 0);
  take_originals_again(host);
  pass_often(host, 2);
  CHECK(host.fs.text(kGroup, "memory.high") != "max");
  host.end();
  CHECK(host.weight("a") == "100");
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
}

TEST_CASE("a soft limit that systemd was not told of the end of goes after a second kill, too") {
  Host host;
  host.scope = "docker-4f.scope";
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  run_two_softly(host, kAlwaysShort);
  const std::string ours = host.fs.text(kGroup, "memory.high");
  REQUIRE(ours != "max");
  host.kill();
  host.config.limiting.memory_low = kNeverShort;
  host.begin();
  pass_often(host, 3);
  REQUIRE(host.weight("a") != "100");
  REQUIRE(host.fs.text(kGroup, "memory.high") == "max");
  host.fs.set(kGroup, "memory.high", ours);
  host.kill();
  host.begin();
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
  host.end();
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
}

TEST_CASE("a cap on a disk that was taken away is no original any more, and nothing waits for it") {
  Host host;
  host.has_io = true;
  host.config.limiting.resources = {ctrl::Resource::cpu, ctrl::Resource::memory};
  host.config.limiting.memory_low = kAlwaysShort;
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.1"}});
  host.fs.set(kGroup, "io.max", "8:16 rbps=1048576 wbps=max riops=max wiops=max");
  host.start("b");
  pass_often(host, 3);
  REQUIRE(host.fs.text(kGroup, "memory.high") != "max");
  host.fs.set(kGroup, "io.max", "");
  host.fs.refuse(kGroup, "io.max", ENODEV);
  pass_often(host, 9);
  CHECK(host.status_of("a").at("note").as_string().find("I/O limit") == std::string::npos);
  REQUIRE(host.ask("GET", "/v1/status") == 200);
  CHECK(host.json().at("reverts").to_number<int>() == 1);
  host.end();
  CHECK(host.weight("a") == "100");
}

TEST_CASE("a soft limit of others stays after an original could not be saved for a while") {
  Host host;
  host.config.limiting.resources = {ctrl::Resource::cpu, ctrl::Resource::memory};
  host.config.limiting.memory_low = kNeverShort;
  host.begin();
  host.start("a");
  host.pass();
  refuse_originals(host);
  host.start("b", {{"flowcon.weight", "4"}});
  host.pass();
  CHECK(host.weight("a") == "100");
  CHECK(host.status_of("a").at("note").as_string().find("limits are left alone") == 0);
  take_originals_again(host);
  pass_often(host, 2);
  REQUIRE(host.weight("a") != "100");
  host.fs.set(kGroup, "memory.high", "1048576");
  pass_often(host, 3);
  CHECK(host.fs.text(kGroup, "memory.high") == "1048576");
  host.end();
  CHECK(host.fs.text(kGroup, "memory.high") == "1048576");
}

TEST_CASE("whole percents that systemd makes of a quota of flowcond are no original") {
  Host host;
  host.config.limiting.mode = cgroups::LimitMode::quota;
  host.begin();
  host.start("a", {{"flowcon.ceiling", "0.3333"}});
  pass_often(host, 3);
  REQUIRE(host.fs.text(kGroup, "cpu.max") == "66660 100000");
  REQUIRE(host.ask("POST", "/v1/containers/a/pause") == 200);
  REQUIRE(host.fs.text(kGroup, "cpu.max") == "max 100000");
  host.fs.set(kGroup, "cpu.max", "66000 100000");
  REQUIRE(host.ask("POST", "/v1/containers/a/resume") == 200);
  host.pass();
  host.end();
  CHECK(host.fs.text(kGroup, "cpu.max") == "max 100000");
}

TEST_CASE("whole percents that systemd makes of an original quota are no new original") {
  Host host;
  host.begin();
  host.start("a");
  host.fs.set(kGroup, "cpu.max", "123400 100000");
  host.pass();
  host.start("b", {{"flowcon.weight", "4"}});
  pass_often(host, 2);
  REQUIRE(host.ask("POST", "/v1/containers/a/pause") == 200);
  host.fs.set(kGroup, "cpu.max", "124000 100000");
  REQUIRE(host.ask("POST", "/v1/containers/a/resume") == 200);
  host.pass();
  host.end();
  CHECK(host.fs.text(kGroup, "cpu.max") == "123400 100000");
}

TEST_CASE("nothing is an original after a restore that systemd was not told") {
  Host host;
  host.scope = "docker-4f.scope";
  ::setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1);
  run_two(host);
  REQUIRE(host.ask("POST", "/v1/containers/a/pause") == 200);
  CHECK(host.weight("a") == "100");
  // What flowcond told some time ago.
  host.fs.set(kGroup, "cpu.weight", "77");
  REQUIRE(host.ask("POST", "/v1/containers/a/resume") == 200);
  host.pass();
  CHECK(host.weight("a") != "77");
  host.end();
  ::unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
  CHECK(host.weight("a") == "100");
}

TEST_CASE("a restore that failed in part is told once, and is nobody else's change") {
  Host host;
  run_two_softly(host, kAlwaysShort);
  REQUIRE(host.fs.text(kGroup, "memory.high") != "max");
  host.fs.refuse(kGroup, "memory.high", EIO);
  const StandardError error;
  host.freeze("a", true);
  pass_often(host, 4);
  CHECK(host.weight("a") == "100");
  const std::string text = error.text();
  const std::string failure = "restoring the limits of a";
  const std::size_t first = text.find(failure);
  CHECK(first != std::string::npos);
  CHECK(text.find(failure, first + 1) == std::string::npos);
  REQUIRE(host.ask("GET", "/v1/status") == 200);
  CHECK(host.json().at("reverts").to_number<int>() == 0);
  host.fs.refuse(kGroup, "memory.high", 0);
  pass_often(host, 4);
  CHECK(host.fs.text(kGroup, "memory.high") == "max");
}
