// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/groups.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/failpoint.h"
#include "base/json_reader.h"
#include "base/random_id.h"
#include "base/text.h"
#include "cluster/migration/plan/group_parts.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/ports.h"
#include "cluster/queue/stamp.h"
#include "ctrl/extension.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::cluster::queue {
namespace {

using migration::Copy;
using migration::Seen;

constexpr double kServerCores = 0.5;  // of a parameter server, where nobody says
constexpr double kHoldLook = 0.1;     // seconds between two looks whether a failpoint is over
constexpr double kLeaseLook = 1;      // seconds between two whether anybody is leasing
constexpr double kLongestRest = 60;   // seconds until a host is told again what it gets back
constexpr std::array kActs{"lease", "make", "place", "start", "save", "cancel", "remove", "halt"};

// The same entry with another list of tasks.
Result<JobEntry> with_tasks(const JobEntry& entry,
                            const std::function<void(std::vector<JobEntry>&)>& change) {
  JobEntry next = entry;
  change(next.group->tasks);
  ++next.version;
  return next;
}

// Does a task that is not over listen there?
bool is_listened_at(const Jobs& jobs, const std::string& host, const Endpoint& endpoint) {
  const auto is_there = [&](const JobEntry& task) {
    return !is_closed(task.state) && task.at == host && task.endpoint == endpoint;
  };
  return std::any_of(jobs.open().begin(), jobs.open().end(), [&](const auto& one) {
    const std::optional<Group>& group = one.second->entry.group;
    return group && std::any_of(group->tasks.begin(), group->tasks.end(), is_there);
  });
}

// Groups that owe ports, over or not.
std::vector<JobPtr> owing(const Jobs& jobs) {
  std::vector<JobPtr> all;
  const auto take = [&all](const JobPtr& job) {
    if (job->entry.group && !job->entry.group->owed.empty()) all.push_back(job);
  };
  for (const JobPtr& job : jobs.ended()) take(job);
  for (const auto& [id, job] : jobs.open()) take(job);
  return all;
}

}  // namespace

std::string network_of(const Job& group, const ctrl::Config& config) {
  if (!group.ticket || !group.entry.group) return "";
  const std::string& own = group.ticket->network;
  if (own == kHostNetwork) return kHostNetwork;
  const std::string& said = config.queue.group_network;
  const bool is_auto = said == ctrl::kAutoNetwork;
  if (!own.empty()) return own == said && !is_auto && said != kPublished ? said : "";
  const bool has_address = !interface_of(config.queue.advertise).empty();
  // Others connect to each other, too, at ports of their own: workers alone (Gloo, NCCL, MPI), and
  // those of torchrun.
  const bool may_publish = has_address && group.entry.group->ps > 0 &&
                           group.entry.group->elastic != ctrl::Elastic::torchrun;
  const bool is_open = config.accept.host_network || config.accept.host_namespaces;
  if (said == kHostNetwork || (is_auto && is_open)) return has_address ? kHostNetwork : "";
  if (said == kPublished || is_auto) return may_publish ? kPublished : "";
  return said == ctrl::kNoNetwork ? "" : said;
}

bool is_bound(const Job& group, const ctrl::Config& config) {
  const bool is_in_host_network = group.ticket && group.ticket->network == kHostNetwork;
  return is_in_host_network || (may_grow(group.entry) && !network_of(group, config).empty());
}

bool group_lets_start(const Job& job) {
  if (!job.group) return true;
  const JobState state = job.group->entry.state;
  return state == JobState::starting || state == JobState::running;
}

std::string hosts_of(const Job& group, const Network& network) {
  std::set<std::string> names;
  bool is_away = false;
  for (const TaskPlace& place : places_of(*group.entry.group)) {
    is_away = is_away || !place.host.empty();
    names.insert(name_of_host(network, place.host.empty() ? network.own_id() : place.host));
  }
  return is_away ? joined(names, " ") : "";
}

std::set<std::int64_t> ports_of(const Jobs& jobs) {
  std::set<std::int64_t> ports;
  for (const auto& [id, job] : jobs.open()) {
    if (!job->entry.group) continue;
    for (const JobEntry& task : job->entry.group->tasks) {
      const bool is_here = task.endpoint && task.at.empty() && !is_closed(task.state);
      if (is_here) ports.insert(task.endpoint->port);
    }
  }
  return ports;
}

void owe(Group& group, const std::string& host, const std::vector<Endpoint>& endpoints) {
  std::vector<OwedPort>& owed = group.owed;
  for (const Endpoint& one : endpoints) owed.push_back({host, one});
  if (owed.size() > kMostOwed) {
    owed.erase(owed.begin(), owed.end() - static_cast<std::ptrdiff_t>(kMostOwed));
  }
}

JobPtr leader_of(const Jobs& jobs, const Job& group) {
  const std::vector<JobEntry>& tasks = group.entry.group->tasks;
  const auto first = std::find_if(tasks.begin(), tasks.end(), [](const JobEntry& task) {
    return !task.is_ps && !task.has_left;
  });
  return first == tasks.end() || first->id.empty() ? nullptr : jobs.find_id(first->id);
}

void Groups::adopt_task(const JobPtr& group, std::size_t task) {
  const JobEntry& entry = group->entry.group->tasks.at(task);
  if (entry.id.empty() || is_closed(entry.state)) return;
  auto job = std::make_shared<Job>(world_.host.io(), entry);
  job->group = group;
  // Its group may have come further than it has.
  const bool is_between = entry.state != JobState::waiting && entry.state != JobState::running;
  job->quiet_from = is_between ? kUnheard : group->quiet_from;
  job->request = entry.is_ps ? group->ps_request : group->worker_request;
  jobs_.add(job);
  keeper_.wake(job);
}

void Groups::adopt(const JobPtr& group) {
  for (std::size_t i = 0; i < group->entry.group->tasks.size(); ++i) adopt_task(group, i);
}

void Groups::tidy() { ctrl::spawn(world_.host.io(), "networks of groups", drop_networks()); }

Async<void> Groups::drop_networks() {
  const Result<void> done = co_await world_.engine.drop_networks();
  if (!done) ctrl::log::debug(done.error().message());
}

Async<void> Groups::drop_late(Seen seen) {
  const auto label = seen.labels.find(migration::kGroupLabel);
  if (label == seen.labels.end() || seen.copy != Copy::created) co_return;
  if (seen.labels.contains(ctrl::kMovedLabel)) co_return;
  const JobPtr group = jobs_.find_id(label->second);
  if (!group || !group->entry.group) co_return;
  const std::vector<JobEntry>& tasks = group->entry.group->tasks;
  const bool is_wanted = std::any_of(tasks.begin(), tasks.end(), [&](const JobEntry& task) {
    return task.name == seen.name || task.id == seen.id;
  });
  // An image made of a task's container has the label, too.
  if (is_wanted || !had_task(group->entry, seen.name)) co_return;
  const Result<void> removed = co_await world_.engine.remove(seen.id);
  if (!removed) ctrl::log::warning(removed.error().message());
}

GroupFacts Groups::facts(const Job& group, const JobFacts& ticket) const {
  GroupFacts facts;
  facts.now = ticket.now;
  facts.copy = ticket.copy;
  facts.life = ticket.life;
  facts.order = ticket.order;
  facts.make_refusal = ticket.start_refusal;
  facts.may_be_made_later = group.may_start_later;
  facts.saves_itself = group.ticket && group.ticket->saves_itself;
  facts.network = network_of(group, world_.host.config());
  facts.is_in_network =
      group.ticket && !facts.network.empty() && group.ticket->network == facts.network;
  facts.has_volumes = group.ticket && group.ticket->has_volumes;
  for (const JobEntry& task : group.entry.group->tasks) {
    const JobPtr job = task.id.empty() ? nullptr : jobs_.find_id(task.id);
    const bool is_made = job && task.state == JobState::waiting && task.version == 1;
    facts.ready.push_back(task.at.empty() ? is_made : job && job->is_ready);
  }
  return facts;
}

void Groups::size(Job& group, const Offers& offers) const {
  const Group& wanted = *group.entry.group;
  group.worker_request = group.ps_request = group.request;
  if (group.ticket) {
    const ctrl::QueueLabels& labels = group.ticket->labels;
    const double cores =
        group.ticket->docker_cpu.value_or(std::min(kServerCores, offers.largest.cpu));
    group.ps_request.cpu = {labels.ps_cpu.value_or(cores), Source::label};
    const double times = group.entry.has_doubled ? 2 : 1;
    group.ps_request.gpu = {offers.largest.gpu > 0 ? labels.ps_gpu.value_or(0) : 0, Source::label};
    if (labels.ps_mem) group.ps_request.mem = {std::ceil(times * *labels.ps_mem), Source::label};
  }
  // What is said of a worker is of a parameter server, too.
  if (!group.worker_request.cpu.is_said() || !group.worker_request.mem.is_said()) {
    const bool may_spread = !network_of(group, world_.host.config()).empty();
    share_out(group.worker_request, workers_of(group.entry).least, group.ps_request, wanted.ps,
              offers.all, may_spread);
  }
  const bool waits = wanted.tasks.empty();
  const auto workers =
      static_cast<double>(waits ? workers_of(group.entry).least : present(wanted, false));
  const auto ps = static_cast<double>(waits ? wanted.ps : present(wanted, true));
  add_up(group.request, group.worker_request, workers, group.ps_request, ps);
  for (std::size_t i = 0; i < wanted.tasks.size(); ++i) {
    if (wanted.tasks[i].id.empty()) continue;
    const JobPtr job = jobs_.find_id(wanted.tasks[i].id);
    if (job) job->request = wanted.tasks[i].is_ps ? group.ps_request : group.worker_request;
  }
}

// The container of that name that was made for this group; "" where there is none.
Async<Result<std::string>> Groups::find_made(JobPtr group, std::string name) {
  const Result<Seen> seen = co_await world_.engine.look(name);
  if (is_absent(seen)) co_return std::string();
  if (!seen) co_return seen.error();
  if (seen->name != name) co_return std::string();
  const auto label = seen->labels.find(migration::kGroupLabel);
  const bool is_own = label != seen->labels.end() && label->second == group->entry.id &&
                      seen->copy == Copy::created;
  if (is_own) co_return seen->id;
  co_return bad_input(migration::kNameTaken + printable(name, 80) + " already");
}

// What is asked of the engine for it.
Async<Result<Groups::Wanted>> Groups::wanted_for(JobPtr group, std::size_t task) {
  Result<Seen> seen = co_await world_.engine.look(group->entry.id);
  if (!seen) co_return seen.error();
  Seen whole = std::move(*seen);
  seen =
      co_await world_.engine.with_own_labels(world_.host.config().image_labels, std::move(whole));
  if (!seen) co_return seen.error();
  const ctrl::QueueLabels labels = ctrl::parse_queue_labels(seen->labels);
  Wanted order;
  order.body = task_body(seen->inspect, labels, group->entry, task);
  order.image = text_of(seen->inspect, "Image");
  const boost::json::value body(order.body);
  order.network = text_of(member(body, "HostConfig"), "NetworkMode");
  co_return order;
}

void Groups::give_back_all() {
  std::set<std::string> hosts;  // what is owed changes meanwhile
  for (const JobPtr& group : owing(jobs_)) {
    for (const OwedPort& port : group->entry.group->owed) hosts.insert(port.host);
  }
  for (const std::string& host : hosts) give_back(host);
}

void Groups::give_back(const std::string& host) {
  if (!giving_.insert(host).second) return;
  ctrl::spawn(world_.host.io(), "ports of " + host.substr(0, 8), give_back_to(host));
}

// One call at a time to a host, whose tasks end together.
Async<void> Groups::give_back_to(std::string host) {
  for (double rest = kRetry;;) {
    while (leasing_ > 0 && !world_.is_ended) co_await world_.clock.pause(kLeaseLook);
    std::vector<Endpoint> due;
    for (const JobPtr& group : owing(jobs_)) {
      for (const OwedPort& port : group->entry.group->owed) {
        if (port.host == host) due.push_back(port.endpoint);
      }
    }
    if (world_.is_ended || due.empty()) break;
    told_.insert(host);
    const Result<void> returned = co_await return_ports(host, std::move(due));
    told_.erase(host);
    if (returned) {
      rest = kRetry;
      continue;
    }
    co_await world_.clock.pause(rest);
    rest = std::min(kLongestRest, 2 * rest);
  }
  giving_.erase(host);
}

// It may have leased a port to another task of this host as soon as the container had ended: then
// that one is to give it back.
Async<Result<void>> Groups::return_ports(std::string host, std::vector<Endpoint> due) {
  std::erase_if(due, [&](const Endpoint& one) { return is_listened_at(jobs_, host, one); });
  due.resize(std::min(due.size(), Ports::kMostLeased));
  if (!due.empty()) {
    std::vector<Endpoint> asked = due;
    const Result<void> given = co_await leases_.give_back(host, std::move(asked));
    if (!given) co_return given;
  }
  const auto is_settled = [this, host, due](const OwedPort& port) {
    const bool is_given = std::find(due.begin(), due.end(), port.endpoint) != due.end();
    return port.host == host && (is_given || is_listened_at(jobs_, host, port.endpoint));
  };
  for (const JobPtr& group : owing(jobs_)) {
    const std::vector<OwedPort>& owed = group->entry.group->owed;
    if (std::none_of(owed.begin(), owed.end(), is_settled)) continue;
    JobKeeper::Change change = [is_settled](const JobEntry& entry, double) -> Result<JobEntry> {
      JobEntry next = entry;
      std::erase_if(next.group->owed, is_settled);
      return next;
    };
    const Result<void> written = co_await keeper_.amend(group, std::move(change));
    if (!written) co_return written;
  }
  co_return Result<void>();
}

Async<Result<void>> Groups::lease(JobPtr group) {
  ++leasing_;
  const Result<void> done = co_await lease_all(std::move(group));
  --leasing_;
  co_return done;
}

// What is owed stands in the journal before anybody is asked.
Async<Result<void>> Groups::return_later(JobPtr group, Owed owed) {
  if (owed.empty()) co_return Result<void>();
  JobKeeper::Change change = [owed](const JobEntry& entry, double) -> Result<JobEntry> {
    JobEntry next = entry;
    for (const auto& [host, endpoints] : owed) owe(*next.group, host, endpoints);
    return next;
  };
  const Result<void> written = co_await keeper_.amend(std::move(group), std::move(change));
  if (!written) co_return written;
  for (const auto& [host, endpoints] : owed) give_back(host);
  co_return Result<void>();
}

// Asked for again where the answer was lost: what was leased then comes free by itself.
Async<Result<void>> Groups::lease_all(JobPtr group) {
  // What is on its way back could be leased anew before that arrives, which would end the lease.
  const auto is_told = [this](const JobEntry& task) { return told_.contains(task.at); };
  const auto is_any_told = [&] {
    const std::vector<JobEntry>& tasks = group->entry.group->tasks;
    return std::any_of(tasks.begin(), tasks.end(), is_told);
  };
  while (is_any_told() && !world_.is_ended) co_await world_.clock.pause(kLeaseLook);
  if (world_.is_ended) co_return errno_error(EAGAIN, "flowcond stops");
  std::vector<TaskPlace> places;
  std::vector<std::vector<std::string>> names;
  for (const JobEntry& task : group->entry.group->tasks) {
    if (task.endpoint || !is_present(task)) continue;
    std::size_t place = 0;
    while (place < places.size() && places[place].host != task.at) ++place;
    if (place == places.size()) {
      places.push_back({task.at, 0, 0});
      names.emplace_back();
    }
    if (!listens(*group->entry.group, task)) continue;
    ++places[place].workers;
    names[place].push_back(task.name);
  }
  const bool is_published = group->entry.group->network == kPublished;
  Leases::Outcome outcome = co_await leases_.lease(std::move(places), is_published);
  const Result<void> written = co_await return_later(group, outcome.owed);
  if (!written) co_return written;
  if (!outcome.why.empty()) {
    // Nothing is made yet: where another host does not answer the job need not wait for it.
    const bool is_over = outcome.is_refusal || outcome.is_busy || !outcome.host.empty();
    const std::string& host = outcome.host.empty() ? world_.network.own_id() : outcome.host;
    if (is_over) group->avoided[host] = world_.clock.steady() + kAvoided;
    group->may_start_later = !outcome.is_refusal;
    co_return is_over ? bad_input(outcome.why) : errno_error(EAGAIN, outcome.why);
  }
  std::map<std::string, Endpoint> leased;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t k = 0; k < names[i].size(); ++k) leased[names[i][k]] = outcome.endpoints[i][k];
  }
  JobKeeper::Change change = [leased](const JobEntry& entry, double) {
    return with_tasks(entry, [&](std::vector<JobEntry>& tasks) {
      for (JobEntry& one : tasks) {
        const auto found = leased.find(one.name);
        if (found != leased.end()) one.endpoint = found->second;
      }
    });
  };
  co_return co_await keeper_.edit(std::move(group), std::move(change));
}

// A worker joins, as the first one on its host: can it reach the first worker and the servers, and
// can those that run reach it? Ports are leased for that alone, since at theirs the tasks listen by
// now, or not yet. Where too few are left nothing is tried.
Async<Result<void>> Groups::try_newcomer(JobPtr group, std::size_t task) {
  const Group all = *group->entry.group;
  const std::string host = all.tasks.at(task).at;
  const bool is_published = all.network == kPublished;
  const bool is_known = std::any_of(all.tasks.begin(), all.tasks.end(), [&](const JobEntry& one) {
    return one.at == host && is_present(one) && !one.id.empty();
  });
  const bool has_ports = is_published || all.network == kHostNetwork;
  if (group->entry.state != JobState::running || is_known || !has_ports) co_return Result<void>();
  std::vector<TaskPlace> places = places_of(all);
  const std::string first = places.front().host;
  for (TaskPlace& place : places) {
    const bool is_end = !is_published && (place.host == first || place.host == host);
    place = {place.host, place.ps > 0 || is_end ? 1 : 0, 0};
  }
  ++leasing_;
  const auto is_told = [this](const TaskPlace& place) { return told_.contains(place.host); };
  while (!world_.is_ended && std::any_of(places.begin(), places.end(), is_told)) {
    co_await world_.clock.pause(kLeaseLook);
  }
  std::vector<TaskPlace> asked = places;
  const Leases::Outcome tried = co_await leases_.lease(std::move(asked), is_published);
  Owed owed = tried.owed;
  for (std::size_t i = 0; i < places.size() && tried.why.empty(); ++i) {
    if (!tried.endpoints[i].empty()) owed[places[i].host] = tried.endpoints[i];
  }
  const Result<void> written = co_await return_later(group, std::move(owed));
  --leasing_;
  if (!written) co_return written;
  if (tried.why.empty() || tried.is_busy) co_return Result<void>();
  const bool is_over = tried.is_refusal || !tried.host.empty();
  co_return is_over ? bad_input(tried.why) : errno_error(EAGAIN, tried.why);
}

Async<Result<void>> Groups::make(JobPtr group, std::size_t task) {
  const std::string name = group->entry.group->tasks.at(task).name;
  const Result<void> tried = co_await try_newcomer(group, task);
  if (!tried) co_return tried;
  Result<Wanted> wanted_task = co_await wanted_for(group, task);
  if (!wanted_task) co_return wanted_task.error();
  Result<std::string> id = co_await find_made(group, name);
  if (!id) co_return id.error();
  if (id->empty()) {
    const std::string why = world_.give_gpus(wanted_task->body, *group, task);
    group->may_start_later = !why.empty();
    if (!why.empty()) co_return bad_input(why);
    id = co_await world_.engine.create(name, std::move(wanted_task->body),
                                       std::move(wanted_task->image));
    if (!id) {
      // What was asked for before, and not answered, may have been carried out just now.
      Result<std::string> made = co_await find_made(group, name);
      if (!made || made->empty()) co_return id.error();
      id = std::move(made);
    }
  }
  // Where they go elsewhere it is made there.
  const bool is_here = group->entry.group->tasks.at(task).at.empty();
  if (is_here && migration::is_group_network(wanted_task->network)) {
    const Result<void> kept = co_await world_.engine.keep_network(std::move(wanted_task->network));
    if (!kept) {
      group->may_start_later = true;  // other networks may go
      co_return kept.error();
    }
  }
  JobKeeper::Change change = [name, made = *id](const JobEntry& entry, double) {
    return with_tasks(entry, [&](std::vector<JobEntry>& tasks) {
      for (JobEntry& one : tasks) {
        if (one.name == name) one.id = made;
      }
    });
  };
  const Result<void> written = co_await keeper_.edit(group, std::move(change));
  if (written) adopt_task(group, task);
  co_return written;
}

Async<Result<void>> Groups::remove(JobPtr group, std::size_t task) {
  const JobEntry given_up = group->entry.group->tasks.at(task);
  const std::string name = given_up.name;
  std::string id = given_up.id;
  if (id.empty()) {
    const Result<std::string> made = co_await find_made(group, name);
    if (made) id = *made;
    if (!made && made.error().code) co_return made.error();
  }
  if (!id.empty()) {
    // One that has left, and that a person has started again, is theirs.
    Async<Result<void>> removal = given_up.has_left ? world_.engine.remove_ended(std::move(id))
                                                    : world_.engine.remove(std::move(id));
    const Result<void> removed = co_await std::move(removal);
    if (!removed) co_return removed;
  }
  // One that was made owes it already, since it is over.
  const bool is_owing = given_up.id.empty() && given_up.endpoint;
  JobKeeper::Change change = [given_up, is_owing](const JobEntry& entry, double) {
    Result<JobEntry> next = with_tasks(entry, [&](std::vector<JobEntry>& tasks) {
      std::erase_if(tasks, [&](const JobEntry& one) { return one.name == given_up.name; });
    });
    if (is_owing) owe(*next->group, given_up.at, {*given_up.endpoint});
    return next;
  };
  const Result<void> written = co_await keeper_.edit(std::move(group), std::move(change));
  if (written && is_owing) give_back(given_up.at);
  co_return written;
}

// Forgotten where the task has changed since.
void Groups::give(const JobPtr& group, std::size_t task, const std::string& host) {
  const JobPtr job = jobs_.find_id(group->entry.group->tasks.at(task).id);
  if (!job) return;
  const bool is_known = job->order && job->order->version == job->entry.version;
  if (is_known) return;
  job->order = Order{Order::Op::start, job->entry.version, host, host.empty() ? "" : random_id()};
  keeper_.wake(job);
}

Async<Result<void>> Groups::carry_out_one(JobPtr group, GroupDeed deed) {
  // It is none of a task, and there may be none.
  if (deed.act == GroupAct::halt) co_return co_await world_.engine.stop_at_once(group->entry.id);
  const std::string id = group->entry.group->tasks.at(deed.task).id;
  const JobPtr job = id.empty() ? nullptr : jobs_.find_id(id);
  group->may_start_later = false;
  switch (deed.act) {
    case GroupAct::lease:
      co_return co_await lease(std::move(group));
    case GroupAct::make:
      co_return co_await make(std::move(group), deed.task);
    case GroupAct::remove:
      co_return co_await remove(std::move(group), deed.task);
    case GroupAct::place:
      give(group, deed.task, group->entry.group->tasks.at(deed.task).at);
      break;
    case GroupAct::start:
      give(group, deed.task, "");
      break;
    case GroupAct::save:
    case GroupAct::cancel: {
      JobKeeper::Change change = deed.act == GroupAct::save ? park : cancel;
      if (!job) break;
      const Result<void> done = co_await keeper_.edit(job, std::move(change));
      // It may have ended by now; that the journal cannot be written has a code.
      if (!done && done.error().code) co_return done;
      break;
    }
    case GroupAct::halt:
      break;
  }
  co_return Result<void>();
}

// A failpoint: what is about to be done in that state. True: it was waited, once.
Async<bool> Groups::hold(JobPtr group, GroupAct act) {
  const std::string here = std::string("queue.") + name(group->entry.state) + "." +
                           kActs.at(static_cast<std::size_t>(act));
  const double seconds = failpoint_seconds(here);
  if (seconds <= 0 || group->held == here) co_return false;
  group->held = here;
  ctrl::log::info("job " + group->entry.name + " is held up at " + here);
  const double until = world_.clock.steady() + seconds;
  while (world_.clock.steady() < until && !failpoints_are_over() && !world_.is_ended)
    co_await world_.clock.pause(kHoldLook);
  co_return true;
}

// Else it would be tried again at once. This engine makes what runs elsewhere, too; only a network
// is one of this host.
void Groups::avoid(Job& group) const {
  const double until = world_.clock.steady() + kAvoided;
  group.avoided[world_.network.own_id()] = until;
  if (group.may_start_later) return;
  for (const Neighbour& one : world_.network.neighbours()) {
    if (!one.id.empty()) group.avoided[one.id] = until;
  }
}

Async<bool> Groups::carry_out(JobPtr group, std::vector<GroupDeed> deeds) {
  bool has_changed = false;
  for (const GroupDeed& deed : deeds) {
    if (co_await hold(group, deed.act)) co_return !world_.is_ended;
    const Result<void> done = co_await carry_out_one(group, deed);
    const bool is_own =
        deed.act == GroupAct::make || deed.act == GroupAct::remove || deed.act == GroupAct::lease;
    has_changed = has_changed || (done && is_own);
    if (done) continue;
    // Without an answer nothing is known.
    const bool is_asked = deed.act == GroupAct::make || deed.act == GroupAct::lease;
    const bool is_refused = is_asked && is_answer(done.error());
    group->trouble = done.error().message();
    if (is_refused) group->start_refusal = done.error().message();
    // Where a name is taken it may be tried at once: the next ones have others. Where it was to
    // lease that is said.
    const bool is_taken = done.error().what.starts_with(migration::kNameTaken);
    if (is_refused && deed.act == GroupAct::make && !is_taken) avoid(*group);
    group->retry_at = world_.clock.steady() + (is_refused ? 0 : kRetry);
    co_return is_refused;
  }
  co_return has_changed;
}

}  // namespace flowcon::cluster::queue
