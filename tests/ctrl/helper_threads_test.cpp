// SPDX-License-Identifier: Apache-2.0
#include "ctrl/helper_threads.h"

#include <boost/asio/io_context.hpp>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "ctrl/async.h"
#include "ctrl/spawn.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

// A file system that does not answer until it is told to.
struct Hung {
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future().share();
  auto question() {
    return [opened = opened] {
      opened.wait();
      return std::string("late");
    };
  }
};

Async<void> ask_hung(HelperThreads* helpers, Hung* hung, std::vector<std::string>* said) {
  auto question = hung->question();
  const auto found = co_await helpers->ask(std::move(question), 0.01);
  said->push_back(found ? *found : found.error().code.message());
}

Async<void> ask_well(HelperThreads* helpers, std::vector<std::string>* said) {
  auto question = [] { return std::string("there"); };
  const auto found = co_await helpers->ask(std::move(question), 60);
  said->push_back(found ? *found : found.error().code.message());
}

}  // namespace

TEST_CASE("a file system that hangs costs a thread and not the loop, and a few threads at most") {
  boost::asio::io_context io(1);
  Hung hung;
  std::vector<std::string> said;
  HelperThreads helpers(2);
  const std::string late = std::make_error_code(std::errc::timed_out).message();
  const std::string busy = std::make_error_code(std::errc::device_or_resource_busy).message();
  spawn(io, "first", ask_hung(&helpers, &hung, &said));
  io.run();
  CHECK(said == std::vector{late});
  // One hangs, and another is still answered.
  said.clear();
  spawn(io, "well", ask_well(&helpers, &said));
  io.restart();
  io.run();
  CHECK(said == std::vector<std::string>{"there"});
  said.clear();
  spawn(io, "second", ask_hung(&helpers, &hung, &said));
  io.restart();
  io.run();
  CHECK(said == std::vector{late});
  CHECK(helpers.running() == 2);
  said.clear();
  for (int i = 0; i < 100; ++i) spawn(io, "one more", ask_hung(&helpers, &hung, &said));
  io.restart();
  io.run();
  CHECK(said == std::vector(100, busy));
  CHECK(helpers.running() == 2);
  // When it answers at last, there is room again.
  hung.gate.set_value();
  while (helpers.running() > 0) std::this_thread::yield();
  said.clear();
  spawn(io, "well again", ask_well(&helpers, &said));
  io.restart();
  io.run();
  CHECK(said == std::vector<std::string>{"there"});
}

TEST_CASE("a thread that hangs may outlive whoever asked, and the loop") {
  Hung hung;
  std::vector<std::string> said;
  {
    boost::asio::io_context io(1);
    HelperThreads helpers(1);
    spawn(io, "first", ask_hung(&helpers, &hung, &said));
    io.run();
  }
  hung.gate.set_value();
  CHECK(said.size() == 1);
}
