// SPDX-License-Identifier: Apache-2.0
// What each gets: looks, and the policy's decision.
#include "base/text.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/daemon/originals.h"
#include "ctrl/daemon/profile.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// Where our jobs together use less than this share of what they can, something else may be what one
// of them waits for.
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
  const bool is_deciding = schedule_.is_deciding(now.steady);
  if (!is_deciding && now.steady < schedule_.next_look) return;
  schedule_.next_look = now.steady + config_.observe;
  meter_.look_at_host();
  // A policy that divides by work decides by CPU time and the log alone.
  const bool is_by_use = is_deciding && planning_.divides_by() != policy::DividesBy::work;
  meter_.look(now, is_by_use || enforcer_.softens_memory() ||
                       is_rest_due(roster_.jobs, now.steady, config_.observe));
  for (auto& [id, job] : roster_.jobs) {
    const bool is_read = job.unsupported.empty() && job.traffic_at.steady == now.steady;
    // Of one that is aside what is there is what a restore has left.
    const bool is_kept = job.is_limited && !is_aside(job, controls_.is_all_paused());
    if (is_read && is_kept) find_drift(job);
  }
  follow_tracks(now);
}

// The engine, systemd or a person may have written here since; what is there counts.
void Daemon::find_drift(Job& job) {
  const Result<cgroups::Setting> there = read_present(job, *world_.fs, enforcer_.limits());
  if (!there || cgroups::limits_alike(*there, job.present)) return;
  ++shown_.counts.reverts;
  job.present = *there;
  job.is_reverted = true;
  notifier_.tell_about(job, EventKind::revert, "another program changed its limit");
  log::event(log::MessageId::limit_reverted,
             "another program changed the limit of " + printable(job.container.name, 80) +
                 "; writing it again",
             job.id());
}

// At each look, whatever the policy: a policy that is chosen later finds what it needs.
void Daemon::follow_tracks(Moment now) {
  double used = 0;
  for (const std::string& id : planning_.members())
    used += roster_.jobs.at(id).cpu_share.value_or(0);
  const bool is_busy = used >= kBusy * config_.usable_cpu();
  for (auto& [id, job] : roster_.jobs) {
    const bool is_half_read = job.past && logs_.tails().stats(id).is_catching_up;
    follow_track(job, now, is_busy, is_half_read);
    follow_run(job, host_, now, is_busy && planning_.members().size() > 1);
  }
}

void Daemon::decide(Moment now) {
  schedule_.is_run_due = false;
  ++shown_.counts.decisions;
  policy::Rounds rounds;
  const double others = meter_.cores_of_others();
  schedule_.next_run = now.steady + planning_.decide(roster_.jobs, now, others, rounds);
  recorder_.add(now.wall, rounds);
}

Async<void> Daemon::apply(Moment now) {
  schedule_.is_apply_due = false;
  if (!takeover_.is_awaiting(now.steady)) co_await enforcer_.apply(now);
}

}  // namespace flowcon::ctrl
