// SPDX-License-Identifier: Apache-2.0
#include "ctrl/growth/forecast.h"

#include <cmath>

#include "tests/support/catch.h"

using namespace flowcon::ctrl;
using namespace flowcon::ctrl::growth;

namespace {

// A job whose counter says `done` after `work` CPU seconds, one look for each.
Track counted(const std::vector<std::pair<double, double>>& work_and_done) {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (const auto& [work, done] : work_and_done) track.look({work, work, 0, done}, {{work, 1.0}});
  return track;
}

double left_of(const Track& track) { return forecast_of(track, Goal::min, {}, 1).left; }

}  // namespace

TEST_CASE("a counter tells the work that is left, whatever came before the first step") {
  // 50 CPU seconds of imports, then 10 for each of 20 epochs; at epoch 5 there are 15 to come.
  std::vector<std::pair<double, double>> seen;
  for (int i = 1; i <= 5; ++i) seen.emplace_back(50 + 10.0 * i, i / 20.0);
  CHECK(left_of(counted(seen)) == Approx(150));
}

TEST_CASE("evaluations between epochs are part of the pace") {
  // 10 CPU seconds an epoch and 50 more after each sixth: 28 epochs to come cost 18.3 each, give or
  // take one evaluation.
  std::vector<std::pair<double, double>> seen;
  double work = 0;
  for (int i = 1; i <= 12; ++i) {
    work += i % 6 == 1 && i > 1 ? 60 : 10;
    seen.emplace_back(work, i / 40.0);
  }
  CHECK(left_of(counted(seen)) == Approx(28 * 110.0 / 6).margin(100));
}

TEST_CASE("lines that came along from another host tell no pace") {
  Track track;
  track.look({100, 0, 0, {}}, {});
  track.look({101, 2, 0, 0.4}, {{90, 1.0}});  // from before it began here
  CHECK(forecast_of(track, Goal::min, {}, 1).basis == Basis::age);
  track.look({103, 6, 0, 0.5}, {{103, 1.0}});
  CHECK(left_of(track) == Approx(30));
}

TEST_CASE("a counter that falls is back where it was: what came after that does not count") {
  const Track track = counted({{100, 0.2}, {200, 0.4}, {300, 0.6}, {310, 0.1}, {320, 0.2}});
  CHECK(track.counts().size() == 2);
  CHECK(left_of(track) == Approx(80));
  CHECK_FALSE(track.is_cyclic());
}

TEST_CASE("a counter that runs from begin to end again and again is none of the whole job") {
  std::vector<std::pair<double, double>> seen;
  for (int i = 0; i < 30; ++i) seen.emplace_back(10.0 * (i + 1), (i % 10) / 10.0 + 0.05);
  const Track track = counted(seen);
  CHECK(track.is_cyclic());
  CHECK(forecast_of(track, Goal::min, {}, 1).basis == Basis::age);
}

TEST_CASE("a counter that falls from the same share twice is none of the whole job") {
  // "step 20/100 ... 100/100" never falls below a fifth, "epoch 30/100 ... 90/100" not from the
  // end.
  for (const auto& [first, step] : {std::pair{0.2, 0.2}, std::pair{0.3, 0.3}}) {
    std::vector<std::pair<double, double>> seen;
    double work = 0;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (double done = first; done < 1.01; done += step) {
        seen.emplace_back(work += 10, std::min(done, 1.0));
      }
    }
    CHECK(counted(seen).is_cyclic());
  }
}

TEST_CASE("a job that was begun again is not slower for what it did before") {
  // 10,000 CPU seconds for nothing, then 100 for the first fifth.
  const Track track = counted({{9000, 0.5}, {10000, 0.6}, {10000, 0.0}, {10100, 0.2}});
  CHECK(left_of(track) == Approx(400));
}

TEST_CASE("a job that goes on from a place of before is as fast as it was") {
  // 100 CPU seconds a tenth; saved at 0.4, and 10 to begin again.
  const Track track =
      counted({{100, 0.1}, {200, 0.2}, {300, 0.3}, {400, 0.4}, {450, 0.45}, {460, 0.4}});
  CHECK(left_of(track) == Approx(600));
  CHECK(track.begun() == Approx(60));
  CHECK_FALSE(track.is_cyclic());
  const Track later = counted({{100, 0.1}, {400, 0.4}, {450, 0.45}, {460, 0.4}, {560, 0.5}});
  CHECK(left_of(later) == Approx(500));
  const Track unseen = counted({{400, 0.4}, {450, 0.2}});
  CHECK(left_of(unseen) == Approx(0.8 * (200 - 20) / 0.2));
}

TEST_CASE("a job that is moved twice near the same place does not count over and over") {
  Track track = counted({{440, 0.44}, {452, 0.452}});
  track = Track(track.record(), 500);
  track.look({510, 470, 0, 0.45}, {});
  track.look({520, 475, 0, 0.455}, {});
  track = Track(track.record(), 600);
  track.look({610, 495, 0, 0.45}, {});
  CHECK_FALSE(track.is_cyclic());
  track.look({620, 545, 0, 0.5}, {});
  CHECK(left_of(track) == Approx(500));
}

TEST_CASE("counts that no job can have made do not tell its end") {
  flowcon::ctrl::growth::TrackRecord record;
  record.used = 1e15;
  for (int i = 0; i < 23; ++i) record.counts.push_back({4e13 * i, 1e-300 * i});
  record.counts.push_back({1e15, 1});
  for (const double last : {1.0, 0.5}) {
    record.counts.back().value = last;
    const Forecast forecast = forecast_of(Track(record, 0), Goal::min, {}, 1);
    CHECK(forecast.basis == Basis::age);
    CHECK(std::isfinite(forecast.left));
  }
}

TEST_CASE("values stand in the order in which they were printed, whatever times they say") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 10, 0, {}}, {{8, 1}, {2, 2}, {9, 3}, {90, 4}});
  std::vector<double> works;
  for (const auto& point : track.values()) works.push_back(point.work);
  CHECK(works == std::vector<double>{8, 8, 9, 10});
}

TEST_CASE("a value that comes late stands at the work of its own moment") {
  growth::Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 10, 0, {}}, {});
  track.look({20, 30, 0, {}}, {{5, 3}, {10, 2.5}, {15, 2}, {20, 1.5}});
  REQUIRE(track.values().size() == 4);
  CHECK(track.values()[0].work == Approx(5));
  CHECK(track.values()[1].work == Approx(10));
  CHECK(track.values()[2].work == Approx(20));
  CHECK(track.values()[3].work == Approx(30));
}

TEST_CASE("of a clock that was set back no value stands at work of long ago") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (int i = 1; i <= 10; ++i) track.look({i * 10.0, i * 10.0, 0, {}}, {});
  track.follow_clock(-60);
  track.look({50, 110, 0, {}}, {{39, 2}, {45, 1}});
  REQUIRE(track.values().size() == 2);
  CHECK(track.values()[0].work == Approx(100));
  CHECK(track.values()[1].work == Approx(105));
}

TEST_CASE("a place that differs in its last digit is the same, and no cycle") {
  growth::Track track;
  track.look({0, 0, 0, {}}, {});
  double done = 0.3;
  for (int i = 1; i < 50; ++i) {
    done = std::nextafter(done, i % 3 == 0 ? 1.0 : 0.0);
    track.look({i * 5.0, i * 5.0, 0, done}, {});
  }
  CHECK_FALSE(track.is_cyclic());
  CHECK(track.counts().size() == 1);
}

TEST_CASE("a track that goes on elsewhere is the one of a job that stayed") {
  Track stayed;
  stayed.look({0, 0, 0, {}}, {});
  Track moved;
  for (int i = 1; i <= 200; ++i) {
    // 50 s on the way, where nothing is used.
    const double pause = i > 120 ? 50 : 0;
    if (i == 121) moved = Track(stayed.record(), 170);
    const flowcon::ctrl::Sample value{i - 0.5 + pause, 1.0 / i};
    stayed.look({i + pause, 2.0 * i, 4, i / 400.0}, {value});
    if (i > 120) moved.look({i + pause, 2.0 * i, 4, i / 400.0}, {value});
  }
  CHECK_FALSE(Track(stayed.record(), 170).is_under_way(10));
  CHECK(moved.is_under_way(1000));
  CHECK(moved.used() == stayed.used());
  CHECK(moved.width() == stayed.width());
  CHECK(moved.widest() == stayed.widest());
  CHECK_FALSE(Track(stayed.record(), 170).width());
  REQUIRE(moved.values().size() == stayed.values().size());
  // Where it paused a straight line leads on, but for the first value.
  for (std::size_t i = 0; i < moved.values().size(); ++i) {
    CHECK(moved.values()[i].work == Approx(stayed.values()[i].work).margin(1));
    CHECK(moved.values()[i].value == stayed.values()[i].value);
  }
  const Forecast here = forecast_of(stayed, Goal::min, {}, 1);
  const Forecast there = forecast_of(moved, Goal::min, {}, 1);
  CHECK(there.basis == Basis::counter);
  CHECK(there.left == here.left);
  CHECK(there.open90 == Approx(here.open90).margin(0.05));
}

TEST_CASE("values whose squares are no numbers are left out") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  const std::vector<double> values{0.91e308, -0.9e308, 1e200, 5, 4, 3, 2, 1};
  double time = 0;
  for (const double value : values) {
    ++time;
    track.look({time, time, 0, time / 100}, {{time, value}});
  }
  CHECK(track.values().size() == 5);
  const Forecast forecast = forecast_of(track, Goal::min, {}, 1);
  CHECK(std::isfinite(forecast.left90.value_or(0)));
  CHECK(std::isfinite(forecast.open90));
}

TEST_CASE("a clock that was set changes no rate") {
  for (const double jump : {-3600.0, 8 * 3600.0}) {
    Track track;
    track.look({1000, 0, 0, {}}, {});
    track.look({1010, 20, 0, {}}, {});
    track.follow_clock(jump);
    track.look({1020 + jump, 40, 0, {}}, {{1015 + jump, 1.0}});
    CHECK(track.widest() == Approx(2));
    REQUIRE(track.values().size() == 1);
    CHECK(track.values()[0].work == Approx(30));
  }
}

TEST_CASE("without a counter earlier runs tell, and without those the age") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 30, 0, {}}, {});
  const Forecast age = forecast_of(track, Goal::min, {}, 1);
  CHECK(age.basis == Basis::age);
  CHECK(age.left == 30);
  const Forecast memory = forecast_of(track, Goal::min, Remembered{100, 0.4}, 1);
  CHECK(memory.basis == Basis::memory);
  CHECK(memory.left == 70);
}

TEST_CASE("90 % are found in a curve of either shape") {
  // exp(-w/100) up to 1000: at w = 100 ln 10 = 230. The first value stands at 10.
  for (const bool is_rising : {false, true}) {
    Track track;
    track.look({0, 0, 0, {}}, {});
    for (int i = 1; i <= 60; ++i) {
      const double w = 10.0 * i;
      const double fall = std::exp(-w / 100);
      track.look({w, w, 0, w / 1000}, {{w, is_rising ? 1 - fall : fall}});
    }
    const Goal goal = is_rising ? Goal::max : Goal::min;
    const Forecast after = forecast_of(track, goal, {}, 1);
    CHECK(after.basis == Basis::counter);
    CHECK(after.open90 < 0.2);
    // With the goal the other way round nothing has been reached.
    CHECK(forecast_of(track, is_rising ? Goal::min : Goal::max, {}, 1).open90 == 1);
  }
}

TEST_CASE("a chance is never above 1, however its parts round") {
  for (int scale = 1; scale <= 40; ++scale) {
    Track track;
    track.look({0, 0, 0, {}}, {});
    for (int i = 1; i <= 12; ++i) {
      const double w = i * (1 + scale / 7.0);
      track.look({w, w, 0, w / 4000}, {{w, 1 / (i + scale / 3.0)}});
      CHECK(forecast_of(track, Goal::min, {}, 1).open90 <= 1);
    }
  }
}

TEST_CASE("early values leave 90 % open") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (int i = 1; i <= 10; ++i) {
    const double w = 10.0 * i;
    track.look({w, w, 0, w / 1000}, {{w, std::exp(-w / 100)}});
  }
  const Forecast forecast = forecast_of(track, Goal::min, {}, 1);
  CHECK(forecast.open90 > 0.9);
  CHECK(*forecast.left90 > 80);
  CHECK(*forecast.left90 < 400);
}

TEST_CASE("asking for the work that is left changes no later forecast") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (int i = 1; i <= 10; ++i) {
    const double w = 10.0 * i;
    track.look({w, w, 0, w / 1000}, {{w, std::exp(-w / 100)}});
  }
  const Remembered early{1000, 0.15};
  const Remembered late{1000, 0.9};
  Chances asked;
  Chances plain;
  CHECK(left_of(track, early, 1, &asked).left == 900);
  CHECK(forecast_of(track, Goal::min, early, 1, &plain).left == 900);
  // Nothing was printed since: what was known then of earlier runs holds.
  track.look({105, 105, 0, 0.1}, {});
  const Forecast one = forecast_of(track, Goal::min, late, 1, &asked);
  const Forecast other = forecast_of(track, Goal::min, late, 1, &plain);
  CHECK(one.left == other.left);
  CHECK(one.left90 == other.left90);
  CHECK(one.open90 == other.open90);
  CHECK(*forecast_of(track, Goal::min, late, 1).left90 > 2 * *one.left90);
}

TEST_CASE("a run is remembered by its work and the share to 90 %") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (int i = 1; i <= 90; ++i) {
    const double w = 10.0 * i;
    track.look({w, w, 0, {}}, {{w, std::exp(-w / 100)}});
  }
  const auto run = remembered_run(track, Goal::min);
  REQUIRE(run);
  CHECK(run->total == 900);
  // From the first value, at 10: 230 and those 10.
  CHECK(*run->share90 == Approx(240.0 / 900).epsilon(0.06));
}

TEST_CASE("memory keeps the last five runs and the medians of them") {
  RunMemory memory;
  CHECK_FALSE(memory.recall("a"));
  for (const double total : {1000.0, 1.0, 2.0, 3.0, 4.0, 5.0}) memory.remember("a", {total, {}});
  CHECK(memory.recall("a")->total == 3);
  for (std::size_t i = 0; i < RunMemory::kMaxTrainings; ++i) {
    memory.remember("run " + std::to_string(i), {1, {}});
  }
  CHECK_FALSE(memory.recall("a"));
}

TEST_CASE("a track is bounded and takes what is not finite") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  for (int i = 1; i <= 10000; ++i) {
    track.look({1.0 * i, 1.0 * i, 0, i / 10000.0}, {{1.0 * i, i % 3 == 0 ? NAN : 1.0 / i}});
  }
  CHECK(track.values().size() <= Track::kMaxPoints);
  CHECK(track.counts().size() <= Track::kMaxPoints);
  CHECK(track.values().back().work >= 9998);
  track.look({20000, 5, 0, {}}, {});
  CHECK(track.values().empty());
}

TEST_CASE("a job that leaves what it could have is narrow") {
  Track track;
  track.look({0, 0, 0, {}}, {});
  track.look({10, 20, 6, {}}, {});
  CHECK(track.width() == Approx(2));
  track.look({20, 80, 6, {}}, {});
  CHECK_FALSE(track.width());
}
