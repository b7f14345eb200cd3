// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/allocation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "cluster/codec/allocate_json.h"
#include "cluster/policy/allocate.h"
#include "cluster/policy/left_queue.h"
#include "cluster/policy/report.h"

namespace flowcon::cluster::queue {
namespace {

constexpr int kSteps = 5;            // that are planned ahead
constexpr double kShortestStep = 1;  // seconds
constexpr double kNominal = 3600;    // seconds that a job takes while nothing is known of any
constexpr double kLeastLeft = 1;     // seconds
constexpr double kMostLeft = 1e9;    // the same
// Seconds in which a worker that joins does nothing yet. Of plans that are alike it keeps the one
// in which nobody comes or goes.
constexpr double kJoin = 2;
constexpr double kNothing = 1e-6;   // of a core, a byte or a GPU
constexpr double kRounding = 1e-6;  // of a node
constexpr double kMostNodes = policy::HorizonState::kMostNodes;
constexpr double kUseful = 1.1;  // times as fast as with half as many: less is noise
constexpr std::array<const char*, 3> kKinds{"cpu", "mem", "gpu"};

std::int64_t power_below(std::int64_t number) {
  return number < 1 ? 0
                    : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(number)));
}
std::int64_t power_above(double number) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(number))));
}

// Whose number of workers is decided.
struct Candidate {
  std::size_t job = 0;
  std::int64_t now = 0;  // workers; 0: it waits
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t size = 1;  // nodes of one worker
  policy::Amounts request = {};
  bool is_whole = false;  // it waits, and its number of workers is no question
  double fixed = 0;       // nodes that it has whatever is decided: a whole one, servers
};

bool has_power(std::int64_t least, std::int64_t most) { return power_below(most) >= least; }

// So many times a request is there.
std::int64_t times(const policy::Amounts& there, const policy::Amounts& request) {
  double most = kMostNodes;
  for (const char* kind : kKinds) {
    const double asked = policy::amount_of(request, kind);
    const double idle = policy::amount_of(there, kind) + policy::Room::kTolerance;
    if (asked > kNothing) most = std::min(most, std::floor(std::max(0.0, idle) / asked));
  }
  return static_cast<std::int64_t>(most);
}

class Allocator {
 public:
  Allocator(const AllJobs& all, const policy::QueuePlan& plan) : all_(all) {
    for (const policy::QueueNode& node : all.view.nodes) room_.push_back(node.idle);
    take_running();
    take_waiting(plan);
    drop_placeless();
    measure();
    admit();
    expect();
  }

  [[nodiscard]] bool is_empty() const {
    return std::all_of(candidates_.begin(), candidates_.end(),
                       [](const Candidate& one) { return one.is_whole; });
  }

  // Those that wait, and for which nobody has to decide how many they are.
  void admit_wholes(Allocation& allocation) const {
    for (const Candidate& one : candidates_) {
      if (one.is_whole) allocation.admitted.insert(task(one).id);
    }
  }

  policy::HorizonState horizon(double interval) const {
    policy::HorizonState state;
    state.nodes = static_cast<std::int64_t>(std::floor(nodes_ - reserved_ + kRounding));
    state.steps = kSteps;
    double longest = 0, longest_pause = 0;
    for (const Candidate& one : candidates_) {
      if (one.is_whole) continue;
      policy::HorizonJob job;
      job.id = task(one).id;
      job.n_min = one.least * one.size;
      job.n_max = one.most * one.size;
      job.speed = speeds(one);
      job.left = left_[one.job] / 3600;
      longest = std::max(longest, left_[one.job] / job.speed.front().second);
      if (one.now > 0) {
        job.now = one.now * one.size;
        job.pause = joins(one) ? kJoin : std::min(all_.view.pause, interval);
        longest_pause = std::max(longest_pause, *job.pause);
      }
      state.jobs.push_back(std::move(job));
    }
    // All that is planned beyond the last end is for nothing; a pause has to be over in one step.
    const double shortest = std::max(longest_pause, kShortestStep);
    state.minutes = std::max(shortest, std::min(longest / kSteps, interval)) / 60;
    return state;
  }

  policy::GreedyState greedy() const {
    policy::GreedyState state;
    state.nodes = static_cast<std::int64_t>(nodes_);
    for (const Candidate& one : candidates_) {
      const std::int64_t whole = std::min(power_above(one.fixed), power_below(state.nodes));
      const std::int64_t size = one.is_whole ? whole : one.size;
      state.jobs.push_back(
          {task(one).id, one.now * size, task(one).served, one.least * size, one.most * size});
    }
    return state;
  }

  // What a plan leaves idle is worth something, too: that a job ends within the first step makes
  // all numbers alike to it. One that has to start again for it only keeps what it has.
  void fill(std::map<std::string, std::int64_t>& nodes) const {
    struct Filled {
      const Candidate* job;
      std::int64_t* nodes;
      std::vector<std::pair<std::int64_t, double>> speeds;
      std::size_t at;     // in speeds
      std::int64_t most;  // nodes
    };
    double idle = nodes_ - reserved_ + kRounding;
    std::vector<Filled> jobs;
    for (const Candidate& one : candidates_) {
      const auto found = nodes.find(task(one).id);
      if (one.is_whole || found == nodes.end()) continue;
      idle -= static_cast<double>(found->second);
      Filled job{&one, &found->second, speeds(one), 0, 0};
      while (job.at < job.speeds.size() && job.speeds[job.at].first != found->second) ++job.at;
      const bool stays = one.now > 0 && !joins(one);
      job.most = (stays ? std::min(one.now, one.most) : one.most) * one.size;
      jobs.push_back(std::move(job));
    }
    while (true) {
      Filled* best = nullptr;
      double most = 0;
      for (Filled& job : jobs) {
        if (job.at + 1 >= job.speeds.size()) continue;
        const auto& [count, speed] = job.speeds[job.at + 1];
        if (count > job.most || static_cast<double>(count - *job.nodes) > idle) continue;
        const double more = (speed - job.speeds[job.at].second) / left_[job.job->job];
        if (more > most) best = &job, most = more;
      }
      if (best == nullptr) return;
      const std::int64_t count = best->speeds[++best->at].first;
      idle -= static_cast<double>(count - *best->nodes);
      *best->nodes = count;
    }
  }

  // `nodes`: of jobs by their ids; none, or 0: it waits.
  void take(const std::map<std::string, std::int64_t>& nodes, Allocation& allocation) const {
    for (const Candidate& one : candidates_) {
      const auto found = nodes.find(task(one).id);
      if (found == nodes.end() || found->second < 1) continue;
      if (one.now == 0) allocation.admitted.insert(task(one).id);
      if (!one.is_whole) allocation.workers[task(one).id] = found->second / one.size;
    }
  }

 private:
  const policy::WaitingTask& task(const Candidate& one) const { return all_.view.jobs[one.job]; }
  bool joins(const Candidate& one) const { return ctrl::joins(all_.known[one.job].group->elastic); }

  void take_running() {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const std::optional<GroupShape>& group = all_.known[job].group;
      if (!may_change(all_, job) || !has_power(group->range.least, group->range.most)) continue;
      const policy::WaitingTask& seen = all_.view.jobs[job];
      Candidate one{job, policy::count_of(seen.placed.workers), group->range.least,
                    group->range.most};
      one.request = seen.request;
      for (const policy::NodeCount& held : seen.placed.workers) {
        add(room_[held.node], seen.request, static_cast<double>(held.count));
      }
      candidates_.push_back(std::move(one));
    }
    keep_room();
  }

  // For those that a person wants more workers of than can be decided here; and for first workers,
  // which stay, from those that wait.
  void keep_room() {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const std::optional<GroupShape>& group = all_.known[job].group;
      const policy::WaitingTask& seen = all_.view.jobs[job];
      if (!group || seen.placed.workers.empty() || group->elastic == ctrl::Elastic::no) continue;
      const std::int64_t lacks = group->range.least - policy::count_of(seen.placed.workers);
      if (lacks > 0 && !has_power(group->range.least, group->range.most)) {
        add(room_[seen.placed.workers.front().node], seen.request, -static_cast<double>(lacks));
      }
    }
    others_room_ = room_;
    for (const Candidate& one : candidates_) {
      const std::optional<std::size_t> first = all_.known[one.job].first;
      const std::int64_t stay = task(one).may_spread ? 1 : std::min(one.least, one.now);
      if (first) add(others_room_[*first], one.request, -static_cast<double>(stay));
    }
  }

  // In the order in which they are to start; `room_` is what all that may change leave.
  void take_waiting(const policy::QueuePlan& plan) {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < all_.view.jobs.size(); ++i) places[all_.view.jobs[i].id] = i;
    for (const policy::QueuePlan::Standing& standing : plan.standings) {
      const auto found = places.find(standing.job);
      if (found == places.end() || !all_.known[found->second].is_waiting) continue;
      const std::size_t job = found->second;
      const policy::WaitingTask& seen = all_.view.jobs[job];
      const std::optional<GroupShape>& group = all_.known[job].group;
      Candidate one{job, 0};
      one.is_whole = !group || !has_power(group->range.least, group->range.most);
      one.request = one.is_whole ? policy::whole_request(seen) : seen.request;
      if (!one.is_whole) one.least = group->range.least, one.most = group->range.most;
      candidates_.push_back(std::move(one));
    }
  }

  // What a node is, and how many there are. Requests are compared by the largest share that one
  // of them is of all that is there of a kind.
  void measure() {
    policy::Amounts together;
    for (const char* kind : kKinds) together.emplace_back(kind, 0);
    for (const policy::Amounts& room : room_) add(together, room, 1);
    const auto share_of = [&](const policy::Amounts& request) {
      double share = 0;
      for (const auto& [kind, all] : together) {
        const double asked = policy::amount_of(request, kind);
        if (asked > kNothing)
          share = std::max(share, asked / std::max(all, policy::Room::kTolerance));
      }
      return share;
    };
    const Candidate* node = nullptr;
    for (const Candidate& one : candidates_) {
      if (one.is_whole) continue;
      if (node == nullptr || share_of(one.request) < share_of(node->request)) node = &one;
    }
    if (node == nullptr) return;
    const double unit = share_of(node->request);
    double used = 0;
    for (const policy::Amounts& room : room_)
      nodes_ += static_cast<double>(times(room, node->request));
    for (Candidate& one : candidates_) {
      const double nodes = std::min(share_of(one.request) / unit, kMostNodes);
      const double servers = share_of(policy::sum_of(task(one), 0, task(one).ps)) / unit;
      one.fixed = one.is_whole ? nodes : one.now > 0 ? 0 : std::min(servers, kMostNodes);
      one.size = one.is_whole ? 1 : power_above(nodes - policy::Room::kTolerance);
      used += static_cast<double>(one.now * one.size);
    }
    nodes_ = std::min(std::max(nodes_, used), kMostNodes);
  }

  // In their order, as long as all of them have their least; what runs is there.
  void admit() {
    double used = 0;
    bool is_full = false;
    const auto is_beyond = [&](const Candidate& one) {
      if (is_full) return true;
      const std::int64_t least = power_above(static_cast<double>(one.least)) * one.size;
      const double nodes = one.fixed + (one.is_whole ? 0 : static_cast<double>(least));
      if (used + nodes > nodes_ + kRounding) {
        is_full = one.now == 0;
        nodes_ = std::max(0.0, nodes_ - static_cast<double>(one.now * one.size));
        return true;
      }
      used += nodes;
      reserved_ += one.fixed;
      return false;
    };
    std::erase_if(candidates_, is_beyond);
  }

  // So many workers could be there if no other job were that may change.
  std::int64_t could_have(const Candidate& one) const {
    std::int64_t all = 0;
    const std::vector<std::size_t> there = policy::nodes_of(task(one).placed);
    const bool stays = one.now > 0 && !task(one).may_spread;
    const std::vector<policy::Amounts>& rooms = one.now > 0 ? room_ : others_room_;
    for (std::size_t node = 0; node < rooms.size(); ++node) {
      const bool is_there = std::find(there.begin(), there.end(), node) != there.end();
      if (!is_there && (stays || !may_go(all_, one.job, node))) continue;
      const std::int64_t here = times(rooms[node], one.request);
      all = task(one).may_spread && !one.is_whole ? all + here : std::max(all, here);
    }
    return all;
  }

  // For all tasks that it starts with.
  bool has_host(const Candidate& one) const {
    const policy::Amounts all = policy::whole_request(task(one));
    for (std::size_t node = 0; node < others_room_.size(); ++node) {
      if (may_go(all_, one.job, node) && fits(all, others_room_[node])) return true;
    }
    return false;
  }

  // A whole one on several hosts: nobody asks where its tasks go.
  bool has_place(const Candidate& one) const {
    if (!one.is_whole && !has_power(one.least, one.most)) return false;
    if (one.now > 0 || (!one.is_whole && task(one).may_spread)) return true;
    if (!task(one).may_spread) return has_host(one);
    policy::Amounts together;
    for (const char* kind : kKinds) together.emplace_back(kind, 0);
    for (std::size_t node = 0; node < others_room_.size(); ++node) {
      if (may_go(all_, one.job, node)) add(together, others_room_[node], 1);
    }
    return times(together, one.request) > 0;
  }

  // Those that run keep what they have then, and it is nobody else's.
  void drop_placeless() {
    const auto has_none = [&](Candidate& one) {
      bool asks = false;
      for (const char* kind : kKinds) {
        asks = asks || policy::amount_of(one.request, kind) > kNothing;
      }
      // What it has it could have, whatever else runs beside it now.
      if (!one.is_whole) one.most = std::min(one.most, std::max(could_have(one), one.now));
      if (!one.is_whole) one.most = useful(one);
      if (asks && has_place(one)) return false;
      for (const policy::NodeCount& held : task(one).placed.workers) {
        add(room_[held.node], one.request, -static_cast<double>(held.count));
      }
      return true;
    };
    while (std::erase_if(candidates_, has_none) > 0) {
    }
  }

  // What is left of each, for one worker. What earlier runs took is not told with how many.
  void expect() {
    std::vector<double> known = all_.view.totals;
    for (const policy::WaitingTask& job : all_.view.jobs) {
      if (job.left) known.push_back(job.served + *job.left);
    }
    const double typical = policy::median(std::move(known)).value_or(kNominal);
    left_.resize(all_.view.jobs.size());
    for (const Candidate& one : candidates_) {
      const policy::WaitingTask& job = task(one);
      const std::optional<GroupShape>& group = all_.known[one.job].group;
      const std::optional<double> rate = one.is_whole ? std::nullopt : rate_of(one, 1);
      double left = job.left.value_or(policy::guessed_left(job.served, typical));
      if (rate && group->open) left = *group->open / *rate;
      left_[one.job] = std::clamp(left / job.priority, kLeastLeft, kMostLeft);
    }
  }

  static double law(std::int64_t workers) {
    return policy::speed_of(policy::HorizonJob(), static_cast<int>(workers));
  }

  // The last doubling that is known to have brought anything.
  std::int64_t useful(const Candidate& one) const {
    std::int64_t most = power_below(one.most);
    for (; most / 2 >= one.least; most /= 2) {
      const auto half = rate_of(one, most / 2), all = rate_of(one, most);
      if (!half || !all || *all >= kUseful * *half) break;
    }
    return most;
  }

  // Share of the job per second with so many workers: as it was measured, else by the law from the
  // next lower number that was, and no more than any number on either side. Empty: none was.
  std::optional<double> rate_of(const Candidate& one, std::int64_t workers) const {
    const Pace* below = nullptr;
    const Pace* above = nullptr;
    for (const Pace& pace : all_.known[one.job].group->paces) {
      if (pace.workers <= workers && (below == nullptr || pace.workers > below->workers)) {
        below = &pace;
      } else if (pace.workers > workers && (above == nullptr || pace.workers < above->workers)) {
        above = &pace;
      }
    }
    const Pace* nearest = below != nullptr ? below : above;
    if (nearest == nullptr) return {};
    const double rate = nearest->rate * law(workers) / law(nearest->workers);
    if (below == nullptr || above == nullptr) return rate;
    return std::min(rate, std::max(below->rate, above->rate));
  }

  // That of one worker is 1; no worker adds more than those before it.
  std::vector<std::pair<std::int64_t, double>> speeds(const Candidate& one) const {
    std::vector<std::pair<std::int64_t, double>> all;
    const double alone = rate_of(one, 1).value_or(1);
    double per_worker = std::numeric_limits<double>::infinity();
    for (std::int64_t workers = 1; workers <= one.most; workers *= 2) {
      if (workers < one.least) continue;
      const double speed = rate_of(one, workers).value_or(law(workers)) / alone;
      per_worker = std::min(per_worker, speed / static_cast<double>(workers));
      all.emplace_back(workers * one.size, per_worker * static_cast<double>(workers));
    }
    return all;
  }

  const AllJobs& all_;
  std::vector<policy::Amounts> room_;         // of each node
  std::vector<policy::Amounts> others_room_;  // the same, without first workers
  std::vector<Candidate> candidates_;
  double nodes_ = 0;
  double reserved_ = 0;       // of these, whatever is decided
  std::vector<double> left_;  // of each job, seconds
};

// It is recorded.
policy::AllocateDecision decided(const policy::AllocateState& state, Allocation& allocation) {
  policy::AllocateDecision decision = policy::decide_allocate(state);
  ctrl::policy::add_round(&allocation.rounds, state, decision);
  return decision;
}

std::optional<Allocation> by_horizon(const AllJobs& all, const policy::QueuePlan& plan,
                                     double interval) {
  Allocation allocation;
  const Allocator allocator(all, plan);
  if (allocator.is_empty()) return allocation;  // nothing that could make room, or grow
  const policy::AllocateDecision decision = decided({allocator.horizon(interval)}, allocation);
  std::map<std::string, std::int64_t> nodes;
  for (const policy::HorizonPlan& one : std::get<policy::HorizonDecision>(decision).plan) {
    nodes[one.id] = one.nodes.front();
  }
  allocator.admit_wholes(allocation);
  allocator.fill(nodes);
  allocation.knows_pauses = true;
  allocator.take(nodes, allocation);
  return allocation;
}

std::optional<Allocation> by_greed(const AllJobs& all, const policy::QueuePlan& plan, double) {
  Allocation allocation;
  const Allocator allocator(all, plan);
  if (allocator.is_empty()) return allocation;
  const policy::AllocateDecision decision = decided({allocator.greedy()}, allocation);
  const auto& greedy = std::get<policy::GreedyDecision>(decision);
  std::map<std::string, std::int64_t> nodes;
  for (std::size_t i = 0; i < greedy.ids.size(); ++i) nodes[greedy.ids[i]] = greedy.nodes[i];
  allocator.take(nodes, allocation);
  return allocation;
}

// The order itself says who gets what.
std::optional<Allocation> by_order(const AllJobs&, const policy::QueuePlan&, double) {
  return std::nullopt;
}

}  // namespace

const std::vector<AllocatePolicyKind>& allocate_policies() {
  static const std::vector<AllocatePolicyKind> all{
      {"horizon", "as many as the remaining work of the job is worth, planned ahead", by_horizon},
      {"greedy",
       "idle workers go to the job that has run shortest, and the job that has run longest gives "
       "half of its workers to a waiting one",
       by_greed},
      {"kod2",
       "all idle workers while no job waits, and workers above the minimum go to the waiting job "
       "that comes first",
       by_order},
  };
  return all;
}

bool may_change(const AllJobs& all, std::size_t job) {
  const AllJobs::Known& known = all.known[job];
  if (known.is_waiting || !known.group) return false;
  const bool starts_anew = known.group->elastic == ctrl::Elastic::restart;
  return ctrl::joins(known.group->elastic) || (starts_anew && all.view.jobs[job].is_parkable);
}

std::string situation_of(const AllJobs& all) {
  std::string text;
  for (std::size_t i = 0; i < all.hosts.size(); ++i) {
    text += all.hosts[i];
    for (const auto& [kind, amount] : all.view.nodes[i].cap) text += ' ' + std::to_string(amount);
    text += '\n';
  }
  for (std::size_t job = 0; job < all.known.size(); ++job) {
    const AllJobs::Known& known = all.known[job];
    text += all.view.jobs[job].id;
    text += known.is_waiting ? " waits" : may_change(all, job) ? " may change" : " runs";
    if (known.group) {
      text += ' ' + std::to_string(known.group->range.least) + ':' +
              std::to_string(known.group->range.most);
    }
    text += '\n';
  }
  return text;
}

std::optional<Allocation> allocate(const AllJobs& all, const policy::QueuePlan& plan,
                                   const AllocateRule& rule) {
  const std::vector<AllocatePolicyKind>& kinds = allocate_policies();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const auto& one) { return one.name == rule.policy; });
  return (kind == kinds.end() ? kinds.front() : *kind).allocate(all, plan, rule.interval);
}

}  // namespace flowcon::cluster::queue
