// SPDX-License-Identifier: Apache-2.0
// What the nodes have idle while a decision of the queue takes from it and gives back. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flowcon::cluster::policy {

/// Amounts of resources by name, in the order they were listed: cores, bytes, GPUs, …
using Amounts = std::vector<std::pair<std::string, double>>;

/// The amount of a resource, 0 where it is not listed.
[[nodiscard]] double amount_of(const Amounts& amounts, std::string_view kind);
/// Adds the resources that `request` names to `kinds`, each once. They point into `request`.
void add_kinds(std::vector<std::string_view>& kinds, const Amounts& request);

/// A host that runs tasks: what it has, and what of that is idle.
struct QueueNode {
  std::string id;
  Amounts cap;
  Amounts idle;  ///< may be below 0: a host can be promised more than it has
};

/// So many tasks that request the same.
struct AlikeTasks {
  const Amounts& request;
  std::int64_t count = 0;
};
/// False only where nodes with this idle have no room for all of both, on several of them: for one
/// kind alone, or for what all request. It does not matter what goes beside what.
[[nodiscard]] bool could_hold(const std::vector<const Amounts*>& idle, const AlikeTasks& workers,
                              const AlikeTasks& ps);

/// So many tasks on a node, which is a place in the list of the nodes.
struct NodeCount {
  std::size_t node = 0;
  std::int64_t count = 0;
  [[nodiscard]] bool operator==(const NodeCount&) const = default;
};

/// All tasks of a list.
[[nodiscard]] std::int64_t count_of(const std::vector<NodeCount>& tasks);
/// Those of them on a node.
[[nodiscard]] std::int64_t count_on(const std::vector<NodeCount>& tasks, std::size_t node);
/// So many fewer on a node.
void take_off(std::vector<NodeCount>& tasks, std::size_t node, std::int64_t count);
/// One more on a node; the list stays in the order of the nodes.
void put_one(std::vector<NodeCount>& tasks, std::size_t node);

/// Where the tasks of a job are. Each list by node, without counts of 0.
struct Placement {
  std::vector<NodeCount> ps;
  std::vector<NodeCount> workers;
  [[nodiscard]] bool operator==(const Placement&) const = default;
};

/// What a task asks of one resource, always above 0.
struct Need {
  std::size_t kind = 0;
  double amount = 0;
};
using Needs = std::vector<Need>;

/// The idle amounts of all nodes. A request fits where each idle amount is at least the requested
/// one less 1e-9; what a node does not list it has 0 of.
class Room {
 public:
  static constexpr double kTolerance = 1e-9;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// `kinds`: the resources that any request names; those of the nodes come on top.
  Room(const std::vector<QueueNode>& nodes, const std::vector<std::string_view>& kinds);

  [[nodiscard]] std::size_t nodes() const { return keys_.size(); }
  [[nodiscard]] std::size_t kinds() const { return kinds_.size(); }

  /// What of a request counts: each amount above 0, by kind. The resources must be known.
  [[nodiscard]] Needs needs_of(const Amounts& request) const;

  /// The idle amounts of a node, one a kind.
  [[nodiscard]] const double* idle(std::size_t node) const { return idle_.data() + node * kinds(); }
  [[nodiscard]] const std::vector<double>& idle() const { return idle_; }
  [[nodiscard]] bool fits(std::size_t node, const Needs& needs) const {
    return fits(idle(node), needs);
  }
  [[nodiscard]] static bool fits(const double* idle, const Needs& needs) {
    for (const Need& need : needs) {
      if (!(idle[need.kind] >= need.amount - kTolerance)) return false;
    }
    return true;
  }

  /// The first node from `from` on where a task fits, or kNone.
  [[nodiscard]] std::size_t first_fit(const Needs& needs, std::size_t from) const;

  /// False only where no node has room for this.
  [[nodiscard]] bool may_fit(const Needs& needs) const;
  /// False only where all nodes together have less room than this.
  [[nodiscard]] bool may_spread(const Needs& whole) const;

  /// `count` tasks come to a node, or leave it, one after the other.
  void take(std::size_t node, const Needs& needs, std::int64_t count);
  void give(std::size_t node, const Needs& needs, std::int64_t count);
  /// Gives what was taken on trial: nothing fits that did not before.
  void give_back(std::size_t node, const Needs& needs, std::int64_t count);

  /// The nodes that got room back, in order: what did not fit there before may fit now.
  [[nodiscard]] const std::vector<std::size_t>& given() const { return given_; }

  /// All nodes, the idlest first: by the sum of idle / cap, compared as ⌊x·10⁹ + ½⌋, then as
  /// listed. Valid until the next change.
  [[nodiscard]] const std::vector<std::size_t>& idlest_first();

  /// The idle amounts as they were listed, with what has changed; kinds that a node did not list
  /// and that changed follow.
  [[nodiscard]] Amounts listed(std::size_t node, const Amounts& idle) const;

  /// Counts `steps` of work. False once a decision has taken more than a state of any use needs:
  /// requests of nearly nothing and counts without end.
  bool spend(std::int64_t steps);
  [[nodiscard]] bool is_exhausted() const { return steps_left_ < 0; }

 private:
  [[nodiscard]] std::size_t find(std::string_view kind) const;
  [[nodiscard]] double key_of(std::size_t node) const;
  [[nodiscard]] std::size_t find_under(std::size_t at, const Needs& needs, std::size_t from) const;
  void change(std::size_t node, const Needs& needs, std::int64_t count, double sign);
  void refresh(std::size_t node);
  [[nodiscard]] bool comes_first(std::size_t a, std::size_t b) const {
    return keys_[a] != keys_[b] ? keys_[a] > keys_[b] : a < b;
  }

  std::vector<std::string_view> kinds_;
  std::vector<double> idle_;                                       // a row of kinds a node
  std::vector<bool> changed_;                                      // of idle_
  std::vector<std::vector<std::pair<std::size_t, double>>> caps_;  // above 0, as listed
  std::size_t leaves_ = 1;
  std::vector<double> most_;   // tree over the nodes: the most of each kind that one node has idle
  std::vector<double> total_;  // and what all have together
  std::vector<double> keys_;   // idleness as it is compared
  std::vector<std::size_t> order_;
  std::vector<std::size_t> stale_;  // whose place in order_ may be another one
  std::vector<std::size_t> given_;
  std::int64_t steps_left_ = 100'000'000;
};

}  // namespace flowcon::cluster::policy
