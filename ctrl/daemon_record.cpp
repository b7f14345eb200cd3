// SPDX-License-Identifier: Apache-2.0
// What is kept: samples, usage and decisions go to the store, in order, retried while it cannot be
// written, bounded always.
#include <algorithm>

#include "ctrl/companion.h"
#include "ctrl/daemon_state.h"
#include "ctrl/log.h"
#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kSamplesPerLook = 64;  // a job may print thousands of values a second
constexpr std::size_t kWaitingLooks = 4000;  // while the disk is full; older ones are dropped
constexpr double kForgetEvery = 3600;        // seconds
constexpr int kStepsPerFlush = 16;           // of forgetting; each is short, and others wait

std::vector<Sample> thinned(std::vector<Sample> samples) {
  if (samples.size() <= kSamplesPerLook) return samples;
  std::vector<Sample> kept;
  for (std::size_t i = 0; i < kSamplesPerLook; ++i) {
    // The last one is always among them.
    kept.push_back(samples[(i + 1) * samples.size() / kSamplesPerLook - 1]);
  }
  return kept;
}

store::Run run_of(const Job& job, const std::string& metric, Goal goal) {
  store::Run run;
  run.id = job.id();
  run.name = job.container.name;
  run.image = job.container.image;
  run.metric = metric;
  run.goal = goal;
  run.started = job.container.started;
  run.training = training_of(job.container);
  return run;
}

// What is new of one job's values since the last look.
store::Look look_of(Job& job) {
  store::Look look;
  if (!job.extractor) {
    look.run = run_of(job, "", Goal::min);
    return look;
  }
  if (job.is_catching_up) end_catching_up(job);
  metrics::Report report = job.extractor->report();
  look.run = run_of(job, report.metric, report.goal);
  look.run.has_counter = report.counter && report.counter->total > 0;
  // What is not read to its end yet will all be known.
  if (job.is_reading_past) return look;
  if (!job.recorded_metric.empty() && job.recorded_metric != report.metric) {
    // Another series was chosen: what was recorded is not this one's.
    look.is_other_series = true;
    job.recorded_count = 0;
  }
  job.recorded_metric = report.metric;
  const std::size_t fresh =
      std::min(report.count - std::min(report.count, job.recorded_count), report.samples.size());
  std::vector<Sample> samples(report.samples.end() - static_cast<std::ptrdiff_t>(fresh),
                              report.samples.end());
  // Each daemon reads a log from its beginning, and a log goes on through its container's lives.
  look.is_reread = !job.has_position && !samples.empty() && samples.front().time <= job.admitted;
  look.samples = thinned(std::move(samples));
  job.recorded_count = report.count;
  store::LogPosition position{job.log.name, job.read_until};
  if (!job.read_until.empty() && position != job.recorded_position) {
    job.recorded_position = position;
    look.position = std::move(position);
  }
  return look;
}

}  // namespace

void Daemon::record(Moment now, bool is_decided) {
  for (auto& [id, job] : jobs_) {
    if (!job.unsupported.empty()) continue;
    const bool is_member = std::find(members_.begin(), members_.end(), id) != members_.end();
    const bool is_looked = job.has_reading && job.read_at.steady == now.steady;
    if (!is_looked && !(is_decided && is_member)) continue;
    if (!job.log.name.empty()) job.read_until = tails_.position(id);
    store::Look look = look_of(job);
    if (is_looked && job.cpu_share) {
      look.usage = {now.wall, *job.cpu_share, job.reading.memory, job.io_rate, job.network_rate};
    }
    if (is_decided && is_member) {
      look.decision = {now.wall, job.cpu.list, job.cpu.granted, growth_for_decision(job.cpu)};
    }
    unrecorded_.push_back(std::move(look));
  }
  if (unrecorded_.empty() && unrecorded_rounds_.empty()) return;
  if (!is_flushing_) spawn(io_, "record", flush());
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
  unrecorded_.push_back(std::move(look));
}

Async<void> Daemon::flush() {
  is_flushing_ = true;
  while (!unrecorded_.empty() || !unrecorded_rounds_.empty()) {
    auto looks = std::make_shared<std::vector<store::Look>>(std::exchange(unrecorded_, {}));
    auto rounds =
        std::make_shared<std::vector<store::Round>>(std::exchange(unrecorded_rounds_, {}));
    auto write = [this, looks, rounds] { return store_->record(*looks, *rounds); };
    Result<void> written = co_await effects_.run(std::move(write));
    if (written) {
      record_problem_.clear();
      continue;
    }
    if (record_problem_.empty()) {
      log::event(log::Event::records_wait,
                 written.error().message() + " (records wait in memory; control goes on)");
    }
    record_problem_ = written.error().message();
    unrecorded_.insert(unrecorded_.begin(), std::make_move_iterator(looks->begin()),
                       std::make_move_iterator(looks->end()));
    if (unrecorded_.size() > kWaitingLooks) {
      const std::size_t excess = unrecorded_.size() - kWaitingLooks;
      unrecorded_.erase(unrecorded_.begin(),
                        unrecorded_.begin() + static_cast<std::ptrdiff_t>(excess));
      lost_records_ += excess;
    }
    break;  // tried again at the next look
  }
  co_await forget_old();
  is_flushing_ = false;
}

// A few steps; the rest after the next flush.
Async<void> Daemon::forget_old() {
  const double now = moment().wall;
  bool is_due = now >= next_forget_;
  for (int step = 0; step < kStepsPerFlush && !is_stopping_; ++step) {
    auto forget = [this, is_due, before = now - config_.retention * 86400] {
      return is_due ? store_->forget_before(before) : store_->make_room();
    };
    const Result<bool> more = co_await effects_.run(std::move(forget));
    if (!more && forget_troubles_.count()) log::warning(more.error().message());
    if (more) forget_troubles_.reset();
    if (more && *more) continue;
    if (!is_due) co_return;
    is_due = false;
    next_forget_ = now + kForgetEvery;
    spawn(io_, "past logs", forget_past_logs());
  }
}

}  // namespace flowcon::ctrl
