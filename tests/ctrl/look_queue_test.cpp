// SPDX-License-Identifier: Apache-2.0
#include "ctrl/look_queue.h"

#include "tests/support/catch.h"

using flowcon::ctrl::Look;
using flowcon::ctrl::LookQueue;

namespace {

std::string ids_of(const std::vector<Look>& looks) {
  std::string all;
  for (const Look& look : looks) all += look.id;
  return all;
}

}  // namespace

TEST_CASE("containers are looked at in the order they were asked for, four at once") {
  LookQueue queue;
  for (const char* id : {"a", "b", "c", "d", "e", "f"}) queue.ask(id, 0, false);
  CHECK(ids_of(queue.take(0)) == "abcd");
  CHECK(queue.take(0).empty());
  queue.finish("c", true, 1);
  CHECK(ids_of(queue.take(1)) == "e");
}

TEST_CASE("a look that failed is repeated with a back-off until it is answered") {
  LookQueue queue;
  queue.ask("a", 7, false);
  double now = 0;
  std::vector<double> pauses, patience;
  for (int i = 0; i < 10; ++i) {
    const auto looks = queue.take(now);
    REQUIRE(looks.size() == 1);
    CHECK(looks.front().time == 7);
    patience.push_back(looks.front().patience);
    queue.finish("a", false, now);
    REQUIRE(queue.next().has_value());
    CHECK(queue.take(*queue.next() - 0.01).empty());
    pauses.push_back(*queue.next() - now);
    now = *queue.next();
  }
  CHECK(pauses == std::vector<double>{0.25, 0.5, 1, 2, 4, 8, 16, 32, 60, 60});
  CHECK(patience == std::vector<double>{5, 10, 20, 30, 30, 30, 30, 30, 30, 30});
  CHECK(queue.failing(10) == 1);
  REQUIRE(queue.take(now).size() == 1);
  queue.finish("a", true, now);
  CHECK(queue.failing(1) == 0);
  CHECK_FALSE(queue.next().has_value());
}

TEST_CASE("however many looks hang, others find room at once") {
  LookQueue queue;
  for (const char* id : {"a", "b", "c", "d"}) queue.ask(id, 0, false);
  REQUIRE(queue.take(0).size() == 4);
  for (const char* id : {"a", "b", "c", "d"}) queue.finish(id, false, 5);
  REQUIRE(queue.take(10).size() == LookQueue::kMostRepeats);
  CHECK_FALSE(queue.next().has_value());
  queue.ask("x", 0, false);
  queue.ask("y", 0, false);
  CHECK(ids_of(queue.take(10)) == "xy");
}

TEST_CASE(
    "what is asked for while it is on its way is done once more, as an update if one said so") {
  LookQueue queue;
  queue.ask("a", 1, false);
  REQUIRE(queue.take(0).size() == 1);
  queue.ask("a", 2, true);
  queue.ask("a", 3, false);
  CHECK(queue.take(0).empty());
  queue.finish("a", true, 0);
  const auto again = queue.take(0);
  REQUIRE(again.size() == 1);
  CHECK(again.front().is_update);
  CHECK(again.front().time == 3);
  queue.finish("a", true, 0);
  CHECK(queue.take(0).empty());
}

TEST_CASE("what was seen of a container that ended meanwhile is out of date") {
  LookQueue queue;
  queue.ask("a", 0, false);
  CHECK_FALSE(queue.is_stale("a"));
  REQUIRE(queue.take(0).size() == 1);
  queue.end("a");
  CHECK(queue.is_stale("a"));
  queue.finish("a", true, 0);
  CHECK(ids_of(queue.take(0)) == "a");
  CHECK_FALSE(queue.is_stale("a"));
}

TEST_CASE("a container that the engine does not list any more is not asked for again") {
  LookQueue queue;
  for (const char* id : {"a", "b"}) queue.ask(id, 0, false);
  REQUIRE(queue.take(0).size() == 2);
  for (const char* id : {"a", "b"}) queue.finish(id, false, 0);
  queue.keep({"b"}, queue.asked());
  CHECK(ids_of(queue.take(100)) == "b");
}

TEST_CASE("a container that was asked for after the list was is asked for again") {
  LookQueue queue;
  const std::size_t before = queue.asked();
  queue.ask("a", 7, false);
  REQUIRE(queue.take(0).size() == 1);
  queue.finish("a", false, 0);
  queue.keep({}, before);
  CHECK(ids_of(queue.take(100)) == "a");
}

TEST_CASE("an event ends a back-off, and so does an engine that is back") {
  const bool is_engine_back = GENERATE(true, false);
  LookQueue queue;
  queue.ask("a", 1, false);
  double now = 0;
  for (int i = 0; i < 9; ++i) {
    REQUIRE(queue.take(now).size() == 1);
    queue.finish("a", false, now);
    now = queue.next().value();
  }
  now -= 59;
  queue.ask("a", 0, false);
  CHECK(queue.take(now).empty());
  if (is_engine_back) {
    queue.begin_anew();
  } else {
    queue.ask("a", 2, false);
  }
  const auto looks = queue.take(now);
  REQUIRE(looks.size() == 1);
  CHECK(looks.front().patience == LookQueue::kFirstPatience);
  queue.finish("a", false, now);
  CHECK(queue.next() == now + LookQueue::kFirstPause);
}

TEST_CASE("a look that fails after an event on its way is done again at once") {
  LookQueue queue;
  queue.ask("a", 1, false);
  REQUIRE(queue.take(0).size() == 1);
  queue.ask("a", 2, false);
  queue.finish("a", false, 30);
  const auto looks = queue.take(30);
  REQUIRE(looks.size() == 1);
  CHECK(looks.front().time == 2);
}
