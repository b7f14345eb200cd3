// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/all_jobs.h"

#include <algorithm>
#include <optional>
#include <set>

#include "cluster/migration/plan/architecture.h"
#include "cluster/policy/report.h"
#include "cluster/queue/pause.h"
#include "cluster/queue/promises.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kUnmeasured = 12.5e6;    // bytes a second: 100 Mbit/s
constexpr const char* kHosts = "hosts ";  // begins what only some have, as if it were a resource

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

// In the order of the nodes.
void put(std::vector<policy::NodeCount>& tasks, policy::NodeCount more) {
  for (; more.count > 0; --more.count) policy::put_one(tasks, more.node);
}

// Could it have tasks of the job while others are elsewhere?
bool shares_network(const AllJobs& all, const AllJobs::Known& job, std::size_t node) {
  if (!job.group || job.group->span == Span::none) return false;
  const bool is_owner = all.hosts[node] == job.owner;
  if (job.group->span == Span::ports) return all.addressed[node];
  if (job.group->span == Span::host) return is_owner ? all.addressed[node] : all.open[node];
  const auto owner = std::find(all.hosts.begin(), all.hosts.end(), job.owner);
  const auto& swarm = all.swarms[static_cast<std::size_t>(owner - all.hosts.begin())];
  return std::any_of(swarm.begin(), swarm.end(), [&](const std::string& manager) {
    return all.swarms[node].contains(manager);
  });
}

// Could those of its hosts that have its network hold it together, if nothing else were there?
bool could_spread(const AllJobs& all, const ReportedJob& job) {
  policy::Amounts together{{"cpu", 0}, {"mem", 0}, {"gpu", 0}};
  for (std::size_t node = 0; node < all.hosts.size(); ++node) {
    const bool has_network = shares_network(all, all.known.back(), node);
    if (has_network) add(together, all.view.nodes[node].cap, 1);
  }
  return fits(whole_request(job.task), together);
}

bool needs_gpus(const AllJobs& all, std::size_t job) {
  return policy::amount_of(whole_request(all.view.jobs[job]), "gpu") > 0;
}

bool needs_network(const AllJobs& all, std::size_t job) {
  const std::optional<GroupShape>& group = all.known[job].group;
  return all.view.jobs[job].may_spread || (group && group->is_bound);
}

// Is it one of those that could have the job, whatever runs there?
bool suits(const AllJobs& all, std::size_t job, std::size_t node) {
  const AllJobs::Known& known = all.known[job];
  if (needs_network(all, job) && !shares_network(all, known, node)) return false;
  if (!known.is_far.empty() && known.is_far[node]) return false;
  if (all.hosts[node] == known.owner) return true;
  if (needs_gpus(all, job) && !all.accepts_gpus[node]) return false;
  if (known.is_weighing || !why_bound(all, job).empty()) return false;
  return !known.freight || migration::runs_on(all.architectures[node], known.freight->architecture);
}

void unbind(AllJobs& all) {
  const auto forget = [](policy::Amounts& amounts) {
    std::erase_if(amounts, [](const auto& one) { return one.first.starts_with(kHosts); });
  };
  for (policy::QueueNode& node : all.view.nodes) {
    forget(node.cap);
    forget(node.idle);
  }
  for (policy::Amounts& most : all.view.most) forget(most);
  for (policy::WaitingTask& task : all.view.jobs) {
    forget(task.request);
    forget(task.ps_request);
  }
}

void add_host(AllJobs& all, const HostJobs& host, const std::string& name) {
  all.hosts.push_back(host.id);
  all.images.push_back(host.images);
  all.shared.push_back(host.shared);
  all.rates.push_back(host.rates);
  all.swarms.push_back(host.swarm);
  all.architectures.push_back(host.architecture);
  all.open.push_back(host.is_open);
  all.addressed.push_back(host.has_address);
  all.accepts_gpus.push_back(host.accepts_gpus);
  all.takes_early.push_back(host.takes_early);
  all.draining.push_back(host.is_draining);
  all.view.nodes.push_back({name, host.offer, host.free});
  all.view.totals.insert(all.view.totals.end(), host.totals.begin(), host.totals.end());
  all.view.most.push_back(host.most);
}

// The room of those is nobody's: their host gives none.
void leave_draining(AllJobs& all) {
  for (std::size_t i = 0; i < all.known.size(); ++i) {
    policy::WaitingTask& job = all.view.jobs[i];
    const std::vector<std::size_t> nodes = nodes_of(job.placed);
    all.known[i].is_to_leave =
        job.is_parkable && std::any_of(nodes.begin(), nodes.end(),
                                       [&](std::size_t node) { return all.draining[node]; });
    job.is_parkable = job.is_parkable && !all.known[i].is_to_leave;
  }
}

// What the owners say, held against what the hosts do.
struct Claims {
  const std::vector<HostJobs>& hosts;
  const Promises* promises;                   // null: owners are believed
  std::map<std::string, std::size_t> places;  // of hosts, by id
  std::set<std::size_t> shared;               // nodes where one has begun early, or is about to

  // Where a job has its room. False: a host where it has some is not heard, or knows nothing of it.
  bool hold(AllJobs& all, const HostJobs& owner, const ReportedJob& job, policy::WaitingTask& task,
            std::optional<std::size_t>& first) {
    bool is_heard = true;
    Promises::Given given;
    if (promises != nullptr) given = promises->given(owner.id, job.task.id);
    for (const HeldPlace& held : job.places) {
      const auto place = places.find(held.host);
      is_heard = is_heard && place != places.end();
      if (place == places.end()) continue;
      policy::Amounts part = policy::sum_of(task, held.workers, held.ps);
      const bool is_checked = promises != nullptr && held.host != owner.id;
      // Its host does not count it yet.
      const bool is_promised = (is_checked || !held.birth.empty()) &&
                               !counts(hosts[place->second], held.birth, owner.id);
      const bool is_known = !is_promised || !is_checked || fits(part, given[held.host]);
      if (is_promised && is_checked) part = take_part(given[held.host], std::move(part));
      if (is_promised) add(all.view.nodes[place->second].idle, part, -1);
      if (is_promised && is_known) shared.insert(place->second);
      is_heard = is_heard && is_known;
      if (held.workers > 0 && !first) first = place->second;
      if (held.workers > 0) put(task.placed.workers, {place->second, held.workers});
      if (held.ps > 0) put(task.placed.ps, {place->second, held.ps});
    }
    return is_heard;
  }
};

}  // namespace

bool counts(const HostJobs& host, const std::string& birth, const std::string& owner) {
  const auto of = host.owners.find(birth);
  return host.births.contains(birth) && (of == host.owners.end() || of->second == owner);
}

std::string id_at_owner(const AllJobs& all, std::size_t job) {
  const std::string& id = all.view.jobs[job].id;
  return id.substr(0, id.find('@'));
}

bool fits(const policy::Amounts& request, const policy::Amounts& idle) {
  return std::all_of(request.begin(), request.end(), [&](const auto& asked) {
    return asked.second <= policy::amount_of(idle, asked.first) + policy::Room::kTolerance;
  });
}

bool is_overbooked(const policy::Amounts& idle) { return !fits({{"cpu", 0}}, idle); }

void add(policy::Amounts& idle, const policy::Amounts& request, double times) {
  for (auto& [kind, amount] : idle) amount += times * policy::amount_of(request, kind);
}

bool is_for_some(const AllJobs& all, std::size_t job) {
  const std::optional<Freight>& freight = all.known[job].freight;
  if (!freight || freight->architecture.empty()) return false;
  return std::any_of(all.architectures.begin(), all.architectures.end(), [&](const auto& host) {
    return !migration::runs_on(host, freight->architecture);
  });
}

bool is_avoided(const AllJobs& all, std::size_t job, std::size_t node) {
  const std::vector<std::string>& avoided = all.known[job].avoided;
  return std::find(avoided.begin(), avoided.end(), all.hosts[node]) != avoided.end();
}

const std::string& why_bound(const AllJobs& all, std::size_t job) {
  static const std::string none;
  const std::optional<Freight>& freight = all.known[job].freight;
  return freight ? freight->bound : none;
}

bool may_go(const AllJobs& all, std::size_t job, std::size_t node) {
  return !all.draining[node] && !is_avoided(all, job, node) && suits(all, job, node);
}

double seconds_to(const AllJobs& all, std::size_t job, std::size_t node) {
  const std::uint64_t bytes = lacks(all, job, node);
  if (bytes == 0) return 0;
  return static_cast<double>(bytes) / rate_of(all, all.known[job].owner, all.hosts[node]);
}

void keep_running(AllJobs& all, const std::set<std::size_t>& nodes) {
  for (policy::WaitingTask& job : all.view.jobs) {
    const std::vector<std::size_t> its = nodes_of(job.placed);
    const bool stays =
        std::any_of(its.begin(), its.end(), [&](std::size_t node) { return nodes.contains(node); });
    job.is_parkable = job.is_parkable && !stays;
  }
}

void bind_to_hosts(AllJobs& all) {
  constexpr double kPlenty = 1e6;  // tasks
  constexpr std::size_t kMostKinds = 32;
  std::map<std::vector<bool>, std::string> kinds;
  unbind(all);
  for (std::size_t job = 0; job < all.known.size(); ++job) {
    const AllJobs::Known& known = all.known[job];
    const bool goes_anywhere = !needs_network(all, job) && !needs_gpus(all, job) &&
                               !is_for_some(all, job) && known.avoided.empty() &&
                               !known.is_weighing && why_bound(all, job).empty() &&
                               known.is_far.empty();
    if (!known.is_waiting || goes_anywhere) continue;
    policy::WaitingTask& task = all.view.jobs[job];
    std::vector<bool> has;
    for (std::size_t i = 0; i < all.hosts.size(); ++i) {
      has.push_back(!is_avoided(all, job, i) && suits(all, job, i));  // one that drains gives none
    }
    if (std::find(has.begin(), has.end(), false) == has.end()) continue;
    if (kinds.size() >= kMostKinds && !kinds.contains(has)) continue;  // orders look at each again
    std::string& kind = kinds[has];
    if (kind.empty()) {
      kind = kHosts + std::to_string(kinds.size());
      for (std::size_t i = 0; i < has.size(); ++i) {
        all.view.nodes[i].cap.emplace_back(kind, has[i] ? kPlenty : 0);
        all.view.nodes[i].idle.emplace_back(kind, has[i] ? kPlenty : 0);
        all.view.most[i].emplace_back(kind, has[i] ? kPlenty : 0);
      }
    }
    task.request.emplace_back(kind, 1);
    task.ps_request.emplace_back(kind, 1);
  }
}

AllJobs all_jobs(const std::vector<HostJobs>& hosts, double now, double starve_limit,
                 const Promises* promises) {
  AllJobs all;
  all.view.now = now;
  all.view.starve_limit = starve_limit;
  Claims claims{hosts, promises, {}, {}};
  const std::vector<std::string> names = shown(hosts);
  bool is_parking = false;
  std::vector<double> pauses;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    claims.places[hosts[i].id] = i;
    add_host(all, hosts[i], names[i]);
    if (hosts[i].has_early) claims.shared.insert(i);
    if (hosts[i].pause) pauses.push_back(*hosts[i].pause);
  }
  for (const HostJobs& host : hosts) {
    for (const ReportedJob& job : host.jobs) {
      // What a silent host does nobody knows, and for how long.
      const bool is_heard =
          std::all_of(job.places.begin(), job.places.end(),
                      [&](const HeldPlace& held) { return claims.places.contains(held.host); });
      is_parking = is_parking || (job.is_parking && is_heard);
      all.is_settling = all.is_settling || (job.group && job.group->is_leaving);
    }
  }
  all.view.pause = policy::median(std::move(pauses)).value_or(PauseMeter().seconds());
  std::set<std::string> ids;
  std::set<std::size_t> weighing;  // nodes whose jobs are
  for (const HostJobs& owner : hosts) {
    const std::size_t home = claims.places.at(owner.id);
    for (const ReportedJob& job : owner.jobs) {
      policy::WaitingTask task = job.task;
      if (!ids.insert(task.id).second) task.id += "@" + owner.id;
      task.since = now - job.task.since;
      task.is_parkable = task.is_parkable && !is_parking;
      std::optional<std::size_t> first;
      if (!claims.hold(all, owner, job, task, first)) continue;
      const bool is_weighing = job.is_weighing && hosts.size() > 1;
      if (is_weighing && !fits(whole_request(task), all.view.nodes[home].idle)) continue;
      if (is_weighing) weighing.insert(home);
      all.view.jobs.push_back(std::move(task));
      all.known.push_back({owner.id, job.version, job.places.empty(), job.avoided, job.freight,
                           job.sent_to, job.group, first, job.launch, is_weighing});
      if (all.known.back().is_waiting && !could_spread(all, job)) {
        all.view.jobs.back().may_spread = false;
      }
    }
  }
  // Where one has begun early those whose place it gets are at their end.
  std::erase_if(claims.shared,
                [&](std::size_t node) { return !is_overbooked(all.view.nodes[node].idle); });
  // One that is being weighed may have room elsewhere.
  claims.shared.merge(weighing);
  keep_running(all, claims.shared);
  leave_draining(all);
  bind_to_hosts(all);
  return all;
}

}  // namespace flowcon::cluster::queue
