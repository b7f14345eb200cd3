// SPDX-License-Identifier: Apache-2.0
#include "cluster/policy/left_queue.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "base/text.h"
#include "cluster/policy/affinity.h"
#include "cluster/policy/report.h"

namespace flowcon::cluster::policy {
namespace {

std::vector<std::string_view> requested_kinds(const LeftState& state) {
  std::vector<std::string_view> kinds;
  for (const LeftJob& job : state.jobs) {
    add_kinds(kinds, job.job.worker_request);
    add_kinds(kinds, job.job.ps_request);
  }
  return kinds;
}

// The node that its workers are near: the first with most of the parameter servers; of a job
// without any, with most of the workers.
std::size_t hub_of(const Placement& placed) {
  const auto& tasks = placed.ps.empty() ? placed.workers : placed.ps;
  const auto most =
      std::max_element(tasks.begin(), tasks.end(),
                       [](const NodeCount& a, const NodeCount& b) { return a.count < b.count; });
  return most == tasks.end() ? Room::kNone : most->node;
}

double median_of(const LeftState& state) {
  std::vector<double> totals = state.totals;
  double longest = 0;
  for (const LeftJob& job : state.jobs) {
    if (job.left) totals.push_back(*job.left + job.served);
    if (!job.left) longest = std::max(longest, job.served);
  }
  return median(std::move(totals)).value_or(longest);
}

struct Entry {
  const QueueJob* job = nullptr;
  double left = 0;
  double claim = 0;  // what the order goes by: it is not disturbed for less than that costs
  bool is_guess = false;
  bool is_starved = false;
  Gang gang;  // with the minimum of workers
  Placement placed;
};

bool comes_before(const Entry* a, const Entry* b) {
  if (a->is_starved != b->is_starved) return a->is_starved;
  if (!a->is_starved && a->claim != b->claim) return a->claim < b->claim;
  if (a->job->since != b->job->since) return a->job->since < b->job->since;
  return a->job->id < b->job->id;
}

LeftChange change_of(const Placement& before, const Placement& after) {
  if (before.workers.empty()) return after.workers.empty() ? LeftChange::wait : LeftChange::start;
  if (after.workers.empty()) return LeftChange::park;
  if (before == after) return LeftChange::keep;
  const bool stays =
      std::any_of(before.workers.begin(), before.workers.end(),
                  [&](const NodeCount& here) { return count_on(after.workers, here.node) > 0; });
  const bool is_there = before.ps.empty() ? stays : before.ps == after.ps;
  return is_there ? LeftChange::resize : LeftChange::move;
}

// The queue while job after job takes its place.
class LeftQueue {
 public:
  explicit LeftQueue(const LeftState& state)
      : state_(state),
        free_{Room(state.nodes, requested_kinds(state)), {}},
        idle_{free_.room, {}},
        soon_{free_.room, {}},
        cost_(state.gain * state.pause) {
    const double median = median_of(state);
    entries_.reserve(state.jobs.size());
    for (const LeftJob& job : state.jobs) {
      Entry entry;
      entry.job = &job.job;
      entry.left = job.left.value_or(guessed_left(job.served, median));
      entry.claim = entry.left - (job.job.placed.workers.empty() ? 0 : cost_);
      entry.is_guess = !job.left;
      entry.is_starved = job.waited > state.starve_limit;
      entry.gang.ps = job.job.ps;
      entry.gang.workers = job.job.min;
      entry.gang.ps_needs = free_.room.needs_of(job.job.ps_request);
      entry.gang.worker_needs = free_.room.needs_of(job.job.worker_request);
      entries_.push_back(std::move(entry));
    }
    for (Entry& entry : entries_) {
      give(free_.room, entry, entry.job->placed);
      order_.push_back(&entry);
    }
    for (std::size_t i = 0; i < state.soon.size(); ++i) {
      soon_.room.give(i, soon_.room.needs_of(state.soon[i]), 1);
      has_soon_ = has_soon_ || !state.soon[i].empty();
    }
    std::sort(order_.begin(), order_.end(), comes_before);
  }

  Result<LeftDecision> decide() {
    for (Entry* entry : order_) {
      if (!place(*entry)) return too_long(*entry);
    }
    if (const Entry* entry = grow()) return too_long(*entry);
    LeftDecision decision;
    for (const Entry* entry : order_) {
      decision.jobs.push_back({entry->job->id, entry->left, entry->is_guess, entry->is_starved,
                               change_of(entry->job->placed, entry->placed), entry->placed});
    }
    for (std::size_t i = 0; i < state_.nodes.size(); ++i) {
      decision.nodes.push_back({state_.nodes[i].id, free_.room.listed(i, state_.nodes[i].idle)});
    }
    return decision;
  }

 private:
  static constexpr std::int64_t kSteps = 100;  // of a million, for what is tried once

  struct Space {
    Room room;
    Refusals refusals;
  };

  static Error too_long(const Entry& entry) {
    return bad_input("max: job \"" + printable(entry.job->id, 40) +
                     "\" requests too little for its counts: more than a million workers");
  }

  static void take(Room& room, const Entry& entry, const Placement& placed) {
    for (const NodeCount& here : placed.ps) room.take(here.node, entry.gang.ps_needs, here.count);
    for (const NodeCount& here : placed.workers) {
      room.take(here.node, entry.gang.worker_needs, here.count);
    }
  }

  static void give(Room& room, const Entry& entry, const Placement& placed) {
    for (const NodeCount& here : placed.ps) room.give(here.node, entry.gang.ps_needs, here.count);
    for (const NodeCount& here : placed.workers) {
      room.give(here.node, entry.gang.worker_needs, here.count);
    }
  }

  static void give_back(Room& room, const Entry& entry, const Placement& tried) {
    for (const NodeCount& here : tried.ps) {
      room.give_back(here.node, entry.gang.ps_needs, here.count);
    }
    for (const NodeCount& here : tried.workers) {
      room.give_back(here.node, entry.gang.worker_needs, here.count);
    }
  }

  [[nodiscard]] double seconds(const Entry& entry, std::int64_t workers) const {
    const double share = static_cast<double>(entry.job->max) / static_cast<double>(workers);
    return entry.left * std::pow(share, state_.growth);
  }

  // To the end, at a place. Above 0: a job at its end would not care where it is.
  [[nodiscard]] double seconds(const Entry& entry, const Placement& placed) const {
    const std::int64_t workers = count_of(placed.workers);
    const auto remote = static_cast<double>(workers - count_on(placed.workers, hub_of(placed)));
    return std::max(seconds(entry, workers), 1e-9) *
           (1 + state_.network * remote / static_cast<double>(workers));
  }

  // The most workers for which the nodes together have room.
  static std::int64_t most_workers(const Room& room, const Entry& entry) {
    Gang gang = entry.gang;
    std::int64_t least = entry.job->min - 1;
    std::int64_t most = entry.job->max;
    while (least < most) {
      gang.workers = least + (most - least + 1) / 2;
      if (room.may_spread(whole_of(gang, room.kinds()))) {
        least = gang.workers;
      } else {
        most = gang.workers - 1;
      }
    }
    return least;
  }

  // The place that ends it first, with all tasks anew and at a cost, if that is before `before`.
  [[nodiscard]] std::optional<Placement> find_anew(Space& space, const Entry& entry, double cost,
                                                   double before) const {
    std::optional<Placement> best;
    double least = std::numeric_limits<double>::infinity();
    Gang gang = entry.gang;
    for (gang.workers = most_workers(space.room, entry); gang.workers >= entry.job->min;
         --gang.workers) {
      const double soonest = std::max(seconds(entry, gang.workers), 1e-9);  // on one node
      if (soonest >= least || soonest + cost >= before) break;
      if (!space.room.spend(kSteps)) break;
      gang.whole = whole_of(gang, space.room.kinds());
      std::optional<Placement> place = find_place(space.room, gang, space.refusals);
      if (!place || seconds(entry, *place) >= least) continue;
      least = seconds(entry, *place);
      best = std::move(place);
    }
    return best;
  }

  // What of its tasks finds room where it is; empty where that is less than the minimum.
  [[nodiscard]] std::optional<Placement> find_kept(const Entry& entry, bool grows) {
    Room& room = free_.room;
    Placement stays;
    const auto keep = [&room](const std::vector<NodeCount>& from, const Needs& needs,
                              std::vector<NodeCount>& to) {
      for (const NodeCount& here : from) {
        for (std::int64_t i = 0; i < here.count && room.fits(here.node, needs); ++i) {
          if (!room.spend(1)) break;
          room.take(here.node, needs, 1);
          put_one(to, here.node);
        }
      }
    };
    keep(entry.job->placed.ps, entry.gang.ps_needs, stays.ps);
    keep(entry.job->placed.workers, entry.gang.worker_needs, stays.workers);
    std::int64_t workers = count_of(stays.workers);
    for (; grows && workers > 0 && workers < entry.job->max && room.spend(kSteps); ++workers) {
      const std::size_t node = next_node(room, entry, stays);
      if (node == Room::kNone) break;
      room.take(node, entry.gang.worker_needs, 1);
      put_one(stays.workers, node);
    }
    give_back(room, entry, stays);
    if (count_of(stays.ps) < entry.job->ps || workers < entry.job->min) return std::nullopt;
    return stays;
  }

  // Where one more worker of a job goes: near it, else to the first node with room.
  static std::size_t next_node(const Room& room, const Entry& entry, const Placement& placed) {
    const std::size_t hub = hub_of(placed);
    if (hub != Room::kNone && room.fits(hub, entry.gang.worker_needs)) return hub;
    return room.first_fit(entry.gang.worker_needs, 0);
  }

  // Does it get room by itself, so that nobody need be disturbed for it? It has that then.
  bool awaits_room(const Entry& entry) {
    if (!has_soon_ || entry.is_starved) return false;
    const auto place = find_anew(soon_, entry, 0, std::numeric_limits<double>::infinity());
    if (place) take(soon_.room, entry, *place);
    return place.has_value();
  }

  // False once the decision has no end.
  bool place(Entry& entry) {
    std::optional<Placement> best;
    double least = std::numeric_limits<double>::infinity();
    const auto offer = [&](std::optional<Placement> place, double cost) {
      if (!place) return;
      const double end = seconds(entry, *place) + cost;
      if (end >= least) return;
      least = end;
      best = std::move(place);
    };
    const Placement& before = entry.job->placed;
    const bool runs = !before.workers.empty();
    if (runs) {
      std::optional<Placement> kept = find_kept(entry, false);
      const bool is_whole = kept == before;
      offer(std::move(kept), is_whole ? 0 : cost_);
      offer(find_kept(entry, true), cost_);
    }
    // Beside all that run, before any of them is disturbed.
    give(idle_.room, entry, before);
    give(soon_.room, entry, before);
    const double alone = runs ? cost_ : 0;
    offer(find_anew(idle_, entry, alone, least), alone);
    const bool waits = !runs && !best && awaits_room(entry);
    if (!waits) offer(find_anew(free_, entry, alone + cost_, least), alone + cost_);
    if (best) {
      take(free_.room, entry, *best);
      take(idle_.room, entry, *best);
      take(soon_.room, entry, *best);
      entry.placed = std::move(*best);
    }
    return !free_.room.is_exhausted() && !idle_.room.is_exhausted() && !soon_.room.is_exhausted();
  }

  // How much nearer one more worker brings the end of a job, per core. 0: it has none, or all.
  [[nodiscard]] double gain_per_core(const Entry& entry) const {
    const std::int64_t workers = count_of(entry.placed.workers);
    if (workers == 0 || workers >= entry.job->max) return 0;
    const double gain = seconds(entry, workers) - seconds(entry, workers + 1) - cost_;
    const double cores = amount_of(entry.job->worker_request, "cpu");
    return cores > 0 ? gain / cores : gain;
  }

  // Worker by worker to the job whose end moves most per core. No other's gain changes by that, and
  // where one finds no room it finds none later. The job at which the decision has no end, or null.
  const Entry* grow() {
    struct Offer {
      double per_core;
      std::size_t place;  // in order_
      bool operator<(const Offer& other) const {
        return per_core != other.per_core ? per_core < other.per_core : place > other.place;
      }
    };
    std::priority_queue<Offer> offers;
    const auto offer = [&](std::size_t place) {
      const double per_core = gain_per_core(*order_[place]);
      if (per_core > 0) offers.push({per_core, place});
    };
    for (std::size_t i = 0; i < order_.size(); ++i) offer(i);
    while (!offers.empty()) {
      const std::size_t place = offers.top().place;
      offers.pop();
      Entry& entry = *order_[place];
      const std::size_t node = next_node(free_.room, entry, entry.placed);
      if (node == Room::kNone) continue;
      free_.room.take(node, entry.gang.worker_needs, 1);
      put_one(entry.placed.workers, node);
      if (!free_.room.spend(kSteps)) return &entry;
      offer(place);
    }
    return nullptr;
  }

  const LeftState& state_;
  Space free_;  // what the jobs before leave
  Space idle_;  // the same beside what the others have
  Space soon_;  // the same once those have ended that end soon
  bool has_soon_ = false;
  const double cost_;
  std::vector<Entry> entries_;  // never moved: order_ points into it
  std::vector<Entry*> order_;
};

}  // namespace

const char* name(LeftChange change) {
  switch (change) {
    case LeftChange::wait:
      return "wait";
    case LeftChange::start:
      return "start";
    case LeftChange::keep:
      return "keep";
    case LeftChange::resize:
      return "resize";
    case LeftChange::move:
      return "move";
    case LeftChange::park:
      return "park";
  }
  return "";
}

double guessed_left(double served, double median) { return std::max(median - served, served / 2); }

Result<LeftDecision> decide_left(const LeftState& state) { return LeftQueue(state).decide(); }

}  // namespace flowcon::cluster::policy
