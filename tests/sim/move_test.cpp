// SPDX-License-Identifier: Apache-2.0
// What is known of a job that goes to another host, and what is decided between hosts by it.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ctrl/growth/forecast.h"
#include "sim/drive_cluster.h"
#include "sim/engine.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;
namespace growth = flowcon::ctrl::growth;

namespace {

// Moves job 0 to host 1 when it is time; decides every second, and what is seen then is handed on.
class Mover : public ClusterDriver {
 public:
  Mover(double time, std::function<void(const SimCluster& view)> look)
      : time_(time), look_(std::move(look)) {}
  ClusterMoves decide(const SimCluster& view) override {
    look_(view);
    ClusterMoves decision;
    if (view.now == time_) decision.moves.push_back({0, 1});
    decision.next = 1;
    return decision;
  }

 private:
  double time_;
  std::function<void(const SimCluster& view)> look_;
};

// A host that is told what is left of each job.
class Told : public ForecastingHost {
 public:
  explicit Told(std::map<std::size_t, double> left) : left_(std::move(left)) {}
  HostGrants decide(const SimHost&) override { return {}; }
  [[nodiscard]] std::optional<double> left(const Known& job) const override {
    const auto found = left_.find(job.number);
    return found == left_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::size_t, double> left_;
};

// Jobs 0 and 1 on one host of 8 cores, 2 on another, of which each has printed a value but those in
// `silent`; what is left of each, where it is known.
std::vector<JobMove> balanced(const std::map<std::size_t, double>& left,
                              const std::set<std::size_t>& silent = {}) {
  const Told one(left);
  const Told other(left);
  std::vector<Known> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].number = i;
    jobs[i].track.look({0, 0, 0, {}}, {});
    if (!silent.contains(i)) jobs[i].track.look({1, 8, 0, {}}, {{1, 0.5}});
  }
  SimCluster view;
  view.hosts.push_back({0, 0, 8, 64e9, true, {&jobs[0], &jobs[1]}});
  view.hosts.push_back({1, 0, 8, 64e9, true, {&jobs[2]}});
  const auto* balance = flowcon::cluster::policy::find_cluster_policy("balance");
  return drive(*balance, {&one, &other}, {})->decide(view).moves;
}

}  // namespace

TEST_CASE("of a moved job its new host knows what the one before knew") {
  // 8 cores alone: a line each 10 s. It goes at 35 s, with three of them, and is there at 55 s,
  // when the other one has ended; the fourth comes 5 s later, and it ends 65 s after it came.
  Schedule schedule = on_one_host(8, {job(0, 800, 8), job(0, 400, 8)});
  schedule.hosts.push_back(schedule.hosts.front());
  schedule.jobs[0].has_counter = true;
  for (std::size_t i = 0; i < 2; ++i) schedule.jobs[i].host = i;
  EngineParameters parameters;
  parameters.move_seconds = 20;
  std::optional<Known> landed;
  std::optional<Known> later;
  std::size_t wrong_views = 0;
  PolicySet set;
  set.hosts.push_back(std::make_unique<Probe>([](const SimHost&) {}));
  set.hosts.push_back(std::make_unique<Probe>([&](const SimHost& view) {
    if (view.now == 55) landed = *view.jobs.back();
    if (view.now == 62) later = *view.jobs.back();
  }));
  set.cluster = std::make_unique<Mover>(35, [&](const SimCluster& view) {
    // What a move takes is known when one has been made.
    const auto expected = view.now < 55 ? std::nullopt : std::optional(20.0);
    if (view.now != 55 && view.move_seconds != expected) ++wrong_views;
    const bool is_moving = view.now > 35 && view.now < 55;
    if (view.now != 55 && view.moving.size() != (is_moving ? 1U : 0U)) ++wrong_views;
  });
  const RunResult result = run(schedule, set, parameters);
  CHECK(result.jobs[0].finished == Approx(120));
  CHECK(result.jobs[0].host == 1);
  CHECK(result.jobs[0].moves == 1);
  CHECK(result.worked == Approx(1200));
  CHECK(wrong_views == 0);

  REQUIRE(landed.has_value());
  CHECK(landed->arrived == 55);
  CHECK(landed->used == Approx(280));
  CHECK(landed->report.count == 3);
  CHECK(landed->report.samples.size() == 3);
  CHECK(landed->report.counter->done == Approx(0.3));
  CHECK(landed->track.used() == Approx(280));
  REQUIRE(landed->track.values().size() == 3);
  CHECK(landed->track.values().back().work == Approx(240));
  const growth::WorkLeft first = growth::left_of(landed->track, std::nullopt, 4);
  CHECK(first.basis == growth::Basis::counter);
  CHECK(first.left == Approx(520));

  REQUIRE(later.has_value());
  CHECK(later->arrived == 55);
  CHECK(later->used == Approx(336));
  CHECK(later->report.count == 4);
  REQUIRE(later->track.values().size() == 4);
  CHECK(later->track.values().back().work == Approx(320));
  CHECK(growth::left_of(later->track, std::nullopt, 4).left == Approx(464));
}

TEST_CASE("a run that was moved is remembered as a whole where it ends") {
  const auto host = drive("milestone", 8, {}, {});
  Known before;
  before.model = "model";
  before.moves = 1;
  before.track.look({0, 0, 0, {}}, {});
  before.track.look({100, 800, 0, {}}, {});
  (void)host->decide({0, 100, 8, 64e9, true, {&before}});
  host->end(before, 100, true);
  Known next;
  next.number = 1;
  next.model = "model";
  CHECK(host->left(next) == 800);
}

TEST_CASE("by its age alone a job is known when it has used ten times the least work") {
  const auto host = drive("milestone", 8, {}, {});
  Known young;
  young.track.look({0, 0, 0, {}}, {});
  CHECK_FALSE(host->left(young));
  young.track.look({5, 39, 0, {}}, {});
  CHECK_FALSE(host->left(young));
  young.track.look({6, 41, 0, {}}, {});
  CHECK(host->left(young) == 41);
  // A counter says more.
  Known counting;
  counting.track.look({0, 0, 0, {}}, {});
  counting.track.look({1, 8, 0, 0.1}, {});
  CHECK(host->left(counting));
}

TEST_CASE("a job of which nothing is known counts with the median of all, and stays") {
  CHECK(balanced({{0, 400}, {1, 400}, {2, 1}}).size() == 1);
  // As much as the others: nothing is won.
  CHECK(balanced({{0, 400}, {1, 400}}).empty());
  CHECK(balanced({{2, 1}}).empty());
  CHECK(balanced({}).empty());
  // One of two is known, and goes.
  const std::vector<JobMove> moves = balanced({{1, 400}, {2, 1}});
  REQUIRE(moves.size() == 1);
  CHECK(moves.front().job == 1);
  CHECK(moves.front().to == 1);
}

TEST_CASE("a job that has just begun on its host stays there") {
  CHECK(balanced({{0, 400}, {1, 400}, {2, 1}}, {0}).front().job == 1);
  CHECK(balanced({{0, 400}, {1, 400}, {2, 1}}, {0, 1}).empty());
}
