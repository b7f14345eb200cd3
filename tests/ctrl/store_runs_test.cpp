// SPDX-License-Identifier: Apache-2.0
// What is kept of a run beside its records.
#include "tests/ctrl/store_folder.h"

using namespace flowcon;
using namespace flowcon::ctrl::store;

namespace {

Look look(const std::string& id, double time) {
  Look l;
  l.run.id = id;
  l.run.name = "vae";
  l.run.started = time;
  return l;
}

}  // namespace

TEST_CASE("which training a run was is kept, and that it had a counter once") {
  const Folder folder;
  const auto store = open(folder);
  Look first = look("a", 10);
  first.run.training = "t:1 python vae.py";
  first.run.has_counter = true;
  Look last = first;
  last.run.has_counter = false;
  REQUIRE(store->record({first}, {}).has_value());
  REQUIRE(store->record({last}, {}).has_value());
  const auto runs = store->runs(0);
  REQUIRE((runs.has_value() && runs->size() == 1));
  CHECK(runs->front().training == "t:1 python vae.py");
  CHECK(runs->front().has_counter);
  CHECK(store->history("a")->run.has_counter);
}

TEST_CASE("a run that left for another host is marked until it runs here again") {
  const Folder folder;
  const auto store = open(folder);
  Look left = look("a", 10);
  left.run.finished = 50;
  left.run.has_moved = true;
  REQUIRE(store->record({left, look("b", 10)}, {}).has_value());
  auto runs = store->runs(0);
  REQUIRE((runs.has_value() && runs->size() == 2));
  CHECK(runs->front().has_moved);
  CHECK_FALSE(runs->back().has_moved);
  CHECK(store->history("a")->run.has_moved);
  // The move failed, and its host goes on with it.
  REQUIRE(store->record({look("a", 60)}, {}).has_value());
  CHECK_FALSE(store->history("a")->run.has_moved);
}
