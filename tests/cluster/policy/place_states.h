// SPDX-License-Identifier: Apache-2.0
// States of the placement for tests: nodes and tasks in few words, and where the tasks went.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cluster/policy/place.h"
#include "tests/support/catch.h"

namespace flowcon::test {

namespace policy = cluster::policy;

/// A node of eight cores and `gpus`, of which some are used; "d1/r1" is its domain and rack.
inline policy::PlaceNode host(const std::string& id, const std::string& where, double gpus,
                              double used = 0) {
  const std::size_t slash = where.find('/');
  return {id,
          where.substr(slash + 1),
          where.substr(0, slash),
          {{"cpu", 8}, {"gpu", gpus}},
          {{"gpu", used}}};
}

/// "a-ps" is a parameter server of a, anything else a worker of what stands before the dash.
inline policy::PlaceTask task(const std::string& id, double gpus, double cores = 1) {
  const std::size_t dash = id.find('-');
  const auto role = id.substr(dash) == "-ps" ? policy::TaskRole::ps : policy::TaskRole::worker;
  return {id, id.substr(0, dash), role, {{"cpu", cores}, {"gpu", gpus}}};
}

inline policy::PlaceState place_state(std::vector<policy::PlaceNode> nodes,
                                      std::vector<policy::PlaceTask> tasks) {
  policy::PlaceState state;
  state.nodes = std::move(nodes);
  state.tasks = std::move(tasks);
  return state;
}

inline policy::PlaceDecision placed(const policy::PlaceState& state) {
  auto decision = policy::decide_place(state);
  REQUIRE(decision.has_value());
  return std::move(*decision);
}

/// "a-ps=n1 a-0=n2 !b": b is not placed.
inline std::string places(const policy::PlaceState& state) {
  std::string text;
  const policy::PlaceDecision decision = placed(state);
  for (const auto& [task, node] : decision.placement) {
    text += (text.empty() ? "" : " ") + task + '=' + node;
  }
  for (const std::string& job : decision.unplaced) text += (text.empty() ? "!" : " !") + job;
  return text;
}

/// Jobs of one or no parameter server and some workers, on nodes of unlike size in up to two
/// domains.
inline policy::PlaceState random_state(std::mt19937& random, std::size_t most_nodes,
                                       std::size_t most_tasks) {
  policy::PlaceState state;
  const unsigned domains = 1 + random() % 2;
  for (std::size_t i = 1 + random() % most_nodes; i > 0; --i) {
    const std::string where =
        "d" + std::to_string(random() % domains) + "/r" + std::to_string(random() % 2);
    const double gpus = static_cast<double>(random() % 5);
    state.nodes.push_back(
        host("n" + std::to_string(i), where, gpus, gpus > 0 && random() % 2 == 0 ? 1 : 0));
  }
  const unsigned jobs = 1 + random() % 4;
  for (std::size_t i = random() % (most_tasks + 1); i > 0; --i) {
    const std::string job(1, static_cast<char>('a' + random() % jobs));
    const bool is_ps = random() % 4 == 0;
    state.tasks.push_back(task(job + (is_ps ? "-ps" : "-w"),
                               is_ps ? 0 : static_cast<double>(random() % 3),
                               0.5 * static_cast<double>(random() % 6)));
    state.tasks.back().id += std::to_string(i);
  }
  state.lambda = 0.25 * static_cast<double>(random() % 5);
  return state;
}

/// Links between some of the nodes, and traffic of some of the jobs.
inline void add_links(policy::PlaceState& state, std::mt19937& random) {
  for (std::size_t a = 0; a < state.nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < state.nodes.size(); ++b) {
      if (random() % 2 == 0) continue;
      state.links.push_back(
          {state.nodes[b].id, state.nodes[a].id, 100 * static_cast<double>(1 + random() % 10)});
      if (random() % 2 == 0) std::swap(state.links.back().a, state.links.back().b);
    }
  }
  for (const char* job : {"a", "b", "d"}) {
    const auto is_of_job = [job](const policy::PlaceTask& task) { return task.job == job; };
    if (std::none_of(state.tasks.begin(), state.tasks.end(), is_of_job)) continue;
    state.traffic.push_back({job, 50 * static_cast<double>(random() % 8)});
  }
}

}  // namespace flowcon::test
