// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sim/groups/rate.h"
#include "sim/groups/schedules.h"
#include "tests/support/catch.h"

using namespace flowcon::sim::groups;

namespace {

constexpr const char* kQueues[] = {"fifo", "kod2", "kod2-repeat", "queue"};

const GroupPolicyKind& policy(const char* name) {
  const GroupPolicyKind* kind = find_group_policy(name);
  REQUIRE(kind != nullptr);
  return *kind;
}

GroupJob job(const char* id, double arrival, double work, std::int64_t min, std::int64_t max) {
  GroupJob spec;
  spec.id = id;
  spec.arrival = arrival;
  spec.work = work;
  spec.min = min;
  spec.max = max;
  spec.ps_request = {{"cpu", 1}};
  spec.worker_request = {{"cpu", 1}};
  return spec;
}

GroupSchedule on_nodes(std::size_t nodes, double cores, std::vector<GroupJob> jobs) {
  GroupSchedule schedule;
  for (std::size_t i = 0; i < nodes; ++i) {
    schedule.nodes.push_back({"h" + std::to_string(i), "r1", "d1", {{"cpu", cores}}, {}});
  }
  schedule.jobs = std::move(jobs);
  schedule.law.workers = 1;
  return schedule;
}

GroupSchedule made(const char* name, std::uint64_t seed, const char* model = "resnet-50") {
  GroupOptions options;
  options.seed = seed;
  options.model = model;
  return find_group_schedule(name)->make(options);
}

std::vector<const GroupPolicyKind*> policies_of(const char* schedule) {
  std::vector<const GroupPolicyKind*> kinds;
  for (const std::string_view name : find_group_schedule(schedule)->policies) {
    if (name != "genetic") kinds.push_back(find_group_policy(name));
  }
  return kinds;
}

double rate_of(const GroupJob& spec, const Placement& placed, const Law& law) {
  return rates_of({{&spec, &placed}}, law, 4).front();
}

}  // namespace

TEST_CASE("the rate of a job is that of the law, less what its remote workers lose") {
  GroupJob spec = job("a", 0, 1, 1, 4);
  spec.worker_request = {{"cpu", 2}};
  spec.slowdown = 0.5;
  const Law law{0.7, 0.9, false};
  const double base = std::pow(2, 0.7) * std::pow(4, 0.9);
  CHECK(rate_of(spec, {{{0, 1}}, {{0, 4}}}, law) == Approx(base));
  CHECK(rate_of(spec, {{{0, 1}}, {{0, 1}, {1, 3}}}, law) == Approx(base / (1 + 0.5 * 0.75)));
  CHECK(rate_of(spec, {{}, {{0, 4}}}, law) == 0);
  CHECK(rate_of(spec, {{{0, 1}}, {}}, law) == 0);
  spec.ps = 2;
  CHECK(rate_of(spec, {{{0, 1}}, {{0, 4}}}, law) == 0);
}

TEST_CASE("jobs that meet at a node slow each other down where the network is shared") {
  GroupJob spec = job("a", 0, 1, 1, 4);
  spec.slowdown = 1;
  Law law;
  law.is_network_shared = true;
  const Placement remote{{{0, 1}}, {{1, 3}}};
  const Placement near{{{0, 1}}, {{0, 3}}};
  CHECK(rate_of(spec, near, law) == 1);
  CHECK(rate_of(spec, remote, law) == Approx(1 / (1 + 1.5)));  // three pairs: load 3 / 2
  const Placement other{{{2, 1}}, {{1, 1}, {2, 1}}};
  const auto rates = rates_of({{&spec, &remote}, {&spec, &other}}, law, 4);
  CHECK(rates[0] == Approx(1 / (1 + 2.0)));        // four pairs touch node 1
  CHECK(rates[1] == Approx(1 / (1 + 0.5 * 2.0)));  // half of its pairs are remote
}

TEST_CASE("a job takes its work divided by its rate, and stands still where it is resized") {
  GroupSchedule schedule = on_nodes(1, 5, {job("a", 0, 400, 1, 4), job("b", 10, 6, 1, 1)});
  const GroupResult free = run(schedule, policy("queue"), {});
  // a has 4 workers for 10 s; b takes 2 cores for 6 s and leaves it 2 workers.
  CHECK(*free.finished[1] == Approx(16));
  CHECK(*free.finished[0] == Approx(16 + (400 - 40 - 12) / 4.0));
  CHECK(free.resizes == 2);
  GroupParameters parameters;
  parameters.pause = 0.5;
  const GroupResult paused = run(schedule, policy("queue"), parameters);
  CHECK(*paused.finished[0] == Approx(16 + 0.5 + (400 - 40 - 11) / 4.0));
}

TEST_CASE("the same schedule gives the same numbers, to the bit, and another seed others") {
  for (const char* name : {"kod2", "liquid-5"}) {
    for (const GroupPolicyKind* kind : policies_of(name)) {
      INFO(name << ' ' << kind->name);
      const GroupResult first = run(made(name, 3), *kind, {});
      const GroupResult second = run(made(name, 3), *kind, {});
      CHECK(first.finished == second.finished);
      CHECK(run(made(name, 4), *kind, {}).finished != first.finished);
    }
  }
}

TEST_CASE("no node is exceeded at any event, no gang is split, and no plan refused") {
  for (const char* name : {"kod2", "liquid-10"}) {
    for (const GroupPolicyKind* kind : policies_of(name)) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        INFO(name << ' ' << kind->name << ' ' << seed);
        const GroupSchedule schedule = made(name, seed);
        const auto watcher = [&](const GroupMoment& moment) {
          // Counted anew from the tasks, not taken from what the engine has summed up.
          std::map<std::pair<std::size_t, std::string>, double> used;
          for (std::size_t i = 0; i < schedule.jobs.size(); ++i) {
            const GroupJob& spec = schedule.jobs[i];
            const Placement& placed = moment.placed[i];
            for (const auto& [node, count] : placed.ps) {
              for (const auto& [kind_of, amount] : spec.ps_request) {
                used[{node, kind_of}] += static_cast<double>(count) * amount;
              }
            }
            for (const auto& [node, count] : placed.workers) {
              for (const auto& [kind_of, amount] : spec.worker_request) {
                used[{node, kind_of}] += static_cast<double>(count) * amount;
              }
            }
            const std::int64_t workers = count_of(placed.workers);
            CHECK((count_of(placed.ps) <= spec.ps && workers <= spec.max));
            if (kind->works != Works::gang || (workers == 0 && placed.ps.empty())) continue;
            CHECK((count_of(placed.ps) == spec.ps && workers >= spec.min));
          }
          for (const auto& [where, amount] : used) {
            const auto& cap = schedule.nodes[where.first].cap;
            CHECK(amount <= flowcon::cluster::policy::amount_of(cap, where.second) + 1e-9);
          }
        };
        const GroupResult result = run(schedule, *kind, {}, watcher);
        CHECK(result.refused == 0);
        if (kind->works != Works::whole) CHECK(result.stuck == 0);
      }
    }
  }
}

TEST_CASE("work is conserved: what a job had at its rates is its work") {
  for (const char* name : kQueues) {
    const GroupSchedule schedule = made("kod2", 2);
    std::vector<double> done(schedule.jobs.size(), 0);
    std::vector<double> rates(schedule.jobs.size(), 0);
    double last = 0;
    const auto watcher = [&](const GroupMoment& moment) {
      for (std::size_t i = 0; i < done.size(); ++i) done[i] += rates[i] * (moment.now - last);
      rates = moment.rates;
      last = moment.now;
      for (std::size_t i = 0; i < done.size(); ++i) {
        CHECK(done[i] + moment.left[i] == Approx(schedule.jobs[i].work).epsilon(1e-9));
      }
    };
    const GroupResult result = run(schedule, policy(name), {}, watcher);
    CHECK(result.stuck == 0);
    CHECK(result.end == last);
  }
}

TEST_CASE("a policy does not see the future: two worlds are alike until they part") {
  for (const GroupPolicyKind* kind : policies_of("kod2")) {
    INFO(kind->name);
    const GroupSchedule one = made("kod2", 5);
    GroupSchedule other = one;
    other.jobs.back().work *= 3;  // comes at 270 s
    other.jobs.back().max += 2;
    const double part = one.jobs.back().arrival;
    const auto history = [&](const GroupSchedule& schedule) {
      std::string text;
      (void)run(schedule, *kind, {}, [&](const GroupMoment& moment) {
        if (moment.now >= part) return;
        text += std::to_string(moment.now);
        for (const double rate : moment.rates) text += ' ' + std::to_string(rate);
        text += '\n';
      });
      return text;
    };
    CHECK(history(one) == history(other));
    CHECK(history(one).size() > 100);
  }
}

TEST_CASE("only the queue by what is left is told what is left, and only of jobs with a counter") {
  // Without it the decisions up to the first end cannot depend on the work.
  const auto until_end = [](const GroupSchedule& schedule, const GroupPolicyKind& kind,
                            double end) {
    std::string text;
    (void)run(schedule, kind, {}, [&](const GroupMoment& moment) {
      if (moment.now >= end) return;
      for (const Placement& placed : moment.placed) {
        for (const auto& [node, count] : placed.workers) {
          text += std::to_string(node) + '=' + std::to_string(count) + ' ';
        }
        text += '|';
      }
    });
    return text;
  };
  const std::vector<GroupJob> jobs{job("a", 0, 500, 1, 2), job("b", 10, 100, 1, 2),
                                   job("c", 20, 300, 1, 2)};
  GroupSchedule one = on_nodes(1, 6, jobs);
  GroupSchedule other = one;
  std::swap(other.jobs[0].work, other.jobs[1].work);
  other.jobs[0].work = 100;
  const double end = 30;
  for (const char* name : kQueues) {
    INFO(name);
    const bool is_told = policy(name).is_told_left;
    CHECK((until_end(one, policy(name), end) == until_end(other, policy(name), end)) == !is_told);
  }
  CHECK(policy("queue").is_told_left);
  for (GroupSchedule* schedule : {&one, &other}) {
    for (GroupJob& each : schedule->jobs) each.has_counter = false;
  }
  CHECK(until_end(one, policy("queue"), end) == until_end(other, policy("queue"), end));
}

TEST_CASE("jobs that work only with all their tasks can block each other for good") {
  // Two jobs of three tasks on four cores: random order gives each two tasks at some seed.
  GroupSchedule schedule = on_nodes(1, 4, {job("a", 0, 100, 2, 2), job("b", 0, 100, 2, 2)});
  std::size_t stuck = 0;
  std::size_t ended = 0;
  for (schedule.seed = 1; schedule.seed <= 20; ++schedule.seed) {
    const GroupResult whole = run(schedule, policy("tf-operator-whole"), {});
    CHECK((whole.stuck == 0 || whole.stuck == 2));
    stuck += whole.stuck;
    ended += 2 - whole.stuck;
    CHECK(run(schedule, policy("tf-operator"), {}).stuck == 0);
    for (const char* name : kQueues) CHECK(run(schedule, policy(name), {}).stuck == 0);
  }
  CHECK(stuck > 0);
  CHECK(ended > 0);
}

TEST_CASE("a job that no cluster could hold is stuck under each policy, and ends the run") {
  GroupSchedule schedule = on_nodes(2, 2, {job("huge", 0, 10, 9, 9), job("b", 5, 10, 1, 1)});
  for (const char* name : {"kod2", "queue", "tf-operator-whole"}) {
    INFO(name);
    CHECK(run(schedule, policy(name), {}).stuck >= 1);
  }
  const GroupResult result = run(schedule, policy("queue"), {});
  CHECK(result.stuck == 1);
  CHECK(*result.finished[1] == Approx(15));
}

TEST_CASE("a plan that exceeds a node or splits a gang is refused") {
  struct Wrong : GroupPolicy {
    GroupPlan decide(const GroupView& view) override {
      GroupPlan plan;
      for (const KnownJob& known : view.jobs) {
        const std::int64_t workers = known.number == 0 ? 5 : 1;
        plan.changes.push_back({known.number, {{{0, 1}}, {{0, workers}}}});
      }
      return plan;
    }
  };
  const GroupPolicyKind wrong{
      "wrong", "", Works::gang, false,
      [](std::uint64_t) -> std::unique_ptr<GroupPolicy> { return std::make_unique<Wrong>(); }};
  CHECK(run(on_nodes(1, 4, {job("a", 0, 10, 1, 5)}), wrong, {}).refused == 1);
  CHECK(run(on_nodes(1, 9, {job("a", 0, 10, 1, 5)}), wrong, {}).refused == 0);
  CHECK(run(on_nodes(1, 9, {job("a", 0, 10, 6, 6)}), wrong, {}).refused == 1);
}
