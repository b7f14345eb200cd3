// SPDX-License-Identifier: Apache-2.0
// Two worlds that are alike until a moment and differ after it: what is decided before that moment
// is alike, or the policy has seen the future.
#include <set>
#include <stdexcept>
#include <type_traits>

#include "sim/beginning.h"
#include "sim/engine.h"
#include "sim/schedule.h"
#include "tests/sim/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim;

namespace {

constexpr double kFork = 100;  // seconds

// What a policy is made of has no room for the jobs that are to come; only an oracle's maker takes
// them.
static_assert(std::is_invocable_v<MakePolicy, const Beginning&, const PolicyParameters&>);
static_assert(!std::is_invocable_v<MakePolicy, const Schedule&, const PolicyParameters&>);
static_assert(!std::is_constructible_v<Beginning, const Schedule&>);
static_assert(!std::is_convertible_v<const Schedule&, Beginning>);
static_assert(std::is_invocable_v<MakeOracle, const Schedule&>);

struct Record {
  double time = 0;
  std::vector<std::pair<double, double>> grants;
  bool operator==(const Record&) const = default;
};

// Hands everything on and writes down what was decided before the fork.
class Recorder : public HostDriver {
 public:
  Recorder(std::unique_ptr<HostDriver> inner, std::vector<Record>& records)
      : inner_(std::move(inner)), records_(records) {}
  HostGrants decide(const SimHost& view) override {
    HostGrants decision = inner_->decide(view);
    if (view.now < kFork) {
      Record record{view.now, {}};
      for (const Grant& grant : decision.grants) {
        record.grants.emplace_back(grant.weight, grant.quota);
      }
      records_.push_back(std::move(record));
    }
    return decision;
  }
  void end(const Known& job, double now, bool is_complete) override {
    inner_->end(job, now, is_complete);
  }

 private:
  std::unique_ptr<HostDriver> inner_;
  std::vector<Record>& records_;
};

// The same for what is decided between hosts: a record's pairs are a job and where it goes.
class ClusterRecorder : public ClusterDriver {
 public:
  ClusterRecorder(std::unique_ptr<ClusterDriver> inner, std::vector<Record>& records)
      : inner_(std::move(inner)), records_(records) {}
  ClusterMoves decide(const SimCluster& view) override {
    ClusterMoves decision = inner_->decide(view);
    if (view.now < kFork) {
      Record record{view.now, {}};
      for (const JobMove& order : decision.moves) record.grants.emplace_back(order.job, order.to);
      records_.push_back(std::move(record));
    }
    return decision;
  }
  [[nodiscard]] bool wants_changes() const override { return inner_->wants_changes(); }

 private:
  std::unique_ptr<ClusterDriver> inner_;
  std::vector<Record>& records_;
};

// Three jobs; none is at its middle at the fork. Where `is_long`, each goes on for as long again,
// its loss too, and another job comes.
Schedule world(bool is_long) {
  std::vector<JobSpec> jobs;
  const std::vector<double> works{2000, 1500, 1200};
  for (std::size_t i = 0; i < works.size(); ++i) {
    JobSpec spec = job(10 * static_cast<double>(i), works[i], 8);
    spec.model = "model " + std::to_string(i);
    spec.lines = 50;
    spec.noise = 0.01;
    spec.noise_seed = i;
    // To x = 0.5 of the long run it is the short one's; both have the same range.
    std::vector<CurvePoint> points;
    const std::size_t count = is_long ? 201 : 101;
    for (std::size_t k = 0; k < count; ++k) {
      const double at = static_cast<double>(k) / 100;
      const double value = at <= 1 ? 2 / (1 + 5 * at) : 2.0 / 6 + (at - 1) * 5.0 / 3;
      points.push_back({static_cast<double>(k) / static_cast<double>(count - 1), value});
    }
    if (is_long) {
      spec.work *= 2;
      spec.lines *= 2;
    }
    spec.curve =
        std::make_shared<const Curve>(Curve::table(std::move(points), flowcon::ctrl::Goal::min));
    jobs.push_back(std::move(spec));
  }
  if (is_long) jobs.push_back(job(kFork + 1, 100, 8));
  return on_one_host(8, std::move(jobs));
}

std::vector<Record> decided_before_fork(const PolicyKind& kind, bool is_long) {
  const Schedule schedule = world(is_long);
  std::vector<Record> records;
  PolicySet set = kind.make(schedule, {});
  for (auto& host : set.hosts) host = std::make_unique<Recorder>(std::move(host), records);
  (void)run(schedule, set, {});
  return records;
}

}  // namespace

TEST_CASE("a policy is made of hosts and earlier runs, and only an oracle of the jobs") {
  std::set<std::string_view> oracles;
  for (const PolicyKind& kind : policies()) {
    CHECK(std::holds_alternative<MakeOracle>(kind.maker) == kind.is_oracle);
    if (kind.is_oracle) oracles.insert(kind.name);
  }
  CHECK(oracles == std::set<std::string_view>{"srpt", "milestone-oracle"});
  // What they are made of in two worlds whose jobs differ.
  const auto made_of = [](bool is_long) {
    Schedule schedule = world(is_long);
    schedule.earlier = {job(0, 700, 8), job(0, 900, 8)};
    return beginning_of(schedule);
  };
  const Beginning one = made_of(false);
  const Beginning other = made_of(true);
  REQUIRE(one.hosts.size() == 1);
  REQUIRE(other.hosts.size() == 1);
  CHECK(one.hosts[0].cores == other.hosts[0].cores);
  REQUIRE(one.memory.size() == 2);
  REQUIRE(other.memory.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(one.memory[i].model == "model");
    CHECK(one.memory[i].run.total == Approx(i == 0 ? 700 : 900));
    CHECK(one.memory[i].run.total == other.memory[i].run.total);
    CHECK(one.memory[i].run.share90 == other.memory[i].run.share90);
  }
}

TEST_CASE("no policy decides by what is still to come") {
  for (const PolicyKind& kind : policies()) {
    if (kind.is_oracle) continue;
    INFO(kind.name);
    const std::vector<Record> one = decided_before_fork(kind, false);
    const std::vector<Record> other = decided_before_fork(kind, true);
    CHECK(one.size() >= 3);
    CHECK(one == other);
  }
}

TEST_CASE("no job is moved for what is still to come") {
  // All begin on the first of two hosts.
  const auto decided = [](const PolicyKind& kind, bool is_long) {
    Schedule schedule = world(is_long);
    schedule.hosts.push_back(schedule.hosts.front());
    for (JobSpec& spec : schedule.jobs) spec.host = 0;
    std::vector<Record> records;
    PolicySet set = kind.make(schedule, {});
    set.cluster = std::make_unique<ClusterRecorder>(std::move(set.cluster), records);
    (void)run(schedule, set, {});
    return records;
  };
  std::size_t moves = 0;
  for (const char* name : {"specon", "balance"}) {
    INFO(name);
    const std::vector<Record> one = decided(policy(name), false);
    CHECK(one.size() >= 3);
    CHECK(one == decided(policy(name), true));
    for (const Record& record : one) moves += record.grants.size();
  }
  CHECK(moves > 0);
}

TEST_CASE("an oracle does, so that this test can tell") {
  // 2000, 1500 and 1200 CPU seconds: the order is another one where a job's double is known.
  const auto with = [](bool is_long) {
    Schedule schedule = world(is_long);
    schedule.jobs[0].work = is_long ? 4000 : 900;
    std::vector<Record> records;
    PolicySet set = policy("srpt").make(schedule, {});
    set.hosts[0] = std::make_unique<Recorder>(std::move(set.hosts[0]), records);
    (void)run(schedule, set, {});
    return records;
  };
  CHECK(with(false) != with(true));
}
