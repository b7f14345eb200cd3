// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/place_model.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace flowcon::cluster::policy {
namespace {

// The places of names in the order in which they are first asked for.
template <class Key>
std::size_t place_of(std::vector<Key>& names, std::unordered_map<Key, std::size_t>& places,
                     Key name) {
  const auto [at, is_new] = places.emplace(name, names.size());
  if (is_new) names.push_back(name);
  return at->second;
}

}  // namespace

void PlaceModel::read_tasks(const PlaceState& state, std::vector<std::string_view>& names) {
  std::unordered_map<std::string_view, std::size_t> kind_places;
  std::unordered_map<std::string_view, std::size_t> job_places;
  for (const PlaceTask& listed : state.tasks) {
    Task task;
    task.job = place_of<std::string_view>(job_ids, job_places, listed.job);
    task.is_ps = listed.role == TaskRole::ps;
    task.gpus = amount_of(listed.request, "gpu");
    for (const auto& [kind, amount] : listed.request) {
      if (amount > 0) {
        task.needs.push_back({place_of<std::string_view>(names, kind_places, kind), amount});
      }
    }
    if (task.job == jobs.size()) jobs.emplace_back();
    jobs[task.job].push_back(tasks.size());
    tasks.push_back(std::move(task));
  }
  for (const std::vector<std::size_t>& of_job : jobs) {
    const auto is_ps = [this](std::size_t task) { return tasks[task].is_ps; };
    const bool has_ps = std::any_of(of_job.begin(), of_job.end(), is_ps);
    if (state.hub && !has_ps) tasks[of_job.front()].is_ps = true;
  }
  kinds = names.size();
}

// Both ways; what no node or job of the state has is left out.
void PlaceModel::read_links(const PlaceState& state) {
  if (state.links.empty()) return;
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places.emplace(state.nodes[i].id, i);
  links.resize(nodes.size());
  constexpr double kNone = std::numeric_limits<double>::infinity();
  slowest = kNone;
  slowest_in_rack.assign(racks, kNone);
  for (const PlaceLink& link : state.links) {
    const auto a = places.find(link.a);
    const auto b = places.find(link.b);
    if (a == places.end() || b == places.end()) continue;
    links[a->second].push_back({b->second, link.bytes_per_s});
    links[b->second].push_back({a->second, link.bytes_per_s});
    slowest = std::min(slowest, link.bytes_per_s);
    double& of_rack = slowest_in_rack[nodes[a->second].rack];
    if (nodes[a->second].rack == nodes[b->second].rack) {
      of_rack = std::min(of_rack, link.bytes_per_s);
    }
  }
  for (double& of_rack : slowest_in_rack) of_rack = of_rack == kNone ? slowest : of_rack;
  for (std::vector<Link>& of_node : links) {
    std::sort(of_node.begin(), of_node.end(),
              [](const Link& a, const Link& b) { return a.to < b.to; });
  }
  std::unordered_map<std::string_view, double> of_job;
  for (const JobTraffic& listed : state.traffic) of_job.emplace(listed.job, listed.bytes_per_s);
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    const auto found = of_job.find(job_ids[job]);
    traffic[job] = found == of_job.end() ? 0 : found->second;
  }
}

double PlaceModel::bytes_per_s(std::size_t a, std::size_t b) const {
  const auto at = std::lower_bound(links[a].begin(), links[a].end(), b,
                                   [](const Link& link, std::size_t to) { return link.to < to; });
  return at != links[a].end() && at->to == b ? at->bytes_per_s : unmeasured(a, b);
}

PlaceModel::PlaceModel(const PlaceState& state) : lambda(state.lambda) {
  std::vector<std::string_view> names;
  read_tasks(state, names);
  traffic.assign(jobs.size(), 0);

  std::vector<std::string_view> domain_names;
  std::unordered_map<std::string_view, std::size_t> domain_places;
  std::vector<std::unordered_map<std::string_view, std::size_t>> rack_places;  // of each domain
  std::vector<double> rack_sizes;
  for (const PlaceNode& listed : state.nodes) {
    Node node;
    node.domain = place_of<std::string_view>(domain_names, domain_places, listed.domain);
    if (node.domain == domains.size()) {
      domains.emplace_back();
      rack_places.emplace_back();
    }
    node.rack = rack_places[node.domain].emplace(listed.rack, rack_sizes.size()).first->second;
    if (node.rack == rack_sizes.size()) rack_sizes.push_back(0);
    rack_sizes[node.rack] += 1;
    domains[node.domain].push_back(nodes.size());
    node.gpus = amount_of(listed.cap, "gpu");
    node.gpus_used = amount_of(listed.used, "gpu");
    nodes.push_back(node);
    for (const std::string_view kind : names) {
      cap.push_back(amount_of(listed.cap, kind));
      used.push_back(amount_of(listed.used, kind));
    }
  }
  racks = rack_sizes.size();
  for (Node& node : nodes) {
    node.rack_cost = rack_sizes[node.rack];
    node.domain_cost = static_cast<double>(domains[node.domain].size());
  }
  read_links(state);
}

}  // namespace flowcon::cluster::policy
