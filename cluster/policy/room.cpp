// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/room.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace flowcon::cluster::policy {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();
// What was put on a node one by one is more than it has by a tolerance and by what was rounded.
constexpr double kSlack = 1 + 1e-6;

// How many of them there is room for.
double count_in(const Amounts& idle, const AlikeTasks& tasks) {
  auto count = static_cast<double>(tasks.count);
  for (const auto& [kind, amount] : tasks.request) {
    if (!(amount > 0)) continue;
    const double has = std::max(amount_of(idle, kind), 0.0) + Room::kTolerance;
    count = std::min(count, std::floor(has / amount + Room::kTolerance));
  }
  return count;
}

}  // namespace

double amount_of(const Amounts& amounts, std::string_view kind) {
  for (const auto& [name, amount] : amounts) {
    if (name == kind) return amount;
  }
  return 0;
}

void add_kinds(std::vector<std::string_view>& kinds, const Amounts& request) {
  for (const auto& [kind, amount] : request) {
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
}

bool could_hold(const std::vector<const Amounts*>& idle, const AlikeTasks& workers,
                const AlikeTasks& ps) {
  for (const AlikeTasks* tasks : {&workers, &ps}) {
    auto left = static_cast<double>(tasks->count);
    for (auto node = idle.begin(); node != idle.end() && left > 0; ++node) {
      left -= count_in(**node, *tasks);
    }
    if (left > 0) return false;
  }
  return std::all_of(workers.request.begin(), workers.request.end(), [&](const auto& asked) {
    const double of_ps = std::max(amount_of(ps.request, asked.first), 0.0);
    double left = (static_cast<double>(workers.count) * std::max(asked.second, 0.0) +
                   static_cast<double>(ps.count) * of_ps) /
                  kSlack;
    for (auto node = idle.begin(); node != idle.end() && left > Room::kTolerance; ++node) {
      left -= std::max(amount_of(**node, asked.first), 0.0);
    }
    return left <= Room::kTolerance;
  });
}

Room::Room(const std::vector<QueueNode>& nodes, const std::vector<std::string_view>& kinds)
    : kinds_(kinds) {
  const auto add = [this](const Amounts& amounts) {
    for (const auto& [kind, amount] : amounts) {
      if (find(kind) == kinds_.size()) kinds_.push_back(kind);
    }
  };
  for (const QueueNode& node : nodes) {
    add(node.cap);
    add(node.idle);
  }
  const std::size_t width = kinds_.size();
  leaves_ = std::bit_ceil(std::max<std::size_t>(nodes.size(), 1));
  idle_.assign(nodes.size() * width, 0);
  changed_.assign(idle_.size(), false);
  most_.assign(2 * leaves_ * width, kNothing);
  total_.assign(2 * leaves_ * width, 0);
  caps_.resize(nodes.size());
  keys_.resize(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const auto& [kind, amount] : nodes[i].idle) idle_[i * width + find(kind)] = amount;
    for (const auto& [kind, amount] : nodes[i].cap) {
      if (amount > 0) caps_[i].emplace_back(find(kind), amount);
    }
    keys_[i] = key_of(i);
    order_.push_back(i);
    refresh(i);
  }
  stale_.clear();
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return comes_first(a, b); });
}

std::size_t Room::find(std::string_view kind) const {
  return static_cast<std::size_t>(std::find(kinds_.begin(), kinds_.end(), kind) - kinds_.begin());
}

Needs Room::needs_of(const Amounts& request) const {
  Needs needs;
  for (const auto& [kind, amount] : request) {
    if (amount > 0) needs.push_back({find(kind), amount});
  }
  std::sort(needs.begin(), needs.end(),
            [](const Need& a, const Need& b) { return a.kind < b.kind; });
  return needs;
}

bool Room::may_fit(const Needs& needs) const {
  return nodes() > 0 && fits(most_.data() + kinds(), needs);
}

bool Room::may_spread(const Needs& whole) const {
  const double* all = total_.data() + kinds();
  return nodes() > 0 && std::all_of(whole.begin(), whole.end(), [&](const Need& need) {
           return need.amount <= all[need.kind] * kSlack;
         });
}

std::size_t Room::first_fit(const Needs& needs, std::size_t from) const {
  if (from >= nodes()) return kNone;
  // A node that follows is often the one; else whole halves are left out by the most that is there.
  if (fits(from, needs)) return from;
  return may_fit(needs) ? find_under(1, needs, from + 1) : kNone;
}

// As deep as the tree.
std::size_t Room::find_under(std::size_t at, const Needs& needs, std::size_t from) const {
  const int below = std::countl_zero(at) - std::countl_zero(leaves_);  // levels down to the leaves
  const std::size_t first = (at << below) - leaves_;
  const std::size_t last = first + (std::size_t{1} << below);
  if (last <= from || !fits(most_.data() + at * kinds(), needs)) return kNone;
  // A leaf beyond the nodes has nothing idle, but where nothing is asked for it has that.
  if (at >= leaves_) return first < nodes() ? first : kNone;
  const std::size_t left = find_under(2 * at, needs, from);
  return left != kNone ? left : find_under(2 * at + 1, needs, from);
}

void Room::take(std::size_t node, const Needs& needs, std::int64_t count) {
  change(node, needs, count, -1);
}

void Room::give(std::size_t node, const Needs& needs, std::int64_t count) {
  change(node, needs, count, 1);
  given_.push_back(node);
}

void Room::give_back(std::size_t node, const Needs& needs, std::int64_t count) {
  change(node, needs, count, 1);
}

void Room::change(std::size_t node, const Needs& needs, std::int64_t count, double sign) {
  if (needs.empty() || count == 0 || !spend(count)) return;
  double* row = idle_.data() + node * kinds();
  for (const Need& need : needs) {
    // One by one, as each task comes or leaves by itself: the same idle amounts either way.
    for (std::int64_t i = 0; i < count; ++i) row[need.kind] += sign * need.amount;
    changed_[node * kinds() + need.kind] = true;
  }
  refresh(node);
}

// The tree above a node, and that its idleness has to be compared anew.
void Room::refresh(std::size_t node) {
  stale_.push_back(node);
  const std::size_t width = kinds();
  std::size_t at = leaves_ + node;
  for (std::size_t k = 0; k < width; ++k) {
    const double amount = idle_[node * width + k];
    most_[at * width + k] = amount;
    total_[at * width + k] = std::max(amount + kTolerance, 0.0);
  }
  for (at /= 2; at > 0; at /= 2) {
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t left = 2 * at * width + k;
      most_[at * width + k] = std::max(most_[left], most_[left + width]);
      total_[at * width + k] = total_[left] + total_[left + width];
    }
  }
}

double Room::key_of(std::size_t node) const {
  double sum = 0;
  for (const auto& [kind, cap] : caps_[node]) sum += idle(node)[kind] / cap;
  const double key = std::floor(sum * 1e9 + 0.5);
  return std::isnan(key) ? kNothing : key;
}

const std::vector<std::size_t>& Room::idlest_first() {
  const auto before = [this](std::size_t a, std::size_t b) { return comes_first(a, b); };
  for (const std::size_t node : stale_) {
    const double key = key_of(node);
    if (key == keys_[node]) continue;
    order_.erase(std::lower_bound(order_.begin(), order_.end(), node, before));
    keys_[node] = key;
    order_.insert(std::lower_bound(order_.begin(), order_.end(), node, before), node);
  }
  stale_.clear();
  return order_;
}

Amounts Room::listed(std::size_t node, const Amounts& idle_before) const {
  Amounts amounts = idle_before;
  const double* row = idle(node);
  std::vector<bool> is_new(changed_.begin() + static_cast<std::ptrdiff_t>(node * kinds()),
                           changed_.begin() + static_cast<std::ptrdiff_t>((node + 1) * kinds()));
  for (auto& [kind, amount] : amounts) {
    const std::size_t k = find(kind);
    amount = row[k];
    is_new[k] = false;
  }
  for (std::size_t k = 0; k < kinds(); ++k) {
    if (is_new[k]) amounts.emplace_back(kinds_[k], row[k]);
  }
  return amounts;
}

bool Room::spend(std::int64_t steps) {
  if (steps_left_ >= 0) steps_left_ -= steps;
  return steps_left_ >= 0;
}

std::int64_t count_of(const std::vector<NodeCount>& tasks) {
  std::int64_t count = 0;
  for (const NodeCount& here : tasks) count += here.count;
  return count;
}

std::int64_t count_on(const std::vector<NodeCount>& tasks, std::size_t node) {
  for (const NodeCount& one : tasks) {
    if (one.node == node) return one.count;
  }
  return 0;
}

void take_off(std::vector<NodeCount>& tasks, std::size_t node, std::int64_t count) {
  if (count <= 0) return;
  for (NodeCount& one : tasks) {
    if (one.node == node) one.count -= count;
  }
  std::erase_if(tasks, [](const NodeCount& one) { return one.count <= 0; });
}

void put_one(std::vector<NodeCount>& tasks, std::size_t node) {
  const auto at = std::lower_bound(tasks.begin(), tasks.end(), node,
                                   [](const NodeCount& a, std::size_t b) { return a.node < b; });
  if (at != tasks.end() && at->node == node) {
    ++at->count;
  } else {
    tasks.insert(at, {node, 1});
  }
}

}  // namespace flowcon::cluster::policy
