// SPDX-License-Identifier: Apache-2.0
#include "sim/groups/rate.h"

#include <algorithm>
#include <cmath>

namespace flowcon::sim::groups {
namespace {

// Calls f(node of a parameter server, node of workers, pairs) for all remote pairs.
template <class F>
void each_remote(const Placement& placed, const F& f) {
  for (const NodeCount& ps : placed.ps) {
    for (const NodeCount& workers : placed.workers) {
      if (ps.node != workers.node) f(ps.node, workers.node, ps.count * workers.count);
    }
  }
}

double remote_share(const Placement& placed, const Law& law) {
  const auto workers = static_cast<double>(count_of(placed.workers));
  if (placed.ps.empty()) return 0;
  if (law.is_network_shared) {
    double pairs = 0;
    each_remote(placed, [&](std::size_t, std::size_t, std::int64_t count) {
      pairs += static_cast<double>(count);
    });
    return pairs / (workers * static_cast<double>(count_of(placed.ps)));
  }
  const auto most =
      std::max_element(placed.ps.begin(), placed.ps.end(),
                       [](const NodeCount& a, const NodeCount& b) { return a.count < b.count; });
  double near = 0;
  for (const NodeCount& here : placed.workers) {
    if (here.node == most->node) near = static_cast<double>(here.count);
  }
  return 1 - near / workers;
}

// Of each node: the sum of c over the remote pairs that touch it.
std::vector<double> crowds_of(const std::vector<Active>& jobs, std::size_t nodes) {
  std::vector<double> crowds(nodes, 0);
  for (const Active& active : jobs) {
    each_remote(*active.placed, [&](std::size_t a, std::size_t b, std::int64_t count) {
      const double traffic = active.job->slowdown * static_cast<double>(count);
      crowds[a] += traffic;
      crowds[b] += traffic;
    });
  }
  return crowds;
}

}  // namespace

double speed_of(const GroupJob& job, const Law& law, std::int64_t workers) {
  if (workers < 1) return 0;
  const double cores = cluster::policy::amount_of(job.worker_request, "cpu");
  return std::pow(cores, law.cores) * std::pow(static_cast<double>(workers), law.workers);
}

std::vector<double> rates_of(const std::vector<Active>& jobs, const Law& law, std::size_t nodes) {
  std::vector<double> crowds;
  if (law.is_network_shared) crowds = crowds_of(jobs, nodes);
  std::vector<double> rates;
  for (const Active& active : jobs) {
    const Placement& placed = *active.placed;
    const std::int64_t workers = count_of(placed.workers);
    if (workers < 1 || count_of(placed.ps) < active.job->ps) {
      rates.push_back(0);
      continue;
    }
    double load = 1;
    if (law.is_network_shared) {
      each_remote(placed, [&](std::size_t a, std::size_t b, std::int64_t) {
        load = std::max({load, crowds[a] / 2, crowds[b] / 2});
      });
    }
    const double lost = active.job->slowdown * remote_share(placed, law) * load;
    rates.push_back(speed_of(*active.job, law, workers) / (1 + lost));
  }
  return rates;
}

}  // namespace flowcon::sim::groups
