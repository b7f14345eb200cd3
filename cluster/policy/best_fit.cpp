// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/best_fit.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace flowcon::cluster::policy {
namespace {

constexpr double kSameScore = 1e-12;
constexpr double kNoRoom = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostOffers = 64;  // kept

bool are_alike(const PlaceModel::Task& a, const PlaceModel::Task& b) {
  return a.gpus == b.gpus && std::equal(a.needs.begin(), a.needs.end(), b.needs.begin(),
                                        b.needs.end(), [](const Need& one, const Need& other) {
                                          return one.kind == other.kind &&
                                                 one.amount == other.amount;
                                        });
}

}  // namespace

BestFit::BestFit(const PlaceModel& model, bool is_seeded, bool removes_used,
                 std::int64_t most_looks)
    : model_(model),
      is_seeded_(is_seeded),
      removes_used_(removes_used),
      looks_left_(most_looks),
      all_(model.nodes.size()),
      put_(model.nodes.size() * model.kinds, 0),
      gpus_put_(model.nodes.size(), 0),
      is_out_(model.domains.size(), false),
      on_node_(model.nodes.size()),
      in_rack_(model.racks),
      cost_to_(model.has_links() ? model.nodes.size() : 0) {
  std::iota(all_.begin(), all_.end(), std::size_t{0});
}

std::optional<JobPlaces> BestFit::place(std::size_t job) {
  find_offers(job);
  std::optional<JobPlaces> best = by_domains(job);
  for (std::size_t first = 0; is_seeded_ && first < model_.nodes.size(); ++first) {
    auto found = attempt(job, first);
    if (found && (!best || found->scores.back() < best->scores.back() - kSameScore)) {
      best = std::move(found);
    }
  }
  if (is_exhausted()) return std::nullopt;
  if (!best) return best;
  const std::vector<std::size_t>& tasks = model_.jobs[job];
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const PlaceModel::Task& task = model_.tasks[tasks[i]];
    for (const Need& need : task.needs)
      put_[best->nodes[i] * model_.kinds + need.kind] += need.amount;
    gpus_put_[best->nodes[i]] += task.gpus;
  }
  return best;
}

// Domains where it does not fit are left out until it fits or none is left.
std::optional<JobPlaces> BestFit::by_domains(std::size_t job) {
  is_out_.assign(model_.domains.size(), false);
  for (;;) {
    if (auto found = attempt(job, kNone)) return found;
    if (domain_ == kNone || is_exhausted()) return std::nullopt;
    is_out_[domain_] = true;
  }
}

// What nodes without tasks of the job offer to them: their fitness, the same for requests alike.
void BestFit::find_offers(std::size_t job) {
  offers_.clear();
  offer_of_.clear();
  std::vector<const PlaceModel::Task*> unlike;
  for (const std::size_t number : model_.jobs[job]) {
    const PlaceModel::Task& task = model_.tasks[number];
    std::size_t at = 0;
    while (at < unlike.size() && !are_alike(task, *unlike[at])) ++at;
    if (at == unlike.size() && at < kMostOffers) {
      unlike.push_back(&task);
      offers_.push_back(offer_for(task));
    }
    offer_of_.push_back(at);
  }
}

std::vector<double> BestFit::offer_for(const PlaceModel::Task& task) const {
  std::vector<double> offer(model_.nodes.size(), kNoRoom);
  for (std::size_t node = 0; node < offer.size(); ++node) {
    if (!model_.fits(node, put_.data() + node * model_.kinds, task.needs)) continue;
    offer[node] = model_.fitness(node, gpus_put_[node] + task.gpus);
  }
  return offer;
}

// All tasks of a job, the first one on `first` unless that is kNone. Leaves the room as it was, and
// the domain in which it was tried.
std::optional<JobPlaces> BestFit::attempt(std::size_t job, std::size_t first) {
  domain_ = kNone;
  job_ = job;
  JobPlaces places;
  for (std::size_t i = 0; i < model_.jobs[job].size(); ++i) {
    const PlaceModel::Task& task = model_.tasks[model_.jobs[job][i]];
    std::size_t node = kNone;
    if (i == 0 && first != kNone) {
      if (is_open(task, first)) node = first;
    } else if (!is_exhausted()) {
      if (model_.has_links()) reach_all();
      const std::size_t at = offer_of_[i];
      node = at < offers_.size() ? best_node(task, offers_[at]) : best_node(task, offer_for(task));
      looks_left_ -= static_cast<std::int64_t>(domain_ == kNone ? all_.size()
                                                                : model_.domains[domain_].size());
    }
    if (node == kNone) break;
    places.nodes.push_back(node);
    places.scores.push_back(score_with(task, node));
    put(task, node);
  }
  --looks_left_;
  take_back();
  if (places.nodes.size() < model_.jobs[job].size()) return std::nullopt;
  return places;
}

std::size_t BestFit::best_node(const PlaceModel::Task& task,
                               const std::vector<double>& offer) const {
  std::size_t best = kNone;
  double least = 0;
  for (const std::size_t node : domain_ == kNone ? all_ : model_.domains[domain_]) {
    if (domain_ == kNone && is_out_[model_.nodes[node].domain]) continue;
    double more = offer[node];  // fitness
    if (on_node_[node].any()) {
      if (!is_open(task, node)) continue;
      more =
          model_.fitness(node, gpus_put_[node] + task.gpus) - model_.fitness(node, gpus_put_[node]);
    } else if (more == kNoRoom) {
      continue;
    }
    const double score = model_.score(cost_ + cost_with(task, node), fitness_ + more);
    if (best != kNone && !(score < least - kSameScore)) continue;
    best = node;
    least = score;
  }
  return best;
}

bool BestFit::is_open(const PlaceModel::Task& task, std::size_t node) const {
  return !(removes_used_ && on_node_[node].any()) &&
         model_.fits(node, put_.data() + node * model_.kinds, task.needs);
}

double BestFit::score_with(const PlaceModel::Task& task, std::size_t node) const {
  return model_.score(cost_ + cost_with(task, node), fitness_with(node, task.gpus));
}

double BestFit::cost_with(const PlaceModel::Task& task, std::size_t node) const {
  const auto others = [&task](const Roles& roles) { return task.is_ps ? roles.workers : roles.ps; };
  if (model_.has_links()) return others(cost_to_[node]);
  const PlaceModel::Node& at = model_.nodes[node];
  const double here = others(on_node_[node]);
  const double rack = others(in_rack_[at.rack]);
  return (rack - here) * at.rack_cost + (others(placed_) - rack) * at.domain_cost;
}

// Of the job with `gpus` more on a node, summed anew in a fixed order: no error builds up.
double BestFit::fitness_with(std::size_t node, double gpus) const {
  if (!on_node_[node].any()) return fitness_ + model_.fitness(node, gpus_put_[node] + gpus);
  double sum = 0;
  for (const std::size_t own : own_nodes_) {
    sum += model_.fitness(own, gpus_put_[own] + (own == node ? gpus : 0));
  }
  return sum;
}

void BestFit::put(const PlaceModel::Task& task, std::size_t node) {
  double* row = put_.data() + node * model_.kinds;
  cost_ += cost_with(task, node);
  if (model_.has_links() && model_.traffic[task.job] > 0) unreached_.emplace_back(task.is_ps, node);
  if (!on_node_[node].any()) {
    own_nodes_.push_back(node);
    put_before_.insert(put_before_.end(), row, row + model_.kinds);
    gpus_before_.push_back(gpus_put_[node]);
  }
  for (const Need& need : task.needs) row[need.kind] += need.amount;
  gpus_put_[node] += task.gpus;
  domain_ = model_.nodes[node].domain;
  for (Roles* roles : {&on_node_[node], &in_rack_[model_.nodes[node].rack], &placed_}) {
    (task.is_ps ? roles->ps : roles->workers) += 1;
  }
  fitness_ = fitness_with(node, 0);
}

// Only once a further task asks: the last one of a job reaches nobody.
void BestFit::reach_all() {
  for (const auto& [is_ps, node] : unreached_) {
    const double traffic = model_.traffic[job_];
    const auto add = [&, is_ps = is_ps](std::size_t to, double bytes_per_s) {
      (is_ps ? cost_to_[to].ps : cost_to_[to].workers) += traffic / bytes_per_s;
    };
    auto link = model_.links[node].begin();
    for (std::size_t to = 0; to < cost_to_.size(); ++to) {
      const bool is_known = link != model_.links[node].end() && link->to == to;
      if (to != node) add(to, is_known ? link->bytes_per_s : model_.unmeasured(node, to));
      if (is_known) ++link;
    }
    looks_left_ -= static_cast<std::int64_t>(cost_to_.size());
    has_reached_ = true;
  }
  unreached_.clear();
}

void BestFit::take_back() {
  if (has_reached_) std::fill(cost_to_.begin(), cost_to_.end(), Roles());
  has_reached_ = false;
  unreached_.clear();
  for (std::size_t i = 0; i < own_nodes_.size(); ++i) {
    const std::size_t node = own_nodes_[i];
    std::copy_n(put_before_.begin() + static_cast<std::ptrdiff_t>(i * model_.kinds), model_.kinds,
                put_.begin() + static_cast<std::ptrdiff_t>(node * model_.kinds));
    gpus_put_[node] = gpus_before_[i];
    on_node_[node] = {};
    in_rack_[model_.nodes[node].rack] = {};
  }
  own_nodes_.clear();
  put_before_.clear();
  gpus_before_.clear();
  placed_ = {};
  cost_ = fitness_ = 0;
}

}  // namespace flowcon::cluster::policy
