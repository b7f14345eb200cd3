// SPDX-License-Identifier: Apache-2.0
#include "cluster/queue/host_room.h"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>

#include "base/hex.h"
#include "cluster/migration/plan/refusals.h"
#include "cluster/queue/all_jobs.h"
#include "cluster/queue/next_host.h"
#include "ctrl/policy/host_policies.h"

namespace flowcon::cluster::queue {
namespace {

constexpr double kAboutTo = 5;    // seconds in which one that begins has its room
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
  return queue::is_overbooked(free_of(owner_.offer(), holders(), {}));
}

HostRoom::Room HostRoom::room() const {
  const ctrl::HostView host = world_.host.view();
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
  const Offer offer = owner_.offer();
  Room room{free_of(offer, holders, others), {}};
  if (others.available) {
    for (const Holder& holder : holders) *others.available += holder.memory;
  }
  room.most = free_of(offer, {}, others);
  return room;
}

std::string HostRoom::why_no_room(const policy::Amounts& request) const {
  return tasks_.is_ready() && fits(request, room().free) ? "" : migration::kNoRoomNow;
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
  if (id.empty() || !takes_early() || cores > owner_.offer().cpu || !why_no_room(rest).empty()) {
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
