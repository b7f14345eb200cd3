// SPDX-License-Identifier: Apache-2.0
// Limits that stay while one flowcond takes the place of another: what it leaves, and what it
// finds.
#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <utility>

#include "ctrl/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
namespace {

// Seconds until containers that were handed over count as gone: the engine lists all of them within
// moments, and one that is slow to answer is asked again.
constexpr double kClaimTime = 30;
// Seconds in which nothing is written before all of them are there: shares of a part of them would
// be others for a moment.
constexpr double kSettleTime = 10;

}  // namespace

std::set<std::string> Daemon::leave_limits() const {
  std::set<std::string> ids;
  if (!take_handover_request(config_.state_dir) || config_.dry_run) return ids;
  Handover left;
  left.interval = interval_;
  for (const std::string& id : members_) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) continue;
    const Job& job = found->second;
    left.jobs[id] = {job.cpu, job.memory, job.io, job.reason};
    left.jobs[id].cpu.granted = job.before_saving.value_or(job.cpu.granted);
    if (job.is_limited && job.is_original_saved) ids.insert(id);
  }
  if (const Result<void> written = write_handover(config_.state_dir, left); !written) {
    log::warning(written.error().message() + ": the limits are restored");
    ids.clear();
  }
  return ids;
}

Async<void> Daemon::take_over(Moment now) {
  handed_ = take_handover(config_.state_dir);
  if (config_.dry_run) handed_ = {};
  if (handed_.jobs.empty()) co_return;
  auto read = [this] { return store_->originals(); };
  Result<std::vector<store::Original>> originals = co_await effects_.run(std::move(read));
  if (!originals) {
    handed_ = {};
    co_return;
  }
  for (store::Original& original : *originals) {
    if (handed_.jobs.contains(original.id)) kept_[original.id] = std::move(original);
  }
  kept_until_ = now.steady + kClaimTime;
}

void Daemon::claim(Job& job) {
  if (!job.unsupported.empty()) return;
  const auto handed = handed_.jobs.find(job.id());
  const auto kept = kept_.find(job.id());
  if (kept != kept_.end() && !kept->second.life.empty() && kept->second.life != job.life) {
    // It was started again meanwhile: nothing of its former life holds.
    kept_.erase(kept);
    handed_.jobs.erase(job.id());
    return;
  }
  if (kept != kept_.end()) {
    job.original = kept->second.setting;
    job.is_original_saved = job.is_limited = true;
    kept_.erase(kept);
  }
  if (handed == handed_.jobs.end()) return;
  job.cpu = handed->second.cpu;
  job.memory = handed->second.memory;
  job.io = handed->second.io;
  job.reason = handed->second.reason;
}

void Daemon::join_claimed(Moment now) {
  for (const std::string& id : active_) {
    const auto handed = handed_.jobs.find(id);
    if (handed == handed_.jobs.end()) continue;
    handed_.jobs.erase(handed);
    if (std::find(members_.begin(), members_.end(), id) != members_.end()) continue;
    if (members_.empty()) {
      interval_ = std::clamp(handed_.interval, config_.interval,
                             std::max(config_.interval, config_.interval_max));
      next_run_ = now.steady + interval_;
    }
    members_.push_back(id);
  }
}

bool Daemon::awaits_handed(Moment now) const {
  return !handed_.jobs.empty() && now.steady < kept_until_ - kClaimTime + kSettleTime;
}

Async<void> Daemon::restore_unclaimed(Moment now) {
  if (kept_until_ == 0 || (now.steady < kept_until_ && !is_stopping_)) co_return;
  kept_until_ = 0;
  handed_ = {};
  const std::map<std::string, store::Original> left = std::exchange(kept_, {});
  for (const auto& [id, original] : left) {
    Result<void> done = co_await limits_.restore(original);
    if (!done) log::error(done.error().message());
  }
}

}  // namespace flowcon::ctrl
