// SPDX-License-Identifier: Apache-2.0
// Recorded runs made jobs again, and the search for a better setting.
#include "sim/replay.h"

#include <algorithm>
#include <cmath>

#include "sim/tune.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

// On a host of 8 cores: 20 s at a half, 20 s at a quarter, looked at every 5 s; ten values, the
// first after 10 s, the last at its end.
RecordedRun recorded() {
  RecordedRun run;
  run.started = 1000;
  run.finished = 1040;
  for (int i = 1; i <= 8; ++i) run.usage.push_back({1000.0 + 5 * i, i <= 4 ? 0.5 : 0.25});
  for (int i = 1; i <= 10; ++i) run.samples.push_back({1010.0 + 3 * i, 1.0 / i});
  return run;
}

// A run of `seconds` alone on its host of 8 cores, whose loss falls at `rate`.
ReplayRun learner(double started, double seconds, double rate) {
  ReplayRun run;
  run.name = run.training = "learner";
  run.started = started;
  run.seconds = seconds;
  run.work = 8 * seconds;
  run.cores = 8;
  run.values = 50;
  for (int i = 1; i <= 50; ++i) {
    const double x = i / 50.0;
    run.points.push_back({x, 0.1 + 2 * std::exp(-rate * x)});
  }
  return run;
}

// Pairs: one that learns to its end on two cores, and a wide one that soon has learnt all. The wide
// one is capped at the floor, and what the narrow one cannot use is used by nobody.
std::vector<ReplayRun> pairs() {
  std::vector<ReplayRun> runs;
  for (int i = 0; i < 6; ++i) {
    runs.push_back(learner(200.0 * i, 150, 1));
    runs.back().cores = 2;
    runs.back().work = 300;
    runs.push_back(learner(200.0 * i + 1, 60, 60));
  }
  return runs;
}

}  // namespace

TEST_CASE("a recorded run's work, cores and curve are what its looks add up to") {
  const Reading reading = read_recorded(recorded(), 8);
  REQUIRE_FALSE(reading.unfit);
  const ReplayRun& run = reading.run;
  CHECK(run.work == Approx(20 * 4 + 20 * 2));
  CHECK(run.cores == Approx(4));
  CHECK(run.seconds == 40);
  CHECK(run.values == 10);
  REQUIRE(run.points.size() == 10);
  // At 1013: 52 of 120 CPU seconds; at 1040: all.
  CHECK(run.points.front().x == Approx(52.0 / 120));
  CHECK(run.points.back().x == Approx(1));
  CHECK(run.points[1].value == 0.5);
}

TEST_CASE("the last part of a run that no look has seen goes on as before") {
  RecordedRun run = recorded();
  run.finished = 1050;
  CHECK(read_recorded(run, 8).run.work == Approx(120 + 10 * 2));
}

TEST_CASE("what cannot be run again is told with its reason") {
  RecordedRun run = recorded();
  run.finished.reset();
  CHECK(read_recorded(run, 8).unfit == Unfit::is_running);
  run = recorded();
  run.has_moved = true;
  CHECK(read_recorded(run, 8).unfit == Unfit::has_moved);
  run = recorded();
  run.samples.resize(7);
  CHECK(read_recorded(run, 8).unfit == Unfit::has_few_values);
  run = recorded();
  run.samples[3].value = NAN;
  run.samples[4].value = INFINITY;
  run.samples[5].value = 1e301;
  CHECK(read_recorded(run, 8).unfit == Unfit::has_few_values);
  run = recorded();
  run.finished = 1161;  // 121 s after the last look
  CHECK(read_recorded(run, 8).unfit == Unfit::has_gaps);
  run.finished = 1160;
  CHECK_FALSE(read_recorded(run, 8).unfit);
  run = recorded();
  run.usage.clear();
  CHECK(read_recorded(run, 8).unfit == Unfit::has_gaps);
  run = recorded();
  for (RecordedUse& look : run.usage) look.cpu = 0;
  CHECK(read_recorded(run, 8).unfit == Unfit::used_nothing);
  run.usage[2].cpu = NAN;
  CHECK(read_recorded(run, 8).unfit == Unfit::used_nothing);
}

TEST_CASE("a replayed run alone on its host ends when it ended, and learns when it learnt") {
  const ReplayRun run = read_recorded(recorded(), 8).run;
  const Schedule schedule = replay_schedule({run}, 8, 0);
  REQUIRE(schedule.jobs.size() == 1);
  const JobSpec& job = schedule.jobs[0];
  CHECK(job.arrival == 0);
  CHECK(job.work == run.work);
  CHECK(job.parallelism == run.cores);
  CHECK(job.lines == 10);
  // Its first line comes with its first value: the work before it is start-up.
  CHECK(job.used_at(1.0 / job.lines) / job.work == Approx(run.points.front().x));
  CHECK(job.curve->value(1.0 / job.lines) == Approx(1));
  CHECK(job.curve->value(1) == Approx(0.1));
}

TEST_CASE("a draw puts runs of the history at its times, the same for the same seed") {
  const std::vector<ReplayRun> runs{learner(500, 10, 1), learner(530, 20, 2), learner(600, 30, 3)};
  bool has_other = false;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Schedule drawn = replay_schedule(runs, 8, seed);
    const Schedule again = replay_schedule(runs, 8, seed);
    REQUIRE(drawn.jobs.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(drawn.jobs[i].arrival == runs[i].started - 500);
      CHECK(drawn.jobs[i].work == again.jobs[i].work);
      has_other = has_other || drawn.jobs[i].work != runs[i].work;
    }
  }
  CHECK(has_other);
}

TEST_CASE("runs that never met are as well off under any setting") {
  std::vector<ReplayRun> runs;
  for (int i = 0; i < 4; ++i) runs.push_back(learner(1000.0 * i, 60, 3 + i));
  const Tuning tuning = tune(runs, 8, TuneBase(), Objective::mean);
  CHECK(tuning.mean == Approx(60));
  CHECK(tuning.makespan == Approx(3060));
  CHECK_FALSE(tuning.best);
  CHECK(tuning.free.mean.percent == Approx(0).margin(1e-9));
}

TEST_CASE("caps that leave cores idle are found to be a bad setting") {
  const std::vector<ReplayRun> runs = pairs();
  TuneBase base;
  base.present.is_quota = true;
  base.present.alpha = 0.003;
  base.present.interval = 5;
  std::vector<double> told;
  const Tuning tuning =
      tune(runs, 8, base, Objective::mean, [&](double share) { told.push_back(share); });
  REQUIRE(tuning.best);
  const TuneRow& best = tuning.others[*tuning.best];
  CHECK(best.mean.percent < -5);
  CHECK(is_beyond_error(best.mean));
  CHECK(tuning.others.size() <= kMostOthers);
  CHECK(best.setting != base.present);
  REQUIRE(told.size() > 10);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() <= 1);
  // Shares that are caps waste as much under the other policy.
  CHECK_FALSE(best.setting->is_quota);
  const Tuning again = tune(runs, 8, base, Objective::mean);
  CHECK(again.others[*again.best].mean.percent == best.mean.percent);
  CHECK(again.others[*again.best].mean.error == best.mean.error);
}

TEST_CASE("milestone with quotas is simulated with caps, and weights are found to be better") {
  const std::vector<ReplayRun> runs = pairs();
  TuneBase base;
  base.present.policy = "milestone";
  const Tuning weights = tune(runs, 8, base, Objective::mean);
  base.present.is_quota = true;
  const Tuning caps = tune(runs, 8, base, Objective::mean);
  CHECK(caps.mean > 1.05 * weights.mean);
  REQUIRE(caps.best);
  const TuneRow& best = caps.others[*caps.best];
  CHECK_FALSE(best.setting->is_quota);
  CHECK(best.mean.percent < -5);
  // The other policy is compared in any case, the other mode where it does well.
  const auto is_weights = [](const TuneRow& row) {
    return row.setting->policy == "milestone" && !row.setting->is_quota;
  };
  CHECK(std::any_of(caps.others.begin(), caps.others.end(), is_weights));
}
