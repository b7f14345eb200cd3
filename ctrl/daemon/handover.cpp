// SPDX-License-Identifier: Apache-2.0
// Limits that stay while one flowcond takes the place of another: what it leaves, and what it
// finds.
#include "ctrl/daemon/daemon_state.h"
#include "ctrl/log.h"

namespace flowcon::ctrl {
std::set<std::string> Daemon::leave_limits() const {
  std::set<std::string> ids;
  if (!take_handover_request(config_.state_dir) || config_.dry_run) return ids;
  Handover left;
  left.interval = planning_.interval();
  for (const std::string& id : planning_.members()) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) continue;
    const Job& job = found->second;
    left.jobs[id] = {job, job.reason};
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
  Handover handed = take_handover(config_.state_dir);
  if (config_.dry_run || handed.jobs.empty()) co_return;
  auto read = [this] { return world_.store->originals(); };
  Result<std::vector<store::Original>> originals = co_await effects_.run(std::move(read));
  if (originals) takeover_.begin(std::move(handed), std::move(*originals), now.steady);
}

void Daemon::join_claimed(Moment now) {
  for (const std::string& id : active_) {
    if (!takeover_.joins(id) || planning_.is_member(id)) continue;
    if (planning_.members().empty()) {
      planning_.resume_interval(takeover_.interval());
      next_run_ = now.steady + planning_.interval();
    }
    planning_.resume(jobs_.at(id));
  }
}

}  // namespace flowcon::ctrl
