// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/all_jobs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/json.h"
#include "cluster/policy/left_queue.h"
#include "cluster/policy/report.h"
#include "cluster/queue/next_host.h"
#include "cluster/queue/pause.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kUnmeasured = 12.5e6;  // bytes a second: 100 Mbit/s
constexpr double kSame = 1;             // seconds that decide nothing

void take(policy::Amounts& idle, const policy::Amounts& request) { add(idle, request, -1); }

// Between two hosts.
double rate_of(const AllJobs& all, const std::string& from, const std::string& to) {
  std::optional<double> lowest;
  for (std::size_t i = 0; i < all.hosts.size(); ++i) {
    for (const auto& [host, rate] : all.rates[i]) {
      if (all.hosts[i] == from && host == to) return rate;
      lowest = std::min(lowest.value_or(rate), rate);
    }
  }
  return lowest.value_or(kUnmeasured);
}

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

std::string obstacle_of(const policy::Amounts& request, const policy::QueueView& view) {
  const policy::QueueNode* nearest = nullptr;
  for (const policy::QueueNode& node : view.nodes) {
    if (!fits(request, node.cap)) continue;
    if (nearest == nullptr || distance(request, node) < distance(request, *nearest)) {
      nearest = &node;
    }
  }
  if (nearest == nullptr) {
    return "no host that is heard could hold it: it asks for " +
           lack_of(request, {{"cpu", 0}, {"mem", 0}});
  }
  const std::string lacks = lack_of(request, nearest->idle);
  if (lacks.empty()) return "waits for jobs before it";
  return "waits for " + lacks + (view.nodes.size() > 1 ? " on " + nearest->id : "");
}

// Names where they tell hosts apart, else ids.
std::vector<std::string> shown(const std::vector<HostJobs>& hosts) {
  std::set<std::string> names;
  for (const HostJobs& host : hosts) names.insert(host.name);
  std::vector<std::string> all;
  for (const HostJobs& host : hosts) {
    all.push_back(names.size() == hosts.size() ? host.name : host.id);
  }
  return all;
}

// How much a job lacks on a host; 0 also where nobody knows. Unit: bytes.
std::uint64_t lacks(const AllJobs& all, std::size_t job, std::size_t node) {
  const AllJobs::Known& known = all.known[job];
  const std::string& host = all.hosts[node];
  if (host == known.owner || host == known.sent_to || !known.freight) return 0;
  const Freight& freight = *known.freight;
  std::uint64_t bytes = freight.data_bytes;
  if (!all.images[node].contains(freight.image)) bytes += freight.image_bytes;
  for (const auto& [name, size] : freight.shared) {
    if (all.shared[node].contains(name)) bytes -= std::min(bytes, size);
  }
  return bytes;
}

}  // namespace

bool fits(const policy::Amounts& request, const policy::Amounts& idle) {
  return std::all_of(request.begin(), request.end(), [&](const auto& asked) {
    return asked.second <= policy::amount_of(idle, asked.first) + policy::Room::kTolerance;
  });
}

void add(policy::Amounts& idle, const policy::Amounts& request, double times) {
  for (auto& [kind, amount] : idle) amount += times * policy::amount_of(request, kind);
}

bool may_go(const AllJobs& all, std::size_t job, std::size_t node) {
  const std::vector<std::string>& avoided = all.known[job].avoided;
  return std::find(avoided.begin(), avoided.end(), all.hosts[node]) == avoided.end();
}

double seconds_to(const AllJobs& all, std::size_t job, std::size_t node) {
  const std::uint64_t bytes = lacks(all, job, node);
  if (bytes == 0) return 0;
  return static_cast<double>(bytes) / rate_of(all, all.known[job].owner, all.hosts[node]);
}

AllJobs all_jobs(const std::vector<HostJobs>& hosts, double now, double starve_limit) {
  AllJobs all;
  all.view.now = now;
  all.view.starve_limit = starve_limit;
  std::map<std::string, std::size_t> places;
  const std::vector<std::string> names = shown(hosts);
  bool is_parking = false;
  std::vector<double> pauses;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    places[hosts[i].id] = i;
    all.hosts.push_back(hosts[i].id);
    all.images.push_back(hosts[i].images);
    all.shared.push_back(hosts[i].shared);
    all.rates.push_back(hosts[i].rates);
    all.view.nodes.push_back({names[i], hosts[i].offer, hosts[i].free});
    all.view.totals.insert(all.view.totals.end(), hosts[i].totals.begin(), hosts[i].totals.end());
    if (hosts[i].pause) pauses.push_back(*hosts[i].pause);
    for (const ReportedJob& job : hosts[i].jobs) is_parking = is_parking || job.is_parking;
  }
  all.view.pause = policy::median(std::move(pauses)).value_or(PauseMeter().seconds());
  std::set<std::string> ids;
  for (const HostJobs& owner : hosts) {
    for (const ReportedJob& job : owner.jobs) {
      if (!ids.insert(job.task.id).second) continue;
      const auto place = places.find(job.host.empty() ? owner.id : job.host);
      if (job.holds_room && place == places.end()) continue;
      policy::WaitingTask task = job.task;
      task.since = now - job.task.since;
      task.is_parkable = task.is_parkable && !is_parking;
      if (job.holds_room) {
        task.node = place->second;
        // Its host does not count it yet.
        const bool is_promised =
            !job.birth.empty() && !hosts[place->second].births.contains(job.birth);
        if (is_promised) take(all.view.nodes[place->second].idle, task.request);
      }
      all.view.jobs.push_back(std::move(task));
      all.known.push_back({owner.id, job.version, !job.holds_room, job.avoided, job.freight,
                           job.holds_room ? "" : job.host, job.size});
    }
  }
  return all;
}

namespace {

// Orders as they are made from a plan.
class Orders {
 public:
  Orders(const AllJobs& all, const policy::QueuePlan& plan) : all_(all) {
    for (std::size_t i = 0; i < all.view.jobs.size(); ++i) places_[all.view.jobs[i].id] = i;
    for (const policy::QueueNode& node : all.view.nodes) idle_.push_back(node.idle);
    stand(plan);
    start(plan);
    park(plan);
    keep_range();
    take_workers(plan);
    look_ahead();
    give_workers();
  }

  std::map<std::string, std::vector<JobOrder>> by_owner() {
    std::map<std::string, std::vector<JobOrder>> sorted;
    for (auto& [place, order] : made_) sorted[all_.known[place].owner].push_back(order);
    return sorted;
  }

 private:
  JobOrder& order_of(std::size_t place) {
    JobOrder& order = made_[place];
    order.job = all_.view.jobs[place].id;
    return order;
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
      order.obstacle = obstacle_of(all_.view.jobs[found->second].request, all_.view);
    }
  }

  // Of a job that is to start there. Empty: it has to wait for that room.
  std::optional<std::size_t> room_for(std::size_t job, std::size_t node) const {
    const policy::Amounts& request = all_.view.jobs[job].request;
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

  void start(const policy::QueuePlan& plan) {
    for (const policy::QueuePlan::Start& one : plan.starts) {
      const auto found = places_.find(one.job);
      if (found == places_.end() || one.node >= idle_.size()) continue;
      JobOrder& order = order_of(found->second);
      const policy::Amounts& request = all_.view.jobs[found->second].request;
      if (const auto node = room_for(found->second, one.node)) {
        order.order =
            Order{Order::Op::start, all_.known[found->second].version, all_.hosts[*node], ""};
        take(idle_[*node], request);
      } else {
        order.obstacle = "waits for a job that is being parked";
        std::erase(waiting_, found->second);
        take(idle_[one.node], request);
      }
    }
  }

  void park(const policy::QueuePlan& plan) {
    for (const std::string& id : plan.parks) {
      const auto found = places_.find(id);
      if (found == places_.end()) continue;
      order_of(found->second).order =
          Order{Order::Op::park, all_.known[found->second].version, "", ""};
      return;
    }
  }

  bool has_order(std::size_t job) const {
    const auto found = made_.find(job);
    return found != made_.end() && found->second.order.has_value();
  }

  // As many as a person has said since: those beyond go, those that are missing come where there is
  // room, whoever waits.
  void keep_range() {
    for (std::size_t job = 0; job < all_.known.size(); ++job) {
      const std::optional<GroupSize>& size = all_.known[job].size;
      const std::optional<std::size_t> node = all_.view.jobs[job].node;
      if (!size || !node || has_order(job) || size->elastic == ctrl::Elastic::no) continue;
      std::int64_t workers = std::min(size->workers, size->range.most);
      policy::Amounts& idle = idle_[*node];
      for (; workers < size->range.least && fits(size->request, idle); ++workers) {
        take(idle, size->request);
      }
      if (workers != size->workers) change_size(job, workers);
    }
  }

  void change_size(std::size_t job, std::int64_t workers) {
    const bool joins = all_.known[job].size->elastic == ctrl::Elastic::join;
    order_of(job).order = Order{joins ? Order::Op::resize : Order::Op::park,
                                all_.known[job].version, "", "", workers};
  }

  // Workers that a running group can do without there, one after the other; empty where what comes
  // free then is too little.
  std::map<std::size_t, std::int64_t> workers_for(std::size_t newcomer, std::size_t node,
                                                  const std::vector<std::string>& givers) const {
    std::map<std::size_t, std::int64_t> taken;
    policy::Amounts idle = idle_[node];
    const policy::Amounts& request = all_.view.jobs[newcomer].request;
    for (const std::string& id : givers) {
      const auto found = places_.find(id);
      if (found == places_.end()) continue;
      const std::optional<GroupSize>& size = all_.known[found->second].size;
      const bool may_give = size && size->elastic == ctrl::Elastic::join &&
                            all_.view.jobs[found->second].node == node && !has_order(found->second);
      for (std::int64_t left = may_give ? size->workers - size->range.least : 0; left > 0; --left) {
        if (fits(request, idle)) return taken;
        add(idle, size->request, 1);
        ++taken[found->second];
      }
    }
    if (!fits(request, idle)) taken.clear();
    return taken;
  }

  // For the first one that waits; it starts when they have gone.
  void take_workers(const policy::QueuePlan& plan) {
    std::erase_if(waiting_, [&](std::size_t job) { return made_[job].order.has_value(); });
    if (waiting_.empty() || plan.givers.empty()) return;
    std::map<std::size_t, std::int64_t> fewest;
    for (std::size_t node = 0; node < idle_.size(); ++node) {
      if (!may_go(all_, waiting_.front(), node)) continue;
      auto taken = workers_for(waiting_.front(), node, plan.givers);
      const auto sum = [](const auto& of) {
        std::int64_t all = 0;
        for (const auto& [job, count] : of) all += count;
        return all;
      };
      if (!taken.empty() && (fewest.empty() || sum(taken) < sum(fewest))) fewest = std::move(taken);
    }
    for (const auto& [job, count] : fewest) {
      change_size(job, all_.known[job].size->workers - count);
    }
    if (!fewest.empty()) order_of(waiting_.front()).obstacle = "waits for workers that leave";
  }

  // What nobody waits for. Source: KOD2, Algorithm 3, on the host where a group is.
  void give_workers() {
    if (!waiting_.empty()) return;
    for (auto& [job, order] : made_) {
      const std::optional<GroupSize>& size = all_.known[job].size;
      if (!size || size->workers >= size->range.most) continue;
      const bool starts = order.order && order.order->op == Order::Op::start;
      const std::optional<std::size_t> node =
          starts ? node_of(order.order->host) : all_.view.jobs[job].node;
      if (!node || (order.order && !starts)) continue;
      std::int64_t workers = size->workers;
      policy::Amounts idle = idle_[*node];
      for (; workers < size->range.most && fits(size->request, idle); ++workers) {
        take(idle, size->request);
      }
      if (workers == size->workers || !(starts || is_worth_it(job, workers))) continue;
      idle_[*node] = idle;
      if (starts) {
        order.order->workers = workers;
        continue;
      }
      change_size(job, workers);
    }
  }

  std::optional<std::size_t> node_of(const std::string& host) const {
    const auto found = std::find(all_.hosts.begin(), all_.hosts.end(), host);
    if (found == all_.hosts.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all_.hosts.begin());
  }

  // One that has to start again for more workers must win what that costs, several times over; n
  // workers do n^growth times the work of one (LeftState).
  bool is_worth_it(std::size_t job, std::int64_t workers) const {
    const GroupSize& size = *all_.known[job].size;
    if (size.elastic == ctrl::Elastic::join) return true;
    const policy::WaitingTask& task = all_.view.jobs[job];
    if (size.elastic != ctrl::Elastic::restart || !task.is_parkable || !task.left) return false;
    const policy::LeftState usual;
    const double ratio = static_cast<double>(size.workers) / static_cast<double>(workers);
    return *task.left * (1 - std::pow(ratio, usual.growth)) >= usual.gain * all_.view.pause;
  }

  // Of those that go on waiting.
  void look_ahead() {
    for (const NextHost& next : next_hosts(all_, waiting_, idle_)) {
      JobOrder& order = order_of(next.job);
      order.obstacle =
          "next on " + all_.view.nodes[next.node].id + " in about " + rough(next.seconds);
      if (!next.is_due) continue;
      order.order = Order{Order::Op::send, all_.known[next.job].version, all_.hosts[next.node], ""};
    }
  }

  const AllJobs& all_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::size_t> waiting_;  // in their order
  std::vector<policy::Amounts> idle_;
  std::map<std::size_t, JobOrder> made_;
};

}  // namespace

std::map<std::string, std::vector<JobOrder>> orders_of(const AllJobs& all,
                                                       const policy::QueuePlan& plan) {
  return Orders(all, plan).by_owner();
}

}  // namespace flowcon::cluster::queue
