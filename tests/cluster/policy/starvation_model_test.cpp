// SPDX-License-Identifier: Apache-2.0
// How long a job waits that is starved: sequences of decisions over random jobs on hosts that stay
// up, carried out as flowcond does. docs/queue.md states the bound that is checked here.
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cluster/policy/queue_policies.h"
#include "tests/support/catch.h"

namespace {

using namespace flowcon::cluster::policy;
using Decide = std::function<flowcon::Result<QueuePlan>(const QueueView&)>;

constexpr double kLimit = 5;  // seconds, as all times here: a job is starved beyond it
constexpr double kSave = 1;   // that a job takes to save itself
constexpr double kStays = 3;  // pauses before a job may be parked
constexpr double kLongest = 500;

enum class Phase { waits, runs, saves, over };

struct ModelJob {
  WaitingTask task;
  double arrives = 0;
  double length = 0;
  bool saves_itself = false;
  Phase phase = Phase::waits;
  double began = 0;                  // to run, or to save
  double started = -1;               // the first time
  std::optional<double> starved_at;  // it is starved, and waits since then
};

ModelJob random_job(std::mt19937& random, std::size_t number, bool may_save) {
  ModelJob job;
  job.task.id = "j" + std::to_string(number);
  job.arrives = job.task.since = static_cast<double>(random() % 30);
  job.length = 1 + static_cast<double>(random() % 9);
  job.saves_itself = may_save && random() % 2 == 0;
  const bool is_group = random() % 4 == 0;
  job.task.workers = is_group ? 2 : 1;
  job.task.may_spread = is_group;
  job.task.request = {{"cpu", 1 + static_cast<double>(random() % (is_group ? 2 : 4))}};
  if (random() % 20 == 0) job.task.request = {{"cpu", 9}};  // what no host could hold
  // An estimate may be wrong, or missing.
  if (random() % 4 != 0) job.task.left = job.length * (random() % 3 == 0 ? 4 : 1);
  if (random() % 4 == 0) job.task.priority = 3;
  return job;
}

bool comes_before(const ModelJob& a, const ModelJob& b) {
  return a.task.since != b.task.since ? a.task.since < b.task.since : a.task.id < b.task.id;
}

// Hosts of four cores, and what becomes of the jobs second after second.
class Model {
 public:
  Model(std::size_t hosts, std::vector<ModelJob> jobs, Decide decide)
      : hosts_(hosts), jobs_(std::move(jobs)), decide_(std::move(decide)) {}

  // What broke the bound first; "" = nothing did, and all that some host could hold has ended.
  std::string run() {
    for (now_ = 0; now_ < kLongest && !is_over(); ++now_) {
      go_on();
      decide();
      if (const std::string late = find_late(); !late.empty()) return late;
    }
    return is_over() ? "" : "a job never ends";
  }
  double wait_of(std::size_t job) const { return jobs_[job].started - jobs_[job].arrives; }
  int parks() const { return parks_; }
  int starved() const { return starved_; }

 private:
  bool is_there(const ModelJob& job) const {
    return job.arrives <= now_ && job.phase != Phase::over;
  }
  bool is_young(const ModelJob& job) const { return now_ - job.began < kStays * kSave; }

  // Each that some host could hold.
  bool is_over() const {
    const QueueView empty = view_of({});
    return std::all_of(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
      return job.phase == Phase::over || !could_ever_fit(empty, job.task);
    });
  }

  // The second that has gone by.
  void go_on() {
    for (ModelJob& job : jobs_) {
      if (!is_there(job)) continue;
      if (job.phase == Phase::waits && job.arrives < now_) ++job.task.waited;
      if (job.phase == Phase::saves && now_ >= job.began + kSave) wait_again(job);
      if (job.phase != Phase::runs) continue;
      ++job.task.served;
      if (job.task.left) job.task.left = std::max(*job.task.left - 1, 0.0);
      if (job.task.served >= job.length) {
        job.phase = Phase::over;
        job.task.placed = {};
      }
    }
  }

  void wait_again(ModelJob& job) {
    job.phase = Phase::waits;
    job.task.placed = {};
  }

  QueueView view_of(const std::vector<ModelJob>& jobs) const {
    QueueView view;
    view.now = now_;
    view.starve_limit = kLimit;
    view.pause = kSave;
    for (std::size_t i = 0; i < hosts_; ++i) {
      view.nodes.push_back({"h" + std::to_string(i), {{"cpu", 4}}, {{"cpu", 4}}});
    }
    const bool is_saving = std::any_of(
        jobs.begin(), jobs.end(), [](const ModelJob& job) { return job.phase == Phase::saves; });
    for (const ModelJob& job : jobs) {
      if (!is_there(job)) continue;
      take(view.nodes, job.task.placed, job.task);
      view.jobs.push_back(job.task);
      view.jobs.back().is_parkable =
          job.phase == Phase::runs && job.saves_itself && !is_young(job) && !is_saving;
    }
    return view;
  }

  static void take(std::vector<QueueNode>& nodes, const Placement& placed,
                   const WaitingTask& task) {
    for (const NodeCount& one : placed.workers) {
      nodes[one.node].idle[0].second -=
          static_cast<double>(one.count) * amount_of(task.request, "cpu");
    }
  }

  ModelJob& job_of(const std::string& id) {
    return *std::find_if(jobs_.begin(), jobs_.end(),
                         [&](const ModelJob& job) { return job.task.id == id; });
  }

  // One is parked at a time, and a start keeps its room until that has come free.
  void decide() {
    const QueueView view = view_of(jobs_);
    const auto plan = decide_(view);
    REQUIRE(plan.has_value());
    for (const QueuePlan::Standing& standing : plan->standings) {
      job_of(standing.job).task.weight = standing.weight;
    }
    std::vector<QueueNode> nodes = view.nodes;
    for (const QueuePlan::Start& start : plan->starts) {
      ModelJob& job = job_of(start.job);
      const std::vector<std::size_t> on = nodes_of(start.placed);
      const bool is_barred = std::any_of(on.begin(), on.end(), [&](std::size_t node) {
        return !start.barred.empty() && start.barred[node];
      });
      if (is_barred) continue;
      take(nodes, start.placed, job.task);
      const bool has_room =
          std::all_of(start.placed.workers.begin(), start.placed.workers.end(),
                      [&](const NodeCount& one) { return nodes[one.node].idle[0].second >= 0; });
      if (!has_room) continue;
      job.phase = Phase::runs;
      job.began = now_;
      if (job.started < 0) job.started = now_;
      job.starved_at.reset();
      job.task.placed = start.placed;
    }
    if (plan->parks.empty()) return;
    ModelJob& parked = job_of(plan->parks.front());
    parked.phase = Phase::saves;
    parked.began = now_;
    ++parks_;
  }

  // A starved job waits for a second only while one that was submitted before it runs, one that
  // cannot be saved, or not yet, and ran when it was starved, or one saves itself.
  std::string find_late() {
    for (ModelJob& job : jobs_) {
      const bool waits = is_there(job) && job.phase == Phase::waits;
      if (!waits || job.task.waited <= kLimit || !could_ever_fit(view_of({}), job.task)) continue;
      if (!job.starved_at) {
        job.starved_at = now_;
        ++starved_;
      }
      const bool is_explained = std::any_of(jobs_.begin(), jobs_.end(), [&](const ModelJob& other) {
        if (other.phase == Phase::saves) return true;
        if (other.phase != Phase::runs) return false;
        const bool is_fixed = !other.saves_itself || is_young(other);
        return comes_before(other, job) || (is_fixed && other.began <= *job.starved_at);
      });
      if (!is_explained) return job.task.id + " waits for nobody at " + std::to_string(now_);
    }
    return "";
  }

  std::size_t hosts_;
  std::vector<ModelJob> jobs_;
  Decide decide_;
  double now_ = 0;
  int parks_ = 0;
  int starved_ = 0;
};

struct Found {
  std::string late;
  int parks = 0;
  int starved = 0;
};

Found explore(const Decide& decide, bool may_save, unsigned rounds) {
  Found found;
  for (unsigned seed = 1; seed <= rounds; ++seed) {
    std::mt19937 random(seed);
    const std::size_t hosts = 1 + random() % 3;
    std::vector<ModelJob> jobs;
    const std::size_t count = 8 * hosts + random() % 8;
    for (std::size_t i = 0; i < count; ++i) jobs.push_back(random_job(random, i, may_save));
    Model model(hosts, jobs, decide);
    found.late = model.run();
    if (!found.late.empty()) found.late += ", seed " + std::to_string(seed);
    found.parks += model.parks();
    found.starved += model.starved();
    if (!found.late.empty()) break;
  }
  return found;
}

flowcon::Result<QueuePlan> by(const char* policy, const QueueView& view) {
  return find_queue_policy(policy)->decide(view);
}

constexpr unsigned kRounds = 150;

}  // namespace

TEST_CASE("a starved job waits for those before it, and for what cannot be saved, and no longer") {
  const Found left = explore([](const QueueView& view) { return by("left", view); }, true, kRounds);
  CHECK(left.late == "");
  CHECK(left.parks > 50);
  CHECK(left.starved > 500);
  const Found kod2 =
      explore([](const QueueView& view) { return by("kod2", view); }, false, kRounds);
  CHECK(kod2.late == "");
  CHECK(kod2.starved > 500);
}

TEST_CASE("it is found where nobody is starved") {
  const auto decide = [](QueueView view) {
    view.starve_limit = std::numeric_limits<double>::max();
    return by("left", view);
  };
  CHECK(explore(decide, true, kRounds).late != "");
}

TEST_CASE("it is found where others start while a starved job waits") {
  const auto decide = [](QueueView view) {
    const auto plan = by("left", view);
    std::erase_if(view.jobs, [&](const WaitingTask& job) {
      const bool starts =
          std::any_of(plan->starts.begin(), plan->starts.end(),
                      [&](const QueuePlan::Start& start) { return start.job == job.id; });
      return !is_running(job) && job.waited > view.starve_limit && !starts;
    });
    return by("left", view);
  };
  CHECK(explore(decide, true, kRounds).late != "");
}

TEST_CASE("it is found where the shortest of the starved jobs goes first") {
  const auto decide = [](QueueView view) {
    for (WaitingTask& job : view.jobs) job.since = job.left.value_or(0);
    return by("left", view);
  };
  CHECK(explore(decide, true, kRounds).late != "");
}

TEST_CASE("three jobs of one length and one place: the third waits for both, whatever the limit") {
  constexpr double kLength = 20;
  std::vector<ModelJob> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].task.id = "j" + std::to_string(i);
    jobs[i].task.request = {{"cpu", 4}};
    jobs[i].task.left = jobs[i].length = kLength;
  }
  Model model(1, jobs, [](const QueueView& view) { return by("left", view); });
  CHECK(model.run() == "");
  CHECK(model.wait_of(1) == kLength);
  CHECK(model.wait_of(2) == 2 * kLength);  // more than kLimit and what the running one had left
}
