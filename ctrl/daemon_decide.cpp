// SPDX-License-Identifier: Apache-2.0
// What each gets: looks, the executor (Algorithm 1), and its placements made real.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "cgroups/memory.h"
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

constexpr double kClockJump = 2;  // seconds; ntp slews less between two looks

std::string percent(double share) { return render_number(std::round(share * 1e4) / 100) + " %"; }

// Why a job has its limit, in words.
std::string reason_for(const Job& job, const policy::ExecutorDecision& decision, double alpha) {
  if (decision.all_completing) return "all are completing: free competition";
  const std::optional<double> growth = growth_for_decision(job);
  const std::string list = name(job.list);
  if (!growth) return list + ": growth not measured";
  return list + ": growth " + percent(*growth) + "/s is " +
         (*growth < alpha ? "under" : "at least") + " alpha " + percent(alpha);
}

}  // namespace

void Daemon::look(Moment now) {
  if (!is_run_due_ && now.steady < next_look_ && now.steady < next_run_) return;
  next_look_ = now.steady + config_.observe;
  follow_clock(now);
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    Result<std::uint64_t> cpu = cgroups::read_cpu_usage(*fs_, job.group);
    Result<cgroups::MemoryUse> memory = cgroups::read_memory_use(*fs_, job.group);
    if (!cpu) continue;  // dying: its end is about to be told
    take_reading(job, host_, now, {*cpu, memory ? memory->working_set : 0});
    if (!job.is_limited) continue;
    // The engine, systemd or a person may have written here since; what is there counts.
    Result<cgroups::CpuSetting> there = cgroups::read_cpu(*fs_, job.group);
    if (!there || cgroups::limits_alike(*there, job.present)) continue;
    ++reverts_;
    job.present = *there;
    job.is_reverted = true;
    log::info("the limit of " + printable(job.container.name, 80) +
              " was changed by another program; writing it again");
  }
}

// Values carry the wall clock's time, intervals are the steady clock's. Where the two part, by a
// clock that was set or a machine that slept, no growth can be measured across.
void Daemon::follow_clock(Moment now) {
  const double offset = now.wall - now.steady;
  const double jump = offset - clock_offset_.value_or(offset);
  clock_offset_ = offset;
  if (std::fabs(jump) < kClockJump) return;
  log::warning("the clock jumped by " + render_number(std::round(jump)) +
               " s, or the machine slept: growth is measured anew");
  for (auto& [id, job] : jobs_) job.has_anchor = false;
}

policy::ExecutorState Daemon::executor_state() const {
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
      member.list = found->second.list;
      member.limit = found->second.limit;
      member.growth = growth_for_decision(found->second);
    }
    state.containers.push_back(std::move(member));
  }
  return state;
}

void Daemon::decide(Moment now) {
  is_run_due_ = false;
  for (auto& [id, job] : jobs_) measure(job, host_, now, config_.growth, config_.interval);
  const policy::ExecutorState state = executor_state();
  const policy::ExecutorDecision decision = policy::decide_executor(state);
  interval_ = decision.interval;
  next_run_ = now.steady + interval_;
  all_completing_ = decision.all_completing;
  if (state.containers.empty()) return;
  unrecorded_rounds_.push_back(
      {now.wall, "executor", "cpu", render_json(to_json(state)), render_json(to_json(decision))});
  for (const policy::Placement& placement : decision.containers) {
    Job& job = jobs_.at(placement.id);
    job.list = placement.list;
    job.limit = placement.limit;
    job.reason = reason_for(job, decision, config_.alpha);
  }
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
    const double before = job.granted;
    job.granted = grant(job.limit, before, settings, job.control.pin);
    if (job.granted == before) continue;
    const std::string reason = job.control.pin ? "pinned" : job.reason;
    log::limit_change({job.container.name, id, before, job.granted, reason, config_.dry_run});
  }
}

std::map<std::string, cgroups::CpuSetting> Daemon::plan() const {
  std::vector<cgroups::Share> shares;
  for (const std::string& id : members_) {
    const Job& job = jobs_.at(id);
    shares.push_back({job.original, parent_of(job.group.cpu), job.granted, job.settings.weight});
  }
  const std::vector<cgroups::CpuSetting> settings =
      cgroups::share_out(shares, config_.limit_mode, host_.cores, fs_->is_v2("cpu"));
  std::map<std::string, cgroups::CpuSetting> planned;
  for (std::size_t i = 0; i < members_.size(); ++i) planned[members_[i]] = settings[i];
  return planned;
}

Async<void> Daemon::apply(Moment now) {
  is_apply_due_ = false;
  grant_all(now);
  if (config_.dry_run) co_return;
  std::vector<Target> targets;
  const std::map<std::string, cgroups::CpuSetting> planned = plan();
  for (const auto& [id, setting] : planned) {
    const Job& job = jobs_.at(id);
    // A new original must reach the store even where nothing has to be written.
    const bool is_stale = job.is_limited && !job.is_original_saved;
    if (setting == job.present && !is_stale) continue;
    Target target;
    target.container = {id, job.container.name, job.group, job.original};
    target.is_original_saved = job.is_original_saved;
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
    if (outcome.is_written) {
      job.present = planned.at(outcome.id);
      job.is_limited = true;
      if (std::exchange(job.is_reverted, false)) ++reapplied_;
    }
    if (outcome.problem != job.problem) {
      job.problem = outcome.problem;
      if (!job.problem.empty()) {
        log::error("container " + printable(job.container.name, 80) + ": " + job.problem);
      }
    }
  }
}

}  // namespace flowcon::ctrl
