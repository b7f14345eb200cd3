// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/enforcer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "ctrl/daemon/originals.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

constexpr double kWorthLogging = 0.01;  // of the host
constexpr double kLeastShare = 0.01;

// The limit that lets it use all that it can, in steps, so that quotas do not change with each
// reading. Limits are shares of what is `usable` of the host.
double useful_share(const Job& job, double cores, double usable) {
  constexpr double kSteps = 20, kUsesAll = 0.95;
  const double useful = std::min(1.0, job.track.width().value_or(cores) / cores / usable);
  const double used = job.cpu_share.value_or(1) / usable;
  if (used >= kUsesAll * job.cpu.granted) return useful;
  return std::min(useful, std::ceil(used * kSteps) / kSteps);
}

bool changes_beyond_cpu(const Job& job, const cgroups::Setting& planned) {
  return !cgroups::limits_alike(cgroups::with_cpu(planned, job.present.cpu), job.present);
}

void take_written(Job& job, cgroups::Setting planned, const Outcome& outcome) {
  if (outcome.is_memory_kept) planned.memory = job.present.memory;
  job.present = std::move(planned);
  for (const std::string& disk : outcome.gone_disks) {
    job.present.io.caps.erase(disk);
    if (job.original.io.caps.erase(disk) > 0) job.is_original_saved = false;
  }
}

}  // namespace

Enforcer::Enforcer(const Config& config, const Host& host, const World& world, Effects& effects,
                   Roster& roster, Controls& controls, const Planning& planning, const Meter& meter,
                   const std::unique_ptr<Extension>& extension, Shown& shown)
    : config_(config),
      host_(host),
      fs_(*world.fs),
      roster_(roster),
      controls_(controls),
      planning_(planning),
      meter_(meter),
      extension_(extension),
      shown_(shown),
      limits_(*world.fs, effects, *world.store) {}

// What each gets when all want the whole host. Shares by growth are not of all that there is.
void Enforcer::note_guarantees() {
  const bool is_held = planning_.divides_by() == policy::DividesBy::work &&
                       config_.limits(Resource::cpu) && !config_.dry_run;
  const bool is_weighed = config_.limiting.mode == cgroups::LimitMode::weight;
  const auto claim = [&](const Job& job) {
    const auto weight = static_cast<double>(job.original.cpu.weight);
    return job.cpu.granted * (is_weighed ? job.settings.weight * weight : 1);
  };
  double all = 0;
  for (const std::string& id : planning_.members()) all += claim(roster_.jobs.at(id));
  if (!is_weighed) all = std::max(1.0, all);  // caps that leave some of the host to nobody
  const double cores = (1 - config_.limiting.reserve) * host_.cores;
  for (const std::string& id : planning_.members()) {
    Job& job = roster_.jobs.at(id);
    job.guaranteed = is_held && all > 0 ? claim(job) / all * cores : 0;
  }
}

void Enforcer::grant_all(Moment now) {
  for (const std::string& id : planning_.members()) {
    Job& job = roster_.jobs.at(id);
    if (job.control.pin && now.wall >= job.control.pin->until.value_or(now.wall + 1)) {
      job.control.pin.reset();
      log::info("container " + printable(job.container.name, 80) + ": its pin expired");
      controls_.save_ended_pin(id, job.control);
    }
    Settings settings = job.settings;
    settings.only_grow = settings.only_grow || config_.only_grow;
    for (const Resource resource : kResources) {
      Place& place = job[resource];  // the CPU's is granted below: a pin is a share of the CPU
      if (resource != Resource::cpu)
        place.granted = grant(place.limit, place.granted, settings, {});
    }
    const double before = job.cpu.granted;
    // The sooner it has saved itself, the less it stands still.
    const bool is_saving = extension_ != nullptr && extension_->is_saving(id);
    if (is_saving && !job.before_saving) job.before_saving = before;
    job.is_early = extension_ != nullptr && !is_saving && extension_->is_early(id);
    if (job.is_early) settings.floor.reset();
    if (job.is_early) settings.only_grow = false;
    if (job.is_early && job.run.meter) job.run.meter->had_the_rest(now.wall);
    const double decided = is_saving ? 1 : job.is_early ? kLeastShare : job.cpu.limit;
    job.cpu.granted = grant(decided, job.before_saving.value_or(before), settings, job.control.pin);
    if (!is_saving) job.before_saving.reset();
    if (job.cpu.granted == before) continue;
    ++shown_.counts.limit_changes;
    // A drift in small steps shows once it has gone that far.
    double& logged = logged_.try_emplace(id, before).first->second;
    if (std::fabs(job.cpu.granted - logged) <= kWorthLogging) continue;
    const std::string reason = job.control.pin ? "pinned"
                               : is_saving     ? "it checkpoints"
                               : job.is_early  ? "it has begun beside the job whose cores it gets"
                                               : job.reason;
    log::limit_change({job.container.name, id, logged, job.cpu.granted, reason, config_.dry_run});
    logged = job.cpu.granted;
  }
  std::erase_if(logged_, [this](const auto& one) { return !roster_.jobs.contains(one.first); });
  note_guarantees();
}

cgroups::MemoryParameters Enforcer::thresholds() const {
  cgroups::MemoryParameters thresholds;
  thresholds.low_available = config_.limiting.memory_low;
  thresholds.release_available = std::min(1.0, config_.limiting.memory_low * 1.5);
  return thresholds;
}

bool Enforcer::softens_memory() const {
  return config_.limits(Resource::memory) &&
         cgroups::is_short_of_memory(meter_.host_memory(), thresholds(), shown_.is_short_of_memory);
}

// A resource that is not to be limited keeps its originals.
std::map<std::string, cgroups::Setting> Enforcer::plan() {
  std::vector<cgroups::Share> cpu;
  std::vector<cgroups::MemoryShare> memory;
  std::vector<cgroups::IoShare> io;
  for (const std::string& id : planning_.members()) {
    const Job& job = roster_.jobs.at(id);
    const double factor = job.is_early ? 1 : job.settings.weight;
    cgroups::Share share{job.original.cpu, cgroups::parent_of(job.group.cpu), job.cpu.granted,
                         factor};
    share.useful = useful_share(job, host_.cores, config_.usable_cpu());
    share.most = job.control.pin ? job.cpu.granted : job.settings.ceiling.value_or(1);
    cpu.push_back(share);
    memory.push_back({job.original.memory, job.reading.memory, job.memory.granted});
    io.push_back({job.original.io, cgroups::parent_of(job.group.io), job.io.granted, factor});
  }
  const auto cpu_plan = cgroups::share_out(cpu, config_.limiting.mode, host_.cores,
                                           fs_.is_v2("cpu"), config_.limiting.reserve);
  const auto memory_plan =
      cgroups::soften(memory, meter_.host_memory(), thresholds(), shown_.is_short_of_memory);
  const auto io_plan =
      cgroups::share_out_io(io, config_.limiting.mode, bandwidths(), limits_.mechanism());
  std::map<std::string, cgroups::Setting> planned;
  const bool knows_host = meter_.host_memory().total_bytes > 0;
  const std::vector<std::string>& members = planning_.members();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Job& job = roster_.jobs.at(members[i]);
    cgroups::Setting setting = job.original;
    if (config_.limits(Resource::cpu)) setting.cpu = cpu_plan[i];
    if (config_.limits(Resource::memory)) {
      // What is not read yet changes nothing: a limit that was handed over stays until it is, and
      // memory was short then.
      const bool is_read = knows_host && job.has_memory;
      setting.memory = is_read ? memory_plan[i] : job.present.memory;
      if (setting.memory != job.original.memory) shown_.is_short_of_memory = true;
    }
    if (config_.limits(Resource::io)) setting.io = io_plan[i];
    planned[members[i]] = std::move(setting);
  }
  return planned;
}

// What an admin says that each disk can do; without it there are no caps.
std::map<std::string, double> Enforcer::bandwidths() const {
  std::map<std::string, double> all;
  if (config_.limiting.mode != cgroups::LimitMode::quota || config_.limiting.io_bandwidth <= 0)
    return all;
  if (Result<std::vector<cgroups::BlockDevice>> devices = cgroups::read_block_devices(fs_)) {
    for (const cgroups::BlockDevice& device : *devices)
      all[device.number] = config_.limiting.io_bandwidth;
  }
  return all;
}

// What others have set since the container came, before the first write to the same resource, is
// what it had. True where there is something new.
bool Enforcer::read_original(Job& job, const cgroups::Setting& planned) {
  if (job.is_limited && job.has_all_limits) return false;
  // Where others write to a CPU that is limited, it is drift.
  const bool is_alike = job.is_limited ? !changes_beyond_cpu(job, planned)
                                       : cgroups::limits_alike(planned, job.present);
  if (is_alike) return false;
  const Result<cgroups::Setting> there = cgroups::read_setting(fs_, job.group, limits_.mechanism());
  return there && take_originals(job, *there, limits_);
}

Target Enforcer::target_of(const Job& job, const cgroups::Setting& planned) const {
  Target target;
  target.container = original_of(job, limits_);
  target.is_original_saved = job.is_original_saved;
  target.present = job.present;
  target.setting = planned;
  if (!job.has_all_limits && changes_beyond_cpu(job, planned)) {
    // The store has it as one whose CPU alone is limited.
    target.container.has_all_limits = true;
    target.is_cpu_saved = std::exchange(target.is_original_saved, false);
  }
  return target;
}

void Enforcer::take_outcome(Job& job, cgroups::Setting planned, const Outcome& outcome) {
  if (outcome.is_cpu_alone) planned = cgroups::with_cpu(job.present, planned.cpu);
  job.is_original_saved = outcome.is_original_saved;
  if (!outcome.is_original_saved) return;
  job.is_limited = true;
  job.has_all_limits = job.has_all_limits || changes_beyond_cpu(job, planned);
  if (outcome.is_written) {
    take_written(job, std::move(planned), outcome);
    if (std::exchange(job.is_reverted, false)) ++shown_.counts.reapplied;
    return;
  }
  // A part of it may have been written: what is there counts.
  if (const auto there = read_present(job, fs_, limits_)) job.present = *there;
}

Async<void> Enforcer::apply(Moment now) {
  grant_all(now);
  if (config_.dry_run) co_return;
  std::vector<Target> targets;
  std::map<std::string, cgroups::Setting> planned = plan();
  bool is_outdated = false;
  for (const auto& [id, setting] : planned) {
    is_outdated = read_original(roster_.jobs.at(id), setting) || is_outdated;
  }
  if (is_outdated) planned = plan();
  for (const auto& [id, setting] : planned) {
    const Job& job = roster_.jobs.at(id);
    // A new original must reach the store even where nothing has to be written.
    const bool is_stale = job.is_limited && !job.is_original_saved;
    if (setting == job.present && !is_stale) continue;
    targets.push_back(target_of(job, setting));
  }
  if (targets.empty()) co_return;
  const std::vector<Outcome> outcomes = co_await limits_.apply(std::move(targets));
  for (const Outcome& outcome : outcomes) {
    const auto found = roster_.jobs.find(outcome.id);
    if (found == roster_.jobs.end()) continue;
    Job& job = found->second;
    take_outcome(job, planned.at(outcome.id), outcome);
    if (outcome.problem != job.problem) {
      job.problem = outcome.problem;
      if (!job.problem.empty()) {
        log::event(log::MessageId::limit_refused,
                   "container " + printable(job.container.name, 80) + ": " + job.problem,
                   outcome.id);
      }
    }
  }
}

}  // namespace flowcon::ctrl
