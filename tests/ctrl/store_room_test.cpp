// SPDX-License-Identifier: Apache-2.0
// The bound of the records, what goes first, and when they are checked.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/ctrl/store_folder.h"

using namespace flowcon::ctrl;
using namespace flowcon::ctrl::store;

namespace {

constexpr std::uint64_t kMost = 1U << 20;

std::unique_ptr<Store> open_bounded(const Folder& folder) {
  std::string notice;
  Options options;
  options.most_bytes = kMost;
  auto store = Store::open(folder.file(), &notice, options);
  REQUIRE(store.has_value());
  return std::move(*store);
}

// What 64 values and a decision leave.
Look busy_look(double time) {
  Look look;
  look.run.id = "a";
  look.run.name = "vae";
  look.run.started = 1;
  for (int i = 0; i < 64; ++i) look.samples.push_back({time + i / 64.0, 0.5});
  look.usage = UsageRow{time, 0.25, 4096, {}, {}};
  look.decision = DecisionRow{time, List::nl, 0.5, std::nullopt};
  return look;
}

}  // namespace

TEST_CASE("records stay within their bound under load, the newest whole, the older half thinned") {
  // Once the clock was years ahead.
  const bool was_ahead = GENERATE(false, true);
  const Folder folder;
  const auto store = open_bounded(folder);
  constexpr int kLooks = 1200;
  int steps = 0;
  if (was_ahead) REQUIRE(store->record({busy_look(1e9)}, {}).has_value());
  for (int i = 0; i < kLooks; ++i) {
    const Round round{i * 1.0, "executor", "cpu", std::string(200, 's'), "{}"};
    REQUIRE(store->record({busy_look(i)}, {round}).has_value());
    for (bool more = true; more; ++steps) {
      const auto step = store->make_room(i + 1);
      REQUIRE(step.has_value());
      more = *step;
    }
    if (i % 100 == 0) CHECK(std::filesystem::file_size(folder.file()) <= kMost);
  }
  CHECK(steps < 20 * kLooks);
  const auto history = store->history("a");
  REQUIRE(history.has_value());
  auto samples = history->samples;
  std::erase_if(samples, [](const Sample& s) { return s.time > kLooks; });
  REQUIRE(samples.size() > 2000);
  CHECK(samples.back().time > kLooks - 1);
  // Of the last tenth of what is there nothing is missing, of the first there are gaps.
  const double first = samples.front().time, last = samples.back().time;
  const auto count_in = [&](double from, double until) {
    return std::count_if(samples.begin(), samples.end(),
                         [&](const Sample& s) { return s.time >= from && s.time < until; });
  };
  const double tenth = (last - first) / 10;
  CHECK(static_cast<double>(count_in(last - tenth, last)) > 60 * tenth);
  CHECK(static_cast<double>(count_in(first, first + tenth)) < 20 * tenth);
}

TEST_CASE("records that reached their bound between two steps take what is new all the same") {
  const Folder folder;
  const auto store = open_bounded(folder);
  for (int i = 0; i < 500; ++i) REQUIRE(store->record({busy_look(i)}, {}).has_value());
  CHECK(std::filesystem::file_size(folder.file()) <= kMost);
  CHECK(store->history("a")->samples.back().time > 499);
}

namespace {

constexpr int kRuns = 10000;  // more than the bound holds

// So many runs that have ended and of which nothing else is kept.
void record_ended(Store& store) {
  constexpr int kAtOnce = 100;
  for (int i = 0; i < kRuns; i += kAtOnce) {
    std::vector<Look> looks(kAtOnce);
    for (int k = 0; k < kAtOnce; ++k) {
      Run& run = looks[static_cast<std::size_t>(k)].run;
      run.id = "run " + std::to_string(i + k);
      run.training = std::string(200, 't');
      run.started = 10 + i + k;
      run.finished = run.started + 0.5;
    }
    REQUIRE(store.record(looks, {}).has_value());
    for (bool more = true; more;) {
      const auto step = store.make_room(1e6);
      REQUIRE(step.has_value());
      more = *step;
    }
  }
}

}  // namespace

TEST_CASE("where there are only runs those go that ended first") {
  const Folder folder;
  const auto store = open_bounded(folder);
  Look going_on;
  going_on.run.id = "going on";
  going_on.run.started = 1;
  Look ended_last;
  ended_last.run.id = "ended last";
  ended_last.run.started = 2;
  ended_last.run.finished = 1e6;
  REQUIRE(store->record({going_on, ended_last}, {}).has_value());
  record_ended(*store);
  CHECK(std::filesystem::file_size(folder.file()) <= kMost);
  const auto page = store->runs(0);
  REQUIRE(page.has_value());
  const std::vector<Run>& runs = page->runs;
  REQUIRE(runs.size() > 1000);
  CHECK(runs.size() < kRuns);
  CHECK(runs.at(0).id == "going on");
  CHECK(runs.at(1).id == "ended last");
  CHECK(runs.back().id == "run 9999");
}

TEST_CASE("runs that have ended go before the history of one that goes on") {
  const Folder folder;
  const auto store = open_bounded(folder);
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks; ++i) REQUIRE(store->record({busy_look(i)}, {}).has_value());
  record_ended(*store);
  REQUIRE(store->runs(0)->runs.size() < kRuns);
  CHECK(store->history("a")->samples.size() == kLooks * 64);
}

TEST_CASE("up to where records were thinned by a clock that was ahead is forgotten") {
  const Folder folder;
  const auto store = open_bounded(folder);
  execute(folder, "UPDATE state SET thinned=1e9");
  int i = 0;
  for (bool was_full = false; !was_full && i < 2000; ++i) {
    REQUIRE(store->record({busy_look(i)}, {}).has_value());
    was_full = *store->make_room(i + 1);
  }
  REQUIRE(i < 2000);
  execute(folder, "INSERT INTO pasts SELECT 'thinned',thinned FROM state");
  CHECK(std::stod(store->pasts()->at("thinned")) == i);
}

namespace {

constexpr double kDay = 86400;

// A run that has ended, and what was learnt from it.
void record_end(Store& store, const std::string& id, double time) {
  Look look;
  look.run.id = id;
  look.run.started = 1;
  look.run.finished = time;
  REQUIRE(store.record({look}, {}).has_value());
  REQUIRE(store.save_training({id, time, 1, {}}).has_value());
  REQUIRE(store.save_profile({id, "", "{}", "{}", time}).has_value());
}

}  // namespace

TEST_CASE(
    "what a clock that was days ahead has recorded goes with old records, unless it is most") {
  struct Row {
    std::vector<double> times;
    std::size_t left;
  };
  const Row rows[] = {{{100, 200, 200 + kDay, 201 + kDay}, 3},
                      {{100, 201 + kDay, 202 + kDay}, 3},
                      {{100, 101, 201 + kDay, 202 + kDay}, 4}};
  for (const Row& row : rows) {
    INFO("row " << (&row - rows));
    const Folder folder;
    const auto store = open_bounded(folder);
    for (const double time : row.times) {
      const std::vector<Round> rounds{{time, "executor", "cpu", "{}", "{}"}};
      REQUIRE(store->record({busy_look(time)}, rounds).has_value());
      record_end(*store, std::to_string(time), time);
    }
    CHECK_FALSE(*store->forget_before(50, 200));
    const auto history = store->history("a");
    REQUIRE(history.has_value());
    CHECK(history->samples.size() == row.left * 64);
    CHECK(history->usage.size() == row.left);
    CHECK(history->decisions.size() == row.left);
    CHECK(store->rounds(0, 0, 1000)->rounds.size() == row.left);
    CHECK(store->runs(2)->runs.size() == row.left + 1);
    CHECK(store->trainings()->size() == row.left);
    CHECK(store->profiles(0, 0, 1U << 20)->profiles.size() == row.left);
  }
}

TEST_CASE("a run that a clock which was ahead has ended stays as long as what is recorded of it") {
  const Folder folder;
  const auto store = open_bounded(folder);
  REQUIRE(store->record({busy_look(100)}, {}).has_value());
  for (const char* id : {"b", "c"}) record_end(*store, id, 100);
  record_end(*store, "a", 201 + kDay);
  CHECK_FALSE(*store->forget_before(50, 200));
  REQUIRE(store->history("a").has_value());
  CHECK(store->history("a")->usage.size() == 1);
}

TEST_CASE("old records go in steps, and none of them is long") {
  const Folder folder;
  const auto store = open_bounded(folder);
  for (int i = 0; i < 100; ++i)
    REQUIRE(store->record({busy_look(i)}, {{i * 1.0, "executor", "cpu", "{}", "{}"}}).has_value());
  int steps = 0;
  for (bool more = true; more; ++steps) more = *store->forget_before(50, 100);
  CHECK(steps >= 2);
  CHECK(store->history("a")->samples.size() == 50 * 64);
}

TEST_CASE("records that were closed are not read through at the start, others are") {
  for (const bool is_killed : {false, true}) {
    const Folder folder, killed;
    {
      const auto store = open(folder);
      for (int i = 0; i < 200; ++i) REQUIRE(store->record({busy_look(i)}, {}).has_value());
    }
    if (is_killed) execute(folder, "UPDATE state SET clean=0");
    // A page in the middle, which no start has a reason to read.
    {
      const auto middle = std::filesystem::file_size(folder.file()) / 4096 / 2 * 4096;
      std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(middle));
      file << std::string(4096, '\xff');
    }
    std::string notice;
    REQUIRE(Store::open(folder.file(), &notice).has_value());
    CHECK(notice.empty() != is_killed);
  }
}

TEST_CASE("damage that is met while it runs has the records checked at the next start") {
  const Folder folder;
  std::string notice;
  {
    const auto store = open_bounded(folder);
    for (int i = 0; i < 300; ++i) REQUIRE(store->record({busy_look(i)}, {}).has_value());
  }
  {
    const auto size = std::filesystem::file_size(folder.file());
    std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 4096 / 4 * 4096));
    file << std::string(size / 2, '\xff');
  }
  {
    const auto opened = Store::open(folder.file(), &notice);
    REQUIRE(opened.has_value());
    if (!notice.empty()) return;  // met at once
    bool is_met = false;
    for (int i = 0; i < 100 && !is_met; ++i) is_met = !(*opened)->forget_before(i * 10, 1000);
    CHECK(is_met);
  }
  REQUIRE(Store::open(folder.file(), &notice).has_value());
  CHECK(notice.find("damaged-1") != std::string::npos);
}
