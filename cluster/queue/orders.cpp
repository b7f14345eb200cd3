// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/orders.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/json.h"
#include "cluster/policy/affinity.h"
#include "cluster/policy/left_queue.h"
#include "cluster/queue/next_host.h"

namespace flowcon::cluster::queue {
namespace {

using policy::NodeCount;
using policy::Placement;

constexpr double kSame = 1;  // seconds that decide nothing

void take(policy::Amounts& idle, const policy::Amounts& request) { add(idle, request, -1); }

// "1.5 cores and 2048 MiB of memory"; what it lacks.
std::string lack_of(const policy::Amounts& request, const policy::Amounts& idle) {
  std::string lacks;
  const double cores = policy::amount_of(request, "cpu") - policy::amount_of(idle, "cpu");
  const double bytes = policy::amount_of(request, "mem") - policy::amount_of(idle, "mem");
  const auto one_digit = [](double number) { return render_number(std::ceil(number * 10) / 10); };
  if (cores > policy::Room::kTolerance) {
    lacks = one_digit(cores) + (cores <= 1 && cores > 0.9 ? " core" : " cores");
  }
  if (bytes > policy::Room::kTolerance) {
    const double gibibytes = bytes / (1024.0 * 1024 * 1024);
    lacks += (lacks.empty() ? "" : " and ") +
             (gibibytes >= 1 ? one_digit(gibibytes) + " GiB"
                             : render_number(std::ceil(bytes / 1048576)) + " MiB") +
             " of memory";
  }
  return lacks;
}

// "40 s", "2 min", "1.5 h".
std::string rough(double seconds) {
  if (seconds < 90) return render_number(std::ceil(seconds)) + " s";
  if (seconds < 5400) return render_number(std::round(seconds / 60)) + " min";
  return render_number(std::round(seconds / 360) / 10) + " h";
}

// How far a node is from having room, as a share of what it has.
double distance(const policy::Amounts& request, const policy::QueueNode& node) {
  double all = 0;
  for (const auto& [kind, asked] : request) {
    const double cap = policy::amount_of(node.cap, kind);
    const double lack = asked - policy::amount_of(node.idle, kind);
    if (lack > 0) all += cap > 0 ? lack / cap : std::numeric_limits<double>::infinity();
  }
  return all;
}

std::string obstacle_of(const AllJobs& all, std::size_t job) {
  const policy::QueueView& view = all.view;
  const policy::WaitingTask& task = view.jobs[job];
  const policy::Amounts request = whole_request(task);
  const policy::QueueNode* nearest = nullptr;
  policy::QueueNode together;
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const policy::QueueNode& node = view.nodes[i];
    const bool is_nearer =
        nearest == nullptr || distance(request, node) < distance(request, *nearest);
    if (is_nearer && fits(request, node.cap)) nearest = &node;
    if (!task.may_spread || !may_go(all, job, i)) continue;
    if (together.cap.empty()) {
      together = node;
      continue;
    }
    add(together.cap, node.cap, 1);
    add(together.idle, node.idle, 1);
  }
  if (nearest == nullptr && !fits(request, together.cap)) {
    return "no host that is heard could hold it: it asks for " +
           lack_of(request, {{"cpu", 0}, {"mem", 0}});
  }
  const std::string lacks = lack_of(request, nearest == nullptr ? together.idle : nearest->idle);
  if (lacks.empty()) return "waits for jobs before it";
  if (view.nodes.size() == 1) return "waits for " + lacks;
  return "waits for " + lacks + (nearest == nullptr ? " on several hosts" : " on " + nearest->id);
}

std::int64_t count_on(const std::vector<NodeCount>& tasks, std::size_t node) {
  for (const NodeCount& one : tasks) {
    if (one.node == node) return one.count;
  }
  return 0;
}

// So many fewer there.
void take_off(std::vector<NodeCount>& tasks, std::size_t node, std::int64_t count) {
  if (count <= 0) return;
  for (NodeCount& one : tasks) {
    if (one.node == node) one.count -= count;
  }
  std::erase_if(tasks, [](const NodeCount& one) { return one.count <= 0; });
}

// Orders as they are made from a plan.
class Orders {
 public:
  Orders(const AllJobs& all, const policy::QueuePlan& plan, const Allocation* allocation)
      : all_(all), allocation_(allocation) {
    for (std::size_t i = 0; i < all.view.jobs.size(); ++i) places_[all.view.jobs[i].id] = i;
    for (const policy::QueueNode& node : all.view.nodes) idle_.push_back(node.idle);
    stand(plan);
    start(plan);
    if (allocation_ == nullptr) park(plan);
    keep_range();
    if (allocation_ == nullptr) {
      take_workers(plan);
    } else if (!shrink()) {
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
    order.job = task(job).id;
    return order;
  }

  // What is to be done with it, made from what is known of it.
  Order& give(std::size_t job, Order::Op op) {
    return order_of(job).order.emplace(Order{op, all_.known[job].version});
  }

  void stand(const policy::QueuePlan& plan) {
    std::size_t in_line = 0;
    for (const policy::QueuePlan::Standing& standing : plan.standings) {
      const auto found = places_.find(standing.job);
      if (found == places_.end()) continue;
      JobOrder& order = order_of(found->second);
      order.weight = standing.weight;
      order.is_starved = standing.is_starved;
      if (!all_.known[found->second].is_waiting) continue;
      order.place = ++in_line;
      waiting_.push_back(found->second);
      order.obstacle = obstacle_of(all_, found->second);
    }
  }

  // ------------------------------------------------------------------------------ starts

  // Of a job that is to start as a whole there. Empty: it has to wait for that room.
  std::optional<std::size_t> room_for(std::size_t job, std::size_t node) const {
    const policy::Amounts request = whole_request(task(job));
    const auto takes = [&](std::size_t i) {
      return fits(request, idle_[i]) && may_go(all_, job, i);
    };
    std::optional<std::size_t> best;
    if (takes(node)) {
      best = node;
    } else if (may_go(all_, job, node)) {
      return {};
    }
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (!takes(i)) continue;
      if (all_.hosts[i] == all_.known[job].sent_to) return i;
      if (!best || seconds_to(all_, job, i) + kSame < seconds_to(all_, job, *best)) best = i;
    }
    return best;
  }

  policy::Amounts part_of(std::size_t job, const Placement& placed, std::size_t node) const {
    return policy::sum_of(task(job), count_on(placed.workers, node), count_on(placed.ps, node));
  }

  // On the hosts that take it: one of them, else the idlest first.
  std::optional<Placement> spread(std::size_t job) const {
    std::vector<std::size_t> nodes;
    std::vector<policy::QueueNode> offered;
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (!may_go(all_, job, i)) continue;
      nodes.push_back(i);
      offered.push_back({all_.hosts[i], all_.view.nodes[i].cap, idle_[i]});
    }
    std::vector<std::string_view> kinds;
    for (const auto& [kind, amount] : task(job).request) kinds.push_back(kind);
    policy::Room room(offered, kinds);
    policy::Gang gang{room.needs_of(task(job).ps_request),
                      room.needs_of(task(job).request),
                      task(job).ps,
                      task(job).workers,
                      {}};
    gang.whole = policy::whole_of(gang, room.kinds());
    policy::Refusals refusals;
    std::optional<Placement> placed = policy::find_place(room, gang, refusals);
    if (!placed) return {};
    for (auto* tasks : {&placed->ps, &placed->workers}) {
      for (NodeCount& one : *tasks) one.node = nodes[one.node];
    }
    return placed;
  }

  bool may_all_go(std::size_t job, const Placement& planned) const {
    const std::vector<std::size_t> nodes = nodes_of(planned);
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](std::size_t node) { return may_go(all_, job, node); });
  }

  // Where it starts, of what is planned. Empty: it has to wait for that room.
  std::optional<Placement> place_for(std::size_t job, const Placement& planned) const {
    const std::vector<std::size_t> nodes = nodes_of(planned);
    const bool may_all = may_all_go(job, planned);
    if (nodes.size() == 1) {
      const auto node = room_for(job, nodes.front());
      if (node) return policy::whole_on(*node, task(job));
    } else if (may_all && std::all_of(nodes.begin(), nodes.end(), [&](std::size_t node) {
                 return fits(part_of(job, planned, node), idle_[node]);
               })) {
      return planned;
    }
    return may_all || !task(job).may_spread ? std::nullopt : spread(job);
  }

  void take_all(std::size_t job, const Placement& placed) {
    for (const std::size_t node : nodes_of(placed)) take(idle_[node], part_of(job, placed, node));
  }

  void start(const policy::QueuePlan& plan) {
    for (const policy::QueuePlan::Start& one : plan.starts) {
      const auto found = places_.find(one.job);
      if (found == places_.end()) continue;
      const std::size_t job = found->second;
      if (const auto placed = place_for(job, one.placed)) {
        order_start(job, *placed);
        take_all(job, *placed);
      } else if (is_admitted(job)) {
        continue;  // workers of others go, and nobody is parked for it
      } else if (!task(job).may_spread || may_all_go(job, one.placed)) {
        order_of(job).obstacle = "waits for a job that is being parked";
        std::erase(waiting_, job);
        take_all(job, one.placed);
      }
    }
  }

  void order_start(std::size_t job, const Placement& placed) {
    Order& order = give(job, Order::Op::start);
    if (all_.known[job].group) {
      order.places = places_in(placed);
    } else {
      order.host = all_.hosts[placed.workers.front().node];
    }
    started_[job] = placed;
  }

  std::vector<TaskPlace> places_in(const Placement& placed) const {
    std::vector<TaskPlace> places;
    for (const std::size_t node : nodes_of(placed)) {
      places.push_back(
          {all_.hosts[node], count_on(placed.workers, node), count_on(placed.ps, node)});
    }
    return places;
  }

  void park(const policy::QueuePlan& plan) {
    for (const std::string& id : plan.parks) {
      const auto found = places_.find(id);
      if (found == places_.end()) continue;
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
    return group && group->elastic == ctrl::Elastic::join;
  }

  // One more, beside the others or, where it may be so, elsewhere. Source: KOD2, Algorithm 3.
  bool add_worker(std::size_t job, Placement& placed) {
    std::vector<std::size_t> nodes = nodes_of(placed);
    for (std::size_t i = 0; task(job).may_spread && i < idle_.size(); ++i) {
      if (may_go(all_, job, i)) nodes.push_back(i);
    }
    for (const std::size_t node : nodes) {
      if (!fits(task(job).request, idle_[node])) continue;
      put_one(placed.workers, node);
      take(idle_[node], task(job).request);
      return true;
    }
    return false;
  }

  // As many as a person has said since: those beyond go, those that are missing come where there is
  // room, whoever waits.
  void keep_range() {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const std::optional<GroupShape>& group = all_.known[job].group;
      const bool is_fixed = !group || group->elastic == ctrl::Elastic::no;
      if (is_fixed || all_.known[job].is_waiting || has_order(job)) continue;
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
      if (workers != policy::count_of(task(job).placed.workers)) change_size(job, placed);
    }
  }

  // The first worker stays: others meet at it, and what it has written is what comes home.
  std::int64_t may_leave(std::size_t job, const std::vector<NodeCount>& workers,
                         std::size_t node) const {
    return count_on(workers, node) - (all_.known[job].first == node ? 1 : 0);
  }

  void change_size(std::size_t job, const Placement& placed) {
    Order& order = give(job, joins(job) ? Order::Op::resize : Order::Op::park);
    if (joins(job)) {
      order.places = places_in(placed);
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
    if (!fewest.empty()) order_of(newcomer).obstacle = "waits for workers that leave";
    return !fewest.empty();
  }

  // For the first one that waits; it starts when they have gone. Source: KOD2, Algorithm 2.
  void take_workers(const policy::QueuePlan& plan) {
    std::erase_if(waiting_, [&](std::size_t job) { return made_[job].order.has_value(); });
    if (waiting_.empty() || all_.is_settling) return;
    std::vector<std::size_t> givers;
    Least least;
    for (const std::string& id : plan.givers) {
      const auto found = places_.find(id);
      if (found == places_.end() || !joins(found->second) || has_order(found->second)) continue;
      givers.push_back(found->second);
      least[found->second] = all_.known[found->second].group->range.least;
    }
    std::map<std::size_t, Placement> changed;
    make_room(waiting_.front(), givers, least, changed);
    for (const auto& [job, placed] : changed) change_size(job, placed);
  }

  // ----------------------------------------------------------------- as it is allocated

  std::optional<std::int64_t> allocated(std::size_t job) const {
    if (allocation_ == nullptr) return {};
    const auto found = allocation_->workers.find(task(job).id);
    return found == allocation_->workers.end() ? std::nullopt : std::optional(found->second);
  }

  // Do others make room for it?
  bool is_admitted(std::size_t job) const {
    return allocation_ != nullptr && allocation_->admitted.contains(task(job).id);
  }

  // Of those that wait. Empty: none is.
  std::optional<std::size_t> first_admitted() const {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](std::size_t job) { return is_admitted(job); });
    return found == waiting_.end() ? std::nullopt : std::optional(*found);
  }

  // Workers beyond what is allocated go, first where the first one that waits needs them; where
  // what is allocated leaves its room on several hosts, those of others go, down to their least.
  bool shrink() {
    std::erase_if(waiting_, [&](std::size_t job) { return made_[job].order.has_value(); });
    if (all_.is_settling) return true;
    std::vector<std::size_t> givers;
    Least allowed, least;
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const auto workers = allocated(job);
      if (!workers || !may_change(all_, job) || has_order(job)) continue;
      givers.push_back(job);
      least[job] = all_.known[job].group->range.least;
      allowed[job] = std::max(*workers, least[job]);
    }
    std::map<std::size_t, Placement> changed;
    const auto next = first_admitted();
    if (next && !make_room(*next, givers, allowed, changed)) {
      make_room(*next, givers, least, changed);
    }
    for (const std::size_t job : givers) {
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
    return !changed.empty();
  }

  // With how many it is to be now. Room that somebody waits for is nobody else's.
  std::int64_t most_of(std::size_t job) const {
    const bool is_wanted =
        allocation_ == nullptr ? !waiting_.empty() : first_admitted().has_value();
    if (is_wanted) return 0;
    const auto workers = allocated(job);
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
      if (!may_grow) continue;
      Placement placed = starts ? started->second : task(job).placed;
      const std::vector<policy::Amounts> before = idle_;
      const std::int64_t had = policy::count_of(placed.workers);
      const std::int64_t most = most_of(job);
      std::int64_t workers = had;
      for (; workers < most && add_worker(job, placed); ++workers) {
      }
      if (workers > had && starts) {
        order.order->places = places_in(placed);
      } else if (workers > had && is_worth_it(job, workers)) {
        change_size(job, placed);
      } else {
        idle_ = before;
      }
    }
  }

  // One that has to start again for more workers must win what that costs, several times over,
  // unless whoever allocates has thought of it; n workers do n^growth times the work of one
  // (LeftState).
  bool is_worth_it(std::size_t job, std::int64_t workers) const {
    if (joins(job)) return true;
    if (const auto all = allocated(job)) return workers == *all && may_change(all_, job);
    const policy::WaitingTask& seen = task(job);
    if (!seen.is_parkable || !seen.left) return false;
    const policy::LeftState usual;
    const double ratio =
        static_cast<double>(policy::count_of(seen.placed.workers)) / static_cast<double>(workers);
    return *seen.left * (1 - std::pow(ratio, usual.growth)) >= usual.gain * all_.view.pause;
  }

  // Of those that go on waiting.
  void look_ahead() {
    for (const NextHost& next : next_hosts(all_, waiting_, idle_)) {
      JobOrder& order = order_of(next.job);
      order.obstacle =
          "next on " + all_.view.nodes[next.node].id + " in about " + rough(next.seconds);
      if (next.is_due) give(next.job, Order::Op::send).host = all_.hosts[next.node];
    }
  }

  const AllJobs& all_;
  const Allocation* allocation_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::size_t> waiting_;  // in their order
  std::vector<policy::Amounts> idle_;
  std::map<std::size_t, JobOrder> made_;
  std::map<std::size_t, Placement> started_;
};

}  // namespace

std::map<std::string, std::vector<JobOrder>> orders_of(const AllJobs& all,
                                                       const policy::QueuePlan& plan,
                                                       const Allocation* allocation) {
  return Orders(all, plan, allocation).by_owner();
}

}  // namespace flowcon::cluster::queue
