// SPDX-License-Identifier: Apache-2.0
// Threads that may be held by the kernel, here by a gate.
#include "ctrl/logs/tail_helper.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.h"

namespace flowcon::ctrl::logs {
namespace {

/// Holds who passes until it is opened, and counts who has passed.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    has_news_.wait(lock, [this] { return is_open_; });
    ++passed_;
    has_news_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    has_news_.notify_all();
  }
  void await(int passed) {
    std::unique_lock lock(mutex_);
    has_news_.wait(lock, [&] { return passed_ >= passed; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_news_;
  bool is_open_ = false;
  int passed_ = 0;
};

void await_end() {
  while (living_helpers() > 0) std::this_thread::yield();
}

}  // namespace

TEST_CASE("work is done in its order, and what is queued is done when its owner has gone") {
  auto gate = std::make_shared<Gate>();
  auto order = std::make_shared<std::vector<int>>();
  {
    Helpers helpers;
    const auto helper = helpers.get("a");
    REQUIRE(helper);
    for (int i = 0; i < 3; ++i) {
      helper->post([gate, order, i] {
        gate->pass();
        order->push_back(i);
      });
    }
  }
  CHECK(order->empty());
  gate->open();
  await_end();
  CHECK(*order == std::vector<int>{0, 1, 2});
}

TEST_CASE(
    "each file system has one thread, held by the kernel or not, and there are eight at most") {
  auto gate = std::make_shared<Gate>();
  Helpers helpers;
  for (std::size_t i = 0; i < Helpers::kMost; ++i) {
    const auto helper = helpers.get(std::to_string(i));
    REQUIRE(helper);
    helper->post([gate] { gate->pass(); });
  }
  // Nobody owns them any more, but they are held.
  CHECK(living_helpers() == Helpers::kMost);
  CHECK(helpers.get("another") == nullptr);
  auto again = helpers.get("3");
  REQUIRE(again);
  CHECK(living_helpers() == Helpers::kMost);
  again->post([gate] { gate->pass(); });
  gate->open();
  gate->await(static_cast<int>(Helpers::kMost) + 1);
  while (living_helpers() > 1) std::this_thread::yield();
  CHECK(helpers.get("another") != nullptr);
  again.reset();
  await_end();
}

TEST_CASE("the end of all that know it waits for no thread") {
  auto gate = std::make_shared<Gate>();
  {
    Helpers helpers;
    const auto helper = helpers.get("a");
    REQUIRE(helper);
    helper->post([gate] { gate->pass(); });
  }
  CHECK(living_helpers() == 1);
  gate->open();
  await_end();
}

}  // namespace flowcon::ctrl::logs
