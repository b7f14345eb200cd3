// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/queue.h"

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/queue_json.h"
#include "tests/cluster/policy/queue_states.h"

namespace {

using namespace flowcon::test;
using policy::QueueBranch;
using policy::QueueJob;
using policy::QueueNode;
using policy::QueueState;
using policy::WeightBasis;

QueueState state_of(std::vector<QueueNode> nodes, std::vector<QueueJob> waiting,
                    std::vector<QueueJob> running = {}, std::vector<QueueJob> arriving = {}) {
  QueueState state;
  state.now = 1000;
  state.starve_limit = 1e6;
  state.nodes = std::move(nodes);
  state.waiting = std::move(waiting);
  state.running = std::move(running);
  state.arriving = std::move(arriving);
  return state;
}

double weight_of(const QueueJob& job, const std::vector<QueueNode>& nodes,
                 WeightBasis basis = WeightBasis::worker) {
  return queue_weight(job, policy::largest_of(nodes), basis);
}

QueueJob done(QueueJob job) {
  job.done = true;
  return job;
}

double idle_of(const policy::QueueDecision& decision, std::size_t node) {
  return policy::amount_of(decision.nodes[node].idle, "cpu");
}

QueueState random_state(std::mt19937& random) {
  QueueState state = state_of({}, {});
  state.starve_limit = random() % 2 == 0 ? 10 : 1e6;
  state.prune = random() % 2 == 0;
  state.repeat = random() % 2 == 0;
  state.check_after = random() % 2 == 0;
  const std::size_t size = 1 + random() % 5;
  for (std::size_t i = 0; i < size; ++i) {
    state.nodes.push_back(node("n" + std::to_string(i), 10, drawn(random, 11) / 2));
  }
  const auto random_job = [&](const char* kind, std::size_t i) {
    const auto min = static_cast<std::int64_t>(1 + random() % 3);
    const double weight = 0.5 + drawn(random, 5) / 10;
    QueueJob made = job(kind + std::to_string(i), weight, min,
                        min + static_cast<std::int64_t>(random() % 3), drawn(random, 7) / 2);
    made.since = 1000 - drawn(random, 40);
    return random() % 2 == 0
               ? made
               : with_ps(made, static_cast<std::int64_t>(random() % 3), drawn(random, 4) / 2);
  };
  for (std::size_t i = random() % 5; i > 0; --i) state.waiting.push_back(random_job("w", i));
  for (std::size_t i = random() % 3; i > 0; --i) state.arriving.push_back(random_job("a", i));
  for (std::size_t i = random() % 5; i > 0; --i) {
    QueueJob made = random_job("r", i);
    made.placed.workers.push_back(
        {random() % size, made.min + static_cast<std::int64_t>(random() % 3)});
    if (made.ps > 0) made.placed.ps.push_back({random() % size, made.ps});
    made.done = random() % 5 == 0;
    state.running.push_back(std::move(made));
  }
  return state;
}

}  // namespace

TEST_CASE("the weight grows with the workers and falls with what each requests") {
  const std::vector<QueueNode> nodes{{"a", {{"cpu", 10}, {"mem", 8}}, {}},
                                     {"b", {{"cpu", 4}, {"mem", 32}}, {}}};
  QueueJob plain = job("j", 0, 2, 4, 5);
  CHECK(weight_of(plain, nodes) == 1 / (1 + std::exp(-4.0)));
  plain.worker_request.emplace_back("mem", 16);
  CHECK(weight_of(plain, nodes) == 1 / (1 + std::exp(-2.0)));
  plain.worker_request.emplace_back("gpu", 3);
  CHECK(weight_of(plain, nodes) == 1 / (1 + std::exp(-2.0)));
  CHECK(weight_of(with_ps(plain, 2, 5), nodes) == 1 / (1 + std::exp(-2.0)));
  // All of the minimum: 20 cores and 32 of memory.
  CHECK(weight_of(with_ps(plain, 2, 5), nodes, WeightBasis::job) == 1 / (1 + std::exp(-2 / 3.0)));
}

TEST_CASE("a resource that no node has drops out of the weight, and nothing requested weighs 1") {
  const std::vector<QueueNode> nodes{{"a", {{"cpu", 10}, {"mem", 0}}, {}}};
  QueueJob plain = job("j", 0, 1, 1, 5);
  plain.worker_request.emplace_back("mem", 16);
  CHECK(weight_of(plain, nodes) == 1 / (1 + std::exp(-2.0)));
  CHECK(weight_of(job("j", 0, 1, 1, 0), nodes) == 1);
  CHECK(weight_of(plain, {}) == 1);
}

TEST_CASE("new jobs join the queue in their order, with their weight") {
  const auto decision = decided(state_of({node("n", 10, 0)}, {job("w", 0.9, 1, 1, 1)}, {},
                                         {job("b", 0, 1, 1, 10), job("a", 0, 1, 1, 5)}));
  CHECK(shown(decision) == "enqueue b, enqueue a");
  REQUIRE(decision.waiting.size() == 3);
  CHECK(decision.waiting[0].id == "w");
  CHECK(decision.waiting[1].weight == 1 / (1 + std::exp(-1.0)));
  CHECK(decision.actions[1].weight == 1 / (1 + std::exp(-2.0)));
}

TEST_CASE("where nobody waits there is no branch, and running jobs grow and end all the same") {
  const auto decision = decided(
      state_of({node("n", 10, 4)}, {},
               {on(job("a", 0.5, 1, 2, 3), {{0, 1}}), done(on(job("b", 0.5, 1, 1, 3), {{0, 1}}))}));
  CHECK_FALSE(decision.branch);
  CHECK(shown(decision) == "add_worker a 0, finish b");
  CHECK(idle_of(decision, 0) == 4);
  CHECK(decision.finished == std::vector<std::string>{"b"});
}

TEST_CASE("the first of the queue alone starts where none that runs weighs more") {
  const std::vector<QueueJob> waiting{job("a", 0.6, 1, 1, 2), job("b", 0.8, 1, 1, 2)};
  const auto decision = decided(state_of({node("n", 10)}, waiting));
  CHECK(decision.branch == QueueBranch::top);
  CHECK(shown(decision) == "start b idle w0=1");
  CHECK(idle_of(decision, 0) == 8);
  const auto at = [&](double weight) {
    const auto made =
        decided(state_of({node("n", 10)}, waiting, {on(job("r", weight, 1, 1, 0), {{0, 1}})}));
    return name(made.branch.value()) + (": " + shown(made));
  };
  CHECK(at(0.8) == "top: start b idle w0=1");
  CHECK(at(0.8 + 5e-13) == "top: start b idle w0=1");
  CHECK(at(0.8 + 2e-12) == "rest: start b idle w0=1, start a idle w0=1");
}

TEST_CASE("the rest starts in the order by weight wherever there is room") {
  const std::vector<QueueJob> waiting{job("a", 0.6, 1, 1, 2), job("b", 0.7, 2, 2, 4),
                                      job("c", 0.8, 1, 1, 3), job("d", 0.6, 1, 1, 2)};
  const auto decision =
      decided(state_of({node("n", 10, 7)}, waiting, {on(job("r", 0.9, 1, 1, 1), {{0, 1}})}));
  CHECK(decision.branch == QueueBranch::rest);
  CHECK(shown(decision) == "start c idle w0=1, start a idle w0=1, start d idle w0=1");
  REQUIRE(decision.waiting.size() == 1);
  CHECK(decision.running[1].id == "c");
  CHECK(decision.running[3].id == "d");
}

TEST_CASE("each start changes which node is the idlest for the next one") {
  const std::vector<QueueJob> waiting{job("a", 0.8, 1, 1, 3), job("b", 0.7, 1, 1, 1),
                                      job("c", 0.6, 1, 1, 1)};
  CHECK(actions_of(state_of({node("n", 10, 6), node("m", 10, 5)}, waiting,
                            {on(job("r", 0.9, 1, 1, 1), {{0, 1}})})) ==
        "start a idle w0=1, start b idle w1=1, start c idle w1=1");
}

TEST_CASE("where the first finds no room, jobs of less weight give workers and it starts there") {
  const QueueJob first = with_ps(job("a", 0.9, 1, 2, 3), 1, 1);
  const auto running = {on(job("r", 0.5, 1, 3, 2), {{0, 3}}), on(job("s", 0.6, 1, 1, 4), {{1, 1}})};
  const auto decision = decided(state_of({node("n", 6, 0), node("m", 6, 2)}, {first}, running));
  CHECK(shown(decision) ==
        "remove_worker r 0, remove_worker r 0, start a preempt p0=1 w0=1, add_worker r 1");
  CHECK(idle_of(decision, 0) == 0);
  CHECK(idle_of(decision, 1) == 0);
  CHECK(shown(decision.running[0].placed) == " w0=1 w1=1");
}

TEST_CASE("a job that waits longer than the limit gets weight 1, once") {
  QueueState state = state_of({node("n", 10, 0)},
                              {since(job("a", 0.6, 1, 1, 2), 900), since(job("b", 1, 1, 1, 2), 800),
                               since(job("c", 0.7, 1, 1, 2), 899)});
  state.starve_limit = 100;
  const auto decision = decided(state);
  CHECK(decision.branch == QueueBranch::top);
  CHECK(shown(decision) == "starve c");
  CHECK(decision.waiting[2].weight == 1);
  state.starve_everywhere = false;
  CHECK(actions_of(state).empty());
  state.running = {on(job("r", 1.5, 1, 1, 1), {{0, 1}})};
  CHECK(actions_of(state) == "starve c");
}

TEST_CASE("a starved job keeps its weight while it runs") {
  QueueState state = state_of({node("n", 10, 5)},
                              {since(job("a", 0.6, 1, 1, 6), 0), since(job("b", 0.5, 1, 1, 5), 0)},
                              {on(job("r", 0.9, 1, 1, 5), {{0, 1}})});
  state.starve_limit = 10;
  state.repeat = true;
  const auto decision = decided(state);
  CHECK(shown(decision) == "start b idle w0=1, starve a");
  CHECK(decision.running[1].weight == 0.5);
  state.running[0].done = true;
  state.nodes[0] = node("n", 10, 0);
  const auto after = decided(state);
  CHECK(shown(after) == "starve a, starve b, finish r");
  CHECK(after.waiting[1].weight == 1);
}

TEST_CASE("running jobs grow in the order by weight, those that just started too") {
  CHECK(actions_of(state_of({node("n", 10, 3), node("m", 10, 2)}, {job("a", 0.7, 1, 3, 1)},
                            {on(job("r", 0.6, 1, 9, 1), {{0, 1}})})) ==
        "start a idle w0=1, add_worker a 0, add_worker a 0, add_worker r 1, add_worker r 1");
}

TEST_CASE("a job that has ended counts until it leaves: its weight, its workers, its growth") {
  const QueueJob ended = done(on(job("r", 0.9, 1, 3, 2), {{0, 2}}));
  const auto decision = decided(state_of({node("n", 10, 2)}, {job("a", 0.8, 1, 1, 6)}, {ended}));
  CHECK(decision.branch == QueueBranch::rest);
  CHECK(shown(decision) == "add_worker r 0, finish r");
  CHECK(idle_of(decision, 0) == 6);
  // And it gives workers as any other.
  CHECK(actions_of(state_of({node("n", 10, 2)}, {job("a", 0.95, 1, 1, 4)}, {ended})) ==
        "remove_worker r 0, start a preempt w0=1, finish r");
}

TEST_CASE("jobs that have ended leave in the order of running, and give back all that they hold") {
  QueueJob ended = done(on(job("r", 0.5, 1, 1, 2), {{0, 1}, {1, 2}}, {{1, 1}}));
  ended.ps_request = {{"cpu", 0.5}, {"gpu", 1}};
  const auto decision = decided(state_of({node("n", 10, 0), node("m", 10, 0)}, {},
                                         {ended, done(on(job("a", 0.9, 1, 1, 1), {{0, 1}}))}));
  CHECK(shown(decision) == "finish r, finish a");
  CHECK(idle_of(decision, 0) == 3);
  CHECK(idle_of(decision, 1) == 4.5);
  CHECK(policy::amount_of(decision.nodes[1].idle, "gpu") == 1);
  CHECK(decision.nodes[0].idle.size() == 1);
}

TEST_CASE("passes repeat until one starts nothing, and the branch is that of the first") {
  QueueState state = state_of({node("n", 10, 9)}, {job("a", 0.9, 1, 1, 2), job("b", 0.8, 1, 1, 2),
                                                   job("c", 0.7, 1, 1, 6), job("d", 0.6, 1, 1, 1)});
  CHECK(actions_of(state) == "start a idle w0=1");
  state.repeat = true;
  const auto decision = decided(state);
  CHECK(decision.branch == QueueBranch::top);
  CHECK(shown(decision) == "start a idle w0=1, start b idle w0=1, start d idle w0=1");
  // A pass that starts nothing is the last one, whatever else it changed.
  state.nodes[0] = node("n", 10, 0);
  state.running = {done(on(job("r", 1, 1, 1, 2), {{0, 1}}))};
  CHECK(actions_of(state) == "finish r");
}

TEST_CASE("requests of nothing with counts without end are an error that names the job") {
  QueueState state = state_of({node("n", 10)}, {job("a", 0.9, 1, 1'000'000'000'000, 0)});
  const auto decision = decide_queue(state);
  REQUIRE_FALSE(decision.has_value());
  CHECK(decision.error().message() ==
        "max: job \"a\" requests too little for its counts: more than a million workers");
  state.waiting[0].max = 1000;
  CHECK(decided(state).actions.size() == 1000);
}

TEST_CASE("whatever the state, nothing is promised twice and no job is torn apart") {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    const QueueState state = random_state(random);
    const policy::QueueDecision decision = decided(state);
    std::map<std::string, const QueueJob*> jobs;
    for (const auto* list : {&state.waiting, &state.running, &state.arriving}) {
      for (const QueueJob& each : *list) jobs[each.id] = &each;
    }
    CHECK(decision.waiting.size() + decision.running.size() + decision.finished.size() ==
          jobs.size());
    // What is idle and what the jobs hold is what it was before. Halves are exact.
    std::vector<double> total(state.nodes.size());
    const auto count = [&](const policy::Placement& placed, const QueueJob& of, double sign) {
      for (const auto& [node, tasks] : placed.ps) {
        total[node] += sign * static_cast<double>(tasks) * policy::amount_of(of.ps_request, "cpu");
      }
      for (const auto& [node, tasks] : placed.workers) {
        total[node] += sign * static_cast<double>(tasks) * of.worker_request[0].second;
      }
    };
    for (const QueueJob& each : state.running) count(each.placed, each, -1);
    for (const auto& each : decision.running) count(each.placed, *jobs[each.id], 1);
    for (std::size_t i = 0; i < total.size(); ++i) {
      CHECK(idle_of(decision, i) >= 0);
      CHECK(idle_of(decision, i) + total[i] == policy::amount_of(state.nodes[i].idle, "cpu"));
    }
    for (const auto& each : decision.running) {
      std::int64_t workers = 0;
      std::int64_t ps = 0;
      for (const auto& here : each.placed.workers) workers += here.count;
      for (const auto& here : each.placed.ps) ps += here.count;
      const QueueJob& of = *jobs[each.id];
      CHECK(ps == of.ps);
      CHECK(workers >= of.min);
      // One that ran with more than its maximum keeps them, but gets none.
      if (of.placed.workers.empty()) CHECK(workers <= of.max);
    }
    CHECK(flowcon::render_json(to_json(decided(state))) == flowcon::render_json(to_json(decision)));
  }
}
