// SPDX-License-Identifier: Apache-2.0
// Parts of a daemon without its loop, on a store of the test's own. For .cpp files only: it
// includes Asio.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include "ctrl/daemon/carry_over.h"
#include "ctrl/daemon/controls.h"
#include "ctrl/spawn.h"
#include "tests/ctrl/daemon/world.h"

namespace flowcon::test {

/// All that outlives the parts of one host.
struct Ground {
  explicit Ground(const std::string& name = "a") : host(name) {
    std::string notice;
    auto opened = ctrl::store::Store::open(folder.path() + "/flowcon.db", &notice);
    REQUIRE(opened.has_value());
    world.store = std::move(*opened);
    world.clock = [this] { return ctrl::Moment{now, now}; };
  }
  ~Ground() { effects.finish(); }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  /// Until it is so; a loop that follows logs is never out of work.
  template <class Done>
  void until(Done done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it hangs");
      io.restart();
      io.run_one_for(std::chrono::seconds(1));
    }
  }
  /// What `work` gives.
  template <class T>
  T get(Async<T> work) {
    std::optional<T> got;
    auto life = [&]() -> Async<void> { got = co_await std::move(work); };
    ctrl::spawn(io, "test", life);
    until([&] { return got.has_value(); });
    return *got;
  }
  void run(Async<void> work) {
    bool is_done = false;
    auto life = [&]() -> Async<void> {
      co_await std::move(work);
      is_done = true;
    };
    ctrl::spawn(io, "test", life);
    until([&] { return is_done; });
  }

  std::string host;
  TempFolder folder;
  double now = 1e9;
  boost::asio::io_context io{1};
  ctrl::World world;
  ctrl::Effects effects;
};

}  // namespace flowcon::test
