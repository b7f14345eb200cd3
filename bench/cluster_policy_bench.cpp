// SPDX-License-Identifier: Apache-2.0
// Time of one round of the cluster's decisions beside reading and writing the same state as JSON in
// the same run: cluster_policy_bench [HOSTS] [CONTAINERS] [ROUNDS] (1000 hosts of 20 containers, 20
// rounds, by default). The states are made before, and not part of the time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/json.h"
#include "cluster/codec/decision_json.h"

namespace {

namespace policy = flowcon::cluster::policy;
using Clock = std::chrono::steady_clock;

std::string id_of(const char* kind, std::size_t number) {
  char text[80];
  std::snprintf(text, sizeof text, "%s-%061zx", kind, number);  // as long as a container's id
  return text;
}

/// The states of one round in a cluster of `hosts` with `containers` each.
struct Cluster {
  std::vector<policy::CategoriseState> categories;
  std::vector<policy::Worker> workers;
  policy::RebalanceState
      settled;  ///< a third of the hosts nearly empty, the others fuller than the mean
};

Cluster make_cluster(std::size_t hosts, std::size_t containers) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  Cluster cluster;
  cluster.settled.now = 1e6;
  for (std::size_t h = 0; h < hosts; ++h) {
    const std::string host = id_of("host", h);
    policy::CategoriseState state;
    policy::WorkerLoad load{host, {}};
    for (std::size_t c = 0; c < containers; ++c) {
      const std::string id = id_of("job", h * containers + c);
      const double before = share(random);
      state.containers.push_back({id, static_cast<policy::Category>(random() % 3), before,
                                  before + 0.02 * share(random), 0.02 * share(random), false});
      load.containers.push_back({id, 1e6 * share(random), std::nullopt, false});
    }
    cluster.categories.push_back(std::move(state));
    cluster.settled.workers.push_back(std::move(load));
  }
  for (std::size_t h = 0; h + 2 < hosts; h += 3) {
    auto& from = cluster.settled.workers[h].containers;
    auto& to = cluster.settled.workers[h + 1].containers;
    while (from.size() > 1) {
      to.push_back(std::move(from.back()));
      from.pop_back();
    }
  }
  for (std::size_t h = 0; h < hosts; ++h) {
    const policy::CategoriseDecision decision = policy::decide_categorise(cluster.categories[h]);
    cluster.workers.push_back({cluster.settled.workers[h].id,
                               policy::count_categories(decision.containers), share(random)});
  }
  return cluster;
}

struct Series {
  const char* name;
  std::function<std::size_t()> run;  ///< how many results there were; 0: it failed
  std::vector<double> milliseconds;
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::size_t moves_of(const policy::RebalanceState& state) {
  return policy::decide_rebalance(state).moves.size();
}

int measure(std::size_t hosts, std::size_t containers, int rounds) {
  const Cluster cluster = make_cluster(hosts, containers);
  policy::RebalanceState extended = cluster.settled;
  extended.guard = true;
  extended.fill = true;
  const std::string text = flowcon::render_json(to_json(extended));
  std::vector<Series> all{
      {"categorise, every host",
       [&] {
         std::size_t decided = 0;
         for (const auto& state : cluster.categories) {
           decided += policy::decide_categorise(state).containers.size();
         }
         return decided;
       },
       {}},
      {"speculate, one request",
       [&] {
         return policy::decide_speculate({{}, "job", cluster.workers[0].id, cluster.workers})
             .scores.size();
       },
       {}},
      {"rebalance, as published", [&] { return moves_of(cluster.settled); }, {}},
      {"rebalance, guard and fill", [&] { return moves_of(extended); }, {}},
      {"reading that state",
       [&] {
         const auto json = flowcon::parse_json(text);
         const auto state = policy::rebalance_state_from(*json);
         return state ? state->workers.size() : 0;
       },
       {}},
      {"writing that state", [&] { return flowcon::render_json(to_json(extended)).size(); }, {}},
  };
  std::printf("%zu hosts, %zu containers each, state of %.1f MB\n", hosts, containers,
              static_cast<double>(text.size()) / 1e6);
  std::printf("%-26s %3s %9s %9s %9s  ms, results\n", "what", "n", "min", "mean", "max");
  for (Series& series : all) {
    std::size_t results = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto from = Clock::now();
      results = series.run();
      series.milliseconds.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - from).count());
    }
    const auto [least, most] =
        std::minmax_element(series.milliseconds.begin(), series.milliseconds.end());
    std::printf("%-26s %3d %9.2f %9.2f %9.2f  %zu\n", series.name, rounds, *least,
                mean(series.milliseconds), *most, results);
  }
  double round = 0;
  for (std::size_t i : {0, 1, 3}) round += mean(all[i].milliseconds);
  std::printf(
      "categories, a request and a rebalancing %.2f ms (aim for 1000 hosts of 20: under 50)\n",
      round);
  std::printf("rebalance / reading its state %.2f, as published; %.2f with guard and fill\n",
              mean(all[2].milliseconds) / mean(all[4].milliseconds),
              mean(all[3].milliseconds) / mean(all[4].milliseconds));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const long hosts = argc > 1 ? std::atol(argv[1]) : 1000;
  const long containers = argc > 2 ? std::atol(argv[2]) : 20;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 20;
  if (hosts < 1 || containers < 1 || rounds < 1) {
    std::fprintf(stderr, "usage: cluster_policy_bench [HOSTS] [CONTAINERS] [ROUNDS]\n");
    return 2;
  }
  return measure(static_cast<std::size_t>(hosts), static_cast<std::size_t>(containers), rounds);
}
