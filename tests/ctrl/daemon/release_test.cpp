// SPDX-License-Identifier: Apache-2.0
// Limits at the end of control.
#include "ctrl/daemon/release.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tests/ctrl/daemon/world.h"
#include "tests/support/catch.h"

using namespace flowcon;
using test::Host;

namespace {

// A job that takes two minutes to save itself.
class LongSave : public ctrl::Extension {
 public:
  explicit LongSave(std::string request) : request_(std::move(request)) {}
  Async<void> begin() override { co_return; }
  void look(double) override {}
  ctrl::api::Routes routes() override { return {}; }
  Async<void> settle(double) override {
    std::error_code gone;
    const auto before = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2);
    std::filesystem::last_write_time(request_, before, gone);
    co_return;
  }
  void end() override {}

 private:
  std::string request_;
};

}  // namespace

TEST_CASE("limits are left to the next flowcond however long jobs save themselves") {
  Host host;
  test::run_two(host);
  const std::string before = host.weight("a");
  REQUIRE(before != "100");
  const std::string request = host.folder.path() + "/hand-over";
  std::ofstream(request).close();
  host.daemon->extend(std::make_unique<LongSave>(request));
  host.end();
  CHECK(host.weight("a") == before);
}

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
