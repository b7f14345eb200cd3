// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/orders.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cluster/policy/left_queue.h"
#include "cluster/queue/next_host.h"
#include "cluster/queue/obstacle.h"
#include "cluster/queue/starts.h"

namespace flowcon::cluster::queue {
namespace {

using policy::count_on;
using policy::NodeCount;
using policy::Placement;
using policy::take_off;

// Orders as they are made from a plan.
class Orders {
 public:
  Orders(const AllJobs& all, const policy::QueuePlan& plan, const Allocation* allocation,
         Places places)
      : all_(all), allocation_(allocation), places_(std::move(places)) {
    for (std::size_t i = 0; i < all.view.jobs.size(); ++i) by_id_[all.view.jobs[i].id] = i;
    for (const policy::QueueNode& node : all.view.nodes) idle_.push_back(node.idle);
    stand(plan);
    start(plan);
    const bool leaves = leave();
    if (allocation_ == nullptr && !leaves) park(plan);
    keep_range();
    if (allocation_ == nullptr) {
      take_workers(plan);
    } else if (!shrink(plan) && !leaves) {
      park(plan);
    }
    look_ahead();
    give_workers();
  }

  std::map<std::string, std::vector<JobOrder>> by_owner() {
    std::map<std::string, std::vector<JobOrder>> sorted;
    for (auto& [place, order] : made_) sorted[all_.known[place].owner].push_back(order);
    return sorted;
  }

 private:
  const policy::WaitingTask& task(std::size_t job) const { return all_.view.jobs[job]; }

  JobOrder& order_of(std::size_t job) {
    JobOrder& order = made_[job];
    order.job = id_at_owner(all_, job);
    return order;
  }

  // What is to be done with it, made from what is known of it.
  Order& give(std::size_t job, Order::Op op) {
    return order_of(job).order.emplace(Order{op, all_.known[job].version});
  }

  void stand(const policy::QueuePlan& plan) {
    std::size_t in_line = 0;
    for (const policy::QueuePlan::Standing& standing : plan.standings) {
      const auto found = by_id_.find(standing.job);
      if (found == by_id_.end()) continue;
      JobOrder& order = order_of(found->second);
      order.weight = standing.weight;
      order.is_starved = standing.is_starved;
      if (!all_.known[found->second].is_waiting) continue;
      order.place = ++in_line;
      // Nobody makes room for one that no host could hold.
      if (policy::could_ever_fit(all_.view, task(found->second))) waiting_.push_back(found->second);
      order.obstacle = obstacle_of(all_, found->second);
    }
  }

  void start(const policy::QueuePlan& plan) {
    for (const Start& one : starts_of(all_, plan, allocation_, places_, idle_)) {
      if (one.spot) order_start(one.job, *one.spot);
      if (!one.is_parked_for) continue;
      order_of(one.job).obstacle = "waits for a job that is being parked";
      std::erase(waiting_, one.job);
    }
  }

  void order_start(std::size_t job, const Spot& spot) {
    Order& order = give(job, Order::Op::start);
    if (all_.known[job].group) {
      order.places = places_in(spot);
    } else {
      order.host = all_.hosts[spot.placed.workers.front().node];
    }
    started_[job] = spot;
  }

  // The first worker is on the first one that has any.
  std::vector<TaskPlace> places_in(const Spot& spot) const {
    const Placement& placed = spot.placed;
    std::vector<std::size_t> nodes = nodes_of(placed);
    const auto hub = spot.hub ? std::find(nodes.begin(), nodes.end(), *spot.hub) : nodes.end();
    if (hub != nodes.end()) std::rotate(nodes.begin(), hub, hub + 1);
    std::vector<TaskPlace> places;
    for (const std::size_t node : nodes) {
      places.push_back(
          {all_.hosts[node], count_on(placed.workers, node), count_on(placed.ps, node)});
    }
    return places;
  }

  // A host that drains, whatever is planned and allocated; nobody starts again beside it.
  bool leave() {
    const auto leaves = [](const AllJobs::Known& job) { return job.is_to_leave; };
    const auto found = std::find_if(all_.known.begin(), all_.known.end(), leaves);
    if (found == all_.known.end()) return false;
    give(static_cast<std::size_t>(found - all_.known.begin()), Order::Op::park);
    has_restart_ = true;
    return true;
  }

  // That what others use leaves a job less than it asks for is no reason while nobody waits.
  void park(const policy::QueuePlan& plan) {
    const auto waits = [](const AllJobs::Known& job) { return job.is_waiting; };
    if (std::none_of(all_.known.begin(), all_.known.end(), waits)) return;
    for (const std::string& id : plan.parks) {
      const auto found = by_id_.find(id);
      if (found == by_id_.end()) continue;
      give(found->second, Order::Op::park);
      return;
    }
  }

  bool has_order(std::size_t job) const {
    const auto found = made_.find(job);
    return found != made_.end() && found->second.order.has_value();
  }

  // -------------------------------------------------------------------- more and fewer workers

  bool joins(std::size_t job) const {
    const std::optional<GroupShape>& group = all_.known[job].group;
    return group && ctrl::joins(group->elastic);
  }

  // One more, beside the others or, where it may be so, elsewhere. Source: KOD2, Algorithm 3.
  bool add_worker(std::size_t job, Placement& placed) {
    std::vector<std::size_t> nodes = nodes_of(placed);
    const std::optional<GroupShape>& group = all_.known[job].group;
    const bool is_bound = group && group->is_bound;
    std::erase_if(nodes, [&](std::size_t node) {
      return is_avoided(all_, job, node) || (is_bound && !may_go(all_, job, node));
    });
    const auto has_none = [&](std::size_t node) { return !fits(task(job).request, idle_[node]); };
    std::erase_if(nodes, has_none);
    if (nodes.empty() && task(job).may_spread) {
      for (std::size_t i = 0; i < idle_.size(); ++i) {
        if (!has_none(i) && may_go(all_, job, i)) nodes.push_back(i);
      }
      if (const auto hub = hub_of(job, placed)) places_.sort_by_distance(nodes, *hub);
    }
    if (nodes.empty()) return false;
    put_one(placed.workers, nodes.front());
    add(idle_[nodes.front()], task(job).request, -1);
    return true;
  }

  // Where its workers meet.
  std::optional<std::size_t> hub_of(std::size_t job, const Placement& placed) const {
    if (!placed.ps.empty()) return placed.ps.front().node;
    const auto started = started_.find(job);
    return started == started_.end() ? all_.known[job].first : started->second.hub;
  }

  // As many as a person has said since: those beyond go, those that are missing come where there is
  // room, whoever waits.
  void keep_range() {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const std::optional<GroupShape>& group = all_.known[job].group;
      const bool is_fixed = !group || group->elastic == ctrl::Elastic::no;
      if (is_fixed || all_.known[job].is_waiting || has_order(job)) continue;
      if (!joins(job) && !may_change(all_, job)) continue;
      const std::vector<policy::Amounts> idle = idle_;
      Placement placed = task(job).placed;
      std::int64_t workers = policy::count_of(placed.workers);
      for (std::size_t node = idle_.size(); node-- > 0 && workers > group->range.most;) {
        const std::int64_t surplus =
            std::min(workers - group->range.most, may_leave(job, placed.workers, node));
        take_off(placed.workers, node, surplus);
        workers -= std::max<std::int64_t>(surplus, 0);
      }
      for (; workers < group->range.least && add_worker(job, placed); ++workers) {
      }
      // One that starts again does so for all of them: with a part it would wait for the rest.
      const bool is_there = workers >= group->range.least;
      const bool is_better = workers != policy::count_of(task(job).placed.workers);
      if (is_better && (joins(job) || is_there)) {
        change_size(job, placed);
      } else {
        idle_ = idle;
      }
    }
  }

  // The first worker stays: others meet at it, and what it has written is what comes home.
  std::int64_t may_leave(std::size_t job, const std::vector<NodeCount>& workers,
                         std::size_t node) const {
    return count_on(workers, node) - (all_.known[job].first == node ? 1 : 0);
  }

  // One that starts again does so alone: what comes of it is known when it has.
  void change_size(std::size_t job, const Placement& placed) {
    const bool is_busy = has_restart_ || (allocation_ != nullptr && allocation_->is_held);
    if (!joins(job) && is_busy) return;
    has_restart_ = has_restart_ || !joins(job);
    Order& order = give(job, joins(job) ? Order::Op::resize : Order::Op::park);
    if (joins(job)) {
      order.places = places_in({placed, {}});
    } else {
      order.workers = policy::count_of(placed.workers);
    }
  }

  // ------------------------------------------------------- workers for one that waits

  // How many workers it keeps at least.
  using Least = std::map<std::size_t, std::int64_t>;

  // Workers that running groups can do without there, one after the other; empty where what comes
  // free then is too little.
  std::map<std::size_t, std::int64_t> workers_for(std::size_t newcomer, std::size_t node,
                                                  const std::vector<std::size_t>& givers,
                                                  const Least& least) const {
    std::map<std::size_t, std::int64_t> taken;
    policy::Amounts idle = idle_[node];
    const policy::Amounts request = whole_request(task(newcomer));
    for (const std::size_t giver : givers) {
      const std::vector<NodeCount>& workers = task(giver).placed.workers;
      std::int64_t left = policy::count_of(workers) - least.at(giver);
      for (left = std::min(left, may_leave(giver, workers, node)); left > 0; --left) {
        if (fits(request, idle)) return taken;
        add(idle, task(giver).request, 1);
        ++taken[giver];
      }
    }
    if (!fits(request, idle)) taken.clear();
    return taken;
  }

  // For one that may be on several hosts: wherever it may go, one after the other.
  bool make_room_together(std::size_t newcomer, const std::vector<std::size_t>& givers,
                          const Least& least, std::map<std::size_t, Placement>& changed) {
    const std::vector<policy::Amounts> before = idle_;
    std::map<std::size_t, Placement> taken;
    bool has_place = false;
    for (const std::size_t giver : givers) {
      Placement placed = task(giver).placed;
      std::int64_t left = policy::count_of(placed.workers) - least.at(giver);
      for (std::size_t node = idle_.size(); node-- > 0 && !has_place;) {
        if (!may_go(all_, newcomer, node)) continue;
        for (; left > 0 && may_leave(giver, placed.workers, node) > 0 && !has_place; --left) {
          take_off(placed.workers, node, 1);
          add(idle_[node], task(giver).request, 1);
          taken[giver] = placed;
          has_place = places_.find(newcomer, idle_).has_value();
        }
      }
    }
    idle_ = before;
    if (!has_place) return false;
    changed = std::move(taken);
    return true;
  }

  // Where the fewest have to go. They are taken off `changed`.
  bool make_room(std::size_t newcomer, const std::vector<std::size_t>& givers, const Least& least,
                 std::map<std::size_t, Placement>& changed) {
    std::map<std::size_t, std::int64_t> fewest;
    std::size_t there = 0;
    const auto sum = [](const auto& of) {
      std::int64_t all = 0;
      for (const auto& [job, count] : of) all += count;
      return all;
    };
    for (std::size_t node = 0; node < idle_.size(); ++node) {
      if (!may_go(all_, newcomer, node)) continue;
      auto taken = workers_for(newcomer, node, givers, least);
      if (taken.empty() || (!fewest.empty() && sum(taken) >= sum(fewest))) continue;
      fewest = std::move(taken);
      there = node;
    }
    for (const auto& [job, count] : fewest) {
      Placement placed = task(job).placed;
      take_off(placed.workers, there, count);
      changed[job] = std::move(placed);
    }
    const bool is_made = !fewest.empty() || (task(newcomer).may_spread &&
                                             make_room_together(newcomer, givers, least, changed));
    if (is_made) order_of(newcomer).obstacle = "waits for workers that leave";
    return is_made;
  }

  // For the first one that waits; it starts when they have gone. Source: KOD2, Algorithm 2.
  bool take_workers(const policy::QueuePlan& plan) {
    std::erase_if(waiting_, [&](std::size_t job) { return made_[job].order.has_value(); });
    if (waiting_.empty() || all_.is_settling) return false;
    std::vector<std::size_t> givers;
    Least least;
    for (const std::string& id : plan.givers) {
      const auto found = by_id_.find(id);
      if (found == by_id_.end() || !joins(found->second) || has_order(found->second)) continue;
      givers.push_back(found->second);
      least[found->second] = all_.known[found->second].group->range.least;
    }
    std::map<std::size_t, Placement> changed;
    has_taken_ = make_room(waiting_.front(), givers, least, changed);
    for (const auto& [job, placed] : changed) change_size(job, placed);
    return has_taken_;
  }

  // ----------------------------------------------------------------- as it is allocated

  std::optional<std::int64_t> allocated(std::size_t job) const {
    if (allocation_ == nullptr) return {};
    const auto found = allocation_->workers.find(task(job).id);
    if (found == allocation_->workers.end() || !all_.known[job].group) return {};
    const ctrl::WorkerRange range = all_.known[job].group->range;
    return std::clamp(found->second, range.least, range.most);
  }

  // Does it find room on a host, or on several?
  bool has_room(std::size_t job) const {
    for (std::size_t node = 0; node < idle_.size(); ++node) {
      if (may_go(all_, job, node) && fits(whole_request(task(job)), idle_[node])) return true;
    }
    return task(job).may_spread && places_.find(job, idle_).has_value();
  }

  bool does_any_grow() const {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const auto workers = allocated(job);
      if (workers && *workers > policy::count_of(task(job).placed.workers)) return true;
    }
    return false;
  }

  // Workers beyond what is allocated go, first where the first one that waits needs them. Where
  // what is allocated leaves its room on several hosts others go, too, down to their least; where
  // nothing is allocated to any that waits, KOD2's rule holds.
  bool shrink(const policy::QueuePlan& plan) {
    std::erase_if(waiting_, [&](std::size_t job) { return made_[job].order.has_value(); });
    if (all_.is_settling || allocation_->is_held) return true;
    std::vector<std::size_t> givers;
    Least allowed, least;
    const bool is_wanted = !waiting_.empty() || does_any_grow();
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const auto workers = allocated(job);
      if (!workers || !may_change(all_, job) || has_order(job)) continue;
      givers.push_back(job);
      least[job] = all_.known[job].group->range.least;
      allowed[job] = std::max(*workers, least[job]);
      // Numbers are allocated in powers of two. One that lost a worker stays between two of them
      // as long as nobody else has use for the room.
      const std::int64_t there = policy::count_of(task(job).placed.workers);
      const bool is_between = there > *workers && there < 2 * *workers;
      if (!is_wanted && is_between && there <= all_.known[job].group->range.most) {
        allowed[job] = there;
      }
    }
    std::map<std::size_t, Placement> changed;
    // The first one that can have its room; what is admitted and cannot is nobody's concern.
    for (const std::size_t job : waiting_) {
      if (!makes_room_for(allocation_, task(job).id)) {
        if (made_[job].is_starved) break;  // nobody may come before it
        continue;
      }
      next_ = job;
      if (has_room(job) || make_room(job, givers, allowed, changed)) break;
      if (make_room(job, givers, least, changed)) break;
      next_.reset();
    }
    const bool has_taken = !next_ && take_workers(plan);
    for (const std::size_t job : givers) {
      if (has_order(job)) continue;
      const auto found = changed.find(job);
      Placement placed = found == changed.end() ? task(job).placed : found->second;
      std::int64_t surplus = policy::count_of(placed.workers) - allowed[job];
      for (std::size_t node = idle_.size(); node-- > 0 && surplus > 0;) {
        const std::int64_t here = std::min(surplus, may_leave(job, placed.workers, node));
        take_off(placed.workers, node, here);
        surplus -= std::max<std::int64_t>(here, 0);
      }
      if (policy::count_of(placed.workers) == policy::count_of(task(job).placed.workers)) continue;
      changed[job] = placed;
      change_size(job, placed);
    }
    return has_taken || !changed.empty();
  }

  // With how many it is to be now. Room that somebody waits for is nobody else's.
  std::int64_t most_of(std::size_t job) const {
    const auto workers = allocated(job);
    if (workers && started_.contains(job)) return *workers;
    const bool are_leaving = !waiting_.empty() && (has_taken_ || all_.is_settling);
    const bool is_wanted = allocation_ == nullptr
                               ? !waiting_.empty()
                               : next_.has_value() || are_leaving || allocation_->is_held;
    if (is_wanted) return 0;
    if (workers) return *workers;
    return waiting_.empty() ? all_.known[job].group->range.most : 0;
  }

  void give_workers() {
    for (auto& [job, order] : made_) {
      const std::optional<GroupShape>& group = all_.known[job].group;
      const auto started = started_.find(job);
      const bool starts = started != started_.end();
      const bool may_grow = group && (starts || (!order.order && !all_.known[job].is_waiting &&
                                                 group->elastic != ctrl::Elastic::no));
      if (!may_grow || all_.known[job].is_to_leave) continue;
      Spot spot = starts ? started->second : Spot{task(job).placed, {}};
      Placement& placed = spot.placed;
      const std::vector<policy::Amounts> before = idle_;
      const std::int64_t had = policy::count_of(placed.workers);
      const std::int64_t most = most_of(job);
      std::int64_t workers = had;
      for (; workers < most && add_worker(job, placed); ++workers) {
      }
      if (!joins(job)) workers = trim(job, placed, workers, most);
      if (workers > had && starts) {
        order.order->places = places_in(spot);
      } else if (workers > had && is_worth_it(job, workers)) {
        change_size(job, placed);
      } else {
        idle_ = before;
      }
    }
  }

  // One that starts again has as many as there is room for, by powers of two where it is allocated.
  std::int64_t trim(std::size_t job, Placement& placed, std::int64_t workers, std::int64_t most) {
    if (!allocated(job) || workers >= most || workers <= task(job).workers) return workers;
    const auto fewer = static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(workers, 1))));
    for (std::int64_t surplus = workers - std::max(fewer, task(job).workers); surplus > 0;
         --surplus) {
      auto last = placed.workers.end() - 1;
      const bool is_hub = hub_of(job, placed) == last->node;  // which stays
      if (is_hub && placed.workers.size() > 1) --last;
      const std::size_t node = last->node;
      take_off(placed.workers, node, 1);
      add(idle_[node], task(job).request, 1);
    }
    return std::max(fewer, task(job).workers);
  }

  // One that has to start again for more workers must win what that costs, several times over,
  // unless whoever allocates has thought of it; n workers do n^growth times the work of one
  // (LeftState).
  bool is_worth_it(std::size_t job, std::int64_t workers) const {
    if (joins(job)) return true;
    if (workers < all_.known[job].group->range.least) return false;
    if (allocated(job) && allocation_->knows_pauses) return may_change(all_, job);
    const policy::WaitingTask& seen = task(job);
    if (!seen.is_parkable || !seen.left) return false;
    const policy::LeftState usual;
    const double ratio =
        static_cast<double>(policy::count_of(seen.placed.workers)) / static_cast<double>(workers);
    return *seen.left * (1 - std::pow(ratio, usual.growth)) >= usual.gain * all_.view.pause;
  }

  // On another host, where nothing has to be sent to.
  bool has_all_there(const NextHost& next) const {
    const AllJobs::Known& job = all_.known[next.job];
    const bool is_known = job.freight && job.sent_to.empty();
    return is_known && all_.hosts[next.node] != job.owner &&
           seconds_to(all_, next.job, next.node) <= 0;
  }

  // Of those that go on waiting.
  void look_ahead() {
    for (const NextHost& next : next_hosts(all_, waiting_, idle_)) {
      JobOrder& order = order_of(next.job);
      order.obstacle = kNextOn + all_.view.nodes[next.node].id + " in about " +
                       rough(next.seconds) +
                       (has_all_there(next) ? "; image and data are there" : "");
      order.early_in = next.early_in;
      const bool begins = next.early_in && *next.early_in <= 0;
      if (!begins && !next.is_due) continue;
      Order& given = give(next.job, begins ? Order::Op::start : Order::Op::send);
      given.host = all_.hosts[next.node];
      given.is_early = begins;
      if (begins) add(idle_[next.node], whole_request(task(next.job)), -1);
    }
  }

  const AllJobs& all_;
  const Allocation* allocation_;
  Places places_;
  std::map<std::string, std::size_t> by_id_;
  std::vector<std::size_t> waiting_;  // in their order
  std::vector<policy::Amounts> idle_;
  std::map<std::size_t, JobOrder> made_;
  std::map<std::size_t, Spot> started_;
  std::optional<std::size_t> next_;  // that is admitted, and waits for workers to leave
  bool has_taken_ = false;           // workers, for the first one that waits
  bool has_restart_ = false;         // one is asked to start again, or to leave its host
};

}  // namespace

std::map<std::string, std::vector<JobOrder>> orders_of(const AllJobs& all,
                                                       const policy::QueuePlan& plan,
                                                       const Allocation* allocation,
                                                       const PlacePolicyKind& place,
                                                       std::vector<PlaceRound>* rounds) {
  return Orders(all, plan, allocation, Places(all, place, rounds)).by_owner();
}

}  // namespace flowcon::cluster::queue
