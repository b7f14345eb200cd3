// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/affinity.h"

#include <algorithm>
#include <vector>

namespace flowcon::cluster::policy {
namespace {

// How many of at most `most` tasks fit one after the other; they are taken from `idle`.
std::int64_t put(Room& room, std::vector<double>& idle, const Needs& needs, std::int64_t most) {
  if (needs.empty()) return most;
  std::int64_t count = 0;
  for (; count < most && Room::fits(idle.data(), needs) && room.spend(1); ++count) {
    for (const Need& need : needs) idle[need.kind] -= need.amount;
  }
  return count;
}

std::int64_t room_on(Room& room, std::size_t node, const Needs& needs, std::int64_t most) {
  std::vector<double> idle(room.idle(node), room.idle(node) + room.kinds());
  return put(room, idle, needs, most);
}

void sort_by_node(std::vector<NodeCount>& counts) {
  std::sort(counts.begin(), counts.end(),
            [](const NodeCount& a, const NodeCount& b) { return a.node < b.node; });
}

// How many of at most `most` tasks find room, with nothing else beside them.
std::int64_t room_for(Room& room, const Needs& needs, std::int64_t most) {
  std::int64_t count = 0;
  for (std::size_t node = room.first_fit(needs, 0); count < most && node != Room::kNone;
       node = room.first_fit(needs, node + 1)) {
    count += room_on(room, node, needs, most - count);
    if (room.is_exhausted()) break;
  }
  return count;
}

// False, and remembered, where so many tasks find no room.
bool has_room(Room& room, const Needs& needs, std::int64_t count, Refusals& refusals) {
  const std::int64_t found = room_for(room, needs, count);
  if (found < count) refusals.add(room, needs, count, found);
  return found >= count;
}

// Node by node, all or nothing.
std::optional<Placement> spread(Room& room, const Gang& gang,
                                const std::vector<std::size_t>& nodes) {
  Placement placement;
  std::int64_t ps = gang.ps;
  std::int64_t workers = gang.workers;
  std::vector<double> idle;
  for (const std::size_t node : nodes) {
    const bool ps_fits = ps > 0 && room.fits(node, gang.ps_needs);
    if (!ps_fits && !room.fits(node, gang.worker_needs)) continue;
    idle.assign(room.idle(node), room.idle(node) + room.kinds());
    const std::int64_t ps_here = put(room, idle, gang.ps_needs, ps);
    const std::int64_t workers_here = put(room, idle, gang.worker_needs, workers);
    if (ps_here > 0) placement.ps.push_back({node, ps_here});
    if (workers_here > 0) placement.workers.push_back({node, workers_here});
    ps -= ps_here;
    workers -= workers_here;
    if (ps > 0 || workers > 0) continue;
    sort_by_node(placement.ps);
    sort_by_node(placement.workers);
    return placement;
  }
  return std::nullopt;
}

// Does whatever has room for `more` have room for `less`?
bool is_less(const Needs& less, const Needs& more) {
  auto at = more.begin();
  for (const Need& need : less) {
    while (at != more.end() && at->kind < need.kind) ++at;
    if (at == more.end() || at->kind != need.kind || need.amount > at->amount) return false;
  }
  return true;
}

}  // namespace

Needs whole_of(const Gang& gang, std::size_t kinds) {
  std::vector<double> ps(kinds, 0);
  std::vector<double> workers(kinds, 0);
  for (const Need& need : gang.ps_needs) ps[need.kind] = static_cast<double>(gang.ps) * need.amount;
  for (const Need& need : gang.worker_needs) {
    workers[need.kind] = static_cast<double>(gang.workers) * need.amount;
  }
  Needs whole;
  for (std::size_t k = 0; k < kinds; ++k) {
    if (ps[k] + workers[k] > 0) whole.push_back({k, ps[k] + workers[k]});
  }
  return whole;
}

Placement whole_on(std::size_t node, const Gang& gang) {
  Placement placement;
  if (gang.ps > 0) placement.ps.push_back({node, gang.ps});
  if (gang.workers > 0) placement.workers.push_back({node, gang.workers});
  return placement;
}

void Refusals::catch_up(Room& room) {
  for (; seen_ < room.given().size(); ++seen_) {
    const std::size_t node = room.given()[seen_];
    std::erase_if(refused_, [&](Refused& refused) {
      if (!room.fits(node, refused.needs)) return false;
      refused.room += room_on(room, node, refused.needs, refused.count);
      return refused.room >= refused.count;
    });
  }
}

bool Refusals::covers(Room& room, const Needs& needs, std::int64_t count) {
  catch_up(room);
  return std::any_of(refused_.begin(), refused_.end(), [&](const Refused& refused) {
    return refused.count <= count && is_less(refused.needs, needs);
  });
}

void Refusals::add(Room& room, const Needs& needs, std::int64_t count, std::int64_t found) {
  constexpr std::size_t kMost = 64;  // beyond which looking here takes longer than trying
  if (covers(room, needs, count)) return;
  std::erase_if(refused_, [&](const Refused& refused) {
    return count <= refused.count && is_less(needs, refused.needs);
  });
  if (refused_.size() == kMost) refused_.erase(refused_.begin());
  refused_.push_back({needs, count, found});
}

std::optional<Placement> find_place(Room& room, const Gang& gang, Refusals& refusals) {
  if (gang.workers > 0 && !room.may_fit(gang.worker_needs)) return std::nullopt;
  if (gang.ps > 0 && !room.may_fit(gang.ps_needs)) return std::nullopt;
  if (!room.may_spread(gang.whole)) return std::nullopt;
  if (refusals.covers(room, gang.worker_needs, gang.workers)) return std::nullopt;
  if (gang.ps > 0 && refusals.covers(room, gang.ps_needs, gang.ps)) return std::nullopt;
  const std::vector<std::size_t>& nodes = room.idlest_first();
  if (room.may_fit(gang.whole) && !refusals.covers(room, gang.whole, 1)) {
    if (room.first_fit(gang.whole, 0) != Room::kNone) {
      return whole_on(*std::find_if(nodes.begin(), nodes.end(),
                                    [&](std::size_t node) { return room.fits(node, gang.whole); }),
                      gang);
    }
    refusals.add(room, gang.whole, 1);
  }
  if (gang.ps + gang.workers == 1) return std::nullopt;
  // Each kind of task alone, by the tree, since most that find no room do not even so.
  if (!has_room(room, gang.ps_needs, gang.ps, refusals)) return std::nullopt;
  if (!has_room(room, gang.worker_needs, gang.workers, refusals)) return std::nullopt;
  return spread(room, gang, nodes);
}

}  // namespace flowcon::cluster::policy
