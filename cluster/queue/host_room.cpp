// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/host_room.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "base/hex.h"
#include "base/json_reader.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/all_jobs.h"
#include "cluster/queue/group.h"
#include "cluster/queue/next_host.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kAboutTo = 5;    // seconds in which one that begins has its room
constexpr double kMaking = 60;    // that the engine has for a container, until it is looked at
constexpr double kSettling = 15;  // in which requests by earlier runs are known after a start

constexpr const char* kEarlyFile = "early";

bool is_with_room(JobState state) {
  return state != JobState::waiting && state != JobState::returning && !is_closed(state);
}

// Of a group: its tasks for this host that have no container yet.
std::size_t unmade(const Job& job, bool are_ps) {
  const std::optional<Group>& group = job.entry.group;
  if (!group || !is_with_room(job.entry.state)) return 0;
  return static_cast<std::size_t>(
      std::count_if(group->tasks.begin(), group->tasks.end(), [are_ps](const JobEntry& task) {
        return task.id.empty() && task.is_ps == are_ps && task.at.empty();
      }));
}

// It has been ordered to start here.
bool is_about_to_start(const Job& job) {
  return job.order && job.order->op == Order::Op::start && job.order->host.empty() &&
         job.order->version == job.entry.version && job.entry.state == JobState::waiting;
}

// Containers under control that are none of the queue's.
std::vector<GpuHolder> foreign_gpus(const ctrl::LocalHost& host, const std::set<std::string>& own) {
  const ctrl::HostSnapshot view = host.view();
  std::vector<GpuHolder> holders;
  for (const std::string& id : view.jobs) {
    const auto use = own.contains(id) ? std::nullopt : host.use_of(id);
    if (!use || use->gpus.is_none()) continue;
    const auto count = static_cast<double>(use->gpus.size(view.gpus.size()));
    holders.push_back({host.name_of(id), count, use->gpus});
  }
  return holders;
}

}  // namespace

bool holds_room(const Job& job) {
  const bool waits = job.group && job.entry.state == JobState::waiting;
  return is_with_room(waits ? job.group->entry.state : job.entry.state);
}

HostRoom::HostRoom(World& world, Owner& owner, Tasks& tasks)
    : world_(world), owner_(owner), tasks_(tasks) {
  std::istringstream kept(kept_text(world.host, kEarlyFile));
  std::string id;
  double since = 0;
  if (!(kept >> id >> since) || !is_container_id(id)) return;
  const double age = world.clock.wall() - since;
  // The clock may have been set back.
  if (age < 0 || age >= kMostEarly) return;
  early_ = {id, world.clock.steady() - age, std::numeric_limits<double>::infinity()};
}

// For the next flowcond.
void HostRoom::keep() const {
  const double age = world_.clock.steady() - early_.since;
  std::ostringstream line;
  if (!early_.id.empty()) {
    line << early_.id << " " << std::fixed << world_.clock.wall() - age << "\n";
  }
  keep_text(world_.host, kEarlyFile, line.str());
}

std::vector<Holder> HostRoom::holders() const {
  std::vector<Holder> holders;
  const auto hold = [&](const std::string& id, const policy::Amounts& request) {
    const auto use = world_.host.use_of(id);
    holders.push_back({request, use ? use->memory : 0, id});
  };
  for (const auto& [id, job] : owner_.jobs().open()) {
    for (std::size_t i = unmade(*job, false); i > 0; --i) hold(id, job->worker_request.amounts());
    for (std::size_t i = unmade(*job, true); i > 0; --i) hold(id, job->ps_request.amounts());
    const bool is_here =
        holds_room(*job) && !job->entry.task && !job->entry.group && job->entry.at.empty();
    if (is_here) hold(id, job->request.amounts());
  }
  for (const Tasks::Resident& task : tasks_.residents()) hold(task.container, task.request);
  return holders;
}

// Do they ask for more cores than it offers?
bool HostRoom::is_overbooked() const {
  return queue::is_overbooked(free_of(owner_.sizing().offer(), holders(), {}));
}

HostRoom::Room HostRoom::room() const {
  const ctrl::HostSnapshot host = world_.host.view();
  const std::vector<Holder> holders = this->holders();
  std::set<std::string> own;
  for (const Holder& holder : holders) own.insert(holder.container);
  Others others;
  for (const std::string& id : host.jobs) {
    const auto use = own.contains(id) ? std::nullopt : world_.host.use_of(id);
    if (!use) continue;
    others.cpu += use->cores;
    others.memory += use->memory;
  }
  if (host.available > 0) others.available = host.available;
  const Offer offer = owner_.sizing().offer();
  if (!host.gpus.empty()) {
    others.gpus = GpuLedger(host.gpus, foreign_gpus(world_.host, own)).free(offer.gpu);
  }
  Room room{free_of(offer, holders, others), {}};
  if (others.available) {
    for (const Holder& holder : holders) *others.available += holder.memory;
  }
  room.most = free_of(offer, {}, others);
  return room;
}

std::string HostRoom::why_no_room(const policy::Amounts& request) const {
  const double gpus = policy::amount_of(request, "gpu");
  const bool has_room =
      tasks_.is_ready() && fits(request, room().free) &&
      (gpus <= 0 || !gpus_without("").choose(gpus, owner_.sizing().offer().gpu).empty());
  return has_room ? "" : migration::kNoRoomNow;
}

std::string HostRoom::why_no_room(const cluster::Passage& birth) const {
  const double gpus = policy::amount_of(birth.request, "gpu");
  const bool has_room = tasks_.is_ready() && fits(birth.request, room().free) &&
                        gpus_without(birth.entry.name).why_taken(birth.gpus, gpus).empty();
  return has_room ? "" : migration::kNoRoomNow;
}

// ------------------------------------------------------------------------- who has which GPU

std::vector<GpuHolder> HostRoom::gpu_holders(const std::string& but) const {
  std::vector<GpuHolder> holders;
  std::set<std::string> own;
  const auto hold = [&](const std::string& name, const policy::Amounts& request,
                        const ctrl::GpuDevices& gpus) {
    if (name != but) holders.push_back({name, policy::amount_of(request, "gpu"), gpus});
  };
  for (const auto& [id, job] : owner_.jobs().open()) {
    own.insert(id);
    const bool is_here = !job->entry.task && !job->entry.group && job->entry.at.empty();
    const bool has_room = holds_room(*job) || is_about_to_start(*job);
    if (!is_here || !has_room || !job->ticket) continue;
    hold(job->entry.name, job->request.amounts(), job->ticket->gpus);
  }
  for (const Tasks::Resident& task : tasks_.residents()) {
    own.insert(task.container);
    hold(task.name, task.request, task.gpus);
  }
  const auto is_known = [&](const std::string& name) {
    return std::any_of(holders.begin(), holders.end(), [&](const GpuHolder& one) {
      return one.name == name && !one.devices.is_none();
    });
  };
  for (const auto& [name, given] : given_) {
    const bool is_being_made = world_.clock.steady() < given.until && !is_known(name);
    if (name != but && is_being_made && is_wanted(given)) holders.push_back(given.holder);
  }
  for (GpuHolder& other : foreign_gpus(world_.host, own)) holders.push_back(std::move(other));
  return holders;
}

// It may be over by now.
bool HostRoom::is_wanted(const Given& given) const {
  const auto& open = owner_.jobs().open();
  const auto group = open.find(given.group);
  if (group == open.end() || !group->second->entry.group) return false;
  const std::vector<JobEntry>& tasks = group->second->entry.group->tasks;
  return std::any_of(tasks.begin(), tasks.end(), [&](const JobEntry& task) {
    return task.name == given.holder.name && is_present(task);
  });
}

// After a start of flowcond those that run, or were made for a group, are looked at first.
bool HostRoom::knows_holders() const {
  if (!tasks_.is_ready()) return false;
  if (owner_.is_ready()) return true;
  const auto& open = owner_.jobs().open();
  return std::all_of(open.begin(), open.end(), [&](const auto& one) {
    const Job& job = *one.second;
    const bool is_here = job.entry.at.empty() && !job.entry.task && holds_room(job);
    return !is_here || job.ticket || given_.contains(job.entry.name);
  });
}

GpuLedger HostRoom::gpus_without(const std::string& name) const {
  return {world_.host.view().gpus, gpu_holders(name)};
}

std::string HostRoom::why_gpus_taken(const Job& job) const {
  if (!job.ticket || job.group) return "";
  const ctrl::GpuDevices& gpus = job.ticket->gpus;
  const bool is_group = job.entry.group.has_value();
  const double amount = (is_group ? job.worker_request : job.request).gpu.value;
  // Workers get others, unless it is said which.
  if (gpus.is_none() || amount <= 0 || (is_group && gpus.ids.empty())) return "";
  return gpus_without(job.entry.name).why_taken(gpus, amount);
}

// None: it gets what docker gives it, or nothing, for that reason.
ctrl::GpuDevices HostRoom::choose(const boost::json::object& body, const std::string& name,
                                  double gpus, bool is_early, std::string& why) const {
  const ctrl::HostSnapshot host = world_.host.view();
  const boost::json::value* host_config = body.if_contains("HostConfig");
  if (host_config == nullptr || !host_config->is_object()) return {};
  const ctrl::GpuDevices asked = ctrl::gpus_in(*host_config);
  if (asked.is_none() || !asked.ids.empty()) return {};
  why = migration::kNoRoomNow;
  if (host.is_seeking_gpus || !knows_holders()) return {};
  why.clear();
  if (host.gpus.empty() || gpus <= 0) return {};
  const double offered = owner_.sizing().offer().gpu;
  ctrl::GpuDevices chosen{0, gpus_without(name).choose(gpus, offered)};
  if (chosen.is_none() && is_early) chosen.ids = GpuLedger(host.gpus, {}).choose(gpus, offered);
  if (chosen.is_none()) why = migration::kNoRoomNow;
  return chosen;
}

std::string HostRoom::give_gpus(boost::json::object& body, const Job& group, std::size_t task) {
  const double now = world_.clock.steady();
  std::erase_if(given_, [now](const auto& one) { return now >= one.second.until; });
  const JobEntry& made = group.entry.group->tasks.at(task);
  const double gpus = (made.is_ps ? group.ps_request : group.worker_request).gpu.value;
  std::string why;
  const ctrl::GpuDevices chosen =
      made.at.empty() ? choose(body, made.name, gpus, false, why) : ctrl::GpuDevices();
  if (chosen.is_none()) return why;
  ctrl::set_gpus(body["HostConfig"].get_object(), chosen.ids);
  given_[made.name] = {{made.name, gpus, chosen}, now + kMaking, group.entry.id};
  return "";
}

std::string HostRoom::give_gpus(boost::json::object& body, const cluster::Passage& birth) const {
  const double gpus = policy::amount_of(birth.request, "gpu");
  std::string why;
  const ctrl::GpuDevices chosen = choose(body, birth.entry.name, gpus, birth.is_early, why);
  if (!chosen.is_none()) ctrl::set_gpus(body["HostConfig"].get_object(), chosen.ids);
  return why;
}

// It has what others leave by its weight.
bool HostRoom::has_weights() const {
  const ctrl::Config& config = world_.host.config();
  return config.limiting.mode == cgroups::LimitMode::weight && !config.dry_run &&
         config.limits(ctrl::Resource::cpu) && !world_.host.view().is_paused &&
         ctrl::policy::divides_by(config.policy) != ctrl::policy::DividesBy::nothing;
}

bool HostRoom::takes_early() const {
  const bool is_another_about_to =
      !early_.id.empty() && world_.clock.steady() < early_.since + kAboutTo;
  return has_weights() && !is_another_about_to && !has_early() && !is_overbooked();
}

std::string HostRoom::begin_early(const std::string& id, const policy::Amounts& request) {
  const double cores = policy::amount_of(request, "cpu");
  policy::Amounts rest = request;
  std::erase_if(rest, [](const auto& one) { return one.first == "cpu"; });
  if (id.empty() || !takes_early() || cores > owner_.sizing().offer().cpu ||
      !why_no_room(rest).empty()) {
    return migration::kNoRoomNow;
  }
  early_ = {id, world_.clock.steady(), 0};
  keep();
  return "";
}

bool HostRoom::has_early() const {
  return !early_.id.empty() && (world_.clock.steady() < early_.sure_from || is_overbooked());
}

bool HostRoom::is_early(const std::string& id) const {
  return early_.id == id && world_.clock.steady() < early_.since + kMostEarly && has_weights() &&
         has_early();
}

void HostRoom::look() {
  const double now = world_.clock.steady();
  if (early_.id.empty() || now < early_.since + kAboutTo) return;
  const bool is_known = owner_.is_ready() && tasks_.is_ready() && world_.history() != 0;
  if (is_known) early_.sure_from = std::min(early_.sure_from, now + kSettling);
  if (now < early_.sure_from || is_overbooked()) return;
  early_ = {};
  keep();
}

}  // namespace flowcon::cluster::queue
