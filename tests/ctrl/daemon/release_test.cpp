// SPDX-License-Identifier: Apache-2.0
// Limits at the end of control.
#include "ctrl/daemon/release.h"

#include <filesystem>
#include <fstream>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;

TEST_CASE("limits are restored where they were to be left and the hand-over cannot be written") {
  Host host;
  test::run_two(host);
  REQUIRE(host.weight("a") != "100");
  std::ofstream(host.folder.path() + "/hand-over").close();
  std::filesystem::create_directory(host.folder.path() + "/handed-over.json");
  const test::StandardError error;
  host.end();
  CHECK(host.weight("a") == "100");
  CHECK(host.weight("b") == "100");
  CHECK(error.text().find("the limits are restored") != std::string::npos);
}
