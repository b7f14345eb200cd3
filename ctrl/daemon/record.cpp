// SPDX-License-Identifier: Apache-2.0
// What is kept of each job, from its looks to its end.
#include "ctrl/companion.h"
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
// Whatever the policy: it may become one that asks for them.
Async<void> Daemon::read_trainings() {
  auto read = [this] { return world_.store->trainings(); };
  const auto trainings = co_await effects_.run(std::move(read));
  if (!trainings) {
    warn(trainings.error().message());
    co_return;
  }
  for (const store::Training& training : *trainings) {
    planning_.remember(training.key, {training.total, training.share90});
  }
}

void Daemon::record(Moment now, bool is_decided) {
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    const bool is_member = planning_.is_member(id);
    const bool is_looked = job.has_reading && job.read_at.steady == now.steady;
    if (!is_looked && !(is_decided && is_member)) continue;
    if (!job.log.name.empty()) job.read_until = tails_.position(id);
    store::Look look = look_of(job);
    if (is_looked && job.cpu_share) {
      look.usage = {now.wall, *job.cpu_share, job.reading.memory, job.io_rate, job.network_rate};
    }
    if (is_decided && is_member) {
      look.decision = {now.wall, job.cpu.list, job.cpu.granted, job.cpu.growth_for_decision()};
    }
    recorder_.add(std::move(look));
  }
  recorder_.write();
}

// Of one that runs on several hosts each sees a part, which says nothing of the whole.
bool Daemon::is_part(const Job& job) const {
  return job.container.labels.contains(kMovedLabel) ||
         (companion_ != nullptr && companion_->is_moving(job.id()));
}

void Daemon::record_end(Job& job, double time) {
  if (!job.unsupported.empty()) return;
  store::Look look = look_of(job);
  look.run.finished = time;
  look.run.has_moved = is_part(job);
  // The container may come back, and its log goes on.
  positions_[job.id()] = job.recorded_position;
  recorder_.add(std::move(look));
}

// Whatever the policy: what is remembered serves when another one asks for it.
void Daemon::remember_end(Job& job, Moment now, double time, const std::optional<int>& status,
                          bool is_half_read) {
  follow_track(job, now, false, is_half_read);  // what it printed last
  if (job.past) drop_past(job.id());
  if (!job.has_track) return;
  // One that goes on elsewhere has not ended.
  if (companion_ != nullptr && companion_->is_saving(job.id())) {
    keep_past(job);
    return;
  }
  const bool is_complete = status == 0 && job.saw_all;
  planning_.end(job, now.steady, is_complete);
  if (!is_complete) return;
  const std::optional<growth::Remembered> run = growth::remembered_run(job.track, job.goal);
  if (!run) return;
  const store::Training training{job.training, time, run->total, run->share90};
  const bool is_queued = effects_.try_post([this, training] {
    if (Result<void> saved = world_.store->save_training(training); !saved) {
      log::warning(saved.error().message());
    }
  });
  if (!is_queued) log::debug("too many effects wait; a training is not remembered");
}

}  // namespace flowcon::ctrl
