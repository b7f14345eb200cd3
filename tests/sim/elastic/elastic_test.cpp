// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/elastic.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "sim/elastic/modes.h"
#include "tests/support/catch.h"

using namespace flowcon::sim::elastic;

namespace {

// Thirty jobs in three hours of three minutes to two and a half hours, most of them short.
std::vector<Job> made_jobs(std::uint64_t seed) {
  flowcon::Random random(seed);
  std::vector<Job> jobs;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back({random.uniform(0, 3), 0.05 * std::pow(50, random.uniform())});
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return a.arrival < b.arrival; });
  return jobs;
}

// Every mode, without and with what the product adds, under both allocators.
std::vector<Setting> all_settings(int nodes) {
  std::vector<Setting> settings;
  for (const Mode& mode : modes()) {
    for (const int extras : {0, 1, 2, 3, 4}) {
      Setting setting = with_mode({}, mode);
      setting.nodes = nodes;
      setting.allocator = extras == 0 ? Allocator::greedy : Allocator::horizon;
      setting.allow_zero = extras == 2 || extras == 4;
      setting.decides_at_events = extras >= 3;
      settings.push_back(setting);
    }
  }
  return settings;
}

// Node hours that a job was served until its end, by the law of speed-up, from its changes alone.
double served(const Run& run, std::size_t job, double scale_up_seconds) {
  double sum = 0;
  double since = 0;  // the last change
  int nodes = 0;     // since then
  int working = 0;   // of them
  const auto pass = [&](double now) {
    const double delay = nodes > working ? scale_up_seconds / 3600 : 0;
    const double slow = std::min(now - since, delay);
    const auto speed = [](int n) { return n == 0 ? 0 : n * std::pow(0.8, std::log2(n)); };
    sum += slow * speed(working) + (now - since - slow) * speed(nodes);
    if (now - since >= delay) working = nodes;
    since = now;
  };
  for (const Change& change : run.changes) {
    if (change.job != job) continue;
    pass(change.at);
    // More nodes work later; fewer, and the first ones, at once.
    if (change.nodes < nodes || nodes == 0) working = change.nodes;
    nodes = change.nodes;
  }
  return sum;
}

const Outcome::End kComplete = Outcome::End::complete;

}  // namespace

TEST_CASE("elastic: the same jobs and seed give the same run") {
  const std::vector<Job> jobs = made_jobs(1);
  for (const Setting& setting : all_settings(20)) {
    const Run once = run(jobs, setting);
    const Run again = run(jobs, setting);
    REQUIRE(once.changes.size() == again.changes.size());
    CHECK(std::equal(once.changes.begin(), once.changes.end(), again.changes.begin(),
                     [](const Change& a, const Change& b) {
                       return a.at == b.at && a.job == b.job && a.nodes == b.nodes;
                     }));
    CHECK(once.mean_completion == again.mean_completion);
  }
  Setting setting = with_mode({}, *find_mode("noise"));
  setting.nodes = 12;
  setting.allocator = Allocator::horizon;
  const double first = run(jobs, setting).mean_completion;
  setting.seed = 2;
  CHECK(run(jobs, setting).mean_completion != first);
}

TEST_CASE("elastic: never more nodes are in use than there are, and a job has a legal number") {
  for (const int nodes : {3, 20}) {
    for (const Setting& setting : all_settings(nodes)) {
      const Run result = run(made_jobs(2), setting);
      std::map<std::size_t, int> having;
      int used = 0;
      double last = 0;
      for (const Change& change : result.changes) {
        used += change.nodes - having[change.job];
        having[change.job] = change.nodes;
        REQUIRE(used <= nodes);
        REQUIRE(change.at >= last);
        REQUIRE((change.nodes & (change.nodes - 1)) == 0);
        REQUIRE(change.nodes <= 16);
        last = change.at;
      }
      CHECK(used == 0);
    }
  }
}

TEST_CASE("elastic: a job ends when it has been served its work by the law of speed-up") {
  const std::vector<Job> jobs = made_jobs(3);
  for (const Setting& setting : all_settings(12)) {
    const Run result = run(jobs, setting);
    std::size_t completed = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Outcome& outcome = result.jobs[i];
      const double had = served(result, i, setting.scale_up_seconds);
      if (outcome.end == kComplete) {
        ++completed;
        REQUIRE(std::fabs(had - jobs[i].work) < 1e-9 * jobs[i].work + 1e-11);
      } else {
        REQUIRE(had < jobs[i].work);
      }
    }
    CHECK(completed == result.completed);
    CHECK((setting.is_harsh || completed == jobs.size()));
  }
}

TEST_CASE("elastic: greedy on a made-up case, by hand") {
  // Four nodes. A comes at 0 and gets all four: speed 2.56. B comes at 0.01 h and waits. At 5 min
  // greedy halves A: both have two, speed 1.6, until B ends; from the next decision on A has four.
  Setting setting;
  setting.nodes = 4;
  const std::vector<Job> jobs{{0, 2}, {0.01, 0.4}};
  const Run result = run(jobs, setting);
  const double step = 5.0 / 60;
  const double b_ends = step + 0.4 / 1.6;  // 20 min: a decision
  const double a_had = step * 2.56 + (b_ends - step) * 1.6;
  CHECK(*result.jobs[0].started == 0);
  CHECK(*result.jobs[1].started == Approx(step).epsilon(1e-12));
  CHECK(result.jobs[1].ended == Approx(b_ends).epsilon(1e-12));
  CHECK(result.jobs[0].ended == Approx(b_ends + (2 - a_had) / 2.56).epsilon(1e-12));
  CHECK(result.mean_queueing == Approx((step - 0.01) / 2).epsilon(1e-12));
  CHECK(result.mean_completion ==
        Approx((result.jobs[0].ended + b_ends - 0.01) / 2).epsilon(1e-12));
}

TEST_CASE("elastic: nodes that become idle go to the head of the queue at once") {
  // One node: B, which came first, starts when A ends at 0.3 h, between two decisions.
  Setting setting;
  setting.nodes = 1;
  for (const Allocator allocator : {Allocator::greedy, Allocator::horizon}) {
    setting.allocator = allocator;
    const Run result = run({{0, 0.3}, {0.1, 1}, {0.2, 0.01}}, setting);
    CHECK(*result.jobs[1].started == Approx(0.3).epsilon(1e-12));
    CHECK(*result.jobs[2].started == Approx(1.3).epsilon(1e-12));
  }
  // Seven idle nodes: four for the head, two for the next, one for the third.
  setting.nodes = 7;
  setting.allocator = Allocator::greedy;
  const Run result = run({{0.01, 9}, {0.01, 9}, {0.01, 9}}, setting);
  CHECK(result.changes[0].nodes == 4);
  CHECK(result.changes[1].nodes == 2);
  CHECK(result.changes[2].nodes == 1);
  CHECK(result.changes[2].at == 0.01);
}

TEST_CASE("elastic: without an estimate as much is left as a job has had") {
  // Two jobs on three nodes. A has had more than B, so B is thought to be nearer to its end and
  // gets two of them, though A is; with the truth, A keeps them.
  Setting setting;
  setting.nodes = 3;
  setting.allocator = Allocator::horizon;
  const std::vector<Job> jobs{{0, 2.61}, {1.01, 5}};
  const auto nodes_after = [&](double at) {
    const Run result = run(jobs, setting);
    std::map<std::size_t, int> having;
    for (const Change& change : result.changes) {
      if (change.at <= at) having[change.job] = change.nodes;
    }
    return having;
  };
  setting.estimate = Estimate::age;
  CHECK(nodes_after(1.34)[0] == 1);
  CHECK(nodes_after(1.34)[1] == 2);
  setting.estimate = Estimate::exact;
  CHECK(nodes_after(1.34)[0] == 2);
  CHECK(nodes_after(1.34)[1] == 1);
}

TEST_CASE("elastic: a job that is scaled up goes on with its old number for the delay") {
  // A starts at 0.01 h on four of seven nodes, B on two; when A ends, at the next decision B gets
  // four.
  Setting setting;
  setting.nodes = 6;
  setting.scale_up_seconds = 15;
  const Run result = run({{0.01, 0.2}, {0.01, 2}}, setting);
  const double a_ends = 0.01 + 0.2 / 2.56;  // 0.088
  const double up = 10.0 / 60;
  const double full = up + 15.0 / 3600;
  CHECK(result.jobs[0].ended == Approx(a_ends).epsilon(1e-12));
  CHECK(result.jobs[1].ended == Approx(full + (2 - (full - 0.01) * 1.6) / 2.56).epsilon(1e-12));
}

TEST_CASE("elastic: where it is harsh some fail within 5 minutes of their start, some are killed") {
  // One job after the other on one node, each of two hours: none completes before it fails or is
  // killed.
  const std::vector<Job> jobs(60, Job{0, 2});
  Setting setting = with_mode({}, *find_mode("harsh"));
  setting.nodes = 1;
  std::size_t failed = 0;
  std::size_t killed = 0;
  for (setting.seed = 1; setting.seed <= 5; ++setting.seed) {
    const Run result = run(jobs, setting);
    for (const Outcome& outcome : result.jobs) {
      if (outcome.end == Outcome::End::failed) {
        ++failed;
        REQUIRE(outcome.ended - *outcome.started <= 300.0 / 3600 + 1e-9);
      } else if (outcome.end == Outcome::End::killed) {
        ++killed;
        REQUIRE(outcome.ended <= 2);
      }
    }
  }
  // 15 and 10 % of 300, within three standard deviations.
  CHECK(std::fabs(static_cast<double>(failed) - 45) <= 19);
  CHECK(std::fabs(static_cast<double>(killed) - 30) <= 16);
}

TEST_CASE("elastic: additional jobs are those beyond each hundred in the same time") {
  Run greedy;
  Run ours;
  greedy.mean_completion = 2.48;
  ours.mean_completion = 2;
  CHECK(additional_jobs(greedy, ours) == Approx(24).epsilon(1e-12));
  CHECK(additional_jobs(greedy, Run{}) == 0);
}

TEST_CASE("elastic: without jobs nothing happens") {
  const Run result = run({}, {});
  CHECK(result.completed == 0);
  CHECK(result.mean_completion == 0);
}
