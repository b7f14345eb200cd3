// SPDX-License-Identifier: Apache-2.0
#include "ctrl/daemon/takeover.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <limits>
#include <utility>

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

void Takeover::begin(Handover handed, std::vector<store::Original> originals, double now) {
  handed_ = std::move(handed);
  for (store::Original& original : originals) {
    if (handed_.jobs.contains(original.id)) keep(std::move(original), now);
  }
  until_ = now + kClaimTime;
}

void Takeover::keep(store::Original original, double now) {
  std::string id = original.id;
  kept_.insert_or_assign(std::move(id), std::move(original));
  until_ = std::max(until_, now + kClaimTime);
}

std::set<std::string> Takeover::kept() const {
  std::set<std::string> ids;
  for (const auto& [id, original] : kept_) ids.insert(id);
  return ids;
}

void Takeover::claim(Job& job) {
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
    const store::Original& original = kept->second;
    // What was never limited is as others left it, which the job has already.
    job.original = original.has_all_limits ? original.setting
                                           : cgroups::with_cpu(job.original, original.setting.cpu);
    job.is_original_saved = job.is_limited = true;
    job.has_all_limits = original.has_all_limits;
    kept_.erase(kept);
  }
  if (handed == handed_.jobs.end()) return;
  static_cast<PerResource<Place>&>(job) = handed->second;
  job.reason = handed->second.reason;
  job.told.has_converged = job.cpu.list == List::cl;
}

bool Takeover::is_awaiting(double now) const {
  return !handed_.jobs.empty() && now < until_ - kClaimTime + kSettleTime;
}

std::vector<Limits::PutBack> Takeover::put_back(const Limits& limits) {
  until_ = 0;
  handed_ = {};
  std::vector<Limits::PutBack> all;
  for (auto& [id, original] : kept_) all.push_back(limits.put_back(std::move(original)));
  kept_.clear();
  return all;
}

Async<void> Takeover::restore_unclaimed(Limits* limits, double now) {
  if (until_ == 0 || now < until_) co_return;
  std::vector<Limits::PutBack> all = put_back(*limits);
  for (Limits::PutBack& one : all) {
    store::Original again = one.original;
    Result<void> done = co_await limits->finish(std::move(one));
    if (done) continue;
    log::error(done.error().message());
    // Once more at the end.
    keep(std::move(again), std::numeric_limits<double>::infinity());
  }
}

}  // namespace flowcon::ctrl
