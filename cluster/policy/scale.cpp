// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/scale.h"

#include <algorithm>
#include <cmath>

namespace flowcon::cluster::policy {
namespace {

auto at_node(std::vector<NodeCount>& counts, std::size_t node) {
  return std::lower_bound(counts.begin(), counts.end(), node,
                          [](const NodeCount& a, std::size_t b) { return a.node < b; });
}

bool is_spared(const QueuedGroup& group, const QueuedGroup& newcomer) {
  if (std::abs(group.weight - newcomer.weight) <= kSameWeight) return group.since < newcomer.since;
  return group.weight > newcomer.weight;
}

// A search for a node: what was taken off in thought stays off for all that follow.
class Search {
 public:
  Search(Room& room, const Needs& whole, bool check_after)
      : room_(room), whole_(whole), check_after_(check_after), idle_(room.idle()) {}

  // Whether taking off workers of this job makes room on one node.
  bool take_from(QueuedGroup& group) {
    std::int64_t may_give = group.workers - group.minimum.workers;
    for (const bool with_ps : {false, true}) {
      auto ps = group.placed.ps.begin();
      for (const NodeCount& here : group.placed.workers) {
        while (ps != group.placed.ps.end() && ps->node < here.node) ++ps;
        const bool has_ps = ps != group.placed.ps.end() && ps->node == here.node;
        if (has_ps != with_ps) continue;
        const Next next = take_from(group, here, may_give);
        if (next != Next::node) return next == Next::found;
      }
    }
    return false;
  }

  ScaleIn found;

 private:
  enum class Next { node, job, found };

  Next take_from(QueuedGroup& group, const NodeCount& here, std::int64_t& may_give) {
    double* idle = idle_.data() + here.node * room_.kinds();
    found.node = here.node;
    for (std::int64_t i = 0; i < here.count; ++i) {
      if (Room::fits(idle, whole_)) return Next::found;
      if (may_give <= 0 || !room_.spend(1)) return Next::job;
      for (const Need& need : group.minimum.worker_needs) idle[need.kind] += need.amount;
      found.removals.push_back({&group, here.node});
      --may_give;
    }
    return check_after_ && Room::fits(idle, whole_) ? Next::found : Next::node;
  }

  Room& room_;
  const Needs& whole_;
  const bool check_after_;
  std::vector<double> idle_;
};

}  // namespace

bool comes_before(const QueuedGroup& a, const QueuedGroup& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  if (a.since != b.since) return a.since < b.since;
  return a.id < b.id;
}

std::optional<ScaleIn> scale_in(Room& room, const std::vector<QueuedGroup*>& running,
                                const QueuedGroup& newcomer, const ScaleInOptions& options) {
  Search search(room, newcomer.minimum.whole, options.check_after);
  // From the end of the order by weight, but those that came at the same time by id still.
  for (auto end = running.end(); end != running.begin();) {
    auto begin = end - 1;
    while (begin != running.begin() && (*(begin - 1))->weight == (*begin)->weight &&
           (*(begin - 1))->since == (*begin)->since) {
      --begin;
    }
    for (auto each = begin; each != end; ++each) {
      if (is_spared(**each, newcomer) || !search.take_from(**each)) continue;
      ScaleIn& found = search.found;
      if (options.prune) {
        std::erase_if(found.removals,
                      [&](const Removal& removal) { return removal.node != found.node; });
      }
      return std::move(found);
    }
    end = begin;
  }
  return std::nullopt;
}

std::vector<NodeCount> scale_out(Room& room, QueuedGroup& group, Refusals& refusals) {
  std::vector<NodeCount> added;
  const Needs& needs = group.minimum.worker_needs;
  if (group.workers >= group.max || refusals.covers(room, needs, 1)) return added;
  for (std::size_t node = 0; group.workers < group.max; ++node) {
    node = room.first_fit(needs, node);
    if (node == Room::kNone) {
      refusals.add(room, needs, 1);
      break;
    }
    std::int64_t count = 0;
    for (; group.workers < group.max && room.fits(node, needs) && room.spend(100); ++count) {
      room.take(node, needs, 1);
      ++group.workers;
    }
    if (room.is_exhausted()) break;
    added.push_back({node, count});
    const auto here = at_node(group.placed.workers, node);
    if (here != group.placed.workers.end() && here->node == node) {
      here->count += count;
    } else {
      group.placed.workers.insert(here, {node, count});
    }
  }
  return added;
}

void remove_worker(QueuedGroup& group, std::size_t node) {
  const auto here = at_node(group.placed.workers, node);
  --group.workers;
  if (--here->count == 0) group.placed.workers.erase(here);
}

}  // namespace flowcon::cluster::policy
