// SPDX-License-Identifier: Apache-2.0
// A state of placement as numbers: nodes, tasks and jobs by their places in it. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "cluster/policy/place.h"

namespace flowcon::cluster::policy {

struct PlaceModel {
  explicit PlaceModel(const PlaceState& state);

  static constexpr double kTolerance = 1e-9;

  struct Task {
    std::size_t job = 0;
    bool is_ps = false;
    double gpus = 0;
    Needs needs;
  };
  struct Node {
    std::size_t rack = 0;
    std::size_t domain = 0;
    double rack_cost = 0;    ///< of a pair in its rack on two nodes: the nodes of the rack
    double domain_cost = 0;  ///< of a pair in its domain and two racks: the nodes of the domain
    double gpus = 0;
    double gpus_used = 0;
  };

  /// Does a task fit a node where `put`, a row of kinds, was put?
  [[nodiscard]] bool fits(std::size_t node, const double* put, const Needs& needs) const {
    const double* row_used = used.data() + node * kinds;
    const double* row_cap = cap.data() + node * kinds;
    for (const Need& need : needs) {
      const std::size_t k = need.kind;
      if (!(row_used[k] + put[k] + need.amount <= row_cap[k] + kTolerance)) return false;
    }
    return true;
  }
  /// Of a pair of a job on two nodes of one domain (Liquid, 2), with links by what is measured.
  [[nodiscard]] double cost(std::size_t job, std::size_t a, std::size_t b) const {
    if (a == b) return 0;
    if (has_links()) return traffic[job] / bytes_per_s(a, b);
    return nodes[a].rack == nodes[b].rack ? nodes[a].rack_cost : nodes[a].domain_cost;
  }
  [[nodiscard]] bool has_links() const { return !links.empty(); }
  /// Between two nodes; there must be links.
  [[nodiscard]] double bytes_per_s(std::size_t a, std::size_t b) const;
  /// The same where no link is known between them.
  [[nodiscard]] double unmeasured(std::size_t a, std::size_t b) const {
    return nodes[a].rack == nodes[b].rack ? slowest_in_rack[nodes[a].rack] : slowest;
  }
  /// Of a node where tasks of these calls have `gpus_put` (Liquid, 6).
  [[nodiscard]] double fitness(std::size_t node, double gpus_put) const {
    const Node& at = nodes[node];
    return at.gpus > 0 ? -(gpus_put + at.gpus_used) / at.gpus : 0;
  }
  /// Of a job (Liquid, 4).
  [[nodiscard]] double score(double cost, double fitness) const {
    return (lambda > 0 ? lambda * cost : 0) + (1 - lambda) * fitness;
  }

  double lambda = 0.5;
  std::size_t kinds = 0;  ///< resources that tasks request
  std::size_t racks = 0;
  std::vector<Node> nodes;
  std::vector<std::vector<std::size_t>> domains;  ///< their nodes, as listed
  std::vector<double> cap;                        ///< a row of kinds a node
  std::vector<double> used;
  std::vector<Task> tasks;
  std::vector<std::vector<std::size_t>> jobs;  ///< their tasks, as listed
  std::vector<std::string_view> job_ids;       ///< in the order of their first tasks
  std::vector<double> traffic;                 ///< of a pair of each job, bytes a second

  struct Link {
    std::size_t to = 0;
    double bytes_per_s = 0;
  };
  std::vector<std::vector<Link>> links;  ///< of each node, by `to`; empty where none is known
  std::vector<double> slowest_in_rack;
  double slowest = 0;  ///< of all

 private:
  void read_tasks(const PlaceState& state, std::vector<std::string_view>& names);
  void read_links(const PlaceState& state);
};

}  // namespace flowcon::cluster::policy
