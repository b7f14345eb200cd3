// SPDX-License-Identifier: Apache-2.0
// Limits that a killed flowcond has left, put back by one that cannot start.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "ctrl/daemon/daemon.h"
#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;

namespace {

Result<void> restore(Host& host) {
  const test::StandardError error;
  return ctrl::restore_leftovers(
      host.config, [&host]() -> Result<std::unique_ptr<cgroups::CgroupFs>> {
        return std::unique_ptr<cgroups::CgroupFs>(std::make_unique<test::SharedCgroups>(host.fs));
      });
}

// Two containers with a limit of a flowcond that was killed.
void leave_limits(Host& host) {
  run_two(host);
  REQUIRE(host.weight("a") != "100");
  host.kill();
}

}  // namespace

TEST_CASE("limits that a killed flowcond left are put back without a start") {
  Host host;
  leave_limits(host);
  REQUIRE(restore(host).has_value());
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
  std::string notice;
  const auto store = ctrl::store::Store::open(host.folder.path() + "/flowcon.db", &notice);
  REQUIRE(store.has_value());
  CHECK((*store)->originals()->empty());
}

TEST_CASE("limits stay where another flowcond runs") {
  Host host;
  leave_limits(host);
  const std::string left = host.weight("a");
  const std::string lock = host.folder.path() + "/lock";
  const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  CHECK(restore(host).has_value());
  CHECK(host.weight("a") == left);
  ::close(fd);
  CHECK(restore(host).has_value());
  CHECK(host.weight("a") == "100");
}

TEST_CASE("a state folder without a journal is not touched") {
  Host host;
  host.config.state_dir = host.folder.path() + "/none";
  CHECK(restore(host).has_value());
  CHECK_FALSE(std::filesystem::exists(host.config.state_dir));
}
