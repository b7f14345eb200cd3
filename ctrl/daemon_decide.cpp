// SPDX-License-Identifier: Apache-2.0
// What each gets: looks, the executor (Algorithm 1), and its placements made real.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "cgroups/memory.h"
#include "cgroups/network.h"
#include "ctrl/codec/decision_json.h"
#include "ctrl/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

std::string parent_of(const std::string& group) {
  const auto slash = group.rfind('/');
  return slash == std::string::npos ? std::string() : group.substr(0, slash);
}

constexpr double kTrafficEvery = 15;  // seconds; nothing that a decision needs comes sooner
constexpr double kClockJump = 2;      // seconds; ntp slews less between two looks

std::string percent(double share) { return render_number(std::round(share * 1e4) / 100) + " %"; }

// Why a job has its limit, in words.
std::string reason_for(const Job& job, const policy::ExecutorDecision& decision, double alpha) {
  if (decision.all_completing) return "all are completing: free competition";
  const std::optional<double> growth = growth_for_decision(job.cpu);
  const std::string list = name(job.cpu.list);
  if (!growth) return list + ": growth not measured";
  return list + ": growth " + percent(*growth) + "/s is " +
         (*growth < alpha ? "under" : "at least") + " alpha " + percent(alpha);
}

}  // namespace

void Daemon::look(Moment now) {
  if (!is_run_due_ && now.steady < next_look_ && now.steady < next_run_) return;
  next_look_ = now.steady + config_.observe;
  follow_clock(now);
  const bool is_deciding = is_run_due_ || now.steady >= next_run_;
  const bool is_traffic_due = is_deciding || now.steady >= next_traffic_;
  if (is_traffic_due) {
    next_traffic_ = now.steady + kTrafficEvery;
    Result<std::uint64_t> moved = cgroups::read_host_io();
    host_io_ = moved ? *moved : 0;
    if (gpus_ && !is_reading_gpus_) spawn(io_, "gpus", read_gpus());
  }
  if (Result<cgroups::HostMemory> memory = cgroups::read_host_memory()) host_memory_ = *memory;
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    Result<std::uint64_t> cpu = cgroups::read_cpu_usage(*fs_, job.group);
    Result<cgroups::MemoryUse> memory = cgroups::read_memory_use(*fs_, job.group);
    if (!cpu) continue;  // dying: its end is about to be told
    take_reading(job, host_, now, {*cpu, memory ? memory->working_set : 0});
    if (is_traffic_due) take_traffic(job, now, read_traffic(job));
    if (!job.is_limited) continue;
    // The engine, systemd or a person may have written here since; what is there counts.
    Result<cgroups::Setting> there = read_present(job);
    if (!there || cgroups::limits_alike(*there, job.present)) continue;
    ++reverts_;
    job.present = *there;
    job.is_reverted = true;
    tell_about(job, EventKind::revert, "its limit was changed by another program");
    log::event(log::Event::limit_reverted,
               "the limit of " + printable(job.container.name, 80) +
                   " was changed by another program; writing it again",
               id);
  }
  follow_tracks(now);
}

// Memory and I/O are read again only where something is written there.
Result<cgroups::Setting> Daemon::read_present(const Job& job) const {
  if (job.present.memory != job.original.memory ||
      !cgroups::limits_alike(job.present.io, job.original.io)) {
    return cgroups::read_setting(*fs_, job.group, limits_.mechanism());
  }
  Result<cgroups::CpuSetting> cpu = cgroups::read_cpu(*fs_, job.group);
  if (!cpu) return cpu.error();
  cgroups::Setting setting = job.present;
  setting.cpu = *cpu;
  return setting;
}

Traffic Daemon::read_traffic(const Job& job) const {
  Traffic traffic;
  traffic.host_io = host_io_;
  const Result<cgroups::IoUses> uses = cgroups::read_io_use(*fs_, job.group);
  // On v1 a newer kernel counts nothing before some group has a throttle rule; no number is not 0.
  if (uses && (!uses->empty() || fs_->is_v2("io"))) {
    traffic.io = 0;
    for (const auto& [device, use] : *uses) *traffic.io += use.read_bytes + use.written_bytes;
  }
  const auto network = cgroups::read_network_use(job.container.pid);
  if (network && *network) traffic.network = (*network)->rx_bytes + (*network)->tx_bytes;
  return traffic;
}

Async<void> Daemon::read_gpus() {
  is_reading_gpus_ = true;
  auto read = [this] { return gpus_->read(); };
  const Result<cgroups::GpuReading> reading = co_await effects_.run(std::move(read));
  is_reading_gpus_ = false;
  if (!reading) co_return;
  std::map<std::string, cgroups::Group> groups;
  for (const auto& [id, job] : jobs_) {
    if (job.unsupported.empty()) groups[id] = job.group;
  }
  const auto group_of = [this](std::int64_t pid) { return cgroups::find_group(pid, fs_->mode()); };
  auto uses = cgroups::gpu_use_of(*reading, groups, group_of);
  for (auto& [id, job] : jobs_) {
    const auto use = uses.find(id);
    job.gpu = use == uses.end() ? std::nullopt : std::optional(use->second);
  }
}

// Values carry the wall clock's time, intervals are the steady clock's. Where the two part, by a
// clock that was set or a machine that slept, no growth can be measured across.
void Daemon::follow_clock(Moment now) {
  const double offset = now.wall - now.steady;
  const double jump = offset - clock_offset_.value_or(offset);
  clock_offset_ = offset;
  if (std::fabs(jump) < kClockJump) return;
  log::event(log::Event::clock_jumped, "the clock jumped by " + render_number(std::round(jump)) +
                                           " s, or the machine slept: growth is measured anew");
  for (auto& [id, job] : jobs_) {
    job.has_anchor = false;
    job.track.follow_clock(jump);
  }
}

policy::ExecutorState Daemon::executor_state(Resource resource) const {
  policy::ExecutorState state;
  state.alpha = config_.alpha;
  state.beta = config_.beta;
  state.interval = interval_;
  state.interval_max = config_.interval_max;
  state.floor_all = config_.floor_all;
  for (const std::string& id : members_) {
    policy::Member member;
    member.id = id;
    if (const auto found = jobs_.find(id); found != jobs_.end()) {
      const Place& place = found->second.place(resource);
      member.list = place.list;
      member.limit = place.limit;
      member.growth = growth_for_decision(place);
    }
    state.containers.push_back(std::move(member));
  }
  return state;
}

void Daemon::decide(Moment now) {
  is_run_due_ = false;
  ++decisions_;
  if (config_.policy == PolicyChoice::milestone) {
    if (now.steady >= next_growth_) {
      for (auto& [id, job] : jobs_) {
        measure(job, host_, now, config_.growth, config_.interval);
      }
      next_growth_ = now.steady + config_.interval;
      for (const Resource resource : {Resource::memory, Resource::io}) {
        if (config_.limits(resource)) decide_for(resource, now);
      }
    }
    decide_milestones(now);
    all_completing_ = false;
    interval_ = config_.interval;
    next_run_ = now.steady + config_.observe;
    return;
  }
  for (auto& [id, job] : jobs_) measure(job, host_, now, config_.growth, config_.interval);
  // The lists and the interval are those of CPU; memory and I/O have their own growth.
  const policy::ExecutorDecision decision = decide_for(Resource::cpu, now);
  interval_ = decision.interval;
  next_run_ = now.steady + interval_;
  all_completing_ = decision.all_completing;
  for (const std::string& id : members_) {
    jobs_.at(id).reason = reason_for(jobs_.at(id), decision, config_.alpha);
  }
  for (const Resource resource : {Resource::memory, Resource::io}) {
    if (config_.limits(resource)) decide_for(resource, now);
  }
}

policy::ExecutorDecision Daemon::decide_for(Resource resource, Moment now) {
  const policy::ExecutorState state = executor_state(resource);
  policy::ExecutorDecision decision = policy::decide_executor(state);
  if (state.containers.empty()) return decision;
  bool has_news = resource == Resource::cpu;
  for (const policy::Placement& placement : decision.containers) {
    Place& place = jobs_.at(placement.id).place(resource);
    has_news = has_news || place.is_fresh;
    place.list = placement.list;
    place.limit = placement.limit;
  }
  // Where a resource is used by nobody its rounds say nothing.
  if (has_news) {
    unrecorded_rounds_.push_back({now.wall, "executor", name(resource), render_json(to_json(state)),
                                  render_json(to_json(decision))});
  }
  return decision;
}

void Daemon::grant_all(Moment now) {
  for (const std::string& id : members_) {
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
    ++limit_changes_;
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
  for (const std::string& id : members_) {
    const Job& job = jobs_.at(id);
    const double factor = job.settings.weight;
    cpu.push_back({job.original.cpu, parent_of(job.group.cpu), job.cpu.granted, factor});
    memory.push_back({job.original.memory, job.reading.memory, job.memory.granted});
    io.push_back({job.original.io, parent_of(job.group.io), job.io.granted, factor});
  }
  const auto cpu_plan = cgroups::share_out(cpu, config_.limit_mode, host_.cores, fs_->is_v2("cpu"));
  cgroups::MemoryParameters thresholds;
  thresholds.low_available = config_.memory_low;
  thresholds.release_available = std::min(1.0, config_.memory_low * 1.5);
  const auto memory_plan = cgroups::soften(memory, host_memory_, thresholds, is_short_of_memory_);
  const auto io_plan =
      cgroups::share_out_io(io, config_.limit_mode, bandwidths(), limits_.mechanism());
  std::map<std::string, cgroups::Setting> planned;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    cgroups::Setting setting = jobs_.at(members_[i]).original;
    if (config_.limits(Resource::cpu)) setting.cpu = cpu_plan[i];
    if (config_.limits(Resource::memory)) setting.memory = memory_plan[i];
    if (config_.limits(Resource::io)) setting.io = io_plan[i];
    planned[members_[i]] = std::move(setting);
  }
  return planned;
}

// What an admin says that each disk can do; without it there are no caps.
std::map<std::string, double> Daemon::bandwidths() const {
  std::map<std::string, double> all;
  if (config_.limit_mode != cgroups::LimitMode::quota || config_.io_bandwidth <= 0) return all;
  if (Result<std::vector<cgroups::BlockDevice>> devices = cgroups::read_block_devices(*fs_)) {
    for (const cgroups::BlockDevice& device : *devices) all[device.number] = config_.io_bandwidth;
  }
  return all;
}

Async<void> Daemon::apply(Moment now) {
  is_apply_due_ = false;
  if (awaits_handed(now)) co_return;
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
      if (std::exchange(job.is_reverted, false)) ++reapplied_;
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
