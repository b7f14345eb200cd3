// SPDX-License-Identifier: Apache-2.0
// Time of a placement: place_bench [HOSTS] [TASKS] [ROUNDS] (100 hosts, 200 tasks, 20 rounds,
// unless told otherwise). Best-fit beside Liquid's Algorithm 1 written plainly in the same run,
// which sums up the whole score of a job for each node and must place the same; seeded; and the
// genetic algorithm, whose fitness stands beside that of the seeded plan. The states are made
// before.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/place_json.h"
#include "cluster/policy/group_plan.h"

namespace {

using namespace flowcon::cluster::policy;
using Clock = std::chrono::steady_clock;

double drawn(std::mt19937& random, unsigned below) { return static_cast<double>(random() % below); }

// Jobs of one parameter server and two to six workers, in racks of ten hosts. `used`: of four GPUs.
PlaceState make_state(std::size_t hosts, std::size_t tasks, unsigned used) {
  std::mt19937 random(1);
  PlaceState state;
  for (std::size_t i = 0; i < hosts; ++i) {
    const double gpus = drawn(random, used + 1);
    state.nodes.push_back({"host-" + std::to_string(i),
                           "rack-" + std::to_string(i / 10),
                           "all",
                           {{"cpu", 32}, {"mem", 128}, {"gpu", 4}},
                           {{"cpu", 6 * gpus}, {"mem", 20 * gpus}, {"gpu", gpus}}});
  }
  for (std::size_t job = 0; state.tasks.size() < tasks; ++job) {
    const std::string name = "job-" + std::to_string(job);
    const Amounts worker{
        {"cpu", 1 + drawn(random, 8) / 2}, {"mem", 4 + drawn(random, 16)}, {"gpu", 1}};
    state.tasks.push_back({name + "-ps", name, TaskRole::ps, {{"cpu", 1}, {"mem", 2}}});
    for (std::size_t left = 2 + random() % 5; left > 0 && state.tasks.size() < tasks; --left) {
      const std::string task = name + '-' + std::to_string(left);
      state.tasks.push_back({task, name, TaskRole::worker, worker});
    }
  }
  return state;
}

// Algorithm 1, word for word, for one domain.
class Plain {
 public:
  explicit Plain(const PlaceState& state) : state_(state) {
    for (const PlaceNode& node : state.nodes) ++racks_[node.rack];
  }

  std::map<std::string, std::string> run() {
    std::map<std::string, std::string> placement;
    for (std::size_t i = 0; i < state_.tasks.size();) {
      std::size_t end = i;
      while (end < state_.tasks.size() && state_.tasks[end].job == state_.tasks[i].job) ++end;
      const std::vector<PlaceNode> before = state_.nodes;
      const auto own = place(i, end);
      if (own.size() < end - i) state_.nodes = before;
      for (const auto& [task, node] : own) {
        if (own.size() == end - i) placement[task->id] = state_.nodes[node].id;
      }
      i = end;
    }
    return placement;
  }

 private:
  using Places = std::vector<std::pair<const PlaceTask*, std::size_t>>;

  Places place(std::size_t from, std::size_t end) {
    Places own;
    for (std::size_t i = from; i < end; ++i) {
      const PlaceTask& task = state_.tasks[i];
      double least = 0;
      std::size_t best = state_.nodes.size();
      for (std::size_t node = 0; node < state_.nodes.size(); ++node) {
        if (!fits(state_.nodes[node], task)) continue;
        own.emplace_back(&task, node);
        const double score = score_of(own);
        own.pop_back();
        if (best < state_.nodes.size() && !(score < least - 1e-12)) continue;
        best = node;
        least = score;
      }
      if (best == state_.nodes.size()) return own;
      own.emplace_back(&task, best);
      for (auto& [kind, amount] : state_.nodes[best].used) amount += amount_of(task.request, kind);
    }
    return own;
  }

  static bool fits(const PlaceNode& node, const PlaceTask& task) {
    return std::all_of(task.request.begin(), task.request.end(), [&](const auto& each) {
      return amount_of(node.used, each.first) + each.second <=
             amount_of(node.cap, each.first) + 1e-9;
    });
  }

  double score_of(const Places& own) const {
    double cost = 0;
    std::map<std::size_t, double> gpus;
    for (const auto& [task, node] : own) {
      gpus[node] = 0;
      for (const auto& [other, at] : own) {
        if (task->role != TaskRole::ps || other->role != TaskRole::worker || at == node) continue;
        cost += state_.nodes[node].rack == state_.nodes[at].rack
                    ? racks_.at(state_.nodes[node].rack)
                    : static_cast<double>(state_.nodes.size());
      }
    }
    // The last one is not taken off the node yet.
    gpus[own.back().second] = amount_of(own.back().first->request, "gpu");
    double fitness = 0;
    for (const auto& [node, more] : gpus) {
      const PlaceNode& at = state_.nodes[node];
      fitness -= (more + amount_of(at.used, "gpu")) / amount_of(at.cap, "gpu");
    }
    return state_.lambda * cost + (1 - state_.lambda) * fitness;
  }

  PlaceState state_;
  std::map<std::string, double> racks_;
};

template <class Run>
double measure(const char* name, const char* what, int rounds, Run run) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto from = Clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - from).count());
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%-10s %-20s %3zu %9.2f %9.2f %9.2f", name, what, times.size(), times.front(), median,
              times.back());
  return median;
}

// What a placement is worth as a plan of a batch, for as many jobs as it has.
double fitness_of(const PlaceState& state, const PlaceDecision& decision) {
  const PlaceModel model(state);
  Planner planner(model, model.jobs.size());
  GroupPlan plan = planner.empty_plan();
  std::map<std::string, std::uint32_t> nodes;
  std::map<std::string, std::uint32_t> tasks;
  for (const PlaceNode& node : state.nodes) nodes.emplace(node.id, nodes.size());
  for (const PlaceTask& task : state.tasks) tasks.emplace(task.id, tasks.size());
  for (const auto& [task, node] : decision.placement) planner.put(plan, tasks[task], nodes[node]);
  planner.evaluate(plan);
  return plan.fitness;
}

// Whether all is as it should be.
bool compare(const char* name, PlaceState state, int rounds) {
  PlaceDecision ours;
  std::map<std::string, std::string> plain;
  const double fast = measure(name, "best-fit", rounds, [&] { ours = *decide_place(state); });
  std::printf("  %zu of %zu tasks placed\n", ours.placement.size(), state.tasks.size());
  const double slow = measure("", "written plainly", 1, [&] { plain = Plain(state).run(); });
  std::printf("  %.0f times as long\n", slow / fast);
  bool is_same = plain.size() == ours.placement.size();
  for (const auto& [task, node] : ours.placement) is_same = is_same && plain[task] == node;
  if (!is_same) std::fprintf(stderr, "place_bench: the two do not place the same\n");

  state.seeded = true;
  PlaceDecision seeded;
  measure("", "seeded", rounds, [&] { seeded = *decide_place(state); });
  std::printf("  %zu of %zu tasks placed\n", seeded.placement.size(), state.tasks.size());
  state.mode = PlaceMode::batch;
  PlaceDecision genetic;
  measure("", "genetic", std::max(rounds / 5, 1), [&] { genetic = *decide_place(state); });
  std::printf("  fitness %.2f", genetic.fitness);
  bool is_good = true;
  if (seeded.unplaced.empty()) {
    const double fitness = fitness_of(state, seeded);
    std::printf(", of seeded %.2f", fitness);
    is_good = genetic.fitness >= fitness - 1e-6;
  }
  std::printf("\n");
  if (!is_good) std::fprintf(stderr, "place_bench: the genetic plan is worse than the seeded\n");
  return is_same && is_good;
}

}  // namespace

int main(int argc, char** argv) {
  const long hosts = argc > 1 ? std::atol(argv[1]) : 100;
  const long tasks = argc > 2 ? std::atol(argv[2]) : 200;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 20;
  if (hosts < 1 || tasks < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: place_bench [HOSTS] [TASKS] [ROUNDS]\n");
    return 2;
  }
  std::printf("%ld hosts, %ld tasks\n%-31s %3s %9s %9s %9s  ms\n", hosts, tasks, "", "n", "min",
              "median", "max");
  const auto state = [&](unsigned used) {
    return make_state(static_cast<std::size_t>(hosts), static_cast<std::size_t>(tasks), used);
  };
  bool is_good = compare("empty", state(0), rounds);
  is_good &= compare("half full", state(4), rounds);
  is_good &= compare(
      "one job",
      [&] {
        PlaceState one = state(2);
        for (PlaceTask& task : one.tasks) task.job = "job";
        return one;
      }(),
      rounds);
  std::printf("aim: 200 tasks on 100 hosts seeded under 50 ms, genetic under 2 s\n");
  return is_good ? 0 : 1;
}
