// SPDX-License-Identifier: Apache-2.0
#include "ctrl/history_bundle.h"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "ctrl/logs/framing_position.h"
#include "ctrl/logs/tail_chain.h"
#include "tests/support/catch.h"

using namespace flowcon;
using namespace flowcon::ctrl;

namespace {

namespace json = boost::json;

constexpr double kHere = 1'790'000'000;
constexpr double kThere = 1'600'000'000;  // another clock, far off

HistoryBundle sample() {
  HistoryBundle bundle;
  bundle.has_history = bundle.is_whole = true;
  store::History& h = bundle.history;
  h.run = {"id", "vae", "train:1", "loss", Goal::max, kHere - 100, {}, "", false};
  h.samples = {{kHere - 90, 0.5}, {kHere - 80, std::nan("")}, {kHere - 70, -HUGE_VAL}};
  h.usage = {{kHere - 90, 0.25, 1U << 30, 12.5, {}}, {kHere - 85, 0.5, 2, {}, 3.0}};
  h.decisions = {{kHere - 90, List::nl, 1, {}}, {kHere - 60, List::cl, 0.25, 0.125}};
  h.stays = {{"h1", kHere - 100, kHere - 50}, {"h2", kHere - 50, kHere}};
  bundle.choice.settings = R"({"metric":"loss"})";
  bundle.choice.control =
      R"({"paused":true,"pin":{"limit":0.5,"until":1790000600},"values":{"weight":"2"}})";
  bundle.past = Past{{100, 1, 10, {{20, 3}, {20, -1e100}}, {{20, 0.25}, {90, 0.5}}},
                     "accuracy",
                     Goal::max,
                     true,
                     7.25};
  return bundle;
}

std::string broken(const std::string& member, const std::string& value) {
  auto parsed = parse_json(render_bundle(sample(), kHere));
  REQUIRE(parsed.has_value());
  if (value.empty()) {
    parsed->get_object().erase(member);
  } else {
    parsed->get_object()[member] = *parse_json(value);
  }
  return render_json(*parsed);
}

}  // namespace

TEST_CASE("a bundle is the same on another clock, as many seconds ago") {
  const auto bundle = parse_bundle(render_bundle(sample(), kHere), kThere);
  REQUIRE(bundle.has_value());
  CHECK(bundle->is_whole);
  CHECK(bundle->has_history);
  const store::History& h = bundle->history;
  CHECK(h.run.name == "vae");
  CHECK(h.run.metric == "loss");
  CHECK(h.run.goal == Goal::max);
  CHECK(h.run.started == kThere - 100);
  REQUIRE(h.samples.size() == 3);
  CHECK(h.samples[0].time == kThere - 90);
  CHECK(h.samples[0].value == 0.5);
  CHECK(std::isnan(h.samples[1].value));
  CHECK(h.samples[2].value == -HUGE_VAL);
  REQUIRE(h.usage.size() == 2);
  CHECK(h.usage[0].memory == 1U << 30);
  CHECK(h.usage[0].io == 12.5);
  CHECK_FALSE(h.usage[0].network.has_value());
  CHECK(h.usage[1].network == 3.0);
  REQUIRE(h.decisions.size() == 2);
  CHECK(h.decisions[1].list == List::cl);
  CHECK(h.decisions[1].limit == 0.25);
  CHECK(h.decisions[1].growth == 0.125);
  REQUIRE(h.stays.size() == 2);
  CHECK(h.stays[1].host == "h2");
  CHECK(h.stays[1].began == kThere - 50);
  CHECK(h.stays[1].ended == kThere);
  CHECK(bundle->choice.settings == R"({"metric":"loss"})");
  CHECK(bundle->choice.control ==
        R"({"paused":true,"pin":{"limit":0.5,"until":1600000600},"values":{"weight":"2"}})");
  CHECK_FALSE(bundle->position.has_value());
  REQUIRE(bundle->past.has_value());
  CHECK(bundle->past->metric == "accuracy");
  CHECK(bundle->past->goal == Goal::max);
  CHECK(bundle->past->started == 7.25);
  CHECK(bundle->past->is_whole);
  const growth::TrackRecord& track = bundle->past->track;
  CHECK(track.used == 100);
  CHECK(track.cycles == 1);
  CHECK(track.begun == 10);
  REQUIRE(track.values.size() == 2);
  CHECK((track.values[1].work == 20 && track.values[1].value == -1e100));
  REQUIRE(track.counts.size() == 2);
  CHECK((track.counts[1].work == 90 && track.counts[1].value == 0.5));
}

TEST_CASE("what a job has done elsewhere is left out where no job can have done it") {
  auto parsed = parse_json(render_bundle(sample(), kHere));
  REQUIRE(parsed.has_value());
  const json::object past = parsed->get_object()["past"].get_object();
  const auto is_taken = [&](const char* member, const char* value) {
    json::object other = past;
    other[member] = *parse_json(value);
    parsed->get_object()["past"] = std::move(other);
    const auto bundle = parse_bundle(render_json(*parsed), kThere);
    REQUIRE(bundle.has_value());
    CHECK(bundle->has_history);
    CHECK(bundle->past.has_value() == bundle->past_problem.empty());
    return bundle->past.has_value();
  };
  CHECK(is_taken("used", "90"));
  CHECK(is_taken("values", "[]"));
  const std::pair<const char*, const char*> wrong[] = {
      {"used", "-1"},
      {"used", "1e300"},
      {"used", "80"},
      {"cycles", "1e300"},
      {"cycles", "-1"},
      {"begun", "101"},
      {"metric", "7"},
      {"whole", "null"},
      {"started", "-1"},
      {"goal", "1"},
      {"values", "{}"},
      {"values", "[1]"},
      {"values", R"([{"work":1,"value":1e200}])"},
      {"values", R"([{"work":2,"value":1},{"work":1,"value":1}])"},
      {"counts", R"([{"work":1,"value":1.5}])"},
      {"counts", R"([{"work":1,"value":0.5},{"work":2,"value":0.25}])"},
      {"counts", R"([{"work":101,"value":0.5}])"},
  };
  for (const auto& [member, value] : wrong) {
    INFO(member << " = " << value);
    CHECK_FALSE(is_taken(member, value));
  }
  parsed->get_object().erase("past");
  const auto without = parse_bundle(render_json(*parsed), kThere);
  REQUIRE(without.has_value());
  CHECK_FALSE(without->past.has_value());
}

TEST_CASE("where nothing is known a bundle is empty, and what is from the future is of now") {
  HistoryBundle empty;
  auto back = parse_bundle(render_bundle(empty, kHere), kThere);
  REQUIRE(back.has_value());
  CHECK_FALSE(back->has_history);
  CHECK(back->history.samples.empty());
  HistoryBundle early = sample();
  early.history.samples = {{kHere + 600, 1}};
  back = parse_bundle(render_bundle(early, kHere), kThere);
  REQUIRE(back.has_value());
  CHECK(back->history.samples.front().time == kThere);
}

TEST_CASE("a long bundle is thinned evenly, its last rows stay") {
  HistoryBundle bundle = sample();
  bundle.history.samples.clear();
  for (int i = 0; i < 100'000; ++i) {
    bundle.history.samples.push_back({kHere - 100'000 + i, static_cast<double>(i)});
  }
  const std::string text = render_bundle(bundle, kHere, 200'000);
  CHECK(text.size() <= 200'000);
  CHECK(text.size() > 50'000);
  const auto back = parse_bundle(text, kHere);
  REQUIRE(back.has_value());
  const std::vector<Sample>& kept = back->history.samples;
  REQUIRE(kept.size() > 1000);
  CHECK(kept.back().value == 99'999);
  const double step = kept[1].value - kept[0].value;
  for (std::size_t i = 2; i < kept.size(); ++i) {
    if (kept[i].value - kept[i - 1].value != step) FAIL("not even at " << i);
  }
  CHECK(back->history.decisions.back().list == List::cl);
}

TEST_CASE("what is not what it may be is refused, by its name") {
  const std::pair<const char*, const char*> wrong[] = {
      {"flowcon_life", "2"},
      {"whole", "1"},
      {"name", "7"},
      {"started", "-1"},
      {"started", "1e300"},
      {"started", "\"nan\""},
      {"samples", "{}"},
      {"samples", "[[1]]"},
      {"samples", "[[-1,2]]"},
      {"samples", "[[\"nan\",2]]"},
      {"samples", "[[1,\"much\"]]"},
      {"samples", "[[1,2,3]]"},
      {"usage", "[[1,2,3,4]]"},
      {"usage", "[[1,2,-3,null,null]]"},
      {"usage", "[[1,2,1e300,null,null]]"},
      {"usage", "[[1,\"nan\",3,null,null]]"},
      {"decisions", "[[1,\"XL\",1,null]]"},
      {"decisions", "[[1,\"NL\",7,null]]"},
      {"stays", "[[\"h\",1]]"},
      {"stays", "[[1,1,1]]"},
      {"choice", "null"},
      {"choice", R"({"released":false,"settings":"{\"metrik\":\"x\"}","control":""})"},
      {"choice", R"({"released":false,"settings":"","control":"[1]"})"},
      {"choice", R"({"released":0,"settings":"","control":""})"},
  };
  for (const auto& [member, value] : wrong) {
    INFO(member << " = " << value);
    CHECK_FALSE(parse_bundle(broken(member, value), kThere).has_value());
    CHECK_FALSE(parse_bundle(broken(member, ""), kThere).has_value());
  }
  CHECK_FALSE(parse_bundle("", kThere).has_value());
  CHECK_FALSE(parse_bundle("[]", kThere).has_value());
  CHECK_FALSE(parse_bundle(std::string(kMaxBundle + 1, ' '), kThere).has_value());
}

TEST_CASE("a position in a file of the job's own travels without the file's identity") {
  HistoryBundle bundle = sample();
  const logs::Position there{{1, 2, 3, 4}, {5, 6}, 70, {64, 8}, kHere - 5};
  bundle.position = store::LogPosition{"/out/log", logs::render_position(there)};
  const std::string text = render_bundle(bundle, kHere);
  const auto back = parse_bundle(text, kThere);
  REQUIRE(back.has_value());
  REQUIRE(back->position.has_value());
  CHECK(back->position->log == "/out/log");
  const auto here = logs::parse_position(back->position->position);
  REQUIRE(here.has_value());
  CHECK((*here == logs::Position{logs::kMovedFile, {5, 6}, 70, {64, 8}, kThere - 5}));
  auto parsed = parse_json(text);
  parsed->get_object()["position"] = logs::render_position(there);
  CHECK_FALSE(parse_bundle(render_json(*parsed), kThere).has_value());
}

TEST_CASE("a moved file is told by its bytes") {
  char folder[] = "/tmp/flowcon-bundle-XXXXXX";
  REQUIRE(::mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/log";
  const auto write = [&path](const std::string& text) { std::ofstream(path) << text; };
  write("epoch 1 loss 0.5\nepoch 2 loss 0.4\n");
  logs::Position position;
  {
    const auto file = logs::open_log_file(path);
    REQUIRE(file.has_value());
    position = {logs::kMovedFile, file->head(), 34, file->before(34), 1};
    CHECK(logs::is_at(*file, position));
  }
  for (const char* other : {"epoch 1 loss 0.5\nepoch 2 loss 0.3\n", "epoch 1 loss 0.5\n", ""}) {
    write(other);
    const auto file = logs::open_log_file(path);
    REQUIRE(file.has_value());
    CHECK_FALSE(logs::is_at(*file, position));
  }
  write("epoch 1 loss 0.5\nepoch 2 loss 0.4\nepoch 3 loss 0.3\n");
  // The head is of all that was there then.
  CHECK(logs::is_at(*logs::open_log_file(path), position));
  std::filesystem::remove_all(folder);
}
