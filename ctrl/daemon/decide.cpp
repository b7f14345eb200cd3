// SPDX-License-Identifier: Apache-2.0
// What each gets: looks, the policy's decision, and how it is made real.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "cgroups/memory.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

std::string parent_of(const std::string& group) {
  const auto slash = group.rfind('/');
  return slash == std::string::npos ? std::string() : group.substr(0, slash);
}

// Where our jobs use less of the host together, something else may be what one of them waits for.
constexpr double kBusy = 0.9;

// CPU time is read at each tick. Memory, traffic and what others wrote over our limits cost ten
// times as much, and are read at each third one.
constexpr double kTicksOfRest = 3;

bool is_rest_due(const std::map<std::string, Job>& jobs, double now, double observe) {
  // Half a tick less: no two are exactly as far apart.
  return std::any_of(jobs.begin(), jobs.end(), [&](const auto& entry) {
    const Job& job = entry.second;
    return job.has_traffic && job.unsupported.empty() &&
           now - job.traffic_at.steady >= (kTicksOfRest - 0.5) * observe;
  });
}

}  // namespace

void Daemon::look(Moment now) {
  if (!is_run_due_ && now.steady < next_look_ && now.steady < next_run_) return;
  next_look_ = now.steady + config_.observe;
  // A policy that divides by work decides by CPU time and the log alone.
  const bool needs_rest = planning_.divides_by() != policy::DividesBy::work ||
                          config_.limits(Resource::memory) || config_.limits(Resource::io);
  const bool is_deciding = is_run_due_ || now.steady >= next_run_;
  meter_.look(now, (needs_rest && is_deciding) || is_rest_due(jobs_, now.steady, config_.observe));
  for (auto& [id, job] : jobs_) {
    const bool is_read = job.unsupported.empty() && job.traffic_at.steady == now.steady;
    if (is_read && job.is_limited) find_drift(job);
  }
  follow_tracks(now);
}

// The engine, systemd or a person may have written here since; what is there counts.
void Daemon::find_drift(Job& job) {
  Result<cgroups::Setting> there = read_present(job);
  if (!there || cgroups::limits_alike(*there, job.present)) return;
  ++counts_.reverts;
  job.present = *there;
  job.is_reverted = true;
  notifier_.tell_about(job, EventKind::revert, "its limit was changed by another program");
  log::event(log::Event::limit_reverted,
             "the limit of " + printable(job.container.name, 80) +
                 " was changed by another program; writing it again",
             job.id());
}

// Memory and I/O are read again only where something is written there.
Result<cgroups::Setting> Daemon::read_present(const Job& job) const {
  if (job.present.memory != job.original.memory ||
      !cgroups::limits_alike(job.present.io, job.original.io)) {
    return cgroups::read_setting(*world_.fs, job.group, limits_.mechanism());
  }
  Result<cgroups::CpuSetting> cpu = cgroups::read_cpu(*world_.fs, job.group);
  if (!cpu) return cpu.error();
  cgroups::Setting setting = job.present;
  setting.cpu = *cpu;
  return setting;
}

// At each look, whatever the policy: a policy that is chosen later finds what it needs.
void Daemon::follow_tracks(Moment now) {
  double used = 0;
  for (const std::string& id : planning_.members()) used += jobs_.at(id).cpu_share.value_or(0);
  for (auto& [id, job] : jobs_) {
    const bool is_half_read = job.past && tails_.stats(id).is_catching_up;
    follow_track(job, now, used >= kBusy, is_half_read);
  }
}

void Daemon::decide(Moment now) {
  is_run_due_ = false;
  ++counts_.decisions;
  policy::Rounds rounds;
  next_run_ = now.steady + planning_.decide(jobs_, now, rounds);
  recorder_.add(now.wall, rounds);
}

// What each gets when all want the whole host. Shares by growth are not of all that there is.
void Daemon::note_guarantees() {
  const bool is_held = planning_.divides_by() == policy::DividesBy::work &&
                       config_.limits(Resource::cpu) && !config_.dry_run;
  const bool is_weighed = config_.limit_mode == cgroups::LimitMode::weight;
  const auto claim = [&](const Job& job) {
    const auto weight = static_cast<double>(job.original.cpu.weight);
    return job.cpu.granted * (is_weighed ? job.settings.weight * weight : 1);
  };
  double all = 0;
  for (const std::string& id : planning_.members()) all += claim(jobs_.at(id));
  if (!is_weighed) all = std::max(1.0, all);  // caps that leave some of the host to nobody
  for (const std::string& id : planning_.members()) {
    Job& job = jobs_.at(id);
    job.guaranteed = is_held && all > 0 ? claim(job) / all * host_.cores : 0;
  }
}

void Daemon::grant_all(Moment now) {
  for (const std::string& id : planning_.members()) {
    Job& job = jobs_.at(id);
    if (job.control.pin && now.wall >= job.control.pin->until.value_or(now.wall + 1)) {
      job.control.pin.reset();
      log::info("container " + printable(job.container.name, 80) + ": its pin has ended");
      spawn(io_, "pin ends", save_ended_pin(id, job.control));
    }
    Settings settings = job.settings;
    settings.only_grow = settings.only_grow || config_.only_grow;
    // A pin is a share of the CPU.
    job.memory.granted = grant(job.memory.limit, job.memory.granted, settings, {});
    job.io.granted = grant(job.io.limit, job.io.granted, settings, {});
    const double before = job.cpu.granted;
    // The sooner it has saved itself, the less it stands still.
    const bool is_saving = companion_ != nullptr && companion_->is_saving(id);
    if (is_saving && !job.before_saving) job.before_saving = before;
    job.cpu.granted = grant(is_saving ? 1 : job.cpu.limit, job.before_saving.value_or(before),
                            settings, job.control.pin);
    if (!is_saving) job.before_saving.reset();
    if (job.cpu.granted == before) continue;
    ++counts_.limit_changes;
    const std::string reason = job.control.pin ? "pinned"
                               : is_saving     ? "it saves itself, to move"
                                               : job.reason;
    log::limit_change({job.container.name, id, before, job.cpu.granted, reason, config_.dry_run});
  }
  note_guarantees();
}

// A resource that is not to be limited keeps its originals.
std::map<std::string, cgroups::Setting> Daemon::plan() {
  std::vector<cgroups::Share> cpu;
  std::vector<cgroups::MemoryShare> memory;
  std::vector<cgroups::IoShare> io;
  for (const std::string& id : planning_.members()) {
    const Job& job = jobs_.at(id);
    const double factor = job.settings.weight;
    cpu.push_back({job.original.cpu, parent_of(job.group.cpu), job.cpu.granted, factor});
    memory.push_back({job.original.memory, job.reading.memory, job.memory.granted});
    io.push_back({job.original.io, parent_of(job.group.io), job.io.granted, factor});
  }
  const auto cpu_plan =
      cgroups::share_out(cpu, config_.limit_mode, host_.cores, world_.fs->is_v2("cpu"));
  cgroups::MemoryParameters thresholds;
  thresholds.low_available = config_.memory_low;
  thresholds.release_available = std::min(1.0, config_.memory_low * 1.5);
  const auto memory_plan =
      cgroups::soften(memory, meter_.host_memory(), thresholds, is_short_of_memory_);
  const auto io_plan =
      cgroups::share_out_io(io, config_.limit_mode, bandwidths(), limits_.mechanism());
  std::map<std::string, cgroups::Setting> planned;
  const std::vector<std::string>& members = planning_.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    cgroups::Setting setting = jobs_.at(members[i]).original;
    if (config_.limits(Resource::cpu)) setting.cpu = cpu_plan[i];
    if (config_.limits(Resource::memory)) setting.memory = memory_plan[i];
    if (config_.limits(Resource::io)) setting.io = io_plan[i];
    planned[members[i]] = std::move(setting);
  }
  return planned;
}

// What an admin says that each disk can do; without it there are no caps.
std::map<std::string, double> Daemon::bandwidths() const {
  std::map<std::string, double> all;
  if (config_.limit_mode != cgroups::LimitMode::quota || config_.io_bandwidth <= 0) return all;
  if (Result<std::vector<cgroups::BlockDevice>> devices = cgroups::read_block_devices(*world_.fs)) {
    for (const cgroups::BlockDevice& device : *devices) all[device.number] = config_.io_bandwidth;
  }
  return all;
}

Async<void> Daemon::apply(Moment now) {
  is_apply_due_ = false;
  if (takeover_.is_awaiting(now.steady)) co_return;
  grant_all(now);
  if (config_.dry_run) co_return;
  std::vector<Target> targets;
  const std::map<std::string, cgroups::Setting> planned = plan();
  for (const auto& [id, setting] : planned) {
    const Job& job = jobs_.at(id);
    // A new original must reach the store even where nothing has to be written.
    const bool is_stale = job.is_limited && !job.is_original_saved;
    if (setting == job.present && !is_stale) continue;
    Target target;
    target.container = original_of(job);
    target.is_original_saved = job.is_original_saved;
    target.present = job.present;
    target.setting = setting;
    targets.push_back(std::move(target));
  }
  if (targets.empty()) co_return;
  const std::vector<Outcome> outcomes = co_await limits_.apply(std::move(targets));
  for (const Outcome& outcome : outcomes) {
    const auto found = jobs_.find(outcome.id);
    if (found == jobs_.end()) continue;
    Job& job = found->second;
    job.is_original_saved = outcome.is_original_saved;
    job.is_limited = job.is_limited || outcome.is_original_saved;
    if (outcome.is_written) {
      job.present = planned.at(outcome.id);
      if (std::exchange(job.is_reverted, false)) ++counts_.reapplied;
    }
    if (outcome.problem != job.problem) {
      job.problem = outcome.problem;
      if (!job.problem.empty()) {
        log::event(log::Event::limit_refused,
                   "container " + printable(job.container.name, 80) + ": " + job.problem,
                   outcome.id);
      }
    }
  }
}

}  // namespace flowcon::ctrl
