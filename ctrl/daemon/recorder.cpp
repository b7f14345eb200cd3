// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/recorder.h"

#include <algorithm>
#include <memory>

#include "ctrl/spawn.h"

namespace flowcon::ctrl {
namespace {

constexpr std::size_t kSamplesPerLook = 64;  // a job may print thousands of values a second
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
  run.training = job.training;
  return run;
}

}  // namespace

store::Look look_of(Job& job) {
  store::Look look;
  if (!job.extractor) {
    look.run = run_of(job, "", Goal::min);
    return look;
  }
  if (job.is_catching_up) end_catching_up(job);
  const metrics::Report& report = job.extractor->report();
  look.run = run_of(job, report.metric, report.goal);
  look.run.has_counter = report.counter && report.counter->total > 0;
  // What is not read to its end yet will all be known.
  if (job.is_reading_past) return look;
  if (!job.recorded_series.metric.empty() && !report.is_of(job.recorded_series)) {
    // Another series was chosen: what was recorded is not this one's.
    look.is_other_series = true;
    job.recorded_count = 0;
  }
  job.recorded_series = report.id();
  const std::size_t first = report.first_behind(job.recorded_count);
  std::vector<Sample> samples(report.samples.begin() + static_cast<std::ptrdiff_t>(first),
                              report.samples.end());
  // Each daemon reads a log from its beginning, and a log goes on through its container's lives.
  look.is_reread = !job.has_position && !samples.empty() && samples.front().time <= job.admitted;
  look.samples = thinned(std::move(samples));
  job.recorded_count = report.printed;
  store::LogPosition position{job.log.name, job.read_until};
  if (!job.read_until.empty() && position != job.recorded_position) {
    job.recorded_position = position;
    look.position = std::move(position);
  }
  return look;
}

Records records_of(store::Store& store) {
  return {[&store](const auto& looks, const auto& rounds) { return store.record(looks, rounds); },
          [&store](double before, double now) { return store.forget_before(before, now); },
          [&store](double now) { return store.make_room(now); }};
}

Recorder::Recorder(boost::asio::io_context& io, Effects& effects, Records records,
                   const Config& config, std::function<Moment()> clock,
                   std::function<void()> at_forgetting)
    : io_(io),
      effects_(effects),
      records_(std::move(records)),
      config_(config),
      clock_(std::move(clock)),
      at_forgetting_(std::move(at_forgetting)) {}

void Recorder::add(store::Look look) { looks_.push_back(std::move(look)); }

void Recorder::add(double time, const policy::Rounds& rounds) {
  for (const policy::Round& round : rounds) {
    rounds_.push_back({time, round.algorithm, name(round.resource), round.state, round.decision});
  }
}

void Recorder::write() {
  if (looks_.empty() && rounds_.empty()) return;
  drop_oldest();
  if (!is_writing_) spawn(io_, "record", flush());
}

// Tried again at the next look, before what has come meanwhile.
void Recorder::take_back(std::vector<store::Look>& looks, std::vector<store::Round>& rounds) {
  looks_.insert(looks_.begin(), std::make_move_iterator(looks.begin()),
                std::make_move_iterator(looks.end()));
  rounds_.insert(rounds_.begin(), std::make_move_iterator(rounds.begin()),
                 std::make_move_iterator(rounds.end()));
  drop_oldest();
}

template <class T>
static std::vector<T> first_of(std::vector<T>& all, std::size_t count) {
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<T> first(std::make_move_iterator(all.begin()), std::make_move_iterator(end));
  all.erase(all.begin(), end);
  return first;
}

static std::size_t bytes_of(const store::Round& round) {
  return sizeof(round) + round.state.size() + round.decision.size();
}

static std::size_t few_of(const std::vector<store::Round>& rounds) {
  std::size_t bytes = 0, count = 0;
  while (count < rounds.size() && bytes < Recorder::kRoundsAtOnce) {
    bytes += bytes_of(rounds[count++]);
  }
  return count;
}

void Recorder::drop_oldest() {
  const std::size_t excess = looks_.size() - std::min(looks_.size(), kMostWaiting);
  looks_.erase(looks_.begin(), looks_.begin() + static_cast<std::ptrdiff_t>(excess));
  std::size_t bytes = 0, kept = 0;
  while (kept < rounds_.size()) {
    bytes += bytes_of(rounds_[rounds_.size() - 1 - kept]);
    if (bytes > kMostRounds) break;
    ++kept;
  }
  const std::size_t dropped = rounds_.size() - kept;
  rounds_.erase(rounds_.begin(), rounds_.begin() + static_cast<std::ptrdiff_t>(dropped));
  lost_ += excess + dropped;
}

Async<void> Recorder::flush() {
  is_writing_ = true;
  co_await write_all();
  co_await forget_old();
  // What came meanwhile waits for the next look, but where flowcond ends there is none.
  if (is_stopping_ && problem_.empty()) co_await write_all();
  is_writing_ = false;
}

Async<void> Recorder::write_all() {
  while (!looks_.empty() || !rounds_.empty()) {
    const std::size_t most_looks = std::min(looks_.size(), kLooksAtOnce);
    auto looks = std::make_shared<std::vector<store::Look>>(first_of(looks_, most_looks));
    auto rounds = std::make_shared<std::vector<store::Round>>(first_of(rounds_, few_of(rounds_)));
    auto write = [this, looks, rounds] { return records_.record(*looks, *rounds); };
    Result<void> written = co_await effects_.run(std::move(write));
    if (written) {
      problem_.clear();
      continue;
    }
    if (problem_.empty()) {
      log::event(log::MessageId::records_wait,
                 written.error().message() + " (records wait in memory; control goes on)");
    }
    problem_ = written.error().message();
    take_back(*looks, *rounds);
    co_return;
  }
}

// A few steps; the rest after the next flush.
Async<void> Recorder::forget_old() {
  const Moment moment = clock_();
  const double now = moment.wall;
  // Not at once: a host that has just booted, or whose clock has leapt, may be told the time later.
  const Moment before = std::exchange(flushed_, moment);
  const bool has_leapt = now - before.wall > moment.steady - before.steady + kForgetEvery;
  const bool is_far = next_forget_ == 0 || has_leapt || next_forget_ > now + kForgetEvery;
  if (is_far) next_forget_ = now + kForgetEvery;
  bool is_due = now >= next_forget_;
  for (int step = 0; step < kStepsPerFlush && !is_stopping_; ++step) {
    auto forget = [this, is_due, now, before = now - config_.retention * 86400] {
      return is_due ? records_.forget_before(before, now) : records_.make_room(now);
    };
    const Result<bool> more = co_await effects_.run(std::move(forget));
    if (!more && troubles_.count()) log::warning(more.error().message());
    if (more) troubles_.reset();
    if (more && *more) continue;
    if (!is_due) co_return;
    is_due = false;
    next_forget_ = now + kForgetEvery;
    at_forgetting_();
  }
}

}  // namespace flowcon::ctrl
